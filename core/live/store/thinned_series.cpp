// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/store/thinned_series.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace trainyard::live {

namespace {

constexpr std::int64_t kFirstWidth = std::int64_t(1) << 20; // ns, a millisecond
constexpr std::int64_t kMostWidth = std::int64_t(1) << 61;

std::int64_t stretchOf(Moment at, std::int64_t width)
{
    return at >> std::countr_zero(static_cast<std::uint64_t>(width)); // rounds down
}

} // namespace

ThinnedSeries::ThinnedSeries(bool isByStep)
    : m_isByStep(isByStep)
    , m_width(isByStep ? 1 : kFirstWidth)
{
}

std::size_t ThinnedSeries::Stretch::points() const
{
    const bool hasNumber = least.at != kNoMoment;
    return (hasNumber ? 1 : 0) + (hasNumber && largest != least ? 1 : 0) + (none.at != kNoMoment ? 1 : 0);
}

void ThinnedSeries::Stretch::add(const Point &point)
{
    const auto take = [&](Point &to, bool isBetter) {
        if (to.at == kNoMoment || isBetter || (point.value == to.value && point.at < to.at))
            to = point;
    };
    if (std::isnan(point.value)) {
        if (none.at == kNoMoment || point.at < none.at)
            none = point;
        return;
    }
    take(least, point.value < least.value);
    take(largest, point.value > largest.value);
}

void ThinnedSeries::Stretch::add(const Stretch &other)
{
    for (const Point &point : { other.least, other.largest, other.none })
        if (point.at != kNoMoment)
            add(point);
}

ThinnedSeries::Taken ThinnedSeries::add(Moment at, double value, const SeriesLimits &limits)
{
    settleForgotten(at, limits);
    const bool isLast = m_begin == m_at.size() || at > m_at.back();
    std::size_t place = m_at.size();
    if (!isLast) {
        place = static_cast<std::size_t>(
            std::ranges::lower_bound(m_at.begin() + std::ptrdiff_t(m_begin), m_at.end(), at) - m_at.begin());
        if (place < m_at.size() && m_at[place] == at) {
            const bool isEqual = std::bit_cast<std::uint64_t>(m_value[place]) == std::bit_cast<std::uint64_t>(value);
            if (!m_isByStep || isEqual)
                return Taken::Again;
            m_value[place] = value;
            return Taken::Anew;
        }
    }
    if (at <= m_thinnedTo) { // among what is thinned already
        if (!m_isByStep && at < m_at.back() - limits.reorder)
            return Taken::Late;
        thin({ at, value }, limits.thinned);
        return Taken::Yes;
    }
    m_at.insert(m_at.begin() + std::ptrdiff_t(place), at);
    m_value.insert(m_value.begin() + std::ptrdiff_t(place), value);
    if (m_at.size() - m_begin > limits.recent)
        thinOldest(limits);
    return Taken::Yes;
}

void ThinnedSeries::thinOldest(const SeriesLimits &limits)
{
    thin({ m_at[m_begin], m_value[m_begin] }, limits.thinned);
    if (++m_begin > limits.recent / 4) {
        m_at.erase(m_at.begin(), m_at.begin() + std::ptrdiff_t(m_begin));
        m_value.erase(m_value.begin(), m_value.begin() + std::ptrdiff_t(m_begin));
        m_begin = 0;
    }
}

void ThinnedSeries::forgetBehind(Moment at)
{
    const auto kept = static_cast<std::size_t>(
        std::ranges::upper_bound(m_at.begin() + std::ptrdiff_t(m_begin), m_at.end(), at) - m_at.begin());
    if (kept == m_at.size())
        return;
    m_forgottenAt.assign(m_at.begin() + std::ptrdiff_t(kept), m_at.end());
    m_forgottenValue.assign(m_value.begin() + std::ptrdiff_t(kept), m_value.end());
    m_at.resize(kept);
    m_value.resize(kept);
}

void ThinnedSeries::settleForgotten(Moment at, const SeriesLimits &limits)
{
    if (m_forgottenAt.empty() || (!m_at.empty() && at <= m_at.back()))
        return;
    if (at > m_forgottenAt.back()) { // it goes on where it was
        m_at.insert(m_at.end(), m_forgottenAt.begin(), m_forgottenAt.end());
        m_value.insert(m_value.end(), m_forgottenValue.begin(), m_forgottenValue.end());
    }
    m_forgottenAt = {};
    m_forgottenValue = {};
    while (m_at.size() - m_begin > std::max<std::size_t>(limits.recent, 1))
        thinOldest(limits);
}

void ThinnedSeries::thin(const Point &point, std::size_t most)
{
    const std::int64_t number = stretchOf(point.at, m_width);
    auto at = m_stretches.end();
    if (m_stretches.empty() || m_stretches.back().number < number)
        at = m_stretches.insert(at, Stretch { .number = number });
    else
        at = std::ranges::lower_bound(m_stretches, number, {}, &Stretch::number);
    if (at->number != number)
        at = m_stretches.insert(at, Stretch { .number = number });
    m_points -= at->points();
    at->add(point);
    m_points += at->points();
    m_thinnedTo = std::max(m_thinnedTo, point.at);
    ++m_thinned;
    while (m_points > std::max<std::size_t>(most, 8) && m_width < kMostWidth)
        widen();
}

void ThinnedSeries::widen()
{
    m_width *= 2;
    m_points = 0;
    std::size_t kept = 0;
    for (Stretch &one : m_stretches) {
        one.number >>= 1;
        if (kept > 0 && m_stretches[kept - 1].number == one.number)
            m_stretches[kept - 1].add(one);
        else
            m_stretches[kept++] = one;
    }
    m_stretches.resize(kept);
    for (const Stretch &one : m_stretches)
        m_points += one.points();
}

void ThinnedSeries::writeTo(SampleSeries &series, Moment zero) const
{
    const Moment shift = m_isByStep ? 0 : zero;
    series.at.reserve(m_points + m_at.size() - m_begin);
    series.value.reserve(m_points + m_at.size() - m_begin);
    const auto write = [&](Moment at, double value) {
        series.at.push_back(at - shift);
        series.value.push_back(value);
    };
    for (const Stretch &one : m_stretches) {
        std::array<Point, 3> points { one.least, one.largest, one.none };
        std::ranges::sort(points, {}, &Point::at);
        for (std::size_t i = 0; i < points.size(); ++i)
            if (points[i].at != kNoMoment && (i == 0 || points[i].at != points[i - 1].at))
                write(points[i].at, points[i].value);
    }
    for (std::size_t i = m_begin; i < m_at.size(); ++i)
        write(m_at[i], m_value[i]);
}

std::size_t ThinnedSeries::bytes() const
{
    return sizeof *this + m_at.capacity() * sizeof(Moment) + m_value.capacity() * sizeof(double)
        + m_forgottenAt.capacity() * sizeof(Moment) + m_forgottenValue.capacity() * sizeof(double)
        + m_stretches.capacity() * sizeof(Stretch);
}

} // namespace trainyard::live
