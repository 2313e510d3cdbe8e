// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/alternatives_internal.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/placement/degrees.h"
#include "core/iteration/placement/place.h"
#include "core/iteration/placement/stage_source.h"

namespace trainyard::detail {

namespace {

constexpr double kLargestServed = 8e10; // parameters: beside training there is no room for more

constexpr int kStagesToStart = 8; // Llama 3 8B is 2 GB on each of them

/// The most GPUs whose bubbles are aligned: t·cp of each pipeline of a class, at one stage, which lies in one
/// datacenter. The members of a cell are classes of their own. Where the placement is open, what either way across has.
/// 0 where the plan cannot be placed.
int alignedGpus(const Plan &plan, const Catalogue &catalogue, const ModelSpec *model)
{
    Plan alone = plan;
    if (model)
        alone.workload.inlineModel = *model; // one from a file is not read again
    const auto asked = resolve(std::make_shared<const Plan>(std::move(alone)), catalogue);
    if (!asked)
        return 0;
    int least = 0;
    for (const PlacementMode mode : candidateModes(plan)) {
        const Workload workload = place(*asked, mode);
        if (workload.layout.data == 0)
            continue;
        int most = 0;
        for (const PipelineClass &c : workload.layout.classes)
            for (const StageLocation at : c.locations)
                most = std::max(most, c.pipelines * workload.degreesAt(at).gpusOfStage());
        least = least == 0 ? most : std::min(least, most);
    }
    return least;
}

/// Where a plan says nothing of what is served, something to start from: Llama 3 8B over as many GPUs as have their
/// bubbles at the same time, at most 8, and ten requests per second.
void fillBlanks(Plan &plan, const Catalogue &catalogue, const ModelSpec *model)
{
    BubbleFill &fill = plan.bubbleFill;
    if (fill.model.empty()) {
        fill.model = "llama-3-8b";
        if (fill.stages <= 1) {
            const int aligned = model || !stageFacts(plan).hasLayers ? alignedGpus(plan, catalogue, model) : 0;
            fill.stages = aligned > 0 ? std::min(aligned, kStagesToStart) : kStagesToStart;
        }
    }
    if (fill.requestsPerSecond <= 0 && fill.arrivals != Arrivals::Trace)
        fill.requestsPerSecond = 10;
}

void addServedModel(Alternatives &out, const Plan &plan, const Catalogue &catalogue)
{
    std::vector<Choice<std::string>> choices;
    bool isListed = false;
    for (const ModelSpec &model : catalogue.models) {
        isListed = isListed || model.id == plan.bubbleFill.model;
        if (model.id == plan.bubbleFill.model || totalParameters(model) <= kLargestServed)
            choices.push_back({ model.id, model.id, model.name.empty() ? model.id : model.name, {} });
    }
    if (!isListed)
        choices.insert(choices.begin(),
            { plan.bubbleFill.model, plan.bubbleFill.model,
                plan.bubbleFill.model.empty() ? "none" : plan.bubbleFill.model, {} });
    addGroup(out, plan, rowOf(&BubbleFill::model), choices, plan.bubbleFill.model,
        [](Plan &p, const std::string &id) { p.bubbleFill.model = id; });
}

} // namespace

void addBubbleFill(Alternatives &out, const Plan &plan, const Catalogue &catalogue, const ModelSpec *model)
{
    const KeyRow &enabled = rowOf(&BubbleFill::enabled), &arrivals = rowOf(&BubbleFill::arrivals);
    addChoices(out, plan, enabled, choicesOf(enabled, plan), [&](Plan &p, KeyValue) {
        if (p.bubbleFill.enabled)
            fillBlanks(p, catalogue, model);
    });
    if (!plan.bubbleFill.enabled)
        return;
    addServedModel(out, plan, catalogue);
    offer(out, plan, rowOf(&BubbleFill::stages));
    Choices ways = choicesOf(arrivals, plan);
    ways[std::size_t(Arrivals::Trace)].blocked = plan.bubbleFill.trace.empty() ? "no trace file is named" : "";
    addChoices(out, plan, arrivals, ways);
}

} // namespace trainyard::detail
