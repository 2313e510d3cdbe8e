// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/column_walk.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {
using PixelLanes = int __attribute__((vector_size(16)));
}

ColorLanes toLanes(const QColor &color)
{
    return ColorLanes { float(color.red()), float(color.green()), float(color.blue()), 1.0F };
}

std::pair<std::uint32_t, std::uint32_t> visibleSpans(
    const Timeline &timeline, std::uint32_t first, std::uint32_t last, TimeInterval range)
{
    const auto ends = timeline.end.begin();
    const auto from = std::uint32_t(std::upper_bound(ends + first, ends + last, range.begin) - ends);
    const auto starts = timeline.start.begin();
    const auto to = std::uint32_t(std::lower_bound(starts + from, starts + last, range.end) - starts);
    return { from, to };
}

void ColumnWalk::begin(TimeInterval range, int columns)
{
    if (range != m_range || m_edges.size() != std::size_t(columns) + 1) {
        m_range = range;
        m_edges.resize(std::size_t(columns) + 1);
        const double step = double(range.length()) / columns;
        for (int c = 0; c <= columns; ++c)
            m_edges[std::size_t(c)] = range.begin + Nanoseconds(std::llround(step * c));
    }
    m_sums.assign(std::size_t(columns), ColorLanes {});
}

template <class ColorOf>
void ColumnWalk::walk(
    const Timeline &timeline, std::uint32_t first, std::uint32_t last, ColorOf colorOf, std::size_t fromColumn)
{
    const TimeInterval range { m_edges.front(), m_edges.back() };
    auto [i, stop] = visibleSpans(timeline, first, last, range);
    const Nanoseconds *start = timeline.start.data(), *end = timeline.end.data(), *edge = m_edges.data();
    ColorLanes *sums = m_sums.data();
    std::size_t c = fromColumn;
    while (i < stop) {
        Nanoseconds from = std::max(start[i], edge[c]);
        const Nanoseconds to = std::min(end[i], range.end);
        if (to <= from) {
            ++i;
            continue;
        }
        while (from >= edge[c + 1])
            ++c;
        const ColorLanes color = colorOf(i);
        // A span over several columns: all but its last column are finished here.
        while (to > edge[c + 1]) {
            sums[c] += color * float(edge[c + 1] - from);
            from = edge[++c];
        }
        ColorLanes sum = sums[c] + color * float(to - from);
        // The hot loop: spans that begin and end inside this column. Ends ascend, so the fourth one vouches for four;
        // two sums halve the chain of additions.
        const Nanoseconds columnEnd = edge[c + 1];
        const auto part = [&](std::uint32_t k) { return colorOf(k) * float(end[k] - start[k]); };
        ColorLanes other {};
        for (++i; i + 4 <= stop && end[i + 3] <= columnEnd; i += 4) {
            sum += part(i) + part(i + 1);
            other += part(i + 2) + part(i + 3);
        }
        for (; i < stop && end[i] <= columnEnd; ++i)
            sum += part(i);
        sums[c] = sum + other;
    }
}

void ColumnWalk::add(const Timeline &timeline, std::uint32_t first, std::uint32_t last, const WorkPalette &palette)
{
    const WorkKind *kinds = timeline.kind.data();
    walk(timeline, first, last, [&palette, kinds](std::uint32_t i) { return palette[std::size_t(kinds[i])]; });
}

void ColumnWalk::add(const Timeline &timeline, std::uint32_t first, std::uint32_t last, const WorkPalette &palette,
    const BlockSums &sums)
{
    constexpr std::uint32_t size = BlockSums::kSpans;
    const TimeInterval range { m_edges.front(), m_edges.back() };
    const auto [from, to] = visibleSpans(timeline, first, last, range);
    std::uint32_t block = (from + size - 1) / size, end = to / size;
    if (block < end && sums.blocks[block].begin < range.begin)
        ++block;
    if (block < end && sums.blocks[end - 1].end > range.end)
        --end;
    if (block >= end || to - from < BlockSums::kLeastPerColumn * m_sums.size())
        return add(timeline, from, to, palette);
    add(timeline, from, block * size, palette);
    add(timeline, end * size, to, palette);
    const WorkKind *kinds = timeline.kind.data();
    const auto colorOf = [&palette, kinds](std::uint32_t i) { return palette[std::size_t(kinds[i])]; };
    for (std::size_t c = 0; block < end; ++block) {
        const BlockSums::Block &of = sums.blocks[block];
        while (of.begin >= m_edges[c + 1])
            ++c;
        if (of.end <= m_edges[c + 1]) {
            m_sums[c] += of.sum;
        } else if (c + 2 < m_edges.size() && of.end <= m_edges[c + 2]) {
            const float share = float(double(m_edges[c + 1] - of.begin) / double(of.end - of.begin));
            m_sums[c] += of.sum * share;
            m_sums[c + 1] += of.sum * (1 - share);
        } else { // with a wait in it, which stays one
            walk(timeline, block * size, (block + 1) * size, colorOf, c);
        }
    }
}

void ColumnWalk::add(const Timeline &timeline, std::uint32_t first, std::uint32_t last, const WorkPalette &palette,
    const WorkPalette &faded, const SpanFilter &filter)
{
    if (!filter.needsSpans()) {
        add(timeline, first, last, palette);
        return;
    }
    walk(timeline, first, last, [&](std::uint32_t i) {
        return (filter.matchesSpan(timeline, i) ? palette : faded)[std::size_t(timeline.kind[i])];
    });
}

void ColumnWalk::addByClass(const Timeline &timeline, std::uint32_t first, std::uint32_t last,
    std::span<const ColorLanes> byClass, std::span<const ColorLanes> faded, const SpanFilter &filter)
{
    const std::uint32_t *classes = timeline.taskClass.data();
    const ColorLanes *vivid = byClass.data();
    const auto none = std::uint32_t(byClass.size() - 1);
    if (!filter.needsSpans()) {
        walk(timeline, first, last,
            [vivid, classes, none](std::uint32_t i) { return vivid[std::min(classes[i], none)]; });
        return;
    }
    walk(timeline, first, last, [&](std::uint32_t i) {
        return (filter.matchesSpan(timeline, i) ? byClass : faded)[std::min(classes[i], none)];
    });
}

void ColumnWalk::add(const Timeline &timeline, std::uint32_t first, std::uint32_t last,
    const std::function<ColorLanes(std::uint32_t)> &colorOf)
{
    walk(timeline, first, last, colorOf);
}

void ColumnWalk::resolve(std::span<QRgb> row, int layers, float least) const
{
    const std::size_t columns = std::min(row.size(), m_sums.size());
    const float room =
        float(double(m_range.length()) / double(std::max<std::size_t>(1, m_sums.size()))) * float(layers);
    const float perRoom = room > 0 ? 1 / room : 0;
    for (std::size_t c = 0; c < columns; ++c) {
        const float busy = m_sums[c][3];
        if (busy <= 0)
            continue;
        const ColorLanes background { float(qRed(row[c])), float(qGreen(row[c])), float(qBlue(row[c])), 0 };
        const float share = busy * perRoom;
        const float coverage = std::min(1.0F, layers > 1 ? share : std::max(share, least));
        const ColorLanes mix = m_sums[c] * (coverage / busy) + background * (1 - coverage) + 0.5F;
        const auto pixel = __builtin_convertvector(mix, PixelLanes);
        row[c] = 0xff000000u | QRgb(pixel[0] << 16) | QRgb(pixel[1] << 8) | QRgb(pixel[2]);
    }
}

} // namespace trainyard
