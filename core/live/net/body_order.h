#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which of the bodies that wait is unpacked next: the smallest, so that a large one delays few, but none waits for more
// than so many that came after it. A pure function of those that wait; any thread.

#include <algorithm>
#include <cstddef>

namespace trainyard::live::net {

/// later ones that may go first
inline constexpr int kMostPassed = 16;

/// Of a list in the order of arrival, whose members have `size()` in bytes and count in `passed` the later ones that
/// went first. Not empty.
template <class Jobs> [[nodiscard]] std::size_t takeNext(Jobs &waiting)
{
    using Job = Jobs::value_type;
    const auto due = std::ranges::find_if(waiting, [](const Job &job) { return job.passed >= kMostPassed; });
    const auto next =
        due != waiting.end() ? due : std::ranges::min_element(waiting, {}, [](const Job &job) { return job.size(); });
    std::for_each(waiting.begin(), next, [](Job &job) { ++job.passed; });
    return std::size_t(next - waiting.begin());
}

} // namespace trainyard::live::net
