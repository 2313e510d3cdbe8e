// SPDX-License-Identifier: GPL-3.0-or-later
// The roofline below the tables of kernels, on a trace that is written by hand: read on demand, drawn, chosen by the
// pointer and by keys.
#include "tests/core/runs/profile/shaped_trace.h"
#include "tests/support/test_program.h"

#include "views/panels/evidence_table.h"
#include "views/plots/qcustomplot_gateway.h"
#include "views/run/profile_card.h"
#include "views/run/roofline_plot.h"
#include "views/run/roofline_section.h"
#include "views/run/run_page.h"
#include "views/run/trace_card.h"

#include <QApplication>
#include <QCheckBox>
#include <QFile>
#include <QPushButton>
#include <QScrollArea>
#include <QTemporaryDir>
#include <QTest>
#include <QToolTip>

using namespace trainyard;

namespace {

constexpr int kLong = 30000; // ms, for a machine that is busy

struct Fixture {
    QTemporaryDir folder;
    RunDocument runs;
    RunPage page { runs };

    explicit Fixture(const std::string &trace = testing::shapedTrace(), bool isHostRead = true)
    {
        QFile file(folder.filePath("rank0.pt.trace.json"));
        if (file.open(QIODevice::WriteOnly))
            file.write(trace.c_str());
        file.close();
        page.resize(1280, 720);
        page.show();
        runs.setKeepsHost(isHostRead);
        runs.open({ file.fileName() });
        settle();
        page.showTab(page.kernels);
        settle();
    }
    void settle()
    {
        QTRY_VERIFY_WITH_TIMEOUT(!runs.isReading() && runs.run(), kLong);
        QApplication::processEvents();
        if (page.kernels->isVisible())
            QTRY_VERIFY_WITH_TIMEOUT(
                page.profile->shown() && !page.profile->isMaking() && page.profile->shown()->run == runs.run(), kLong);
        QApplication::processEvents();
    }
    [[nodiscard]] RooflineSection &section() const { return *page.kernels->roofline; }
    /// Scrolled to, so that the pointer reaches it.
    [[nodiscard]] RooflinePlot &plot() const
    {
        for (QWidget *above = section().parentWidget(); above; above = above->parentWidget())
            if (auto *area = qobject_cast<QScrollArea *>(above))
                area->ensureWidgetVisible(section().plot);
        QApplication::processEvents();
        section().plot->chart().replot();
        return *section().plot;
    }
    [[nodiscard]] QString cell(int row, int column) const
    {
        return section().table->model()->index(row, column).data().toString();
    }
};

} // namespace

class TestRooflineSection : public QObject {
    Q_OBJECT
private slots:
    void operatorsOfTheHostAreReadWhenTheyAreAskedFor()
    {
        Fixture f(testing::shapedTrace(), false);
        QVERIFY(f.section().isVisible());
        QVERIFY(!f.section().table->isVisible() && !f.section().plot->isVisible());
        QVERIFY2(f.section().summary().contains("host"), qPrintable(f.section().summary()));
        QVERIFY(f.section().readHost->isVisible());
        QTest::mouseClick(f.section().readHost, Qt::LeftButton);
        f.settle();
        QTRY_VERIFY_WITH_TIMEOUT(f.section().table->isVisible(), kLong);
        QVERIFY(!f.section().readHost->isVisible());
        QVERIFY(f.section().plot->isVisible());
        QCOMPARE(f.section().table->model()->rowCount(), 3);
        f.page.showTab(f.page.trace);
        f.settle();
        QVERIFY(f.page.trace->host->isChecked()); // it is one and the same choice
    }

    /// Two calls of a product in 64 of 250 µs: 2 · 4096 · 1024 · 2048 FLOPs in 32 µs are 537 TFLOP/s of 989.
    void theTableAddsUpByHand()
    {
        Fixture f;
        QCOMPARE(f.cell(2, 0), QStringLiteral("64.0 µs"));
        QCOMPARE(f.cell(2, 1), QStringLiteral("mm  bf16  4096 × 1024 × 2048"));
        QCOMPARE(f.cell(2, 2), QStringLiteral("2"));
        QCOMPARE(f.cell(2, 3), QStringLiteral("32.0 µs"));
        QCOMPARE(f.cell(2, 6), QStringLiteral("537"));
        QCOMPARE(f.cell(2, 7), QStringLiteral("918")); // 29.4 MB in 32 µs
        QCOMPARE(f.cell(2, 8), QStringLiteral("54.3 %"));
        QVERIFY2(f.section().summary().contains("H100") && f.section().summary().contains("95.6 %"),
            qPrintable(f.section().summary()));
    }

    void aMarkThatIsChosenIsTheRowThatIsSelected()
    {
        Fixture f;
        RooflinePlot &plot = f.plot();
        QCOMPARE(plot.points().size(), std::size_t(3));
        const auto at = plot.positionOf(2);
        QVERIFY(at.has_value());
        QTest::mouseClick(&plot.chart(), Qt::LeftButton, {}, at->toPoint());
        QCOMPARE(f.section().table->currentIndex().row(), 2);
        QVERIFY(f.section().table->selectionModel()->isRowSelected(2));
        // The addition lies far to the left of the product, attention beside it
        QTest::keyClick(&plot, Qt::Key_Left);
        QCOMPARE(f.section().table->currentIndex().row(), plot.current());
        QTest::keyClick(&plot, Qt::Key_Left);
        QTest::keyClick(&plot, Qt::Key_Left);
        QCOMPARE(f.cell(plot.current(), 1), QStringLiteral("add_  bf16[8192, 4096], bf16[8192, 4096]"));
        // And the other way
        EvidenceTable &table = *f.section().table;
        QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, table.visualRect(table.model()->index(0, 0)).center());
        QCOMPARE(plot.current(), 0);
    }

    void hoveringTellsWhatAMarkIs()
    {
        Fixture f;
        RooflinePlot &plot = f.plot();
        const QPoint at = plot.positionOf(2)->toPoint();
        QMouseEvent move(QEvent::MouseMove, at, plot.chart().mapToGlobal(at), Qt::NoButton, Qt::NoButton, {});
        QApplication::sendEvent(&plot.chart(), &move);
        const QString tip = QToolTip::text();
        for (const char *part : { "aten::mm", "4096 × 1024 × 2048", "2 calls", "64.0 µs", "25.6 %", "537 TFLOP/s",
                 "54.3 % of the roof", "predicted", "sm90_gemm" })
            QVERIFY2(tip.contains(QString::fromUtf8(part)), qPrintable(tip));
    }

    /// Marks lie below the roof: at their intensity no rate is above the lower of peak and bandwidth.
    void marksLieBelowTheRoof()
    {
        Fixture f;
        const Roofline &roofline = f.page.profile->shown()->roofline;
        const double bandwidth = roofline.gpu->memoryGBps * 1e9, peak = roofline.peaks().front().second;
        for (const int row : f.plot().points()) {
            const RooflineRow &one = roofline.rows[std::size_t(row)];
            QVERIFY(one.flopsPerSecond() <= std::min(peak, one.intensity() * bandwidth));
        }
    }

    void aTraceWithoutSizesSaysHowToRecordThem()
    {
        Fixture f(testing::shapedTrace(false));
        QVERIFY(f.section().isVisible());
        QVERIFY2(f.section().summary().contains("record_shapes=True"), qPrintable(f.section().summary()));
        QVERIFY(!f.section().readHost->isVisible() && !f.section().table->isVisible());
    }

    void anUnknownGpuHasRatesAndNoRoof()
    {
        Fixture f(testing::shapedTrace(true, {}));
        QCOMPARE(f.cell(2, 6), QStringLiteral("537"));
        QCOMPARE(f.cell(2, 8), QStringLiteral("–"));
        QVERIFY2(f.section().summary().contains("do not tell their GPU"), qPrintable(f.section().summary()));
    }
};

TRAINYARD_TEST(TestRooflineSection)
#include "tst_roofline.moc"
