// SPDX-License-Identifier: GPL-3.0-or-later
// Lines as a density: n lines over each other are 1 − (1 − ink)ⁿ strong, of the mean of their colours.
#include "tests/support/test_program.h"
#include "views/sweep/line_density.h"

#include <QTest>

#include <cmath>

using namespace trainyard;

namespace {

QImage drawn(int lines, double ink, QRgb color, double left = 10.5, double right = 10.5)
{
    QImage picture(40, 40, QImage::Format_ARGB32_Premultiplied);
    picture.fill(Qt::transparent);
    LineDensity density(picture.size());
    for (int i = 0; i < lines; ++i)
        density.add(left, right, color);
    density.drawBetween(4, 36);
    density.paintOn(picture, ink);
    return picture;
}

} // namespace

class LineDensityTest : public QObject {
    Q_OBJECT
private slots:
    void equalLinesAddUp()
    {
        for (const int lines : { 1, 2, 7, 100000 }) { // the line at 10.5 fills row 10
            const QImage picture = drawn(lines, 0.2, qRgb(0, 0, 255));
            const int expected = int(std::lround(255 * (1 - std::pow(0.8, lines))));
            QCOMPARE(qAlpha(picture.pixel(20, 10)), expected);
            QCOMPARE(qAlpha(picture.pixel(20, 12)), 0);
            QCOMPARE(qAlpha(picture.pixel(2, 10)), 0); // outside the gap
        }
    }
    void coloursAreMixed()
    {
        QImage picture(40, 40, QImage::Format_ARGB32_Premultiplied);
        picture.fill(Qt::transparent);
        LineDensity density(picture.size());
        density.add(10.5, 10.5, qRgb(255, 0, 0));
        density.add(10.5, 10.5, qRgb(0, 0, 255));
        density.drawBetween(0, 40);
        density.paintOn(picture, 0.9); // alpha 0.99
        const QRgb pixel = picture.pixel(20, 10);
        QVERIFY(std::abs(qRed(pixel) - qBlue(pixel)) <= 1 && qGreen(pixel) == 0);
        QVERIFY(std::abs(qRed(pixel) - 127) <= 2);
    }
    /// Along a slanted line every column has as much as the line is thick there, max(1, |slope|), within the picture.
    void aSlantedLineHasNoGaps()
    {
        LineDensity density({ 40, 40 });
        for (const double right : { 5.0, 20.0, 39.0, 200.0 }) {
            QImage picture(40, 40, QImage::Format_ARGB32_Premultiplied);
            picture.fill(Qt::transparent);
            density.add(2, right, qRgb(255, 255, 255));
            density.drawBetween(0, 40);
            density.paintOn(picture, 0.5);
            for (int x = 0; x < 5; ++x) {
                bool isCrossed = false;
                for (int y = 0; y < 40; ++y)
                    isCrossed = isCrossed || qAlpha(picture.pixel(x, y)) > 20;
                QVERIFY(isCrossed);
            }
        }
    }
};

TRAINYARD_GUILESS_TEST(LineDensityTest)
#include "tst_line_density.moc"
