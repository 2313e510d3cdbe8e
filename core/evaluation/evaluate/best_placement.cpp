// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/best_placement.h"

#include "core/base/words.h"

#include <algorithm>
#include <limits>
#include <set>

namespace trainyard {

namespace {

/// What one round of choices has taken.
struct RoundBudget {
    int simulated = 0;
    std::size_t tasks = 0;

    [[nodiscard]] bool isSpent(bool hasBest) const
    {
        return simulated >= kMostPlacements || (hasBest && tasks > kMostTasksInAll);
    }
};

class PlacementChooser {
public:
    PlacementChooser(const Workload &workload, Placements open, const RunLayout &runLayout)
        : m_workload(workload)
        , m_open(std::move(open))
        , m_runLayout(runLayout)
    {
        m_choice.unplaced = std::move(m_open.unplaced);
    }

    Expected<PlacementChoice> choose()
    {
        m_times.assign(m_open.found.size(), kNever);
        for (const bool isFewer : { false, true }) {
            RoundBudget budget;
            for (const bool areVariants : { false, true })
                for (const PlacedLayout *placed : inOrder(isFewer, areVariants))
                    if (auto looked = lookAt(*placed, budget); !looked)
                        return std::unexpected(std::move(looked.error()));
        }
        if (auto cells = lookAtCells(); !cells)
            return std::unexpected(std::move(cells.error()));
        for (const double bound : m_leftOut)
            m_choice.leftOut += mayBeFaster(bound);
        return std::move(m_choice);
    }

private:
    struct Seen {
        const PlacedLayout *placed;
        Nanoseconds duration;
    };

    static constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

    /// Variants by the time of what they are variants of: that may be too much for memory where they are not.
    [[nodiscard]] std::vector<const PlacedLayout *> inOrder(bool isFewer, bool areVariants) const
    {
        std::vector<const PlacedLayout *> order;
        for (const PlacedLayout &placed : m_open.found)
            if (placed.isFewer == isFewer && (placed.variantOf >= 0) == areVariants)
                order.push_back(&placed);
        if (areVariants)
            std::ranges::stable_sort(
                order, {}, [this](const PlacedLayout *placed) { return m_times[std::size_t(placed->variantOf)]; });
        return order;
    }

    [[nodiscard]] bool canRun() const { return m_choice.best && m_choice.best->judged.feasibility.all(); }
    [[nodiscard]] bool mayBeFaster(double bound) const
    {
        return !canRun() || bound < toSeconds(m_choice.best->timeline.duration).value;
    }

    Expected<void> lookAt(const PlacedLayout &placed, RoundBudget &budget)
    {
        if (!mayBeFaster(placed.bound) || (canRun() && !placed.mayFit))
            return {};
        const bool isFirstOfMode = m_modes.insert(placed.layout.mode).second;
        if (!isFirstOfMode && budget.isSpent(m_choice.best.has_value())) {
            m_leftOut.push_back(placed.bound);
            return {};
        }
        return simulate(placed.layout, budget, &placed);
    }

    /// Of what was simulated, the fastest first.
    Expected<void> lookAtCells()
    {
        RoundBudget budget;
        std::ranges::stable_sort(m_seen, {}, &Seen::duration);
        const std::vector<Seen> seen = std::move(m_seen);
        for (const Seen &one : seen)
            for (Layout &layout :
                mayBeFaster(one.placed->bound) ? otherCells(m_workload, *one.placed) : std::vector<Layout> {}) {
                if (budget.isSpent(true))
                    m_leftOut.push_back(one.placed->bound);
                else if (auto ran = simulate(std::move(layout), budget, nullptr); !ran)
                    return ran;
            }
        return {};
    }

    Expected<void> simulate(Layout layout, RoundBudget &budget, const PlacedLayout *placed)
    {
        ++budget.simulated;
        auto candidate = m_runLayout(layout, budget.tasks);
        if (candidate) {
            if (placed)
                m_times[std::size_t(placed - m_open.found.data())] = candidate->timeline.duration;
            if (placed && placed->withoutCells)
                m_seen.push_back({ placed, candidate->timeline.duration });
            if (!m_choice.best || isBetterPlacement(*candidate, *m_choice.best))
                m_choice.best = std::move(*candidate);
            return {};
        }
        const Error &error = candidate.error();
        if (error.code == ErrorCode::Cancelled || error.code == ErrorCode::Internal)
            return std::unexpected(error);
        const bool isTooLong = error.code == ErrorCode::OutOfRange;
        Errors &known = isTooLong ? m_choice.tooLong : m_choice.failed;
        if (std::ranges::find(known, error) == known.end()) { // several placements may fail alike
            known.push_back(error);
            if (!isTooLong && known.size() == 1)
                m_choice.leastBound = layout;
        }
        if (!isTooLong)
            m_choice.unplaced = std::move(layout);
        return {};
    }

    const Workload &m_workload;
    Placements m_open;
    const RunLayout &m_runLayout;
    PlacementChoice m_choice;
    std::set<PlacementMode> m_modes; // of which one was simulated, whatever that took
    std::vector<Nanoseconds> m_times; // of what was simulated, as listed
    std::vector<Seen> m_seen; // whose cells may have other sizes
    std::vector<double> m_leftOut; // bounds
};

} // namespace

bool isBetterPlacement(const SimulatedPlacement &a, const SimulatedPlacement &b)
{
    const bool canRun = a.judged.feasibility.all(), other = b.judged.feasibility.all();
    return canRun != other ? canRun : a.timeline.duration < b.timeline.duration;
}

Expected<PlacementChoice> choosePlacement(const Workload &workload, Placements open, const RunLayout &runLayout)
{
    return PlacementChooser(workload, std::move(open), runLayout).choose();
}

Problem leftOutNote(const PlacementChoice &choice)
{
    return { Severity::Note,
        counted(choice.leftOut, "further placement") + " might be faster by what bounds say and "
            + (choice.leftOut == 1 ? "was" : "were") + " not simulated: the choice ends after "
            + std::to_string(kMostPlacements) + " placements or " + std::to_string(kMostTasksInAll) + " tasks",
        "placement", {} };
}

} // namespace trainyard
