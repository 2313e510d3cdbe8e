// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/gantt_svg.h"

#include "core/report/markup.h"
#include "core/report/number_text.h"
#include "core/report/track_names.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace trainyard {

namespace {

using namespace markup;

constexpr double kWidth = 1160, kLabels = 170, kPlot = kWidth - kLabels;
constexpr double kTrack = 17, kThinTrack = 9, kGap = 3, kGroup = 22, kAxis = 24;
constexpr std::size_t kMostTracks = 96;
constexpr std::size_t kMostRectangles = 5000;
constexpr int kLevels = 4;         // steps of opacity for a column that is only partly covered

struct Row {
    std::uint32_t track = 0;
    double y = 0, height = kTrack;
};

struct Chart {
    const Evaluation &evaluation;
    Nanoseconds axis = 1;
    std::vector<Row> rows;
    std::string svg;
    double height = kAxis;
    [[nodiscard]] double x(Nanoseconds t) const { return kLabels + kPlot * double(t) / double(axis); }
};

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
    tracks.resize(std::min(all, kMostTracks));
    std::pair<int, int> group{-2, -2};
    for (const std::uint32_t t : tracks) {
        const Track &track = timeline.tracks[t];
        const std::pair<int, int> here{track.pipelineClass, datacenterOf(chart.evaluation, track)};
        if (here != group) {
            group = here;
            chart.svg += text(0, chart.height + kGroup - 7, "group",
                              datacenterName(chart.evaluation, track) + " \u00b7 " + pipelinesName(chart.evaluation, track));
            chart.height += kGroup;
        }
        const double height = track.stream == Stream::Compute ? kTrack : kThinTrack;
        chart.rows.push_back({t, chart.height, height});
        chart.svg += rect(kLabels, chart.height, kPlot, height, "track");
        chart.svg += text(kLabels - 8, chart.height + height - (height < kTrack ? 1 : 5), "faint end", trackName(track));
        chart.height += height + kGap;
    }
    if (all > tracks.size()) {
        chart.svg += text(0, chart.height + 14, "faint", std::to_string(all - tracks.size()) + " more tracks are not drawn");
        chart.height += 18;
    }
}

/// Ticks at 1, 2 or 5 times a power of ten, about ten of them.
void drawAxis(Chart &chart)
{
    const double total = toSeconds(chart.axis).value;
    const double rough = total / 10, power = std::pow(10, std::floor(std::log10(rough)));
    const double step = power * (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1);
    std::string grid;
    for (int i = 0; i * step <= total * 1.0001; ++i) {
        const double x = kLabels + kPlot * i * step / total;
        grid += "<line x1=\"" + coordinate(x) + "\" x2=\"" + coordinate(x) + "\" y1=\"18\" y2=\"" + coordinate(chart.height) + "\" class=\"grid\"/>";
        if (x < kWidth - 20)
            grid += text(x, 12, "faint middle", secondsText(i * step));
    }
    chart.svg = grid + chart.svg;
}

std::string tooltip(const Timeline &timeline, std::uint32_t i)
{
    std::string text = toString(timeline.kind[i]);
    if (timeline.microBatch[i] >= 0)
        text += " \u00b7 micro-batch " + std::to_string(timeline.microBatch[i]);
    const double length = toSeconds(timeline.end[i] - timeline.start[i]).value;
    return text + " \u00b7 " + secondsText(length) + " from " + secondsText(toSeconds(timeline.start[i]).value);
}

void drawEachSpan(Chart &chart)
{
    const Timeline &timeline = chart.evaluation.timeline;
    for (const Row &row : chart.rows) {
        const Track &track = timeline.tracks[row.track];
        for (std::uint32_t i = track.first; i < track.last; ++i) {
            const double x = chart.x(timeline.start[i]), width = chart.x(timeline.end[i]) - x;
            // A hair's breadth between neighbours, so that equal ones can be told apart.
            chart.svg += rect(x, row.y, std::max(0.4, width - (width > 3 ? 0.6 : 0)), row.height, workClass(timeline.kind[i]), tooltip(timeline, i));
            if (width >= 17 && row.height >= kTrack && timeline.microBatch[i] >= 0) {
                const bool isDark = timeline.kind[i] == WorkKind::Backward || timeline.kind[i] == WorkKind::InputGrad;
                chart.svg += text(x + width / 2, row.y + 12.5, isDark ? "ink-light middle" : "ink-dark middle", std::to_string(timeline.microBatch[i]));
            }
        }
    }
}

/// Nanoseconds that each kind covers in each pixel column of a track.
using Columns = std::vector<std::array<double, kWorkKindCount>>;

Columns covered(const Timeline &timeline, const Track &track, Nanoseconds axis)
{
    Columns columns(std::size_t(kPlot), std::array<double, kWorkKindCount>{});
    const double perColumn = double(axis) / kPlot;
    for (std::uint32_t i = track.first; i < track.last; ++i) {
        const double start = double(timeline.start[i]), end = double(timeline.end[i]);
        for (auto c = std::size_t(start / perColumn); c < columns.size() && double(c) * perColumn < end; ++c)
            columns[c][std::size_t(timeline.kind[i])] += std::min(end, double(c + 1) * perColumn) - std::max(start, double(c) * perColumn);
    }
    return columns;
}

void drawMerged(Chart &chart)
{
    const Timeline &timeline = chart.evaluation.timeline;
    const double perColumn = double(chart.axis) / kPlot;
    std::map<std::pair<std::size_t, int>, std::string> paths;   // (kind, level of cover) -> path
    for (const Row &row : chart.rows) {
        const Columns columns = covered(timeline, timeline.tracks[row.track], chart.axis);
        const auto look = [&](std::size_t c) {
            const auto &kinds = columns[c];
            const auto most = std::size_t(std::max_element(kinds.begin(), kinds.end()) - kinds.begin());
            double sum = 0;
            for (const double k : kinds)
                sum += k;
            return std::pair(most, sum <= 0 ? 0 : std::clamp(int(std::ceil(sum / perColumn * kLevels - 0.25)), 1, kLevels));
        };
        for (std::size_t c = 0; c < columns.size();) {
            const auto run = look(c);
            std::size_t end = c + 1;
            while (end < columns.size() && look(end) == run)
                ++end;
            if (run.second > 0) {
                paths[run] += "M" + coordinate(kLabels + double(c)) + " " + coordinate(row.y) + "h" + std::to_string(end - c) + "v"
                    + coordinate(row.height) + "h-" + std::to_string(end - c) + "z";
            }
            c = end;
        }
    }
    for (const auto &[run, path] : paths) {
        chart.svg += "<path class=\"" + workClass(WorkKind(run.first)) + "\" fill-opacity=\"" + coordinate(double(run.second) / kLevels)
            + "\" d=\"" + path + "\"/>";
    }
}

} // namespace

std::string ganttSvg(const Evaluation &evaluation, Nanoseconds axis)
{
    if (evaluation.timeline.isEmpty() || evaluation.timeline.duration <= 0)
        return {};
    Chart chart{evaluation, std::max(axis, evaluation.timeline.duration), {}, {}};
    layOut(chart);
    drawAxis(chart);
    std::size_t spans = 0;
    for (const Row &row : chart.rows)
        spans += evaluation.timeline.tracks[row.track].last - evaluation.timeline.tracks[row.track].first;
    if (spans <= kMostRectangles)
        drawEachSpan(chart);
    else
        drawMerged(chart);
    return "<svg viewBox=\"0 0 " + coordinate(kWidth) + " " + coordinate(chart.height) + "\" role=\"img\" aria-label=\"Timeline of one iteration\">"
        + chart.svg + "</svg>";
}

} // namespace trainyard
