#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The whole lines of a file that may be longer than memory, block by block from its beginning; what stands behind the
// last end of line is torn. The descriptor stays the caller's, and its position where it is. One thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

class LineBlocks {
public:
    explicit LineBlocks(int descriptor)
        : m_descriptor(descriptor)
    {
    }
    /// Without its end; valid until the next call. Nothing: no whole line is left, or one is longer than kMostLine.
    [[nodiscard]] std::optional<std::string_view> next();
    /// a head holds a plan
    static constexpr std::size_t kMostLine = std::size_t(64) << 20;
    /// Behind the last whole line, when next() gives nothing.
    [[nodiscard]] std::string_view torn() const { return std::string_view(m_block).substr(m_at); }
    /// The system's reason where it could not be read to its end.
    [[nodiscard]] const std::string &failure() const { return m_failure; }

private:
    int m_descriptor;
    /// read and not yet given away from m_at on
    std::string m_block;
    std::size_t m_at = 0;
    /// in the file, behind the block
    std::uint64_t m_position = 0;
    bool m_isAtEnd = false;
    std::string m_failure;
};

} // namespace trainyard
