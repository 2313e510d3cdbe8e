#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of widgets against those kept in tests/data/golden/: rendered at a fixed size and ratio in one font, and
// compared part by part, so that a card that is missing does not vanish among the pixels of a whole window.
// TRAINYARD_UPDATE_GOLDENS=1 writes them anew; look at them before committing.
//
//   const QString difference = differenceFromGolden(map, "map_dark", {island.frame.toAlignedRect()});
//   QVERIFY2(difference.isEmpty(), qPrintable(difference));

#include <QDir>
#include <QImage>
#include <QWidget>

namespace trainyard::test {

/// Before the application looks for fonts. Where there are others nonetheless, the tests ask QFontInfo and leave.
inline const bool kFontsArePinned = qputenv("FONTCONFIG_FILE", TRAINYARD_SOURCE_DIR "/tests/data/golden/fonts.conf");

inline constexpr int kChannelTolerance = 24; // rounding differs a little between library versions
inline constexpr double kPixelTolerance = 0.001; // share of a part's pixels that may differ by more

inline double differingShare(const QImage &a, const QImage &b, const QRect &part)
{
    qint64 differing = 0;
    for (int y = part.top(); y <= part.bottom(); ++y) {
        for (int x = part.left(); x <= part.right(); ++x) {
            const QRgb p = a.pixel(x, y), q = b.pixel(x, y);
            differing += std::max({ std::abs(qRed(p) - qRed(q)), std::abs(qGreen(p) - qGreen(q)),
                             std::abs(qBlue(p) - qBlue(q)) })
                > kChannelTolerance;
        }
    }
    return double(differing) / (double(part.width()) * part.height());
}

/// What differs, as a sentence; empty where every part agrees.
inline QString differenceFromGolden(QWidget &widget, const QString &name, const QList<QRect> &parts)
{
    QImage image(widget.size(), QImage::Format_RGB32);
    widget.render(&image);
    const QString path = QStringLiteral(TRAINYARD_SOURCE_DIR "/tests/data/golden/%1.png").arg(name);
    if (qEnvironmentVariableIntValue("TRAINYARD_UPDATE_GOLDENS") == 1)
        return image.convertToFormat(QImage::Format_RGB888).save(path) ? QString()
                                                                       : QStringLiteral("cannot write %1").arg(path);
    const QImage golden = QImage(path).convertToFormat(QImage::Format_RGB32);
    if (golden.size() != image.size())
        return QStringLiteral("%1 is missing or of another size").arg(path);
    for (const QRect &part : parts) {
        if (part.isEmpty() || !image.rect().contains(part))
            return QStringLiteral("part %1, %2, %3 × %4 is not in the picture")
                .arg(part.x())
                .arg(part.y())
                .arg(part.width())
                .arg(part.height());
        const double share = differingShare(image, golden, part);
        if (share <= kPixelTolerance)
            continue;
        const QString actual = QDir::temp().filePath(name + QStringLiteral("_actual.png"));
        image.save(actual);
        return QStringLiteral("%1 % of the pixels at %2, %3, %4 × %5 differ; what was drawn is in %6")
            .arg(share * 100)
            .arg(part.x())
            .arg(part.y())
            .arg(part.width())
            .arg(part.height())
            .arg(actual);
    }
    return {};
}

} // namespace trainyard::test
