#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One source of a session, seen from within: what it puts into the queue, its decoders, and how it is. The source
// itself lives on the network thread, the decoders on the reader thread; what both count stands under a lock.

#include "core/live/queue.h"
#include "core/live/source.h"

#include <array>
#include <atomic>
#include <unordered_map>

namespace trainyard::live {

/// Seconds that a source may be silent before it is stale: three of the longest step told lately, 30 s at least. Of
/// Prometheus any time: that source tells by the age of its samples.
[[nodiscard]] double silenceAllowed(const Address &address, double longestStep);

/// The longest of the latest steps that batches told, seconds.
class StepLengths {
public:
    void take(const Recording &part);
    [[nodiscard]] double longest() const;

private:
    std::array<double, 8> m_latest {};
    std::size_t m_next = 0;
};

class Feed final : public SourceSink {
public:
    struct Surroundings { // of the session; outlive it
        WorkQueue &queue;
        /// any thread
        std::function<void()> changed;
        /// nanoseconds
        std::function<std::int64_t()> steadyNow;
    };
    Feed(std::uint32_t number, Address address, SourceSettings settings, Surroundings around);

    bool bytes(std::uint64_t connection, std::string_view bytes, Moment received) override;
    bool tryBytes(std::uint64_t connection, std::string_view own, Moment received) override;
    void skipped(std::uint64_t connection, std::int64_t bytes) override;
    void opened(std::uint64_t connection, DecoderPtr decoder) override;
    void closed(std::uint64_t connection) override;
    bool whole(std::size_t bytes, std::function<Expected<Batch>(Moment received)> decode,
        std::function<void(const Error &)> failed) override;
    void status(const SourceStatus &status) override;

    /// Decodes what was popped; a batch with this source's number goes out. Reader thread.
    void read(Work &&work, const BatchOut &out);
    /// What is told of it now, silence included. Any thread.
    [[nodiscard]] SourceStatus shown() const;
    /// What of it is in no recording, as a source of one: its drops are empty where nothing was lost.
    [[nodiscard]] RecordedSource lost() const;
    [[nodiscard]] std::uint32_t number() const { return m_number; }
    [[nodiscard]] const Address &address() const { return m_address; }
    [[nodiscard]] const SourceSettings &settings() const { return m_settings; }

    /// of the network thread
    std::unique_ptr<Source> source;
    std::atomic<bool> isRemoved = false;
    /// From the reader thread to the source, by the network thread.
    std::function<void(std::function<void(Source &)>)> toSource;

private:
    struct Connection {
        DecoderPtr decoder;
        bool isRefused = false;
    };

    void heardSome(std::size_t bytes);
    void lose(std::int64_t bytes);
    void give(Batch &&batch, const BatchOut &out);
    void decode(Work &work, const BatchOut &out);

    const std::uint32_t m_number;
    const Address m_address;
    const SourceSettings m_settings;
    const Surroundings m_around;
    /// reader thread
    std::unordered_map<std::uint64_t, Connection> m_connections;

    /// of what follows
    mutable std::mutex m_mutex;
    SourceStatus m_told;
    std::int64_t m_bytes = 0, m_batches = 0, m_dropped = 0;
    Moment m_heard = 0;
    /// or since when it is live
    std::int64_t m_heardSteady = 0;
    StepLengths m_steps;
};

} // namespace trainyard::live
