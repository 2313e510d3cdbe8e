// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "views/plots/curves_panel.h"

#include "../panels/hand_made.h"
#include "core/engine/timeline/analysis.h"
#include "models/text/format.h"
#include "tests/support/turns_timeline.h"
#include "views/export/panel_picture.h"
#include "views/plots/curve_data.h"
#include "views/plots/curve_plot.h"
#include "views/plots/qcustomplot_gateway.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QMenu>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <numeric>

using namespace trainyard;

class CurvesTest : public QObject {
    Q_OBJECT
private:
    EvaluationPtr m_evaluation = handmade::shared(handmade::evaluation());

    std::unique_ptr<CurvesPanel> panel(CurvesPanel::Tab tab) const
    {
        auto made = std::make_unique<CurvesPanel>();
        made->resize(900, 240);
        made->setShown(shownOf(m_evaluation));
        made->setTab(tab);
        made->show();
        return made;
    }

    /// All that stands in a chart beside its axes' numbers.
    static QStringList textsOf(QCustomPlot &chart)
    {
        QStringList texts;
        for (int i = 0; i < chart.itemCount(); ++i)
            if (const auto *text = qobject_cast<QCPItemText *>(chart.item(i)))
                texts << text->text();
        return texts;
    }

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }

    void aStagesCurveIsTheCoresUtilization()
    {
        // One class, so the mean over its pipelines is the track itself.
        QCOMPARE(stageUtilization(*m_evaluation, 0, 10), utilization(m_evaluation->timeline, 0, 10, isTrainingCompute));
        QCOMPARE(stageUtilization(*m_evaluation, 1, 10), utilization(m_evaluation->timeline, 1, 10, isTrainingCompute));
        QCOMPARE(stageCount(*m_evaluation), 2);
    }

    void theFleetIsTheMeanOfItsStages()
    {
        const auto fleet = fleetUtilization(*m_evaluation, 10);
        const auto first = stageUtilization(*m_evaluation, 0, 10), second = stageUtilization(*m_evaluation, 1, 10);
        for (std::size_t i = 0; i < 10; ++i)
            QCOMPARE(fleet[i], (first[i] + second[i]) / 2);
        // 60 of 100 ns and 30 of 100 ns: 45 % on average.
        QCOMPARE(std::accumulate(fleet.begin(), fleet.end(), 0.0) / 10, 0.45);
    }

    void wanFlowsAddUpToTheBytesOfTheMetrics()
    {
        for (const int buckets : { 1, 7, 10, 1000 }) {
            const auto flows = wanFlows(*m_evaluation, buckets);
            QCOMPARE(flows.size(), std::size_t(1));
            QCOMPARE(flows[0].name, std::string("Oregon → Iowa"));
            // Σ Gbps · 10⁹/8 · bucket = 4000 bytes
            const double bucket = 100e-9 / buckets;
            double bytes = 0;
            for (const double gbps : flows[0].gbps)
                bytes += gbps * 1e9 / 8 * bucket;
            QVERIFY2(std::abs(bytes - 4000) < 1e-6, qPrintable(QString::number(bytes)));
        }
        // All of it in [10, 30) of 100 ns.
        const auto flows = wanFlows(*m_evaluation, 10);
        QCOMPARE(flows[0].gbps[0], 0.0);
        QVERIFY(flows[0].gbps[1] > 0 && flows[0].gbps[2] > 0);
        QCOMPARE(flows[0].gbps[3], 0.0);
    }

    void turnsOnALinkAreSeparateAndAddUpToIt()
    {
        // A0 [10, 20), B0 [20, 30), A1 [30, 40), B1 [40, 50) of 80 ns, 2000 bytes each: while one sends, the link
        // carries 2000 bytes · 8 / 10 ns = 1600 Gbps of that pipeline and nothing of the other.
        const Evaluation e = test::turnsEvaluation();
        const auto flows = wanFlows(e, 8);
        QCOMPARE(flows.size(), std::size_t(1));
        QCOMPARE(flows[0].turns.size(), std::size_t(2));
        for (std::size_t i = 0; i < 8; ++i) {
            const double a = flows[0].turns[0].gbps[i], b = flows[0].turns[1].gbps[i];
            QCOMPARE(a, i == 1 || i == 3 ? 1600.0 : 0.0);
            QCOMPARE(b, i == 2 || i == 4 ? 1600.0 : 0.0);
            QCOMPARE(a + b, flows[0].gbps[i]);
        }
        QVERIFY(wanFlows(*m_evaluation, 8)[0].turns.empty()); // a track of its own for each
    }

    void prefillRaisesTheFleetsCurveWhereItRuns()
    {
        // Prefill in [50, 70) of 80 ns on one of four stages: a quarter more in those two buckets.
        const Evaluation e = test::turnsEvaluation();
        const auto training = fleetUtilization(e, 8), filled = filledUtilization(e, 8);
        for (std::size_t i = 0; i < 8; ++i)
            QCOMPARE(filled[i], training[i] + (i == 5 || i == 6 ? 0.25 : 0.0));
        QVERIFY(filledUtilization(*m_evaluation, 8).empty());
    }

    void memoryOverTimeHasAGhostWithoutOffload()
    {
        CurvesPanel p;
        p.resize(900, 240);
        p.setShown(shownOf(EvaluationPtr(m_evaluation)));
        p.setTab(CurvesPanel::Tab::MemoryOverTime);
        p.show();
        const int alone = p.currentPlot()->chart().graphCount();
        QVERIFY(memoryCurveKept(*m_evaluation, 0, 100).empty());
        Evaluation offloading = *m_evaluation;
        offloading.memoryCurvesKept = offloading.memoryCurves;
        for (auto &stage : offloading.memoryCurvesKept)
            for (Evaluation::MemoryStep &step : stage)
                step.bytes += 5'000'000'000;
        p.setShown(shownOf(EvaluationPtr(std::make_shared<const Evaluation>(offloading))));
        QCOMPARE(p.currentPlot()->chart().graphCount(), 2 * alone);
        QCOMPARE(p.currentPlot()->chart().graph(0)->pen().style(), Qt::DashLine);
        QVERIFY(p.currentPlot()->note().contains("without offload"));
        const auto with = memoryCurve(offloading, 0, 100), without = memoryCurveKept(offloading, 0, 100);
        QCOMPARE(without.size(), with.size());
        for (std::size_t i = 0; i < with.size(); ++i)
            QCOMPARE(without[i].bytes, with[i].bytes + 5e9);
    }

    void theWanChartStacksTheTurns()
    {
        CurvesPanel p;
        p.resize(900, 240);
        p.setShown(shownOf(EvaluationPtr(std::make_shared<const Evaluation>(test::turnsEvaluation()))));
        p.setTab(CurvesPanel::Tab::Wan);
        p.show();
        QCustomPlot &chart = p.currentPlot()->chart();
        QCOMPARE(chart.graphCount(), 2);
        QVERIFY(chart.graph(0)->pen().color() != chart.graph(1)->pen().color());
        // the first stands behind and shows the whole, the second what is left without the first pipeline's turns
        double whole = 0, rest = 0;
        for (int i = 0; i < chart.graph(0)->dataCount(); ++i) {
            whole += chart.graph(0)->data()->at(i)->value;
            rest += chart.graph(1)->data()->at(i)->value;
        }
        QVERIFY(std::abs(rest / whole - 0.5) < 1e-9);
        QVERIFY(p.currentPlot()->note().contains("turn"));
    }

    void thinningAMemoryCurveKeepsItsPeak()
    {
        Evaluation e = handmade::evaluation();
        e.memoryCurves = { {} };
        e.timeline.duration = 100000;
        for (int i = 0; i < 100000; ++i)
            e.memoryCurves[0].push_back({ i, i == 51234 ? 999 : i % 100 });
        const auto thin = memoryCurve(e, 0, 100);
        QVERIFY(thin.size() <= 101);
        QCOMPARE(std::ranges::max(thin, {}, &MemoryPoint::bytes).bytes, 999.0);
    }

    void theChartHoldsTheData()
    {
        const auto p = panel(CurvesPanel::Tab::Utilization);
        QCustomPlot &chart = p->currentPlot()->chart();
        QCOMPARE(chart.graphCount(), 2); // the fill and its line
        const int points = chart.graph(0)->dataCount();
        const auto expected = fleetUtilization(*m_evaluation, points);
        for (int g = 0; g < 2; ++g)
            for (int i = 0; i < points; ++i)
                QCOMPARE(chart.graph(g)->data()->at(i)->value, expected[i]);
    }

    void memoryBarsStackToWhatTheDeviceHolds()
    {
        const auto p = panel(CurvesPanel::Tab::Memory);
        QCustomPlot &chart = p->currentPlot()->chart();
        double sum = 0;
        for (int i = 0; i < chart.plottableCount(); ++i)
            sum += qobject_cast<QCPBars *>(chart.plottable(i))->data()->at(0)->value;
        QCOMPARE(sum, 71.0);
    }

    void theAxisFollowsTheTimelineAndAnswersADrag()
    {
        const auto p = panel(CurvesPanel::Tab::Utilization);
        p->setVisibleRange(20, 60);
        QCustomPlot &chart = p->currentPlot()->chart();
        QCOMPARE(chart.xAxis->range().lower, 20e-9);
        QCOMPARE(chart.xAxis->range().upper, 60e-9);
        QVERIFY(QTest::qWaitForWindowExposed(p.get()));
        QSignalSpy changed(p.get(), &CurvesPanel::rangeChanged);
        const QPoint from = chart.axisRect()->rect().center();
        const int by = chart.axisRect()->width() / 4; // a quarter of 40 ns to the left: 10 ns later
        QTest::mousePress(&chart, Qt::LeftButton, {}, from);
        QMouseEvent move(QEvent::MouseMove, from - QPoint(by, 0), chart.mapToGlobal(from - QPoint(by, 0)), Qt::NoButton,
            Qt::LeftButton, {});
        QApplication::sendEvent(&chart, &move);
        QTest::mouseRelease(&chart, Qt::LeftButton, {}, from - QPoint(by, 0));
        QVERIFY(changed.count() >= 1);
        QCOMPARE(changed.last().at(0).value<Nanoseconds>(), Nanoseconds(30));
        QCOMPARE(changed.last().at(1).value<Nanoseconds>(), Nanoseconds(70));
    }

    void insetsPlaceTheAxisUnderTheTimelinesTracks()
    {
        const auto p = panel(CurvesPanel::Tab::Utilization);
        p->setPlotInsets(150, 20);
        QCustomPlot &chart = p->currentPlot()->chart();
        QApplication::processEvents();
        chart.replot();
        QCOMPARE(chart.axisRect()->left(), 150);
        QCOMPARE(chart.axisRect()->right(), chart.width() - 20 - 1);
    }

    void theContextMenuCopiesATable()
    {
        const auto p = panel(CurvesPanel::Tab::Memory);
        CurvePlot *plot = p->currentPlot();
        QContextMenuEvent event(QContextMenuEvent::Mouse, QPoint(100, 60), plot->mapToGlobal(QPoint(100, 60)));
        QApplication::sendEvent(plot, &event);
        auto *menu = plot->findChild<QMenu *>();
        QVERIFY(menu);
        for (QAction *action : menu->actions())
            if (action->text() == "Copy as TSV")
                action->trigger();
        const QStringList lines = QApplication::clipboard()->text().split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 3);
        QCOMPARE(lines[0].split('\t').first(), QStringLiteral("stage"));
        QCOMPARE(lines[1].split('\t').size(), lines[0].split('\t').size());
        QVERIFY(lines[1].endsWith("\t71000000000\t80000000000"));
    }

    void picturesAreWrittenInThreeFormats()
    {
        QTemporaryDir folder;
        const auto p = panel(CurvesPanel::Tab::Wan);
        const std::pair<const char *, QByteArray> formats[] = { { "png", "\x89PNG" }, { "svg", "<?xml" },
            { "pdf", "%PDF" } };
        for (const auto &[ending, magic] : formats) {
            const QString path = folder.filePath(QStringLiteral("wan.") + ending);
            QVERIFY(savePicture(p->currentPlot(), path));
            QFile file(path);
            QVERIFY(file.open(QIODevice::ReadOnly));
            QVERIFY2(file.readAll().startsWith(magic), ending);
        }
        QVERIFY(!savePicture(p->currentPlot(), folder.filePath("missing/wan.png")));
    }

    void nothingToDrawIsSaidInWords()
    {
        CurvesPanel p;
        p.resize(600, 200);
        p.show();
        for (const auto tab : { CurvesPanel::Tab::Utilization, CurvesPanel::Tab::Memory,
                 CurvesPanel::Tab::MemoryOverTime, CurvesPanel::Tab::Wan }) {
            p.setTab(tab);
            QCOMPARE(p.currentPlot()->chart().graphCount(), 0);
            QVERIFY(!p.currentPlot()->accessibleDescription().isEmpty());
        }
    }

    void capacityLinesSayWhatTheyAre()
    {
        for (const auto tab : { CurvesPanel::Tab::Memory, CurvesPanel::Tab::MemoryOverTime }) {
            const auto p = panel(tab);
            const QStringList texts = textsOf(p->currentPlot()->chart());
            QVERIFY2(texts.contains(formatBytes(80e9) + QStringLiteral(" capacity")), qPrintable(texts.join(u'|')));
        }
    }

    void axesHaveTitlesWithTheUnit()
    {
        const std::pair<CurvesPanel::Tab, const char *> units[] = { { CurvesPanel::Tab::Utilization, "%" },
            { CurvesPanel::Tab::Memory, "GB" }, { CurvesPanel::Tab::MemoryOverTime, "GB" },
            { CurvesPanel::Tab::Wan, "Gbps" } };
        for (const auto &[tab, unit] : units) {
            for (const int left : { 200, 40 }) { // beside the axis, or above it where there is no room
                const auto p = panel(tab);
                p->setPlotInsets(left, 20);
                const QStringList texts = textsOf(p->currentPlot()->chart());
                QVERIFY2(
                    std::ranges::any_of(texts, [&](const QString &text) { return text.endsWith(QLatin1String(unit)); }),
                    qPrintable(texts.join(u'|')));
            }
        }
    }

    void severalChangesAtATimeAreDrawnOnce()
    {
        const auto p = panel(CurvesPanel::Tab::Utilization);
        QApplication::processEvents();
        int drawn = 0;
        connect(p->currentPlot(), &CurvePlot::refreshed, this, [&drawn] { ++drawn; });
        // What an edit does: the timeline's range first, then the new numbers.
        p->setVisibleRange(20, 60);
        p->setShown(shownOf(handmade::shared(handmade::evaluation(11))));
        p->setPlotInsets(120, 20);
        QApplication::processEvents();
        QCOMPARE(drawn, 1);
    }

    void onlyTheTabInSightIsDrawn()
    {
        const auto p = panel(CurvesPanel::Tab::Utilization);
        int wan = 0;
        connect(p->plot(CurvesPanel::Tab::Wan), &CurvePlot::refreshed, this, [&wan] { ++wan; });
        p->setShown(shownOf(handmade::shared(handmade::evaluation(11))));
        QCOMPARE(wan, 0);
        p->setTab(CurvesPanel::Tab::Wan);
        QCOMPARE(wan, 1);
    }
};

TRAINYARD_TEST(CurvesTest)
#include "tst_curves.moc"
