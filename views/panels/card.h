#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The rounded surface that a panel sits on, and one with several panels behind tabs. GUI thread.

#include <QWidget>

class QStackedLayout;
class QTabBar;

namespace trainyard {

class Card : public QWidget {
    Q_OBJECT
public:
    explicit Card(QWidget *content, QWidget *parent = nullptr);

protected:
    /// where the content has no menu of its own
    void contextMenuEvent(QContextMenuEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    QWidget *m_content;
};

class TabbedCard : public QWidget {
    Q_OBJECT
public:
    explicit TabbedCard(const QString &name, QWidget *parent = nullptr);

    void addTab(QWidget *content, const QString &title);
    void setTitle(QWidget *content, const QString &title);
    void setCurrent(QWidget *content);
    [[nodiscard]] QWidget *current() const;
    [[nodiscard]] QTabBar *tabs() const { return m_tabs; }

protected:
    void contextMenuEvent(QContextMenuEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    QTabBar *m_tabs;
    QStackedLayout *m_stack;
};

} // namespace trainyard
