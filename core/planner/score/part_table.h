#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What many candidates of a space have in common, worked out once: a part depends on some axes only, and is kept by
// their values, as one number of mixed radix. Who makes a part says which keys of a plan it does not look at; an axis
// that sets nothing else is left out of the number, and every other axis, known or not, is in it.
//
//   const PartAxes axes(space, { "parallelism.zero_stage" });
//   PartTable<Layout> layouts;
//   const std::uint64_t number = axes.numberOf(candidate);
//   const Layout *layout = layouts.find(number);
//   if (!layout)
//       layout = &layouts.add(number, place(…));
//
// Values of other axes must not depend on what an axis that is left out has set.

#include "core/planner/space/space.h"

#include <algorithm>
#include <deque>
#include <span>
#include <string_view>

namespace trainyard {

class PartAxes {
public:
    PartAxes(const SearchSpace &space, std::span<const std::string_view> ignoredKeys)
    {
        const auto isIgnored = [&](const std::string &key) {
            return std::ranges::find(ignoredKeys, key) != ignoredKeys.end();
        };
        for (std::size_t a = 0; a < space.axes().size(); ++a) {
            const Axis &axis = space.axes()[a];
            if (axis.keys.empty() || !std::ranges::all_of(axis.keys, isIgnored))
                m_axes.push_back({ a, axis.values.size() });
        }
    }

    /// Different for candidates that differ in an axis of the part. Where all combinations are more than a 64-bit
    /// number holds, isWhole() is false and nothing may be shared.
    [[nodiscard]] std::uint64_t numberOf(const Candidate &candidate) const
    {
        std::uint64_t number = 0;
        for (const auto &[axis, values] : m_axes)
            number = number * values + candidate[axis];
        return number;
    }
    [[nodiscard]] bool isWhole() const
    {
        double combinations = 1;
        for (const auto &[axis, values] : m_axes)
            combinations *= double(values);
        return combinations < 0x1p61; // two bits are left for whoever numbers more than axes
    }

private:
    struct Radix {
        std::size_t axis;
        std::uint64_t values;
    };
    std::vector<Radix> m_axes;
};

/// Parts by 64-bit numbers. What it hands out stays where it is until clear().
template <class Part> class PartTable {
public:
    [[nodiscard]] Part *find(std::uint64_t number)
    {
        if (m_slots.empty())
            return nullptr;
        for (std::size_t at = slotOf(number);; at = at + 1 == m_slots.size() ? 0 : at + 1) {
            const std::uint32_t index = m_slots[at];
            if (index == kNone)
                return nullptr;
            if (m_parts[index].first == number)
                return &m_parts[index].second;
        }
    }
    /// Of a number that is not there.
    Part &add(std::uint64_t number, Part part)
    {
        if (2 * (m_parts.size() + 1) > m_slots.size())
            grow();
        m_parts.emplace_back(number, std::move(part));
        put(static_cast<std::uint32_t>(m_parts.size()) - 1);
        return m_parts.back().second;
    }
    [[nodiscard]] std::size_t size() const { return m_parts.size(); }
    void clear()
    {
        m_parts.clear();
        m_slots.clear();
    }

private:
    static constexpr std::uint32_t kNone = 0xffffffffu;

    [[nodiscard]] std::size_t slotOf(std::uint64_t number) const
    {
        number = (number ^ (number >> 32)) * 0x9e3779b97f4a7c15u;
        return static_cast<std::size_t>((number ^ (number >> 29)) & (m_slots.size() - 1));
    }
    void put(std::uint32_t index)
    {
        std::size_t at = slotOf(m_parts[index].first);
        while (m_slots[at] != kNone)
            at = at + 1 == m_slots.size() ? 0 : at + 1;
        m_slots[at] = index;
    }
    void grow()
    {
        m_slots.assign(std::max<std::size_t>(64, 2 * m_slots.size()), kNone);
        for (std::uint32_t i = 0; i < m_parts.size(); ++i)
            put(i);
    }

    std::deque<std::pair<std::uint64_t, Part>> m_parts;
    std::vector<std::uint32_t> m_slots; // a power of two of them
};

} // namespace trainyard
