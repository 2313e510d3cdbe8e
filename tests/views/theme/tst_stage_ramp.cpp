// SPDX-License-Identifier: GPL-3.0-or-later
// Colours of pipeline stages beside the colours of kinds of work: no two may be taken for each other, and the order of
// the stages reads without hue.
#include "tests/support/test_program.h"
#include "tests/views/theme/seen_colors.h"
#include "views/theme/stage_ramp.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QTest>

#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

class StageRampTest : public QObject {
    Q_OBJECT

private slots:
    void noStageLooksLikeAKindOfWork_data() { addThemes(); }
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

    void neighboursAreApartAndLightnessRisesForEveryEye_data() { addThemes(); }
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

    /// Red and green are for worse and better. A strong red has a* far above 0, a green far below; sRGB's own lie at 80
    /// and −86.
    void noStageSaysGoodOrBad_data() { addThemes(); }
    void noStageSaysGoodOrBad()
    {
        QFETCH(ThemeKind, kind);
        applyTheme(*qApp, kind);
        for (int stage = 0; stage < 64; ++stage) {
            const Triple colour = labOf(rgbOf(theme().stage(stage, 64)));
            const QString which = QStringLiteral("stage %1: L %2, a %3, b %4")
                                      .arg(stage)
                                      .arg(colour[0])
                                      .arg(colour[1])
                                      .arg(colour[2]);
            QVERIFY2(std::hypot(colour[1], colour[2]) <= 31, qPrintable(which)); // muted
            QVERIFY2(colour[1] >= -7 && colour[1] <= 21, qPrintable(which)); // neither green nor red
            for (const QColor &judgement : { theme().good, theme().bad })
                QVERIFY2(distance(colour, labOf(rgbOf(judgement))) >= 25, qPrintable(which));
        }
    }

    void everyStageStandsOutFromThePanel_data() { addThemes(); }
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
