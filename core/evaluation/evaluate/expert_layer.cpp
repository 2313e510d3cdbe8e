// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/expert_layer.h"

#include "core/evaluation/evaluate/metrics/expert_metrics.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/placement/class_workload.h"

namespace trainyard {

ExpectedAll<std::optional<ExpertLayer>> expertLayer(const Evaluation &evaluation, const Catalogue &catalogue)
{
    auto asked = resolve(evaluation.plan, catalogue);
    if (!asked)
        return std::unexpected(asked.error());
    if (!asked->model.isMoe() || !asked->source.hasLayers || evaluation.layout.classes.empty())
        return std::nullopt;
    const Workload workload(*std::move(asked), evaluation.layout);
    ClassWorkloads views(workload);
    std::vector<std::vector<StageCosts>> costs;
    for (const PipelineClass &pipelines : workload.layout.classes) {
        StageCoster coster(views.of(pipelines));
        std::vector<StageCosts> &stages = costs.emplace_back();
        for (int stage = 0; stage < workload.degrees.pipeline; ++stage)
            stages.push_back(coster.wholeStage(pipelines, stage));
    }
    const SlowestExperts at = slowestExperts(workload.layout, costs);
    if (at.stage < 0)
        return std::nullopt;
    const ExpertLayerCost &cost = *costs[std::size_t(at.pipelineClass)][std::size_t(at.stage)].expert;
    ExpertLayer layer { at.pipelineClass, at.stage, cost.request, std::make_shared<const GpuSpec>(*cost.request.gpu),
        cost.choice, cost.forward, cost.backward, cost.pair, cost.forwardTimes, cost.backwardTimes, cost.loads };
    layer.request.gpu = layer.gpu.get();
    return layer;
}

} // namespace trainyard
