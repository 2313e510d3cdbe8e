#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a plan can be placed and fits its GPUs and what its nodes have for all that has left them, simulating it only
// where activations leave the GPU: what searches over memory ask thousands of times.
// Pure function of its arguments. Orders that a work-conserving stage makes as it runs are counted at the most that it
// may hold.

#include "core/evaluation/evaluate/run.h"
#include "core/evaluation/evaluate/safe_fill.h"

#include <cstdint>
#include <stop_token>
#include <utility>
#include <vector>

namespace trainyard {

struct Footprint {
    /// it can be placed, scheduled and dealt its micro-batches
    bool isPlaced = false;
    /// and every GPU holds its stage, every node what has left its GPUs
    bool fits = false;
    /// bytes of the fullest GPU: the one with the largest share of its memory taken
    std::int64_t device = 0;
    std::int64_t capacity = 0;
    /// main memory of the node that has the largest share of it taken
    std::int64_t host = 0;
    /// 0 where its pool states none, or nothing has left
    std::int64_t hostCapacity = 0;

    [[nodiscard]] double fill() const { return capacity > 0 ? double(device) / double(capacity) : 1e300; }
    [[nodiscard]] double hostFill() const { return hostCapacity > 0 ? double(host) / double(hostCapacity) : 0; }
    [[nodiscard]] bool hasRoom() const { return fits && (capacity == 0 || fill() <= kSafeFill); }
    /// The share of whichever memory is exceeded most: at most 1 where the plan fits.
    [[nodiscard]] double need() const { return fill() > hostFill() ? fill() : hostFill(); }
};

/// Of the placement that fits, or else of the one that comes nearest. Nothing where the work is used up or stopped.
[[nodiscard]] Footprint footprint(
    const PlanPtr &plan, const Catalogue &catalogue, EvaluationWorkspace &workspace, SearchWork *work = nullptr);

/// Footprints of one search, each plan's found once: ways through the ladder meet in the same plans.
class Footprints {
public:
    Footprints(const Catalogue &catalogue, std::int64_t mostTasks, std::stop_token stop = {});

    [[nodiscard]] Footprint of(const PlanPtr &plan);
    [[nodiscard]] bool isCut() const { return m_work.isCut; }
    [[nodiscard]] std::int64_t mostTasks() const { return m_mostTasks; }
    [[nodiscard]] const Catalogue &catalogue() const { return m_catalogue; }
    [[nodiscard]] const std::stop_token &stop() const { return m_work.stop; }

private:
    const Catalogue &m_catalogue;
    std::int64_t m_mostTasks;
    SearchWork m_work;
    EvaluationWorkspace m_workspace;
    std::vector<std::pair<PlanPtr, Footprint>> m_known;
};

} // namespace trainyard
