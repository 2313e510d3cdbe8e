#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The common frame of forms about jobs: over the window and no window of its own, nothing else is locked. Esc or Cancel
// closes it, Enter or its button takes what stands in it, unless a line below says what is wrong. Tab stays in it.
// GUI thread.

#include <QFrame>

class QPushButton;
class QVBoxLayout;

namespace trainyard {

class TextLine;

class JobSheet : public QFrame {
    Q_OBJECT
public:
    /// `width`: as wide as it is, where the window has room; what it says is wrapped to it.
    JobSheet(const QString &title, const QString &doneText, int width, QWidget *window);

    /// Shows it over the window, beside `anchor` where there is room, and gives `first` the keyboard.
    void open(const QWidget *anchor, QWidget *first);
    [[nodiscard]] QPushButton *doneButton() const { return m_done; }
    [[nodiscard]] QPushButton *cancelButton() const { return m_cancel; }
    [[nodiscard]] TextLine *messageLine() const { return m_message; }
    [[nodiscard]] QString title() const { return m_title; }

signals:
    void accepted();
    /// also after accepted
    void closed();

protected:
    [[nodiscard]] QVBoxLayout &body() { return *m_body; }
    /// A sentence on what is wrong, which keeps Enter and the button from doing anything; empty: nothing is.
    void setFault(const QString &fault, const QString &note = {});
    void keyPressEvent(QKeyEvent *event) override;
    bool focusNextPrevChild(bool next) override;
    /// what it says may need more lines
    bool event(QEvent *event) override;
    /// the window's size
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void accept();
    void close();
    void place();

    QString m_title;
    int m_width;
    const QWidget *m_anchor = nullptr;
    QVBoxLayout *m_body;
    TextLine *m_message;
    QPushButton *m_cancel, *m_done;
};

} // namespace trainyard
