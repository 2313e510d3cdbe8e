#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a live document asks of a session of live sources, so that tests can give it one of their own. All of it
// answers at once; snapshot() and whole() take as long as what they copy and belong beside the GUI thread.

#include "core/live/session.h"

#include <functional>
#include <memory>

namespace trainyard {

class LiveFeed {
public:
    virtual ~LiveFeed() = default;
    LiveFeed() = default;
    LiveFeed(const LiveFeed &) = delete;
    LiveFeed &operator=(const LiveFeed &) = delete;

    [[nodiscard]] virtual Expected<std::uint32_t> add(
        const live::Address &address, const live::SourceSettings &settings) = 0;
    virtual void remove(std::uint32_t source) = 0;
    virtual void setPaused(std::uint32_t source, bool isPaused) = 0;
    virtual void retryNow(std::uint32_t source) = 0;
    [[nodiscard]] virtual std::vector<std::pair<std::uint32_t, live::SourceStatus>> statuses() const = 0;
    [[nodiscard]] virtual std::optional<live::Snapshot> snapshot(
        const live::SnapshotAsked &asked) const = 0; // any thread
    /// any thread
    [[nodiscard]] virtual Recording whole() const = 0;
    /// different ones
    [[nodiscard]] virtual std::int64_t stepsTold() const = 0;
    /// Waits until all that sources have given so far is in snapshots; for commands.
    virtual void drain() { }
};

/// `changed`: any thread, often.
using MakeLiveFeed = std::function<std::unique_ptr<LiveFeed>(std::function<void()> changed)>;
/// A live::Session on its threads; its end waits for them, so let it go beside the GUI thread.
[[nodiscard]] std::unique_ptr<LiveFeed> makeSessionFeed(std::function<void()> changed);

} // namespace trainyard
