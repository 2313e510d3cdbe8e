#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Tasks or resources to come, the earliest first. At one instant a tie decides that the builder's numbers have no part
// in.

#include "core/base/units.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace trainyard {

class Instants {
public:
    static constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

    void clear() { m_heap.clear(); }
    void push(Nanoseconds time, std::uint64_t tie, std::uint32_t index)
    {
        m_heap.push_back({ time, tie, index });
        std::push_heap(m_heap.begin(), m_heap.end(), std::greater<At> {});
    }
    [[nodiscard]] Nanoseconds next() const { return m_heap.empty() ? kNever : m_heap.front().time; }
    std::uint32_t pop()
    {
        const std::uint32_t index = m_heap.front().index;
        std::pop_heap(m_heap.begin(), m_heap.end(), std::greater<At> {});
        m_heap.pop_back();
        return index;
    }

private:
    struct At {
        Nanoseconds time;
        std::uint64_t tie;
        /// of equal ties: on one resource numbers are its order
        std::uint32_t index;
        bool operator>(const At &o) const
        {
            return time != o.time ? time > o.time : tie != o.tie ? tie > o.tie : index > o.index;
        }
    };
    std::vector<At> m_heap;
};

} // namespace trainyard
