// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/gantt_svg.h"

#include "core/base/number_text.h"
#include "core/evaluation/evaluate/track_names.h"
#include "core/evaluation/report/job_text.h"
#include "core/evaluation/report/markup.h"
#include "core/evaluation/report/time_axis_internal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

namespace trainyard {

namespace {

using namespace markup;

constexpr double kTrack = 17, kThinTrack = 9, kGap = 3, kGroup = 22;
constexpr std::size_t kMostTracks = 64;
constexpr std::size_t kMostRectangles = 5000;
constexpr int kLevels = 8; // steps of its height
constexpr std::size_t kLooks = kWorkKindCount; // a kind of work each, or a colour of jobs
static_assert(kLooks > kJobLooks);

struct Row {
    std::uint32_t track = 0;
    double y = 0, height = kTrack;
};

struct Chart {
    const Evaluation &evaluation;
    TimeWindow window;
    std::vector<Row> rows;
    std::string svg;
    double height = kAxis;
    /// Times outside of the window stand at its ends.
    [[nodiscard]] double x(Nanoseconds t) const
    {
        return kTrackLabels
            + kTrackPlot * double(std::clamp(t, window.from, window.to) - window.from)
            / double(window.to - window.from);
    }
    [[nodiscard]] bool isIn(std::uint32_t span) const
    {
        return evaluation.timeline.start[span] < window.to && evaluation.timeline.end[span] >= window.from;
    }
    [[nodiscard]] bool isOfJobs() const { return evaluation.metrics.jobs.has_value(); }
};

/// Which of kLooks a span has.
std::size_t lookOf(const Chart &chart, std::uint32_t span)
{
    if (!chart.isOfJobs())
        return std::size_t(chart.evaluation.timeline.kind[span]);
    const int job = jobIndexOf(chart.evaluation, span);
    return job < 0 ? kJobLooks : std::size_t(job) % kJobLooks;
}

std::string lookClass(const Chart &chart, std::size_t look)
{
    return chart.isOfJobs() ? jobClass(int(look)) : workClass(WorkKind(look));
}

std::vector<std::uint32_t> orderedTracks(const Timeline &timeline)
{
    std::vector<std::uint32_t> tracks;
    for (std::uint32_t t = 0; t < timeline.tracks.size(); ++t) {
        if (timeline.tracks[t].first < timeline.tracks[t].last)
            tracks.push_back(t);
    }
    std::stable_sort(tracks.begin(), tracks.end(), [&](std::uint32_t a, std::uint32_t b) {
        const Track &l = timeline.tracks[a], &r = timeline.tracks[b];
        return std::tuple(l.pipelineClass, l.stage, l.stream) < std::tuple(r.pipelineClass, r.stage, r.stream);
    });
    return tracks;
}

void layOut(Chart &chart)
{
    const Timeline &timeline = chart.evaluation.timeline;
    std::vector<std::uint32_t> tracks = orderedTracks(timeline);
    const std::size_t all = tracks.size();
    if (all > kMostTracks) // stages before what runs beside them
        std::erase_if(tracks, [&](std::uint32_t t) {
            const Stream stream = timeline.tracks[t].stream;
            return chart.isOfJobs() ? stream != Stream::Compute : isOfStates(stream);
        });
    tracks.resize(std::min(tracks.size(), kMostTracks));
    std::pair<int, int> group { -2, -2 };
    for (const std::uint32_t t : tracks) {
        const Track &track = timeline.tracks[t];
        const std::pair<int, int> here { track.pipelineClass, datacenterOf(chart.evaluation, track) };
        if (here != group) {
            group = here;
            chart.svg += text(0, chart.height + kGroup - 7, "group",
                datacenterName(chart.evaluation, track) + " \u00b7 " + pipelinesName(chart.evaluation, track));
            chart.height += kGroup;
        }
        const double height = track.stream == Stream::Compute ? kTrack : kThinTrack;
        chart.rows.push_back({ t, chart.height, height });
        chart.svg += rect(kTrackLabels, chart.height, kTrackPlot, height, "track");
        chart.svg += text(kTrackLabels - 8, chart.height + height - (height < kTrack ? 1 : 5), "faint end",
            trackName(chart.evaluation, track));
        chart.height += height + kGap;
    }
    if (all > tracks.size()) {
        chart.svg +=
            text(0, chart.height + 14, "faint", std::to_string(all - tracks.size()) + " more tracks are not drawn");
        chart.height += 18;
    }
}

std::string tooltip(const Evaluation &evaluation, std::uint32_t i)
{
    const Timeline &timeline = evaluation.timeline;
    std::string text = toString(timeline.kind[i]);
    if (const int job = jobIndexOf(evaluation, i); job >= 0) {
        const JobMetrics &jobs = *evaluation.metrics.jobs;
        text = jobs.perJob[std::size_t(job)].name + " \u00b7 " + text;
        if (timeline.microBatch[i] >= 0)
            text += " \u00b7 mini-batch "
                + std::to_string(std::int64_t { timeline.microBatch[i] } * jobs.minibatchesPerSpan + 1)
                + " \u00b7 shard " + std::to_string(timeline.chunk[i] + 1);
    } else if (timeline.microBatch[i] >= 0)
        text += " \u00b7 micro-batch " + std::to_string(timeline.microBatch[i] + 1); // counted from 1, as in the window
    if (timeline.kind[i] == WorkKind::ForwardBackward && !timeline.pairedMicroBatch.empty())
        text += " and " + std::to_string(timeline.pairedMicroBatch[i] + 1);
    const double length = toSeconds(timeline.end[i] - timeline.start[i]).value;
    return text + " \u00b7 " + secondsText(length) + " from " + secondsText(toSeconds(timeline.start[i]).value);
}

/// The job's name, where there is room for it.
void writeJob(Chart &chart, const Row &row, std::uint32_t span, double width)
{
    constexpr double kLetter = 6.2; // of the style's 10 pixels
    const int job = jobIndexOf(chart.evaluation, span);
    if (job < 0 || row.height < kTrack)
        return;
    const std::string &name = chart.evaluation.metrics.jobs->perJob[std::size_t(job)].name;
    if (double(name.size()) * kLetter < width)
        chart.svg += text(chart.x(chart.evaluation.timeline.start[span]) + width / 2, row.y + 12.5,
            isDarkJob(job) ? "ink-light middle" : "ink-dark middle", name);
}

void drawEachSpan(Chart &chart)
{
    const Timeline &timeline = chart.evaluation.timeline;
    for (const Row &row : chart.rows) {
        const Track &track = timeline.tracks[row.track];
        for (std::uint32_t i = track.first; i < track.last; ++i) {
            if (!chart.isIn(i))
                continue;
            const double x = chart.x(timeline.start[i]), width = chart.x(timeline.end[i]) - x;
            // A hair's breadth between neighbours, so that equal ones can be told apart.
            chart.svg += rect(x, row.y, std::max(0.4, width - (width > 3 ? 0.6 : 0)), row.height,
                lookClass(chart, lookOf(chart, i)), tooltip(chart.evaluation, i));
            if (chart.isOfJobs())
                writeJob(chart, row, i, width);
            else if (width >= 17 && row.height >= kTrack && timeline.microBatch[i] >= 0) {
                const bool isDark = timeline.kind[i] == WorkKind::Backward || timeline.kind[i] == WorkKind::InputGrad
                    || timeline.kind[i] == WorkKind::ForwardBackward;
                chart.svg += text(x + width / 2, row.y + 12.5, isDark ? "ink-light middle" : "ink-dark middle",
                    std::to_string(timeline.microBatch[i] + 1));
            }
        }
    }
}

/// Share of each look in each column of a track.
using Column = std::array<double, kLooks>;
using Columns = std::vector<Column>;

Columns shares(const Chart &chart, const Track &track)
{
    const Timeline &timeline = chart.evaluation.timeline;
    Columns columns(std::size_t(kTrackPlot / kColumn), Column {});
    const double perColumn = double(chart.window.to - chart.window.from) / double(columns.size());
    for (std::uint32_t i = track.first; i < track.last; ++i) {
        if (!chart.isIn(i))
            continue;
        const double start = double(std::max(timeline.start[i], chart.window.from) - chart.window.from);
        const double end = double(std::min(timeline.end[i], chart.window.to) - chart.window.from);
        for (auto c = std::size_t(start / perColumn); c < columns.size() && double(c) * perColumn < end; ++c) {
            const double here = std::min(end, double(c + 1) * perColumn) - std::max(start, double(c) * perColumn);
            columns[c][lookOf(chart, i)] += here / perColumn;
        }
    }
    return columns;
}

/// From which level to which a look fills a column; those below it come first.
std::pair<int, int> filled(const Column &column, std::size_t look)
{
    double below = 0;
    for (std::size_t k = 0; k < look; ++k)
        below += column[k];
    return { int(std::lround(below * kLevels)), int(std::lround((below + column[look]) * kLevels)) };
}

void drawMerged(Chart &chart)
{
    const Timeline &timeline = chart.evaluation.timeline;
    std::array<std::string, kLooks> paths;
    for (const Row &row : chart.rows) {
        const Columns columns = shares(chart, timeline.tracks[row.track]);
        for (std::size_t look = 0; look < kLooks; ++look) {
            for (std::size_t c = 0; c < columns.size();) {
                const auto [bottom, top] = filled(columns[c], look);
                std::size_t end = c + 1;
                while (end < columns.size() && filled(columns[end], look) == std::pair(bottom, top))
                    ++end;
                if (top > bottom) {
                    const std::string width = coordinate(double(end - c) * kColumn);
                    paths[look] += "M" + coordinate(kTrackLabels + double(c) * kColumn) + " "
                        + coordinate(row.y + row.height * (1 - double(top) / kLevels)) + "h" + width + "v"
                        + coordinate(row.height * double(top - bottom) / kLevels) + "h-" + width + "z";
                }
                c = end;
            }
        }
    }
    for (std::size_t look = 0; look < kLooks; ++look) {
        if (!paths[look].empty())
            chart.svg += "<path class=\"" + lookClass(chart, look) + "\" d=\"" + paths[look] + "\"/>";
    }
}

} // namespace

std::string ganttSvg(const Evaluation &evaluation, Nanoseconds axis)
{
    return ganttSvg(evaluation, TimeWindow { 0, std::max(axis, evaluation.timeline.duration) });
}

std::string ganttSvg(const Evaluation &evaluation, const TimeWindow &window)
{
    if (evaluation.timeline.isEmpty() || evaluation.timeline.duration <= 0 || window.to <= window.from)
        return {};
    Chart chart { evaluation, window, {}, {} };
    layOut(chart);
    chart.svg = timeAxis(window, chart.height, chart.isOfJobs()) + chart.svg;
    std::size_t spans = 0;
    for (const Row &row : chart.rows)
        for (std::uint32_t i = evaluation.timeline.tracks[row.track].first;
             i < evaluation.timeline.tracks[row.track].last; ++i)
            spans += chart.isIn(i);
    if (spans <= kMostRectangles)
        drawEachSpan(chart);
    else
        drawMerged(chart);
    return "<svg viewBox=\"0 0 " + coordinate(kSvgWidth) + " " + coordinate(chart.height)
        + "\" role=\"img\" aria-label=\"" + (chart.isOfJobs() ? "Timeline of all jobs" : "Timeline of one iteration")
        + "\">" + chart.svg + "</svg>";
}

} // namespace trainyard
