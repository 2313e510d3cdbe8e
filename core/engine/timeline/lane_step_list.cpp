// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/lane_step_list_internal.h"

#include <algorithm>

namespace trainyard {

namespace {

constexpr LaneSteps::Sum kNothing { LaneSteps::kZero, LaneSteps::kZero, LaneSteps::kZero };

/// `of(i)`: key below `keys`, and what is put in its place; equal ones as they come.
template <class Of> void sortBy(std::size_t keys, std::vector<StepNumber> &sorted, Of of)
{
    std::vector<std::uint32_t> next(keys + 1, 0);
    for (std::size_t i = 0; i < sorted.size(); ++i)
        ++next[of(i).first + 1];
    for (std::size_t key = 0; key < keys; ++key)
        next[key + 1] += next[key];
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const auto [key, value] = of(i);
        sorted[next[key]++] = static_cast<StepNumber>(value);
    }
}

} // namespace

LaneStepList::LaneStepList(const TaskGraph &graph, LaneSteps &out)
    : m_graph(graph)
    , m_times(out.times)
    , m_sums(out.times)
    , m_lags(out.lags)
    , m_end(graph.taskCount(), kBeginning)
    , m_last(graph.resources.size(), kBeginning)
{
    m_lags.of(kNoLag);
    steps.reserve(graph.taskCount() + graph.taskCount() / 4);
    for (const PassStep &step : graph.steps)
        add(step.task & ~PassStep::kHasMore, step.resource);
    for (const StepNumber last : m_last)
        if (last >= 0)
            ends.push_back(last);
    join();
    arrange();
}

StepNumber LaneStepList::append(ValueStep step)
{
    steps.push_back(step);
    return static_cast<StepNumber>(steps.size()) - 1;
}

std::uint16_t LaneStepList::timeOf(std::uint32_t taskClass)
{
    LaneSteps::Sum sum = kNothing;
    sum.front() = taskClass;
    return m_times.of(sum);
}

/// One for each predecessor on another resource.
void LaneStepList::add(std::uint32_t task, std::uint32_t resource)
{
    StepNumber free = m_last[resource];
    const std::uint16_t time = timeOf(m_graph.taskClass[task]);
    const std::uint32_t first = m_graph.predBegin[task], last = m_graph.predBegin[task + 1];
    if (first == last)
        free = append({ free, free, 0, time, resource });
    for (std::uint32_t p = first; p < last; ++p) {
        const std::uint32_t lag = m_graph.lag[p];
        StepNumber ready = m_end[m_graph.pred[p]];
        if ((lag & TaskGraph::kFromStart) != 0)
            ready = append(
                { ready, ready, 0, timeOf(m_graph.taskClass[m_graph.pred[p]] | LaneSteps::kNegative), resource });
        free = append({ free, ready, m_lags.of(lag & ~TaskGraph::kFromStart),
            p + 1 == last ? time : m_times.of(kNothing), resource });
    }
    m_end[task] = m_last[resource] = free;
}

/// A step that waits for one other alone, for which nobody else waits, takes it in, while their sum has room.
void LaneStepList::join()
{
    std::vector<std::uint32_t> uses(steps.size(), 0);
    const auto use = [&](StepNumber value) {
        if (value >= 0)
            ++uses[static_cast<std::size_t>(value)];
    };
    for (const ValueStep &step : steps) {
        use(step.a);
        use(step.b);
    }
    for (const StepNumber end : ends)
        use(end);
    std::vector<StepNumber> number(steps.size());
    std::vector<ValueStep> kept;
    kept.reserve(steps.size());
    const auto numbered = [&](StepNumber value) { return value < 0 ? value : number[static_cast<std::size_t>(value)]; };
    for (std::size_t i = 0; i < steps.size(); ++i) {
        ValueStep step = steps[i];
        const bool isAlone =
            step.a == step.b && step.a >= 0 && step.lag == 0 && uses[static_cast<std::size_t>(step.a)] == 2;
        step.a = numbered(step.a);
        step.b = numbered(step.b);
        number[i] = static_cast<StepNumber>(kept.size());
        if (isAlone && kept[static_cast<std::size_t>(step.a)].resource == step.resource)
            if (ValueStep &before = kept[static_cast<std::size_t>(step.a)]; takeIn(before, step.time)) {
                number[i] = step.a;
                continue;
            }
        kept.push_back(step);
    }
    for (StepNumber &end : ends)
        end = numbered(end);
    steps = std::move(kept);
}

bool LaneStepList::takeIn(ValueStep &before, std::uint16_t time)
{
    const auto [at, isNew] = m_joined.try_emplace(std::uint32_t(before.time) << 16 | time, kNoSpan);
    if (isNew) {
        LaneSteps::Sum sum = m_sums[before.time];
        const auto room = std::ranges::find(sum, LaneSteps::kZero);
        const auto parts = std::ranges::find(m_sums[time], LaneSteps::kZero) - m_sums[time].begin();
        if (sum.end() - room >= parts) {
            std::copy_n(m_sums[time].begin(), parts, room);
            at->second = m_times.of(sum);
        }
    }
    if (at->second == kNoSpan)
        return false;
    before.time = static_cast<std::uint16_t>(at->second);
    return true;
}

/// By how many steps have to be before one, then by resource.
void LaneStepList::arrange()
{
    std::vector<std::uint32_t> depth(steps.size(), 0);
    std::uint32_t deepest = 0;
    const auto depthOf = [&](StepNumber value) { return value < 0 ? 0 : depth[static_cast<std::size_t>(value)]; };
    for (std::size_t i = 0; i < steps.size(); ++i)
        deepest = std::max(deepest, depth[i] = 1 + std::max(depthOf(steps[i].a), depthOf(steps[i].b)));
    std::vector<StepNumber> byResource(steps.size()), order(steps.size());
    sortBy(m_last.size(), byResource, [&](std::size_t i) { return std::pair(steps[i].resource, i); });
    sortBy(deepest + 1, order, [&](std::size_t i) {
        const auto step = static_cast<std::size_t>(byResource[i]);
        return std::pair(depth[step], step);
    });
    std::vector<StepNumber> number(steps.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        number[static_cast<std::size_t>(order[i])] = static_cast<StepNumber>(i);
    const auto numbered = [&](StepNumber value) { return value < 0 ? value : number[static_cast<std::size_t>(value)]; };
    std::vector<ValueStep> arranged;
    arranged.reserve(steps.size());
    for (const StepNumber from : order) {
        ValueStep step = steps[static_cast<std::size_t>(from)];
        step.a = numbered(step.a);
        step.b = numbered(step.b);
        arranged.push_back(step);
    }
    for (StepNumber &end : ends)
        end = numbered(end);
    steps = std::move(arranged);
}

} // namespace trainyard
