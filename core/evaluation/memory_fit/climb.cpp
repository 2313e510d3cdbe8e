// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/memory_fit/climb_internal.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

Fit fitOf(const Footprint &size)
{
    return !size.fits ? Fit::No : size.hasRoom() ? Fit::Room : Fit::Brim;
}

PlanPtr withRung(const PlanPtr &plan, const Rung &rung)
{
    Plan next = *plan;
    rung.apply(next);
    return std::make_shared<const Plan>(std::move(next));
}

Climb::Climb(PlanPtr plan, Footprint before, Footprints &footprints)
    : m_start(std::move(plan))
    , m_before(before)
    , m_footprints(footprints)
    , m_stop(footprints.stop())
{
}

/// Orders to climb in: by cost as the rungs are listed; with states leaving the GPU before gradients are sharded, which
/// would take those along to host memory; with another shape before states leave, and before anything is computed
/// twice. Which is cheapest depends on links and batch.
int Climb::place(const Rung &rung, Way way)
{
    const bool isOffload = rung.aim == RungAim::MoveStates, isSharding = rung.aim == RungAim::ShardGradients;
    switch (way) {
    case Way::AsListed:
        return 0;
    case Way::OffloadBeforeSharding:
        return isSharding ? 1 : rung.cost == RungCost::Shape ? 2 : 0;
    case Way::ShapeBeforeOffload:
        return isOffload ? 2 : rung.cost == RungCost::Shape ? 1 : 0;
    case Way::ShapeFirst:
        return rung.cost == RungCost::Nothing ? 0 : rung.cost == RungCost::Shape ? 1 : isOffload ? 3 : 2;
    }
    return 0;
}

ChosenRungs Climb::choose(const std::vector<Rung> &all, EvaluationWorkspace *workspace)
{
    ChosenRungs best { {}, m_before };
    Metric bestTime;
    for (const Way way : { Way::AsListed, Way::OffloadBeforeSharding, Way::ShapeBeforeOffload, Way::ShapeFirst }) {
        std::vector<Rung> order = all;
        std::ranges::stable_sort(order, {}, [&](const Rung &rung) { return place(rung, way); });
        ChosenRungs chosen = climb(order, true);
        if (m_stop.stop_requested())
            return best;
        const Fit fit = fitOf(chosen.size), bestFit = fitOf(best.size);
        if (fit == Fit::No || chosen.rungs.empty()) {
            if (bestFit == Fit::No && chosen.size.need() < best.size.need())
                best = std::move(chosen);
            continue;
        }
        stepBack(chosen);
        const Metric time = iterationTime(chosen, workspace);
        if (workspace && !time)
            continue; // something else than memory stands in its way
        if (fit > bestFit || (fit == bestFit && bestTime && *time < *bestTime)) {
            best = std::move(chosen);
            bestTime = time;
        }
        if (!workspace && fit == Fit::Room)
            break;
    }
    if (fitOf(best.size) == Fit::No) { // would more host memory be enough?
        ChosenRungs chosen = climb(all, false);
        chosen.size = m_footprints.of(planWith(chosen.rungs));
        if (chosen.size.isPlaced && (chosen.size.fill() <= 1 || chosen.size.need() < best.size.need()))
            best = std::move(chosen);
    }
    return best;
}

/// Host memory is never filled beyond what there is for the sake of a GPU; what is missing of it may shrink.
bool Climb::isStepUp(const Footprint &next, const Footprint &now, bool mindsHost) const
{
    if (!next.isPlaced)
        return false;
    if (!now.isPlaced)
        return true;
    const double missing = std::max(1.0, next.hostFill()), missed = std::max(1.0, now.hostFill());
    if (mindsHost && missing != missed)
        return missing < missed;
    return next.fill() < now.fill();
}

/// Of the rungs in order, those that free something on top of the ones before, up to the first that leaves room, or
/// that makes the plan fit where none does; all where it never fits.
ChosenRungs Climb::climb(const std::vector<Rung> &order, bool mindsHost) const
{
    ChosenRungs best { {}, m_before };
    std::vector<Rung> taken;
    PlanPtr plan = m_start;
    Footprint now = m_before;
    for (const Rung &rung : order) {
        if (m_stop.stop_requested() || fitOf(best.size) == Fit::Room)
            break;
        PlanPtr next = withRung(plan, rung);
        if (*next == *plan)
            continue;
        Footprint size = m_footprints.of(next);
        if (!isStepUp(size, now, mindsHost))
            continue;
        if (!mindsHost)
            size.fits = size.fill() <= 1;
        taken.push_back(rung);
        plan = std::move(next);
        now = size;
        if (fitOf(now) > fitOf(best.size) || fitOf(best.size) == Fit::No)
            best = { taken, now };
    }
    return best;
}

PlanPtr Climb::planWith(const std::vector<Rung> &rungs) const
{
    return std::accumulate(rungs.begin(), rungs.end(), m_start,
        [](const PlanPtr &plan, const Rung &rung) { return withRung(plan, rung); });
}

/// Drops what the last rungs have made needless, costliest first. What is free stays, for the room that it leaves.
void Climb::stepBack(ChosenRungs &chosen) const
{
    const Fit reached = fitOf(chosen.size);
    std::vector<std::size_t> order(chosen.rungs.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    const auto cost = [&](std::size_t i) { return chosen.rungs[i].cost; };
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return cost(a) != cost(b) ? cost(a) > cost(b) : a > b; });
    std::vector<bool> isTaken(chosen.rungs.size(), true);
    const auto taken = [&] {
        std::vector<Rung> rungs;
        for (std::size_t i = 0; i < isTaken.size(); ++i)
            if (isTaken[i])
                rungs.push_back(chosen.rungs[i]);
        return rungs;
    };
    for (const std::size_t without : order) {
        if (m_stop.stop_requested() || cost(without) == RungCost::Nothing)
            continue;
        isTaken[without] = false;
        const Footprint size = m_footprints.of(planWith(taken()));
        if (fitOf(size) >= reached)
            chosen.size = size;
        else
            isTaken[without] = true;
    }
    chosen.rungs = taken();
}

Metric Climb::iterationTime(const ChosenRungs &chosen, EvaluationWorkspace *workspace) const
{
    if (!workspace)
        return {};
    const auto evaluation = run(planWith(chosen.rungs), Depth::Score, { m_footprints.catalogue(), *workspace, m_stop });
    return evaluation && (*evaluation)->feasible() ? (*evaluation)->metrics.iterationTime : Metric {};
}

} // namespace trainyard
