#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What of a stream of lines passes while its source may be paused: whole lines only, so that a decoder never joins the
// half of one line to the half of another. Holds nothing.

#include <cstddef>
#include <string_view>

namespace trainyard::live {

class LineGate {
public:
    /// The part of `bytes` that passes; the rest is let go. While it is closed, the line that was begun still passes.
    [[nodiscard]] std::string_view passed(std::string_view bytes, bool isClosed)
    {
        const std::size_t end = bytes.find('\n');
        if (isClosed) {
            const std::string_view rest =
                m_isInside ? bytes.substr(0, end == bytes.npos ? bytes.size() : end + 1) : std::string_view();
            if (end != bytes.npos)
                m_isInside = false;
            m_isTorn = !m_isInside && !bytes.ends_with('\n');
            return rest;
        }
        if (m_isTorn) { // opened in the middle of a line
            if (end == bytes.npos)
                return {};
            bytes.remove_prefix(end + 1);
            m_isTorn = false;
        }
        if (!bytes.empty())
            m_isInside = !bytes.ends_with('\n');
        return bytes;
    }

private:
    /// of a line that passes
    bool m_isInside = false;
    /// the beginning of the line now was let go
    bool m_isTorn = false;
};

} // namespace trainyard::live
