// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/layouts/replica_runs.h"

#include "core/base/words.h"

#include <algorithm>
#include <limits>
#include <set>

namespace trainyard {

namespace {

/// Where each pipeline lies, cut wherever a stage goes on in another pool.
std::vector<ReplicaRun> placesOf(const Layout &layout)
{
    std::set<int> cuts { 0 };
    for (const GpuRun &run : layout.runs)
        cuts.insert({ run.firstPipeline, run.firstPipeline + run.pipelines });
    cuts.erase(cuts.lower_bound(layout.data), cuts.end());
    std::vector<ReplicaRun> runs;
    for (auto cut = cuts.begin(); cut != cuts.end(); ++cut) {
        const int next = std::next(cut) == cuts.end() ? layout.data : *std::next(cut);
        ReplicaRun made { *cut, next - *cut, layout.classes.front().locations, nullptr };
        for (const GpuRun &run : layout.runs)
            if (*cut >= run.firstPipeline && *cut < run.firstPipeline + run.pipelines)
                made.locations[std::size_t(run.stage)] = run.location();
        if (!runs.empty() && runs.back().locations == made.locations)
            runs.back().pipelines += made.pipelines; // nodes whose left-over GPUs lie between
        else
            runs.push_back(std::move(made));
    }
    return runs;
}

bool isAbout(const RankPin &pin, const Workload &workload, StageLocation at)
{
    return workload.plan->cluster.datacenters[std::size_t(at.datacenter)].id == pin.datacenter
        && pin.isAbout(workload.pool(at)) && workload.tensorAt(at) == pin.tensor.value_or(workload.degrees.tensor);
}

int gpusOf(const Workload &workload, const ReplicaRun &replica)
{
    int gpus = 0;
    for (const StageLocation at : replica.locations)
        gpus += workload.degreesAt(at).gpusOfStage();
    return gpus;
}

bool hasOnlyDegree(const RankPin &pin)
{
    return pin.tensor && !pin.microBatch && !pin.microBatches && !pin.stateShare;
}

} // namespace

std::vector<ReplicaRun> replicaRuns(const Workload &workload)
{
    std::vector<ReplicaRun> runs = placesOf(workload.layout);
    for (const RankPin &pin : workload.plan->heterogeneity.assign) {
        int left = pin.gpus.value_or(std::numeric_limits<int>::max());
        for (std::size_t i = 0; i < runs.size(); ++i) {
            const auto matches = [&](StageLocation at) { return isAbout(pin, workload, at); };
            if (runs[i].pin || !std::ranges::all_of(runs[i].locations, matches))
                continue;
            const int each = gpusOf(workload, runs[i]), taken = std::min(runs[i].pipelines, left / each);
            if (taken == 0)
                continue;
            if (taken < runs[i].pipelines) {
                ReplicaRun rest = runs[i];
                rest.firstPipeline += taken;
                rest.pipelines -= taken;
                runs[i].pipelines = taken;
                runs.insert(runs.begin() + std::ptrdiff_t(i) + 1, std::move(rest));
            }
            runs[i].pin = &pin;
            left -= taken * each;
        }
    }
    return runs;
}

std::string tensorGroupsOf(const std::vector<StageLocation> &locations)
{
    std::set<int> degrees;
    for (const StageLocation at : locations)
        degrees.insert(at.tensor);
    if (degrees.contains(0))
        return {};
    if (degrees == std::set { 1 })
        return ", without tensor parallelism";
    std::string text;
    for (const int tensor : degrees)
        text += (text.empty() ? ", in tensor groups of " : " and ") + std::to_string(tensor);
    return text;
}

std::string unansweredPin(const Workload &workload, const std::vector<ReplicaRun> &runs)
{
    const auto &assign = workload.plan->heterogeneity.assign;
    for (const RankPin &pin : assign) {
        int gpus = 0;
        for (const ReplicaRun &run : runs)
            gpus += run.pin == &pin ? run.pipelines * gpusOf(workload, run) : 0;
        if (gpus >= pin.gpus.value_or(1))
            continue;
        const auto serves = [&](const GpuRun &run) { return isAbout(pin, workload, run.location()); };
        if (hasOnlyDegree(pin) && std::ranges::any_of(workload.layout.runs, serves))
            continue;
        const bool hasStages = workload.degrees.pipeline > 1;
        return "assign[" + std::to_string(&pin - assign.data()) + "] pins "
            + (pin.gpus ? counted(*pin.gpus, "GPU") : "GPUs") + " of " + pin.datacenter
            + (pin.pool.empty() ? "" : " (" + pin.pool + ")") + ", where replicas "
            + (hasStages ? "with all their stages " : "") + "on " + counted(gpus, "GPU") + " are not pinned yet";
    }
    return {};
}

} // namespace trainyard
