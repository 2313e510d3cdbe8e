// SPDX-License-Identifier: GPL-3.0-or-later
// Experts in the whole window: a way for the tokens is chosen in the panel and undone, and the page that compares
// exchanges is opened, read, hovered, exported and left.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "views/experts/ablation_bars.h"
#include "views/experts/expert_plot.h"
#include "views/experts/expert_words.h"
#include "views/experts/experts_page.h"
#include "views/panels/effect_combo.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/strategy_row.h"
#include "views/parts/text_line.h"
#include "views/plots/qcustomplot_gateway.h"

#include <QAbstractItemView>
#include <QPushButton>
#include <QToolTip>

#include <algorithm>

using namespace trainyard;

namespace {

/// Four layers of two experts, of which a token visits one, on two nodes of eight A800. Tensor groups are nodes and
/// hold the same tokens.
Plan twoExperts()
{
    Plan plan;
    plan.name = "Two experts";
    Datacenter d;
    d.id = "lab";
    d.name = "Lab";
    d.fabricGbpsPerGpu = 100;
    Pool pool;
    pool.id = "lab-a800";
    pool.gpu = "a800-sxm-80gb";
    pool.nodes = 2;
    d.pools = { pool };
    plan.cluster.datacenters = { d };
    ModelSpec model = *builtinCatalogue().model("mixtral-8x7b");
    model.id = "two-experts";
    model.layers = 4;
    model.experts = 2;
    model.expertsPerToken = 1;
    plan.workload.inlineModel = model;
    plan.workload.sequenceLength = 8192;
    plan.workload.globalBatch = 8;
    plan.parallelism.tensor = 8;
    plan.parallelism.sequenceParallel = false;
    plan.parallelism.expert = 2;
    plan.parallelism.expertTensor = 8;
    return plan;
}

struct ExpertWindow : WindowFixture {
    ExpertsPage &page = window.experts();

    explicit ExpertWindow(const Plan &plan = twoExperts())
        : WindowFixture(QStringLiteral("cephalo-lab"))
    {
        page.study().setRest(std::chrono::milliseconds(0));
        document.startNew(std::make_shared<const Plan>(plan));
        settle();
    }
    void waitForComparison()
    {
        QTRY_VERIFY_WITH_TIMEOUT(
            page.comparison() && page.comparison()->isComplete && page.comparison()->plan == document.plan(), 120000);
    }
    [[nodiscard]] bool says(const QString &text) const
    {
        const auto lines = page.findChildren<TextLine *>();
        return std::ranges::any_of(
            lines, [&](const TextLine *line) { return line->isVisible() && line->text().contains(text); });
    }
    /// From the list of a row of the panel, with the keyboard.
    void choose(const char *group, const QString &label)
    {
        EffectCombo *list = window.workbench().strategies->row(group)->list();
        const int index = list->findText(label, Qt::MatchStartsWith);
        QVERIFY2(index >= 0, qPrintable(label));
        list->setFocus();
        list->showPopup();
        list->view()->setCurrentIndex(list->model()->index(index, 0));
        QTest::keyClick(list->view(), Qt::Key_Return);
        settle();
    }
};

} // namespace

class ExpertsTest : public QObject {
    Q_OBJECT
private slots:
    void aWayChosenInThePanelChangesThePlanAndUndoBringsItBack()
    {
        ExpertWindow w;
        const PlanPtr before = w.document.plan();
        const double iteration = *w.bridge.evaluation()->metrics.iterationTime;
        w.choose("dispatch", QStringLiteral("traffic-aware"));
        QCOMPARE(w.document.plan()->moe.dispatch, MoeDispatch::TrafficAware);
        QCOMPARE(w.document.undoStack().undoText(), QStringLiteral("Expert dispatch flat → traffic-aware"));
        QVERIFY(*w.bridge.evaluation()->metrics.iterationTime < iteration);
        QVERIFY(w.bridge.evaluation()->metrics.experts);
        QVERIFY(w.numbers().contains(QStringLiteral("Tokens to experts")));
        QVERIFY(w.window.commands().trigger("edit.undo"));
        w.settle();
        QCOMPARE(*w.document.plan(), *before);
        QCOMPARE(*w.bridge.evaluation()->metrics.iterationTime, iteration);
    }

    void theComparisonTellsPartAndWholeApart()
    {
        ExpertWindow w;
        QVERIFY(w.window.commands().trigger("view.experts"));
        QVERIFY(w.page.isVisible() && !w.window.isWorkbenchShown());
        w.waitForComparison();
        const auto &measures = w.page.bars->measures();
        QCOMPARE(measures.size(), std::size_t(5));
        QCOMPARE(measures[0].relation(1), QStringLiteral("÷ 8.00")); // bytes: the ranks that hold the same tokens
        QVERIFY(measures[3].relation(2).startsWith(QChar(0x2212)) && measures[4].relation(2).startsWith(QChar(0x2212)));
        QVERIFY(measures[4].values[0] && measures[4].values[2]);
        QCOMPARE(*measures[4].values[0], *w.bridge.evaluation()->metrics.iterationTime); // the plan is DeepSpeed's
        QVERIFY(w.says(QStringLiteral("Published: 8 ×")) && w.says(QStringLiteral("8.00 × fewer bytes")));
        QVERIFY(w.says(QStringLiteral("our reconstruction")) && w.says(QStringLiteral("The iteration gains 13 %")));
        QVERIFY(w.says(QStringLiteral("8 ranks hold the same tokens")));
        for (const ExpertPlot *plot : w.page.plots)
            QVERIFY(plot->curve().points.size() >= 5 && plot->curve().current > 0);
    }

    void hoveringAndKeysNameAPoint()
    {
        ExpertWindow w;
        w.window.showExperts();
        w.waitForComparison();
        ExpertPlot *plot = w.page.plots[std::size_t(ExpertAxis::NicGbps)];
        plot->chart().replot();
        const auto &points = plot->curve().points;
        const int own = int(std::ranges::find(points, true, &ExpertPoint::isCurrent) - points.begin());
        const QPoint at = plot->positionOf(own, ExchangeStep::DeepSpeed).toPoint();
        QTest::mouseMove(&plot->chart(), at);
        QMouseEvent move(QEvent::MouseMove, at, plot->chart().mapToGlobal(at), Qt::NoButton, Qt::NoButton, {});
        QApplication::sendEvent(&plot->chart(), &move);
        QCOMPARE(plot->current(), own);
        QVERIFY2(
            plot->describe(own).contains(QStringLiteral("100 Gbps</b> (the plan)")), qPrintable(plot->describe(own)));
        QTest::mouseClick(&plot->chart(), Qt::LeftButton, {}, at);
        QVERIFY(plot->hasFocus());
        QTest::keyClick(plot, Qt::Key_Right);
        QCOMPARE(plot->current(), own + 1);
        QCOMPARE(axisValue(ExpertAxis::NicGbps, 2262.7), QStringLiteral("2,263 Gbps"));
        QVERIFY(plot->accessibleDescription().contains(QStringLiteral("Gbps")));
    }

    void thePageFollowsThePlan()
    {
        ExpertWindow w;
        w.window.showExperts();
        w.waitForComparison();
        Plan faster = *w.document.plan();
        faster.cluster.datacenters[0].fabricGbpsPerGpu = 400;
        w.document.apply(std::make_shared<const Plan>(faster), QStringLiteral("400 Gbps"));
        w.waitForComparison();
        QCOMPARE(w.page.plots[0]->curve().current, 400.0);
        QTest::keyClick(&w.page, Qt::Key_Escape);
        QVERIFY(w.window.isWorkbenchShown());
        w.window.showExperts();
        QTest::mouseClick(w.page.back, Qt::LeftButton);
        QVERIFY(w.window.isWorkbenchShown());
    }

    void whereNothingIsSentTwiceThePageSaysSo()
    {
        Plan split = twoExperts();
        split.parallelism.sequenceParallel = true;
        ExpertWindow w(split);
        w.window.showExperts();
        w.waitForComparison();
        QVERIFY(w.says(QStringLiteral("there is nothing to gain")));
        QVERIFY(!w.page.bars->isVisible() && !w.page.exportCsv->isEnabled());
        w.document.openAsNew(WindowFixture::samplePath(QStringLiteral("gpt3-175b-1024-a100")));
        QTRY_VERIFY(!w.document.plan()->workload.inlineModel);
        w.settle();
        w.window.showExperts();
        w.waitForComparison();
        QVERIFY(w.says(QStringLiteral("The model has no experts")));
    }

    void theCurvesGoIntoAFile()
    {
        ExpertWindow w;
        w.window.showExperts();
        w.waitForComparison();
        w.answers.file = w.folder.filePath(QStringLiteral("experts.csv"));
        QTest::mouseClick(w.page.exportCsv, Qt::LeftButton);
        QCOMPARE(w.answers.suggestions.size(), 1);
        QTRY_VERIFY(QFile::exists(w.answers.file));
        QTRY_VERIFY(w.window.messages().isVisible());
        QFile file(w.answers.file);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray text = file.readAll();
        QVERIFY(text.startsWith("axis,x,is_plan,exchange,dispatch"));
        QVERIFY(text.contains("\nnic_gbps,100,1,overlapped,"));
        QCOMPARE(w.page.toTsv().toUtf8().replace('\t', ','), text);
    }
};

TRAINYARD_TEST(ExpertsTest)
#include "tst_experts.moc"
