// SPDX-License-Identifier: GPL-3.0-or-later
// Two variants beside each other, below their timelines: memory and curves over one another, maps with what moved, and
// the numbers of all variants.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "models/session/session_document.h"
#include "views/panels/card.h"
#include "views/panels/evidence_table.h"
#include "views/plots/qcustomplot_gateway.h"
#include "views/session/all_numbers.h"
#include "views/session/compare_page.h"
#include "views/session/marked_map.h"
#include "views/session/pair_overlays.h"
#include "views/session/variant_color.h"
#include "views/timeline/timeline_view.h"
#include "views/window/session_actions.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHelpEvent>
#include <QTabBar>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <numeric>

using namespace trainyard;

namespace {

/// A meeting of two: in B a node of the first datacenter is the third's, and batches are twice as large.
struct Compared : WindowFixture {
    SessionDocument &session = window.session();
    ComparePage *page = nullptr;

    Compared()
    {
        session.branch(QStringLiteral("B"));
        const QPoint begin = nodeAt(0, 23), end = titleOf(2);
        QTest::mousePress(map(), Qt::LeftButton, Qt::NoModifier, begin);
        for (int step = 1; step <= 6; ++step)
            moveHeld(begin + (end - begin) * step / 6);
        QTest::mouseRelease(map(), Qt::LeftButton, Qt::NoModifier, end);
        Plan next = *document.plan();
        next.workload.globalBatch *= 2;
        document.apply(std::make_shared<const Plan>(next));
        settle();
        window.sessionActions().compare();
        page = &window.sessionActions().comparison();
        QVERIFY(test::until([&] { return page->isVisible() && page->comparison().pair(); }));
        QApplication::processEvents();
    }
    [[nodiscard]] const Evaluation &first() const { return *page->comparison().pair()->before; }
    [[nodiscard]] const Evaluation &second() const { return *page->comparison().pair()->after; }
    void openTab(const QString &title) const
    {
        QTabBar *tabs = page->tabs().tabs();
        for (int i = 0; i < tabs->count(); ++i)
            if (tabs->tabText(i) == title)
                QTest::mouseClick(tabs, Qt::LeftButton, Qt::NoModifier, tabs->tabRect(i).center());
        QTest::qWait(20); // charts are drawn when control is back
    }
    [[nodiscard]] QColor colorOf(std::size_t variant) const
    {
        return variantColor(session.variants()[variant], int(variant));
    }
};

double highestOf(const std::vector<Evaluation::MemoryStep> &steps)
{
    return double(std::ranges::max_element(steps, {}, &Evaluation::MemoryStep::bytes)->bytes);
}

double highestOf(const QCPGraph &graph)
{
    double highest = 0;
    for (const QCPGraphData &point : *graph.data())
        highest = std::max(highest, point.value);
    return highest;
}

bool isSameHue(const QColor &a, const QColor &b)
{
    return a.rgb() == b.rgb();
}

} // namespace

class ComparedTest : public QObject {
    Q_OBJECT

private slots:
    void memoryOfTheFullestGpusLiesOverEachOther()
    {
        Compared c;
        c.openTab(QStringLiteral("Memory"));
        PairCurves &memory = *c.page->overlays().memory;
        QVERIFY(memory.isVisible());
        QCustomPlot &chart = memory.currentPlot()->chart();
        QCOMPARE(chart.graphCount(), 2);
        const auto stages = [](const Evaluation &one) { return std::size_t(one.metrics.memory->fullestStage); };
        QCOMPARE(highestOf(*chart.graph(0)), highestOf(c.first().memoryCurves[stages(c.first())]) / 1e9);
        QCOMPARE(highestOf(*chart.graph(1)), highestOf(c.second().memoryCurves[stages(c.second())]) / 1e9);
        QVERIFY(isSameHue(chart.graph(0)->pen().color(), c.colorOf(0)));
        QVERIFY(isSameHue(chart.graph(1)->pen().color(), c.colorOf(1)));
        QStringList texts;
        for (int i = 0; i < chart.itemCount(); ++i)
            if (const auto *text = qobject_cast<QCPItemText *>(chart.item(i)))
                texts << text->text();
        QVERIFY2(texts.join(u'\n').contains(QStringLiteral("capacity")), qPrintable(texts.join(u'\n')));
        const auto legend = memory.currentPlot()->legend();
        QCOMPARE(legend.size(), std::size_t(2));
        QVERIFY(legend[1].name.startsWith(QStringLiteral("B, stage")));

        // Another stage, by keyboard.
        memory.place->setFocus();
        QTest::keyClick(memory.place, Qt::Key_Down);
        QTest::keyClick(memory.place, Qt::Key_Down);
        QCOMPARE(memory.place->currentText(), QStringLiteral("Stage 2"));
        QCOMPARE(highestOf(*memory.currentPlot()->chart().graph(1)), highestOf(c.second().memoryCurves[1]) / 1e9);
    }

    void peaksStandByStageUnderTheirCapacity()
    {
        Compared c;
        c.openTab(QStringLiteral("Memory"));
        PairCurves &memory = *c.page->overlays().memory;
        memory.kind->setFocus();
        QTest::keyClick(memory.kind, Qt::Key_Down);
        QCustomPlot &chart = memory.currentPlot()->chart();
        QCOMPARE(chart.plottableCount(), 2);
        for (int side = 0; side < 2; ++side) {
            const auto *bars = qobject_cast<QCPBars *>(chart.plottable(side));
            QVERIFY(bars);
            QVERIFY(isSameHue(bars->brush().color(), c.colorOf(std::size_t(side))));
            const auto &stages = (side == 0 ? c.first() : c.second()).metrics.memory->perStage;
            QCOMPARE(bars->dataCount(), int(stages.size()));
            for (int i = 0; i < bars->dataCount(); ++i)
                QCOMPARE(bars->dataMainValue(i), double(stages[std::size_t(i)].device) / 1e9);
        }
        QCOMPARE(memory.place->isVisible(), false); // all stages are there
    }

    void utilizationIsThatOfTheMetrics()
    {
        Compared c;
        c.openTab(QStringLiteral("Curves"));
        QCustomPlot &chart = c.page->overlays().curves->currentPlot()->chart();
        QCOMPARE(chart.graphCount(), 2);
        for (int side = 0; side < 2; ++side) {
            double sum = 0;
            auto &points = *chart.graph(side)->data();
            for (const QCPGraphData &point : points)
                sum += point.value;
            const double mean = sum / (points.size() - 1); // the last one ends the iteration
            const Evaluation &one = side == 0 ? c.first() : c.second();
            QVERIFY2(std::abs(mean - *one.metrics.gpuUtilization) < 0.01,
                qPrintable(QStringLiteral("%1 is not %2").arg(mean).arg(*one.metrics.gpuUtilization)));
        }
    }

    void wanRatesAddUpToTheBytesOfTheMetrics()
    {
        Compared c;
        c.openTab(QStringLiteral("Curves"));
        PairCurves &curves = *c.page->overlays().curves;
        curves.kind->setFocus();
        QTest::keyClick(curves.kind, Qt::Key_Down);
        QCOMPARE(curves.kind->currentText(), QStringLiteral("WAN"));
        QCustomPlot &chart = curves.currentPlot()->chart();
        QCOMPARE(chart.graphCount(), 2);
        for (int side = 0; side < 2; ++side) {
            const Evaluation &one = side == 0 ? c.first() : c.second();
            double gbps = 0;
            auto &points = *chart.graph(side)->data();
            for (const QCPGraphData &point : points)
                gbps += point.value;
            const double seconds = double(one.timeline.duration) * 1e-9 / (points.size() - 1);
            QVERIFY(one.metrics.wanBytesPerIteration > 0);
            QVERIFY(std::abs(gbps * seconds * 1e9 / 8 / one.metrics.wanBytesPerIteration - 1) < 1e-6);
        }
        QVERIFY(curves.place->count() > 2); // each direction by itself
    }

    void oneAxisIsTheTimelinesAndTheChartsAlike()
    {
        Compared c;
        c.openTab(QStringLiteral("Curves"));
        PairCurves &curves = *c.page->overlays().curves;
        QCustomPlot &chart = curves.currentPlot()->chart();
        const Nanoseconds quarter = c.first().timeline.duration / 4;
        c.page->upper->setVisibleRange(0, quarter);
        QTest::qWait(20);
        QCOMPARE(curves.currentPlot()->chart().xAxis->range().upper, double(quarter) * 1e-9);

        // A wheel over the chart zooms both timelines.
        const QPointF at(chart.width() / 2.0, chart.height() / 2.0);
        QWheelEvent wheel(
            at, chart.mapToGlobal(at), {}, { 0, 120 }, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
        QApplication::sendEvent(&chart, &wheel);
        QVERIFY(c.page->upper->visibleRange().length() < quarter);
        QCOMPARE(c.page->lower->visibleRange().end, c.page->upper->visibleRange().end);

        // Each by itself: the chart shows all of the longer one.
        QTest::mouseClick(c.page->locked, Qt::LeftButton, Qt::NoModifier, { 8, c.page->locked->height() / 2 });
        QVERIFY(!c.page->locked->isChecked());
        c.page->upper->setVisibleRange(0, quarter);
        QTest::qWait(20);
        const Nanoseconds longer = std::max(c.first().timeline.duration, c.second().timeline.duration);
        QCOMPARE(curves.currentPlot()->chart().xAxis->range().upper, double(longer) * 1e-9);
    }

    void bothMapsMarkTheNodeThatMoved()
    {
        Compared c;
        c.openTab(QStringLiteral("Maps"));
        for (MarkedMap *marked : { c.page->upperMap, c.page->lowerMap }) {
            QVERIFY(marked->isVisible());
            QStringList badges;
            for (const MapMark &mark : marked->marks())
                if (mark.item.kind == MapItem::Kind::Island && mark.brief != QStringLiteral("moved"))
                    badges << QStringLiteral("%1 %2").arg(mark.item.island).arg(mark.brief);
            QCOMPARE(badges, (QStringList { QStringLiteral("0 −8"), QStringLiteral("2 +8") }));
            const QPoint title =
                marked->map->mapTo(marked, marked->map->mapLayout().islands[2].title.center().toPoint());
            QVERIFY2(marked->wordsAt(title).contains(QStringLiteral("H100 SXM: 192 → 200 GPUs")),
                qPrintable(marked->wordsAt(title)));
            QHelpEvent help(QEvent::ToolTip, title, marked->mapToGlobal(title));
            QApplication::sendEvent(marked, &help);
            QVERIFY(QToolTip::text().contains(QStringLiteral("192 → 200")));
            QVERIFY(marked->wordsAt({ 1, marked->height() - 1 }).isEmpty());
        }
    }

    void aMapToLookAtTakesNoEdits()
    {
        Compared c;
        c.openTab(QStringLiteral("Maps"));
        MarkedMap &marked = *c.page->lowerMap;
        QSignalSpy edits(marked.map, &ClusterMap::editCommitted);
        const QRectF node = nodeRect(marked.map->mapLayout(), 0, 0, 3);
        const QPoint at = marked.map->mapTo(c.page->window(), node.center().toPoint());
        QVERIFY(c.page->window()->childAt(at) != marked.map); // the mouse is not the map's
        QCOMPARE(marked.map->focusPolicy(), Qt::NoFocus);
        QCOMPARE(edits.count(), 0);
    }

    void allVariantsStandInOneTableAgainstAnyOfThem()
    {
        Compared c;
        c.session.branch(QStringLiteral("C"));
        c.openTab(QStringLiteral("All variants"));
        AllNumbers &all = *c.page->everyone;
        QVERIFY(test::until([&] {
            return std::ranges::all_of(
                c.session.variants(), [&](const Variant &one) { return all.numbers().of(one.plan) != nullptr; });
        }));
        QApplication::processEvents();
        const QAbstractItemModel &model = *all.table->model();
        QCOMPARE(model.columnCount(), 4);
        QCOMPARE(model.headerData(3, Qt::Horizontal).toString(), QStringLiteral("C"));
        const auto cell = [&](const QString &label, int column) {
            for (int row = 0; row < model.rowCount(); ++row)
                if (model.index(row, 0).data().toString() == label)
                    return model.index(row, column).data().toString();
            return QString();
        };
        const QString iteration = model.index(0, 0).data().toString();
        // The baseline is the first; B and C are one plan.
        QCOMPARE(all.base->currentIndex(), 0);
        QVERIFY(!cell(iteration, 1).contains(u'%'));
        QVERIFY2(cell(iteration, 2).contains(u'%'), qPrintable(cell(iteration, 2)));
        QCOMPARE(cell(iteration, 3), cell(iteration, 2));

        // Against B, by keyboard.
        all.base->setFocus();
        QTest::keyClick(all.base, Qt::Key_Down);
        QVERIFY(cell(iteration, 1).contains(u'%'));
        QVERIFY(!cell(iteration, 2).contains(u'%'));
    }
};

TRAINYARD_TEST(ComparedTest)
#include "tst_compared.moc"
