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

#include "core/planner/score/key_index.h"
#include "core/planner/space/space.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace trainyard {

class PartAxes {
public:
    PartAxes(const SearchSpace &space, const std::vector<std::string> &ignoredKeys)
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
        const std::uint32_t at = m_index.find(number);
        return at == kNoKey ? nullptr : &m_parts[at];
    }
    /// Of a number that is not there.
    Part &add(std::uint64_t number, Part part)
    {
        m_index.add(number);
        return m_parts.emplace_back(std::move(part));
    }
    [[nodiscard]] std::size_t size() const { return m_parts.size(); }
    void clear() { *this = {}; }

private:
    KeyIndex<std::uint64_t> m_index;
    std::deque<Part> m_parts;
};

} // namespace trainyard
