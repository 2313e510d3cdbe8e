#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Front door of the room: sources in, snapshots out. One thread has all sockets, files and timers (net/), one decodes
// and fills the store, in between stands a queue bounded by bytes. Whoever shows it asks for statuses and snapshots as
// often as it likes; nothing here ever waits for a peer.

#include "core/live/source.h"
#include "core/live/store.h"

namespace trainyard::live {

namespace net {
class Loop;
}

struct SessionOptions {
    StoreLimits store;
    /// between sockets and decoders
    std::size_t queueBytes = std::size_t(64) << 20;
    /// some status changed or a batch came; any thread, at most some 100 times/s
    std::function<void()> changed = {};
    // For tests: who makes sources, and nanoseconds of a clock that only goes forward, by which silence is told.
    std::function<std::unique_ptr<Source>(net::Loop &, SourceSink &, const Address &, const SourceSettings &)>
        make = {};
    std::function<std::int64_t()> steadyNow = {};
};

class Session {
public:
    explicit Session(SessionOptions options = {});
    /// stops all; waits for both threads, never for a peer
    ~Session();
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    /// Starts it; its number, never used again. Errors: of settings alone (a listener beyond loopback without a token,
    /// TLS without a certificate); what the network says is told by its status.
    [[nodiscard]] Expected<std::uint32_t> add(const Address &address, const SourceSettings &settings = {});
    /// its data stays
    void remove(std::uint32_t source);
    void setPaused(std::uint32_t source, bool isPaused);
    void retryNow(std::uint32_t source);

    /// in order of numbers
    [[nodiscard]] std::vector<std::pair<std::uint32_t, SourceStatus>> statuses() const;
    /// How many different steps were told of.
    [[nodiscard]] std::int64_t stepsTold() const;
    [[nodiscard]] std::optional<Snapshot> snapshot(const SnapshotAsked &asked) const;
    [[nodiscard]] Recording whole() const;
    [[nodiscard]] Store &store();
    /// Waits until everything that sources have given so far is decoded and in the store; for tests and commands.
    void drain();

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace trainyard::live
