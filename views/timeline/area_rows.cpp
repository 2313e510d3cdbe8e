// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/area_rows.h"

#include "views/theme/recorded_colors.h"
#include "views/timeline/measured_text.h"

#include <QCoreApplication>
#include <QSet>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace trainyard {

namespace {

QString areaText(const char *text)
{
    return QCoreApplication::translate("trainyard::AreaRows", text);
}

struct Sums {
    std::array<KindTotal, kWorkKindCount> kinds {};
    Nanoseconds idle[2] = { 0, 0 }; // of stages, of channels
    int lines[2] = { 0, 0 };
    KindTotal faded;
};

void add(KindTotal &total, Nanoseconds part)
{
    total.shortest = total.count == 0 ? part : std::min(total.shortest, part);
    total.longest = std::max(total.longest, part);
    total.total += part;
    ++total.count;
}

/// Time of [from, to) that `covered` leaves free; `at` remembers where among the sorted intervals the last span was.
Nanoseconds uncovered(const std::vector<TimeInterval> &covered, std::size_t &at, Nanoseconds from, Nanoseconds to)
{
    while (at < covered.size() && covered[at].end <= from)
        ++at;
    Nanoseconds free = to - from;
    for (std::size_t i = at; i < covered.size() && covered[i].begin < to; ++i)
        free -= std::min(to, covered[i].end) - std::max(from, covered[i].begin);
    return free;
}

/// Sorted intervals without overlaps.
std::vector<TimeInterval> merged(std::vector<TimeInterval> intervals)
{
    std::ranges::sort(intervals, {}, &TimeInterval::begin);
    std::vector<TimeInterval> result;
    for (const TimeInterval &next : intervals) {
        if (!result.empty() && next.begin <= result.back().end)
            result.back().end = std::max(result.back().end, next.end);
        else
            result.push_back(next);
    }
    return result;
}

/// Adds what is seen of each span of a line, tracks in front first, where `slotOf` books it. Time that nothing covers.
template <class SlotOf>
Nanoseconds addLine(const Timeline &timeline, TimeInterval range, std::span<const std::uint32_t> tracks, SlotOf slotOf)
{
    std::vector<TimeInterval> covered;
    for (const std::uint32_t index : tracks) {
        const Track &track = timeline.tracks[index];
        std::vector<TimeInterval> own;
        std::size_t at = 0;
        std::uint32_t span = track.first == track.last ? track.last : firstSpanAfter(timeline, index, range.begin);
        for (; span < track.last && timeline.start[span] < range.end; ++span) {
            const TimeInterval part { std::max(timeline.start[span], range.begin),
                std::min(timeline.end[span], range.end) };
            if (part.isEmpty())
                continue;
            own.push_back(part);
            if (const Nanoseconds seen = uncovered(covered, at, part.begin, part.end); seen > 0)
                add(slotOf(span), seen);
        }
        covered.insert(covered.end(), own.begin(), own.end());
        covered = merged(std::move(covered));
    }
    Nanoseconds idle = range.length();
    for (const TimeInterval &busy : covered)
        idle -= busy.length();
    return idle;
}

void addLine(Sums &sums, const Timeline &timeline, TimeInterval range, const AreaLine &line, const SpanFilter &filter)
{
    const bool isChannel = !line.tracks.empty() && timeline.tracks[line.tracks.front()].stream == Stream::Wan;
    sums.idle[isChannel] += addLine(timeline, range, line.tracks, [&](std::uint32_t span) -> KindTotal & {
        return filter.matches(timeline, span) ? sums.kinds[std::size_t(timeline.kind[span])] : sums.faded;
    });
    ++sums.lines[isChannel];
}

} // namespace

std::vector<AreaLine> areaLines(const TrackLayout &layout, int first, int last)
{
    std::vector<AreaLine> lines;
    QSet<QString> seen;
    last = std::min(last, int(layout.rows.size()) - 1);
    for (int r = std::max(first, 0); r <= last; ++r) {
        const TrackRow &row = layout.rows[std::size_t(r)];
        if (seen.contains(row.key))
            continue;
        seen.insert(row.key);
        if (row.kind != TrackRow::Kind::Summary) {
            lines.push_back({ row.tracks });
            continue;
        }
        for (const std::uint32_t track : row.tracks)
            lines.push_back({ { track } });
    }
    return lines;
}

std::vector<AreaRow> areaRows(
    const Timeline &timeline, TimeInterval range, const std::vector<AreaLine> &lines, const SpanFilter &filter)
{
    Sums sums;
    for (const AreaLine &line : lines)
        addLine(sums, timeline, range, line, filter);
    const double area = double(range.length()) * double(lines.size());
    const auto share = [area](Nanoseconds time) { return area > 0 ? double(time) / area : 0; };
    std::vector<AreaRow> rows;
    for (int k = 0; k < kWorkKindCount; ++k) {
        const KindTotal &total = sums.kinds[std::size_t(k)];
        if (total.count > 0)
            rows.push_back({ QString::fromUtf8(toString(WorkKind(k))), total, share(total.total) });
    }
    std::ranges::stable_sort(rows, std::greater {}, [](const AreaRow &row) { return row.total.total; });
    const std::array<QString, 2> idle { areaText("idle"), areaText("idle channel") };
    for (std::size_t i = 0; i < idle.size(); ++i) {
        if (sums.lines[i] > 0)
            rows.push_back({ idle[i], { 0, sums.idle[i], 0, 0 }, share(sums.idle[i]) });
    }
    if (sums.faded.count > 0)
        rows.push_back({ areaText("not shown"), sums.faded, share(sums.faded.total) });
    return rows;
}

std::vector<AreaRow> measuredAreaRows(const MeasuredLanes &measured, TimeInterval range, const TrackLayout &layout,
    int first, int last, std::size_t lines)
{
    std::array<KindTotal, kRecordedWorkCount> works {};
    KindTotal idle;
    QSet<QString> seen;
    std::vector<std::uint32_t> tracks;
    for (int r = std::max(first, 0); r <= std::min(last, int(layout.rows.size()) - 1); ++r) {
        const TrackRow &row = layout.rows[std::size_t(r)];
        if (seen.contains(row.key) || measured.areMissing(row.measured))
            continue;
        seen.insert(row.key);
        const auto addTracks = [&](std::span<const std::uint32_t> rows) {
            measured.tracksOf(rows, tracks);
            idle.total += addLine(measured.timeline, range, tracks,
                [&](std::uint32_t span) -> KindTotal & { return works[std::size_t(measured.workOf(span))]; });
        };
        if (row.kind != TrackRow::Kind::Summary)
            addTracks(row.measured);
        else
            for (const std::uint32_t each : row.measured)
                if (measured.row(int(each)).shown >= 0)
                    addTracks({ &each, 1 });
    }
    const double area = double(range.length()) * double(lines);
    std::vector<AreaRow> rows;
    const auto say = [&](const QString &name, const KindTotal &total) {
        rows.push_back({ areaText("run: %1").arg(name), total, area > 0 ? double(total.total) / area : 0 });
    };
    for (int work = 0; work < kRecordedWorkCount; ++work)
        if (works[std::size_t(work)].count > 0)
            say(recordedWorkName(RecordedWork(work)), works[std::size_t(work)]);
    std::ranges::stable_sort(rows, std::greater {}, [](const AreaRow &row) { return row.total.total; });
    if (!seen.isEmpty())
        say(areaText("idle"), idle);
    return rows;
}

QString toTsv(const std::vector<AreaRow> &rows)
{
    QString text = QStringLiteral("kind\tcount\ttotal_s\tshare\tmean_s\tshortest_s\tlongest_s\n");
    for (const AreaRow &row : rows) {
        const Nanoseconds mean = row.total.count > 0 ? row.total.total / row.total.count : 0;
        text += QStringLiteral("%1\t%2\t%3\t%4\t%5\t%6\t%7\n")
                    .arg(row.name)
                    .arg(row.total.count)
                    .arg(toSeconds(row.total.total).value, 0, 'g', 9)
                    .arg(row.share, 0, 'g', 6)
                    .arg(toSeconds(mean).value, 0, 'g', 9)
                    .arg(toSeconds(row.total.shortest).value, 0, 'g', 9)
                    .arg(toSeconds(row.total.longest).value, 0, 'g', 9);
    }
    return text;
}

} // namespace trainyard
