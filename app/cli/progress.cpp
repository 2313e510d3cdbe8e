// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/progress.h"

#include <cstdio>
#include <unistd.h>

namespace trainyard::cli {

bool Progress::isDue() const
{
    static const bool isTerminal = ::isatty(STDERR_FILENO) == 1;
    return isTerminal && Clock::now() - m_shown >= std::chrono::milliseconds(100);
}

void Progress::show(std::size_t done, std::size_t all)
{
    if (!isDue())
        return;
    const double seconds = std::chrono::duration<double>(Clock::now() - m_started).count();
    const double rate = seconds > 0 ? double(done) / seconds : 0;
    char line[128];
    std::snprintf(line, sizeof line, "%zu of %zu %s, %.0f/s, %.0f s left", done, all, m_what.c_str(), rate,
        rate > 0 ? double(all - done) / rate : 0.0);
    show(std::string(line));
}

void Progress::show(const std::string &line)
{
    if (!isDue())
        return;
    m_shown = Clock::now();
    const std::size_t padding = line.size() < m_width ? m_width - line.size() : 0;
    std::fprintf(stderr, "\r%s%*s", line.c_str(), int(padding), "");
    std::fflush(stderr);
    m_width = line.size();
}

void Progress::clear()
{
    if (m_width > 0)
        std::fprintf(stderr, "\r%*s\r", int(m_width), "");
    m_width = 0;
}

} // namespace trainyard::cli
