// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/time_axis_internal.h"

#include "core/base/number_text.h"

#include <cmath>

namespace trainyard {

std::string timeAxis(const TimeWindow &window, double height, bool isLong)
{
    const DurationUnit unit = isLong ? durationUnit(toSeconds(window.to).value) : DurationUnit {};
    const double from = toSeconds(window.from).value / unit.seconds;
    const double total = toSeconds(window.to - window.from).value / unit.seconds;
    const double rough = total / 10, power = std::pow(10, std::floor(std::log10(rough)));
    const double step = power * (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1);
    const double first = std::ceil(from / step - 1e-9);
    std::string grid;
    for (int i = 0; (first + i) * step - from <= total * 1.0001; ++i) {
        const double value = (first + i) * step;
        const double x = kTrackLabels + kTrackPlot * (value - from) / total;
        grid += "<line x1=\"" + markup::coordinate(x) + "\" x2=\"" + markup::coordinate(x) + "\" y1=\"18\" y2=\""
            + markup::coordinate(height) + "\" class=\"grid\"/>";
        if (x < markup::kSvgWidth - 20)
            grid += markup::text(
                x, 12, "faint middle", unit.seconds > 1 ? plainText(value) + " " + unit.name : secondsText(value));
    }
    return grid;
}

} // namespace trainyard
