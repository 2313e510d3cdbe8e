#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which datacenters are one site, whose GPUs serve hosts of other nodes too.

#include "core/iteration/job_shards/shard_cuts.h"

namespace trainyard {

/// GPUs serve hosts of other nodes where all jobs together would take little longer, were all of their transfers over
/// the fabric: who picks a unit does not ask how far its weights have to come.
void joinNodesWorthIt(JobWorkloads &jobs, const std::vector<CutGroup> &groups, const std::vector<ModelCut> &cuts,
    const std::vector<CutKind> &kinds, const CutRules &rules);

} // namespace trainyard
