// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/batches.h"

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

class BatchBuilder {
public:
    BatchBuilder(int most, Nanoseconds wait, Nanoseconds period)
        : m_most(std::size_t(most))
        , m_wait(wait)
        , m_period(period)
    {
    }

    void add(std::uint32_t request, int size, Nanoseconds arrival)
    {
        Open &open = m_open[size];
        if (!open.prompts.empty() && open.since + m_wait < arrival)
            close(open, size, open.since + m_wait);
        if (open.prompts.empty())
            open.since = arrival;
        open.prompts.push_back(request);
        if (open.prompts.size() == m_most)
            close(open, size, arrival);
    }

    PromptBatches finish()
    {
        for (auto &[size, open] : m_open)
            if (!open.prompts.empty())
                close(open, size, std::min(open.since + m_wait, m_period - 1));
        std::ranges::stable_sort(m_closed.batches, {}, &PromptBatch::arrival);
        return std::move(m_closed);
    }

private:
    struct Open {
        Nanoseconds since = 0;
        std::vector<std::uint32_t> prompts;
    };

    void close(Open &open, int size, Nanoseconds time)
    {
        auto &prompts = m_closed.prompts;
        m_closed.batches.push_back(
            { time, time - open.since, size, std::uint32_t(prompts.size()), std::uint32_t(open.prompts.size()) });
        prompts.insert(prompts.end(), open.prompts.begin(), open.prompts.end());
        open.prompts.clear();
    }

    std::size_t m_most;
    Nanoseconds m_wait, m_period;
    /// by size
    std::map<int, Open> m_open;
    PromptBatches m_closed;
};

} // namespace

PromptBatches batchesOf(const std::vector<PrefillRequest> &requests, const std::vector<int> &sizeOf, int most,
    Nanoseconds wait, Nanoseconds period)
{
    BatchBuilder builder(most, wait, period);
    for (std::uint32_t i = 0; i < requests.size(); ++i)
        builder.add(i, sizeOf[i], requests[i].arrival);
    return builder.finish();
}

} // namespace trainyard
