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
    /// The same of a line of its own: "2 sources, 1,240 steps". `what` is of no use then.
    void show(const std::string &line);
    /// Whether show() would draw now: who has to work for a line asks first.
    [[nodiscard]] bool isDue() const;
    void clear();

private:
    using Clock = std::chrono::steady_clock;
    std::string m_what;
    Clock::time_point m_started = Clock::now(), m_shown {};
    std::size_t m_width = 0;
};

} // namespace trainyard::cli
