#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How far each job is while jobs run: units that GPUs have picked and that have ended, and the work that remains, in
// nanoseconds on the mean of the kinds of GPU that may run it. A running unit remains until it ends.

#include "core/systems/jobs/run_jobs.h"
#include "core/systems/jobs/serving.h"

#include <span>

namespace trainyard {

inline constexpr std::uint32_t kNoJob = 0xffffffffu;

class JobsUnderWay {
public:
    JobsUnderWay(const JobSet &set, RemainingWork counts);

    /// Whether it may run anywhere, and where.
    [[nodiscard]] bool runs(std::uint32_t job) const { return m_jobs[job].units != 0; }
    [[nodiscard]] bool mayRunOn(std::uint32_t job, std::uint32_t gpu) const { return isServed(m_jobs[job].group, gpu); }
    /// Jobs that the same GPUs may run are of one group.
    [[nodiscard]] std::uint32_t groupOf(std::uint32_t job) const { return m_jobs[job].group; }
    /// A bit a GPU, in words of 64: those that may run jobs of the group.
    [[nodiscard]] std::span<const std::uint64_t> gpusOf(std::uint32_t group) const
    {
        return { m_bits.data() + std::size_t(group) * m_words, m_words };
    }
    [[nodiscard]] std::vector<std::uint32_t> groupsOn(std::uint32_t gpu) const;
    [[nodiscard]] std::uint32_t groups() const { return static_cast<std::uint32_t>(m_bits.size() / m_words); }
    [[nodiscard]] std::uint32_t jobs() const { return static_cast<std::uint32_t>(m_jobs.size()); }
    [[nodiscard]] std::uint32_t units(std::uint32_t job) const { return m_jobs[job].units; }

    /// Over all mini-batches, in order.
    [[nodiscard]] std::int64_t picked(std::uint32_t job) const { return m_jobs[job].picked; }
    [[nodiscard]] std::int64_t ended(std::uint32_t job) const { return m_jobs[job].ended; }
    [[nodiscard]] std::int64_t all(std::uint32_t job) const { return m_jobs[job].all; }
    [[nodiscard]] bool hasUnpicked(std::uint32_t job) const { return m_jobs[job].picked < m_jobs[job].all; }
    [[nodiscard]] bool isDone(std::uint32_t job) const { return m_jobs[job].ended == m_jobs[job].all; }
    /// The unit of a mini-batch that is picked with it.
    std::uint32_t pick(std::uint32_t job)
    {
        Job &one = m_jobs[job];
        ++one.picked;
        return std::exchange(one.next, one.next + 1 == one.units ? 0 : one.next + 1);
    }
    void end(std::uint32_t job)
    {
        Job &one = m_jobs[job];
        ++one.ended;
        if (++one.unit == one.units) {
            one.unit = 0;
            --one.minibatches;
        }
    }
    [[nodiscard]] std::int64_t minibatch(std::uint32_t job) const // of the first unit that has not ended
    {
        return m_jobs[job].ofAll - m_jobs[job].minibatches;
    }
    [[nodiscard]] Nanoseconds remaining(std::uint32_t job) const
    {
        const Job &one = m_jobs[job];
        if (one.minibatches == 0)
            return 0;
        const Nanoseconds whole = m_left[one.first];
        return m_counts == RemainingWork::Units ? (one.minibatches - 1) * whole + m_left[one.first + one.unit]
                                                : one.minibatches * whole;
    }

private:
    [[nodiscard]] bool isServed(std::uint32_t group, std::uint32_t gpu) const
    {
        return (m_bits[std::size_t(group) * m_words + gpu / 64] >> (gpu % 64) & 1) != 0;
    }

    struct Job {
        std::int64_t picked = 0, ended = 0, all = 0;
        /// that have not ended
        std::int64_t minibatches = 0, ofAll = 0;
        /// of a mini-batch: the first that has not ended, that nobody has picked
        std::uint32_t unit = 0, next = 0;
        std::uint32_t units = 0, first = 0, group = 0;
    };

    std::size_t m_gpus, m_words;
    RemainingWork m_counts;
    std::vector<Job> m_jobs;
    /// [group][word]
    std::vector<std::uint64_t> m_bits;
    /// of each unit of a job: it and those after it in a mini-batch
    std::vector<Nanoseconds> m_left;
};

} // namespace trainyard
