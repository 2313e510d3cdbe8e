// SPDX-License-Identifier: GPL-3.0-or-later
// Timeline and charts in the window: one pointer's time, one enlarged chart, and a new plan that starts afresh.
#include "tests/support/test_program.h"
#include "tests/views/window/window_fixture.h"
#include "views/plots/curve_plot.h"
#include "views/plots/curves_panel.h"
#include "views/plots/qcustomplot_gateway.h"
#include "views/timeline/legend.h"
#include "views/timeline/time_axis.h"
#include "views/timeline/timeline_view.h"
#include "views/window/workbench.h"

using namespace trainyard;

namespace {

QCPItemStraightLine *crosshair(QCustomPlot &chart)
{
    for (int i = 0; i < chart.itemCount(); ++i)
        if (auto *line = qobject_cast<QCPItemStraightLine *>(chart.item(i));
            line && line->layer()->name() == QLatin1String("overlay"))
            return line;
    return nullptr;
}

void pointAt(QWidget *widget, QPoint point)
{
    QMouseEvent move(QEvent::MouseMove, point, widget->mapToGlobal(point), Qt::NoButton, Qt::NoButton, {});
    QApplication::sendEvent(widget, &move);
}

} // namespace

class LinkedChartsTest : public QObject {
    Q_OBJECT
private slots:
    void thePointersTimeIsALineInTheOther()
    {
        WindowFixture f;
        TimelineView *timeline = f.window.workbench().timeline;
        CurvesPanel *curves = f.window.workbench().curves;
        QCustomPlot &chart = curves->currentPlot()->chart();
        QApplication::processEvents();
        const QPoint inTracks = timeline->trackArea().center();
        pointAt(timeline->canvas(), timeline->canvas()->mapFrom(timeline, inTracks));
        QCPItemStraightLine *line = crosshair(chart);
        QVERIFY(line && line->visible());
        const double x =
            chart.mapTo(&f.window, QPoint(int(std::lround(chart.xAxis->coordToPixel(line->point1->key()))), 0)).x();
        QVERIFY2(std::abs(x - timeline->mapTo(&f.window, inTracks).x()) <= 1.5, qPrintable(QString::number(x)));
        QEvent leave(QEvent::Leave);
        QApplication::sendEvent(timeline->canvas(), &leave);
        QVERIFY(!line->visible());

        pointAt(&chart, chart.axisRect()->rect().center());
        QVERIFY(timeline->state().cursor.has_value());
        const double expected = chart.xAxis->pixelToCoord(chart.axisRect()->rect().center().x());
        QVERIFY(std::abs(double(*timeline->state().cursor) * 1e-9 - expected) < 1e-6);
        QApplication::sendEvent(&chart, &leave);
        QVERIFY(!timeline->state().cursor);
    }

    /// Ruler and chart have the same ticks, at the same pixels, with the same words.
    void theRulerAndTheChartBelowHaveTheSameTicks()
    {
        WindowFixture f;
        for (const QSize size : { QSize(1280, 720), QSize(1440, 900), QSize(2200, 1200) }) {
            f.window.resize(size);
            QApplication::processEvents();
            TimelineView *timeline = f.window.workbench().timeline;
            QCustomPlot &chart = f.window.workbench().curves->currentPlot()->chart();
            const QRect tracks = timeline->trackArea();
            const TimelineState &state = timeline->state();
            const Nanoseconds step = tickStep(state.range, tracks.width(), kTickDistance);
            const std::vector<Nanoseconds> times = ticks(state.range, step);
            QVERIFY(times.size() >= 3);
            const auto matches = [&] {
                chart.replot();
                const QVector<double> shown = chart.xAxis->tickVector();
                const QVector<QString> labels = chart.xAxis->tickVectorLabels();
                if (shown.size() != qsizetype(times.size()) || labels.size() != shown.size())
                    return false;
                for (std::size_t i = 0; i < times.size(); ++i) {
                    const double ruler = timeline->mapTo(&f.window, tracks.topLeft()).x()
                        + timeToX(times[i], state.range, 0, tracks.width());
                    const double axis =
                        chart.mapTo(&f.window, QPoint()).x() + chart.xAxis->coordToPixel(shown[qsizetype(i)]);
                    if (std::abs(ruler - axis) > 1.5 || labels[qsizetype(i)] != tickLabel(times[i], step, state.whole.end))
                        return false;
                }
                return true;
            };
            QTRY_VERIFY(matches());
        }
    }

    void aDoubleClickEnlargesAndEscapeGoesBack()
    {
        WindowFixture f;
        CurvesPanel *curves = f.window.workbench().curves;
        const int before = curves->height();
        QCustomPlot &chart = curves->currentPlot()->chart();
        QTest::mouseDClick(&chart, Qt::LeftButton, {}, chart.axisRect()->rect().center());
        QApplication::processEvents();
        QVERIFY(curves->isEnlarged());
        QVERIFY(!f.window.workbench().map->isVisible());
        QVERIFY(curves->height() > 3 * before);
        QTest::keyClick(QApplication::focusWidget() ? QApplication::focusWidget() : curves, Qt::Key_Escape);
        QApplication::processEvents();
        QVERIFY(!curves->isEnlarged());
        QVERIFY(f.window.workbench().map->isVisible());
        QVERIFY(std::abs(curves->height() - before) < 3);
    }

    void anotherPlanShowsAllKindsAgain()
    {
        WindowFixture f;
        TimelineView *timeline = f.window.workbench().timeline;
        timeline->hideKind(WorkKind::Forward);
        timeline->setVisibleRange(0, timeline->state().whole.end / 5);
        f.document.openAsNew(WindowFixture::samplePath(QStringLiteral("atlas-headline")));
        QTRY_VERIFY_WITH_TIMEOUT(f.bridge.evaluation() && f.bridge.evaluation()->plan == f.document.plan()
                && f.document.plan()->cluster.datacenters.size() == 2
                && timeline->evaluation() == f.bridge.evaluation(),
            30000);
        QVERIFY(timeline->filter().isNeutral());
        QCOMPARE(timeline->visibleRange(), timeline->state().whole);
    }
};

TRAINYARD_TEST(LinkedChartsTest)
#include "tst_linked_charts.moc"
