#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How many modules of a stage leave where the plan says auto: of all amounts and look-aheads with which no operation of
// the stage ends later than where everything stays (rehearsal.h), the one with the lowest peak.

#include "core/iteration/cost/stage_costs.h"
#include "core/iteration/offload/modules.h"
#include "core/iteration/offload/rehearsal.h"

#include <cstddef>
#include <optional>
#include <stop_token>
#include <vector>

namespace trainyard {

class GraphCache;

struct AmountChosen {
    /// modules of the stage, in order
    std::size_t leaving = 0;
    /// groups
    int ahead = 1;
};

struct AmountStage {
    /// with the micro-batch of its class and its own tensor groups
    const Workload *view = nullptr;
    int pipelineClass = 0, stage = 0;
    /// of each virtual stage
    const std::vector<std::vector<OffloadModule>> *modules = nullptr;
    /// that one GPU can count on, while all that share its drives move
    BytesPerSecond store, load;
    /// while none of them does
    BytesPerSecond storeAlone;
    /// micro-batches between forward and backward
    double inFlight = 1;
};

class AutomaticAmount {
public:
    /// Runs the iteration with every activation on the GPU, on a topology of `graphs` where they have it. `group`,
    /// `ahead`: of the plan.
    AutomaticAmount(const Costs &costs, int group, int ahead, std::stop_token stop = {}, GraphCache *graphs = nullptr);

    /// Nothing where that iteration does not run, where it is stopped, or where the search has cost kMostTasks
    /// rehearsed tasks: then a bound without search must do.
    [[nodiscard]] std::optional<AmountChosen> choose(const AmountStage &stage);

    /// Rehearsed so far.
    [[nodiscard]] std::size_t tasks() const { return m_tasks; }

    static constexpr std::size_t kMostTasks = 1'000'000;
    /// groups ahead; each takes the memory of what it holds
    static constexpr int kFurthest = 8;

private:
    class Search;

    const Costs &m_costs;
    int m_group, m_ahead;
    /// [class][stage]; empty where nothing could be run
    std::vector<std::vector<StageScript>> m_scripts;
    std::stop_token m_stop;
    std::size_t m_tasks = 0;
};

} // namespace trainyard
