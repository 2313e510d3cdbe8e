#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Jobs at random: each of those of the highest priority that a GPU may take is as likely as any other. The same seed
// gives the same choices on every machine.

#include "core/systems/jobs/job_policy.h"

#include <random>

namespace trainyard {

class RandomJobs final : public JobPolicy {
public:
    RandomJobs(const JobSet &set, const JobsUnderWay &progress, int seed);

    void add(std::uint32_t job) override;
    [[nodiscard]] std::uint32_t take(std::uint32_t gpu, std::uint32_t last, bool isRunning) override;

private:
    /// Free jobs of one rank of priority that the same GPUs may run.
    [[nodiscard]] std::vector<std::uint32_t> &freeOf(std::uint32_t group, std::size_t rank)
    {
        return m_free[group * m_ranks + rank];
    }

    const JobsUnderWay &m_progress;
    /// of priorities, the highest first
    std::size_t m_ranks = 0;
    /// [job]
    std::vector<std::uint32_t> m_rankOf;
    /// [group][rank]
    std::vector<std::vector<std::uint32_t>> m_free;
    /// [GPU]
    std::vector<std::vector<std::uint32_t>> m_groupsOn;
    std::mt19937_64 m_random;
};

} // namespace trainyard
