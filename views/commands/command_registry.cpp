// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/commands/command_registry.h"

#include "views/theme/icons.h"

namespace trainyard {

CommandRegistry::CommandRegistry(QWidget *window)
    : QObject(window)
    , m_window(window)
{
}

void CommandRegistry::add(Command command)
{
    QAction *action = nullptr;
    if (command.run) {
        action = new QAction(command.text, this);
        action->setObjectName(command.id);
        action->setShortcuts(command.shortcuts);
        action->setCheckable(bool(command.isChecked));
        if (!command.icon.isEmpty())
            action->setIcon(themedIcon(command.icon));
        connect(action, &QAction::triggered, this, [this, run = command.run] {
            run();
            refresh();
        });
        m_window->addAction(action);
    }
    m_commands.push_back(std::move(command));
    m_actions.push_back(action);
    if (action)
        showTip(m_actions.size() - 1);
}

QAction *CommandRegistry::action(const QString &id) const
{
    for (std::size_t i = 0; i < m_commands.size(); ++i) {
        if (m_commands[i].id == id)
            return m_actions[i];
    }
    return nullptr;
}

bool CommandRegistry::trigger(const QString &id)
{
    refresh();
    QAction *found = action(id);
    if (!found || !found->isEnabled())
        return false;
    found->trigger();
    return true;
}

void CommandRegistry::refresh()
{
    for (std::size_t i = 0; i < m_commands.size(); ++i) {
        const Command &command = m_commands[i];
        QAction *action = m_actions[i];
        if (!action)
            continue;
        action->setEnabled(!command.isEnabled || command.isEnabled());
        if (command.isChecked)
            action->setChecked(command.isChecked());
        if (const QString text = command.describe ? command.describe() : action->text(); text != action->text()) {
            action->setText(text);
            showTip(i);
        }
    }
    emit refreshed();
}

void CommandRegistry::showTip(std::size_t at)
{
    QString tip = m_actions[at]->text();
    tip.remove(u'&');
    if (const QString keys = keysOf(m_commands[at]); !keys.isEmpty())
        tip += QStringLiteral("  (%1)").arg(keys);
    m_actions[at]->setToolTip(tip);
}

void CommandRegistry::refreshIcons()
{
    for (std::size_t i = 0; i < m_commands.size(); ++i) {
        if (m_actions[i] && !m_commands[i].icon.isEmpty())
            m_actions[i]->setIcon(themedIcon(m_commands[i].icon));
    }
}

QString keysOf(const Command &command)
{
    QStringList keys;
    for (const QKeySequence &sequence : command.shortcuts)
        keys << sequence.toString(QKeySequence::NativeText);
    if (!command.keyHint.isEmpty())
        keys << command.keyHint;
    return keys.join(QStringLiteral(", "));
}

} // namespace trainyard
