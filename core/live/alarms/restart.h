#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What it takes to start a job again elsewhere, as assumed: a checkpoint of weights and optimizer states (14 bytes per
// parameter: bf16 weights, and weights and two moments in FP32) that all nodes write and read side by side, on their
// drives where every pool has some, else over their NICs to storage; once over the narrowest link in use where
// datacenters change; and two minutes until the job runs. Steps since the last checkpoint are not in it.

#include "core/evaluation/evaluate/evaluation.h"

#include <string>

namespace trainyard::watch {

struct RestartCost {
    /// of the checkpoint
    double bytes = 0;
    double saveSeconds = 0, loadSeconds = 0, crossSeconds = 0, startSeconds = 0;
    bool isOnDrives = false;
    [[nodiscard]] double afterLoss() const { return loadSeconds + startSeconds; }
    [[nodiscard]] double ofMove() const { return saveSeconds + crossSeconds + afterLoss(); }
};
/// Of the plan as it is placed.
[[nodiscard]] RestartCost restartCost(const Evaluation &evaluation);
/// "Restart: 1.96 TB of checkpoint written and read in 41.0 s, 2.10 min over the WAN, 2 min to start", for WhatIf::why.
[[nodiscard]] std::string restartText(const RestartCost &cost, bool isMove);

/// of a parameter
inline constexpr double kCheckpointBytes = 14;
/// until a job runs that has its states
inline constexpr double kStartSeconds = 120;

} // namespace trainyard::watch
