#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// For commands that take a while: a line of progress on a terminal, none where standard error is piped. Not
// thread-safe.

#include <chrono>
#include <string>

namespace trainyard::cli {

class Progress {
public:
    explicit Progress(std::string what)
        : m_what(std::move(what))
    {
    }
    /// Redraws the line, at most ten times a second: "512 of 1800 rows, 340/s, 4 s left".
    void show(std::size_t done, std::size_t all);
    void clear();

private:
    using Clock = std::chrono::steady_clock;
    std::string m_what;
    Clock::time_point m_started = Clock::now(), m_shown {};
    std::size_t m_width = 0;
};

} // namespace trainyard::cli
