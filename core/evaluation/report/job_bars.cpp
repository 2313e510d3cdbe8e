// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/job_bars.h"

#include "core/base/number_text.h"
#include "core/base/units.h"
#include "core/evaluation/report/job_text.h"
#include "core/evaluation/report/markup.h"

#include <algorithm>

namespace trainyard {

namespace {

using namespace markup;

constexpr double kBarLabels = 230, kBarValues = 150, kBarPlot = kSvgWidth - kBarLabels - kBarValues; // widths
constexpr double kBar = 14, kPitch = 18, kTop = 20;
constexpr std::size_t kMostJobBars = 60, kMostHostCurves = 8;
constexpr std::size_t kLongestName = 34;

std::string line(double x, double top, double bottom, const char *styleClass)
{
    return "<line x1=\"" + coordinate(x) + "\" x2=\"" + coordinate(x) + "\" y1=\"" + coordinate(top) + "\" y2=\""
        + coordinate(bottom) + "\" class=\"" + styleClass + "\"/>";
}

/// At most so many bytes of it, not inside a character.
std::string cut(const std::string &name)
{
    if (name.size() <= kLongestName)
        return name;
    std::size_t end = kLongestName;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U)
        --end;
    return name.substr(0, end) + "\u2026";
}

std::string picture(double height, const char *label, const std::string &svg)
{
    return "<svg viewBox=\"0 0 " + coordinate(kSvgWidth) + " " + coordinate(height) + "\" role=\"img\" aria-label=\""
        + label + "\">" + svg + "</svg>";
}

double axisSeconds(const Evaluation &evaluation, Nanoseconds axis)
{
    return std::max({ toSeconds(axis).value, evaluation.metrics.jobs->makespan.value_or(0), 1e-9 });
}

/// The most that a host holds in each of so many columns of time.
std::vector<double> columnsOf(const std::vector<MemoryStep> &curve, double seconds)
{
    std::vector<double> most(std::size_t(kBarPlot / 2), 0);
    const double perColumn = seconds / double(most.size());
    for (std::size_t i = 0; i < curve.size(); ++i) {
        const double begin = toSeconds(curve[i].time).value;
        const double end = i + 1 < curve.size() ? toSeconds(curve[i + 1].time).value : begin;
        const auto first = std::size_t(std::max(0.0, begin / perColumn));
        for (std::size_t c = first; c < most.size() && (c == first || double(c) * perColumn < end); ++c)
            most[c] = std::max(most[c], double(curve[i].bytes));
    }
    return most;
}

} // namespace

std::string jobBars(const Evaluation &evaluation, Nanoseconds axis)
{
    if (!evaluation.metrics.jobs || !evaluation.metrics.jobs->makespan)
        return {};
    const JobMetrics &jobs = *evaluation.metrics.jobs;
    const double seconds = axisSeconds(evaluation, axis);
    const auto x = [&](double time) { return kBarLabels + kBarPlot * std::clamp(time / seconds, 0.0, 1.0); };
    std::string svg;
    double y = kTop;
    for (const std::size_t i : jobsToShow(jobs, kMostJobBars)) {
        const JobResult &job = jobs.perJob[i];
        svg += text(kBarLabels - 8, y + kBar - 3, "faint end", cut(job.name));
        svg += rect(kBarLabels, y, kBarPlot, kBar, "track");
        if (job.start && job.end)
            svg += rect(x(*job.start), y, std::max(0.5, x(*job.end) - x(*job.start)), kBar, jobClass(int(i)),
                job.name + " \u00b7 from " + durationText(*job.start) + " to " + durationText(*job.end));
        if (job.deadline && *job.deadline <= seconds)
            svg += line(x(*job.deadline), y - 2, y + kBar + 2, "limit");
        const std::string end = job.end        ? durationText(*job.end) + (isLate(job) ? ", late" : "")
            : job.state == JobState::Paused    ? "paused"
            : job.state == JobState::CannotRun ? "cannot run"
                                               : "";
        svg += text(kSvgWidth, y + kBar - 3, isLate(job) ? "bad end" : "faint end", end);
        y += kPitch;
    }
    if (jobs.bound) {
        svg += line(x(*jobs.bound), kTop - 4, y, "bound");
        svg += text(x(*jobs.bound), kTop - 8, "faint middle", "bound " + durationText(*jobs.bound));
    }
    if (const std::size_t all = jobs.perJob.size(); all > kMostJobBars) {
        svg += text(
            0, y + 14, "faint", wholeText(double(all - jobsToShow(jobs, kMostJobBars).size())) + " more are not drawn");
        y += 18;
    }
    return picture(y + 4, "When each job runs", svg);
}

std::string hostMemoryCurves(const Evaluation &evaluation, Nanoseconds axis)
{
    if (!evaluation.metrics.jobs)
        return {};
    constexpr double kHeight = 64, kHostPitch = 92;
    const double seconds = axisSeconds(evaluation, axis);
    std::string svg;
    double y = 16;
    std::size_t drawn = 0;
    for (const HostUse &host : evaluation.metrics.jobs->hosts) {
        if (host.curve.empty() || drawn == kMostHostCurves)
            continue;
        ++drawn;
        const double most = std::max({ host.capacity, double(host.peak), 1.0 });
        const auto at = [&](double bytes) { return y + kHeight * (1 - bytes / most); };
        const std::vector<std::string> cells = hostCells(*evaluation.plan, host);
        svg += text(kBarLabels - 8, y + kHeight / 2, "faint end", cells[0]);
        svg += rect(kBarLabels, y, kBarPlot, kHeight, "track");
        const std::vector<double> columns = columnsOf(host.curve, seconds);
        std::string path;
        for (std::size_t c = 0; c < columns.size(); ++c)
            path += (c == 0 ? "M" : "L") + coordinate(kBarLabels + 2 * double(c)) + " " + coordinate(at(columns[c]));
        svg += "<path class=\"curve\" d=\"" + path + "\"/>";
        if (host.capacity > 0)
            svg += "<line x1=\"" + coordinate(kBarLabels) + "\" x2=\"" + coordinate(kBarLabels + kBarPlot) + "\" y1=\""
                + coordinate(at(host.capacity)) + "\" y2=\"" + coordinate(at(host.capacity)) + "\" class=\"limit\"/>";
        svg += text(kSvgWidth, y + 12, "faint end", cells[1] + " of " + cells[2]);
        y += kHostPitch;
    }
    return drawn == 0 ? std::string() : picture(y, "Main memory of each host", svg);
}

} // namespace trainyard
