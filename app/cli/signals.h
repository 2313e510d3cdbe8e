#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Signals that end the program: what is half written is removed first, and the program then ends as it would have. A
// command that can print what it has so far takes the first Ctrl-C, SIGTERM (of Slurm, systemd, kill) or SIGHUP (of a
// terminal that was closed) as a stop token instead; the second ends it.

#include <stop_token>
#include <thread>

namespace trainyard::cli {

/// Once, at the program's start. Signals that were ignored (nohup) stay ignored.
void cleanUpOnSignals();

/// Catches one Ctrl-C, SIGTERM or SIGHUP while it lives: the token is stopped at once, from a thread of its own. One at
/// a time.
class Interruption {
public:
    Interruption();
    ~Interruption();
    Interruption(const Interruption &) = delete;
    Interruption &operator=(const Interruption &) = delete;
    [[nodiscard]] std::stop_token token() const { return m_stop.get_token(); }

private:
    /// the handler writes, the thread reads
    int m_wake[2] = { -1, -1 };
    std::stop_source m_stop;
    std::thread m_listener;
};

} // namespace trainyard::cli
