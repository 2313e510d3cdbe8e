#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The classes of tasks of jobs: each unit on each kind of GPU, and its weights on their way over each route, by what it
// finds on the GPU and what it leaves there. A class is made when it is first asked for, since few of all combinations
// occur. Bytes, memory and job stand in the class, so every walk over the timeline finds them.

#include "core/engine/timeline/task_graph.h"
#include "core/systems/jobs/unit_bytes.h"

namespace trainyard {

/// What is asked of a unit at every step, in one line of the cache.
struct alignas(64) UnitFacts {
    UnitBytes bytes;
    double hostAfter = 0; // as in JobUnit
    std::uint32_t firstOfShard = 0; // of all units of the set, the first of its job's that has the same shard
    std::uint16_t shard = 0;
    bool mayContinue = false; // on the weights of the unit before, if that has been such a unit as these facts are of
};

class JobClasses {
public:
    /// Appends the flows of all routes to the table now, and classes later.
    JobClasses(const JobSet &set, ClassTable &table);

    [[nodiscard]] const UnitFacts &facts(std::uint32_t job, std::uint32_t unit, bool isContinued) const
    {
        return m_facts[2 * (m_first[job] + unit) + (isContinued ? 1 : 0)];
    }
    [[nodiscard]] std::size_t units() const { return m_facts.size() / 2; } // of the set
    [[nodiscard]] const UnitBytes &bytes(std::uint32_t job, std::uint32_t unit, bool isContinued) const
    {
        return facts(job, unit, isContinued).bytes;
    }
    [[nodiscard]] std::uint32_t compute(std::uint32_t job, std::uint32_t unit, int kind, bool isContinued, Keeps keeps)
    {
        std::uint32_t &known = slot(m_computeOf, job, kind, m_kinds, unit, variant(isContinued, keeps));
        return known != kNoSpan ? known : known = makeCompute(job, unit, kind, isContinued, keeps);
    }
    /// Of what goes back after it.
    [[nodiscard]] std::uint32_t store(std::uint32_t job, std::uint32_t unit, int route, bool isContinued, Keeps keeps)
    {
        std::uint32_t &known =
            slot(m_transferOf, job, m_sameRoute[std::size_t(route)], m_routes, unit, variant(isContinued, keeps));
        return known != kNoSpan ? known : known = makeStore(job, unit, route, isContinued, keeps);
    }
    /// Of what comes before it: its weights and, unless that is there, its input.
    [[nodiscard]] std::uint32_t load(std::uint32_t job, std::uint32_t unit, int route, bool hasInput)
    {
        std::uint32_t &known =
            slot(m_transferOf, job, m_sameRoute[std::size_t(route)], m_routes, unit, hasInput ? 7 : 6);
        return known != kNoSpan ? known : known = makeLoad(job, unit, route, hasInput);
    }

private:
    /// of a unit: two of what it finds by three of what it leaves; two loads
    static constexpr int kVariants = 8;
    [[nodiscard]] static int variant(bool isContinued, Keeps keeps)
    {
        return static_cast<int>(keeps) + (isContinued ? kKeeps : 0);
    }
    /// Blocks of classes are made for the pairs of job and kind, or job and route, that occur.
    [[nodiscard]] std::uint32_t &slot(std::vector<std::uint32_t> &blockOf, std::uint32_t job, int place,
        std::size_t places, std::uint32_t unit, int which)
    {
        std::uint32_t &block = blockOf[job * places + static_cast<std::size_t>(place)];
        if (block == kNoSpan) {
            block = static_cast<std::uint32_t>(m_classes.size());
            m_classes.resize(m_classes.size() + kVariants * m_set.jobs[job].units.size(), kNoSpan);
        }
        return m_classes[block + unit * kVariants + static_cast<std::uint32_t>(which)];
    }
    [[nodiscard]] std::uint32_t makeCompute(std::uint32_t, std::uint32_t, int, bool, Keeps);
    [[nodiscard]] std::uint32_t makeStore(std::uint32_t, std::uint32_t, int, bool, Keeps);
    [[nodiscard]] std::uint32_t makeLoad(std::uint32_t, std::uint32_t, int, bool);
    [[nodiscard]] std::uint32_t add(WorkKind kind, double seconds, double bytes, std::uint32_t flow, std::uint32_t job);

    const JobSet &m_set;
    ClassTable &m_table;
    std::size_t m_kinds = 0, m_routes = 0;
    /// [job]: its first unit
    std::vector<std::uint32_t> m_first;
    /// [unit]: that finds nothing, that goes on with weights
    std::vector<UnitFacts> m_facts;
    /// [route]: the first that is like it
    std::vector<int> m_sameRoute;
    /// [job][kind or route]: block
    std::vector<std::uint32_t> m_computeOf, m_transferOf;
    std::vector<std::uint32_t> m_classes;
};

} // namespace trainyard
