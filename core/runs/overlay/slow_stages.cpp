// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/slow_stages.h"

#include "core/base/median.h"
#include "core/base/number_text.h"
#include "core/engine/timeline/simulator.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/iteration/graph/pipeline_graph.h"
#include "core/iteration/iteration_costs/recomputed_shares.h"
#include "core/iteration/placement/resolve.h"
#include "core/runs/overlay/stage_computing.h"

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

constexpr double kSlowerStage = 1.04; // less is what a model leaves open
constexpr double kLeastOfStep = 0.02;

/// The plan's iteration with other speeds of its stages.
class Replay {
public:
    Replay(Costs costs, bool updatesOnGpu)
        : m_costs(std::move(costs))
        , m_updatesOnGpu(updatesOnGpu)
    {
    }

    /// Operations are those of layers as a whole, and are not paired.
    [[nodiscard]] bool isPossible() const
    {
        const auto isPlain = [&](std::size_t c) {
            const PipelineCosts &own = m_costs.iteration.classes[c];
            std::size_t chunks = 0;
            for (const StageCosts &stage : m_costs.stages[c])
                chunks += stage.chunks.size();
            return own.pairs.empty() && own.ops.size() == chunks && own.layers.isEmpty();
        };
        if (m_costs.stages.size() != m_costs.iteration.classes.size() || m_costs.movesActivations())
            return false;
        for (std::size_t c = 0; c < m_costs.stages.size(); ++c)
            if (!isPlain(c))
                return false;
        return true;
    }

    /// Seconds; [stage]: what computing takes there, over the plan. 0 where it cannot be played.
    [[nodiscard]] double seconds(const std::vector<double> &factors)
    {
        IterationCosts iteration = m_costs.iteration;
        for (std::size_t c = 0; c < iteration.classes.size(); ++c) {
            std::size_t op = 0;
            for (std::size_t stage = 0; stage < m_costs.stages[c].size(); ++stage)
                for (ChunkCost chunk : m_costs.stages[c][stage].chunks) {
                    for (OpSplit *part : { &chunk.forward, &chunk.inputGrad, &chunk.weightGrad, &chunk.recompute })
                        part->compute = part->compute * factors[std::min(stage, factors.size() - 1)];
                    iteration.classes[c].ops[op++] = opTimes(chunk);
                }
            for (std::size_t stage = 0; stage < iteration.classes[c].syncAndStep.size(); ++stage)
                if (m_updatesOnGpu)
                    iteration.classes[c].syncAndStep[stage].optimizer = toNanoseconds(
                        m_costs.stages[c][stage].optimizer * factors[std::min(stage, factors.size() - 1)]);
        }
        const auto graph = buildPipelineGraph(iteration);
        const auto timeline =
            graph ? simulate(*graph, m_workspace) : Expected<Timeline>(std::unexpected(graph.error()));
        return timeline ? toSeconds(timeline->duration).value : 0;
    }

private:
    Costs m_costs;
    bool m_updatesOnGpu;
    SimulationWorkspace m_workspace;
};

/// Median of the ratios of all stages but one.
double othersOf(const std::vector<StageInRun> &stages, int without)
{
    std::vector<double> ratios;
    for (const StageInRun &one : stages)
        if (one.stage != without)
            ratios.push_back(one.measured / one.planned);
    return medianOf(std::move(ratios));
}

void play(std::vector<StageInRun> &stages, const Costs &costs, const Workload &workload, double step)
{
    Replay replay(costs, workload.plan->memory.optimizerOffload == OptimizerOffload::None);
    if (!replay.isPossible())
        return;
    std::vector<double> factors(std::size_t(workload.degrees.pipeline), othersOf(stages, -1));
    for (const StageInRun &one : stages)
        factors[std::size_t(one.stage)] = one.measured / one.planned;
    const double all = replay.seconds(factors);
    for (StageInRun &one : stages) {
        if (one.ratio < kSlowerStage || !(all > 0))
            continue;
        std::vector<double> mended = factors;
        mended[std::size_t(one.stage)] = othersOf(stages, one.stage);
        one.seconds = std::max(0.0, all - replay.seconds(mended));
        if (one.seconds >= kLeastOfStep * step)
            one.sentence = "Stage " + std::to_string(one.stage + 1) + " computes " + percentText(one.ratio - 1)
                + " longer than the plan has it beside the other stages: were it as fast as they are, a step would "
                  "take "
                + secondsText(one.seconds) + " less, by a replay of the plan with the measured times";
    }
}

} // namespace

std::vector<StageInRun> stagesInRun(std::span<const WorkOfRank> work, double step, const RankMap &map,
    const Evaluation &evaluation, const Catalogue &catalogue)
{
    std::vector<StageInRun> stages;
    if (map.stages() < 2 || evaluation.layout.classes.empty() || !(step > 0))
        return stages;
    auto asked = resolve(evaluation.plan, catalogue);
    if (!asked || !asked->source.hasLayers)
        return stages;
    const Workload workload(*std::move(asked), evaluation.layout);
    const auto costs = cost(workload);
    if (!costs || costs->stages.empty() || costs->stages.size() != workload.layout.classes.size())
        return stages;
    const auto recomputed = recomputedShares(*workload.plan, *costs);
    const auto plannedOf = [&](const RankPlace &place) {
        for (std::size_t c = 0; c < costs->stages.size(); ++c) {
            const PipelineClass &of = workload.layout.classes[c];
            const auto stage = std::size_t(place.stage);
            const bool isThere = place.replica >= of.firstPipeline && place.replica < of.firstPipeline + of.pipelines;
            if (isThere && stage < costs->stages[c].size())
                return computingOf(workload, of, costs->stages[c][stage],
                    c < recomputed.size() && stage < recomputed[c].size() ? recomputed[c][stage] : RecomputedShares());
        }
        return 0.0;
    };
    struct OfStage {
        std::vector<double> planned, ratios;
    };
    std::map<int, OfStage> known;
    for (const WorkOfRank &own : work) {
        if (own.rank < 0 || own.rank >= map.worldSize() || !(own.computeSeconds > 0))
            continue;
        const RankPlace place = map.placeOf(own.rank);
        if (const double planned = plannedOf(place); planned > 0) {
            known[place.stage].planned.push_back(planned);
            known[place.stage].ratios.push_back(own.computeSeconds / planned);
        }
    }
    for (auto &[stage, of] : known) {
        StageInRun one { .stage = stage, .ranks = int(of.ratios.size()), .planned = medianOf(of.planned) };
        one.measured = medianOf(of.ratios) * one.planned;
        stages.push_back(std::move(one));
    }
    if (stages.size() < 2)
        return {};
    for (StageInRun &one : stages)
        one.ratio = one.measured / one.planned / othersOf(stages, one.stage);
    if (std::ranges::any_of(stages, [](const StageInRun &one) { return one.ratio >= kSlowerStage; }))
        play(stages, *costs, workload, step);
    return stages;
}

} // namespace trainyard
