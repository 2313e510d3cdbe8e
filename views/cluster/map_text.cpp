// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/map_text.h"

#include "views/theme/theme.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kLongHalf = 118; // a half of a name that is wider than this is better broken inside a word

/// The break between words whose longer half is shortest; 0 where there is none. A space goes with the first half.
qsizetype bestBreak(const QString &name, const QFontMetricsF &metrics, double &width)
{
    qsizetype best = 0;
    width = 1e9;
    for (qsizetype i = 1; i < name.size(); ++i) {
        const bool isBetween = name[i - 1] == u' ' || name[i - 1] == u'-' || name[i - 1] == u'_' || name[i - 1] == u'/';
        if (!isBetween)
            continue;
        const double longer =
            std::max(metrics.horizontalAdvance(name.left(i).trimmed()), metrics.horizontalAdvance(name.mid(i)));
        if (longer < width) {
            width = longer;
            best = i;
        }
    }
    return best;
}

} // namespace

MapFonts::MapFonts()
    : title(uiFont(0, QFont::DemiBold))
    , small(uiFont(-1))
    , tile(uiFont(-2, QFont::DemiBold))
    , tag(uiFont(-2))
    , titleMetrics(title)
    , smallMetrics(small)
    , tileMetrics(tile)
    , tagMetrics(tag)
{
}

double lineHeight(const QFontMetricsF &metrics)
{
    return std::ceil(metrics.height());
}

double textWidth(const QFontMetricsF &metrics, const QString &text)
{
    return std::ceil(metrics.horizontalAdvance(text));
}

QStringList nameInLines(const QString &name, const QFontMetricsF &metrics, double width)
{
    if (metrics.horizontalAdvance(name) <= width)
        return { name };
    double longer = 0;
    if (const qsizetype at = bestBreak(name, metrics, longer); at > 0 && longer <= width)
        return { name.left(at).trimmed(), name.mid(at) };
    qsizetype first = 1;
    while (first < name.size() && metrics.horizontalAdvance(name.left(first + 1)) <= width)
        ++first;
    return { name.left(first), metrics.elidedText(name.mid(first).trimmed(), Qt::ElideMiddle, width) };
}

double twoLineWidth(const QString &name, const QFontMetricsF &metrics)
{
    double longer = 0;
    const double whole = metrics.horizontalAdvance(name);
    if (bestBreak(name, metrics, longer) > 0 && longer <= kLongHalf)
        return std::ceil(std::min(whole, longer));
    // Anywhere: half of it, and at most one wide letter more.
    return std::ceil(std::min(whole, std::max(kLongHalf, whole / 2 + metrics.maxWidth())));
}

} // namespace trainyard
