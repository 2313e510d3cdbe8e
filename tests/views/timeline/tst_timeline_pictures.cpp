// SPDX-License-Identifier: GPL-3.0-or-later
// Golden images of the timeline's tracks, a picture each of what they can show: tests/support/golden_picture.h.
#include "tests/support/golden_picture.h"
#include "tests/support/sample_run.h"
#include "tests/support/sample_timelines.h"
#include "tests/support/test_program.h"
#include "views/theme/theme.h"
#include "views/timeline/timeline_view.h"

#include <QApplication>
#include <QFontInfo>
#include <QTest>

using namespace trainyard;

class TimelinePicturesTest : public QObject {
    Q_OBJECT

    void compare(TimelineView &view, const QString &name)
    {
        const QString difference =
            test::differenceFromGolden(view, QStringLiteral("timeline_") + name, { view.trackArea() });
        QVERIFY2(difference.isEmpty(), qPrintable(difference));
    }

    static void show(TimelineView &view, QSize size, const EvaluationPtr &evaluation)
    {
        view.resize(size);
        view.setEvaluation(evaluation);
        view.show();
        QApplication::processEvents();
    }

private slots:
    void initTestCase()
    {
        if (QFontInfo(uiFont()).family() != QStringLiteral("DejaVu Sans"))
            QSKIP("golden images need the font DejaVu Sans");
    }

    void aFewMicroBatches_data()
    {
        QTest::addColumn<bool>("dark");
        QTest::newRow("few_dark") << true;
        QTest::newRow("few_light") << false;
    }
    void aFewMicroBatches()
    {
        QFETCH(bool, dark);
        applyTheme(*qApp, dark ? ThemeKind::Dark : ThemeKind::Light);
        TimelineView view;
        show(view, { 720, 220 }, test::sampleEvaluation({ .datacenters = 2, .stages = 4, .microBatches = 6 }));
        compare(view, QString::fromLatin1(QTest::currentDataTag()));
    }

    void moreSpansThanPixels()
    {
        applyTheme(*qApp, ThemeKind::Dark);
        TimelineView view;
        show(view, { 720, 300 }, test::sampleEvaluation({ .stages = 8, .microBatches = 400 }));
        compare(view, QStringLiteral("dense"));
    }

    void aRunLiesUnderThePlan_data()
    {
        QTest::addColumn<bool>("dark");
        QTest::newRow("measured_dark") << true;
        QTest::newRow("measured_light") << false;
    }
    void aRunLiesUnderThePlan()
    {
        QFETCH(bool, dark);
        applyTheme(*qApp, dark ? ThemeKind::Dark : ThemeKind::Light);
        TimelineView view;
        const EvaluationPtr plan = test::sampleEvaluation({ .datacenters = 2, .stages = 4, .microBatches = 6 });
        show(view, { 720, 300 }, plan);
        view.setOverlay(test::sampleRun(plan, { .noise = 0, .missingStages = { 2 } }));
        compare(view, QString::fromLatin1(QTest::currentDataTag()));
    }

    void theCriticalPathStandsOut()
    {
        applyTheme(*qApp, ThemeKind::Light);
        TimelineView view;
        show(view, { 720, 220 }, test::sampleEvaluation({ .datacenters = 2, .stages = 4, .microBatches = 6 }));
        view.toggleCriticalPath();
        compare(view, QStringLiteral("critical"));
    }

    void aSelectionShowsItsDependenciesOverABaseline()
    {
        applyTheme(*qApp, ThemeKind::Dark);
        TimelineView view;
        show(view, { 720, 260 }, test::sampleEvaluation({ .datacenters = 2, .stages = 4, .microBatches = 6 }));
        view.setBaseline(
            test::sampleEvaluation({ .datacenters = 2, .stages = 4, .microBatches = 6, .wanHold = 60'000'000 }));
        const Track &track = view.state().timeline()->tracks[2];
        view.selectSpan(track.first + 1);
        view.addMark();
        view.nextSpan();
        view.addMark();
        compare(view, QStringLiteral("selection"));
    }
};

TRAINYARD_TEST(TimelinePicturesTest)
#include "tst_timeline_pictures.moc"
