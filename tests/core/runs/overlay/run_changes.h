#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What of a recorded run takes longer than its plan says, where, and from which step to which.

#include "tests/core/runs/overlay/recorded_run.h"

#include <algorithm>

namespace trainyard::test {

class RunChanges {
public:
    RunChanges(const RecordedRunOptions &options, const Layout &layout)
        : m_options(options)
        , m_layout(layout)
    {
    }

    [[nodiscard]] double computing(int step, int rank) const
    {
        double factor = rank == m_options.straggler ? m_options.stragglerFactor : 1;
        for (const RecordedRunOptions::Change &change : m_options.changes)
            if (holds(change, step) && (change.rank < 0 || change.rank == rank))
                factor *= change.computing;
        return factor;
    }

    /// Transfers of a replica between two stages.
    [[nodiscard]] double transfers(int replica, int a, int b) const
    {
        const auto &slow = m_options.slowBoundary;
        return slow && slow->replica == replica && std::min(a, b) == slow->stage && std::max(a, b) == slow->stage + 1
            ? slow->factor
            : 1;
    }
    /// And between their datacenters.
    [[nodiscard]] double link(int step, int replica, int a, int b) const
    {
        double factor = transfers(replica, a, b);
        for (const PipelineClass &c : m_layout.classes) {
            if (replica < c.firstPipeline || replica >= c.firstPipeline + c.pipelines)
                continue;
            const int from = c.locations[std::size_t(a)].datacenter, to = c.locations[std::size_t(b)].datacenter;
            for (const RecordedRunOptions::Change &change : m_options.changes)
                if (holds(change, step)
                    && ((change.datacenter == from && change.otherDatacenter == to)
                        || (change.datacenter == to && change.otherDatacenter == from)))
                    factor *= change.transfers;
        }
        return factor;
    }

private:
    [[nodiscard]] static bool holds(const RecordedRunOptions::Change &change, int step)
    {
        return step >= change.first && step < change.behind;
    }

    const RecordedRunOptions &m_options;
    const Layout &m_layout;
};

} // namespace trainyard::test
