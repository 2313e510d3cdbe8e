// SPDX-License-Identifier: GPL-3.0-or-later
// The comparison of ways to share, with results made by hand: what stands in a row, what opens it, and what makes it
// the plan.
#include "hand_made.h"
#include "tests/support/test_program.h"
#include "tests/support/told.h"
#include "views/panels/baseline_row.h"
#include "views/panels/hover_button.h"
#include "views/panels/set_bars.h"
#include "views/panels/sharing_comparison.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QSignalSpy>
#include <QTest>

using namespace trainyard;

class SharingComparisonTest : public QObject {
    Q_OBJECT

    static SharingResult result(const char *label, double seconds, const PlanPtr &plan)
    {
        SharingResult made;
        made.of.label = label;
        made.of.plan = plan;
        made.of.sentence = std::string("Share as ") + label + " does";
        made.isEvaluated = made.isFeasible = made.fits = true;
        made.iterationTime = seconds;
        made.samplesPerSecond = 128 / seconds;
        made.usdPerIteration = seconds; // a dollar a second
        made.peak = 60'000'000'000;
        made.capacity = 80'000'000'000;
        made.sets = { SetShare { .gpu = "NVIDIA A", .gpus = 2, .computeShare = 0.75, .stateShare = 0.5, .idle = 0 },
            SetShare { .gpu = "NVIDIA B", .gpus = 1, .computeShare = 0.25, .stateShare = 0.5, .idle = 0.4 } };
        return made;
    }

    /// The first of six is slower than the plan's 10 s, the second faster and too large, the third the plan itself; the
    /// fourth cannot be made, and the others are under way.
    static BaselineTablePtr table(const PlanPtr &plan)
    {
        BaselineTable made;
        made.plan = plan;
        made.results.resize(kSharingBaselines.size());
        Plan next = *plan;
        next.notes = "even";
        made.results[0] = result("Even", 15, handmade::shared(next));
        next.notes = "large";
        made.results[1] = result("Large", 5, handmade::shared(next));
        made.results[1]->isFeasible = made.results[1]->fits = false;
        made.results[1]->why = "Stage 1 needs 99 GB of 80 GB per GPU";
        made.results[2] = result("Now", 10, plan);
        made.results[2]->of.isCurrent = true;
        SharingResult none;
        none.of.label = "None";
        none.why = "all GPUs are equal";
        made.results[3] = none;
        return std::make_shared<const BaselineTable>(std::move(made));
    }

    struct Shown {
        PlanPtr plan = handmade::shared(handmade::plan());
        SharingComparison comparison;
        QSignalSpy watched { &comparison, &SharingComparison::watched },
            committed { &comparison, &SharingComparison::editCommitted },
            previewed { &comparison, &SharingComparison::editPreviewed };

        Shown()
        {
            Evaluation evaluation = handmade::evaluation(10);
            evaluation.plan = plan;
            comparison.setShown(shownOf(plan));
            comparison.setShown(test::told(plan, handmade::shared(evaluation)));
            comparison.resize(430, 700);
            comparison.show();
            (void)QTest::qWaitForWindowExposed(&comparison);
        }
        void compare()
        {
            QTest::mouseClick(comparison.compareButton(), Qt::LeftButton);
            comparison.setTable(table(plan));
        }
    };

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Light); }

    void nothingIsEvaluatedBeforeSomeoneAsks()
    {
        Shown s;
        for (const auto &call : s.watched)
            QVERIFY(!call[0].toBool());
        for (const BaselineRow *row : s.comparison.rows())
            QVERIFY(!row->isVisible());
        QTest::mouseClick(s.comparison.compareButton(), Qt::LeftButton);
        QVERIFY(s.watched.last()[0].toBool());
        QVERIFY(!s.comparison.compareButton()->isVisible());
        s.comparison.hide();
        QVERIFY(!s.watched.last()[0].toBool());
        s.comparison.show();
        QVERIFY(s.watched.last()[0].toBool());
    }

    void aRowTellsTimeRateMemoryAndPriceAgainstThePlan()
    {
        // 15 s / 10 s − 1 = 50 %; 128 samples in 15 s; $15 for 128 · 8192 tokens are $14.3 a million
        Shown s;
        s.compare();
        const auto &rows = s.comparison.rows();
        QCOMPARE(rows[0]->figures(), (QStringList { "15.0 s", "+50.0 %", "8.53 /s", "60.0 / 80.0 GB", "$14.3" }));
        QCOMPARE(rows[2]->figures()[1], QStringLiteral("±0"));
        QVERIFY(!rows[2]->useButton()->isVisible()); // it is the plan
        QVERIFY(rows[3]->isVisible() && !rows[3]->useButton()->isVisible()); // there is no plan
        QVERIFY(!rows[4]->isVisible());
        QVERIFY(rows[3]->accessibleName().contains(QStringLiteral("All GPUs are equal.")));
        QVERIFY(rows[1]->accessibleName().contains(QStringLiteral("Stage 1 needs 99 GB")));
    }

    void theFastestThatFitsIsOpenUntilAnotherIsOpened()
    {
        Shown s;
        s.compare();
        const auto &rows = s.comparison.rows();
        QVERIFY(rows[2]->isOpen() && !rows[1]->isOpen()); // 5 s does not fit
        QVERIFY(rows[2]->bars()->accessibleName().contains(
            QStringLiteral("A × 2: 75.0 % of the work, 50.0 % of the states, idle 0 %")));
        QTest::mouseClick(rows[0], Qt::LeftButton, {}, QPoint(20, 26));
        QVERIFY(rows[0]->isOpen() && !rows[2]->isOpen());
        rows[1]->setFocus();
        QTest::keyClick(rows[1], Qt::Key_Space);
        QVERIFY(rows[1]->isOpen() && !rows[0]->isOpen());
        QTest::keyClick(rows[1], Qt::Key_Return);
        QVERIFY(!rows[1]->isOpen());
    }

    void oneClickMakesItThePlanAndOfAnotherPlanNoneCanBeTaken()
    {
        Shown s;
        s.compare();
        BaselineRow *even = s.comparison.rows()[0];
        QTest::mouseClick(even->useButton(), Qt::LeftButton);
        QCOMPARE(s.committed.count(), 1);
        QCOMPARE(s.committed[0][0].value<PlanPtr>(), even->result().of.plan);
        QCOMPARE(s.committed[0][1].toString(), QStringLiteral("Share as Even does"));
        s.comparison.setShown(shownOf(even->result().of.plan));
        QVERIFY(!even->useButton()->isEnabled()); // it was made of the plan before
        s.comparison.setShown(shownOf(s.plan));
        QVERIFY(even->useButton()->isEnabled());
    }

    void theTableHasALineForEachSetOfGpus()
    {
        Shown s;
        QCOMPARE(s.comparison.toTsv().count(u'\n'), 1);
        s.compare();
        const QStringList lines = s.comparison.toTsv().split(u'\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 1 + 3 * 2 + 1); // three with two sets, one that could not be made
        QVERIFY2(lines[1].startsWith(QStringLiteral("Even\t15\t8.53333333\tyes\t60000000000\t80000000000\t15\t"
                                                    "NVIDIA A × 2\t0.75\t0.5\t0\t")),
            qPrintable(lines[1]));
    }
};

TRAINYARD_TEST(SharingComparisonTest)
#include "tst_sharing_comparison.moc"
