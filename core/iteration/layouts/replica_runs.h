#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which replicas each pin of a plan is about, however micro-batches are accumulated: the next ones that lie with all
// their stages on its GPUs, with its tensor parallel degree.

#include "core/iteration/placement/resolve.h"

#include <string>
#include <vector>

namespace trainyard {

/// Consecutive replicas that lie in the same pools and are pinned alike.
struct ReplicaRun {
    int firstPipeline = 0, pipelines = 0;
    /// per stage
    std::vector<StageLocation> locations;
    const RankPin *pin = nullptr;

    [[nodiscard]] StageLocation at() const { return locations.front(); } // of the first stage
};

/// Of a placed layout, in the order of its pipelines. Classes put pools together that nothing but a pin tells apart;
/// here each run says its own.
[[nodiscard]] std::vector<ReplicaRun> replicaRuns(const Workload &workload);

/// What is wrong with a pin that asks for more GPUs than those of the replicas that it finds, in words; empty: nothing.
/// One that only states a tensor parallel degree is about GPUs, whatever stages lie there.
[[nodiscard]] std::string unansweredPin(const Workload &workload, const std::vector<ReplicaRun> &runs);

/// What a sentence says of replicas whose tensor parallel degree is their own: ", in tensor groups of 2"; empty where
/// all have the plan's.
[[nodiscard]] std::string tensorGroupsOf(const std::vector<StageLocation> &locations);

} // namespace trainyard
