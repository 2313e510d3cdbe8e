#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The map's fonts with their metrics, and names in one line or two: measuring and painting share them, so that what was
// given room is what is drawn. GUI thread.

#include <QFont>
#include <QFontMetricsF>
#include <QStringList>

namespace trainyard {

struct MapFonts {
    MapFonts();

    QFont title, small, tile, tag;
    QFontMetricsF titleMetrics, smallMetrics, tileMetrics, tagMetrics;
};

[[nodiscard]] double lineHeight(const QFontMetricsF &metrics);
[[nodiscard]] double textWidth(const QFontMetricsF &metrics, const QString &text);
/// The name in one line where it fits, else in two: between words where that will do, else anywhere.
[[nodiscard]] QStringList nameInLines(const QString &name, const QFontMetricsF &metrics, double width);
/// The least width at which `nameInLines` cuts nothing off.
[[nodiscard]] double twoLineWidth(const QString &name, const QFontMetricsF &metrics);

} // namespace trainyard
