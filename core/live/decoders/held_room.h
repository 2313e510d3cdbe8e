#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the decoders of all connections hold of what their peers named (names, ranks, groups, series): bounded together,
// so that a thousand strangers are no more than a few. A connection holds at most half as much as is free and held by
// it, so that one that floods leaves room for the others, and a little always (as queue.h). One thread for each.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace trainyard::live {

class HeldRoom {
public:
    /// bytes of all rooms beyond what each may always hold
    static constexpr std::int64_t kMostOfAll = std::int64_t(256) << 20, kAlways = std::int64_t(64) << 10;

    HeldRoom() = default;
    ~HeldRoom() { giveBack(static_cast<std::size_t>(m_held)); }
    HeldRoom(const HeldRoom &) = delete;
    HeldRoom &operator=(const HeldRoom &) = delete;

    /// False: there is no room for so many bytes more, and none are counted.
    [[nodiscard]] bool take(std::size_t bytes)
    {
        const std::int64_t held = m_held + static_cast<std::int64_t>(bytes);
        const std::int64_t more = beyond(held) - beyond(m_held);
        if (more > 0 && beyond(held) > kMostOfAll - s_all.load() - more)
            return false;
        s_all += more;
        m_held = held;
        return true;
    }
    void giveBack(std::size_t bytes)
    {
        const std::int64_t held = m_held - static_cast<std::int64_t>(bytes);
        s_all += beyond(held) - beyond(m_held);
        m_held = held;
    }
    [[nodiscard]] std::int64_t held() const { return m_held; }
    [[nodiscard]] static std::int64_t ofAll() { return s_all.load(); }

private:
    static std::int64_t beyond(std::int64_t held) { return held > kAlways ? held - kAlways : 0; }

    std::int64_t m_held = 0;
    static inline std::atomic<std::int64_t> s_all = 0;
};

} // namespace trainyard::live
