// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/operation_strip.h"

#include "models/text/format.h"
#include "views/theme/part_colors.h"
#include "views/theme/theme.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {
constexpr int kLeastBarWithStrip = 6, kLeastStrip = 2, kMostStrip = 12;
constexpr double kShareOfBar = 0.38;

bool exchanges(const Timeline &timeline, std::uint32_t span)
{
    return timeline.classOf(span).exposed.total() > 0;
}
} // namespace

int stripHeight(int barHeight)
{
    return barHeight < kLeastBarWithStrip
        ? 0
        : std::clamp(int(std::lround(barHeight * kShareOfBar)), kLeastStrip, kMostStrip);
}

bool hasStrip(const TimelineState &state, std::uint32_t span, double width, int barHeight)
{
    return state.showsInside && width >= kStripFrom && stripHeight(barHeight) > 0 && exchanges(*state.timeline(), span);
}

std::size_t partUnder(const TimelineState &state, const ChartGeometry &geometry, std::uint32_t span, QPoint point)
{
    const OperationParts parts = operationParts(*state.timeline(), span);
    const QRectF bar = spanRect(state, geometry, span);
    const int strip = stripHeight(int(bar.height()));
    if (!hasStrip(state, span, bar.width(), int(bar.height())) || point.y() < bar.bottom() - strip
        || point.y() > bar.bottom())
        return parts.count;
    const Nanoseconds at = geometry.time(state, point.x() + 0.5);
    const auto *of =
        std::ranges::find_if(parts, [&](const OperationPart &part) { return at >= part.begin && at < part.end; });
    return std::size_t(of - parts.begin());
}

std::vector<PartLine> partLines(const Timeline &timeline, std::uint32_t span)
{
    std::vector<PartLine> lines;
    if (!exchanges(timeline, span))
        return lines;
    const double length = double(timeline.end[span] - timeline.start[span]) * 1e-9;
    for (const OperationPart &part : operationParts(timeline, span))
        lines.push_back({ partName(part.part) + u' ' + formatSeconds(part.seconds) + QStringLiteral(", ")
                + formatPercent(part.seconds / length),
            part.part == &Breakdown::compute ? theme().work(timeline.kind[span]) : partColor(part.part) });
    return lines;
}

} // namespace trainyard
