// SPDX-License-Identifier: GPL-3.0-or-later
#include "hand_made.h"
#include "models/text/format.h"
#include "views/panels/breakdown_bar.h"
#include "views/panels/critical_path_text.h"
#include "views/panels/hover_button.h"
#include "views/panels/memory_details.h"
#include "views/panels/memory_parts.h"
#include "views/panels/part_row.h"
#include "views/panels/problems_panel.h"
#include "views/panels/severity_mark.h"
#include "views/panels/text_line.h"
#include "views/panels/why_panel.h"
#include "views/theme/theme.h"

#include <QComboBox>
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
        for (const auto &[label, change] : {std::pair{"+10 Gbps Oregon–Iowa", -0.042}, {"1 node more in Iowa", -0.02}}) {
            RankedPart part;
            part.part.id = part.part.label = part.part.sentence = label;
            Plan next = *plan;
            next.notes = label;
            part.part.plan = handmade::shared(next);
            part.effect.iterationTime = 12.5 * (1 + change);
            part.effect.change = change;
            made->parts.push_back(part);
        }
        return made;
    }

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }

    void theBarListsWhatIsNotZeroAndAddsUp()
    {
        WhyPanel panel;
        panel.setEvaluation(handmade::shared(handmade::evaluation(10)));
        const auto *bar = panel.findChild<BreakdownBar *>();
        QCOMPARE(bar->parts().size(), std::size_t(3));
        double sum = 0;
        for (const BreakdownBar::Part &part : bar->parts())
            sum += part.seconds;
        QCOMPARE(sum, 10.0);
        QVERIFY(bar->toTsv().contains("bubble\t2\n"));
    }

    void applyEmitsThePlanOfThePart()
    {
        const PlanPtr plan = handmade::shared(handmade::plan());
        const auto effects = table(plan);
        WhyPanel panel;
        panel.setPlan(plan);
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
        QCOMPARE(committed[0][1].toString(), QStringLiteral("1 node more in Iowa"));
    }

    void partsOfAnOlderPlanCannotBeApplied()
    {
        const PlanPtr plan = handmade::shared(handmade::plan());
        WhyPanel panel;
        panel.setPlan(plan);
        panel.setEffects(table(plan));
        panel.setPlan(handmade::shared(handmade::plan()));
        QVERIFY(!panel.findChild<PartRow *>()->isEnabled());
    }

    void theCriticalPathNamesWorkAndTransfers()
    {
        // Path: F0 of stage 1, T0, F0 and B0 of stage 2, B0 and B1 of stage 1; 10 ns of 100 are latency.
        const QString sentence = criticalPathSentence(handmade::evaluation());
        QVERIFY2(sentence.contains("compute on stage 1 (50.0 %)"), qPrintable(sentence));
        QVERIFY2(sentence.contains("compute on stage 2 (30.0 %)"), qPrintable(sentence));
        QVERIFY2(sentence.contains("6 steps"), qPrintable(sentence));
        QVERIFY(criticalPathSentence(Evaluation{}).isEmpty());
    }

    void noProblemsTellsHowFarToTrustTheNumbers()
    {
        ProblemsPanel panel;
        panel.setEvaluation(handmade::shared(handmade::evaluation()));
        QStringList texts;
        for (const TextLine *line : panel.findChildren<TextLine *>())
            texts << line->text();
        QVERIFY2(texts.contains("No problems · predicted ±6 % (same family)"), qPrintable(texts.join('|')));
    }

    void aFixButtonEmitsItsPlan()
    {
        Evaluation e = handmade::evaluation();
        const PlanPtr fixed = handmade::shared(handmade::plan());
        e.problems = {{Severity::Note, "8 GPUs idle.", {}, {}}, {Severity::Blocking, "Stage 1 does not fit.", {}, {{"Recompute all", fixed}}}};
        ProblemsPanel panel;
        panel.setEvaluation(handmade::shared(e));
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

    void aHoveredFixStaysUnderThePointerWhileItsEffectIsShown()
    {
        Evaluation e = handmade::evaluation();
        e.problems = {{Severity::Blocking, "Stage 1 does not fit.", {}, {{"Recompute all", handmade::shared(handmade::plan())}}}};
        ProblemsPanel panel;
        panel.setEvaluation(handmade::shared(e));
        panel.resize(400, 300);
        panel.show();
        auto *button = panel.findChild<HoverButton *>();
        QSignalSpy previewed(&panel, &ProblemsPanel::editPreviewed), cancelled(&panel, &ProblemsPanel::editCancelled);
        QEnterEvent enter(QPointF(2, 2), QPointF(2, 2), QPointF(2, 2));
        QApplication::sendEvent(button, &enter);
        QCOMPARE(previewed.count(), 1);
        panel.setEvaluation(handmade::shared(handmade::evaluation()));   // the previewed plan has no problem
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
        e.problems = {{Severity::Blocking, "Stage 1 does not fit.", {}, {{"Recompute all", fixed}}}};
        ProblemsPanel panel;
        panel.setPlan(before);
        panel.setEvaluation(handmade::shared(e));
        panel.resize(400, 300);
        panel.show();
        QVERIFY(panel.findChild<HoverButton *>()->isEnabled());
        panel.setPlan(after);
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        auto *button = panel.findChild<HoverButton *>();
        QVERIFY(!button->isEnabled());
        QSignalSpy committed(&panel, &ProblemsPanel::editCommitted), previewed(&panel, &ProblemsPanel::editPreviewed);
        QEnterEvent enter(QPointF(2, 2), QPointF(2, 2), QPointF(2, 2));
        QApplication::sendEvent(button, &enter);
        QTest::mouseClick(button, Qt::LeftButton);
        QCOMPARE(previewed.count() + committed.count(), 0);
        e.plan = after;
        panel.setEvaluation(handmade::shared(e));
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        QVERIFY(panel.findChild<HoverButton *>()->isEnabled());
    }

    void errorsAreShownAsProblems()
    {
        ProblemsPanel panel;
        panel.setErrors({{ErrorCode::UnknownName, "workload.model", "there is no model llama-9", "llama-3-70b"}});
        bool found = false;
        for (const TextLine *line : panel.findChildren<TextLine *>())
            found = found || line->text().contains("llama-9");
        QVERIFY(found);
    }

    void memoryDetailsFollowTheChosenStage()
    {
        MemoryDetails panel;
        panel.setEvaluation(handmade::shared(handmade::evaluation()));
        const auto *parts = panel.findChild<MemoryParts *>();
        QVERIFY2(parts->accessibleName().contains("in use, of 80.0 GB 71.0 GB"), qPrintable(parts->accessibleName()));
        auto *stages = panel.findChild<QComboBox *>();
        stages->setCurrentIndex(2);
        Q_EMIT stages->activated(2);
        QVERIFY2(parts->accessibleName().contains("60.0 GB"), qPrintable(parts->accessibleName()));
    }
};

QTEST_MAIN(WhyAndProblemsTest)
#include "tst_why_and_problems.moc"
