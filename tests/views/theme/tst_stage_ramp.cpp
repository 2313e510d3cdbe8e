// SPDX-License-Identifier: GPL-3.0-or-later
// Colours of pipeline stages beside the colours of kinds of work: no two may be taken for each other, and the order of
// the stages reads without hue.
#include "tests/support/test_program.h"
#include "views/theme/stage_ramp.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QTest>

#include <array>
#include <cmath>

using namespace trainyard;

namespace {

using Triple = std::array<double, 3>;

double linear(double channel)
{
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

Triple rgbOf(const QColor &c)
{
    return { linear(c.redF()), linear(c.greenF()), linear(c.blueF()) };
}

/// CIE L*a*b* of linear sRGB under D65 (CIE 15).
Triple labOf(const Triple &rgb)
{
    const auto f = [](double t) { return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116; };
    const double x = f((0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.95047),
                 y = f(0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]),
                 z = f((0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.08883);
    return { 116 * y - 16, 500 * (x - y), 200 * (y - z) };
}

/// Distance of two colours in L*a*b*: about 2.3 is just noticeable.
double distance(const Triple &a, const Triple &b)
{
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/// How a colour looks to people without the cones for red or for green (Viénot, Brettel, Mollon 1999, linear RGB).
Triple seen(const Triple &c, bool withoutRed)
{
    if (withoutRed)
        return { 0.11238 * c[0] + 0.88762 * c[1], 0.11238 * c[0] + 0.88762 * c[1],
            0.00401 * c[0] - 0.00401 * c[1] + c[2] };
    return { 0.29275 * c[0] + 0.70725 * c[1], 0.29275 * c[0] + 0.70725 * c[1],
        -0.02234 * c[0] + 0.02234 * c[1] + c[2] };
}

} // namespace

class StageRampTest : public QObject {
    Q_OBJECT

private slots:
    void themes_data()
    {
        QTest::addColumn<ThemeKind>("kind");
        QTest::newRow("light") << ThemeKind::Light;
        QTest::newRow("dark") << ThemeKind::Dark;
        QTest::newRow("high contrast") << ThemeKind::HighContrast;
    }

    void noStageLooksLikeAKindOfWork_data() { themes_data(); }
    void noStageLooksLikeAKindOfWork()
    {
        QFETCH(ThemeKind, kind);
        applyTheme(*qApp, kind);
        for (int stage = 0; stage < 64; ++stage) {
            for (int work = int(WorkKind::Forward); work < kWorkKindCount; ++work) {
                const double apart =
                    distance(labOf(rgbOf(theme().stage(stage, 64))), labOf(rgbOf(theme().work(WorkKind(work)))));
                QVERIFY2(
                    apart >= 20, qPrintable(QStringLiteral("stage %1, kind %2: %3").arg(stage).arg(work).arg(apart)));
            }
        }
    }

    void neighboursAreApartAndLightnessRisesForEveryEye_data() { themes_data(); }
    void neighboursAreApartAndLightnessRisesForEveryEye()
    {
        QFETCH(ThemeKind, kind);
        applyTheme(*qApp, kind);
        constexpr int stages = 12;
        for (int stage = 1; stage < stages; ++stage) {
            const Triple before = rgbOf(theme().stage(stage - 1, stages)), after = rgbOf(theme().stage(stage, stages));
            QVERIFY(distance(labOf(before), labOf(after)) >= 5);
            QVERIFY(labOf(after)[0] - labOf(before)[0] >= 3); // also in grey print
            for (const bool withoutRed : { false, true })
                QVERIFY(labOf(seen(after, withoutRed))[0] - labOf(seen(before, withoutRed))[0] >= 2);
        }
    }

    void everyStageStandsOutFromThePanel_data() { themes_data(); }
    void everyStageStandsOutFromThePanel()
    {
        QFETCH(ThemeKind, kind);
        applyTheme(*qApp, kind);
        for (int stage = 0; stage < 16; ++stage)
            QVERIFY(distance(labOf(rgbOf(theme().stage(stage, 16))), labOf(rgbOf(theme().panelRaised))) >= 25);
    }

    void oneStageAloneHasAColourFromTheMiddle() { QCOMPARE(stageColour(0, 1, false), stageColour(8, 17, false)); }
};

TRAINYARD_TEST(StageRampTest)
#include "tst_stage_ramp.moc"
