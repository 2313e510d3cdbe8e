#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The shortest schedule of chains of units on kinds of GPUs, by trying every choice at every instant at which something
// ends or arrives: begin a waiting job on a free GPU of any kind, or leave it. Whole times. Shares nothing with the
// code under test.

#include <algorithm>
#include <set>
#include <vector>

namespace trainyard::test {

struct Chain {
    std::vector<std::vector<int>> times; // [kind][unit]; empty: not there
    int arrival = 0;
};

class ShortestSchedule {
public:
    ShortestSchedule(std::vector<Chain> chains, std::vector<int> gpus)
        : m_chains(std::move(chains))
        , m_gpus(std::move(gpus))
    {
    }

    int length()
    {
        for (m_limit = 0;; ++m_limit) {
            m_failed.clear();
            State state;
            state.jobs.resize(m_chains.size());
            state.free = m_gpus;
            if (canEnd(state, 0, 0))
                return m_limit;
        }
    }

private:
    struct Running {
        int unit = 0; // the next, or the one that runs
        int left = 0; // of the one that runs; 0: none
        int kind = 0;
        auto operator<=>(const Running &) const = default;
    };
    struct State {
        int time = 0;
        std::vector<Running> jobs;
        std::vector<int> free; // [kind]
        auto operator<=>(const State &) const = default;
    };

    int units(std::size_t job) const
    {
        std::size_t count = 0;
        for (const auto &times : m_chains[job].times)
            count = std::max(count, times.size());
        return int(count);
    }
    int least(std::size_t job, int unit) const
    {
        int least = 1 << 30;
        for (const auto &times : m_chains[job].times)
            if (!times.empty())
                least = std::min(least, times[std::size_t(unit)]);
        return least;
    }
    bool isTooLate(const State &state) const
    {
        int gpus = 0, work = 0;
        for (const int each : m_gpus)
            gpus += each;
        for (std::size_t i = 0; i < state.jobs.size(); ++i) {
            const Running &job = state.jobs[i];
            int own = job.left;
            for (int u = job.unit + (job.left > 0); u < units(i); ++u)
                own += least(i, u);
            if (own > 0 && std::max(state.time, m_chains[i].arrival) + own > m_limit)
                return true;
            work += own;
        }
        return state.time * gpus + work > m_limit * gpus;
    }

    /// Whether all can end in time where jobs before `job` have chosen at this instant.
    bool canEnd(const State &state, std::size_t job, int begun)
    {
        if (job == state.jobs.size())
            return canGoOn(state);
        if (job == 0 && (isTooLate(state) || m_failed.contains(state)))
            return false;
        const Running &own = state.jobs[job];
        if (own.left == 0 && own.unit < units(job) && m_chains[job].arrival <= state.time)
            for (std::size_t kind = 0; kind < m_gpus.size(); ++kind)
                if (state.free[kind] > 0 && !m_chains[job].times[kind].empty()) {
                    State next = state;
                    --next.free[kind];
                    next.jobs[job].left = m_chains[job].times[kind][std::size_t(own.unit)];
                    next.jobs[job].kind = int(kind);
                    if (canEnd(next, job + 1, begun + 1))
                        return true;
                }
        if (canEnd(state, job + 1, begun))
            return true;
        if (job == 0)
            m_failed.insert(state);
        return false;
    }

    /// To the next instant at which something ends or arrives.
    bool canGoOn(State state)
    {
        int step = 1 << 30;
        bool isDone = true;
        for (std::size_t i = 0; i < state.jobs.size(); ++i) {
            isDone = isDone && state.jobs[i].unit == units(i);
            if (state.jobs[i].left > 0)
                step = std::min(step, state.jobs[i].left);
            if (m_chains[i].arrival > state.time)
                step = std::min(step, m_chains[i].arrival - state.time);
        }
        if (isDone || step == 1 << 30)
            return isDone;
        state.time += step;
        for (Running &job : state.jobs)
            if (job.left > 0 && (job.left -= step) == 0) {
                ++job.unit;
                ++state.free[std::size_t(job.kind)];
            }
        return canEnd(state, 0, 0);
    }

    std::vector<Chain> m_chains;
    std::vector<int> m_gpus; // [kind]: how many
    std::set<State> m_failed;
    int m_limit = 0;
};

} // namespace trainyard::test
