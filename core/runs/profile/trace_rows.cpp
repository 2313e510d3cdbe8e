// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/profile/trace_rows.h"

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

constexpr std::size_t kBlock = 64; // spans

/// Without a product of length and number, which a long recording would not hold.
Moment border(Moment from, Moment to, int part, int parts)
{
    const std::int64_t length = to - from;
    return from + length / parts * part + length % parts * part / parts;
}

} // namespace

TraceRows::TraceRows(std::shared_ptr<const Recording> recording, std::vector<Moment> shift)
    : m_recording(std::move(recording))
    , m_shift(std::move(shift))
{
    for (std::uint32_t r = 0; r < m_recording->ranks.size(); ++r)
        for (std::uint32_t s = 0; s < m_recording->ranks[r].streams.size(); ++s)
            addStream(r, s);
}

/// Each span goes to the first row that is free when it starts.
void TraceRows::addStream(std::uint32_t rank, std::uint32_t stream)
{
    const RecordedSpans &spans = m_recording->ranks[rank].streams[stream].spans;
    if (spans.size() == 0)
        return;
    std::vector<Moment> free; // of each level
    std::vector<std::uint8_t> levelOf(spans.size(), 0);
    for (std::size_t i = 0; i < spans.size(); ++i) {
        const auto level = std::ranges::find_if(free, [&](Moment until) { return until <= spans.start[i]; });
        levelOf[i] = static_cast<std::uint8_t>(level - free.begin());
        const Moment end = spans.start[i] + spans.duration[i];
        if (level != free.end())
            *level = end;
        else if (free.size() < kMostLevels)
            free.push_back(end);
        else
            ++m_leftOut;
        const Moment shift = shiftOf(rank);
        m_begin = m_rows.empty() && i == 0 ? spans.start[i] + shift : std::min(m_begin, spans.start[i] + shift);
        m_end = m_rows.empty() && i == 0 ? end + shift : std::max(m_end, end + shift);
    }
    const std::size_t first = m_rows.size();
    for (std::size_t level = 0; level < free.size(); ++level)
        m_rows.push_back({ .rank = rank, .stream = stream, .level = static_cast<int>(level) });
    if (free.size() > 1)
        for (std::size_t i = 0; i < spans.size(); ++i)
            if (levelOf[i] < free.size())
                m_rows[first + levelOf[i]].spans.push_back(static_cast<std::uint32_t>(i));
    for (std::size_t row = first; row < m_rows.size(); ++row)
        addSums(m_rows[row]);
}

void TraceRows::addSums(TraceRow &row) const
{
    const RecordedSpans &spans = spansOf(row);
    const std::size_t size = row.spans.empty() ? spans.size() : row.spans.size();
    WorkTimes sum {};
    row.spans.shrink_to_fit();
    row.sums.reserve(size / kBlock + 1);
    for (std::size_t i = 0; i < size; ++i) {
        if (i % kBlock == 0)
            row.sums.push_back(sum);
        const std::size_t span = row.spans.empty() ? i : row.spans[i];
        sum[static_cast<std::size_t>(spans.work[span])] += spans.duration[span];
    }
}

std::size_t TraceRows::sizeOf(std::size_t row) const
{
    return m_rows[row].spans.empty() ? spansOf(m_rows[row]).size() : m_rows[row].spans.size();
}

std::uint32_t TraceRows::spanOf(std::size_t row, std::size_t i) const
{
    return m_rows[row].spans.empty() ? static_cast<std::uint32_t>(i) : m_rows[row].spans[i];
}

Moment TraceRows::startOf(std::size_t row, std::size_t i) const
{
    return spansOf(m_rows[row]).start[spanOf(row, i)] + shiftOf(m_rows[row].rank);
}

Moment TraceRows::endOf(std::size_t row, std::size_t i) const
{
    return startOf(row, i) + spansOf(m_rows[row]).duration[spanOf(row, i)];
}

RecordedWork TraceRows::workOf(std::size_t row, std::size_t i) const
{
    return spansOf(m_rows[row]).work[spanOf(row, i)];
}

std::pair<std::size_t, std::size_t> TraceRows::within(std::size_t row, Moment from, Moment to) const
{
    // Starts are in order, and without overlaps so are ends
    const auto firstFrom = [&](auto isBehind) {
        std::size_t low = 0, high = sizeOf(row);
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            if (isBehind(middle))
                high = middle;
            else
                low = middle + 1;
        }
        return low;
    };
    const std::size_t first = firstFrom([&](std::size_t i) { return endOf(row, i) > from; });
    const std::size_t last = firstFrom([&](std::size_t i) { return startOf(row, i) >= to; });
    return { first, std::max(first, last) };
}

std::optional<std::size_t> TraceRows::at(std::size_t row, Moment moment) const
{
    const auto [first, last] = within(row, moment, moment + 1);
    return first < last ? std::optional(first) : std::nullopt;
}

WorkTimes TraceRows::before(std::size_t row, Moment moment) const
{
    const std::size_t count = within(row, moment, moment).second;
    // within() gives those that started before, also one that ended; all before `first` have ended
    const TraceRow &own = m_rows[row];
    if (own.sums.empty() || count == 0)
        return {};
    const std::size_t block = (count - 1) / kBlock; // the last may still run: it is never within a sum
    WorkTimes times = own.sums[block];
    for (std::size_t i = block * kBlock; i < count; ++i)
        times[static_cast<std::size_t>(workOf(row, i))] += std::min(endOf(row, i), moment) - startOf(row, i);
    return times;
}

std::vector<WorkTimes> TraceRows::timesOf(std::size_t row, Moment from, Moment to, int parts) const
{
    std::vector<WorkTimes> made(static_cast<std::size_t>(std::max(parts, 1)));
    WorkTimes reached = before(row, from);
    for (std::size_t i = 0; i < made.size(); ++i) {
        const WorkTimes next = before(row, border(from, to, static_cast<int>(i) + 1, static_cast<int>(made.size())));
        for (std::size_t kind = 0; kind < kWorkKinds; ++kind)
            made[i][kind] = next[kind] - reached[kind];
        reached = next;
    }
    return made;
}

} // namespace trainyard
