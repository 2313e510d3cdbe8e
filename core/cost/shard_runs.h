#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What ZeRO-2 and ZeRO-3 cost in a pipeline of several chunks a stage: exchanges once a run of micro-batches
// (schedule/shard_exchange.h), behind the work of the next run. Equations in docs/model.md, "Layers".

#include "core/cost/iteration_costs.h"

namespace trainyard {

class StageCoster;

/// Adds to the operations of every stage what shows of the exchanges of its runs, but for the scatter of the last run, which
/// is the stage's reduction, and the gather of the first. Seconds, in `data`, and in what communication beside compute takes of it.
void addShardRuns(const Workload &workload, StageCoster &coster, const PipelineClass &pipelines, const Program &program,
                  std::vector<StageCosts> &stages);

} // namespace trainyard
