#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The hosts' memory while jobs run. A job that has arrived is let in, higher priorities first and then in the order of
// the list, as soon as its host has room for all that it will ever hold there; one that does not fit yet does not keep
// smaller ones behind it from coming in. The curves show what is held: weights and states of the jobs that are in, and
// boundaries as they come and go.

#include "core/systems/jobs/job_set.h"

#include <span>

namespace trainyard {

class JobHosts {
public:
    explicit JobHosts(const JobSet &set);

    void arrive(std::uint32_t job);
    /// Lets in what fits, and says which jobs those are.
    [[nodiscard]] std::span<const std::uint32_t> admit(Nanoseconds now);
    /// Boundaries of a job that is in, taken or given back.
    void change(Nanoseconds now, std::uint32_t job, double bytes);
    /// Takes everything of the job away.
    void leave(Nanoseconds now, std::uint32_t job);

    [[nodiscard]] std::vector<std::vector<MemoryStep>> takeCurves() { return std::move(m_curves); }
    /// When all have left.
    [[nodiscard]] const std::vector<double> &peaks() const { return m_peaks; }

private:
    struct Node {
        double memory = 0, reserved = 0, held = 0;
        /// higher priorities first, then in the order of the list
        std::vector<std::uint32_t> waiting;
        /// since it was last looked at
        bool hasChanged = false;
    };
    void step(Nanoseconds now, std::size_t node, double bytes);

    const JobSet &m_set;
    std::vector<Node> m_nodes;
    /// [job]
    std::vector<double> m_held;
    /// just now
    std::vector<std::uint32_t> m_admitted;
    /// nodes
    std::vector<std::size_t> m_changed;
    std::vector<std::vector<MemoryStep>> m_curves;
    std::vector<double> m_peaks;
};

} // namespace trainyard
