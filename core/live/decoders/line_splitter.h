#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Cuts a stream of bytes into lines, wherever its blocks end: holds the beginning of one line at most, and drops lines
// that are longer than they may be up to their end. Not thread-safe.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace trainyard::live {

class LineSplitter {
public:
    static constexpr std::size_t kPadding = 64; // bytes behind a line that may be read

    explicit LineSplitter(std::size_t mostBytes)
        : m_most(mostBytes)
    {
    }

    /// Calls take(char *line, size) for each whole line, without its line feed; it may change the bytes, and answers
    /// false to stop, after which nothing is held.
    template <class Take> void take(std::string_view bytes, const Take &take)
    {
        if (m_isSkipping && !skipLine(bytes))
            return;
        while (!bytes.empty()) {
            const std::size_t end = bytes.find('\n');
            const std::string_view line = bytes.substr(0, end);
            if (m_held.size() + line.size() > m_most) {
                ++m_longLines;
                forget();
                m_isSkipping = end == std::string_view::npos;
            } else if (end == std::string_view::npos) {
                m_held.append(line);
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
        return goesOn;
    }
    void forget() { std::string().swap(m_held); }

    static constexpr std::size_t kKept = std::size_t(256) << 10; // room that stays for the next line
    std::size_t m_most;
    std::string m_held;
    bool m_isSkipping = false;
    std::int64_t m_longLines = 0;
};

} // namespace trainyard::live
