#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Cuts a stream of bytes into lines, wherever its blocks end: holds the beginning of one line at most, and drops lines
// that are longer than they may be up to their end. What all of them hold together is bounded too, so that many
// strangers with a long line each are no more than a few. One thread for each.

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace trainyard::live {

class LineSplitter {
public:
    /// bytes behind a line that may be read
    static constexpr std::size_t kPadding = 64;

    /// Of unfinished lines longer than kFree, all splitters together; beyond it lines are dropped as too long.
    static constexpr std::int64_t kMostOfAll = std::int64_t(256) << 20;
    static constexpr std::size_t kFree = std::size_t(64) << 10;

    explicit LineSplitter(std::size_t mostBytes)
        : m_most(mostBytes)
    {
    }
    ~LineSplitter() { count(0); }
    LineSplitter(const LineSplitter &) = delete;
    LineSplitter &operator=(const LineSplitter &) = delete;

    /// Calls take(char *line, size) for each whole line, without its line feed; it may change the bytes, and answers
    /// false to stop, after which nothing is held.
    template <class Take> void take(std::string_view bytes, const Take &take)
    {
        if (m_isSkipping && !skipLine(bytes))
            return;
        while (!bytes.empty()) {
            const std::size_t end = bytes.find('\n');
            const std::string_view line = bytes.substr(0, end);
            if (m_held.size() + line.size() > m_most
                || (end == std::string_view::npos && !hasRoom(m_held.size() + line.size()))) {
                ++m_longLines;
                forget();
                m_isSkipping = end == std::string_view::npos;
            } else if (end == std::string_view::npos) {
                m_held.append(line);
                count(m_held.size());
            } else if (!give(line, take)) {
                return forget();
            }
            if (end == std::string_view::npos)
                return;
            bytes.remove_prefix(end + 1);
        }
    }
    /// What is held of a last line, as a line.
    template <class Take> void end(const Take &take)
    {
        if (!m_held.empty())
            give({}, take);
        m_isSkipping = false;
    }
    /// Bytes were lost: what is held is forgotten, and what comes up to the next line feed.
    void skip()
    {
        forget();
        m_isSkipping = true;
    }
    [[nodiscard]] std::int64_t takeLongLines() { return std::exchange(m_longLines, 0); }

private:
    bool skipLine(std::string_view &bytes)
    {
        const std::size_t end = bytes.find('\n');
        if (end == std::string_view::npos)
            return false;
        bytes.remove_prefix(end + 1);
        m_isSkipping = false;
        return true;
    }
    template <class Take> bool give(std::string_view rest, const Take &take)
    {
        m_held.append(rest);
        const std::size_t size = m_held.size();
        m_held.append(kPadding, '\0');
        const bool goesOn = take(m_held.data(), size);
        if (m_held.capacity() > kKept)
            forget();
        m_held.clear();
        count(0);
        return goesOn;
    }
    void forget()
    {
        std::string().swap(m_held);
        count(0);
    }
    [[nodiscard]] bool hasRoom(std::size_t bytes) const
    {
        return bytes <= kFree || s_all.load() + std::int64_t(bytes) - m_counted <= kMostOfAll;
    }
    void count(std::size_t held)
    {
        const std::int64_t now = held > kFree ? std::int64_t(held) : 0;
        s_all += now - m_counted;
        m_counted = now;
    }

    /// room that stays for the next line
    static constexpr std::size_t kKept = kFree;
    std::size_t m_most;
    std::string m_held;
    bool m_isSkipping = false;
    std::int64_t m_longLines = 0;
    /// of s_all
    std::int64_t m_counted = 0;
    static inline std::atomic<std::int64_t> s_all = 0;
};

} // namespace trainyard::live
