#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A live source: brings bytes or batches to its session and says how it is. Each is idle → connecting → live → stale →
// backing off, with a reason in words, and tries again by itself for ever, after 1 s to 60 s with jitter. Sources live
// on the session's network thread, block nowhere, and are told from there; what they deliver goes through a bounded
// queue, which drops and counts rather than waits: a training run must never wait for us.

#include "core/live/address.h"
#include "core/live/decoder.h"

#include <memory>
#include <string>

namespace trainyard::live {

enum class SourceState : std::uint8_t {
    /// not started
    Idle,
    /// or a listener that nobody is connected to yet
    Connecting,
    /// told something lately
    Live,
    /// connected, silent for three of its intervals (Prometheus), 30 s or three of its steps else
    Stale,
    /// tries again at `nextTry`
    BackingOff,
    /// by the user: connected, what comes is counted as dropped, or is asked for later where the source can
    Paused,
    /// a replay or a command is over, and is not begun again
    Ended,
    /// cannot work as it was asked for; trying again is of no use: wrong credentials, port taken, file not there
    Refused
};
/// "Connecting"
[[nodiscard]] const char *nameOf(SourceState state);

struct SourceStatus {
    /// of a listener: with the port that it got
    Address address;
    SourceState state = SourceState::Idle;
    /// "connection refused by 127.0.0.1:9090", one sentence; empty while live
    std::string reason;
    /// of the state; this and those below: Unix ns of this machine
    Moment since = 0;
    /// last; 0: never
    Moment heard = 0;
    Moment nextTry = 0;
    std::int64_t bytes = 0, batches = 0, tries = 0;
    /// bytes that nobody could take in time, or that came while paused
    std::int64_t dropped = 0;
    /// of a listener: without token, over limits, speaking something else
    std::int64_t refusedClients = 0;
    /// of a listener, connected now
    int clients = 0;
    std::vector<std::string>
        notes; // what it wants known: "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE: no such metric"; 20 at most
    bool operator==(const SourceStatus &) const = default;
};

/// Where a source puts what it has; of the session. Any thread, never blocks.
class SourceSink {
public:
    virtual ~SourceSink() = default;
    /// Bytes of connection `connection` of this source, for its decoder. False: the queue is full; they are counted as
    /// dropped and the decoder will be told.
    [[nodiscard]] virtual bool bytes(std::uint64_t connection, std::string_view bytes, Moment received) = 0;
    /// The same of bytes that can be had again (of a file): false: the queue is full, nothing is counted, bring them
    /// later.
    [[nodiscard]] virtual bool tryBytes(std::uint64_t connection, std::string_view own, Moment received)
    {
        return bytes(connection, own, received);
    }
    /// So many bytes of the connection were thrown away by the source itself (while it was paused, or the end of a line
    /// that is lost): they are counted as dropped, and its decoder goes on at the next line.
    virtual void skipped(std::uint64_t connection, std::int64_t bytes)
    {
        static_cast<void>(connection);
        static_cast<void>(bytes);
    }
    /// A connection begins, with what its bytes are.
    virtual void opened(std::uint64_t connection, DecoderPtr decoder) = 0;
    virtual void closed(std::uint64_t connection) = 0;
    /// Something that is decoded whole, on the reader thread. False: the queue is full (of `bytes`), try later.
    [[nodiscard]] virtual bool whole(std::size_t bytes, std::function<Expected<Batch>(Moment received)> decode,
        std::function<void(const Error &)> failed) = 0;
    /// whenever it changed
    virtual void status(const SourceStatus &status) = 0;
};

class Source {
public:
    /// stops it
    virtual ~Source() = default;
    Source() = default;
    Source(const Source &) = delete;
    Source &operator=(const Source &) = delete;

    virtual void start() = 0;
    /// no call into the sink afterwards
    virtual void stop() = 0;
    virtual void setPaused(bool isPaused) = 0;
    /// does not wait for the end of its back-off
    virtual void retryNow() = 0;
    /// The decoder of a connection ended it (the reader thread's; called on the network thread).
    virtual void refuse(std::uint64_t connection, const Error &why) = 0;
};

/// Seconds before try number `tries` (from 1): 1, 2, 4 … 60, each times 0.5 to 1 by `random` in [0, 1).
[[nodiscard]] double backOffSeconds(int tries, double random);

} // namespace trainyard::live
