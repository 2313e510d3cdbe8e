// SPDX-License-Identifier: GPL-3.0-or-later
#include "hand_made.h"
#include "models/text/format.h"
#include "tests/support/test_program.h"
#include "tests/support/told.h"
#include "views/panels/breakdown_bar.h"
#include "views/panels/critical_path_text.h"
#include "views/panels/hover_button.h"
#include "views/panels/memory_details.h"
#include "views/panels/memory_parts.h"
#include "views/panels/part_row.h"
#include "views/panels/problems_panel.h"
#include "views/panels/severity_mark.h"
#include "views/panels/why_panel.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QMenu>
#include <QSignalSpy>
#include <QTest>

using namespace trainyard;

class WhyAndProblemsTest : public QObject {
    Q_OBJECT
private:
    static std::shared_ptr<EffectTable> table(const PlanPtr &plan)
    {
        auto made = std::make_shared<EffectTable>();
        made->plan = plan;
        made->iterationTime = 12.5;
        made->complete = true;
        for (const auto &[label, change] :
            { std::pair { "+10 Gbps Oregon–Iowa", -0.042 }, { "+1 node in Iowa", -0.02 } }) {
            RankedPart part;
            part.part.id = part.part.label = part.part.sentence = label;
            Plan next = *plan;
            next.notes = label;
            part.part.plan = handmade::shared(next);
            part.effect.iterationTime = 12.5 * (1 + change);
            part.effect.change = change;
            part.effect.because = "bubble 2.00 → 1.50 s";
            made->parts.push_back(part);
        }
        return made;
    }

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }

    void theBarListsWhatIsNotZeroAndAddsUp()
    {
        WhyPanel panel;
        panel.setShown(shownOf(handmade::shared(handmade::evaluation(10))));
        const auto *bar = panel.findChild<BreakdownBar *>();
        QCOMPARE(bar->parts().size(), std::size_t(3));
        double sum = 0;
        for (const BreakdownBar::Part &part : bar->parts())
            sum += part.seconds;
        QCOMPARE(sum, 10.0);
        QVERIFY(bar->toTsv().contains("bubble\t2\tgaps\n"));
    }

    void whereNothingIsComparedThePanelSaysWhyAndNotThatNothingHelps()
    {
        const PlanPtr plan = handmade::shared(handmade::plan());
        auto effects = std::make_shared<EffectTable>();
        effects->plan = plan;
        effects->complete = true;
        WhyPanel panel;
        panel.setShown(shownOf(plan));
        const auto says = [&panel](const QString &words) {
            const auto lines = panel.findChildren<TextLine *>();
            return std::ranges::any_of(lines, [&](TextLine *line) { return line->text().contains(words); });
        };
        panel.setEffects(effects);
        QVERIFY(says("No single better part"));
        effects->notCompared = "not compared: --zebra: is 4, which no plan takes";
        panel.setEffects(std::make_shared<const EffectTable>(*effects));
        QVERIFY(says("Not compared: --zebra: is 4, which no plan takes."));
        QVERIFY(!says("No single better part"));
    }

    void whatIsBoughtTellsItsPriceAndGpusThatDoNotPayCanBeRetired()
    {
        const PlanPtr plan = handmade::shared(handmade::plan());
        const auto effects = table(plan);
        effects->parts[1].usdPerHour = 20; // saves 2 %: 0.1 % for each dollar
        RankedPart retired = effects->parts[0];
        retired.part.label = retired.part.sentence = "Retire 16 V100 in Iowa";
        retired.effect.change = 0.03;
        retired.effect.because = "3.00 % slower, 22.0 % cheaper per token";
        retired.usdPerHour = -39.7;
        effects->retired = { retired };
        WhyPanel panel;
        panel.setShown(shownOf(plan));
        panel.setEffects(effects);
        panel.resize(400, 500);
        panel.show();
        const auto rows = panel.findChildren<PartRow *>();
        QCOMPARE(rows.size(), 3);
        QVERIFY2(rows[1]->becauseLine()->text().endsWith("$20.0 more per hour: each dollar saves 0.10 %"),
            qPrintable(rows[1]->becauseLine()->text()));
        QVERIFY2(rows[2]->becauseLine()->text().endsWith("cheaper per token; $39.7 less per hour"),
            qPrintable(rows[2]->becauseLine()->text()));
        QSignalSpy committed(&panel, &WhyPanel::editCommitted);
        QTest::mouseClick(rows[2]->applyButton(), Qt::LeftButton);
        QCOMPARE(committed.count(), 1);
        QCOMPARE(committed[0][0].value<PlanPtr>(), retired.part.plan);
        QCOMPARE(committed[0][1].toString(), QStringLiteral("Retire 16 V100 in Iowa"));
        QVERIFY(panel.toTsv().contains("Retire 16 V100 in Iowa\t"));
        effects->retired.clear();
        panel.setEffects(effects);
        QVERIFY(!rows[2]->isVisible());
    }

    void applyEmitsThePlanOfThePart()
    {
        const PlanPtr plan = handmade::shared(handmade::plan());
        const auto effects = table(plan);
        WhyPanel panel;
        panel.setShown(shownOf(plan));
        panel.setEffects(effects);
        panel.resize(400, 400);
        panel.show();
        QSignalSpy committed(&panel, &WhyPanel::editCommitted);
        const auto rows = panel.findChildren<PartRow *>();
        QCOMPARE(rows.size(), 2);
        QCOMPARE(rows[0]->changeLine()->text(), QStringLiteral("−4.2 %"));
        QTest::mouseClick(rows[1]->applyButton(), Qt::LeftButton);
        QCOMPARE(committed.count(), 1);
        QCOMPARE(committed[0][0].value<PlanPtr>(), effects->parts[1].part.plan);
        QCOMPARE(committed[0][1].toString(), QStringLiteral("+1 node in Iowa"));
    }

    void rowsStayWhatThePointerWasPutOnUntilItLeaves()
    {
        const PlanPtr plan = handmade::shared(handmade::plan());
        const auto effects = table(plan), later = table(plan);
        std::swap(later->parts[0], later->parts[1]);
        WhyPanel panel;
        panel.setShown(shownOf(plan));
        panel.setEffects(effects);
        panel.resize(400, 400);
        panel.show();
        QVERIFY(QTest::qWaitForWindowExposed(&panel));
        QSignalSpy previewed(&panel, &WhyPanel::editPreviewed), committed(&panel, &WhyPanel::editCommitted);
        const auto rows = panel.findChildren<PartRow *>();
        const QPoint at = rows[0]->applyButton()->mapTo(&panel, rows[0]->applyButton()->rect().center());
        QTest::mouseMove(panel.windowHandle(), at);
        QTRY_COMPARE(previewed.count(), 1);
        panel.setEffects(later); // the better one is found while the pointer is here
        QCOMPARE(rows[0]->nameLine()->text(), QStringLiteral("+10 Gbps Oregon–Iowa"));
        QTest::mouseClick(panel.windowHandle(), Qt::LeftButton, {}, at);
        QCOMPARE(committed.count(), 1);
        QCOMPARE(committed[0][0].value<PlanPtr>(), effects->parts[0].part.plan);
        QTest::mouseMove(panel.windowHandle(), QPoint(2, 2));
        QTRY_COMPARE(rows[0]->nameLine()->text(), QStringLiteral("+1 node in Iowa"));
    }

    void aButtonThatComesUnderTheRestingPointerPreviewsNothing()
    {
        QWidget window;
        window.resize(200, 100);
        HoverButton first(QStringLiteral("Apply"), &window), second(QStringLiteral("Apply"), &window);
        first.setGeometry(20, 20, 80, 30);
        second.setGeometry(20, 20, 80, 30);
        second.hide();
        connect(&first, &QPushButton::clicked, &second, [&] {
            first.hide();
            second.show();
        });
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        QSignalSpy entered(&first, &HoverButton::entered), enteredNext(&second, &HoverButton::entered);
        QTest::mouseMove(window.windowHandle(), { 50, 35 });
        QTRY_COMPARE(entered.count(), 1);
        QTest::mouseClick(window.windowHandle(), Qt::LeftButton, {}, { 50, 35 });
        QVERIFY(second.isVisible());
        QEnterEvent enter({ 30, 15 }, { 50, 35 }, QPointF(window.mapToGlobal(QPoint(50, 35))));
        QApplication::sendEvent(&second, &enter); // as a desktop sends it for a widget that is shown there
        QCOMPARE(enteredNext.count(), 0);
        QTest::mouseMove(window.windowHandle(), { 52, 35 });
        QTRY_COMPARE(enteredNext.count(), 1);
    }

    void aBetterPartSaysWhatMakesTheDifference()
    {
        const PlanPtr plan = handmade::shared(handmade::plan());
        WhyPanel panel;
        panel.setShown(shownOf(plan));
        panel.setEffects(table(plan));
        panel.resize(400, 400);
        panel.show();
        const auto *row = panel.findChild<PartRow *>();
        QCOMPARE(row->becauseLine()->text(), QStringLiteral("bubble 2.00 → 1.50 s"));
        QVERIFY(row->becauseLine()->isVisible());
        QVERIFY(row->becauseLine()->mapTo(row, QPoint()).y()
            >= row->nameLine()->mapTo(row, QPoint()).y() + row->nameLine()->height());
        QVERIFY2(row->toolTip().contains("Because: bubble 2.00 → 1.50 s."), qPrintable(row->toolTip()));
    }

    void thePartsOfTheBarSayWhereTheTimelineHasThem()
    {
        Evaluation e = handmade::evaluation(10);
        e.metrics.breakdown = Breakdown { .compute = 6,
            .tensorParallel = 1,
            .dataParallel = 1,
            .optimizer = 1,
            .overhead = 1,
            .dataParallelInSpans = 1 };
        WhyPanel panel;
        panel.setShown(shownOf(handmade::shared(e)));
        const auto *bar = panel.findChild<BreakdownBar *>();
        QStringList inSpans, names;
        for (const BreakdownBar::Part &part : bar->parts()) {
            names << part.name;
            if (part.isInSpans)
                inSpans << part.name;
            QVERIFY2(!part.where.isEmpty(), qPrintable(part.name));
        }
        QCOMPARE(inSpans, (QStringList { "tensor parallel", "data parallel" }));
        QVERIFY(names.contains("optimizer") && names.contains("overhead"));
        QVERIFY2(bar->toTsv().contains("overhead\t1\toverhead spans\n"), qPrintable(bar->toTsv()));
    }

    void theTableOfWhyIsWhatItShows()
    {
        const PlanPtr plan = handmade::shared(handmade::plan());
        WhyPanel panel;
        panel.setShown(shownOf(plan));
        panel.setShown(test::told(plan, handmade::shared(handmade::evaluation(10))));
        panel.setEffects(table(plan));
        QVERIFY2(panel.toTsv().contains("compute\t6\t"), qPrintable(panel.toTsv()));
        QVERIFY2(panel.toTsv().contains("+10 Gbps Oregon–Iowa\t−4.2 %\t"), qPrintable(panel.toTsv()));
    }

    void partsOfAnOlderPlanCannotBeApplied()
    {
        const PlanPtr plan = handmade::shared(handmade::plan());
        WhyPanel panel;
        panel.setShown(shownOf(plan));
        panel.setEffects(table(plan));
        panel.setShown(shownOf(handmade::shared(handmade::plan())));
        QVERIFY(!panel.findChild<PartRow *>()->isEnabled());
    }

    void theCriticalPathNamesWorkAndTransfers()
    {
        // Path: F0 of stage 1, T0, F0 and B0 of stage 2, B0 and B1 of stage 1; 10 ns of 100 are latency.
        const QString sentence = criticalPathSentence(handmade::evaluation());
        QVERIFY2(sentence.contains("compute on stage 1 (50.0 %)"), qPrintable(sentence));
        QVERIFY2(sentence.contains("compute on stage 2 (30.0 %)"), qPrintable(sentence));
        QVERIFY2(sentence.contains("6 steps"), qPrintable(sentence));
        QVERIFY(criticalPathSentence(Evaluation {}).isEmpty());
    }

    void noProblemsTellsHowFarToTrustTheNumbers()
    {
        ProblemsPanel panel;
        panel.setShown(shownOf(handmade::shared(handmade::evaluation())));
        QStringList texts;
        for (const TextLine *line : panel.findChildren<TextLine *>())
            texts << line->text();
        QVERIFY2(texts.contains("No problems · predicted ±6 % (same family)"), qPrintable(texts.join('|')));
    }

    void aFixButtonEmitsItsPlan()
    {
        Evaluation e = handmade::evaluation();
        const PlanPtr fixed = handmade::shared(handmade::plan());
        e.problems = { { Severity::Note, "8 GPUs idle.", {}, {} },
            { Severity::Blocking, "Stage 1 does not fit.", {}, { { "Recompute all", fixed } } } };
        ProblemsPanel panel;
        panel.setShown(shownOf(handmade::shared(e)));
        panel.resize(400, 300);
        panel.show();
        QCOMPARE(panel.findChildren<SeverityMark *>().first()->accessibleName(), QStringLiteral("Blocks the plan"));
        QSignalSpy committed(&panel, &ProblemsPanel::editCommitted);
        auto *button = panel.findChild<HoverButton *>();
        QCOMPARE(button->text(), QStringLiteral("Recompute all"));
        QTest::mouseClick(button, Qt::LeftButton);
        QCOMPARE(committed.count(), 1);
        QCOMPARE(committed[0][0].value<PlanPtr>(), fixed);
    }

    void aFixShowsItsEffectAndWhy()
    {
        const PlanPtr plan = handmade::shared(handmade::plan());
        Plan linked = *plan;
        linked.notes = "linked";
        Evaluation e = handmade::evaluation();
        e.plan = plan;
        e.problems = { { Severity::Warning, "32 GPUs idle", {}, { { "Add a link", handmade::shared(linked) } } } };
        ProblemsPanel panel;
        panel.setShown(shownOf(plan));
        panel.setShown(test::told(plan, handmade::shared(e)));
        panel.resize(500, 300);
        panel.show();
        const auto shows = [&](const QString &text) {
            const auto lines = panel.findChildren<TextLine *>();
            return std::ranges::any_of(
                lines, [&](const TextLine *line) { return line->isVisible() && line->text() == text; });
        };
        QVERIFY(!shows("−50.0 %"));
        auto effects = table(plan);
        Effect effect;
        effect.iterationTime = 6.25;
        effect.change = -0.5;
        effect.because = "4 replicas instead of 2; no GPU idle";
        effects->fixes = { { handmade::shared(linked), effect } }; // equal, not the same: another evaluation found it
        auto *button = panel.findChild<HoverButton *>();
        panel.setEffects(effects);
        QVERIFY(shows("−50.0 %"));
        QVERIFY(shows("4 replicas instead of 2; no GPU idle"));
        QVERIFY2(panel.toTsv().contains("32 GPUs idle\tAdd a link\t−50.0 %\t4 replicas instead of 2; no GPU idle\n"),
            qPrintable(panel.toTsv()));
        QCOMPARE(panel.findChild<HoverButton *>(), button); // shown in place: the pointer may rest on it
        auto other = std::make_shared<EffectTable>(*effects);
        Plan changed = *plan;
        changed.workload.globalBatch *= 2;
        other->plan = handmade::shared(changed);
        panel.setEffects(other);
        QVERIFY(!shows("−50.0 %")); // numbers of another plan
    }

    void fixesThatTookASearchComeWithTheEffects()
    {
        const PlanPtr plan = handmade::shared(handmade::plan());
        Plan linked = *plan;
        linked.notes = "linked";
        Evaluation e = handmade::evaluation();
        e.plan = plan;
        e.problems = { { Severity::Warning, "384 GPUs in 20 datacenters idle", {}, {} } };
        ProblemsPanel panel;
        panel.setShown(shownOf(plan));
        panel.setShown(test::told(plan, handmade::shared(e)));
        QVERIFY(!panel.findChild<HoverButton *>());
        auto effects = table(plan);
        effects->problems = e.problems;
        effects->problems.front().fixes = { { "Add 20 links", handmade::shared(linked) } };
        panel.setEffects(effects);
        auto *button = panel.findChild<HoverButton *>();
        QVERIFY(button);
        QCOMPARE(button->text(), QStringLiteral("Add 20 links"));
        panel.setEffects(std::make_shared<EffectTable>(*effects)); // the next of the batches
        QCOMPARE(panel.findChild<HoverButton *>(), button);
    }

    void aHoveredFixStaysUnderThePointerWhileItsEffectIsShown()
    {
        Evaluation e = handmade::evaluation();
        e.problems = { { Severity::Blocking, "Stage 1 does not fit.", {},
            { { "Recompute all", handmade::shared(handmade::plan()) } } } };
        ProblemsPanel panel;
        panel.setShown(shownOf(handmade::shared(e)));
        panel.resize(400, 300);
        panel.show();
        auto *button = panel.findChild<HoverButton *>();
        QSignalSpy previewed(&panel, &ProblemsPanel::editPreviewed), cancelled(&panel, &ProblemsPanel::editCancelled);
        QEnterEvent enter(QPointF(2, 2), QPointF(2, 2), QPointF(2, 2));
        QApplication::sendEvent(button, &enter);
        QCOMPARE(previewed.count(), 1);
        panel.setShown(test::previewed(handmade::shared(handmade::evaluation()), e.plan)); // without a problem
        QVERIFY(button->isVisible());
        QEvent leave(QEvent::Leave);
        QApplication::sendEvent(button, &leave);
        QCOMPARE(cancelled.count(), 1);
    }

    void aFixOfAnOlderPlanCannotBeApplied()
    {
        const PlanPtr before = handmade::shared(handmade::plan()), fixed = handmade::shared(handmade::plan());
        Plan other = *before;
        other.workload.globalBatch *= 2;
        const PlanPtr after = handmade::shared(other);
        Evaluation e = handmade::evaluation();
        e.plan = before;
        e.problems = { { Severity::Blocking, "Stage 1 does not fit.", {}, { { "Recompute all", fixed } } } };
        ProblemsPanel panel;
        panel.setShown(shownOf(before));
        panel.setShown(test::told(before, handmade::shared(e)));
        panel.resize(400, 300);
        panel.show();
        QVERIFY(panel.findChild<HoverButton *>()->isEnabled());
        panel.setShown(test::told(after, handmade::shared(e))); // in the moment after an edit
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        auto *button = panel.findChild<HoverButton *>();
        QVERIFY(!button->isEnabled());
        QSignalSpy committed(&panel, &ProblemsPanel::editCommitted), previewed(&panel, &ProblemsPanel::editPreviewed);
        QEnterEvent enter(QPointF(2, 2), QPointF(2, 2), QPointF(2, 2));
        QApplication::sendEvent(button, &enter);
        QTest::mouseClick(button, Qt::LeftButton);
        QCOMPARE(previewed.count() + committed.count(), 0);
        e.plan = after;
        panel.setShown(test::told(after, handmade::shared(e)));
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        QVERIFY(panel.findChild<HoverButton *>()->isEnabled());
    }

    void errorsAreShownAsProblems()
    {
        ProblemsPanel panel;
        Shown failed;
        failed.errors = { { ErrorCode::UnknownName, "workload.model", "there is no model llama-9", "llama-3-70b" } };
        panel.setShown(failed);
        bool found = false;
        for (const TextLine *line : panel.findChildren<TextLine *>())
            found = found || line->text().contains("llama-9");
        QVERIFY(found);
    }

    void memoryDetailsFollowTheChosenStage()
    {
        MemoryDetails panel;
        panel.setShown(shownOf(handmade::shared(handmade::evaluation())));
        const auto *parts = panel.findChild<MemoryParts *>();
        QVERIFY2(parts->accessibleName().contains("in use, of 80.0 GB 71.0 GB"), qPrintable(parts->accessibleName()));
        auto *stages = panel.findChild<QComboBox *>();
        stages->setCurrentIndex(2);
        Q_EMIT stages->activated(2);
        QVERIFY2(parts->accessibleName().contains("60.0 GB"), qPrintable(parts->accessibleName()));
    }
};

TRAINYARD_TEST(WhyAndProblemsTest)
#include "tst_why_and_problems.moc"
