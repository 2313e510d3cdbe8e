#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Jobs as a list for each GPU says, a unit at a time: a GPU waits for the next job of its list while that is not free
// or has not come to the unit that the list means, and passes over what has no units left or cannot run there.

#include "core/systems/jobs/job_policy.h"

namespace trainyard {

class ListedJobs final : public JobPolicy {
public:
    ListedJobs(const JobsUnderWay &progress, const UnitOrder &order, const UnitNumbers &numbers)
        : m_progress(progress)
        , m_order(order)
        , m_numbers(numbers)
        , m_position(order.size(), 0)
        , m_isFree(progress.jobs(), 0)
    {
    }

    void add(std::uint32_t job) override { m_isFree[job] = 1; }
    [[nodiscard]] std::uint32_t take(std::uint32_t gpu, std::uint32_t last, bool isRunning) override;

private:
    /// The unit of its job that the GPU's entry means.
    [[nodiscard]] std::int64_t number(std::uint32_t gpu) const;

    const JobsUnderWay &m_progress;
    const UnitOrder &m_order;
    /// may be empty: whichever comes next
    const UnitNumbers &m_numbers;
    /// [GPU]: in its list
    std::vector<std::size_t> m_position;
    std::vector<std::uint8_t> m_isFree;
};

} // namespace trainyard
