// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/rivals/choice.h"

#include <algorithm>
#include <map>
#include <set>

namespace trainyard::rivals {

namespace {

int datacenterOf(const PlannerInput &input, const Replicas &replicas)
{
    return input.sites[std::size_t(replicas.site)].datacenter;
}

/// Of each stage the datacenter where all of its replicas lie; empty where a stage lies in several.
std::vector<int> datacentersOfStages(const Choice &choice, const PlannerInput &input)
{
    std::vector<int> found;
    for (const ChosenStage &stage : choice.stages) {
        const int first = datacenterOf(input, stage.replicas.front());
        for (const Replicas &replicas : stage.replicas)
            if (datacenterOf(input, replicas) != first)
                return {};
        found.push_back(first);
    }
    return found;
}

std::map<int, int> replicasByDatacenter(const ChosenStage &stage, const PlannerInput &input)
{
    std::map<int, int> counts;
    for (const Replicas &replicas : stage.replicas)
        counts[datacenterOf(input, replicas)] += replicas.count;
    return counts;
}

/// GPUs of each site.
std::map<int, int> gpusBySite(const Choice &choice)
{
    std::map<int, int> gpus;
    for (const ChosenStage &stage : choice.stages)
        for (const Replicas &replicas : stage.replicas)
            gpus[replicas.site] += replicas.count * replicas.tensor;
    return gpus;
}

/// Pools that are used stay, in the order in which stages come to them; `isExact`: no more of their machines than are.
void keepUsedPools(Plan &plan, const Choice &choice, const PlannerInput &input, bool isExact)
{
    std::vector<int> order; // sites
    for (const ChosenStage &stage : choice.stages)
        for (const Replicas &replicas : stage.replicas)
            if (std::ranges::find(order, replicas.site) == order.end())
                order.push_back(replicas.site);
    const std::map<int, int> used = gpusBySite(choice);
    auto &datacenters = plan.cluster.datacenters;
    std::vector<std::vector<Pool>> pools(datacenters.size());
    for (const int at : order) {
        const Site &site = input.sites[std::size_t(at)];
        Pool pool = datacenters[std::size_t(site.datacenter)].pools[std::size_t(site.pool)];
        if (isExact)
            pool.nodes = std::min(pool.nodes, (used.at(at) + pool.gpusPerNode - 1) / pool.gpusPerNode);
        pools[std::size_t(site.datacenter)].push_back(std::move(pool));
    }
    for (std::size_t d = 0; d < datacenters.size(); ++d) {
        for (Pool &pool : datacenters[d].pools) {
            if (std::ranges::find(pools[d], pool.id, &Pool::id) != pools[d].end())
                continue;
            pool.nodes = 0;
            pools[d].push_back(pool);
        }
        datacenters[d].pools = std::move(pools[d]);
    }
}

/// Degrees of pools: the most common one is the plan's, others are pinned. False where a pool has several.
bool setTensors(Plan &plan, const Choice &choice, const PlannerInput &input)
{
    std::map<int, int> ofSite, replicasWith;
    for (const ChosenStage &stage : choice.stages) {
        for (const Replicas &replicas : stage.replicas) {
            const auto [known, isNew] = ofSite.try_emplace(replicas.site, replicas.tensor);
            if (!isNew && known->second != replicas.tensor)
                return false;
            replicasWith[replicas.tensor] += replicas.count;
        }
    }
    plan.parallelism.tensor =
        std::ranges::max_element(replicasWith, {}, [](const auto &entry) { return entry.second; })->first;
    for (const auto &[at, tensor] : ofSite) {
        if (tensor == plan.parallelism.tensor)
            continue;
        const Site &site = input.sites[std::size_t(at)];
        const Datacenter &datacenter = plan.cluster.datacenters[std::size_t(site.datacenter)];
        RankPin pin;
        pin.datacenter = datacenter.id;
        pin.pool = datacenter.pools[std::size_t(site.pool)].id;
        pin.tensor = tensor;
        plan.heterogeneity.assign.push_back(std::move(pin));
    }
    return true;
}

void setTensorEverywhere(Plan &plan, const Choice &choice)
{
    int most = 1;
    for (const ChosenStage &stage : choice.stages)
        for (const Replicas &replicas : stage.replicas)
            most = std::max(most, replicas.tensor);
    plan.parallelism.tensor = most;
}

/// Whether all pipelines lie with all their stages on GPUs of one degree inside each datacenter, as plans with several
/// degrees place them: every stage there has the same replicas by degree.
bool isWholeByDegree(const Choice &choice, const PlannerInput &input)
{
    std::map<int, std::map<int, int>> ofDatacenter; // degree -> replicas
    for (const ChosenStage &stage : choice.stages) {
        std::map<int, std::map<int, int>> here;
        for (const Replicas &replicas : stage.replicas)
            here[datacenterOf(input, replicas)][replicas.tensor] += replicas.count;
        for (const auto &[datacenter, counts] : here)
            if (const auto [known, isNew] = ofDatacenter.try_emplace(datacenter, counts); known->second != counts)
                return false;
    }
    return true;
}

/// Whether stages that take the pools of their datacenter one after the other get what was chosen. Of one degree.
bool isInOrder(const Choice &choice, const PlannerInput &input)
{
    const std::map<int, int> gpus = gpusBySite(choice);
    std::map<int, std::vector<std::pair<int, int>>> groups; // of datacenters: site, what is left of it
    for (const ChosenStage &stage : choice.stages) {
        for (const Replicas &replicas : stage.replicas) {
            auto &here = groups[datacenterOf(input, replicas)];
            const int perNode = input.kindOf(replicas.site).gpusPerNode;
            if (std::ranges::find(here, replicas.site, &std::pair<int, int>::first) == here.end())
                here.emplace_back(
                    replicas.site, (gpus.at(replicas.site) + perNode - 1) / perNode * (perNode / replicas.tensor));
        }
    }
    for (const ChosenStage &stage : choice.stages) {
        std::map<int, int> wanted;
        for (const Replicas &replicas : stage.replicas)
            wanted[replicas.site] += replicas.count;
        for (const auto &[datacenter, count] : replicasByDatacenter(stage, input)) {
            int open = count;
            for (auto &[site, left] : groups[datacenter]) {
                const int taken = std::min(open, left);
                if (taken != wanted[site])
                    return false;
                left -= taken;
                open -= taken;
            }
        }
    }
    return true;
}

bool pinBlocks(Plan &plan, const std::vector<int> &datacenters)
{
    plan.placement.mode = PlacementMode::PipelineAcross;
    std::set<int> done;
    for (const int d : datacenters) {
        const std::string &id = plan.cluster.datacenters[std::size_t(d)].id;
        if (!plan.placement.stages.empty() && plan.placement.stages.back().datacenter == id) {
            ++plan.placement.stages.back().stages;
            continue;
        }
        if (!done.insert(d).second)
            return false; // it comes back to a datacenter
        plan.placement.stages.push_back({ id, 1, {} });
    }
    return true;
}

} // namespace

int gpusOf(const Choice &choice)
{
    int sum = 0;
    for (const ChosenStage &stage : choice.stages)
        for (const Replicas &replicas : stage.replicas)
            sum += replicas.count * replicas.tensor;
    return sum;
}

double usdPerSecond(const Choice &choice, const PlannerInput &input)
{
    double sum = 0;
    for (const ChosenStage &stage : choice.stages)
        for (const Replicas &replicas : stage.replicas)
            sum += replicas.count * replicas.tensor * input.kindOf(replicas.site).usdPerSecond;
    return sum;
}

ChoiceAsPlan choiceToPlan(const Choice &choice, const PlannerInput &input, const PlanPtr &base)
{
    Plan plan = *base;
    ChoiceAsPlan result;
    const int stages = int(choice.stages.size());
    plan.schedule = Plan {}.schedule; // the standard, 1F1B
    plan.workload.microBatch = choice.microBatch;
    plan.parallelism.pipeline = stages;
    plan.parallelism.data = choice.data;
    plan.parallelism.context = plan.parallelism.virtualPipeline = 1;
    plan.heterogeneity.accumulation = Accumulation::Standard;
    plan.heterogeneity.layers = LayerSharing::Even;
    plan.heterogeneity.compute = choice.isBalanced ? ComputeSharing::Balanced : ComputeSharing::Even;
    plan.heterogeneity.assign.clear();
    plan.placement = {};
    for (const ChosenStage &stage : choice.stages)
        plan.placement.layers.push_back(stage.layers);
    if (!setTensors(plan, choice, input) || (!plan.heterogeneity.assign.empty() && !isWholeByDegree(choice, input))) {
        plan.heterogeneity.assign.clear();
        setTensorEverywhere(plan, choice);
        result.lost = "stages of several tensor degrees in one datacenter have the largest of them";
    }
    if (result.lost.empty() && plan.heterogeneity.assign.empty() && !isInOrder(choice, input))
        result.lost = "stages take the GPUs of a datacenter one pool after the other";
    const std::vector<int> datacenters = datacentersOfStages(choice, input);
    const bool isOneDatacenter = base->cluster.datacenters.size() == 1;
    const bool isPinned = !datacenters.empty() && (isOneDatacenter || pinBlocks(plan, datacenters));
    if (!isPinned) {
        plan.placement.stages.clear();
        plan.placement.mode = PlacementMode::DataAcross;
        const auto first = replicasByDatacenter(choice.stages.front(), input);
        const bool isAlike = std::ranges::all_of(
            choice.stages, [&](const ChosenStage &stage) { return replicasByDatacenter(stage, input) == first; });
        if (!isAlike)
            result.lost += std::string(result.lost.empty() ? "" : "; ")
                + "stages that lie in several datacenters become whole pipelines of each";
    }
    keepUsedPools(plan, choice, input, result.lost.empty());
    result.plan = std::make_shared<const Plan>(std::move(plan));
    return result;
}

} // namespace trainyard::rivals
