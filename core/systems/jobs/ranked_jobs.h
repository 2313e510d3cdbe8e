#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Jobs by rank: the highest priority first, then the longest remaining work or nothing, then the order of the list.
// What remains of a job that waits does not change, so a heap for each group of GPUs is exact, and a choice costs the
// logarithm of the jobs. A job that is taken otherwise than from the top leaves an entry that is passed over later.

#include "core/systems/jobs/job_policy.h"

namespace trainyard {

class RankedJobs final : public JobPolicy {
public:
    enum class By : std::uint8_t { RemainingWork, List };
    RankedJobs(const JobSet &set, const JobsUnderWay &progress, By by);

    void add(std::uint32_t job) override;
    [[nodiscard]] std::uint32_t take(std::uint32_t gpu, std::uint32_t last, bool isRunning) override;

private:
    struct Entry {
        double priority;
        Nanoseconds remaining;
        std::uint32_t job, stamp;
    };
    [[nodiscard]] Entry entryOf(std::uint32_t job) const;
    [[nodiscard]] static bool isLower(const Entry &a, const Entry &b)
    {
        if (a.priority != b.priority)
            return a.priority < b.priority;
        return a.remaining != b.remaining ? a.remaining < b.remaining : a.job > b.job;
    }
    [[nodiscard]] static bool isTie(const Entry &a, const Entry &b)
    {
        return a.priority == b.priority && a.remaining == b.remaining;
    }
    /// The first of those that are still free, or nullptr.
    const Entry *top(std::uint32_t group);

    const JobsUnderWay &m_progress;
    const By m_by;
    std::vector<double> m_priority;
    std::vector<std::uint8_t> m_isFree;
    /// of the entry that counts
    std::vector<std::uint32_t> m_stamp;
    /// [group]
    std::vector<std::vector<Entry>> m_heaps;
    /// [GPU]
    std::vector<std::vector<std::uint32_t>> m_groupsOn;
};

} // namespace trainyard
