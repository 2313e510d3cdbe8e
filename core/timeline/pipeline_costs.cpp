// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/timeline/pipeline_costs.h"

#include <algorithm>
#include <bit>

namespace trainyard {

namespace {

class Fingerprint {
public:
    void add(std::uint64_t word)
    {
        m_hash = (std::rotl(m_hash, 23) ^ word) * 0x9e3779b97f4a7c15u;
        m_hash ^= m_hash >> 29;
    }

    /// Four lanes: the multiplications of one would wait for each other.
    void add(const std::vector<Op> &order)
    {
        static_assert(sizeof(Op) == sizeof(std::uint64_t));
        std::uint64_t lane[4] = {1, 2, 3, 4};
        std::size_t i = 0;
        for (; i + 4 <= order.size(); i += 4)
            for (std::size_t l = 0; l < 4; ++l)
                lane[l] = (std::rotl(lane[l], 31) ^ word(order[i + l])) * 0xbf58476d1ce4e5b9u;
        for (; i < order.size(); ++i)
            lane[i % 4] = (std::rotl(lane[i % 4], 31) ^ word(order[i])) * 0xbf58476d1ce4e5b9u;
        add(order.size());
        for (const std::uint64_t value : lane)
            add(value);
    }

    [[nodiscard]] std::uint64_t value() const { return m_hash == 0 ? 1 : m_hash; }

private:
    static std::uint64_t word(const Op &op)
    {
        return static_cast<std::uint64_t>(op.kind) | static_cast<std::uint64_t>(op.recomputes) << 8
            | static_cast<std::uint64_t>(static_cast<std::uint16_t>(op.chunk)) << 16
            | static_cast<std::uint64_t>(static_cast<std::uint32_t>(op.microBatch)) << 32;
    }

    std::uint64_t m_hash = 0x2545f4914f6cdd1du;
};

std::uint32_t size32(std::size_t size)
{
    return static_cast<std::uint32_t>(size);
}

void writeOps(Nanoseconds *out, const OpTimes &times)
{
    out[static_cast<int>(OpKind::Forward)] = times.forward;
    out[static_cast<int>(OpKind::Backward)] = times.backward - times.recompute;
    out[static_cast<int>(OpKind::InputGrad)] = times.inputGrad - times.recompute;
    out[static_cast<int>(OpKind::WeightGrad)] = times.weightGrad;
    out[static_cast<int>(OpKind::Recompute)] = times.recompute;
}

void writeBoundary(TaskGraph &graph, const PipelineCosts &pipeline, const ClassCosts &at, std::size_t q)
{
    const BoundaryTimes &boundary = pipeline.boundaries[q];
    for (std::size_t direction = 0; direction < 2; ++direction) {
        const std::size_t i = 2 * q + direction;
        graph.durations[at.serializations + i] = boundary.serialization[direction];
        graph.lags[at.boundary + i] = boundary.isWan ? boundary.latency[direction] : boundary.serialization[direction];
        if (pipeline.cellMembers > 1) {
            graph.durations[at.pieces + 2 * i] = boundary.scatter[direction];
            graph.durations[at.pieces + 2 * i + 1] = boundary.gather[direction];
        }
        if (graph.flows.empty())
            continue;
        Flow &flow = graph.flows[at.flows + i];
        flow.bytes = boundary.bytes[direction];
        flow.rateCap = boundary.rateCap[direction];
        flow.weight = pipeline.pipelines;
        flow.links.clear();
        if (boundary.isWan)
            flow.links.push_back(static_cast<std::uint32_t>(boundary.linkDirection[direction]));
    }
}

std::uint32_t segmentsOf(const OffloadTimes &offload)
{
    std::size_t count = 0;
    for (const std::vector<OffloadSegment> &segments : offload.ops)
        count += segments.size();
    return size32(count);
}

/// Rows of states begin with operations; so do loads where devices decide while they run.
bool needsBegins(const PipelineCosts &pipeline)
{
    return !pipeline.states.isEmpty() || (pipeline.program.rule != OrderRule::Strict && !pipeline.offload.isEmpty());
}

void writeOffload(TaskGraph &graph, const PipelineCosts &pipeline, const ClassCosts &at)
{
    const OffloadTimes &offload = pipeline.offload;
    Nanoseconds *out = graph.durations.data() + at.segments;
    for (const std::vector<OffloadSegment> &segments : offload.ops)
        for (const OffloadSegment &segment : segments)
            for (const Nanoseconds time : {segment.forward, segment.recompute, segment.backward, segment.store, segment.load})
                *out++ = time;
    for (std::size_t d = 0; d < offload.paths.size() && !graph.flows.empty(); ++d) {
        const OffloadPath &path = offload.paths[d];
        graph.flows[at.paths + 2 * d] = {0, path.storeCap, path.weight, path.storeLinks};
        graph.flows[at.paths + 2 * d + 1] = {0, path.loadCap, path.weight, path.loadLinks};
    }
}

std::uint32_t stepTasksOf(const StateTimes &states)
{
    std::size_t count = 0;
    for (const StepRows &step : states.steps)
        count += step.taskCount();
    return size32(count);
}

/// After every other duration of the class.
void writeStates(TaskGraph &graph, const StateTimes &states, const ClassCosts &at)
{
    Nanoseconds *duration = graph.durations.data() + at.states, *lag = graph.lags.data() + at.stepLags;
    for (const StateMoves &moves : states.moves)
        duration = std::ranges::copy(moves.time, duration).out;
    for (const StepRows &step : states.steps)
        for (const StepRow &row : step.rows)
            for (const StepTask &task : row.tasks) {
                *duration++ = task.duration;
                *lag++ = task.lag;
            }
}

void addStates(Fingerprint &print, const StateTimes &states)
{
    print.add(static_cast<std::uint64_t>(states.moves.size()) << 1 | (states.runsBeside ? 1u : 0u));
    for (const StateMoves &moves : states.moves)
        for (const Nanoseconds time : moves.time)
            print.add(time > 0);
    for (const StepRows &step : states.steps) {
        print.add(step.rows.size());
        for (const StepRow &row : step.rows) {
            print.add(static_cast<std::uint64_t>(row.stream) << 32 | row.tasks.size());
            for (const StepTask &task : row.tasks)
                print.add(static_cast<std::uint64_t>(task.kind) << 32 | task.after);
        }
    }
}

void addOffload(Fingerprint &print, const OffloadTimes &offload)
{
    print.add(static_cast<std::uint64_t>(offload.prefetch.ahead) << 3 | (offload.prefetch.prefetchFromPreviousModule ? 1u : 0u) | (offload.prefetch.dropsQueued ? 2u : 0u)
              | (offload.prefetch.endsForwarded ? 4u : 0u));
    for (const int ahead : offload.ahead)
        print.add(static_cast<std::uint64_t>(ahead));
    for (const std::vector<OffloadSegment> &segments : offload.ops) {
        print.add(segments.size());
        for (const OffloadSegment &segment : segments)
            print.add(static_cast<std::uint64_t>(segment.waitsFor + 1) << 32 | static_cast<std::uint64_t>(segment.group) << 3
                      | (segment.staysAtTurn ? 4u : 0u) | (segment.store > 0 ? 1u : 0u) | (segment.recompute > 0 ? 2u : 0u));
    }
}

} // namespace

std::vector<ClassCosts> layOutCosts(const IterationCosts &costs)
{
    std::vector<ClassCosts> layout(costs.classes.size());
    std::uint32_t durations = kNoDuration + 1, lags = kNoLag + 1, flows = 0;
    for (std::size_t c = 0; c < layout.size(); ++c) {
        const PipelineCosts &pipeline = costs.classes[c];
        layout[c] = {durations, 0, 0, lags, 0, flows, 0, 0, 0, 0, 0, 0, 0};
        layout[c].serializations = layout[c].ops + 5 * size32(pipeline.ops.size());
        layout[c].syncAndStep = layout[c].serializations + 2 * size32(pipeline.boundaries.size());
        layout[c].pairs = layout[c].syncAndStep + 3 * size32(pipeline.syncAndStep.size());
        layout[c].pieces = layout[c].pairs + size32(pipeline.pairs.size());
        layout[c].segments = layout[c].pieces + (pipeline.cellMembers > 1 ? 4 * size32(pipeline.boundaries.size()) : 0);
        layout[c].states = layout[c].segments + kTimesOfSegment * segmentsOf(pipeline.offload);
        durations = layout[c].states + kTimesOfMoves * size32(pipeline.states.moves.size()) + stepTasksOf(pipeline.states);
        layout[c].reduce = layout[c].boundary + 2 * size32(pipeline.boundaries.size());
        layout[c].begins = layout[c].reduce + size32(pipeline.syncAndStep.size() * costs.classes.size());
        layout[c].stepLags = layout[c].begins + (needsBegins(pipeline) ? layout[c].states - layout[c].ops : 0);
        lags = layout[c].stepLags + stepTasksOf(pipeline.states);
        layout[c].paths = flows + 2 * size32(pipeline.boundaries.size());
        flows = layout[c].paths + 2 * size32(pipeline.offload.paths.size());
    }
    return layout;
}

void writeCosts(TaskGraph &graph, const IterationCosts &costs)
{
    const std::vector<ClassCosts> layout = layOutCosts(costs);
    const ClassCosts &last = layout.back();
    const PipelineCosts &lastClass = costs.classes.back();
    graph.durations.resize(last.states + kTimesOfMoves * lastClass.states.moves.size() + stepTasksOf(lastClass.states));
    graph.lags.resize(last.stepLags + stepTasksOf(lastClass.states));
    graph.flows.resize(costs.linkCapacity.empty() ? 0 : last.paths + 2 * lastClass.offload.paths.size());
    graph.linkCapacity = costs.linkCapacity;
    graph.durations[kOverheadDuration] = costs.overhead;
    graph.durations[kNoDuration] = 0;
    graph.lags[kNoLag] = 0;
    for (std::size_t c = 0; c < layout.size(); ++c) {
        const PipelineCosts &pipeline = costs.classes[c];
        const ClassCosts &at = layout[c];
        for (std::size_t i = 0; i < pipeline.ops.size(); ++i)
            writeOps(&graph.durations[at.ops + 5 * i], pipeline.ops[i]);
        writeOffload(graph, pipeline, at);
        std::ranges::copy(pipeline.pairs, graph.durations.begin() + at.pairs);
        for (std::size_t q = 0; q < pipeline.boundaries.size(); ++q)
            writeBoundary(graph, pipeline, at, q);
        for (std::size_t d = 0; d < pipeline.syncAndStep.size(); ++d) {
            const SyncAndStepTimes &syncAndStep = pipeline.syncAndStep[d];
            graph.durations[at.syncAndStep + 3 * d] = syncAndStep.reduce;
            graph.durations[at.syncAndStep + 3 * d + 1] = syncAndStep.optimizer;
            graph.durations[at.syncAndStep + 3 * d + 2] = syncAndStep.gather;
            // An early start never lets the reduction end before the last gradient is there.
            for (std::size_t e = 0; e < costs.classes.size(); ++e) {
                const auto &other = costs.classes[e].syncAndStep;
                graph.lags[at.reduce + d * costs.classes.size() + e]
                    = d < other.size() ? -std::min(other[d].reduceEarly, syncAndStep.reduce) : 0;
            }
        }
        for (std::uint32_t i = at.ops; i < at.states && needsBegins(pipeline); ++i)
            graph.lags[at.begins + i - at.ops] = -graph.durations[i];
        writeStates(graph, pipeline.states, at);
    }
}

std::uint64_t topologyFingerprint(const IterationCosts &costs)
{
    Fingerprint print;
    print.add((costs.reduceJoinsClasses ? 1u : 0u) | (costs.optimizerBarrier ? 2u : 0u) | (costs.overhead > 0 ? 4u : 0u)
              | (costs.linkCapacity.empty() ? 8u : 0u) | (costs.turns == TurnOrder::DrainFirst ? 16u : 0u));
    print.add(costs.classes.size());
    for (const PipelineCosts &pipeline : costs.classes) {
        print.add(static_cast<std::uint64_t>(pipeline.program.shape.chunks) << 32
                  | static_cast<std::uint64_t>(pipeline.program.rule) << 8 | static_cast<std::uint64_t>(pipeline.program.placement));
        print.add(static_cast<std::uint64_t>(pipeline.cellMembers) << 32 | static_cast<std::uint64_t>(pipeline.cellMember));
        if (pipeline.program.rule == OrderRule::WorkConserving)   // limits are the resources', not the order's
            for (const int limit : pipeline.program.shape.inFlightLimit)
                print.add(static_cast<std::uint64_t>(limit));
        print.add(pipeline.program.order.size());
        for (const std::vector<Op> &order : pipeline.program.order)
            print.add(order);
        for (const OpTimes &times : pipeline.ops)
            print.add(times.recompute > 0);
        for (const BoundaryTimes &boundary : pipeline.boundaries)
            print.add((boundary.isWan ? static_cast<std::uint64_t>(boundary.wanLink + 2) : 0u) << 4
                      | (boundary.scatter[0] > 0 ? 1u : 0u) | (boundary.scatter[1] > 0 ? 2u : 0u)
                      | (boundary.gather[0] > 0 ? 4u : 0u) | (boundary.gather[1] > 0 ? 8u : 0u));
        if (!pipeline.offload.isEmpty())
            addOffload(print, pipeline.offload);
        if (!pipeline.states.isEmpty())
            addStates(print, pipeline.states);
        for (const SyncAndStepTimes &syncAndStep : pipeline.syncAndStep)
            print.add((syncAndStep.reduce > 0 ? 1u : 0u) | (syncAndStep.optimizer > 0 ? 2u : 0u) | (syncAndStep.gather > 0 ? 4u : 0u));
    }
    return print.value();
}

} // namespace trainyard
