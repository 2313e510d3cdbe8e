// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/variant_figures.h"

#include <algorithm>
#include <functional>

namespace trainyard {

VariantFigures::VariantFigures(SessionDocument &session, const Catalogue &catalogue, QObject *parent)
    : QObject(parent)
    , m_session(session)
    , m_catalogue(catalogue)
    , m_worker(std::bind_front(&VariantFigures::work, this))
{
    connect(&session, &SessionDocument::changed, this, &VariantFigures::tidy);
    tidy();
}

const PlanFigures *VariantFigures::of(const PlanPtr &plan) const
{
    const auto found = m_figures.find(plan);
    return found == m_figures.end() ? nullptr : &found->second;
}

/// Forgets plans that no variant has any more, and asks for one that is not known.
void VariantFigures::tidy()
{
    const std::vector<Variant> &all = m_session.variants();
    std::erase_if(
        m_figures, [&](const auto &one) { return std::ranges::find(all, one.first, &Variant::plan) == all.end(); });
    const auto unknown = std::ranges::find_if(all, [this](const Variant &one) {
        return one.id != m_session.current() && !m_figures.contains(one.plan); // that of the current one is on its way
    });
    m_worker.setPlan(unknown == all.end() ? nullptr : unknown->plan);
}

void VariantFigures::work(const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
    const WatchedWorker::Deliver &deliver)
{
    const PlanFigures figures = figuresOf(plan, m_catalogue, workspace, stop);
    if (stop.stop_requested())
        return;
    deliver([this, plan, figures] {
        m_figures.insert_or_assign(plan, figures);
        tidy();
        emit figuresChanged();
    });
}

void VariantFigures::note(const EvaluationPtr &evaluation)
{
    const std::vector<Variant> &all = m_session.variants();
    if (std::ranges::find(all, evaluation->plan, &Variant::plan) == all.end() || m_figures.contains(evaluation->plan))
        return; // only tried, or known
    m_figures.insert_or_assign(evaluation->plan, figuresOf(*evaluation));
    emit figuresChanged();
}

void VariantFigures::noteFailure(const PlanPtr &plan)
{
    PlanFigures none;
    none.feasible = false;
    m_figures.insert_or_assign(plan, none);
    emit figuresChanged();
}

} // namespace trainyard
