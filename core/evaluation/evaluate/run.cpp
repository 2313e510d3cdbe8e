// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/run.h"

#include "core/evaluation/evaluate/best_placement.h"
#include "core/evaluation/evaluate/estimate.h"
#include "core/evaluation/evaluate/feasibility.h"
#include "core/evaluation/evaluate/jobs/evaluate_jobs.h"
#include "core/evaluation/evaluate/live_stages.h"
#include "core/evaluation/evaluate/metrics/confidence.h"
#include "core/evaluation/evaluate/metrics/device_metrics.h"
#include "core/evaluation/evaluate/metrics/expert_metrics.h"
#include "core/evaluation/evaluate/metrics/metrics.h"
#include "core/evaluation/evaluate/problems/doubt_problems.h"
#include "core/evaluation/evaluate/problems/problems.h"
#include "core/evaluation/evaluate/run_cache.h"
#include "core/evaluation/evaluate/workspace_state.h"
#include "core/facts/plan/validate.h"
#include "core/iteration/graph/pipeline_graph.h"
#include "core/iteration/iteration_costs/iteration_costs.h"
#include "core/iteration/iteration_costs/task_count.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/layouts/shares.h"
#include "core/iteration/placement/location_book.h"
#include "core/iteration/placement/resolve_model.h"
#include "core/iteration/placement/shard_exchange.h"
#include "core/iteration/prefill/bubble_fill.h"

#include <algorithm>
#include <chrono>

namespace trainyard {

EvaluationWorkspace::EvaluationWorkspace()
    : EvaluationWorkspace(std::make_shared<GraphCache>())
{
}
EvaluationWorkspace::EvaluationWorkspace(std::shared_ptr<GraphCache> graphs)
    : m_state(std::make_unique<State>())
{
    m_state->graphs = std::move(graphs);
}
EvaluationWorkspace::~EvaluationWorkspace() = default;
EvaluationWorkspace::EvaluationWorkspace(EvaluationWorkspace &&) noexcept = default;
EvaluationWorkspace &EvaluationWorkspace::operator=(EvaluationWorkspace &&) noexcept = default;

bool SearchWork::take(std::int64_t tasks)
{
    if (tasks > tasksLeft) {
        isCut = true;
        return false;
    }
    tasksLeft -= tasks;
    return true;
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostPlacementsToFit = 4; // of either way across: those of the least bounds

double millisecondsSince(Clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// What was stopped is not whole.
ExpectedAll<EvaluationPtr> unlessStopped(Evaluation evaluation, const std::stop_token &stop)
{
    if (stop.stop_requested())
        return std::unexpected(Errors { { ErrorCode::Cancelled, {}, "the evaluation was stopped", {} } });
    return std::make_shared<const Evaluation>(std::move(evaluation));
}

class Running {
public:
    Running(const Running &) = delete;
    Running(Requested asked, std::optional<BubbleService> service, Depth depth, const RunContext &context)
        : m_turns(std::move(asked))
        , m_service(std::move(service))
        , m_depth(depth)
        , m_context(context)
        , m_stop(context.stop)
        , m_state(context.workspace.state())
    {
    }

    ExpectedAll<EvaluationPtr> run(Clock::time_point started)
    {
        ExpectedAll<Evaluation> evaluation = m_depth == Depth::Estimate ? placedEstimate(m_turns.asked())
            : m_depth == Depth::Fit                                     ? fitted()
                                                                        : evaluated();
        if (!evaluation)
            return std::unexpected(std::move(evaluation.error()));
        if (m_depth == Depth::Everything && m_context.fixes && !m_stop.stop_requested())
            m_context.fixes->addFixes(*evaluation, &m_workload, m_context);
        evaluation->metrics.evaluateMs = millisecondsSince(started);
        return unlessStopped(std::move(*evaluation), m_stop);
    }

private:
    /// Of the placement that fits, or else of the one that comes nearest.
    ExpectedAll<Evaluation> fitted()
    {
        std::optional<Judged> best;
        Evaluation evaluation = begun(m_workload);
        evaluation.feasibility.isSharded = !refusesSharding(*m_workload.plan, m_workload.stack);
        if (!evaluation.feasibility.isSharded)
            return evaluation;
        for (PlacedLayout &placement : placements(m_turns.asked(), m_context.replicas, kMostPlacementsToFit).found) {
            if (m_stop.stop_requested())
                break;
            m_turns.at(std::move(placement.layout));
            if (!hasRunnableShape(m_workload) || (m_context.work && !m_context.work->take(simulatedTasks(m_workload))))
                continue;
            auto costs = cost(m_workload, m_stop, m_state.graphs.get());
            if (!costs)
                continue;
            auto other = judgedWithoutTime(*costs);
            if (other && (!best || other->need() < best->need())) {
                best = std::move(other);
                evaluation.layout = m_workload.layout;
            }
            if (best && best->feasibility.all())
                break;
        }
        if (best)
            setJudged(evaluation, std::move(*best));
        else
            evaluation.feasibility.isPlaced = false;
        return evaluation;
    }

    std::optional<Judged> judgedWithoutTime(Costs &costs)
    {
        std::optional<Timeline> ran;
        if (costs.movesActivations()) { // how much is away at the peak only the timeline knows
            auto graph = pipelineGraph(costs.iteration, *m_state.graphs);
            auto timeline = graph ? simulated(*graph) : Expected<Timeline>(std::unexpected(graph.error()));
            if (graph)
                m_state.graphs->giveBack(std::move(*graph));
            if (!timeline)
                return {};
            recordExecutedOrder(costs.iteration, *timeline);
            ran = std::move(*timeline);
        }
        const Timeline *timeline = ran ? &*ran : nullptr;
        LiveMemory live = liveMemory(costs, timeline, false);
        return judge(m_workload, stageMemory(m_workload, costs, live, timeline));
    }

    ExpectedAll<Evaluation> evaluated()
    {
        Placements open = placements(m_turns.asked(), m_context.replicas);
        m_state.taken.addDealt(sharesOut(*m_workload.plan) ? open.found.size() : 0);
        auto choice = choosePlacement(m_workload, std::move(open), [&](Layout layout, std::size_t &tasks) {
            m_turns.at(std::move(layout));
            return runCandidate(tasks);
        });
        if (!choice)
            return std::unexpected(Errors { std::move(choice.error()) });
        if (!choice->best && !choice->tooLong.empty())
            return std::unexpected(std::move(choice->tooLong));
        Evaluation evaluation = begun(m_workload);
        if (!choice->best && choice->leastBound)
            m_turns.at(*std::move(choice->leastBound));
        if (!choice->best) {
            std::vector<Problem> failures;
            for (const Error &error : choice->failed)
                failures.push_back(scheduleProblem(error));
            fillWithoutTime(evaluation, std::move(choice->unplaced), std::move(failures));
            return evaluation;
        }
        fill(evaluation, std::move(*choice->best));
        if (choice->leftOut > 0)
            evaluation.problems.push_back(leftOutNote(*choice));
        return evaluation;
    }

    [[nodiscard]] bool keepsSpans() const { return m_depth >= Depth::Spans; }

    Expected<Timeline> simulated(const TaskGraph &graph)
    {
        const auto started = Clock::now();
        auto timeline = simulate(graph, m_state.simulation, m_stop);
        m_simulateMs += millisecondsSince(started);
        return timeline;
    }

    /// Adds to `tasks`.
    Expected<SimulatedPlacement> runCandidate(std::size_t &tasks)
    {
        auto costs = cost(m_workload, m_stop, m_state.graphs.get());
        if (!costs)
            return std::unexpected(costs.error());
        auto graph = pipelineGraph(costs->iteration, *m_state.graphs);
        if (!graph)
            return std::unexpected(graph.error());
        const bool areEvents = needsEvents(*graph);
        tasks += graph->taskCount() * (areEvents ? 8 : 1);
        m_state.taken.addPlacement(graph->taskCount(), areEvents, costs->movesActivations());
        auto timeline = simulated(*graph);
        m_state.graphs->giveBack(std::move(*graph));
        if (timeline && toNanoseconds(costs->hiddenExchange) > timeline->duration) { // max(H t, Tsync) / H
            showExchange(*costs, costs->hiddenExchange - toSeconds(timeline->duration));
            auto longer = buildPipelineGraph(costs->iteration);
            if (!longer)
                return std::unexpected(longer.error());
            timeline = simulated(*longer);
        }
        if (!timeline)
            return std::unexpected(timeline.error());
        recordExecutedOrder(costs->iteration, *timeline);
        LiveMemory live = liveMemory(*costs, &*timeline, keepsSpans());
        Judged judged = judge(m_workload, stageMemory(m_workload, *costs, live, &*timeline));
        return SimulatedPlacement { m_workload.layout, std::move(*costs), std::move(*timeline), std::move(live),
            std::move(judged) };
    }

    void fill(Evaluation &evaluation, SimulatedPlacement candidate)
    {
        m_turns.at(std::move(candidate.layout));
        Metrics &metrics = evaluation.metrics;
        addTimeMetrics(metrics, m_workload, candidate.costs, candidate.timeline);
        metrics.experts = expertMetrics(m_workload, candidate.costs);
        addCostMetrics(metrics, m_workload, m_context.catalogue);
        addConfidence(metrics, m_workload, m_context.catalogue);
        addOffloadMetrics(metrics, m_workload, candidate.costs, candidate.live);
        addDeviceMemory(metrics.devices, candidate.live);
        if (keepsSpans())
            addMemoryCurves(evaluation, candidate);
        setJudged(evaluation, std::move(candidate.judged));
        addOffloadedSteps(evaluation, candidate.costs);
        if (m_service)
            addBubbleFill(metrics, candidate.timeline, m_workload, *m_service, m_stop);
        if (metrics.bubbleFill)
            m_state.taken.addRequests(metrics.bubbleFill->accepted + metrics.bubbleFill->rejected);
        metrics.simulateMs = m_simulateMs;
        evaluation.layout = m_workload.layout;
        evaluation.problems = findProblems(evaluation, m_workload, m_context.catalogue);
        for (const ModelSpec &model : m_service ? m_service->models : std::vector<ModelSpec> {})
            std::ranges::move(
                doubtProblems(model.doubts, "bubble_fill.model"), std::back_inserter(evaluation.problems));
        if (keepsSpans())
            evaluation.timeline = std::move(candidate.timeline);
    }

    static void addMemoryCurves(Evaluation &evaluation, SimulatedPlacement &candidate)
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
        evaluation.feasibility.isPlaced = false;
        evaluation.problems = std::move(failures);
        if (evaluation.problems.empty())
            evaluation.problems.push_back(unplacedProblem(*m_workload.plan, layout));
        evaluation.metrics.gpusTotal = layout.gpusTotal;
        evaluation.layout = std::move(layout);
    }

    WorkloadInTurn m_turns;
    /// the placement at hand
    const Workload &m_workload = m_turns.now();
    std::optional<BubbleService> m_service;
    Depth m_depth;
    const RunContext &m_context;
    const std::stop_token &m_stop;
    EvaluationWorkspace::State &m_state;
    double m_simulateMs = 0;
};

/// Where more stages than layers are all that is wrong: a plan that is valid and cannot run.
std::optional<ModelSpec> modelWithTooFewLayers(const Plan &plan, const Errors &errors, const Catalogue &catalogue)
{
    if (!stageFacts(plan).hasLayers || errors.size() != 1 || errors.front().where != "parallelism.pipeline"
        || !validatePlan(plan).empty())
        return std::nullopt;
    auto model = resolveModel(plan.workload, plan.baseDir, catalogue);
    return model && model->layers < degreesOf(plan).pipeline * degreesOf(plan).chunks ? std::optional(std::move(*model))
                                                                                      : std::nullopt;
}

ExpectedAll<EvaluationPtr> runUncached(const PlanPtr &plan, Depth depth, const RunContext &context)
{
    const auto started = Clock::now();
    if (hasJobs(*plan)) {
        auto jobs = evaluateJobs(plan, depth, context);
        if (!jobs)
            return std::unexpected(std::move(jobs.error()));
        jobs->metrics.evaluateMs = millisecondsSince(started);
        return unlessStopped(std::move(*jobs), context.stop);
    }
    Evaluation evaluation;
    evaluation.plan = plan;
    evaluation.metrics.gpusTotal = evaluation.layout.gpusTotal = plan->cluster.gpus();
    auto workload = resolve(plan, context.catalogue);
    if (!workload) {
        auto model = modelWithTooFewLayers(*plan, workload.error(), context.catalogue);
        if (!model)
            return std::unexpected(std::move(workload.error()));
        evaluation.feasibility.isPlaced = false;
        evaluation.problems.push_back(tooManyStagesProblem(*plan, *model));
        evaluation.layout.unplaced = evaluation.problems.front().text;
        evaluation.model = std::move(*model);
        if (depth == Depth::Everything && context.fixes)
            context.fixes->addFixes(evaluation, nullptr, context);
        return unlessStopped(std::move(evaluation), context.stop);
    }
    if (blockingDoubt(workload->model.doubts)) {
        evaluation.feasibility.isModelled = evaluation.feasibility.isPlaced = false;
        evaluation.problems = doubtProblems(workload->model.doubts);
        evaluation.layout.unplaced = evaluation.problems.front().text;
        evaluation.model = std::move(workload->model);
        return unlessStopped(std::move(evaluation), context.stop);
    }
    auto service = resolveBubbleService(*workload->plan, context.catalogue);
    if (!service)
        return std::unexpected(std::move(service.error()));
    return Running(std::move(*workload), std::move(*service), depth, context).run(started);
}

/// What files say may be something else by the next time.
bool readsFiles(const Plan &plan, const Catalogue &catalogue)
{
    const auto isPath = [&](const std::string &model) { return !catalogue.model(model); };
    const BubbleFill &fill = plan.bubbleFill;
    if (fill.enabled && (fill.arrivals == Arrivals::Trace || isPath(fill.model)))
        return true;
    if (hasJobs(plan))
        return std::ranges::any_of(plan.jobs, isPath, &Job::model)
            || (plan.jobGrid && std::ranges::any_of(plan.jobGrid->model, isPath));
    return !plan.workload.inlineModel && isPath(plan.workload.model);
}

/// An evaluation is of the very plan that was asked about: views tell plans by their address.
EvaluationPtr withPlan(EvaluationPtr known, const PlanPtr &plan)
{
    if (known->plan == plan)
        return known;
    auto own = std::make_shared<Evaluation>(*known);
    own->plan = plan;
    return own;
}

} // namespace

ExpectedAll<EvaluationPtr> run(PlanPtr plan, Depth depth, const RunContext &context)
{
    RunCache *const cache = context.cache && !readsFiles(*plan, context.catalogue) ? context.cache : nullptr;
    if (cache)
        if (EvaluationPtr known = cache->find(*plan, depth, context))
            return withPlan(std::move(known), plan);
    auto evaluation = runUncached(plan, depth, context);
    if (cache && evaluation && !context.work)
        cache->keep(depth, context, *evaluation);
    return evaluation;
}

} // namespace trainyard
