#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// In which order units begin: as they are ready, and where a row serves one at a time, by priority among those that
// wait when it is free.

#include "tests/core/runs/overlay/replay_graph.h"

#include <algorithm>
#include <queue>
#include <set>

namespace trainyard::test {

class ReplayEvents {
public:
    explicit ReplayEvents(const ReplayGraph &made)
        : m_made(&made)
        , m_queues(made.resources)
        , m_busyUntil(made.resources, 0)
    {
    }

    void add(std::uint32_t unit, double ready) { m_events.push({ ready, false, unit }); }

    /// kNoSpan: nothing is left. Whoever takes a unit of a row says how long it keeps it.
    std::uint32_t next()
    {
        while (!m_events.empty()) {
            const Event event = m_events.top();
            m_events.pop();
            const std::uint32_t row = event.isChoice ? event.index : m_made->units[event.index].resource;
            if (row == kNoSpan)
                return event.index;
            const auto &priority = m_made->graph.priority;
            if (!event.isChoice) {
                const std::uint32_t task = m_made->units[event.index].task;
                m_queues[row].insert({ task < priority.size() ? priority[task] : 0, event.index });
                m_events.push({ std::max(event.at, m_busyUntil[row]), true, row });
            } else if (m_busyUntil[row] > event.at) {
                m_events.push({ m_busyUntil[row], true, row });
            } else if (!m_queues[row].empty()) {
                const std::uint32_t unit = m_queues[row].begin()->second;
                m_queues[row].erase(m_queues[row].begin());
                return unit;
            }
        }
        return kNoSpan;
    }

    [[nodiscard]] double freeAt(std::uint32_t row) const { return m_busyUntil[row]; }
    void occupy(std::uint32_t row, double until) { m_busyUntil[row] = std::max(m_busyUntil[row], until); }

private:
    struct Event { // a unit that may begin, or, after all of that instant, a row that chooses
        double at = 0;
        bool isChoice = false;
        std::uint32_t index = 0;
        auto operator<=>(const Event &) const = default;
    };

    const ReplayGraph *m_made;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> m_events;
    std::vector<std::set<std::pair<std::int64_t, std::uint32_t>>> m_queues; // [row]: by priority
    std::vector<double> m_busyUntil; // [row]
};

} // namespace trainyard::test
