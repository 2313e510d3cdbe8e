#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// For commands that take a while: a line of progress on a terminal, none where standard error is piped, and Ctrl-C as a
// stop token, so that what is done can still be printed. A second Ctrl-C ends the program at once. Not thread-safe.

#include <chrono>
#include <stop_token>
#include <string>

namespace trainyard::cli {

class Progress {
public:
    explicit Progress(std::string what) : m_what(std::move(what)) {}
    /// Redraws the line, at most ten times a second: "512 of 1800 rows, 340/s, 4 s left".
    void show(std::size_t done, std::size_t all);
    void clear();

private:
    using Clock = std::chrono::steady_clock;
    std::string m_what;
    Clock::time_point m_started = Clock::now(), m_shown{};
    std::size_t m_width = 0;
};

/// Catches Ctrl-C while it lives; one at a time.
class Interruption {
public:
    Interruption();
    ~Interruption();
    Interruption(const Interruption &) = delete;
    Interruption &operator=(const Interruption &) = delete;
    /// Call it now and then: passes a Ctrl-C on to the token.
    void poll();
    [[nodiscard]] std::stop_token token() const { return m_stop.get_token(); }

private:
    std::stop_source m_stop;
};

} // namespace trainyard::cli
