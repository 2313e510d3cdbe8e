#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Causes of a slow step by the time that each explains: the measured steps are played again with that cause mended, and
// what they take less is its time. A slow stage, rank or link makes others wait, so that sums over ranks blame the
// wrong one. docs/plan-against-run.md, "Causes by what they cost".

#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/iteration/placement/rank_map.h"
#include "core/runs/overlay/run_steps.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

enum class CauseKind : std::uint8_t {
    SlowStage,
    SlowRank,
    /// a rank that computes longer and whose clock is lower
    Throttling,
    SlowLink,
    /// all exchanges between nodes, beside the plan
    CongestedFabric,
    /// kernels that were launched late, on all ranks or on one
    HostBound,
    ExpertImbalance,
    /// all ranks compute longer than the plan has it, alike
    OptimisticPlan,
};
/// "slow stage", "slow rank", "throttling", "slow link", "congested fabric", "host-bound", "imbalance of experts",
/// "optimistic plan"
[[nodiscard]] const char *nameOf(CauseKind kind);

struct RankedCause {
    CauseKind kind = CauseKind::SlowStage;
    /// from 0; -1: of no single one
    int stage = -1, rank = -1;
    /// of a link
    std::string where = {};
    /// measured over usual time of what is slow; of the host 0
    double ratio = 0;
    /// that a step would take less without it
    double seconds = 0;
    std::string sentence = {};
};

/// Most seconds first; told from 1.5 % of a step on. None of a run whose spans show no step,
/// or whose ranks are not the plan's.
[[nodiscard]] std::vector<RankedCause> rankedCauses(
    const Run &run, const RankMap &map, const Evaluation &evaluation, const Catalogue &catalogue = builtinCatalogue());

} // namespace trainyard
