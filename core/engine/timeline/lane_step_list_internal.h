#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The steps of a topology before they have slots (lane_steps.h): joined where one alone waits for another, and in an
// order in which a pipeline repeats itself. Internal to core/engine/timeline.

#include "core/engine/timeline/lane_steps.h"

#include <limits>
#include <map>

namespace trainyard {

/// number of the step that makes it; kBeginning: the beginning of time
using StepNumber = std::int32_t;
inline constexpr StepNumber kBeginning = -1;

/// A step before it has slots.
struct ValueStep {
    StepNumber a = kBeginning, b = kBeginning;
    std::uint16_t lag = 0, time = 0;
    /// so that what equal stages do side by side is no repetition
    std::uint32_t resource = 0;
};

/// Numbers entries of a table in the order of their first use.
template <class Entry> class UsedEntries {
public:
    explicit UsedEntries(std::vector<Entry> &entries)
        : m_entries(entries)
    {
    }

    std::uint16_t of(const Entry &entry)
    {
        const auto [at, isNew] = m_index.try_emplace(entry, m_entries.size());
        if (isNew)
            m_entries.push_back(entry);
        return static_cast<std::uint16_t>(at->second);
    }
    [[nodiscard]] bool isTooMany() const { return m_entries.size() > std::numeric_limits<std::uint16_t>::max(); }

private:
    std::vector<Entry> &m_entries;
    std::map<Entry, std::size_t> m_index;
};

class LaneStepList {
public:
    /// Fills the times and lags of `out`.
    LaneStepList(const TaskGraph &graph, LaneSteps &out);
    [[nodiscard]] bool isTooMany() const { return m_times.isTooMany() || m_lags.isTooMany(); }

    std::vector<ValueStep> steps;
    /// of each resource's last task
    std::vector<StepNumber> ends;

private:
    StepNumber append(ValueStep step);
    std::uint16_t timeOf(std::uint32_t taskClass);
    void add(std::uint32_t task, std::uint32_t resource);
    void join();
    bool takeIn(ValueStep &before, std::uint16_t time);
    void arrange();

    const TaskGraph &m_graph;
    UsedEntries<LaneSteps::Sum> m_times;
    const std::vector<LaneSteps::Sum> &m_sums;
    /// two times: the time of both, or kNoSpan
    std::map<std::uint32_t, std::uint32_t> m_joined;
    UsedEntries<std::uint32_t> m_lags;
    /// [task], [resource]
    std::vector<StepNumber> m_end, m_last;
};

} // namespace trainyard
