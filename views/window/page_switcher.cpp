// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/page_switcher.h"

#include "views/commands/command_registry.h"

#include <QAction>
#include <QMenu>
#include <QStackedWidget>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

QString withArrow(const QString &name)
{
    return name + QStringLiteral("  ▾");
}

} // namespace

PageSwitcher::PageSwitcher(QStackedWidget &pages, CommandRegistry &registry, QWidget *parent)
    : QToolButton(parent)
    , m_pages(pages)
    , m_registry(registry)
    , m_menu(new QMenu(this))
{
    setToolTip(tr("The page that is shown; a click lists the others."));
    setToolButtonStyle(Qt::ToolButtonTextOnly);
    setProperty("isFlat", true);
    setFocusPolicy(Qt::TabFocus);
    connect(this, &QToolButton::clicked, this, &PageSwitcher::open);
    connect(&pages, &QStackedWidget::currentChanged, this, &PageSwitcher::showPlace);
}

QAction *PageSwitcher::entry(QWidget *page, const QString &name, const QString &command)
{
    QAction *action = m_menu->addAction(name);
    action->setCheckable(true);
    m_entries.push_back({ page, action, command });
    // As wide as its longest name, so that nothing beside it moves.
    setMinimumWidth(std::max(minimumWidth(), fontMetrics().horizontalAdvance(withArrow(name)) + 20));
    showPlace();
    return action;
}

void PageSwitcher::add(QWidget *page, const QString &name, std::function<void()> open)
{
    connect(entry(page, name, {}), &QAction::triggered, this, [this, open = std::move(open)] {
        open();
        showPlace(); // a click on the one that is shown has unchecked it
    });
}

void PageSwitcher::add(QWidget *page, const QString &name, const QString &command)
{
    connect(entry(page, name, command), &QAction::triggered, this, [this, command] {
        m_registry.trigger(command);
        showPlace();
    });
}

QString PageSwitcher::place() const
{
    const auto shown = std::ranges::find(m_entries, m_pages.currentWidget(), &Entry::page);
    if (shown != m_entries.end())
        return shown->action->text();
    return m_pages.currentWidget() ? m_pages.currentWidget()->accessibleName() : QString();
}

void PageSwitcher::showPlace()
{
    for (const Entry &one : m_entries)
        one.action->setChecked(one.page == m_pages.currentWidget());
    setText(withArrow(place()));
    setAccessibleName(tr("Page: %1").arg(place()));
}

void PageSwitcher::open()
{
    m_registry.refresh();
    for (const Entry &one : m_entries)
        one.action->setEnabled(one.command.isEmpty() || m_registry.action(one.command)->isEnabled());
    showPlace(); // a click on the one that is shown has unchecked it
    m_menu->popup(mapToGlobal(rect().bottomLeft()));
}

} // namespace trainyard
