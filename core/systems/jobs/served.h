#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which GPUs serve which host's jobs, of many of both: what serving.h finds for one job is found once for all jobs that
// are alike in it (memory, kinds of GPU, pins, whether they move anything).

#include "core/systems/jobs/serving.h"

#include <map>

namespace trainyard {

/// So many GPUs of a kind, by kind ascending.
using GpusOfKind = std::map<int, int>;

class Served {
public:
    explicit Served(const JobSet &set);

    /// Jobs of one number are alike; ask once for each job.
    [[nodiscard]] std::size_t likeOf(const JobSpec &job);
    /// Which of the lists below the GPUs are that may run such a job while its host is that node.
    [[nodiscard]] std::size_t listOf(std::size_t like, int node);
    [[nodiscard]] const GpusOfKind &list(std::size_t index) const { return m_lists[index]; }
    /// As servedBy().
    [[nodiscard]] std::vector<std::uint8_t> gpus(std::size_t like, int node) const;
    /// Whether neverRuns() has nothing to say of it. Of a job without a node: whether some would do.
    [[nodiscard]] bool runs(const JobSpec &job, std::size_t like);

private:
    struct Like {
        double memory = 0;
        bool hasUnits = false, loads = false, stores = false;
        /// [kind]: it has times there
        std::vector<std::uint8_t> kinds;
        std::vector<int> pins;
        auto operator<=>(const Like &) const = default;
    };
    [[nodiscard]] bool serves(const Like &job, std::size_t gpu, int node) const;
    void each(const Like &job, int node, auto then) const;

    const JobSet &m_set;
    std::map<Like, std::size_t> m_known;
    std::vector<const Like *> m_likes;
    /// [like][node], of those that are not pinned
    std::vector<std::vector<std::size_t>> m_listOf;
    std::vector<GpusOfKind> m_lists;
    std::map<GpusOfKind, std::size_t> m_indexOf;
    /// GPUs
    std::map<int, std::vector<std::size_t>> m_ofSite;
};

/// Seconds of each unit on the fastest of those kinds; empty where there is none.
[[nodiscard]] std::vector<double> fastestOf(const JobSpec &job, const GpusOfKind &kinds);

} // namespace trainyard
