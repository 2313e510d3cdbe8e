#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A field to choose from many things by typing: matches appear below it as one types, the first of them taken by Enter
// or Tab, others by arrow keys or pointer. Where it may, what is typed is an answer of its own. GUI thread.

#include <QLineEdit>
#include <QPointer>

#include <functional>
#include <vector>

class QListWidget;

namespace trainyard {

struct Choice {
    /// detail: at the right, muted
    QString id, label, detail;
};

class ChoiceField : public QLineEdit {
    Q_OBJECT
public:
    explicit ChoiceField(std::vector<Choice> choices, QWidget *parent = nullptr);
    ~ChoiceField() override;

    /// Whatever is typed is a choice too, without an id; `pattern` names it in the list: "Own site “%1”".
    void setFreeText(const QString &pattern) { m_freePattern = pattern; }
    /// Shows a choice, or a text of one's own where no choice has the id. Emits nothing.
    void setCurrent(const QString &id, const QString &otherwise = {});
    [[nodiscard]] const QString &currentId() const { return m_id; }
    [[nodiscard]] const QListWidget &list() const;
    /// Takes what is typed as Tab would: the match that is shown, else what it is exactly.
    void commit();

signals:
    void chosen(const QString &id, const QString &text);

protected:
    /// Tab takes the match before the focus moves on
    bool event(QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    /// of what it lies in: the list stays beside it
    bool eventFilter(QObject *watched, QEvent *event) override;
    void paintEvent(QPaintEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;

private:
    void showMatches(const QString &pattern);
    /// the current choice among them
    void showAll();
    void fillList(const std::vector<const Choice *> &choices);
    void showList();
    void hideList();
    void placeList();
    void take(int row);
    /// what was typed and not taken
    void settle();
    [[nodiscard]] const Choice *find(const QString &id) const;

    std::vector<Choice> m_choices;
    /// m_shown: the text of the current choice
    QString m_freePattern, m_id, m_shown;
    QPointer<QListWidget>
        m_list; // once shown a child of the window, above everything else, which may go before the field
};

} // namespace trainyard
