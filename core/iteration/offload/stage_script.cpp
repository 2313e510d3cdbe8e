// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/offload/stage_script.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Operations of a device as its spans tell them. Where they are in the order of the program, that says which span is
/// whose.
class ScriptReader {
public:
    ScriptReader(const Timeline &timeline, const Program &program, const Track &track)
        : m_timeline(timeline)
        , m_order(program.order[std::size_t(track.stage)])
        , m_isStrict(program.rule == OrderRule::Strict)
        , m_next(track.first)
        , m_end(track.last)
    {
    }

    std::vector<ScriptedOp> read(const std::vector<OpTimes> &times)
    {
        std::vector<ScriptedOp> ops;
        if (m_isStrict) {
            bool isPaired = false;
            for (const Op &op : m_order) {
                if (op.kind == OpKind::PairedForward) {
                    ops.push_back({ op });
                    isPaired = true;
                    continue;
                }
                const bool makesAnew = times[std::size_t(op.chunk)].recompute > 0;
                if (op.kind == OpKind::Recompute && !makesAnew)
                    continue;
                take(ops, op, op.kind != OpKind::Recompute && op.recomputes && makesAnew ? 2 : 1);
                if (isPaired)
                    ops[ops.size() - 2].ready = ops.back().ready, ops[ops.size() - 2].due = ops.back().due;
                isPaired = false;
            }
            return ops;
        }
        while (m_next < m_end && m_timeline.kind[m_next] <= WorkKind::Recompute) {
            Op op = at(m_next);
            const bool isFused = op.kind == OpKind::Recompute && isRecomputedByItsBackward(op);
            if (isFused)
                op = at(m_next + 1);
            op.recomputes = isFused;
            take(ops, op, isFused ? 2 : 1);
        }
        return ops;
    }

private:
    void take(std::vector<ScriptedOp> &ops, const Op &op, std::uint32_t spans)
    {
        if (m_next + spans > m_end)
            return;
        ops.push_back({ op, m_timeline.start[m_next], m_timeline.end[m_next + spans - 1] });
        m_next += spans;
    }

    [[nodiscard]] Op at(std::uint32_t span) const
    {
        return { OpKind(m_timeline.kind[span]), false, std::int16_t(m_timeline.chunk[span]),
            m_timeline.microBatch[span] };
    }

    [[nodiscard]] bool isRecomputedByItsBackward(const Op &recomputation) const
    {
        return std::ranges::none_of(m_order, [&](const Op &op) {
            return op.kind == OpKind::Recompute && op.chunk == recomputation.chunk
                && op.microBatch == recomputation.microBatch;
        });
    }

    const Timeline &m_timeline;
    const std::vector<Op> &m_order;
    bool m_isStrict;
    std::uint32_t m_next, m_end;
};

} // namespace

std::vector<std::vector<StageScript>> stageScripts(const IterationCosts &costs, const Timeline &keeping)
{
    std::vector<std::vector<StageScript>> scripts;
    for (const PipelineCosts &pipeline : costs.classes)
        scripts.emplace_back(pipeline.program.order.size());
    for (const Track &track : keeping.tracks) {
        if (track.stream != Stream::Compute)
            continue;
        const PipelineCosts &pipeline = costs.classes[std::size_t(track.pipelineClass)];
        const Program &program = pipeline.program;
        StageScript &script = scripts[std::size_t(track.pipelineClass)][std::size_t(track.stage)];
        const std::size_t chunks = pipeline.ops.size() / program.order.size(),
                          first = std::size_t(track.stage) * chunks;
        script.times.assign(
            pipeline.ops.begin() + std::ptrdiff_t(first), pipeline.ops.begin() + std::ptrdiff_t(first + chunks));
        script.microBatches = program.shape.microBatches;
        script.isOrderKnown =
            program.rule == OrderRule::Strict || program.endsChain(program.virtualStage(track.stage, 0));
        script.splitsBackward = splitsBackward(program);
        script.ops = ScriptReader(keeping, program, track).read(script.times);
    }
    for (std::size_t c = 0; c < scripts.size(); ++c) {
        const Program &program = costs.classes[c].program;
        if (program.rule == OrderRule::Strict)
            continue;
        std::vector<Nanoseconds> begins(
            std::size_t(program.virtualStages() + 1) * std::size_t(program.shape.microBatches), 0);
        const auto cell = [&](int stage, int microBatch) -> Nanoseconds & {
            return begins[std::size_t(stage) * std::size_t(program.shape.microBatches) + std::size_t(microBatch)];
        };
        for (int stage = 0; stage < int(scripts[c].size()); ++stage)
            for (const ScriptedOp &op : scripts[c][std::size_t(stage)].ops)
                if (makesGradient(op.op.kind))
                    cell(program.virtualStage(stage, op.op.chunk), op.op.microBatch) = op.ready;
        for (int stage = 0; stage < int(scripts[c].size()); ++stage)
            for (ScriptedOp &op : scripts[c][std::size_t(stage)].ops)
                if (makesGradient(op.op.kind))
                    op.gradient = cell(program.virtualStage(stage, op.op.chunk) + 1, op.op.microBatch);
    }
    return scripts;
}

StageScript beginningOf(const StageScript &script, int backwards)
{
    StageScript result = script;
    std::size_t ops = 0;
    for (int seen = 0; ops < script.ops.size() && seen < backwards; ++ops)
        seen += makesGradient(script.ops[ops].op.kind) ? 1 : 0;
    result.ops.resize(ops);
    return result;
}

} // namespace trainyard
