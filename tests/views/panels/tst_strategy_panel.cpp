// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "tests/support/told.h"
#include "views/panels/strategy_panel.h"

#include "hand_made.h"
#include "views/panels/effect_columns.h"
#include "views/panels/effect_combo.h"
#include "views/panels/strategy_row.h"
#include "views/parts/text_line.h"
#include "views/theme/switch_button.h"
#include "views/theme/theme.h"

#include <QAbstractItemView>
#include <QScopeGuard>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QStyleOptionComboBox>
#include <QTest>

#include <set>

using namespace trainyard;

class StrategyPanelTest : public QObject {
    Q_OBJECT
private:
    PlanPtr m_plan = handmade::shared(handmade::plan());

    std::unique_ptr<StrategyPanel> panel() const
    {
        auto made = std::make_unique<StrategyPanel>(builtinCatalogue());
        made->setShown(shownOf(m_plan));
        made->resize(420, 640);
        made->show();
        return made;
    }

    static PlanPtr planOf(const QSignalSpy &spy) { return spy.last().at(0).value<PlanPtr>(); }

    static Effect effect(double change, bool fits = true)
    {
        Effect e;
        e.iterationTime = 10 * (1 + change);
        e.change = change;
        e.fits = e.feasible = fits;
        e.memoryBytes = fits ? 70e9 : 84e9;
        e.capacityBytes = 80e9;
        return e;
    }

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Light); }

    void whatIsNotUnderstoodIsNotComparedByAnySwitch()
    {
        Effect open = effect(0);
        open.change.reset();
        open.memoryBytes = 60e9;
        open.utilization = 0.9;
        open.notCompared = "not compared: --zebra: is 4, which no plan takes";
        EffectTable now;
        now.plan = m_plan;
        now.iterationTime = 10;
        now.memoryBytes = 70e9;
        now.utilization = 0.5;
        for (const bool fits : { true, false }) {
            now.fits = fits;
            for (const EffectFocus focus : { EffectFocus::Time, EffectFocus::Memory, EffectFocus::Utilization }) {
                const EffectText text = effectText(open, now, focus);
                QCOMPARE(text.text, "not compared");
                QVERIFY(!text.hasColumns());
            }
        }
        QCOMPARE(effectText(open).text, "not compared");
        QCOMPARE(utilizationText(open, 0.5).text, "not compared");
        const QString whole = effectSentence(open, 10);
        QVERIFY2(whole.contains("Not compared: --zebra") && !whole.contains("→"), qPrintable(whole));
    }

    void choosingWithTheKeyboardEmitsThePlanWithThatValue()
    {
        const auto p = panel();
        QSignalSpy committed(p.get(), &StrategyPanel::editCommitted);
        EffectCombo *list = p->row("recompute")->list();
        QCOMPARE(list->currentText(), QStringLiteral("none"));
        list->showPopup();
        QTest::keyClick(list->view(), Qt::Key_Down);
        QTest::keyClick(list->view(), Qt::Key_Down);
        QTest::keyClick(list->view(), Qt::Key_Return);
        QCOMPARE(committed.count(), 1);
        Plan expected = *m_plan;
        expected.memory.recompute = Recompute::Full;
        QCOMPARE(*planOf(committed), expected);
        QCOMPARE(committed.last().at(1).toString(), QStringLiteral("Recompute none → full"));
    }

    void flippingASwitchEmitsThePlan()
    {
        const auto p = panel();
        QSignalSpy committed(p.get(), &StrategyPanel::editCommitted);
        SwitchButton *toggle = p->row("sequence_parallel")->toggle();
        QVERIFY(toggle->isChecked()); // the default with tensor parallelism
        QTest::mouseClick(toggle, Qt::LeftButton);
        QCOMPARE(committed.count(), 1);
        QCOMPARE(planOf(committed)->parallelism.sequenceParallel, std::optional<bool>(false));
    }

    void highlightingPreviewsAndClosingTakesItBack()
    {
        const auto p = panel();
        QSignalSpy previewed(p.get(), &StrategyPanel::editPreviewed), cancelled(p.get(), &StrategyPanel::editCancelled);
        QSignalSpy committed(p.get(), &StrategyPanel::editCommitted);
        EffectCombo *list = p->row("zero")->list();
        list->showPopup();
        QTest::keyClick(list->view(), Qt::Key_Down);
        QVERIFY(previewed.count() >= 1);
        QCOMPARE(planOf(previewed)->parallelism.zeroStage, 2);
        QTest::keyClick(list->view(), Qt::Key_Escape);
        QTRY_VERIFY(cancelled.count() >= 1);
        QCOMPARE(committed.count(), 0);
    }

    void theBestOtherValueStandsBesideTheControl()
    {
        const auto p = panel();
        auto table = std::make_shared<EffectTable>();
        table->plan = m_plan;
        table->iterationTime = 10;
        table->strategies = { { "schedule=gpipe", effect(0.031) }, { "schedule=interleaved", effect(-0.021) },
            { "micro_batch=2", effect(-0.3, false) } };
        p->setEffects(table);
        // −2.1 % beats +3.1 %
        TextLine *schedule = p->row("schedule")->effectLine();
        QCOMPARE(schedule->text(), QStringLiteral("Interleaved −2.1 %"));
        QCOMPARE(schedule->ink(), Ink::Good);
        TextLine *microBatch = p->row("micro_batch")->effectLine();
        QCOMPARE(microBatch->text(), QStringLiteral("2: does not fit"));
        QCOMPARE(microBatch->ink(), Ink::Bad); // the plan fits, and would not
        QVERIFY(p->row("recompute")->effectLine()->text().isEmpty());
    }

    void whereNothingFitsEveryRowShowsWhatItFrees()
    {
        const auto p = panel();
        auto table = std::make_shared<EffectTable>();
        table->plan = m_plan;
        table->iterationTime = 10;
        table->memoryBytes = 100e9;
        table->fits = false;
        Effect two = effect(-0.03, false), four = effect(0.2), pipeline = effect(0.01, false);
        two.memoryBytes = 120e9; // against 100 GB now: 20 more
        pipeline.memoryBytes = 94e9;
        table->strategies = { { "micro_batch=2", two }, { "recompute=full", four }, { "pipeline=4", pipeline } };
        p->setEffects(table);
        QCOMPARE(p->row("micro_batch")->effectLine()->text(), QStringLiteral("2 −3.0 % +20.0 GB ✕"));
        QCOMPARE(p->row("micro_batch")->effectLine()->ink(), Ink::Muted);
        QCOMPARE(p->row("pipeline")->effectLine()->text(), QStringLiteral("4 +1.0 % −6.00 GB ✕"));
        QCOMPARE(p->row("pipeline")->effectLine()->ink(), Ink::Muted);
        QCOMPARE(p->row("recompute")->effectLine()->text(), QStringLiteral("full +20.0 % −30.0 GB ✓"));
        QCOMPARE(p->row("recompute")->effectLine()->ink(), Ink::Good); // and this one makes it fit
        EffectCombo *list = p->row("micro_batch")->list();
        QCOMPARE(list->effect(list->findText("2")).text, QStringLiteral("−3.0 % +20.0 GB ✕"));
    }

    void whatChangesTrainingIsMarkedAndNeverGreen()
    {
        const auto p = panel();
        auto table = std::make_shared<EffectTable>();
        table->plan = m_plan;
        table->iterationTime = 10;
        table->memoryBytes = 72e9;
        table->strategies = { { "optimizer=sgd", effect(-0.01) }, { "precision=fp8", effect(-0.3) },
            { "precision=fp16", effect(0.001) } };
        p->setEffects(table);
        for (const auto &[group, text] : { std::pair { "optimizer", "SGD −1.0 % −2.00 GB ≠" },
                 std::pair { "precision", "fp8 −30.0 % −2.00 GB ≠" } }) {
            TextLine *line = p->row(group)->effectLine();
            QCOMPARE(line->text(), QString::fromUtf8(text));
            QCOMPARE(line->ink(), Ink::Muted);
            QVERIFY(line->toolTip().contains("affects convergence"));
        }
        EffectCombo *list = p->row("optimizer")->list();
        QCOMPARE(list->effect(list->findText("SGD")).text, QStringLiteral("−1.0 % −2.00 GB ≠"));
        QCOMPARE(list->effect(list->findText("SGD")).ink, Ink::Muted);
    }

    void aBoundIsNoRecommendation()
    {
        const auto p = panel();
        auto table = std::make_shared<EffectTable>();
        table->plan = m_plan;
        table->iterationTime = 10;
        table->strategies = { { "stack=ideal", effect(-0.17) }, { "stack=deepspeed", effect(0.04) } };
        p->setEffects(table);
        QCOMPARE(p->row("stack")->effectLine()->text(), QStringLiteral("DeepSpeed ZeRO +4.0 %"));
        EffectCombo *list = p->row("stack")->list();
        QCOMPARE(list->effect(list->findText("Ideal")).ink, Ink::Muted);
        QVERIFY(list->tip(list->findText("Ideal")).contains("bound"));
    }

    /// A plan that is one already, such as one of measured times: its other values are compared with each other.
    void aPlanThatIsABoundItselfHasRecommendations()
    {
        Plan ideal = *m_plan;
        ideal.stack.name = "ideal";
        const PlanPtr plan = handmade::shared(ideal);
        const auto p = panel();
        p->setShown(shownOf(plan));
        auto table = std::make_shared<EffectTable>();
        table->plan = plan;
        table->iterationTime = 10;
        table->strategies = { { "recompute=full", effect(-0.05) } };
        p->setEffects(table);
        QCOMPARE(p->row("recompute")->effectLine()->text(), QStringLiteral("full −5.0 %"));
        QCOMPARE(p->row("recompute")->effectLine()->ink(), Ink::Good);
    }

    /// At 1280 pixels the panel has 408 of them.
    void theNamesOfZeroStagesHaveRoomInANarrowWindow()
    {
        const auto p = panel();
        p->resize(408, 640);
        EffectCombo *list = p->row("zero")->list();
        QStyleOptionComboBox option;
        option.initFrom(list);
        const int room =
            list->style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, list).width() - 2;
        for (int i = 0; i < list->count(); ++i)
            QVERIFY2(list->fontMetrics().horizontalAdvance(list->itemText(i)) <= room,
                qPrintable(QStringLiteral("%1 in %2").arg(list->itemText(i)).arg(room)));
    }

    /// 64 GPUs, tensor 8: with Data 4 a pipeline of 2 takes them all, one of 4 would take 128.
    void replicasThatAreSetAreNamedAsTheObstacle()
    {
        Plan pinned = *m_plan;
        pinned.parallelism.data = 4;
        const PlanPtr plan = handmade::shared(pinned);
        const auto p = panel();
        p->setShown(shownOf(plan));
        auto table = std::make_shared<EffectTable>();
        table->plan = plan;
        table->iterationTime = 10;
        Effect impossible;
        impossible.feasible = false;
        impossible.reason = "4 stages cannot be seated";
        table->strategies = { { "pipeline=4", impossible } };
        p->setEffects(table);
        TextLine *line = p->row("pipeline")->effectLine();
        QCOMPARE(line->text(), QStringLiteral("4: not with Data 4"));
        QVERIFY2(line->toolTip().contains("Set Data to auto or to 2 at most"), qPrintable(line->toolTip()));
    }

    /// The figures of all rows stand below each other, and keep their room in a narrow window with large letters.
    void figuresStandInColumnsAndStayWhole_data()
    {
        QTest::addColumn<int>("percent");
        for (const int percent : { 100, 150 })
            QTest::addRow("%d %%", percent) << percent;
    }
    void figuresStandInColumnsAndStayWhole()
    {
        QFETCH(int, percent);
        const QFont usual = QApplication::font();
        const auto restored = qScopeGuard([&] { QApplication::setFont(usual); });
        QFont large = usual;
        large.setPointSizeF(large.pointSizeF() * percent / 100);
        QApplication::setFont(large);
        const auto p = panel();
        p->resize(408, 640);
        auto table = std::make_shared<EffectTable>();
        table->plan = m_plan;
        table->iterationTime = 10;
        table->memoryBytes = 82.3e9;
        Effect grows = effect(0.313);
        grows.memoryBytes = 99.8e9;
        table->strategies = { { "recompute=full", effect(-0.021) }, { "schedule=interleaved", grows },
            { "optimizer=sgd", effect(-0.288) } };
        p->setEffects(table);
        QTRY_VERIFY(p->row("recompute")->effectLine()->width() > 50);
        std::set<int> rights;
        for (const char *group : { "recompute", "schedule", "optimizer" }) {
            EffectLine *line = p->row(group)->effectLine();
            rights.insert(line->mapTo(p.get(), line->rect().topRight()).x());
            const QFontMetrics metrics(line->font());
            const EffectWidths widths = effectWidths(metrics);
            QVERIFY2(line->width() >= widths.all(), qPrintable(QString::number(line->width())));
            QVERIFY2(metrics.horizontalAdvance(line->effect().columns.time) <= widths.time, group);
            QVERIFY2(metrics.horizontalAdvance(line->effect().columns.memory) <= widths.memory, group);
            QVERIFY2(p->row(group)->list()->width() >= metrics.horizontalAdvance(QStringLiteral("mmmm")), group);
        }
        QCOMPARE(rights.size(), std::size_t(1));
        QCOMPARE(p->row("optimizer")->effectLine()->effect().columns.mark, QStringLiteral("≠"));
    }

    void theNameGivesWayBeforeTheNumbersDo()
    {
        TextLine line(QStringLiteral("host, interleaved +629 MB +0.8 %"));
        line.setFont(uiFont(-1));
        line.setShortText(QStringLiteral("host, interleaved +629 MB +1 %"));
        line.setLead(17);
        const QFontMetrics metrics(line.font());
        QCOMPARE(line.shown(1000), line.text());
        const QString shown = line.shown(metrics.horizontalAdvance(QStringLiteral("hosts… +629 MB +1 %")));
        QVERIFY2(shown.startsWith(u'h') && shown.endsWith(QStringLiteral("… +629 MB +1 %")), qPrintable(shown));
    }

    void everyItemOfAListShowsItsEffect()
    {
        const auto p = panel();
        auto table = std::make_shared<EffectTable>();
        table->plan = m_plan;
        table->iterationTime = 10;
        table->strategies = { { "recompute=full", effect(0.25) }, { "recompute=selective", effect(0.0001) } };
        p->setEffects(table);
        EffectCombo *list = p->row("recompute")->list();
        QCOMPARE(list->effect(list->findText("full")).text, QStringLiteral("+25.0 %"));
        QCOMPARE(list->effect(list->findText("full")).ink, Ink::Bad);
        QCOMPARE(list->effect(list->findText("selective")).text, QStringLiteral("±0"));
        QVERIFY(list->effect(list->findText("none")).text.isEmpty());
        QCOMPARE(list->tip(list->findText("full")),
            QStringLiteral("Iteration 10.0 s → 12.5 s. Fullest GPU 70.0 GB of 80.0 GB."));
    }

    void aValueThatDoesNothingSaysSoAndWhy()
    {
        const auto p = panel();
        auto table = std::make_shared<EffectTable>();
        table->plan = m_plan;
        table->iterationTime = 10;
        Effect idle = effect(0);
        idle.isIdle = true;
        idle.idleBecause = "attention keeps no matrices";
        table->strategies = { { "recompute=selective", idle }, { "recompute=full", effect(0.25) } };
        p->setEffects(table);
        EffectCombo *list = p->row("recompute")->list();
        const int selective = list->findText("selective");
        QCOMPARE(list->effect(selective).text, QStringLiteral("no effect"));
        QCOMPARE(list->effect(selective).ink, Ink::Faint);
        QVERIFY2(list->tip(selective).contains(QStringLiteral("No effect: attention keeps no matrices.")),
            qPrintable(list->tip(selective)));
        QVERIFY(!list->tip(list->findText("full")).contains(QStringLiteral("No effect")));
        idle.idleBecause.clear(); // nobody knows why: it is said all the same
        table->strategies["recompute=selective"] = idle;
        p->setEffects(table);
        QVERIFY(list->tip(selective).contains(QStringLiteral("No effect on this plan.")));
    }

    void whatCannotBeChosenSaysWhy()
    {
        Plan alone = *m_plan;
        alone.cluster.datacenters.pop_back();
        alone.cluster.wanLinks.clear();
        const auto p = panel();
        p->setShown(shownOf(handmade::shared(alone)));
        EffectCombo *connections = p->row("tcp_connections")->list();
        QVERIFY(!connections->isEnabled());
        QCOMPARE(connections->toolTip(), QStringLiteral("The cluster has no WAN link."));
        EffectCombo *tensor = p->row("precision")->list();
        const int mxfp8 = tensor->findText("mxfp8");
        QVERIFY(!(tensor->model()->index(mxfp8, 0).flags() & Qt::ItemIsEnabled));
        QVERIFY(tensor->itemData(mxfp8, Qt::ToolTipRole).toString().contains("H100"));
    }

    void autoSaysWhatItCameTo()
    {
        const auto p = panel();
        Evaluation e = handmade::evaluation();
        e.plan = m_plan;
        p->setShown(test::told(m_plan, handmade::shared(e)));
        QCOMPARE(p->row("data")->list()->currentText(), QStringLiteral("auto (4)"));
        QCOMPARE(p->row("tcp_connections")->list()->currentText(), QStringLiteral("auto (16)"));
    }

    void anEvaluationOfAHoveredPlanChangesNoControl()
    {
        const auto p = panel();
        Evaluation e = handmade::evaluation();
        p->setShown(test::told(m_plan, handmade::shared(e))); // of another plan value
        QCOMPARE(p->row("data")->list()->currentText(), QStringLiteral("auto"));
    }

    void theWheelScrollsThePanelNotTheValue()
    {
        const auto p = panel();
        p->resize(420, 240);
        QSignalSpy committed(p.get(), &StrategyPanel::editCommitted);
        auto *area = p->findChild<QScrollArea *>();
        QVERIFY(area->verticalScrollBar()->maximum() > 0);
        EffectCombo *list = p->row("tensor")->list();
        QWheelEvent wheel(list->rect().center(), list->mapToGlobal(list->rect().center()), {}, { 0, -120 },
            Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
        QApplication::sendEvent(list, &wheel);
        QCOMPARE(committed.count(), 0);
    }

    void aListTellsOfItsEndOnceAndAfterTheChoice()
    {
        const auto p = panel();
        EffectCombo *list = p->row("recompute")->list();
        QSignalSpy hidden(list, &EffectCombo::popupHidden);
        list->hidePopup(); // QComboBox does so without a popup as well
        QCoreApplication::processEvents();
        QCOMPARE(hidden.count(), 0);
        QStringList order;
        connect(list, &QComboBox::activated, this, [&] { order << "chosen"; });
        connect(list, &EffectCombo::popupHidden, this, [&] { order << "hidden"; });
        list->showPopup();
        QTest::keyClick(list->view(), Qt::Key_Down);
        QTest::keyClick(list->view(), Qt::Key_Return);
        QTRY_COMPARE(order, (QStringList { "chosen", "hidden" }));
    }

    void everyControlHasANameForTheScreenReader()
    {
        const auto p = panel();
        for (const EffectCombo *list : p->findChildren<EffectCombo *>())
            QVERIFY(!list->accessibleName().isEmpty());
        for (const SwitchButton *toggle : p->findChildren<SwitchButton *>())
            QVERIFY(!toggle->accessibleName().isEmpty());
    }
};

TRAINYARD_TEST(StrategyPanelTest)
#include "tst_strategy_panel.moc"
