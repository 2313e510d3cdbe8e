#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What stands between the network thread and the reader thread: pieces of work in their order, bounded by bytes. Who
// brings something never waits: what does not fit is refused there, counted, and told to the decoder with the next
// bytes of its connection. Many sources share the room: a source may hold at most four times what is still free
// (dynamic thresholds of Choudhury and Hahne, 1998), so that one that floods leaves room for the others.

#include "core/live/decoder.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace trainyard::live {

struct Work {
    enum class Kind : std::uint8_t { Opened, Bytes, Closed, Whole, AllClosed };
    Kind kind = Kind::Bytes;
    std::uint32_t source = 0;
    std::uint64_t connection = 0;
    std::string bytes;
    /// in the queue; of Whole as told
    std::size_t size = 0;
    /// bytes of the connection that were lost before; 0 of half a line
    std::optional<std::int64_t> skipped;
    Moment received = 0;
    DecoderPtr decoder;
    std::function<Expected<Batch>(Moment received)> decode;
    std::function<void(const Error &why)> failed;
};

class WorkQueue {
public:
    explicit WorkQueue(std::size_t bytes)
        : m_most(bytes)
    {
    }
    /// Bytes of a connection; false: there is no room.
    [[nodiscard]] bool pushBytes(
        std::uint32_t source, std::uint64_t connection, std::string_view bytes, Moment received);
    /// Bytes that will not come: its decoder is told before the next ones.
    void skip(std::uint32_t source, std::uint64_t connection, std::int64_t bytes);
    /// False: there is no room.
    [[nodiscard]] bool pushWhole(Work &&work);
    /// Opened, Closed, AllClosed: always taken.
    void pushMark(Work &&work);

    /// Waits for work; nothing after stop().
    [[nodiscard]] std::optional<Work> pop();
    /// The reader is through with what it popped last.
    void done(std::uint32_t source, std::size_t size);
    /// Until everything that was pushed before is done, or stop().
    void drain();
    void stop();
    [[nodiscard]] std::size_t bytes() const;

private:
    [[nodiscard]] bool hasRoom(std::uint32_t source, std::size_t size) const;
    void push(Work &&work);

    const std::size_t m_most;
    mutable std::mutex m_mutex;
    std::condition_variable m_some, m_drained;
    std::deque<Work> m_work;
    /// of sources
    std::map<std::uint32_t, std::size_t> m_sizes;
    /// of connections
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t> m_skipped;
    std::size_t m_size = 0;
    std::uint64_t m_pushed = 0, m_done = 0;
    bool m_isStopped = false;
};

} // namespace trainyard::live
