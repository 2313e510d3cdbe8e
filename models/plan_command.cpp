// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/plan_command.h"

#include "core/facts/plan/plan_diff.h"

#include <QCoreApplication>

namespace trainyard {

QString describeEdit(const Plan &before, const Plan &after)
{
    const std::vector<std::string> sentences = describeDifferences(before, after);
    if (sentences.empty())
        return QCoreApplication::translate("PlanCommand", "Edit");
    const QString first = QString::fromStdString(sentences.front());
    if (sentences.size() == 1)
        return first;
    return QCoreApplication::translate("PlanCommand", "%1 and %2 more").arg(first).arg(sentences.size() - 1);
}

PlanCommand::PlanCommand(PlanPtr before, PlanPtr after, QString text, QString mergeKey, Show show)
    : m_before(std::move(before))
    , m_after(std::move(after))
    , m_mergeKey(std::move(mergeKey))
    , m_isDescribed(text.isEmpty())
    , m_show(std::move(show))
{
    setText(m_isDescribed ? describeEdit(*m_before, *m_after) : text);
}

bool PlanCommand::mergeWith(const QUndoCommand *next)
{
    const auto *command = dynamic_cast<const PlanCommand *>(next);
    if (!command || command->m_mergeKey != m_mergeKey)
        return false;
    m_after = command->m_after;
    setText(m_isDescribed ? describeEdit(*m_before, *m_after) : command->text());
    setObsolete(*m_before == *m_after);
    return true;
}

} // namespace trainyard
