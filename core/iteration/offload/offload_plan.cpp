// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/offload/offload_plan.h"

#include "core/iteration/offload/amount.h"
#include "core/iteration/offload/automatic_amount.h"
#include "core/iteration/offload/layer_policy.h"
#include "core/iteration/offload/paths.h"
#include "core/iteration/offload/prefetch.h"
#include "core/iteration/offload/segments.h"
#include "core/iteration/offload/settings.h"
#include "core/iteration/placement/activations_leave.h"
#include "core/iteration/placement/class_workload.h"

#include <algorithm>

namespace trainyard {

namespace {

class OffloadPlanner {
public:
    OffloadPlanner(const Workload &workload, const CosterOfClass &costerOf, Costs &costs, const std::stop_token &stop,
        GraphCache *graphs)
        : m_work(workload)
        , m_views(workload)
        , m_costerOf(costerOf)
        , m_costs(costs)
        , m_settings(offloadSettings(workload))
        , m_paths(offloadPaths(workload))
        , m_fair(fairRates(m_paths))
        , m_byPolicy(recomputesByPolicy(*workload.plan))
    {
        if (!m_byPolicy && !m_settings.fraction)
            m_automatic.emplace(costs, m_settings.group, m_settings.ahead, stop, graphs);
    }

    void plan()
    {
        const auto firstLink = std::uint32_t(m_costs.iteration.linkCapacity.size());
        m_costs.iteration.linkCapacity.insert(
            m_costs.iteration.linkCapacity.end(), m_paths.linkCapacity.begin(), m_paths.linkCapacity.end());
        for (std::size_t c = 0; c < m_costs.iteration.classes.size(); ++c) {
            PipelineCosts &pipelines = m_costs.iteration.classes[c];
            OffloadTimes times { {}, m_paths.of[c], std::vector(m_paths.of[c].size(), m_settings.ahead) };
            for (OffloadPath &path : times.paths)
                for (auto *links : { &path.storeLinks, &path.loadLinks })
                    for (std::uint32_t &link : *links)
                        link += firstLink;
            const std::vector<double> inFlight = peakInFlight(pipelines.program);
            auto &stages = m_costs.offload.emplace_back();
            for (std::size_t stage = 0; stage < times.paths.size(); ++stage)
                stages.push_back(planStage(c, int(stage), inFlight[stage], times));
            if (std::ranges::any_of(
                    stages, [](const StageOffload &s) { return s.offloaded > 0 || s.fates.forwards > 0; }))
                pipelines.offload = std::move(times);
        }
    }

private:
    using Modules = std::vector<std::vector<OffloadModule>>; // of each virtual stage

    /// With the class's micro-batch and the stage's own tensor groups.
    [[nodiscard]] const Workload &viewOf(std::size_t pipelineClass, int stage)
    {
        return m_views.of(m_work.layout.classes[pipelineClass], stage);
    }

    /// `slice`: of the tokens; -1: all of them.
    [[nodiscard]] StageCoster::Parts partsOf(std::size_t pipelineClass, int stage, int slice = -1) const
    {
        const PipelineClass &pipelines = m_work.layout.classes[pipelineClass];
        return m_costerOf(pipelines).parts(pipelines, stage, slice);
    }

    [[nodiscard]] std::size_t firstKept(const std::vector<OffloadModule> &modules, const FairRates &rates,
        double inFlight, int microBatches, bool recomputes) const
    {
        std::vector<AmountModule> amounts;
        double forward = 0, backward = 0;
        for (const OffloadModule &module : modules) {
            amounts.push_back({ module.offloadable, module.forward.value, module.layer });
            forward += module.forward.value;
            backward += (module.inputGrad + module.weightGrad + (recomputes ? module.recompute : Seconds {})).value;
        }
        if (!(rates.store > 0) || !(rates.load > 0))
            return 0;
        if (m_settings.fraction)
            return firstModuleKept(amounts, *m_settings.fraction);
        return firstModuleKept(amounts,
            { rates.store, rates.load, forward > 0 ? backward / forward : 2, inFlight > 1, inFlight / microBatches });
    }

    /// Of a stage: weight gradients are operations of their own; a backward follows its own forward at once, or what is
    /// known only at run time; every backward recomputes.
    struct BackwardKind {
        bool isSplit, turns, isChosenLate, recomputes;
    };

    static bool alwaysRecomputes(const std::vector<Op> &order)
    {
        return std::ranges::none_of(order, [](const Op &op) { return makesGradient(op.kind) && !op.recomputes; });
    }

    /// Whether what left is back in time for the backward of each virtual stage, with the loads of its groups `ahead`.
    [[nodiscard]] bool isBackInTime(
        const Modules &modules, std::size_t left, const LoadWay &way, BackwardKind kind) const
    {
        constexpr double kUnseen = 1e-3; // of the backward
        for (const auto &chunk : modules) {
            std::vector<ReturningModule> returning;
            Seconds backward;
            int inLayers = 0;
            for (const OffloadModule &module : chunk) {
                const bool leaves = left > 0 && left-- > 0;
                returning.push_back({ Bytes { leaves ? module.offloadable : 0 },
                    module.inputGrad + (kind.recomputes ? module.recompute : Seconds {})
                        + (kind.isSplit ? Seconds {} : module.weightGrad),
                    inLayers / m_settings.group });
                inLayers += module.layer >= 0;
                backward += returning.back().backward;
            }
            const auto last =
                std::find_if(chunk.rbegin(), chunk.rend(), [](const OffloadModule &m) { return m.layer >= 0; });
            if (kind.turns && last != chunk.rend() && &chunk == &modules.back())
                returning[returning.size() - 1 - std::size_t(last - chunk.rbegin())]
                    .offloaded = {}; // it stays where the backward follows at once
            LoadWay own = way;
            own.handOver = kind.turns || kind.isChosenLate ? Seconds {} : chunk.back().forward;
            if (kind.isSplit) // one backward follows another at once where weight gradients come later
                own.handOver = std::min(own.handOver, returning.front().backward);
            if (loadStall(returning, own).value > kUnseen * backward.value)
                return false;
        }
        return true;
    }

    /// Looks further ahead, and then keeps more, until the backward waits for nothing.
    [[nodiscard]] std::size_t inTime(
        const Modules &modules, std::size_t left, const FairRates &rates, BackwardKind kind, int &ahead) const
    {
        constexpr int kFurthest = AutomaticAmount::kFurthest;
        LoadWay way { BytesPerSecond { rates.load }, m_settings.ahead, {} };
        while (left > 0 && !isBackInTime(modules, left, way, kind)) {
            if (way.ahead < kFurthest)
                ++way.ahead;
            else
                --left;
        }
        if (left > 0)
            ahead = std::max(ahead, way.ahead);
        return left;
    }

    StageOffload planStage(std::size_t pipelineClass, int stage, double inFlight, OffloadTimes &times)
    {
        PipelineCosts &pipelines = m_costs.iteration.classes[pipelineClass];
        const OffloadPath &path = times.paths[std::size_t(stage)];
        StageOffload result;
        const Modules modules = m_byPolicy ? modulesByPolicy(pipelineClass, stage, path, result)
                                           : modulesByRule(pipelineClass, stage, inFlight, times);
        const std::size_t slot = std::size_t(stage) * modules.size();
        SegmentRule rule { splitsBackward(pipelines.program), m_byPolicy };
        const int group = m_byPolicy ? std::max(1, m_settings.group / 2) : m_settings.group; // layers, not their halves
        for (std::size_t c = 0; c < modules.size(); ++c) {
            auto &bytes = result.chunks.emplace_back();
            const std::vector<OffloadPiece> pieces = piecesOf(modules[c], rule.isSplit, group);
            for (const OffloadPiece &piece : pieces) {
                bytes.push_back(piece.bytes);
                result.offloaded += piece.bytes.offloaded;
            }
            for (const OffloadModule &module : modules[c]) {
                result.offloadable += module.offloadable + module.discarded;
                result.small += module.layer >= 0 && !m_byPolicy ? module.resident : 0;
            }
            times.ops.push_back(segmentsOf(pieces, pipelines.ops[slot + c], path, rule));
        }
        return result;
    }

    /// SSDTrain: modules leave in order, up to the first that stays. Sets the look-ahead of the stage in `times`.
    Modules modulesByRule(std::size_t pipelineClass, int stage, double inFlight, OffloadTimes &times)
    {
        const Workload &own = viewOf(pipelineClass, stage);
        const auto &chunks = m_work.layout.chunks[std::size_t(stage)];
        const std::vector<RecomputedLayers> recompute = recomputedLayers(m_work, stage);
        const std::size_t slices = std::size_t(tokenSlices(*m_work.plan));
        std::vector<OffloadModule> all;
        Modules modules;
        for (std::size_t c = 0; c < chunks.size() * slices; ++c) {
            const StageCoster::Parts parts = partsOf(pipelineClass, stage, slices > 1 ? int(c) : -1);
            modules.push_back(
                chunkModules(own, chunks[c / slices], recompute[c / slices], parts, m_settings.minElements));
            for (OffloadModule &module : modules.back()) // a layer of the next slice is another one for the amount
                module.layer += module.layer < 0 ? 0 : int(c % slices) * m_work.model.layers;
            all.insert(all.end(), modules.back().begin(), modules.back().end());
        }
        const Program &program = m_costs.iteration.classes[pipelineClass].program;
        const FairRates &rates = m_fair[pipelineClass][std::size_t(stage)];
        const BackwardKind kind { splitsBackward(program), inFlight <= 1, program.rule != OrderRule::Strict,
            alwaysRecomputes(program.order[std::size_t(stage)]) };
        int &ahead = times.ahead[std::size_t(stage)];
        std::size_t left = 0;
        std::optional<AmountChosen> chosen;
        if (m_automatic)
            chosen = m_automatic->choose({ &own, int(pipelineClass), stage, &modules, BytesPerSecond { rates.store },
                BytesPerSecond { rates.load }, BytesPerSecond { times.paths[std::size_t(stage)].storeCap }, inFlight });
        if (chosen) {
            left = chosen->leaving;
            ahead = chosen->ahead;
        } else {
            left = firstKept(all, rates, inFlight, program.shape.microBatches, kind.recomputes);
            if (!m_settings.fraction)
                left = inTime(modules, left, rates, kind, ahead);
        }
        for (auto &chunk : modules)
            for (OffloadModule &module : chunk)
                module.leaves = left > 0 && left-- > 0 && module.offloadable > 0;
        return modules;
    }

    /// MEMO, KARMA, ProTrain: layer by layer, with what is recomputed as part of the operations.
    Modules modulesByPolicy(std::size_t pipelineClass, int stage, const OffloadPath &path, StageOffload &result)
    {
        const StageCoster::Parts parts = partsOf(pipelineClass, stage);
        PipelineCosts &pipelines = m_costs.iteration.classes[pipelineClass];
        const auto &chunks = m_work.layout.chunks[std::size_t(stage)];
        const Workload &own = viewOf(pipelineClass, stage);
        const PolicyRoom room = policyRoom(own, stage, pipelines.program);
        int leaving = 0;
        for (const StageChunk &chunk : chunks)
            leaving += memoLayers(chunk.layers);
        StageCosts &costs = m_costs.stages[pipelineClass][std::size_t(stage)];
        const int microBatches = pipelines.program.shape.microBatches;
        const bool stepsOffGpu = m_work.plan->memory.optimizerOffload != OptimizerOffload::None;
        const Workload &ofClass = m_views.of(m_work.layout.classes[pipelineClass]);
        const Seconds shown = stepsOffGpu ? shownStep(ofClass, costs, microBatches) : Seconds {};
        Modules modules;
        for (std::size_t c = 0; c < chunks.size(); ++c) {
            std::vector<PolicyLayer> layers = chunkLayers(own, chunks[c], parts);
            applyPolicy(*m_work.plan, layers, path, room, leaving, result.fates);
            auto &inChunk = modules.emplace_back(chunkModules(own, chunks[c], {}, parts, 0));
            std::erase_if(inChunk, [](const OffloadModule &module) { return module.layer >= 0; });
            auto at = inChunk.begin() + (chunks[c].hasEmbedding ? 1 : 0);
            OpSplit recompute;
            for (const PolicyLayer &layer : layers) {
                at = inChunk.insert(at, layer.module) + 1;
                recompute += layer.recompute;
            }
            setRecompute(pipelines, costs, std::size_t(stage) * chunks.size() + c, c, recompute);
        }
        if (result.fates.forwards > 0)
            recomputeAlways(pipelines.program.order[std::size_t(stage)]);
        if (stepsOffGpu) // a delayed one hides behind recomputation too
            costs.optimizer += shownStep(ofClass, costs, microBatches) - shown;
        pipelines.syncAndStep[std::size_t(stage)] = syncAndStepTimes(ofClass, costs);
        return modules;
    }

    /// Of one virtual stage, instead of what it would recompute without the policy.
    static void setRecompute(
        PipelineCosts &pipelines, StageCosts &costs, std::size_t slot, std::size_t chunk, const OpSplit &recompute)
    {
        OpTimes &times = pipelines.ops[slot];
        const Nanoseconds more = toNanoseconds(recompute.total()) - times.recompute;
        times.recompute += more;
        times.inputGrad += more;
        times.backward += more;
        costs.chunks[chunk].recompute = recompute;
    }

    /// What a policy discarded is not there either where a backward follows its own forward at once.
    static void recomputeAlways(std::vector<Op> &order)
    {
        for (Op &op : order)
            op.recomputes = makesGradient(op.kind);
    }

    const Workload &m_work;
    ClassWorkloads m_views;
    const CosterOfClass &m_costerOf;
    Costs &m_costs;
    OffloadSettings m_settings;
    OffloadPaths m_paths;
    std::vector<std::vector<FairRates>> m_fair;
    bool m_byPolicy;
    std::optional<AutomaticAmount> m_automatic;
};

} // namespace

void planOffload(const Workload &workload, const CosterOfClass &costerOf, Costs &costs, const std::stop_token &stop,
    GraphCache *graphs)
{
    const MemoryStrategy &memory = workload.plan->memory;
    if (activationsLeaveTo(memory) == ActivationOffload::None || !whyActivationsStay(*workload.plan).empty())
        return;
    if (!onlyExpertInputLeaves(memory) || workload.model.isMoe())
        OffloadPlanner(workload, costerOf, costs, stop, graphs).plan();
}

} // namespace trainyard
