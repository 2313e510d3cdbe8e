#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How many micro-batches each pipeline gets where pipelines are unequal, one micro-batch going through all layers
// before the next is done: such that the slowest pipeline ends soonest, around what the plan pins.
// docs/model.md, "Mixed GPUs".

#include "core/iteration/placement/resolve.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace trainyard {

class StageCoster;

/// Equal pipelines: with n micro-batches each ends after fill + n * each seconds.
struct EqualPipelines {
    int pipelines = 1;
    double fill = 0, each = 0;
    /// of a micro-batch
    int samples = 1;
    /// micro-batches that the schedule can do
    int least = 1, step = 1, most = std::numeric_limits<int>::max();
};

/// So many of them have so many micro-batches.
struct DealtRun {
    int pipelines = 0, microBatches = 0;
    bool operator==(const DealtRun &) const = default;
};

/// Of each group the runs, fullest first, that together have all `samples` and whose slowest ends soonest: everybody
/// gets the least, each further micro-batch whoever would end first with it. No other way of dealing micro-batches of
/// one size ends sooner, since ends grow with every micro-batch. Where sizes differ a micro-batch that is larger than
/// what is left is only given where none is smaller; the last one may not be full. Empty where the least is too much.
[[nodiscard]] std::vector<std::vector<DealtRun>> dealMicroBatches(
    const std::vector<EqualPipelines> &groups, std::int64_t samples);

/// Seconds until the pipelines of a class have computed, as dealing counts them: the time of a micro-batch through all
/// stages and between them, and for each further one what its slowest stage or hop takes.
struct PipelinePace {
    double fill = 0, each = 0;
    int slowestStage = 0;
    [[nodiscard]] double end(int microBatches) const { return fill + microBatches * each; }
};
/// `coster` is that of `view`.
[[nodiscard]] PipelinePace paceOf(const Workload &view, const PipelineClass &pipelines, StageCoster &coster);

/// Sequences of a micro-batch, of each set of equal pipelines in the order of their numbers.
using OwnSizes = std::vector<int>;

/// Sizes of their own for unequal GPUs, those with which the slowest pipeline of a placed layout has computed and
/// reduced soonest first: a quarter to eight times the plan's for sets that no pin gives one, as far as memory has room
/// beside the least of the states. `areSooner`: only those that end sooner than the plan's. Asked where compute is
/// balanced; empty where replicas are all of one set, of more than 16 or exchange tokens of experts, and where times
/// are measured by the micro-batch.
[[nodiscard]] std::vector<OwnSizes> ownSizes(const Workload &workload, bool areSooner);

/// Makes the classes of a placed layout anew: with micro-batches by speed where compute is balanced, else as many
/// samples for everyone, and with what is pinned (shares of the states as they are pinned, 0 elsewhere). Nothing
/// changes where that cannot be; Layout::shares.why says what is in the way. `sizes`: one of ownSizes(), or empty
/// for the plan's.
void dealPipelines(Workload &workload, const OwnSizes &sizes = {});

} // namespace trainyard
