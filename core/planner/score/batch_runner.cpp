// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/score/batch_runner.h"

#include "core/engine/schedule/traits.h"
#include "core/engine/timeline/graph_builder.h"
#include "core/engine/timeline/simd_batch.h"
#include "core/iteration/iteration_costs/task_count.h"
#include "core/iteration/placement/recompute.h"
#include "core/iteration/placement/resolve.h"
#include "core/iteration/placement/shard_exchange.h"
#include "core/planner/score/part_table.h"
#include "core/planner/score/uniform_keys.h"
#include "core/planner/score/uniform_memory.h"
#include "core/planner/score/uniform_plan.h"
#include "core/planner/score/uniform_topology.h"
#include "core/planner/space/candidate_plan.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace trainyard {

namespace {

/// Frames, their times and fills, and topologies that are kept at most; then they are forgotten, and made anew where
/// they are met again.
constexpr std::size_t kMostFrames = 200'000, kMostListed = 4'096, kMostSteps = 40'000'000;

Outcome outcomeOf(const Evaluation &evaluation)
{
    Outcome outcome;
    const Metrics &metrics = evaluation.metrics;
    if (!metrics.iterationTime)
        return outcome;
    outcome = { true, evaluation.feasible(), *metrics.iterationTime, 0, metrics.gpusUsed, evaluation.layout.data };
    if (metrics.memory)
        for (const StageMemory &stage : metrics.memory->perStage)
            outcome.fill =
                std::max(outcome.fill, double(stage.device) / double(std::max<std::int64_t>(1, stage.capacity)));
    return outcome;
}

} // namespace

struct BatchRunner::Private {
    /// Plans of one topology that wait for the others of their eight.
    struct Waiting {
        std::optional<LaneSteps> steps;
        bool isRefused = false;
        LaneTable table;
        std::array<Outcome *, kLanes> outcomes {};
        std::size_t count = 0;
    };

    Private(const SearchSpace &of, const Catalogue &with)
        : space(of)
        , catalogue(with)
        , plans(of)
        , keys(of)
    {
        if (auto resolved = resolve(of.base(), with))
            turns.emplace(std::move(*resolved));
    }

    void runOne(const Candidate &candidate, Outcome &outcome, const std::stop_token &stop);
    [[nodiscard]] bool waits(const Candidate &candidate, Outcome &outcome);
    [[nodiscard]] bool waitsInLane(const UniformFrame &frame, Outcome &outcome);
    [[nodiscard]] UniformFrame *frameOf(bool inRuns);
    [[nodiscard]] const UniformTimes &timesOf(const UniformFrame &frame);
    [[nodiscard]] UniformFill fillOf(const UniformFrame &frame, const PlainWork &work);
    [[nodiscard]] Waiting &waitingOf(const UniformFrame &frame);
    void pass(Waiting &waiting);
    void passAll();
    void forgetMuch();
    struct NobodyWaits {
        Private &of;
        ~NobodyWaits();
    };

    const SearchSpace &space;
    const Catalogue &catalogue;
    EvaluationWorkspace workspace;
    CandidatePlan plans;
    std::optional<WorkloadInTurn> turns; // of the base's names; the plan is that of the candidate at hand
    UniformKeys keys; // of the candidate at hand
    PartTable<std::unique_ptr<UniformFrame>> frames;
    PartTable<UniformTimes> listed;
    PartTable<UniformFill> fills;
    UniformFrame ownFrame; // where they cannot be shared
    PartTable<std::unique_ptr<Waiting>> topologies;
    std::vector<Waiting *> open; // with any that wait
    std::size_t steps = 0; // of all topologies
    UniformTopologies plain;
    UniformTimes times;
    UniformMemory memory;
    LaneWorkspace lanes;
    std::int64_t inLanes = 0;
};

BatchRunner::BatchRunner(const SearchSpace &space, const Catalogue &catalogue)
    : m_private(std::make_unique<Private>(space, catalogue))
{
}
BatchRunner::~BatchRunner() = default;

std::int64_t BatchRunner::inLanes() const
{
    return m_private->inLanes;
}

BatchRunner::Kept BatchRunner::kept() const
{
    return { m_private->topologies.size(), m_private->frames.size() };
}

void BatchRunner::run(std::span<const Candidate> candidates, std::span<Outcome> outcomes, const std::stop_token &stop)
{
    const Private::NobodyWaits atTheEnd { *m_private }; // whatever throws: the outcomes are the caller's
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        outcomes[i] = {};
        if (stop.stop_requested())
            continue;
        m_private->forgetMuch();
        m_private->runOne(candidates[i], outcomes[i], stop);
    }
    m_private->passAll();
}

void BatchRunner::Private::runOne(const Candidate &candidate, Outcome &outcome, const std::stop_token &stop)
{
    if (turns && waits(candidate, outcome))
        return;
    if (const auto evaluation = trainyard::run(space.plan(candidate), Depth::Score,
            { .catalogue = catalogue, .workspace = workspace, .stop = stop, .replicas = OpenReplicas::Most }))
        outcome = outcomeOf(**evaluation);
}

/// Whether the lanes take it, or it is refused: run() would say the same.
bool BatchRunner::Private::waits(const Candidate &candidate, Outcome &outcome)
{
    const PlanPtr &plan = plans.of(candidate);
    if (!sharesNames(*space.base(), *plan) || hasJobs(*plan) || plan->bubbleFill.enabled)
        return false;
    const Requested &asked = turns->askedBy(plan);
    if (!errorsBesideNames(asked).empty())
        return true;
    const ShardExchange exchange = shardExchange(*plan, asked.stack);
    if (exchange == ShardExchange::ByLayers)
        return false;
    const bool inRuns = exchange == ShardExchange::InRuns;
    keys.begin(candidate, turns->now(), inRuns);
    UniformFrame &frame = *frameOf(inRuns);
    if (!frame.isUniform)
        return frame.isRefused;
    turns->at(std::move(frame.layout));
    const bool isTaken = waitsInLane(frame, outcome);
    frame.layout = turns->takeLayout();
    return isTaken;
}

bool BatchRunner::Private::waitsInLane(const UniformFrame &frame, Outcome &outcome)
{
    if (simulatedTasks(turns->now()) > kMostTasks)
        return true; // which run() refuses
    Waiting &waiting = waitingOf(frame);
    if (!waiting.steps)
        return waiting.isRefused;
    const UniformTimes &taken = timesOf(frame);
    if (!taken.areShort(turns->now(), frame))
        return false;
    const UniformFill fill = fillOf(frame, plain.work(turns->now(), frame, recomputesAnything(*turns->now().plan)));
    if (!fill.isKnown)
        return false;
    outcome = { true, fill.fits && isPlainFeasible(turns->now()), 0, fill.fill, turns->now().layout.gpusUsed,
        turns->now().layout.data };
    if (waiting.count == 0)
        open.push_back(&waiting);
    waiting.table.set(waiting.count, *waiting.steps, taken.durations, taken.lags);
    waiting.outcomes[waiting.count++] = &outcome;
    if (waiting.count == kLanes)
        pass(waiting);
    return true;
}

UniformFrame *BatchRunner::Private::frameOf(bool inRuns)
{
    if (!keys.sharesFrames())
        return &(ownFrame = uniformFrame(*turns, inRuns));
    const std::uint64_t number = keys.frame();
    if (const auto *known = frames.find(number))
        return known->get();
    return frames.add(number, std::make_unique<UniformFrame>(uniformFrame(*turns, inRuns))).get();
}

const UniformTimes &BatchRunner::Private::timesOf(const UniformFrame &frame)
{
    const std::uint64_t number = keys.sharesTimes() ? keys.times(frame) : 0;
    if (number != 0)
        if (const UniformTimes *known = listed.find(number))
            return *known;
    uniformTimes(turns->now(), frame, times);
    return number != 0 ? listed.add(number, times.listed()) : times;
}

UniformFill BatchRunner::Private::fillOf(const UniformFrame &frame, const PlainWork &work)
{
    if (!keys.sharesFills())
        return memory.fill(turns->now(), frame, work);
    const std::uint64_t number = keys.memory(work);
    const UniformFill *known = fills.find(number);
    return known ? *known : fills.add(number, memory.fill(turns->now(), frame, work));
}

BatchRunner::Private::Waiting &BatchRunner::Private::waitingOf(const UniformFrame &frame)
{
    Fingerprint print;
    print.add(frame.familyPrint);
    for (const int microBatches : frame.microBatches)
        print.add(std::uint64_t(microBatches));
    const std::uint64_t number = print.value();
    if (const auto *known = topologies.find(number))
        return **known;
    auto made = std::make_unique<Waiting>();
    auto [ofFrame, isRefused] = plain.topology(turns->now(), frame);
    made->steps = std::move(ofFrame);
    made->isRefused = isRefused;
    if (made->steps) {
        made->table.fit(*made->steps);
        steps += made->steps->steps.size();
    }
    return *topologies.add(number, std::move(made));
}

void BatchRunner::Private::pass(Waiting &waiting)
{
    const LaneValues ends = endsOfLanes(*waiting.steps, waiting.table, lanes);
    for (std::size_t lane = 0; lane < waiting.count; ++lane)
        waiting.outcomes[lane]->seconds = toSeconds(ends.of[lane]).value;
    inLanes += std::int64_t(std::exchange(waiting.count, 0));
    open.erase(std::ranges::find(open, &waiting));
}

void BatchRunner::Private::passAll()
{
    while (!open.empty())
        pass(*open.back());
}

BatchRunner::Private::NobodyWaits::~NobodyWaits()
{
    for (Waiting *waiting : of.open)
        waiting->count = 0;
    of.open.clear();
}

void BatchRunner::Private::forgetMuch()
{
    if (std::max(frames.size(), fills.size()) > kMostFrames) {
        frames.clear();
        fills.clear();
    }
    if (listed.size() > kMostListed)
        listed.clear();
    if (steps > kMostSteps) {
        passAll();
        topologies.clear();
        plain.clear();
        steps = 0;
    }
}

} // namespace trainyard
