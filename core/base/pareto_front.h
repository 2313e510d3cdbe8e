#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Of things with two costs those that no other one outdoes. Pure functions.

#include <algorithm>
#include <utility>
#include <vector>

namespace trainyard {

/// Those for which nothing else costs less by one and no more by the other, by rising `first`; of equals the first of
/// `all`. `first` and `second` give the costs of one, neither NaN; less is better.
template <class T, class First, class Second>
[[nodiscard]] std::vector<T> paretoFront(std::vector<T> all, First first, Second second)
{
    std::ranges::stable_sort(all, {}, [&](const T &one) { return std::pair(first(one), second(one)); });
    std::vector<T> front;
    for (const T &one : all)
        if (front.empty() || second(one) < second(front.back()))
            front.push_back(one);
    return front;
}

} // namespace trainyard
