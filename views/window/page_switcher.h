#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Says which page of the window is shown, and opens the others. GUI thread.

#include <QToolButton>

#include <functional>
#include <vector>

class QMenu;
class QStackedWidget;

namespace trainyard {

class CommandRegistry;

class PageSwitcher : public QToolButton {
    Q_OBJECT
public:
    PageSwitcher(QStackedWidget &pages, CommandRegistry &registry, QWidget *parent = nullptr);

    /// A page that `open` shows.
    void add(QWidget *page, const QString &name, std::function<void()> open);
    /// A page that a command opens, while that can be chosen.
    void add(QWidget *page, const QString &name, const QString &command);
    /// Name of the page that is shown; of one that is not listed (a sheet) its own.
    [[nodiscard]] QString place() const;
    [[nodiscard]] QMenu *pages() const { return m_menu; }

private:
    struct Entry {
        QWidget *page;
        QAction *action;
        /// empty: it can be chosen always
        QString command;
    };
    QAction *entry(QWidget *page, const QString &name, const QString &command);
    void showPlace();
    void open();

    QStackedWidget &m_pages;
    CommandRegistry &m_registry;
    QMenu *m_menu;
    std::vector<Entry> m_entries;
};

} // namespace trainyard
