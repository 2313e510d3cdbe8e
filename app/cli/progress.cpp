// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/progress.h"

#include <cstdio>
#include <unistd.h>

namespace trainyard::cli {

void Progress::show(std::size_t done, std::size_t all)
{
    static const bool isTerminal = ::isatty(STDERR_FILENO) == 1;
    const auto now = Clock::now();
    if (!isTerminal || now - m_shown < std::chrono::milliseconds(100))
        return;
    m_shown = now;
    const double seconds = std::chrono::duration<double>(now - m_started).count();
    const double rate = seconds > 0 ? double(done) / seconds : 0;
    char line[128];
    const int width = std::snprintf(line, sizeof line, "%zu of %zu %s, %.0f/s, %.0f s left", done, all, m_what.c_str(),
        rate, rate > 0 ? double(all - done) / rate : 0.0);
    const int padding = width < int(m_width) ? int(m_width) - width : 0;
    std::fprintf(stderr, "\r%s%*s", line, padding, "");
    std::fflush(stderr);
    m_width = std::size_t(width);
}

void Progress::clear()
{
    if (m_width > 0)
        std::fprintf(stderr, "\r%*s\r", int(m_width), "");
    m_width = 0;
}

} // namespace trainyard::cli
