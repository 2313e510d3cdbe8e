// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/schedule/traits.h"
#include "core/evaluation/advice/fixes_internal.h"
#include "core/evaluation/evaluate/problems/fix_of.h"
#include "core/iteration/placement/degrees.h"
#include "core/iteration/placement/expert_spread.h"
#include "core/iteration/placement/location_book.h"
#include "core/iteration/placement/ranks.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

std::vector<Fix> fewerStages(const Plan &plan, const ModelSpec &model)
{
    std::vector<Fix> fixes;
    const Degrees now = degreesOf(plan);
    if (now.chunks > 1)
        fixes.push_back(fixOf(plan, "One chunk per stage", [](Plan &p) {
            p.parallelism.virtualPipeline = 1;
            p.schedule = kPlainSchedule;
        }));
    for (int stages = std::min(now.pipeline, model.layers / now.chunks); stages >= 1; --stages) {
        if (model.layers % (stages * now.chunks) == 0)
            fixes.push_back(fixOf(plan, "Pipeline " + std::to_string(stages), [stages](Plan &p) {
                p.parallelism.pipeline = stages;
                p.placement.stages.clear(); // pins count stages
                p.placement.layers.clear();
                if (stages == 1)
                    p.parallelism.virtualPipeline = 1;
            }));
    }
    return fixes;
}

std::vector<Fix> otherPlacements(const Workload &workload, const Layout &layout, const Catalogue &catalogue)
{
    const Plan &plan = *workload.plan;
    std::vector<Fix> fixes;
    if (!plan.placement.stages.empty())
        fixes.push_back(fixOf(plan, "Place the stages anew", [](Plan &p) { p.placement = {}; }));
    if (workload.degrees.data)
        fixes.push_back(fixOf(plan, "Data parallel auto", [](Plan &p) { p.parallelism.data.reset(); }));
    if (workload.degrees.data && !plan.placement.stages.empty())
        fixes.push_back(fixOf(plan, "Place anew, data parallel auto", [](Plan &p) {
            p.placement = {};
            p.parallelism.data.reset();
        }));
    for (int stages = workload.degrees.pipeline - 1; stages >= 1 && plan.placement.stages.empty(); --stages) {
        if (workload.model.layers % stages != 0 || !workload.source.hasLayers)
            continue;
        fixes.push_back(fixOf(plan, "Pipeline " + std::to_string(stages), [stages](Plan &p) {
            p.parallelism.pipeline = stages;
            p.parallelism.data.reset();
        }));
    }
    for (int d = 0; d < int(plan.cluster.datacenters.size()); ++d) { // what no link joins cannot help the others
        const auto ends = [&](const WanLink &link) {
            return std::ranges::find(link.between, plan.cluster.datacenters[std::size_t(d)].id) != link.between.end();
        };
        if (plan.cluster.datacenters.size() < 2 || std::ranges::any_of(plan.cluster.wanLinks, ends))
            continue;
        if (auto link = linkFix(plan, d, layout, catalogue))
            fixes.insert(fixes.begin(), std::move(*link));
    }
    for (int tensor = workload.degrees.tensor / 2; tensor >= 1; tensor /= 2)
        fixes.push_back(fixOf(
            plan, "Tensor parallel " + std::to_string(tensor), [tensor](Plan &p) { p.parallelism.tensor = tensor; }));
    return fixes;
}

std::vector<Fix> otherSchedules(const Workload &workload, int most)
{
    const Plan &plan = *workload.plan;
    std::vector<Fix> fixes;
    const int total = totalMicroBatches(plan), stages = workload.degrees.pipeline;
    for (int data = most; data >= 1; --data) {
        if (total % data == 0 && total / data % stages == 0) {
            fixes.push_back(
                fixOf(plan, std::to_string(data) + " replicas", [data](Plan &p) { p.parallelism.data = data; }));
            break;
        }
    }
    const bool isPlain = plan.schedule == kPlainSchedule;
    fixes.push_back(fixOf(
        plan, isPlain ? "One chunk per stage" : std::string("Schedule ") + traitsOf(kPlainSchedule).label, [](Plan &p) {
            p.schedule = kPlainSchedule;
            p.parallelism.virtualPipeline = 1;
        }));
    return fixes;
}

std::vector<Fix> fewerPins(const Workload &workload)
{
    const Plan &plan = *workload.plan;
    const auto pinsShare = [](const RankPin &pin) { return pin.microBatch || pin.microBatches || pin.stateShare; };
    std::vector<Fix> fixes;
    if (std::ranges::any_of(plan.heterogeneity.assign, [](const RankPin &pin) { return pin.tensor.has_value(); })
        && std::ranges::any_of(plan.heterogeneity.assign, pinsShare))
        fixes.push_back(fixOf(plan, "No share pinned", [](Plan &p) {
            for (RankPin &pin : p.heterogeneity.assign) {
                pin.microBatch = pin.microBatches = std::nullopt;
                pin.stateShare.reset();
            }
        }));
    fixes.push_back(fixOf(plan, "Nothing pinned", [](Plan &p) { p.heterogeneity.assign.clear(); }));
    return fixes;
}

std::vector<Fix> smallerTensorGroups(const Workload &workload)
{
    const int together = tensorLevels(workload).together;
    return { fixOf(*workload.plan, "Tensor parallel " + std::to_string(together), [&](Plan &p) {
        p.parallelism.tensor = std::min(p.parallelism.tensor, together);
        for (RankPin &pin : p.heterogeneity.assign)
            if (pin.tensor)
                pin.tensor = std::min(*pin.tensor, together);
    }) };
}

std::vector<Fix> expertsInOneDatacenter(const Workload &workload)
{
    const auto across = expertsAcross(workload);
    std::vector<Fix> fixes;
    if (across && across->expert > 0)
        fixes.push_back(fixOf(*workload.plan, "Expert parallel " + std::to_string(across->expert),
            [&](Plan &fixed) { fixed.parallelism.expert = across->expert; }));
    fixes.push_back(fixOf(*workload.plan, "A pipeline across the datacenters",
        [](Plan &fixed) { fixed.placement.mode = PlacementMode::PipelineAcross; }));
    return fixes;
}

} // namespace trainyard
