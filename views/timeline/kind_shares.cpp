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
    m_front.assign(std::size_t(columns), Column{});
    m_layer.assign(std::size_t(columns), Column{});
}

void KindShares::add(const Timeline &timeline, std::uint32_t first, std::uint32_t last, const SpanFilter &filter, bool isFaded, double weight)
{
    const auto [from, to] = visibleSpans(timeline, first, last, m_range);
    const auto columns = double(m_layer.size());
    const double scale = columns / double(std::max<Nanoseconds>(1, m_range.length()));
    const bool asksSpans = filter.needsSpans();
    for (std::uint32_t i = from; i < to; ++i) {
        const WorkKind kind = timeline.kind[i];
        const bool isVivid = !isFaded && filter.hasKind(kind) && (!asksSpans || filter.matchesSpan(timeline, i));
        const std::size_t slot = std::size_t(kind) + (isVivid ? 0 : kWorkKindCount);
        const double begin = std::max(0.0, double(timeline.start[i] - m_range.begin) * scale);
        const double end = std::min(columns, double(timeline.end[i] - m_range.begin) * scale);
        auto c = std::size_t(begin);
        if (c < m_layer.size() && end <= double(c + 1)) {   // nearly all where spans are dense
            m_layer[c][slot] += float(weight * std::max(0.0, end - begin));
            continue;
        }
        for (; c < m_layer.size() && double(c) < end; ++c)
            m_layer[c][slot] += float(weight * (std::min(end, double(c + 1)) - std::max(begin, double(c))));
    }
}

void KindShares::nextLayer()
{
    for (std::size_t c = 0; c < m_layer.size(); ++c) {
        const float taken = std::reduce(m_front[c].begin(), m_front[c].end());
        const float wanted = std::reduce(m_layer[c].begin(), m_layer[c].end());
        if (wanted <= 0)
            continue;
        const float part = std::min(1.0F, std::max(0.0F, 1 - taken) / wanted);
        for (std::size_t slot = 0; slot < kSlots; ++slot)
            m_front[c][slot] += m_layer[c][slot] * part;
        m_layer[c] = {};
    }
}

double KindShares::share(int column, WorkKind kind) const
{
    const Column &of = m_front[std::size_t(column)];
    return double(of[std::size_t(kind)]) + double(of[std::size_t(kind) + kWorkKindCount]);
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
