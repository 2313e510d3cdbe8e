// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "views/panels/confidence_button.h"

#include "hand_made.h"
#include "models/text/confidence_text.h"
#include "views/theme/theme.h"
#include "views/window/status_line.h"

#include <QApplication>
#include <QSignalSpy>
#include <QTest>

using namespace trainyard;

class ConfidenceButtonTest : public QObject {
    Q_OBJECT
private:
    static Metrics metrics(const char *label)
    {
        Metrics m;
        m.iterationTime = 1.42;
        m.confidence.label = label;
        m.confidence.iterationLow = 1.31;
        m.confidence.iterationHigh = 1.55;
        return m;
    }

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }

    void timeRangeAndLabelAreInOneLine()
    {
        ConfidenceButton label;
        const Metrics m = metrics("calibrated");
        label.setMetrics(&m, 0);
        QCOMPARE(label.text(), QStringLiteral("1.42 s, 1.31 to 1.55 s, calibrated"));
        QVERIFY(label.accessibleName().contains(label.text()));
    }
    void jobsAreTrustedByTheTimeOfAll()
    {
        ConfidenceButton label;
        Metrics m;
        m.jobs.emplace().makespan = 750;
        m.confidence.label = "calibrated";
        label.setMetrics(&m, 0);
        QVERIFY(!label.isHidden());
        QCOMPARE(label.text(), QStringLiteral("12.5 min, calibrated"));
        QVERIFY(!label.accessibleDescription().contains(QStringLiteral("range"))); // none is stated
        m.jobs->makespan.reset();
        label.setMetrics(&m, 0);
        QVERIFY(label.isHidden());
    }
    void aRangeAcrossUnitsNamesBoth()
    {
        Metrics m = metrics("same family");
        m.confidence.iterationLow = 0.98;
        QCOMPARE(rangeText(m.confidence), QStringLiteral("980 ms to 1.55 s"));
        m.confidence.iterationLow.reset();
        QCOMPARE(rangeText(m.confidence), QString());
    }
    void theTooltipTellsWhatTheLabelMeansAndHowManyRowsMakeIt()
    {
        ConfidenceButton label;
        for (const char *name : { "calibrated", "same family", "extrapolated", "spec sheet" }) {
            const Metrics m = metrics(name);
            label.setMetrics(&m, 1440);
            QVERIFY(label.toolTip().contains(meaningOf(name)));
            QVERIFY(label.toolTip().contains(QStringLiteral("1,440 published rows make this label")));
        }
        const Metrics m = metrics("calibrated");
        label.setMetrics(&m, 0);
        QVERIFY(!label.toolTip().contains(QStringLiteral("make this label")));
    }
    void theTooltipTellsWhatWouldNarrowTheRange()
    {
        ConfidenceButton label;
        Metrics m = metrics("calibrated");
        m.confidence.note = "releases of this stack lie 50 % apart; name stack.release";
        label.setMetrics(&m, 12);
        QVERIFY2(label.toolTip().contains(QStringLiteral("Releases of this stack lie 50 % apart; name stack.release.")),
            qPrintable(label.toolTip()));
    }
    void aBetterLabelHasMoreBars()
    {
        QVERIFY(trustLevel("calibrated") > trustLevel("same family"));
        QVERIFY(trustLevel("same family") > trustLevel("extrapolated"));
        QVERIFY(trustLevel("extrapolated") > trustLevel("spec sheet"));
    }
    void aPlanWithoutTimesShowsNone()
    {
        StatusLine line;
        line.show();
        Evaluation e = handmade::evaluation();
        line.setEvaluation(handmade::shared(e), 12);
        QVERIFY(line.confidence().isVisible());
        e.metrics.iterationTime.reset();
        line.setEvaluation(handmade::shared(e));
        QVERIFY(!line.confidence().isVisible());
        line.setEvaluation(handmade::shared(handmade::evaluation()));
        line.setErrors({ { ErrorCode::BadValue, "cluster", "nothing here", {} } });
        QVERIFY(!line.confidence().isVisible());
    }
    /// What was known took no time now: the times are those of the first evaluation.
    void whatCameFromTheCacheSaysNoTimes()
    {
        StatusLine line;
        Evaluation timed = handmade::evaluation();
        timed.metrics.spans = 100;
        timed.metrics.evaluateMs = 2;
        const EvaluationPtr evaluation = handmade::shared(timed);
        line.setEvaluation(evaluation);
        QVERIFY2(line.text().contains(QStringLiteral(" in ")), qPrintable(line.text()));
        line.setEvaluation(evaluation, 0, true);
        QVERIFY2(line.text().contains(QStringLiteral("rom cache")) && !line.text().contains(QStringLiteral(" in ")),
            qPrintable(line.text()));
    }
    void aClickAndTheSpaceKeyAskForTheEvidence()
    {
        StatusLine line;
        line.resize(1200, 24);
        line.show();
        line.setEvaluation(handmade::shared(handmade::evaluation()), 12);
        QApplication::processEvents();
        QSignalSpy asked(&line, &StatusLine::validationRequested), problems(&line, &StatusLine::problemsRequested);
        QTest::mouseClick(&line.confidence(), Qt::LeftButton);
        QTest::keyClick(&line.confidence(), Qt::Key_Space);
        QCOMPARE(asked.count(), 2);
        QCOMPARE(problems.count(), 0);
    }
};

TRAINYARD_TEST(ConfidenceButtonTest)
#include "tst_confidence_button.moc"
