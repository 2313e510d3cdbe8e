// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/alarms/memory_watch.h"

#include "core/base/median.h"
#include "core/base/number_text.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard::watch {

namespace {

constexpr std::size_t kMostTracks = 20'000, kMostTrackPoints = 64, kMostHeldSteps = 256, kStill = 6;
constexpr std::size_t kNearPoints = 3;

bool isMemory(const SampleSeries &series)
{
    return series.name == samples::kMemoryAllocated || series.name == samples::kMemoryUsed
        || series.name == samples::kMemoryReserved;
}

/// Standard normal deviate of Mann and Kendall's test for a trend upwards.
double trendOf(const std::vector<double> &values)
{
    double above = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
        for (std::size_t j = i + 1; j < values.size(); ++j)
            above += values[j] > values[i] ? 1 : values[j] < values[i] ? -1 : 0;
    const auto n = static_cast<double>(values.size());
    return above / std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
}

} // namespace

void MemoryWatch::look(
    const Recording &recording, const std::vector<Seen> &steps, double capacity, const Sentences &say, AlarmList &book)
{
    m_steps.insert(m_steps.end(), steps.begin(), steps.end());
    if (m_steps.size() > kMostHeldSteps)
        m_steps.erase(m_steps.begin(), m_steps.end() - static_cast<std::ptrdiff_t>(kMostHeldSteps));
    for (const SampleSeries &series : recording.series) {
        if (!isMemory(series) || series.at.empty() || series.at.size() != series.value.size())
            continue;
        const auto key = std::tuple(series.name, series.rank, series.where);
        auto known = m_tracks.find(key);
        if (known == m_tracks.end()) {
            if (m_tracks.size() >= kMostTracks)
                continue;
            known = m_tracks.try_emplace(key).first;
            known->second.name = series.name;
            known->second.where = series.where;
            known->second.rank = series.rank;
            known->second.isByStep = series.isByStep;
        }
        if (series.at.back() <= known->second.last)
            continue;
        take(known->second, series);
        if (!known->second.points.empty())
            judge(known->second, capacity, say, book);
    }
    while (m_peaks.size() > kMostHeldSteps)
        m_peaks.erase(m_peaks.begin());
}

void MemoryWatch::forgetBehind(std::int64_t step)
{
    std::erase_if(m_steps, [&](const Seen &one) { return one.number > step; });
    m_peaks.erase(m_peaks.upper_bound(step), m_peaks.end());
    for (auto &[key, track] : m_tracks) {
        std::erase_if(track.points, [&](const Point &one) { return one.step > step; });
        if (track.isByStep)
            track.last = std::min(track.last, Moment(step));
    }
}

void MemoryWatch::take(Track &track, const SampleSeries &series)
{
    for (auto i = static_cast<std::size_t>(std::ranges::upper_bound(series.at, track.last) - series.at.begin());
         i < series.at.size(); ++i) {
        if (!std::isfinite(series.value[i]))
            continue;
        Point point { -1, 0, series.value[i] };
        if (series.isByStep) {
            point.step = series.at[i];
            const auto step = std::ranges::lower_bound(m_steps, point.step, {}, &Seen::number);
            point.at = step != m_steps.end() && step->number == point.step ? step->at : 0;
        } else { // of the step that had begun then
            const auto behind = std::ranges::upper_bound(m_steps, series.at[i], {}, &Seen::start);
            if (behind != m_steps.begin() && std::prev(behind)->start != kNoMoment) {
                point.step = std::prev(behind)->number;
                point.at = std::prev(behind)->at;
            }
        }
        if (point.step >= 0) {
            double &peak = m_peaks.try_emplace(point.step, 0).first->second;
            if (track.name != samples::kMemoryReserved)
                peak = std::max(peak, point.bytes);
        }
        if (!track.points.empty() && point.step >= 0 && track.points.back().step == point.step)
            track.points.back().bytes = std::max(track.points.back().bytes, point.bytes);
        else
            track.points.push_back(point);
        if (track.points.size() > kMostTrackPoints)
            track.points.erase(track.points.begin());
    }
    track.last = series.at.back();
}

bool MemoryWatch::isStill(const Track &track)
{
    const std::vector<Point> &points = track.points;
    return points.size() > kStill && points.back().bytes <= points[points.size() - 1 - kStill].bytes * 1.0001;
}

/// The shortest stretch up to now, doubled from eight on, whose trend is sure and whose growth matters.
std::optional<std::size_t> MemoryWatch::growthOf(const Track &track) const
{
    if (isStill(track)) // a longer stretch would still show how it came to where it stays
        return std::nullopt;
    const std::size_t size = track.points.size();
    for (std::size_t n = 8; n <= size; n = std::min(size, n * 2) + (n == size ? 1 : 0)) {
        std::vector<double> values;
        for (std::size_t i = size - n; i < size; ++i)
            values.push_back(track.points[i].bytes);
        const std::size_t third = n / 3;
        const double early = medianOf(std::vector<double>(values.begin(), values.begin() + std::ptrdiff_t(third))),
                     late = medianOf(std::vector<double>(values.end() - std::ptrdiff_t(third), values.end()));
        // Of n values the surest trend is that each is above the one before: one of n! orders.
        const bool isEvery = std::ranges::adjacent_find(values, std::greater_equal<>()) == values.end();
        const double chance = std::erfc(m_options.errors / std::sqrt(2.0)) / 2;
        const bool isSure =
            (isEvery && std::exp(-std::lgamma(double(n) + 1)) < chance) || trendOf(values) > m_options.errors;
        // At an even pace, not in one leap: a change of level is no growth.
        const double middle = values[n / 2];
        const bool isEven = middle - early > 0.1 * (late - early) && late - middle > 0.1 * (late - early);
        if (!isSure || !isEven || late - early < m_options.rules.threshold(RuleId::MemoryGrows) * early)
            continue;
        std::size_t first = size - n; // and before, as long as it had grown already
        while (first > 0 && track.points[first - 1].bytes < track.points[first].bytes)
            --first;
        while (first + 1 < size && track.points[first + 1].bytes <= track.points[first].bytes)
            ++first;
        return first;
    }
    return std::nullopt;
}

void MemoryWatch::judge(Track &track, double capacity, const Sentences &say, AlarmList &book)
{
    const std::string whose = track.rank >= 0 ? say.rank(track.rank)
        : track.where.empty()                 ? "the fullest GPU"
                                              : track.where;
    std::string what = track.name == samples::kMemoryReserved ? "Memory reserved on " : "Memory of ";
    const std::string place = (track.rank >= 0 ? "rank " + std::to_string(track.rank) : track.where) + " " + track.name;
    const std::vector<Point> &points = track.points;
    const Point &last = points.back();
    const auto told = [&](const Point &first) {
        Alarm alarm { .kind = AlarmKind::Memory, .firstStep = first.step, .lastStep = last.step, .since = first.at };
        if (track.rank >= 0)
            alarm.ranks = { track.rank };
        if (capacity > 0)
            alarm.share = last.bytes / capacity;
        return alarm;
    };
    if (!track.isGrowing) {
        if (const auto first = growthOf(track)) {
            const Point &from = points[*first];
            const double perStep =
                (last.bytes - from.bytes) / double(std::max<std::size_t>(1, points.size() - 1 - *first));
            Alarm alarm = told(from);
            alarm.place = place + " grows";
            alarm.told = RuleId::MemoryGrows;
            alarm.sentence = say.atStep(from.step) + what + whose + " grows by " + bytesText(perStep) + " per step"
                + say.since(from.at) + ", to " + bytesText(last.bytes);
            if (const double left = (capacity - last.bytes) / perStep; capacity > 0 && left > 0 && left < 1e6)
                alarm.sentence += "; full in " + countText(left) + " steps";
            book.tell(std::move(alarm));
            track.isGrowing = true;
        }
    } else if (isStill(track)) {
        book.end(AlarmKind::Memory, place + " grows", last.at, last.step);
        track.isGrowing = false;
    }
    if (track.name == samples::kMemoryReserved)
        return;
    const auto isFull = [&](const Point &point) {
        return capacity > 0 && point.bytes > m_options.rules.threshold(RuleId::MemoryFull) * capacity;
    };
    const bool areFull = points.size() >= kNearPoints && std::all_of(points.end() - kNearPoints, points.end(), isFull);
    const bool isNoneFull =
        std::none_of(points.end() - std::ptrdiff_t(std::min(points.size(), kNearPoints)), points.end(), isFull);
    if (areFull && !track.isNear) {
        const Point &first = points[points.size() - kNearPoints];
        Alarm alarm = told(first);
        alarm.place = place + " is full";
        alarm.sentence = say.atStep(first.step) + what + whose + " is " + bytesText(last.bytes) + " of "
            + bytesText(capacity) + say.since(first.at);
        book.tell(std::move(alarm));
        track.isNear = true;
    } else if (isNoneFull && track.isNear) {
        book.end(AlarmKind::Memory, place + " is full", last.at, last.step);
        track.isNear = false;
    }
}

double MemoryWatch::peakOf(std::int64_t step) const
{
    const auto known = m_peaks.find(step);
    return known != m_peaks.end() && known->second > 0 ? known->second : std::numeric_limits<double>::quiet_NaN();
}

} // namespace trainyard::watch
