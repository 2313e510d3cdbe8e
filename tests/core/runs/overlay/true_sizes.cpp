// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/runs/overlay/true_sizes.h"

#include "core/evaluation/evaluate/run.h"
#include "core/facts/hardware/network_spec.h"
#include "core/facts/network/collectives.h"
#include "core/iteration/placement/calibrated.h"
#include "core/iteration/placement/resolve.h"

#include <QtGlobal>

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard::test {

namespace {

constexpr double kGenerated = 100e9; // B/s at which the generator makes sizes
constexpr double kCounter = 1024; // bytes

/// The size that takes so long: times grow with it.
double sizeThatTakes(double seconds, const RankGroup &group, bool isReduce)
{
    double low = 1, high = 1e15;
    for (int i = 0; i < 200; ++i) {
        const double middle = std::sqrt(low * high);
        const Seconds time = isReduce ? allReduceTime(Bytes { middle }, group) : allGatherTime(Bytes { middle }, group);
        (time.value < seconds ? low : high) = middle;
    }
    return std::round(low);
}

} // namespace

void carryTrueSizes(Recording &recording, const EvaluationPtr &evaluation, const RankMap &map)
{
    const auto workload = resolve(evaluation->plan, builtinCatalogue());
    if (!workload)
        qFatal("%s", toString(workload.error().front()).c_str());
    for (RankRecording &rank : recording.ranks)
        for (RecordedCollective &one : rank.collectives) {
            const std::string &operation = recording.names[one.operation];
            const bool isReduce = operation == "all_reduce";
            if (one.bytes <= kCounter || (!isReduce && operation != "all_gather"))
                continue;
            const std::vector<int> &ranks = recording.groups[one.group].ranks;
            const StageLocation at =
                evaluation->layout.classes.front().locations[std::size_t(map.placeOf(ranks.front()).stage)];
            std::map<int, int> nodes;
            for (const int member : ranks)
                ++nodes[member / workload->pool(at).gpusPerNode];
            int together = 1;
            for (const auto &[node, count] : nodes)
                together = std::max(together, count);
            one.bytes = sizeThatTakes(one.bytes / kGenerated,
                { int(ranks.size()), together, deviceLink(workload->gpu(at), builtinNetwork()),
                    nominalFabric(*workload, at) },
                isReduce);
        }
}

} // namespace trainyard::test
