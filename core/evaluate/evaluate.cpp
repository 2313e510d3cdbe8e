// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluate/evaluate.h"

#include "core/cost/iteration_costs.h"
#include "core/cost/placements.h"
#include "core/evaluate/confidence.h"
#include "core/evaluate/metrics.h"
#include "core/evaluate/problems.h"
#include "core/memory/off_gpu.h"
#include "core/memory/stage_memory.h"
#include "core/placement/location_book.h"
#include "core/placement/stage_source.h"
#include "core/plan/validate.h"
#include "core/prefill/bubble_fill.h"
#include "core/timeline/simulator.h"
#include "core/workload/resolve_model.h"

#include <algorithm>
#include <chrono>

namespace trainyard {

/// One topology for each placement that is compared: a drag changes durations far more often than shapes.
struct EvaluationWorkspace::State {
    SimulationWorkspace simulation;
    std::vector<TaskGraph> graphs;
};

EvaluationWorkspace::EvaluationWorkspace() : m_state(std::make_unique<State>()) {}
EvaluationWorkspace::~EvaluationWorkspace() = default;
EvaluationWorkspace::EvaluationWorkspace(EvaluationWorkspace &&) noexcept = default;
EvaluationWorkspace &EvaluationWorkspace::operator=(EvaluationWorkspace &&) noexcept = default;

bool Evaluation::feasible() const
{
    return std::none_of(problems.begin(), problems.end(), [](const Problem &p) { return p.severity == Severity::Blocking; });
}

namespace {

using Clock = std::chrono::steady_clock;

/// Placements that are simulated for one answer, and the tasks of all of them together, those of an event loop eight times, which
/// is what they cost: of a plan with very many tasks the best few by their bounds.
constexpr int kMostPlacements = 32;
constexpr std::size_t kMostTasksInAll = 300'000;

double millisecondsSince(Clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Candidate {                 // one placement, run through cost, schedule and simulation
    Layout layout;
    Costs costs;
    Timeline timeline;
    LiveMemory live;
    std::vector<StageMemory> memory;
    bool canRun = true;            // its shape, GPUs and the nodes' main memory allow it
};

/// A placement that can run beats one that cannot; then the shorter iteration wins.
bool isBetter(const Candidate &a, const Candidate &b)
{
    return a.canRun != b.canRun ? a.canRun : a.timeline.duration < b.timeline.duration;
}

bool fits(const Workload &workload, const std::vector<StageMemory> &memory)
{
    return std::ranges::all_of(memory, &StageMemory::fits) && std::ranges::all_of(hostMemory(workload, memory), &HostMemory::fits);
}

class Evaluating {
public:
    Evaluating(Workload workload, std::optional<BubbleService> service, const Catalogue &catalogue, EvaluationWorkspace::State &state,
               std::stop_token stop, EvaluateOptions options)
        : m_workload(std::move(workload)), m_service(std::move(service)), m_catalogue(catalogue), m_state(state), m_stop(std::move(stop)), m_options(options), m_search(catalogue, options.offerFixes, m_stop, options.onlyQuickFixes)
    {
    }

    ExpectedAll<EvaluationPtr> run(Clock::time_point started)
    {
        Placements open = placements(m_workload);
        std::optional<Candidate> best;
        std::vector<Problem> failures;
        Errors tooLong, failed;
        Layout unplaced = std::move(open.unplaced);
        m_state.graphs.resize(std::min(open.found.size(), std::size_t(kMostPlacements)));
        std::size_t simulated = 0, tasks = 0;
        for (PlacedLayout &placement : open.found) {
            if (best && best->canRun && (placement.bound >= toSeconds(best->timeline.duration).value || !placement.mayFit))
                break;
            if (simulated == kMostPlacements || (best && tasks > kMostTasksInAll))
                break;
            m_workload.layout = std::move(placement.layout);
            TaskGraph &graph = m_state.graphs[simulated++];
            auto candidate = runCandidate(graph);
            tasks += graph.taskCount() * (needsEvents(graph) ? 8 : 1);
            if (!candidate) {
                if (candidate.error().code == ErrorCode::Cancelled || candidate.error().code == ErrorCode::Internal)
                    return std::unexpected(Errors{candidate.error()});
                if (candidate.error().code == ErrorCode::OutOfRange) {
                    if (std::ranges::find(tooLong, candidate.error()) == tooLong.end())
                        tooLong.push_back(candidate.error());
                    continue;
                }
                if (std::ranges::find(failed, candidate.error()) == failed.end()) {   // several placements may fail alike
                    failures.push_back(scheduleProblem(m_workload, candidate.error(), m_search));
                    failed.push_back(candidate.error());
                }
                unplaced = m_workload.layout;
            } else if (!best || isBetter(*candidate, *best)) {
                best = std::move(*candidate);
            }
        }
        if (!best && !tooLong.empty())
            return std::unexpected(std::move(tooLong));
        Evaluation evaluation;
        evaluation.plan = m_workload.plan;
        evaluation.model = m_workload.model;
        if (best)
            fill(evaluation, std::move(*best));
        else
            fillWithoutTime(evaluation, std::move(unplaced), std::move(failures));
        if (m_stop.stop_requested())
            return std::unexpected(Errors{{ErrorCode::Cancelled, {}, "the evaluation was stopped", {}}});
        evaluation.metrics.evaluateMs = millisecondsSince(started);
        return std::make_shared<const Evaluation>(std::move(evaluation));
    }

private:
    Expected<Timeline> simulated(const TaskGraph &graph)
    {
        const auto started = Clock::now();
        auto timeline = simulate(graph, m_state.simulation, m_stop);
        m_simulateMs += millisecondsSince(started);
        return timeline;
    }

    Expected<Candidate> runCandidate(TaskGraph &graph)
    {
        auto costs = cost(m_workload, m_stop);
        if (!costs)
            return std::unexpected(costs.error());
        if (graph.taskCount() == 0 || !updatePipelineGraph(graph, costs->iteration)) {
            auto built = buildPipelineGraph(costs->iteration);
            if (!built)
                return std::unexpected(built.error());
            graph = std::move(*built);
        }
        auto timeline = simulated(graph);
        if (timeline && toNanoseconds(costs->hiddenExchange) > timeline->duration) {   // max(H t, Tsync) / H
            showExchange(*costs, costs->hiddenExchange - toSeconds(timeline->duration));
            auto longer = buildPipelineGraph(costs->iteration);
            if (!longer)
                return std::unexpected(longer.error());
            timeline = simulated(*longer);
        }
        if (!timeline)
            return std::unexpected(timeline.error());
        recordExecutedOrder(costs->iteration, *timeline);
        LiveMemory live = liveMemory(*costs, &*timeline, m_options.keepTimeline);
        std::vector<StageMemory> memory = stageMemory(m_workload, *costs, live, &*timeline);
        const bool canRun = hasRunnableShape(m_workload) && fits(m_workload, memory);
        return Candidate{m_workload.layout, std::move(*costs), std::move(*timeline), std::move(live), std::move(memory), canRun};
    }

    void fill(Evaluation &evaluation, Candidate candidate)
    {
        m_workload.layout = std::move(candidate.layout);
        Metrics &metrics = evaluation.metrics;
        addTimeMetrics(metrics, m_workload, candidate.costs, candidate.timeline);
        addCostMetrics(metrics, m_workload, m_catalogue);
        addConfidence(metrics, m_workload, m_catalogue);
        addOffloadMetrics(metrics, m_workload, candidate.costs, candidate.live);
        if (m_options.keepTimeline)
            addMemoryCurves(evaluation, candidate);
        addMemoryMetrics(metrics, std::move(candidate.memory));
        addOffloadedSteps(evaluation, candidate.costs);
        if (m_service)
            fillBubbles(metrics, candidate.timeline, m_workload, *m_service, m_stop);
        metrics.simulateMs = m_simulateMs;
        evaluation.layout = m_workload.layout;
        evaluation.problems = findProblems(evaluation, m_workload, m_catalogue, m_search);
        if (m_options.keepTimeline)
            evaluation.timeline = std::move(candidate.timeline);
    }

    static void addMemoryCurves(Evaluation &evaluation, Candidate &candidate)
    {
        MemoryCurves curves = memoryCurves(std::move(candidate.live), candidate.timeline);
        evaluation.memoryCurves = std::move(curves.with);
        evaluation.memoryCurvesKept = std::move(curves.kept);
    }

    static void addOffloadedSteps(Evaluation &evaluation, const Costs &costs)
    {
        if (movedOffGpu(*evaluation.plan).optimizerOffload == OptimizerOffload::None)
            return;
        for (const std::vector<StageCosts> &stages : costs.stages) {
            auto &steps = evaluation.offloadedSteps.emplace_back();
            for (const StageCosts &stage : stages)
                steps.push_back(stage.step);
        }
    }

    void fillWithoutTime(Evaluation &evaluation, Layout layout, std::vector<Problem> failures)
    {
        evaluation.problems = std::move(failures);
        if (evaluation.problems.empty())
            evaluation.problems.push_back(unplacedProblem(m_workload, layout, m_search));
        evaluation.metrics.gpusTotal = layout.gpusTotal;
        evaluation.layout = std::move(layout);
    }

    Workload m_workload;
    std::optional<BubbleService> m_service;
    const Catalogue &m_catalogue;
    EvaluationWorkspace::State &m_state;
    std::stop_token m_stop;
    EvaluateOptions m_options;
    FixSearch m_search;
    double m_simulateMs = 0;
};

/// Where more stages than layers are all that is wrong: a plan that is valid and cannot run.
std::optional<ModelSpec> modelWithTooFewLayers(const Plan &plan, const Errors &errors, const Catalogue &catalogue)
{
    if (!stageFacts(plan).hasLayers || errors.size() != 1 || errors.front().where != "parallelism.pipeline" || !validatePlan(plan).empty())
        return std::nullopt;
    auto model = resolveModel(plan.workload, plan.baseDir, catalogue);
    return model && model->layers < degreesOf(plan).pipeline * degreesOf(plan).chunks ? std::optional(std::move(*model)) : std::nullopt;
}

} // namespace

ExpectedAll<EvaluationPtr> evaluate(PlanPtr plan, const Catalogue &catalogue, EvaluationWorkspace &workspace, std::stop_token stop,
                                    EvaluateOptions options)
{
    const auto started = Clock::now();
    if (!plan->jobs.empty() && plan->workload.globalBatch == 0) {   // nothing but jobs: there is no iteration to evaluate
        Evaluation evaluation;
        evaluation.plan = plan;
        evaluation.metrics.gpusTotal = plan->cluster.gpus();
        evaluation.problems.push_back({Severity::Blocking, "Several models on shared GPUs are not modelled in this version", "jobs", {}});
        return std::make_shared<const Evaluation>(std::move(evaluation));
    }
    auto workload = resolve(plan, catalogue);
    if (!workload) {
        if (auto model = modelWithTooFewLayers(*plan, workload.error(), catalogue)) {
            FixSearch search(catalogue, options.offerFixes, stop);
            Evaluation evaluation;
            evaluation.plan = plan;
            evaluation.metrics.gpusTotal = evaluation.layout.gpusTotal = plan->cluster.gpus();
            evaluation.problems.push_back(tooManyStagesProblem(*plan, *model, search));
            evaluation.layout.unplaced = evaluation.problems.front().text;
            evaluation.model = std::move(*model);
            return std::make_shared<const Evaluation>(std::move(evaluation));
        }
        return std::unexpected(std::move(workload.error()));
    }
    auto service = resolveBubbleService(*workload->plan, catalogue);
    if (!service)
        return std::unexpected(std::move(service.error()));
    return Evaluating(std::move(*workload), std::move(*service), catalogue, workspace.state(), std::move(stop), options).run(started);
}

} // namespace trainyard
