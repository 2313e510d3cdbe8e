#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which memorySavings of the memory ladder a plan needs: climbs them in several orders and steps back off those that
// are needless. For the .cpp files of this folder.

#include "core/evaluation/evaluate/run.h"
#include "core/evaluation/memory_fit/footprint.h"
#include "core/evaluation/memory_fit/memory_savings.h"

#include <stop_token>

namespace trainyard {

/// How far a plan is: it does not fit, it fits with little headroom, it fits with room to spare.
enum class Fit : std::uint8_t { No, Brim, Room };
[[nodiscard]] Fit fitOf(const Footprint &size);

[[nodiscard]] PlanPtr withSaving(const PlanPtr &plan, const MemorySaving &saving);

struct ChosenRungs {
    /// in the order of the steps
    std::vector<MemorySaving> memorySavings;
    /// with all of them
    Footprint size;
};

class Climb {
public:
    Climb(PlanPtr plan, Footprint before, Footprints &footprints);

    /// Of all orders the memorySavings that reach most; among equals those whose plan trains fastest, without a
    /// workspace the first. Where nothing fits, those that leave least missing.
    [[nodiscard]] ChosenRungs choose(const std::vector<MemorySaving> &all, EvaluationWorkspace *workspace);

private:
    enum class Way : std::uint8_t { AsListed, OffloadBeforeSharding, ShapeBeforeOffload, ShapeFirst };
    [[nodiscard]] static int place(const MemorySaving &saving, Way way);
    [[nodiscard]] ChosenRungs climb(const std::vector<MemorySaving> &order, bool mindsHost) const;
    [[nodiscard]] bool isStepUp(const Footprint &next, const Footprint &now, bool mindsHost) const;
    void stepBack(ChosenRungs &chosen) const;
    [[nodiscard]] PlanPtr planWith(const std::vector<MemorySaving> &memorySavings) const;
    /// Seconds of the iteration; empty where the plan is not feasible or nothing is evaluated.
    [[nodiscard]] Metric iterationTime(const ChosenRungs &chosen, EvaluationWorkspace *workspace) const;

    PlanPtr m_start;
    Footprint m_before;
    Footprints &m_footprints;
    std::stop_token m_stop;
};

} // namespace trainyard
