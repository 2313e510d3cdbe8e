// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/run_ends.h"

#include "views/theme/theme.h"
#include "views/timeline/bound_painter.h"
#include "views/timeline/chart_painter.h"
#include "views/timeline/measured_text.h"
#include "views/timeline/overlay_painter.h"

#include <QCoreApplication>
#include <QFontMetrics>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kApart = 0.01; // of the step

} // namespace

std::vector<TimeEnd> timeEnds(const TimelineState &state)
{
    const auto tr = [](const char *text) { return QCoreApplication::translate("trainyard::TimeEnds", text); };
    if (state.isEmpty() || !state.overlay || !state.showsMeasured || endOf(*state.overlay) <= 0)
        return {};
    const Nanoseconds last = endOf(*state.overlay), step = stepOf(*state.overlay);
    std::vector<TimeEnd> ends { { state.timeline()->duration, tr("plan"), false },
        { step, tr("run %1").arg(runDifference(state)), true } };
    if (std::abs(double(last - step)) > kApart * double(step)) // ranks that do not wait for each other overlap
        ends.push_back({ last, tr("last span"), true });
    std::ranges::stable_sort(ends, {}, &TimeEnd::at);
    return ends;
}

void paintEnds(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry)
{
    std::vector<TimeEnd> ends = timeEnds(state);
    std::erase_if(ends, [&](const TimeEnd &end) { return end.at < state.range.begin || end.at > state.range.end; });
    const QFontMetrics metrics(rowFont());
    std::vector<double> lines, widths;
    for (const TimeEnd &end : ends) {
        const double x = std::min(std::round(geometry.x(state, end.at)), double(geometry.tracks.right()));
        lines.push_back(x);
        widths.push_back(metrics.horizontalAdvance(end.text) + 10);
        QColor line = end.isRun ? theme().text : theme().textFaint;
        line.setAlpha(150);
        painter.setPen(QPen(line, 1, end.isRun ? Qt::SolidLine : Qt::DashLine));
        painter.drawLine(QLineF(x + 0.5, geometry.ruler.bottom() - 4, x + 0.5, geometry.tracks.bottom() + 1.0));
    }
    const std::vector<QRectF> places = flagPlaces(lines, widths, geometry.ruler);
    painter.setFont(rowFont());
    for (const bool clears : { true, false }) // what one clears must not take from another
        for (std::size_t i = 0; i < ends.size(); ++i)
            if (!places[i].isEmpty())
                paintFlagIn(painter, state, geometry, places[i], ends[i].text, theme().panelRaised,
                    ends[i].isRun ? theme().text : theme().textMuted, clears);
}

} // namespace trainyard
