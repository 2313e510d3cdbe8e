// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/measured_lanes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainyard {

namespace {

int layerOf(RecordedWork work)
{
    switch (work) {
    case RecordedWork::Compute:
        return 0;
    case RecordedWork::Communication:
    case RecordedWork::Copy:
        return 1;
    default:
        return 2;
    }
}

void appendLayer(MeasuredLanes &lanes, const MeasuredRow &row, int layer)
{
    Timeline &to = lanes.timeline;
    Track track;
    track.stream = row.key.stream;
    track.stage = row.key.stage;
    track.toStage = row.key.peer;
    track.first = std::uint32_t(to.start.size());
    Nanoseconds free = INT64_MIN;
    for (std::size_t i = 0; i < row.size(); ++i) {
        const Nanoseconds start = std::max(row.start[i], free), end = row.end[i];
        if (end <= start || layerOf(row.work[i]) != layer)
            continue;
        to.start.push_back(start);
        to.end.push_back(end);
        to.taskClass.push_back(std::uint32_t(row.work[i]));
        lanes.numberOf.push_back(std::uint32_t(i));
        lanes.works |= 1u << int(row.work[i]);
        free = end;
    }
    track.last = std::uint32_t(to.start.size());
    to.tracks.push_back(track);
}

/// Time of [0, limit) in which a span of either track runs. Both are without overlaps.
Nanoseconds busyOf(const Timeline &timeline, const Track &a, const Track &b, Nanoseconds limit)
{
    Nanoseconds busy = 0, reached = 0;
    for (std::uint32_t i = a.first, j = b.first; i < a.last || j < b.last;) {
        const bool isFirst = j == b.last || (i < a.last && timeline.start[i] <= timeline.start[j]);
        const std::uint32_t span = isFirst ? i++ : j++;
        const Nanoseconds start = std::max(timeline.start[span], reached), end = std::min(timeline.end[span], limit);
        if (end > start)
            busy += end - start;
        reached = std::max(reached, end);
    }
    return busy;
}

} // namespace

Nanoseconds endOf(const RunOverlay &overlay)
{
    if (overlay.duration > 0)
        return overlay.duration;
    if (!overlay.run || overlay.step < 0 || overlay.step >= int(overlay.run->steps.size()))
        return 0;
    const double seconds = overlay.run->steps[std::size_t(overlay.step)].seconds;
    return seconds > 0 && seconds < 9e9 ? Nanoseconds(std::llround(seconds * 1e9)) : 0;
}

Nanoseconds stepOf(const RunOverlay &overlay)
{
    const double seconds = overlay.differences.measuredSeconds;
    return seconds > 0 && seconds < 9e9 ? Nanoseconds(std::llround(seconds * 1e9)) : endOf(overlay);
}

MeasuredLanesPtr MeasuredLanes::of(const RunOverlayPtr &overlay)
{
    auto lanes = std::make_shared<MeasuredLanes>();
    lanes->overlay = overlay;
    lanes->end = endOf(*overlay);
    std::size_t spans = 0;
    for (const MeasuredRow &row : overlay->rows)
        spans += row.size();
    Timeline &timeline = lanes->timeline;
    timeline.start.reserve(spans);
    timeline.end.reserve(spans);
    timeline.taskClass.reserve(spans);
    timeline.tracks.reserve(overlay->rows.size() * kLayers);
    lanes->numberOf.reserve(spans);
    for (const MeasuredRow &row : overlay->rows) {
        for (int layer = 0; layer < kLayers; ++layer)
            appendLayer(*lanes, row, layer);
        const Track *tracks = &timeline.tracks[timeline.tracks.size() - kLayers];
        lanes->busy.push_back(busyOf(timeline, tracks[0], tracks[1], lanes->end));
    }
    timeline.duration = lanes->end;
    lanes->m_byKey.resize(overlay->rows.size());
    std::iota(lanes->m_byKey.begin(), lanes->m_byKey.end(), 0u);
    std::ranges::sort(lanes->m_byKey, {}, [&](std::uint32_t row) { return overlay->rows[row].key; });
    return lanes;
}

MeasuredLanesPtr lanesUnderPlan(const RunOverlayPtr &overlay)
{
    return overlay && overlay->evaluation && !overlay->rows.empty() ? MeasuredLanes::of(overlay) : nullptr;
}

int MeasuredLanes::find(const TrackKey &key) const
{
    const auto keyAt = [&](std::uint32_t row) -> const TrackKey & { return overlay->rows[row].key; };
    const auto found = std::ranges::lower_bound(m_byKey, key, {}, keyAt);
    return found != m_byKey.end() && keyAt(*found) == key ? int(*found) : -1;
}

int MeasuredLanes::rowOf(std::uint32_t span) const
{
    const auto track = std::ranges::upper_bound(timeline.tracks, span, {}, &Track::last) - timeline.tracks.begin();
    return int(track / kLayers);
}

void MeasuredLanes::tracksOf(std::span<const std::uint32_t> rows, std::vector<std::uint32_t> &tracks) const
{
    tracks.clear();
    for (std::uint32_t layer = 0; layer < kLayers; ++layer)
        for (const std::uint32_t row : rows)
            tracks.push_back(row * kLayers + layer);
}

bool MeasuredLanes::areMissing(std::span<const std::uint32_t> rows) const
{
    return std::ranges::all_of(rows, [&](std::uint32_t row) { return overlay->rows[row].shown < 0; });
}

std::uint32_t MeasuredLanes::spanOf(int row, std::uint32_t number) const
{
    for (const Track &track : tracksOf(row)) {
        const auto first = numberOf.begin() + track.first, last = numberOf.begin() + track.last;
        const auto found = std::lower_bound(first, last, number);
        if (found != last && *found == number)
            return std::uint32_t(found - numberOf.begin());
    }
    return kNoSpan;
}

} // namespace trainyard
