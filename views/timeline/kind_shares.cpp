// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/kind_shares.h"

#include "views/timeline/column_walk.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainyard {

void KindShares::begin(TimeInterval range, int columns)
{
    m_range = range;
    m_slots.clear();
    m_indexOf.fill(-1);
    m_front.assign(std::size_t(columns), Column {});
    m_layer.clear();
    m_isFirst = true;
}

std::size_t KindShares::slotOf(WorkKind kind, bool isFaded)
{
    std::int8_t &index = m_indexOf[std::size_t(kind) + (isFaded ? kWorkKindCount : 0)];
    if (index < 0) {
        index = std::int8_t(std::min(m_slots.size(), kMostSlots - 1));
        if (m_slots.size() < kMostSlots)
            m_slots.push_back({ kind, isFaded, std::size_t(index) });
        std::ranges::sort(
            m_slots, {}, [](const Slot &slot) { return int(slot.kind) + (slot.isFaded ? kWorkKindCount : 0); });
    }
    return std::size_t(index);
}

void KindShares::add(const Timeline &timeline, std::uint32_t first, std::uint32_t last, const SpanFilter &filter,
    bool isFaded, double weight)
{
    const auto [from, to] = visibleSpans(timeline, first, last, m_range);
    std::vector<Column> &layer = m_isFirst ? m_front : m_layer;
    const auto columns = double(layer.size());
    const double scale = columns / double(std::max<Nanoseconds>(1, m_range.length()));
    const bool asksSpans = filter.needsSpans();
    for (std::uint32_t i = from; i < to; ++i) {
        const WorkKind kind = timeline.kind[i];
        const bool isVivid = !isFaded && filter.hasKind(kind) && (!asksSpans || filter.matchesSpan(timeline, i));
        const std::size_t slot = slotOf(kind, !isVivid);
        const double begin = std::max(0.0, double(timeline.start[i] - m_range.begin) * scale);
        const double end = std::min(columns, double(timeline.end[i] - m_range.begin) * scale);
        auto c = std::size_t(begin);
        if (c < layer.size() && end <= double(c + 1)) { // nearly all where spans are dense
            layer[c][slot] += float(weight * std::max(0.0, end - begin));
            continue;
        }
        for (; c < layer.size() && double(c) < end; ++c)
            layer[c][slot] += float(weight * (std::min(end, double(c + 1)) - std::max(begin, double(c))));
    }
}

void KindShares::nextLayer()
{
    for (std::size_t c = 0; c < m_layer.size(); ++c) {
        const float taken = std::reduce(m_front[c].begin(), m_front[c].end());
        const float wanted = std::reduce(m_layer[c].begin(), m_layer[c].end());
        const float part = wanted > 0 ? std::min(1.0F, std::max(0.0F, 1 - taken) / wanted) : 0;
        for (std::size_t slot = 0; slot < kMostSlots; ++slot)
            m_front[c][slot] += m_layer[c][slot] * part;
    }
    m_isFirst = false;
    m_layer.assign(m_front.size(), Column {});
}

double KindShares::share(int column, WorkKind kind) const
{
    double sum = 0;
    for (const Slot &slot : m_slots)
        sum += slot.kind == kind ? double(m_front[std::size_t(column)][slot.index]) : 0;
    return sum;
}

void KindShares::fill(int column, std::span<QRgb> pixels, const Colors &colors) const
{
    double reached = 0;
    std::size_t next = 0;
    visit(column, colors, [&](double share, QRgb color) {
        reached += share;
        const auto until = std::min(pixels.size(), std::size_t(std::lround(reached * double(pixels.size()))));
        for (; next < until; ++next)
            pixels[next] = color;
    });
}

} // namespace trainyard
