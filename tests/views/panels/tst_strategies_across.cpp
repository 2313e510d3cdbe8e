// SPDX-License-Identifier: GPL-3.0-or-later
// The sections "Across datacenters" and "Bubbles" of the strategy panel with the hands of a user: what is there, what
// it makes of the plan, and that one step after the other is one to undo.
#include "strategy_fixture.h"
#include "tests/support/test_program.h"
#include "tests/support/told.h"
#include "views/panels/effect_columns.h"
#include "views/panels/file_row.h"
#include "views/panels/number_row.h"
#include "views/parts/panel_parts.h"
#include "views/parts/text_line.h"
#include "views/theme/switch_button.h"
#include "views/theme/theme.h"

#include <QAction>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>

using namespace trainyard;

class StrategiesAcrossTest : public QObject, protected StrategyFixture {
    Q_OBJECT
    void type(const char *group, const QString &text)
    {
        QLineEdit *line = m_panel->row(group)->list()->lineEdit();
        QVERIFY(line);
        line->setFocus();
        line->selectAll();
        QTest::keyClicks(line, text);
        QTest::keyClick(line, Qt::Key_Return);
    }

    void enter(const char *name, const char *text)
    {
        QDoubleSpinBox *b = box(name);
        b->setFocus();
        b->selectAll();
        QTest::keyClicks(b, text);
        QTest::keyClick(b, Qt::Key_Return);
    }

    [[nodiscard]] QDoubleSpinBox *box(const QString &name) const
    {
        for (QDoubleSpinBox *b : m_panel->findChildren<QDoubleSpinBox *>())
            if (b->accessibleName() == name)
                return b;
        return nullptr;
    }

    [[nodiscard]] SectionTitle *section(const QString &name) const
    {
        for (SectionTitle *title : m_panel->findChildren<SectionTitle *>())
            if (title->accessibleName() == name)
                return title;
        return nullptr;
    }

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }
    void init() { start(handmade::plan()); }
    void cleanup() { stop(); }

    void theSectionIsThereWhereThereAreTwoDatacenters()
    {
        QVERIFY(section("Across datacenters")->isVisibleTo(m_panel.get()));
        for (const char *group : { "placement", "tcp_connections", "congestion_control", "sharing", "activation_bits",
                 "all_reduce", "gradient_bits", "local_sgd" })
            QVERIFY2(shows(group), group);
        for (const char *group : { "cell", "turns", "local_steps", "fragments", "exchange_bits", "fill_model" })
            QVERIFY2(!shows(group), group);
        Plan alone = handmade::plan();
        alone.cluster.datacenters.pop_back();
        alone.cluster.wanLinks.clear();
        start(alone);
        QVERIFY(!section("Across datacenters")->isVisibleTo(m_panel.get()));
        QVERIFY(!shows("tcp_connections") && !shows("placement"));
    }

    void temporalSharingOpensCellAndTurns()
    {
        choose("sharing", "temporal");
        QCOMPARE(plan().wan.sharing, WanSharing::Temporal);
        QCOMPARE(undoText(), QStringLiteral("WAN sharing spatial → temporal"));
        QVERIFY(shows("cell") && shows("turns"));
        choose("turns", "drain-first");
        QCOMPARE(plan().wan.turns, TurnOrder::DrainFirst);
        m_document->undoStack().undo();
        m_document->undoStack().undo();
        QVERIFY(!shows("cell"));
    }

    void anyNumberOfConnectionsCanBeTyped()
    {
        type("tcp_connections", "17");
        QCOMPARE(plan().wan.tcpConnections, std::optional<int>(17));
        QCOMPARE(undoText(), QStringLiteral("TCP connections auto → 17"));
        QCOMPARE(m_panel->row("tcp_connections")->list()->currentText(), QStringLiteral("17"));
        type("tcp_connections", "Auto");
        QVERIFY(!plan().wan.tcpConnections);
    }

    void whatIsNoNumberPutsTheValueBack()
    {
        type("tcp_connections", "many");
        QCOMPARE(m_panel->row("tcp_connections")->list()->currentText(), QStringLiteral("auto"));
        QCOMPARE(m_document->undoStack().count(), 0);
        type("tcp_connections", "0"); // below what the key takes
        QCOMPARE(m_document->undoStack().count(), 0);
        QCOMPARE(m_panel->row("tcp_connections")->list()->currentText(), QStringLiteral("auto"));
    }

    void aCellSizeIsTypedWithOrWithoutItsUnit()
    {
        choose("sharing", "temporal");
        type("cell", "5 pipelines");
        QCOMPARE(plan().wan.cell, std::optional<int>(5));
        type("cell", "3");
        QCOMPARE(plan().wan.cell, std::optional<int>(3));
        QCOMPARE(m_panel->row("cell")->list()->currentText(), QStringLiteral("3 pipelines"));
    }

    void localSgdOpensItsDetailsAndStreamingItsFragments()
    {
        choose("local_sgd", "DiLoCo");
        QVERIFY(shows("local_steps") && shows("exchange_bits") && !shows("fragments"));
        choose("local_sgd", "streaming DiLoCo");
        QVERIFY(shows("fragments"));
        type("local_steps", "250");
        QCOMPARE(plan().wan.localSteps, 250);
        choose("exchange_bits", "4 bits");
        QCOMPARE(plan().wan.exchangeBits, 4);
    }

    void bitsRingAndCongestionControlAreChosen()
    {
        Plan lossy = handmade::plan();
        lossy.cluster.wanLinks[0].lossRate = 1e-4;
        start(lossy);
        choose("gradient_bits", "8 bits");
        choose("activation_bits", "8 bits");
        choose("all_reduce", "one flat ring");
        choose("congestion_control", "BBR");
        QCOMPARE(plan().wan.gradientBits, std::optional<int>(8));
        QCOMPARE(plan().wan.activationBits, std::optional<int>(8));
        QCOMPARE(plan().wan.allReduce, WanAllReduce::Flat);
        QCOMPARE(plan().wan.congestion, CongestionControl::Bbr);
    }

    void fillingBubblesOpensItsDetails()
    {
        QVERIFY(!box("Rate")->isVisibleTo(m_panel.get()));
        QTest::mouseClick(m_panel->row("bubble_fill")->toggle(), Qt::LeftButton);
        QVERIFY(plan().bubbleFill.enabled);
        QCOMPARE(undoText(), QStringLiteral("Prefill in bubbles off → on"));
        for (const char *name :
            { "Rate", "Prompt", "First token within", "Guard time", "KV cache", "Value of prefill" })
            QVERIFY2(box(name)->isVisibleTo(m_panel.get()), name);
        QVERIFY(!box("Burst")->isVisibleTo(m_panel.get()));
        choose("fill_arrivals", "bursty");
        QVERIFY(box("Burst")->isVisibleTo(m_panel.get()));
        QTest::mouseClick(m_panel->row("fill_chaining")->toggle(), Qt::LeftButton);
        QVERIFY(plan().bubbleFill.chaining);
        QTest::mouseClick(m_panel->row("bubble_fill")->toggle(), Qt::LeftButton);
        QVERIFY(!plan().bubbleFill.enabled && !box("Rate")->isVisibleTo(m_panel.get()));
        QVERIFY(plan().bubbleFill.chaining); // switched off, not forgotten
    }

    void stepsOfTheRateAreOneToUndo()
    {
        Plan filling = handmade::plan();
        filling.bubbleFill.enabled = true;
        filling.bubbleFill.model = "llama-3-8b";
        filling.bubbleFill.requestsPerSecond = 40;
        start(filling);
        QDoubleSpinBox *rate = box("Rate");
        QCOMPARE(rate->text(), QStringLiteral("40 requests/s"));
        rate->setFocus();
        for (int i = 0; i < 5; ++i)
            QTest::keyClick(rate, Qt::Key_Up);
        QCOMPARE(plan().bubbleFill.requestsPerSecond, 45.0);
        QCOMPARE(m_document->undoStack().count(), 1);
        QCOMPARE(undoText(), QStringLiteral("Requests 40 → 45 per second"));
        m_document->undoStack().undo();
        QCOMPARE(rate->value(), 40.0);
    }

    void whatIsTypedIsAStepOfItsOwnToUndo()
    {
        Plan filling = handmade::plan();
        filling.bubbleFill.enabled = true;
        filling.bubbleFill.model = "llama-3-8b";
        filling.bubbleFill.requestsPerSecond = 10;
        start(filling);
        enter("Rate", "100");
        enter("Rate", "17");
        QCOMPARE(m_document->undoStack().count(), 2);
        QTest::keyClick(box("Rate"), Qt::Key_Up);
        QTest::keyClick(box("Rate"), Qt::Key_Up);
        QCOMPARE(m_document->undoStack().count(), 3);
        box("Prompt")->setFocus();
        box("Rate")->setFocus(); // another visit, another step
        QTest::keyClick(box("Rate"), Qt::Key_Up);
        QCOMPARE(m_document->undoStack().count(), 4);
        QCOMPARE(plan().bubbleFill.requestsPerSecond, 20.0);
        m_document->undoStack().setIndex(1);
        QCOMPARE(box("Rate")->text(), QStringLiteral("100 requests/s"));
    }

    void undoIsTheDocumentsOnceTheTextIsEntered()
    {
        Plan filling = handmade::plan();
        filling.bubbleFill.enabled = true;
        filling.bubbleFill.model = "llama-3-8b";
        start(filling);
        QAction undo;
        undo.setShortcut(QKeySequence(Qt::CTRL | Qt::Key_Z));
        connect(&undo, &QAction::triggered, m_document.get(), [this] { m_document->undoStack().undo(); });
        m_panel->addAction(&undo);
        m_panel->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_panel.get()));
        const double before = plan().bubbleFill.requestsPerSecond;
        enter("Rate", "100");
        QTest::keyClicks(box("Rate"), "3"); // not entered: the field's
        QTest::keyClick(box("Rate"), Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(plan().bubbleFill.requestsPerSecond, 100.0);
        enter("Rate", "100");
        QTest::keyClick(box("Rate"), Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(plan().bubbleFill.requestsPerSecond, before);
        type("fill_stages", "3");
        QCOMPARE(plan().bubbleFill.stages, 3);
        QTest::keyClick(m_panel->row("fill_stages")->list(), Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(plan().bubbleFill.stages, filling.bubbleFill.stages);
    }

    void powersOfTenAreNumbersAndOtherTextIsRefusedInSight()
    {
        Plan filling = handmade::plan();
        filling.bubbleFill.enabled = true;
        filling.bubbleFill.model = "llama-3-8b";
        start(filling);
        QDoubleSpinBox *rate = box("Rate");
        enter("Rate", "1e7");
        QCOMPARE(plan().bubbleFill.requestsPerSecond, 1e7);
        QCOMPARE(rate->text(), QStringLiteral("10000000 requests/s"));
        const auto *line = rate->findChild<QLineEdit *>();
        rate->selectAll();
        QTest::keyClicks(rate, "abc");
        QVERIFY(line->text().startsWith(QStringLiteral("abc")));
        QCOMPARE(line->palette().color(QPalette::Text), theme().bad);
        QTest::keyClick(rate, Qt::Key_Return);
        QCOMPARE(rate->text(), QStringLiteral("10000000 requests/s"));
        QVERIFY(line->palette().color(QPalette::Text) != theme().bad);
        QCOMPARE(m_document->undoStack().count(), 1);
        enter("Rate", "1e99"); // more than the key takes
        QCOMPARE(plan().bubbleFill.requestsPerSecond, 1e7);
    }

    void numbersAreTypedWithTheirUnits()
    {
        Plan filling = handmade::plan();
        filling.bubbleFill.enabled = true;
        start(filling);
        enter("Prompt", "4096");
        enter("First token within", "750");
        enter("Guard time", "2.5");
        enter("KV cache", "100");
        enter("Value of prefill", "0.15");
        QCOMPARE(plan().bubbleFill.promptTokens, 4096);
        QCOMPARE(plan().bubbleFill.ttftSloMs, 750.0);
        QCOMPARE(plan().bubbleFill.guardMs, 2.5);
        QCOMPARE(plan().bubbleFill.kvGbps, std::optional<double>(100));
        QCOMPARE(plan().bubbleFill.usdPerMillionTokens, 0.15);
        QCOMPARE(m_document->undoStack().count(), 5);
        enter("KV cache", "0");
        QVERIFY(!plan().bubbleFill.kvGbps);
        QCOMPARE(box("KV cache")->text(), QStringLiteral("catalogue default"));
    }

    void aTraceTakesThePlaceOfRateAndPrompt()
    {
        Plan filling = handmade::plan();
        filling.bubbleFill.enabled = true;
        start(filling);
        auto *trace = m_panel->findChild<FileRow *>();
        Q_EMIT trace->chosen(QStringLiteral("/data/requests.csv"));
        QCOMPARE(plan().bubbleFill.arrivals, Arrivals::Trace);
        QCOMPARE(plan().bubbleFill.trace, std::string("/data/requests.csv"));
        QCOMPARE(undoText(), QStringLiteral("Arrivals from requests.csv"));
        QVERIFY(!box("Rate")->isVisibleTo(m_panel.get()) && !box("Prompt")->isVisibleTo(m_panel.get()));
    }

    void theEffectOfFillingIsOnTheUseOfTheGpus()
    {
        auto table = std::make_shared<EffectTable>();
        table->plan = m_document->plan();
        table->iterationTime = 10;
        table->utilization = 0.45;
        Effect on;
        on.iterationTime = 10;
        on.change = 0;
        on.utilization = 0.92;
        table->strategies = { { "bubble_fill=true", on } };
        m_panel->setEffects(table);
        const EffectLine *effect = m_panel->row("bubble_fill")->effectLine();
        QCOMPARE(effect->text(), QStringLiteral("+47 pt use"));
        QCOMPARE(effect->ink(), Ink::Good);
        QVERIFY(effect->toolTip().contains("45.0 % → 92.0 %"));
    }

    void whatIsServedIsToldUnderTheSwitch()
    {
        Plan filling = handmade::plan();
        filling.bubbleFill.enabled = true;
        start(filling);
        Evaluation e = handmade::evaluation();
        e.plan = m_document->plan();
        BubbleFillMetrics fill;
        fill.accepted = 30;
        fill.rejected = 10;
        e.metrics.bubbleFill = fill;
        m_panel->setShown(test::told(m_document->plan(), handmade::shared(e)));
        TextLine *served = nullptr;
        for (TextLine *line : m_panel->findChildren<TextLine *>())
            if (line->text().contains("30 of 40 requests per iteration accepted, 10 rejected"))
                served = line;
        QVERIFY(served && served->isVisibleTo(m_panel.get()));
        QTest::mouseClick(m_panel->row("bubble_fill")->toggle(), Qt::LeftButton);
        QVERIFY(!served->isVisibleTo(m_panel.get()));
    }

    void everyControlIsReachedByTabAndHasAName()
    {
        Plan filling = handmade::plan();
        filling.bubbleFill.enabled = true;
        filling.wan.sharing = WanSharing::Temporal;
        start(filling);
        for (const QDoubleSpinBox *b : m_panel->findChildren<QDoubleSpinBox *>()) {
            QVERIFY(!b->accessibleName().isEmpty());
            QVERIFY(b->focusPolicy() & Qt::TabFocus);
        }
        for (const char *group : { "tcp_connections", "cell", "sharing", "fill_stages" }) {
            QVERIFY(!m_panel->row(group)->list()->accessibleName().isEmpty());
            QVERIFY(m_panel->row(group)->list()->focusPolicy() & Qt::TabFocus);
        }
    }
};

TRAINYARD_TEST(StrategiesAcrossTest)
#include "tst_strategies_across.moc"
