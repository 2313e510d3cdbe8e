// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/bound_painter.h"

#include "models/text/duration.h"
#include "views/theme/job_colors.h"
#include "views/theme/theme.h"
#include "views/timeline/chart_painter.h"
#include "views/timeline/overlay_painter.h"

#include <QCoreApplication>
#include <QFontMetrics>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kMostNamed = 3; // deadlines
constexpr double kBetweenFlags = 3;

QString boundText(const char *text)
{
    return QCoreApplication::translate("trainyard::TimeBounds", text);
}

Nanoseconds toTime(double seconds)
{
    return Nanoseconds(std::llround(std::min(seconds, 9e9) * 1e9));
}

QColor colorOf(const TimeBound &bound)
{
    switch (bound.kind) {
    case TimeBound::Kind::Bound:
        return theme().textMuted;
    case TimeBound::Kind::End:
        return theme().text;
    case TimeBound::Kind::Deadline:
        return bound.isMissed ? theme().bad : jobColor(bound.job);
    }
    return {};
}

} // namespace

std::vector<TimeBound> timeBounds(const TimelineState &state)
{
    std::vector<TimeBound> bounds;
    if (state.isEmpty() || !isOfJobs(*state.evaluation))
        return bounds;
    const JobMetrics &metrics = *state.evaluation->metrics.jobs;
    const auto add = [&](TimeBound::Kind kind, const Metric &seconds, const QString &name) {
        if (seconds)
            bounds.push_back({ kind, toTime(*seconds), name + u' ' + formatDuration(*seconds) });
    };
    add(TimeBound::Kind::Bound, metrics.boundShared, QStringLiteral("ΣW/G"));
    add(TimeBound::Kind::Bound, metrics.boundLongest, boundText("longest job"));
    add(TimeBound::Kind::End, metrics.makespan, boundText("end"));
    const auto deadlines =
        std::ranges::count_if(metrics.perJob, [](const JobResult &job) { return job.deadline.has_value(); });
    for (std::size_t j = 0; j < metrics.perJob.size(); ++j) {
        const JobResult &job = metrics.perJob[j];
        if (!job.deadline || job.state != JobState::Runs)
            continue;
        TimeBound bound { TimeBound::Kind::Deadline, toTime(*job.deadline), {}, int(j) };
        bound.isMissed = job.end && *job.end > *job.deadline;
        if (deadlines <= kMostNamed || state.job == int(j))
            bound.text = boundText("due: %1").arg(QString::fromStdString(job.name));
        bounds.push_back(bound);
    }
    std::ranges::stable_sort(bounds, {}, &TimeBound::at);
    return bounds;
}

std::vector<QRectF> flagPlaces(const std::vector<double> &lines, const std::vector<double> &widths, const QRect &ruler)
{
    std::vector<QRectF> places(lines.size());
    double right = ruler.right() + 12;
    for (std::size_t i = lines.size(); i-- > 0;) {
        if (widths[i] <= 0)
            continue;
        const double end = std::min(right, std::max(lines[i] + 1, ruler.left() + widths[i]));
        if (end - widths[i] < ruler.left())
            continue; // no room before the next one
        places[i] = QRectF(end - widths[i], ruler.top() + 2, widths[i], ruler.height() - 5);
        right = end - widths[i] - kBetweenFlags;
    }
    return places;
}

void paintBounds(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry)
{
    std::vector<TimeBound> bounds = timeBounds(state);
    std::erase_if(
        bounds, [&](const TimeBound &bound) { return bound.at < state.range.begin || bound.at > state.range.end; });
    if (bounds.empty())
        return;
    const QFontMetrics metrics(rowFont());
    std::vector<double> lines, widths;
    for (const TimeBound &bound : bounds) {
        const double x = std::round(geometry.x(state, bound.at));
        lines.push_back(x);
        widths.push_back(bound.text.isEmpty() ? 0 : metrics.horizontalAdvance(bound.text) + 10);
        QPen pen(colorOf(bound), 1.2, bound.kind == TimeBound::Kind::End ? Qt::SolidLine : Qt::DashLine);
        const QLineF line(x + 0.5, geometry.ruler.bottom() - 4, x + 0.5, geometry.tracks.bottom() + 1.0);
        QColor halo = theme().panel; // clear of the bars' colours
        halo.setAlpha(210);
        painter.setPen(QPen(halo, 3.4));
        painter.drawLine(line);
        painter.setPen(pen);
        painter.drawLine(line);
    }
    const std::vector<QRectF> places = flagPlaces(lines, widths, geometry.ruler);
    painter.setFont(rowFont());
    for (const bool clears : { true, false }) // what one clears must not take from another
        for (std::size_t i = 0; i < bounds.size(); ++i)
            if (!places[i].isEmpty())
                paintFlagIn(painter, state, geometry, places[i], bounds[i].text, theme().panelRaised,
                    colorOf(bounds[i]), clears);
}

} // namespace trainyard
