// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/score/uniform_topology.h"

#include "core/engine/schedule/recompute_state.h"
#include "core/engine/schedule/traits.h"
#include "core/engine/timeline/graph_builder.h"
#include "core/engine/timeline/simulator.h"
#include "core/iteration/graph/pipeline_graph.h"
#include "core/iteration/iteration_costs/stack_order.h"
#include "core/iteration/memory/op_memory.h"
#include "core/planner/score/short_order.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <type_traits>

namespace trainyard {

namespace {

/// Marks are far above each other, so that none is a sum or difference of others: durations [kMark, …), and small ones
/// for what is taken off a lag.
constexpr Nanoseconds kMark = 1'000'000'000;

Nanoseconds markOf(std::uint32_t place)
{
    return kMark + Nanoseconds(place);
}

struct ListPlaces {
    std::uint32_t chunks, kinds, boundaryKinds;
    bool pairs;

    explicit ListPlaces(const Workload &workload, const UniformFrame &frame)
        : chunks(std::uint32_t(workload.degrees.programChunks()))
        , kinds(std::uint32_t(frame.firstOf.size()))
        , boundaryKinds(std::uint32_t(frame.boundaryOf.size()))
        , pairs(traitsOf(*workload.plan).pairs)
    {
    }
    [[nodiscard]] std::uint32_t endAt(std::uint32_t kind) const
    {
        return UniformTimes::opAt(kinds * chunks) + UniformTimes::kEndParts * kind;
    }
    [[nodiscard]] std::uint32_t overhead() const { return endAt(kinds); }
    [[nodiscard]] std::uint32_t pairAt(std::uint32_t kind) const { return overhead() + 1 + kind * chunks * chunks; }
    [[nodiscard]] std::uint32_t durations() const { return pairAt(pairs ? kinds : 0); }
    [[nodiscard]] std::uint32_t lags() const { return 1 + kinds + 2 * boundaryKinds; }
};

/// Pipelines of marks: what a class of tasks takes says its place in the list of durations.
PipelineCosts marked(const UniformFrame &frame, const ListPlaces &places, Program program)
{
    PipelineCosts pipelines;
    pipelines.program = std::move(program);
    for (const std::uint32_t kind : frame.kindOf) {
        for (std::uint32_t chunk = 0; chunk < places.chunks; ++chunk) {
            const std::uint32_t first = UniformTimes::opAt(kind * places.chunks + chunk);
            OpTimes &op = pipelines.ops.emplace_back();
            op.forward = markOf(first);
            op.recompute = markOf(first + 4);
            op.backward = markOf(first + 1) + op.recompute;
            op.inputGrad = markOf(first + 2) + op.recompute;
            op.weightGrad = markOf(first + 3);
        }
        for (std::uint32_t pair = 0; places.pairs && pair < places.chunks * places.chunks; ++pair)
            pipelines.pairs.push_back(markOf(places.pairAt(kind) + pair));
        const std::uint32_t end = places.endAt(kind);
        pipelines.syncAndStep.push_back({ .reduce = markOf(end),
            .reduceEarly = 1 + Nanoseconds(kind), // a lag: its place in that list, below 0
            .optimizer = markOf(end + 1),
            .gather = markOf(end + 2) });
    }
    for (const std::uint32_t kind : frame.boundaryKind) {
        BoundaryTimes &boundary = pipelines.boundaries.emplace_back();
        for (std::uint32_t way = 0; way < 2 && kind > 0; ++way)
            boundary.serialization[way] = markOf(1 + places.kinds + 2 * (kind - 1) + way);
    }
    return pipelines;
}

/// Classes and lags become the places that their marks say. False where one says none.
bool readMarks(TaskGraph &graph, const ListPlaces &places)
{
    const auto placeOf = [](Nanoseconds mark, std::uint32_t below) {
        const Nanoseconds place = mark <= 0 ? -mark : mark - kMark;
        return place >= 0 && place < Nanoseconds(below) && (place > 0 || mark == 0) ? std::uint32_t(place) : kNoSpan;
    };
    std::vector<std::uint32_t> durationOf, lagOf; // [class], [lag]
    for (const Nanoseconds mark : graph.table.durations)
        durationOf.push_back(placeOf(mark, places.durations()));
    for (const Nanoseconds mark : graph.table.lags)
        lagOf.push_back(placeOf(mark, places.lags()));
    for (std::uint32_t &taskClass : graph.taskClass)
        if ((taskClass = durationOf[taskClass]) == kNoSpan)
            return false;
    for (std::uint32_t &lag : graph.lag) {
        const std::uint32_t place = lagOf[lag & ~TaskGraph::kFromStart];
        if (place == kNoSpan)
            return false;
        lag = place | (lag & TaskGraph::kFromStart);
    }
    return true;
}

std::optional<LaneSteps> stepsOf(const Workload &workload, const UniformFrame &frame, std::span<const int> microBatches)
{
    const ListPlaces places(workload, frame);
    IterationCosts iteration;
    for (const int ofClass : microBatches) {
        auto program = programOf(workload, uniformShape(workload, ofClass));
        if (!program || program->rule != OrderRule::Strict)
            return std::nullopt;
        iteration.classes.push_back(marked(frame, places, *std::move(program)));
    }
    iteration.optimizerBarrier = workload.stack.gradientNormBarrier;
    iteration.overhead = markOf(places.overhead());
    auto graph = buildPipelineGraph(iteration);
    if (!graph || needsEvents(*graph) || !readMarks(*graph, places))
        return std::nullopt;
    return laneSteps(*graph);
}

/// The least number of micro-batches of the family, and by how many they grow.
struct Growth {
    int least, round;
};

Growth growthOf(const Workload &workload, int microBatches)
{
    const int stages = workload.degrees.pipeline,
              least = workload.degrees.programChunks() > 1 ? 6 * stages : 2 * stages + 16;
    return { least + ((microBatches - least) % stages + stages) % stages, stages };
}

bool areEqualCarried(const LaneSteps::Carried &a, const LaneSteps::Carried &b)
{
    return a.home == b.home && a.made == b.made;
}

/// But for how often stretches are run.
bool areAlike(const LaneSteps &a, const LaneSteps &b)
{
    const auto isStep = [](const LaneSteps::Step &x, const LaneSteps::Step &y) {
        return x.out == y.out && x.a == y.a && x.b == y.b && x.lag == y.lag && x.time == y.time;
    };
    const auto isStretch = [](const LaneSteps::Stretch &x, const LaneSteps::Stretch &y) {
        return x.first == y.first && x.last == y.last && x.depth == y.depth
            && std::ranges::equal(x.entry, y.entry, areEqualCarried)
            && std::ranges::equal(x.carried, y.carried, areEqualCarried) && (x.times == 1) == (y.times == 1);
    };
    return a.slotCount == b.slotCount && a.ends == b.ends && a.times == b.times && a.lags == b.lags
        && std::ranges::equal(a.steps, b.steps, isStep) && std::ranges::equal(a.stretches, b.stretches, isStretch);
}

/// As OpMemory numbers them; a pair is one.
std::vector<std::uint16_t> effectsOf(const Program &program, int device, bool isRecomputing)
{
    std::vector<std::uint16_t> effects;
    RecomputeState kept(program, device, isRecomputing);
    const Op *paired = nullptr;
    for (const Op &op : program.order[std::size_t(device)]) {
        if (op.kind != OpKind::PairedForward)
            effects.push_back(
                static_cast<std::uint16_t>(paired ? OpMemory::plainPair(program.shape.chunks, paired->chunk,
                                               kept.isWhole(*paired), op.chunk, kept.isWhole(op))
                                                  : OpMemory::plainOp(op.chunk, kept.workOf(op))));
        paired = op.kind == OpKind::PairedForward ? &op : nullptr;
    }
    return effects;
}

PlainWork workOf(
    const Workload &workload, const UniformFrame &frame, std::span<const int> microBatches, bool isRecomputing)
{
    PlainWork work;
    work.pairs = traitsOf(*workload.plan).pairs;
    for (const int ofClass : microBatches)
        if (auto program = programOf(workload, uniformShape(workload, ofClass))) {
            Program made = shortOrder(*program, isRecomputing);
            if (work.order.order.empty()) {
                work.order = std::move(made);
                continue;
            }
            work.order.shape.microBatches = std::max(work.order.shape.microBatches, made.shape.microBatches);
            std::ranges::move(made.order, std::back_inserter(work.order.order));
        }
    const std::size_t stages = frame.kindOf.size();
    Fingerprint print;
    print.add(frame.familyPrint);
    print.add(std::uint64_t(work.order.order.size()) << 1 | (isRecomputing ? 1u : 0u));
    static_assert(sizeof(Op) == sizeof(std::uint64_t) && std::has_unique_object_representations_v<Op>);
    for (std::size_t i = 0; i < work.order.order.size(); ++i) {
        print.add(work.order.order[i].size());
        print.add(reinterpret_cast<const std::uint64_t *>(work.order.order[i].data()), work.order.order[i].size());
        std::size_t like = 0;
        while (frame.kindOf[like % stages] != frame.kindOf[i % stages] || work.order.order[like] != work.order.order[i])
            ++like;
        work.likeOf.push_back(static_cast<std::uint16_t>(like));
        std::vector<std::uint16_t> &effects = work.effects.emplace_back();
        if (like == i)
            effects = effectsOf(work.order, int(i), isRecomputing);
    }
    work.number = print.value();
    return work;
}

std::uint64_t numberOf(const UniformFrame &frame, std::uint64_t of)
{
    Fingerprint print;
    print.add(frame.familyPrint);
    print.add(of);
    return print.value();
}

} // namespace

const UniformTopologies::Family &UniformTopologies::family(const Workload &workload, const UniformFrame &frame)
{
    const Growth growth = growthOf(workload, frame.microBatches.front());
    const std::uint64_t number = numberOf(frame, std::uint64_t(growth.least));
    if (const Family *known = m_families.find(number))
        return *known;
    const int least = growth.least, next = growth.least + growth.round;
    Family made { stepsOf(workload, frame, { &least, 1 }), stepsOf(workload, frame, { &next, 1 }) };
    if (!made.shortest || !made.next || !areAlike(*made.shortest, *made.next))
        made = {};
    return m_families.add(number, std::move(made));
}

UniformTopologies::Made UniformTopologies::topology(const Workload &workload, const UniformFrame &frame)
{
    for (const int microBatches : frame.microBatches)
        if (!programOf(workload, uniformShape(workload, microBatches)))
            return { std::nullopt, true };
    const int microBatches = frame.microBatches.front();
    const Growth growth = growthOf(workload, microBatches);
    if (frame.microBatches.size() > 1 || microBatches <= growth.least + growth.round)
        return { stepsOf(workload, frame, frame.microBatches) };
    const Family &of = family(workload, frame);
    if (!of.shortest)
        return { stepsOf(workload, frame, frame.microBatches) };
    const auto rounds = static_cast<std::uint32_t>((microBatches - growth.least) / growth.round);
    LaneSteps grown = *of.shortest;
    for (std::size_t i = 0; i < grown.stretches.size(); ++i) {
        std::uint32_t &times = grown.stretches[i].times;
        times += rounds * (of.next->stretches[i].times - times);
    }
    return { std::move(grown) };
}

const PlainWork &UniformTopologies::work(const Workload &workload, const UniformFrame &frame, bool isRecomputing)
{
    const int microBatches = frame.microBatches.front();
    const std::uint64_t others = frame.microBatches.size() > 1 ? std::uint64_t(frame.microBatches.back()) : 0;
    const std::uint64_t own =
        numberOf(frame, others << 34 | std::uint64_t(microBatches) << 2 | (isRecomputing ? 3u : 1u));
    if (const PlainWork *known = m_work.find(own))
        return *known;
    const Growth growth = growthOf(workload, microBatches);
    if (others == 0 && microBatches > growth.least + growth.round) {
        const std::uint64_t number = numberOf(frame, std::uint64_t(growth.least) << 2 | (isRecomputing ? 2u : 0u));
        const std::optional<PlainWork> *known = m_familyWork.find(number);
        if (!known) {
            const int least = growth.least, next = growth.least + growth.round;
            std::optional<PlainWork> shortest = workOf(workload, frame, { &least, 1 }, isRecomputing);
            if (shortest->order != workOf(workload, frame, { &next, 1 }, isRecomputing).order)
                shortest.reset();
            known = &m_familyWork.add(number, std::move(shortest));
        }
        if (*known)
            return **known;
    }
    return m_work.add(own, workOf(workload, frame, frame.microBatches, isRecomputing));
}

void UniformTopologies::clear()
{
    m_families.clear();
    m_familyWork.clear();
    m_work.clear();
}

} // namespace trainyard
