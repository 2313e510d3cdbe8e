// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/search/shortfall.h"

#include "core/base/number_text.h"
#include "core/base/words.h"

#include <algorithm>

namespace trainyard {

namespace {

/// What is needed; all digits where it would read as what is allowed.
template <class Text> std::string apart(double is, double may, Text text)
{
    return text(is) != text(may) ? text(is) : plainNumber(is);
}

} // namespace

void tellShortfall(SearchRow &row, const ObjectiveFigures &figures, const Constraints &constraints, double margin)
{
    const auto missed = [&](double by, auto text) {
        if (by <= row.missedBy)
            return;
        row.missedBy = by;
        row.shortfall = text();
    };
    if (const auto most = constraints.mostGpus)
        missed(double(figures.gpus) / *most - 1,
            [&] { return "needs " + counted(figures.gpus, "GPU") + ", allowed " + std::to_string(*most); });
    if (const auto most = constraints.mostUsdPerHour)
        missed(figures.usdPerHour / *most - 1, [&] {
            return "needs " + apart(figures.usdPerHour, *most, usdText) + " an hour, allowed $" + plainNumber(*most);
        });
    if (const auto most = constraints.mostUsdPerMillionTokens; most && figures.usdPerMillionTokens > 0)
        missed(figures.usdPerMillionTokens / *most - 1, [&] {
            return "needs " + apart(figures.usdPerMillionTokens, *most, usdText) + " a million tokens, allowed $"
                + plainNumber(*most);
        });
    if (const auto least = constraints.leastTokensPerSecond)
        missed(*least / figures.tokensPerSecond - 1, [&] {
            return "reaches " + apart(figures.tokensPerSecond, *least, countText) + " tokens/s, asked for "
                + countText(*least);
        });
    if (const auto most = constraints.mostDays; most && figures.days)
        missed(*figures.days / *most - 1,
            [&] { return "needs " + apart(*figures.days, *most, plainText) + " days, allowed " + plainNumber(*most); });
    missed((figures.fill - (1 - margin)) / std::max(1 - margin, 1e-9), [&] {
        const double free = std::max(0.0, 1 - figures.fill);
        return "leaves " + apart(free, margin, percentText) + " of memory free, the margin is "
            + plainNumber(100 * margin) + " %";
    });
}

std::string reasonWithNumbers(const SearchRow &row)
{
    return row.shortfall.empty() || row.state != RowState::OutOfConstraint ? row.reason
                                                                           : row.reason + ": " + row.shortfall;
}

} // namespace trainyard
