// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/jobs/gang_dispatcher.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace trainyard {

GangDispatcher::GangDispatcher(const std::vector<GangTask> &tasks, std::vector<int> nodes)
    : m_tasks(tasks)
    , m_nodes(std::move(nodes))
    , m_ran(tasks.size())
    , m_showing(tasks.size())
    , m_isHeld(m_nodes.size(), 0)
    , m_keptIn(m_nodes.size(), 0)
    , m_free(std::int64_t(m_nodes.size()))
{
    makeQueues();
    for (std::uint32_t i = 0; i < tasks.size(); ++i)
        m_events.push({ tasks[i].arrival, What::Arrival, i });
}

void GangDispatcher::choose(Dispatch &at)
{
    bool hasChanged = false;
    while (!m_events.empty() && m_events.top().time <= at.now()) {
        const Event event = m_events.top();
        m_events.pop();
        const GangTask &task = m_tasks[event.task];
        if (event.what == What::Spans) {
            show(at, event.task);
            continue;
        }
        hasChanged = true;
        if (event.what == What::End)
            hold(task.gang->reserved ? *task.gang->reserved : m_ran[event.task].gpus, false);
        else
            wait({ -task.priority, event.task });
    }
    if (hasChanged)
        startWaiting(at);
    if (!m_events.empty())
        at.wakeAt(m_events.top().time);
}

void GangDispatcher::makeQueues()
{
    struct Wanted { // all of the first, or of one of the others so many
        GpuList all;
        std::vector<std::tuple<GpuList, int, bool>> some;
        auto operator<=>(const Wanted &) const = default;
    };
    std::map<Wanted, std::uint32_t> queues;
    std::map<std::pair<const GpuList *, std::vector<GangFormPtr>>, std::uint32_t> known; // jobs that are alike
    for (const GangTask &task : m_tasks) {
        const GangJob &gang = *task.gang;
        const auto [alike, isNew] = known.try_emplace({ gang.reserved.get(), gang.forms });
        if (isNew) {
            Wanted wanted;
            if (gang.reserved)
                wanted.all = *gang.reserved;
            else
                for (const GangFormPtr &form : gang.forms)
                    wanted.some.emplace_back(form->gpus, form->width, form->isInNode);
            alike->second = queues.try_emplace(std::move(wanted), std::uint32_t(queues.size())).first->second;
        }
        m_queueOf.push_back(alike->second);
    }
    m_queues.resize(queues.size());
}

void GangDispatcher::wait(const Waiting &task)
{
    std::set<Waiting> &queue = m_queues[m_queueOf[task.second]];
    if (queue.empty() || task < *queue.begin()) {
        if (!queue.empty())
            m_first.erase(*queue.begin());
        m_first.insert(task);
    }
    queue.insert(task);
}

void GangDispatcher::startWaiting(Dispatch &at)
{
    ++m_round;
    const std::int64_t free = m_free;
    std::int64_t taken = 0;
    for (auto first = m_first.begin(); first != m_first.end() && m_free > 0;) {
        const std::uint32_t task = first->second;
        const std::int64_t before = m_free;
        if (!tryStart(at, task)) {
            keepFor(m_tasks[task]);
            ++first;
            continue;
        }
        taken += before - m_free;
        std::set<Waiting> &queue = m_queues[m_queueOf[task]];
        queue.erase(queue.begin());
        first = m_first.erase(first);
        if (!queue.empty()) // comes later than the one that has started: it may be the next
            if (const auto next = m_first.insert(*queue.begin()).first; first == m_first.end() || *next < *first)
                first = next;
    }
    m_free = free - taken; // what was kept is free again in the next round
}

bool GangDispatcher::tryStart(Dispatch &at, std::uint32_t index)
{
    const GangTask &task = m_tasks[index];
    const GangJob &gang = *task.gang;
    if (gang.reserved && !std::ranges::all_of(*gang.reserved, [this](int gpu) { return isFree(gpu); }))
        return false;
    for (std::size_t f = 0; f < gang.forms.size(); ++f) {
        GpuList gpus = seats(*gang.forms[f]);
        if (gpus.empty())
            continue;
        hold(gang.reserved ? *gang.reserved : gpus, true);
        m_ran[index] = { at.now(), at.now() + task.lengths[f], int(f), std::move(gpus) };
        m_events.push({ m_ran[index].end, What::End, index });
        show(at, index);
        return true;
    }
    return false;
}

/// The lowest free ones, of one node where they have to be.
GpuList GangDispatcher::seats(const GangForm &form) const
{
    GpuList found;
    for (const int gpu : form.gpus) {
        if (form.isInNode && !found.empty() && m_nodes[std::size_t(gpu)] != m_nodes[std::size_t(found.back())])
            found.clear();
        if (isFree(gpu))
            found.push_back(gpu);
        if (int(found.size()) == form.width)
            return found;
    }
    return {};
}

/// What it waits for is not for those behind it.
void GangDispatcher::keepFor(const GangTask &task)
{
    const GpuList &wanted = task.gang->reserved ? *task.gang->reserved : task.gang->forms.front()->gpus;
    for (const int gpu : wanted)
        if (isFree(gpu)) {
            m_keptIn[std::size_t(gpu)] = m_round;
            --m_free;
        }
}

void GangDispatcher::hold(const GpuList &gpus, bool isHeld)
{
    for (const int gpu : gpus)
        m_isHeld[std::size_t(gpu)] = isHeld;
    m_free += isHeld ? -std::int64_t(gpus.size()) : std::int64_t(gpus.size());
}

/// Begins all spans whose time has come.
void GangDispatcher::show(Dispatch &at, std::uint32_t index)
{
    const Ran &ran = m_ran[index];
    const GangShow &show = m_tasks[index].shows[std::size_t(ran.form)];
    Showing &showing = m_showing[index];
    while (showing.done < show.times + (show.rest ? 1 : 0)) {
        const bool isRest = showing.done == show.times;
        const GangPattern &pattern = isRest ? *show.rest : *show.pattern;
        const Nanoseconds begin = ran.start + showing.done * show.pattern->period;
        for (; showing.next < pattern.spans.size(); ++showing.next) {
            const GangPattern::Span &span = pattern.spans[showing.next];
            if (begin + span.start > at.now()) {
                m_events.push({ begin + span.start, What::Spans, index });
                return;
            }
            const int gpu = ran.gpus[std::size_t(span.seat)];
            const GangPlace place = m_tasks[index].gang->forms[std::size_t(ran.form)]->places[std::size_t(span.seat)];
            const std::int64_t minibatch = std::min<std::int64_t>(
                showing.done * show.pattern->minibatches, std::numeric_limits<std::int32_t>::max());
            showing.begun.push_back(at.begin(std::uint32_t(gpu),
                (isRest ? show.restClasses : show.classes)[showing.next], { std::int32_t(minibatch), place.stage },
                span.cause >= 0 ? showing.begun[std::size_t(span.cause)] : showing.last));
        }
        ++showing.done;
        showing.next = 0;
        if (!showing.begun.empty())
            showing.last = showing.begun.back();
        showing.begun.clear();
    }
}

std::string GangDispatcher::leftOver() const
{
    return m_first.empty() ? std::string() : "a job waits for GPUs that nobody holds";
}

} // namespace trainyard
