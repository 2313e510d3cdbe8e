#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A session of live sources that a test sets by hand: what is connected and how it is, and which steps have been told
// so far. Every step of every rank is one product of 80 ms and an all-reduce of 20 ms that ends on all ranks at once.

#include "core/live/desk/live_feed.h"

#include <algorithm>
#include <mutex>
#include <string>

namespace trainyard::test {

struct SetRun {
    int ranks = 4;
    std::int64_t steps = 0; // told by all ranks
    std::int64_t ahead = 0; // told by rank 0 alone, on top
    std::int64_t held = 1'000'000; // steps that still have spans
    double slower = 1; // of products from `slowerFrom` on
    std::int64_t slowerFrom = 1'000'000;
    static constexpr std::int64_t kCompute = 80'000'000, kTransfer = 20'000'000; // ns
    static constexpr Moment kZero = 1'767'225'600'000'000'000;

    [[nodiscard]] std::int64_t lengthOf(std::int64_t step) const
    {
        return std::int64_t(double(kCompute) * (step >= slowerFrom ? slower : 1)) + kTransfer;
    }
    [[nodiscard]] Moment startOf(std::int64_t step) const
    {
        Moment at = 0;
        for (std::int64_t one = 0; one < step; ++one)
            at += lengthOf(one);
        return at;
    }
    [[nodiscard]] Recording recording(std::int64_t firstSpans, std::int64_t lastSpans) const
    {
        Recording made;
        made.name = "set";
        made.zero = kZero;
        made.names = { "gemm", "all_reduce" };
        made.groups.push_back({ "dp", "", {} });
        made.sources.push_back({ .file = "set", .kind = SourceKind::Recording });
        SampleSeries times { .name = "step_time", .unit = "s", .isByStep = true }; // what every step took
        for (std::int64_t step = 0; step < steps; ++step) {
            times.at.push_back(step);
            times.value.push_back(double(lengthOf(step)) * 1e-9);
        }
        times.source = 0;
        if (steps > 0)
            made.series.push_back(std::move(times));
        for (int rank = 0; rank < ranks; ++rank) {
            made.groups.front().ranks.push_back(rank);
            RankRecording one;
            one.rank = rank;
            one.worldSize = ranks;
            one.source = 0;
            one.host = "n" + std::to_string(rank / 8);
            one.streams.push_back({ .stream = 7 });
            RecordedSpans &spans = one.streams.front().spans;
            const std::int64_t told = steps + (rank == 0 ? ahead : 0);
            for (std::int64_t step = 0; step < told; ++step) {
                const Moment start = startOf(step);
                const std::int64_t length = lengthOf(step);
                one.steps.push_back({ step, start, start + length });
                if (step < firstSpans || step > lastSpans || step + held < steps)
                    continue;
                for (const bool isTransfer : { false, true }) {
                    spans.start.push_back(isTransfer ? start + length - kTransfer : start);
                    spans.duration.push_back(isTransfer ? kTransfer : length - kTransfer);
                    spans.name.push_back(isTransfer ? 1 : 0);
                    spans.work.push_back(isTransfer ? RecordedWork::Communication : RecordedWork::Compute);
                }
                one.collectives.push_back({ .group = 0,
                    .operation = 1,
                    .sequence = step,
                    .bytes = 1e6,
                    .start = start + length - kTransfer,
                    .duration = kTransfer,
                    .stream = 0,
                    .span = std::uint32_t(spans.size() - 1) });
            }
            made.ranks.push_back(std::move(one));
        }
        return made;
    }
};

/// Of one session: what the feeds of a document share, whichever thread asks.
struct SetSession {
    std::mutex mutex;
    SetRun run;
    Moment revision = 1;
    std::vector<std::pair<std::uint32_t, live::SourceStatus>> sources;
    live::StoreCounts counts;
    std::function<void()> changed;
    std::vector<live::SnapshotAsked> asked;
    std::vector<std::string> told; // "retry 1"
    std::uint32_t next = 1;
    int feeds = 0;

    /// More was told, or a source is otherwise.
    template <class Change> void tell(const Change &change)
    {
        std::function<void()> tellIt;
        {
            const std::scoped_lock lock(mutex);
            change(*this);
            ++revision;
            tellIt = changed;
        }
        if (tellIt)
            tellIt();
    }
};

class SetLiveFeed final : public LiveFeed {
public:
    SetLiveFeed(std::shared_ptr<SetSession> session, std::function<void()> changed)
        : m_session(std::move(session))
    {
        const std::scoped_lock lock(m_session->mutex);
        m_session->changed = std::move(changed);
        ++m_session->feeds;
    }

    Expected<std::uint32_t> add(const live::Address &address, const live::SourceSettings &settings) override
    {
        const std::scoped_lock lock(m_session->mutex);
        if (address.type == live::SourceType::Listener && !live::isLoopback(address.host)
            && settings.secrets.token.empty())
            return std::unexpected(Error { ErrorCode::BadValue, "token", "a listener beyond this machine has no token",
                "a token that senders show" });
        m_session->sources.push_back(
            { m_session->next, { .address = address, .state = live::SourceState::Connecting } });
        return m_session->next++;
    }
    void remove(std::uint32_t source) override
    {
        const std::scoped_lock lock(m_session->mutex);
        std::erase_if(m_session->sources, [&](const auto &one) { return one.first == source; });
    }
    void setPaused(std::uint32_t source, bool isPaused) override
    {
        const std::scoped_lock lock(m_session->mutex);
        for (auto &[number, status] : m_session->sources)
            if (number == source)
                status.state = isPaused ? live::SourceState::Paused : live::SourceState::Live;
    }
    void retryNow(std::uint32_t source) override
    {
        const std::scoped_lock lock(m_session->mutex);
        m_session->told.push_back("retry " + std::to_string(source));
    }
    [[nodiscard]] std::vector<std::pair<std::uint32_t, live::SourceStatus>> statuses() const override
    {
        const std::scoped_lock lock(m_session->mutex);
        return m_session->sources;
    }
    [[nodiscard]] std::optional<live::Snapshot> snapshot(const live::SnapshotAsked &asked) const override
    {
        const std::scoped_lock lock(m_session->mutex);
        m_session->asked.push_back(asked);
        if (asked.lastKnown == m_session->revision)
            return std::nullopt;
        const SetRun &run = m_session->run;
        const std::int64_t last = asked.until.value_or(run.steps + run.ahead - 1);
        live::Snapshot made;
        made.recording = std::make_shared<const Recording>(run.recording(last - asked.steps + 1, last));
        made.counts = m_session->counts;
        made.revision = m_session->revision;
        made.lastStep = run.steps - 1;
        for (int rank = 0; rank < run.ranks; ++rank)
            made.ranks.push_back({ .rank = rank, .heard = live::unixNow(), .step = run.steps - 1 });
        return made;
    }
    [[nodiscard]] Recording whole() const override
    {
        const std::scoped_lock lock(m_session->mutex);
        return m_session->run.recording(0, m_session->run.steps);
    }
    [[nodiscard]] std::int64_t stepsTold() const override
    {
        const std::scoped_lock lock(m_session->mutex);
        return m_session->run.steps;
    }

private:
    std::shared_ptr<SetSession> m_session;
};

[[nodiscard]] inline MakeLiveFeed feedOf(const std::shared_ptr<SetSession> &session)
{
    return
        [session](std::function<void()> changed) { return std::make_unique<SetLiveFeed>(session, std::move(changed)); };
}

} // namespace trainyard::test
