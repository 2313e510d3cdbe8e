#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How much a reader may hold of what it makes of one source. A text that a file tells once (the name of a host, an
// attribute of a resource) may stand in every series of it: a few kilobytes would become gigabytes. So the bound is on
// what is held, not on what arrives, and no text that is held is long. One thread.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "core/base/printable.h"

namespace trainyard::readers {

/// bytes of a name, a unit or a place
inline constexpr std::size_t kLongestHeldText = 1'000;

/// The text, or of a longer one beginning and end with a number of the whole (FNV-1a, 64 bits), so that two long texts
/// stay two. At most kLongestHeldText bytes.
[[nodiscard]] inline std::string heldText(std::string_view text)
{
    if (text.size() <= kLongestHeldText)
        return std::string(text);
    std::uint64_t number = 0xcbf29ce484222325;
    for (const char byte : text)
        number = (number ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    char tail[24];
    std::snprintf(tail, sizeof tail, " #%016llx", static_cast<unsigned long long>(number));
    return shortened(text, kLongestHeldText - sizeof tail - 3) + tail; // 3: of the ellipsis
}

/// Counts what is held against kAlways and, of larger sources, kTimes their bytes. Typical series of exporters take
/// four times the text that tells them.
class HeldBytes {
public:
    static constexpr std::size_t kAlways = std::size_t(32) << 20, kTimes = 8;

    explicit HeldBytes(std::size_t sourceBytes)
        : m_free(kAlways + kTimes * sourceBytes)
    {
    }
    /// False: there is no room for so many bytes, and none are counted.
    [[nodiscard]] bool take(std::size_t bytes)
    {
        if (bytes > m_free)
            return false;
        m_free -= bytes;
        return true;
    }
    void giveBack(std::size_t bytes) { m_free += bytes; }

private:
    std::size_t m_free;
};

} // namespace trainyard::readers
