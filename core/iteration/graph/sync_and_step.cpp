// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/graph/contributors.h"

#include <algorithm>

namespace trainyard {

void SyncAndStep::shape(Fingerprint &print) const
{
    print.add((m_.costs.reduceJoinsClasses ? 1u : 0u) | (m_.costs.optimizerBarrier ? 2u : 0u)
        | (m_.costs.overhead > 0 ? 4u : 0u));
    for (const SyncAndStepTimes &times : m_.pipeline.syncAndStep)
        print.add((times.reduce > 0 ? 1u : 0u) | (times.optimizer > 0 ? 2u : 0u) | (times.gather > 0 ? 4u : 0u));
}

void SyncAndStep::times(ClassTable &table)
{
    m_first = static_cast<std::uint32_t>(table.durations.size());
    m_lags = static_cast<std::uint32_t>(table.lags.size());
    for (std::size_t d = 0; d < m_.pipeline.syncAndStep.size(); ++d) {
        const SyncAndStepTimes &times = m_.pipeline.syncAndStep[d];
        table.add(WorkKind::GradientReduce, times.reduce);
        table.add(WorkKind::Optimizer, times.optimizer);
        table.add(WorkKind::ParameterGather, times.gather);
        // An early start never lets the reduction end before the last gradient is there.
        for (const PipelineCosts &other : m_.costs.classes)
            table.addLag(d < other.syncAndStep.size() ? -std::min(other.syncAndStep[d].reduceEarly, times.reduce) : 0);
    }
    m_overhead = table.add(WorkKind::Overhead, m_.costs.overhead);
    m_barrierClass = table.add(WorkKind::Collective, 0);
}

void SyncAndStep::tasks(GraphBuilder &builder)
{
    for (int d = 0; d < m_.devices; ++d) {
        const SyncAndStepTimes &times = m_.pipeline.syncAndStep[static_cast<std::size_t>(d)];
        const std::uint32_t classes = m_first + 3 * static_cast<std::uint32_t>(d);
        const bool hasBarrier = m_.costs.optimizerBarrier && m_.index == 0 && d == 0;
        Tasks &made = m_tasks.emplace_back();
        if (times.optimizer > 0)
            made.optimizer = builder.task(m_.compute[static_cast<std::size_t>(d)], classes + 1);
        if (m_.costs.overhead > 0)
            made.overhead = builder.task(m_.compute[static_cast<std::size_t>(d)], m_overhead);
        m_states.optimizer.push_back(made.optimizer);
        if (times.reduce <= 0 && times.gather <= 0 && !hasBarrier)
            continue;
        const auto resource = m_.collective != kNoSpan
            ? m_.collective
            : builder.resource({ .stream = Stream::Collective, .pipelineClass = m_.index, .stage = d });
        if (times.reduce > 0)
            made.reduce = builder.task(resource, classes);
        if (hasBarrier)
            m_barrier = builder.task(resource, m_barrierClass);
        if (times.gather > 0)
            made.gather = builder.task(resource, classes + 2);
    }
}

Expected<void> SyncAndStep::order(GraphBuilder &builder)
{
    const auto classes = static_cast<std::uint32_t>(m_all.size());
    for (std::uint32_t d = 0; d < m_tasks.size(); ++d) {
        const Tasks &made = m_tasks[d];
        for (std::uint32_t e = 0; made.reduce != kNoSpan && e < classes; ++e) {
            const std::vector<TaskId> &last = m_all[e]->m_.lastOp;
            if ((!m_.costs.reduceJoinsClasses && static_cast<int>(e) != m_.index) || d >= last.size())
                continue;
            builder.after(made.reduce, last[d], m_lags + d * classes + e);
            if (m_.program.placement == ChunkPlacement::Bidirectional) // the other copy of the same layers
                builder.after(made.reduce, last[last.size() - 1 - d], m_lags + d * classes + e);
        }
        if (made.reduce != kNoSpan)
            builder.after(made.reduce, m_.lastReduce);
        const TaskId reduced = made.reduce != kNoSpan ? made.reduce : m_.lastReduce;
        if (made.optimizer != kNoSpan)
            builder.after(made.optimizer, m_.costs.optimizerBarrier ? m_all.front()->m_barrier : reduced);
        if (made.gather != kNoSpan)
            builder.after(made.gather, made.optimizer != kNoSpan ? made.optimizer : m_.lastOp[d]);
        if (made.overhead != kNoSpan)
            builder.after(made.overhead, made.gather != kNoSpan ? made.gather : reduced);
    }
    for (const SyncAndStep *other : m_all)
        for (std::size_t d = 0; m_barrier != kNoSpan && d < other->m_tasks.size(); ++d)
            builder.after(m_barrier,
                other->m_tasks[d].reduce != kNoSpan   ? other->m_tasks[d].reduce
                    : other->m_.lastReduce != kNoSpan ? other->m_.lastReduce
                                                      : other->m_.lastOp[d]);
    return {};
}

} // namespace trainyard
