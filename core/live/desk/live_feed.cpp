// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/desk/live_feed.h"

#include <utility>

namespace trainyard {

namespace {

class SessionFeed final : public LiveFeed {
public:
    explicit SessionFeed(std::function<void()> changed)
        : m_session({ .changed = std::move(changed) })
    {
    }

    Expected<std::uint32_t> add(const live::Address &address, const live::SourceSettings &settings) override
    {
        return m_session.add(address, settings);
    }
    void remove(std::uint32_t source) override { m_session.remove(source); }
    void setPaused(std::uint32_t source, bool isPaused) override { m_session.setPaused(source, isPaused); }
    void retryNow(std::uint32_t source) override { m_session.retryNow(source); }
    [[nodiscard]] std::vector<std::pair<std::uint32_t, live::SourceStatus>> statuses() const override
    {
        return m_session.statuses();
    }
    [[nodiscard]] std::optional<live::Snapshot> snapshot(const live::SnapshotAsked &asked) const override
    {
        return m_session.snapshot(asked);
    }
    [[nodiscard]] Recording whole() const override { return m_session.whole(); }
    [[nodiscard]] std::int64_t stepsTold() const override { return m_session.stepsTold(); }
    void drain() override { m_session.drain(); }

private:
    mutable live::Session m_session;
};

} // namespace

std::unique_ptr<LiveFeed> makeSessionFeed(std::function<void()> changed)
{
    return std::make_unique<SessionFeed>(std::move(changed));
}

} // namespace trainyard
