// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/kind_shares.h"

#include "views/timeline/column_walk.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainyard {

void KindShares::begin(TimeInterval range, int columns, int jobs)
{
    m_range = range;
    m_columns = columns;
    m_keys = jobs > 0 ? jobs : kWorkKindCount;
    m_stride = jobs > 0 ? std::min(kMostJobs, 2 * std::size_t(jobs)) : kMostKinds;
    m_slots.clear();
    m_indexOf.assign(2 * std::size_t(m_keys), -1);
    m_front.assign(std::size_t(columns) * m_stride, 0);
    m_layer.clear();
    m_isFirst = true;
}

std::size_t KindShares::slotOf(int key, bool isFaded)
{
    std::int16_t &index = m_indexOf[std::size_t(key + (isFaded ? m_keys : 0))];
    if (index < 0) {
        index = std::int16_t(std::min(m_slots.size(), m_stride - 1));
        if (m_slots.size() < m_stride)
            m_slots.push_back({ key, isFaded, std::size_t(index) });
        std::ranges::sort(m_slots, {}, [&](const Slot &slot) { return slot.key + (slot.isFaded ? m_keys : 0); });
    }
    return std::size_t(index);
}

template <class KeyOf>
void KindShares::addKeys(const Timeline &timeline, std::uint32_t first, std::uint32_t last, double weight, KeyOf keyOf)
{
    const auto [from, to] = visibleSpans(timeline, first, last, m_range);
    float *const layer = (m_isFirst ? m_front : m_layer).data();
    const std::size_t stride = m_stride, count = std::size_t(m_columns);
    const auto columns = double(m_columns);
    const double scale = columns / double(std::max<Nanoseconds>(1, m_range.length()));
    const Nanoseconds zero = m_range.begin;
    const Nanoseconds *const starts = timeline.start.data(), *const ends = timeline.end.data();
    for (std::uint32_t i = from; i < to; ++i) {
        const auto [key, isVivid] = keyOf(i);
        const int known = m_indexOf[std::size_t(key + (isVivid ? 0 : m_keys))];
        const std::size_t slot = known >= 0 ? std::size_t(known) : slotOf(key, !isVivid);
        const double begin = std::max(0.0, double(starts[i] - zero) * scale);
        const double end = std::min(columns, double(ends[i] - zero) * scale);
        auto c = std::size_t(begin);
        if (c < count && end <= double(c + 1)) { // nearly all where spans are dense
            layer[c * stride + slot] += float(weight * std::max(0.0, end - begin));
            continue;
        }
        for (; c < count && double(c) < end; ++c)
            layer[c * stride + slot] += float(weight * (std::min(end, double(c + 1)) - std::max(begin, double(c))));
    }
}

void KindShares::add(const Timeline &timeline, std::uint32_t first, std::uint32_t last, const SpanFilter &filter,
    bool isFaded, double weight)
{
    const bool asksSpans = filter.needsSpans();
    addKeys(timeline, first, last, weight, [&](std::uint32_t i) {
        const WorkKind kind = timeline.kind[i];
        return std::pair(
            int(kind), !isFaded && filter.hasKind(kind) && (!asksSpans || filter.matchesSpan(timeline, i)));
    });
}

void KindShares::addJobs(const Timeline &timeline, std::uint32_t first, std::uint32_t last,
    std::span<const std::uint16_t> jobOfClass, const std::vector<bool> &isVivid, const SpanFilter &filter,
    double weight)
{
    const bool asksSpans = filter.needsSpans();
    addKeys(timeline, first, last, weight, [&](std::uint32_t i) {
        const std::size_t of = std::min<std::size_t>(timeline.taskClass[i], jobOfClass.size() - 1);
        return std::pair(int(jobOfClass[of]), isVivid[of] && (!asksSpans || filter.matchesSpan(timeline, i)));
    });
}

void KindShares::nextLayer()
{
    for (std::size_t c = 0; c * m_stride < m_layer.size(); ++c) {
        float *front = m_front.data() + c * m_stride;
        const float *layer = m_layer.data() + c * m_stride;
        const float taken = std::reduce(front, front + m_stride);
        const float wanted = std::reduce(layer, layer + m_stride);
        const float part = wanted > 0 ? std::min(1.0F, std::max(0.0F, 1 - taken) / wanted) : 0;
        for (std::size_t slot = 0; slot < m_stride; ++slot)
            front[slot] += layer[slot] * part;
    }
    m_isFirst = false;
    m_layer.assign(m_front.size(), 0);
}

double KindShares::share(int column, WorkKind kind) const
{
    double sum = 0;
    for (const Slot &slot : m_slots)
        sum += slot.key == int(kind) ? double(m_front[std::size_t(column) * m_stride + slot.index]) : 0;
    return sum;
}

void KindShares::fill(int column, std::span<QRgb> pixels, const Colors &colors) const
{
    double reached = 0, most = 0;
    std::size_t next = 0;
    QRgb colorOfMost = 0;
    visit(column, colors, [&](double share, QRgb color) {
        reached += share;
        const auto until = std::min(pixels.size(), std::size_t(std::lround(reached * double(pixels.size()))));
        for (; next < until; ++next)
            pixels[next] = color;
        if (share > most) {
            most = share;
            colorOfMost = color;
        }
    });
    if (next == 0 && most > 0 && !pixels.empty()) // a little is not nothing
        pixels.front() = colorOfMost;
}

} // namespace trainyard
