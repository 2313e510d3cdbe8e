// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/map_preview.h"

#include "core/evaluation/evaluate/comparable.h"
#include "models/text/format.h"
#include "views/theme/theme.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

const Problem *blocking(const Evaluation &evaluation)
{
    const auto found = std::ranges::find(evaluation.problems, Severity::Blocking, &Problem::severity);
    return found == evaluation.problems.end() ? nullptr : &*found;
}

} // namespace

MapPreview::Change MapPreview::update(const PlanPtr &plan, const Carry &carry, int target)
{
    if (carry == m_carry && target == m_target)
        return Change::None;
    m_carry = carry;
    m_target = target;
    return set(moveEdit(plan, carry, target));
}

MapPreview::Change MapPreview::set(std::optional<MapEdit> edit)
{
    const bool was = m_edit.has_value();
    m_edit = std::move(edit);
    m_evaluation.reset();
    return m_edit ? Change::Previewed : was ? Change::Cancelled : Change::None;
}

MapPreview::Change MapPreview::clear()
{
    m_carry = {};
    m_target = -1;
    return set(std::nullopt);
}

bool MapPreview::accept(const EvaluationPtr &evaluation)
{
    if (!m_edit || !evaluation || !evaluation->plan
        || (evaluation->plan != m_edit->next && *evaluation->plan != *m_edit->next))
        return false;
    m_evaluation = evaluation;
    return true;
}

QString MapPreview::verdict(const Evaluation *before) const
{
    if (!m_edit)
        return {};
    if (!m_evaluation)
        return QStringLiteral("…");
    const double now = m_evaluation->metrics.iterationTime.value_or(0);
    const double old = before ? before->metrics.iterationTime.value_or(0) : 0;
    const Problem *problem = blocking(*m_evaluation);
    QString text;
    if (now > 0 && old > 0 && whyNotCompared(*before, *m_evaluation).empty())
        text = QStringLiteral("%1 → %2  %3").arg(formatSeconds(old), formatSeconds(now), formatChange(old, now));
    else if (now > 0)
        text = QStringLiteral("%1 per iteration").arg(formatSeconds(now));
    if (problem)
        text += (text.isEmpty() ? QString() : QStringLiteral("  ")) + QString::fromStdString(problem->text);
    else if (m_evaluation->metrics.memory && m_evaluation->metrics.memory->fits)
        text += QStringLiteral("  fits");
    return text;
}

QColor MapPreview::verdictColour(const Evaluation *before) const
{
    if (!m_evaluation)
        return theme().textMuted;
    if (blocking(*m_evaluation))
        return theme().bad;
    const double now = m_evaluation->metrics.iterationTime.value_or(0);
    const double old = before ? before->metrics.iterationTime.value_or(0) : 0;
    if (now <= 0 || old <= 0 || std::abs(now - old) < 5e-4 * old) // less than a digit of what is shown
        return theme().textMuted;
    return now < old ? theme().good : theme().bad;
}

} // namespace trainyard
