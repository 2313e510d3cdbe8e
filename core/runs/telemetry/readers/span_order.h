#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Spans of a stream in the order in which recordings hold them: by start, of equal starts the longer first.

#include "core/runs/telemetry/recording.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace trainyard::readers {

/// Which span comes first, second, …; equal ones stay as they came.
[[nodiscard]] inline std::vector<std::uint32_t> orderByStart(const RecordedSpans &spans)
{
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        return spans.start[a] != spans.start[b] ? spans.start[a] < spans.start[b]
                                                : spans.duration[a] > spans.duration[b];
    };
    std::vector<std::uint32_t> order(spans.size());
    std::iota(order.begin(), order.end(), 0u);
    if (!std::ranges::is_sorted(order, before))
        std::ranges::stable_sort(order, before);
    return order;
}

/// The values of spans in that order; empty ones stay empty.
template <class T> void arrange(std::vector<T> &values, const std::vector<std::uint32_t> &order)
{
    if (values.empty())
        return;
    std::vector<T> arranged;
    arranged.reserve(order.size());
    for (const std::uint32_t i : order)
        arranged.push_back(values[i]);
    values = std::move(arranged);
}

} // namespace trainyard::readers
