#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A line of the page of live runs: a mark, words that wrap, a note below them and buttons at the right. With or without
// something that a click, Enter or Space does. GUI thread.

#include "views/parts/text_line.h"

#include <QWidget>

class QHBoxLayout;
class QPushButton;

namespace trainyard {

class LiveRow : public QWidget {
    Q_OBJECT
public:
    enum class Mark { None, Alarm, Over, Question };
    explicit LiveRow(QWidget *parent = nullptr);

    void setWords(const QString &words, const QString &note, Mark mark);
    /// a third line
    void setAnswer(const QString &answer, Ink ink);
    /// it can be clicked
    void setActive(bool isActive);
    QPushButton *addButton(const QString &text);
    [[nodiscard]] QString words() const { return m_words->text(); }
    [[nodiscard]] QString note() const { return m_note->text(); }
    [[nodiscard]] QString answer() const { return m_answer->text(); }

signals:
    void chosen();

protected:
    void paintEvent(QPaintEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;

private:
    Mark m_mark = Mark::None;
    bool m_isActive = false;
    TextLine *m_words, *m_note, *m_answer;
    QHBoxLayout *m_row;
};

} // namespace trainyard
