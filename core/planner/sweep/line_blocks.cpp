// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/sweep/line_blocks.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace trainyard {

namespace {

constexpr std::size_t kBlock = std::size_t(1) << 20;

} // namespace

std::optional<std::string_view> LineBlocks::next()
{
    std::size_t searched = m_at;
    while (true) {
        if (const std::size_t end = m_block.find('\n', searched); end != std::string::npos) {
            const std::string_view line = std::string_view(m_block).substr(m_at, end - m_at);
            m_at = end + 1;
            return line;
        }
        if (m_isAtEnd || m_block.size() - m_at > kMostLine)
            return std::nullopt;
        m_block.erase(0, m_at);
        m_at = 0;
        searched = m_block.size();
        m_block.resize(searched + kBlock);
        ssize_t got = 0;
        do {
            got = ::pread(m_descriptor, m_block.data() + searched, kBlock, off_t(m_position));
        } while (got < 0 && errno == EINTR);
        if (got < 0)
            m_failure = std::strerror(errno);
        m_block.resize(searched + std::size_t(got > 0 ? got : 0));
        m_position += std::uint64_t(got > 0 ? got : 0);
        m_isAtEnd = got <= 0;
    }
}

} // namespace trainyard
