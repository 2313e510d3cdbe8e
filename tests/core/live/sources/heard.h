#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A sink that keeps what a source told, for tests of one source without a session.

#include "core/live/source.h"

#include <condition_variable>
#include <map>
#include <mutex>

namespace trainyard::live::tests {

class Heard final : public SourceSink {
public:
    bool bytes(std::uint64_t connection, std::string_view own, Moment) override
    {
        const std::lock_guard lock(m_mutex);
        if (m_isFull || (m_fullTimes > 0 && m_fullTimes-- > 0))
            return false;
        m_text += own;
        m_textOf[connection] += own;
        ++m_pieces;
        return true;
    }
    void skipped(std::uint64_t, std::int64_t count) override
    {
        const std::lock_guard lock(m_mutex);
        m_skipped += count;
        m_text += "<skip>";
    }
    void opened(std::uint64_t, DecoderPtr) override
    {
        const std::lock_guard lock(m_mutex);
        ++m_opened;
    }
    void closed(std::uint64_t) override
    {
        const std::lock_guard lock(m_mutex);
        ++m_closed;
    }
    bool whole(std::size_t, std::function<Expected<Batch>(Moment)> decode, std::function<void(const Error &)>) override
    {
        const std::lock_guard lock(m_mutex);
        if (m_isFull)
            return false;
        if (auto batch = decode(unixNow()))
            m_batches.push_back(std::move(*batch));
        return true;
    }
    void status(const SourceStatus &status) override
    {
        const std::lock_guard lock(m_mutex);
        m_statuses.push_back(status);
    }

    [[nodiscard]] std::string text() const
    {
        const std::lock_guard lock(m_mutex);
        return m_text;
    }
    [[nodiscard]] SourceStatus last() const
    {
        const std::lock_guard lock(m_mutex);
        return m_statuses.empty() ? SourceStatus {} : m_statuses.back();
    }
    [[nodiscard]] SourceState state() const { return last().state; }
    [[nodiscard]] std::vector<Batch> batches() const
    {
        const std::lock_guard lock(m_mutex);
        return m_batches;
    }
    [[nodiscard]] int count(int Heard::*of) const
    {
        const std::lock_guard lock(m_mutex);
        return this->*of;
    }
    [[nodiscard]] std::int64_t skippedBytes() const
    {
        const std::lock_guard lock(m_mutex);
        return m_skipped;
    }
    void setFull(bool isFull)
    {
        const std::lock_guard lock(m_mutex);
        m_isFull = isFull;
    }

    void setFullTimes(int times)
    {
        const std::lock_guard lock(m_mutex);
        m_fullTimes = times;
    }

    int m_opened = 0, m_closed = 0, m_pieces = 0;

private:
    mutable std::mutex m_mutex;
    std::string m_text;
    std::map<std::uint64_t, std::string> m_textOf;
    std::vector<SourceStatus> m_statuses;
    std::vector<Batch> m_batches;
    std::int64_t m_skipped = 0;
    bool m_isFull = false;
    int m_fullTimes = 0; // that it says so yet
};

} // namespace trainyard::live::tests
