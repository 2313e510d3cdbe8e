// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/memory_fit/climb_internal.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

Fit fitOf(const Footprint &size)
{
    return !size.fits ? Fit::No : size.hasRoom() ? Fit::Room : Fit::Brim;
}

PlanPtr withSaving(const PlanPtr &plan, const MemorySaving &saving)
{
    Plan next = *plan;
    saving.apply(next);
    return std::make_shared<const Plan>(std::move(next));
}

Climb::Climb(PlanPtr plan, Footprint before, Footprints &footprints)
    : m_start(std::move(plan))
    , m_before(before)
    , m_footprints(footprints)
    , m_stop(footprints.stop())
{
}

/// Orders to climb in: by cost as the memorySavings are listed; with states leaving the GPU before gradients are
/// sharded, which would take those along to host memory; with another shape before states leave, and before anything is
/// computed twice. Which is cheapest depends on links and batch.
int Climb::place(const MemorySaving &saving, Way way)
{
    const bool isOffload = saving.aim == SavingAim::MoveStates, isSharding = saving.aim == SavingAim::ShardGradients;
    switch (way) {
    case Way::AsListed:
        return 0;
    case Way::OffloadBeforeSharding:
        return isSharding ? 1 : saving.cost == SavingCost::Shape ? 2 : 0;
    case Way::ShapeBeforeOffload:
        return isOffload ? 2 : saving.cost == SavingCost::Shape ? 1 : 0;
    case Way::ShapeFirst:
        return saving.cost == SavingCost::Nothing ? 0 : saving.cost == SavingCost::Shape ? 1 : isOffload ? 3 : 2;
    }
    return 0;
}

ChosenRungs Climb::choose(const std::vector<MemorySaving> &all, EvaluationWorkspace *workspace)
{
    ChosenRungs best { {}, m_before };
    Metric bestTime;
    for (const Way way : { Way::AsListed, Way::OffloadBeforeSharding, Way::ShapeBeforeOffload, Way::ShapeFirst }) {
        std::vector<MemorySaving> order = all;
        std::ranges::stable_sort(order, {}, [&](const MemorySaving &saving) { return place(saving, way); });
        ChosenRungs chosen = climb(order, true);
        if (m_stop.stop_requested())
            return best;
        const Fit fit = fitOf(chosen.size), bestFit = fitOf(best.size);
        if (fit == Fit::No || chosen.memorySavings.empty()) {
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
        chosen.size = m_footprints.of(planWith(chosen.memorySavings));
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

/// Of the memorySavings in order, those that free something on top of the ones before, up to the first that leaves
/// room, or that makes the plan fit where none does; all where it never fits.
ChosenRungs Climb::climb(const std::vector<MemorySaving> &order, bool mindsHost) const
{
    ChosenRungs best { {}, m_before };
    std::vector<MemorySaving> taken;
    PlanPtr plan = m_start;
    Footprint now = m_before;
    for (const MemorySaving &saving : order) {
        if (m_stop.stop_requested() || fitOf(best.size) == Fit::Room)
            break;
        PlanPtr next = withSaving(plan, saving);
        if (*next == *plan)
            continue;
        Footprint size = m_footprints.of(next);
        if (!isStepUp(size, now, mindsHost))
            continue;
        if (!mindsHost)
            size.fits = size.fill() <= 1;
        taken.push_back(saving);
        plan = std::move(next);
        now = size;
        if (fitOf(now) > fitOf(best.size) || fitOf(best.size) == Fit::No)
            best = { taken, now };
    }
    return best;
}

PlanPtr Climb::planWith(const std::vector<MemorySaving> &memorySavings) const
{
    return std::accumulate(memorySavings.begin(), memorySavings.end(), m_start,
        [](const PlanPtr &plan, const MemorySaving &saving) { return withSaving(plan, saving); });
}

/// Drops what the last memorySavings have made needless, costliest first. What is free stays, for the room that it
/// leaves.
void Climb::stepBack(ChosenRungs &chosen) const
{
    const Fit reached = fitOf(chosen.size);
    std::vector<std::size_t> order(chosen.memorySavings.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    const auto cost = [&](std::size_t i) { return chosen.memorySavings[i].cost; };
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return cost(a) != cost(b) ? cost(a) > cost(b) : a > b; });
    std::vector<bool> isTaken(chosen.memorySavings.size(), true);
    const auto taken = [&] {
        std::vector<MemorySaving> memorySavings;
        for (std::size_t i = 0; i < isTaken.size(); ++i)
            if (isTaken[i])
                memorySavings.push_back(chosen.memorySavings[i]);
        return memorySavings;
    };
    for (const std::size_t without : order) {
        if (m_stop.stop_requested() || cost(without) == SavingCost::Nothing)
            continue;
        isTaken[without] = false;
        const Footprint size = m_footprints.of(planWith(taken()));
        if (fitOf(size) >= reached)
            chosen.size = size;
        else
            isTaken[without] = true;
    }
    chosen.memorySavings = taken();
}

Metric Climb::iterationTime(const ChosenRungs &chosen, EvaluationWorkspace *workspace) const
{
    if (!workspace)
        return {};
    const auto evaluation = run(planWith(chosen.memorySavings), Depth::Score,
        { .catalogue = m_footprints.catalogue(), .workspace = *workspace, .stop = m_stop });
    return evaluation && (*evaluation)->feasible() ? (*evaluation)->metrics.iterationTime : Metric {};
}

} // namespace trainyard
