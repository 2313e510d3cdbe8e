// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/profile/launch_queue.h"

#include "core/runs/profile/gpu_work.h"

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

/// Spreads stretches of equal length, which come in order of time, over equal parts of the time.
class Buckets {
public:
    Buckets(Moment start, Moment end, int count)
        : m_start(start)
        , m_length(end - start)
    {
        const auto most = static_cast<std::int64_t>(std::max(count, 0));
        m_made.resize(static_cast<std::size_t>(std::min(most, m_length)));
        for (std::size_t i = 0; i < m_made.size(); ++i) {
            m_made[i].start = border(i);
            m_made[i].end = border(i + 1);
        }
        m_waited.resize(m_made.size(), 0);
    }
    void add(Moment from, Moment to, std::int64_t length)
    {
        while (m_at < m_made.size() && from < to) {
            QueueBucket &bucket = m_made[m_at];
            const Moment until = std::min(to, bucket.end);
            m_waited[m_at] += double(until - from) * double(length);
            bucket.most = std::max(bucket.most, length);
            from = until;
            if (until == bucket.end)
                ++m_at;
        }
    }
    std::vector<QueueBucket> take()
    {
        for (std::size_t i = 0; i < m_made.size(); ++i)
            m_made[i].mean = m_waited[i] / double(m_made[i].end - m_made[i].start);
        return std::move(m_made);
    }

private:
    /// Without a product of the length and the number, which a long recording would not hold.
    [[nodiscard]] Moment border(std::size_t i) const
    {
        const auto count = static_cast<std::int64_t>(m_made.size()), place = static_cast<std::int64_t>(i);
        return m_start + m_length / count * place + m_length % count * place / count;
    }

    Moment m_start;
    std::int64_t m_length;
    std::vector<QueueBucket> m_made;
    std::vector<double> m_waited;
    std::size_t m_at = 0;
};

LaunchQueue queueOf(const RankRecording &rank, const std::vector<std::uint32_t> &streams, int buckets)
{
    LaunchQueue made { .stream = streams.size() == 1 ? streams.front() : kNoIndex };
    std::vector<Moment> launches, starts; // starts come in order
    eachWorkInOrder(rank, streams, [&](const GpuWork &work) {
        if (work.launchedAt == kNoMoment) {
            ++made.untold;
            return;
        }
        launches.push_back(std::min(work.launchedAt, work.start));
        starts.push_back(work.start);
    });
    made.launched = std::ssize(launches);
    if (launches.empty())
        return made;
    std::ranges::sort(launches);
    made.start = launches.front();
    made.end = starts.back();
    Buckets parts(made.start, made.end, buckets);
    Moment now = made.start;
    for (std::size_t launched = 0, started = 0; started < starts.size();) {
        const bool isLaunch = launched < launches.size() && launches[launched] <= starts[started];
        const Moment next = isLaunch ? launches[launched] : starts[started];
        if (next > now) {
            const auto length = static_cast<std::int64_t>(launched - started);
            made.empty += length == 0 ? next - now : 0;
            made.most = std::max(made.most, length);
            made.waited += double(length) * double(next - now);
            parts.add(now, next, length);
            now = next;
        }
        ++(isLaunch ? launched : started);
    }
    made.buckets = parts.take();
    return made;
}

} // namespace

std::vector<RankQueue> launchQueues(const Recording &recording, int buckets)
{
    std::vector<RankQueue> result;
    for (std::uint32_t r = 0; r < recording.ranks.size(); ++r) {
        const RankRecording &rank = recording.ranks[r];
        RankQueue &made = result.emplace_back();
        made.rank = r;
        made.reason = whyNoGpuTimes(recording, rank);
        if (!made.reason.empty())
            continue;
        const std::vector<std::uint32_t> streams = gpuStreamsOf(rank);
        made.whole = queueOf(rank, streams, buckets);
        made.whole.stream = kNoIndex;
        for (const std::uint32_t stream : streams)
            made.streams.push_back(queueOf(rank, { stream }, buckets));
        if (made.whole.launched == 0)
            made.reason = "no call that launched its kernels is in it";
    }
    return result;
}

} // namespace trainyard
