// SPDX-License-Identifier: GPL-3.0-or-later
// The tabs "Kernels" and "Trace" of the run's page, without any plan: figures that can be added up by hand.
#include "small_run.h"
#include "tests/support/test_program.h"

#include "views/panels/card.h"
#include "views/panels/evidence_table.h"
#include "views/run/profile_card.h"
#include "views/run/run_page.h"
#include "views/run/trace_card.h"
#include "views/run/trace_chart.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QCheckBox>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace trainyard;
using trainyard::testing::SmallRun;

namespace {

constexpr int kLong = 30000; // ms, for a machine that is busy

struct Fixture {
    QTemporaryDir folder;
    RunDocument runs;
    RunPage page { runs };

    explicit Fixture(const SmallRun &small = {})
    {
        page.resize(1400, 800);
        page.show();
        open(small.write(folder.filePath("job")));
    }
    void open(const QString &path)
    {
        QSignalSpy overlays(&runs, &RunDocument::overlayChanged);
        runs.open({ path });
        QTRY_VERIFY_WITH_TIMEOUT(overlays.count() > 0, kLong);
        QApplication::processEvents();
    }
    void show(QWidget *tab)
    {
        page.showTab(tab);
        QTRY_VERIFY_WITH_TIMEOUT(isReady(), kLong);
        QApplication::processEvents();
    }
    [[nodiscard]] bool isReady() const
    {
        const ProfilePtr &made = page.profile->shown();
        return made && !page.profile->isMaking() && made->run == runs.run() && made->reference == runs.reference();
    }
};

/// Clocks are made one to within a microsecond.
bool isNear(std::int64_t told, std::int64_t expected)
{
    return std::abs(told - expected) < 2000;
}

QString cell(const EvidenceTable *table, int row, int column)
{
    return table->model()->index(row, column).data().toString();
}

} // namespace

class TestProfileCard : public QObject {
    Q_OBJECT
private slots:
    void nothingIsCountedBeforeSomeoneLooks()
    {
        Fixture f;
        QVERIFY(!f.page.profile->shown());
        f.show(f.page.kernels);
        QVERIFY(f.page.profile->shown());
    }

    /// Of each step four layers of 10 ms, for rank 2 of 15, and a reduction of 2 that ends on all at once.
    void theTablesAddUpByHand()
    {
        Fixture f({ .straggler = 2 });
        f.show(f.page.kernels);
        const ProfileOfRun &profile = *f.page.profile->shown();
        QVERIFY(isNear(profile.path.nanoseconds[std::size_t(PathKind::Compute)], 4 * 15'000'000));
        QVERIFY(isNear(profile.path.nanoseconds[std::size_t(PathKind::Communication)], 4 * 2'000'000));
        QCOMPARE(cell(f.page.kernels->path, 0, 0), QStringLiteral("60.0 ms"));
        QCOMPARE(cell(f.page.kernels->path, 1, 0), QStringLiteral("8.00 ms"));
        // 3 steps × 4 layers × (3 × 10 + 15) ms of products, 2 ms beside them and what three ranks wait
        QCOMPARE(cell(f.page.kernels->kernels, 0, 0), QStringLiteral("540 ms"));
        QCOMPARE(cell(f.page.kernels->kernels, 0, 2), QStringLiteral("48"));
        QCOMPARE(cell(f.page.kernels->kernels, 1, 0), QStringLiteral("276 ms"));
        QCOMPARE(f.page.kernels->idle->model()->rowCount(), 8); // each rank, and its one stream
        QVERIFY2(f.page.kernels->summary().contains(QStringLiteral("816 ms")), qPrintable(f.page.kernels->summary()));
    }

    void besideAReferenceKernelsAreNewGoneLongerOrShorter()
    {
        Fixture f({ .computeMs = 12 });
        f.show(f.page.kernels);
        QSignalSpy changed(&f.runs, &RunDocument::runChanged);
        f.runs.openReference({ SmallRun { .steps = 2 }.write(f.folder.filePath("before")) });
        QTRY_VERIFY_WITH_TIMEOUT(changed.count() > 0, kLong);
        QTRY_VERIFY_WITH_TIMEOUT(f.isReady(), kLong);
        QApplication::processEvents();
        QCOMPARE(cell(f.page.kernels->kernels, 0, 0), QStringLiteral("longer"));
        QCOMPARE(cell(f.page.kernels->kernels, 0, 1), QStringLiteral("+8.00 ms")); // 4 layers of 2 ms, by step and rank
        QCOMPARE(cell(f.page.kernels->kernels, 1, 0), QStringLiteral("same"));
    }

    void theTraceIsDrawnWithoutAPlan()
    {
        Fixture f;
        QVERIFY(!f.runs.evaluation());
        f.show(f.page.trace);
        const TraceChart &chart = *f.page.trace->chart;
        QVERIFY(chart.isVisible());
        QCOMPARE(chart.state().rowCount(), 8); // of each rank a stream, and the thread that names steps
        QVERIFY(isNear(chart.state().whole.length(), 3 * 48'000'000));
        // The whole row of a stream is busy: of the 12 ms of a layer 10 compute
        const QImage image = f.page.trace->chart->viewport()->grab().toImage();
        QVERIFY(image.pixelColor(TraceState::kLabels + 5, TraceState::kRuler + TraceState::kRow / 2) != theme().panel);
        const WorkTimes times =
            chart.state().rows->timesOf(0, chart.state().whole.begin, chart.state().whole.end, 1).front();
        QCOMPARE(times[std::size_t(RecordedWork::Compute)], std::int64_t(120'000'000));
        QCOMPARE(times[std::size_t(RecordedWork::Communication)], std::int64_t(24'000'000));
    }

    void itZoomsPansAndShowsAllAgain()
    {
        Fixture f;
        f.show(f.page.trace);
        TraceChart &chart = *f.page.trace->chart;
        const TimeInterval whole = chart.state().whole;
        const QRect tracks = TraceState::tracksOf(chart.viewport()->size());
        chart.zoomAt(tracks.left(), 4);
        QCOMPARE(chart.state().range.begin, whole.begin);
        QVERIFY(std::abs(chart.state().range.length() - whole.length() / 4) <= 1);
        chart.panBy(1);
        QVERIFY(std::abs(chart.state().range.begin - whole.begin - whole.length() / 4) <= 2);
        // A kernel of 10 ms under the pointer
        const auto span = chart.state().spanAt(chart.viewport()->size(), { tracks.left() + 1, tracks.top() + 5 });
        QVERIFY(span && span->first == 0);
        QVERIFY(traceTip(*chart.state().rows, span->first, span->second).contains(QStringLiteral("sm90_gemm_bf16")));
        QTest::keyClick(&chart, Qt::Key_Home);
        QCOMPARE(chart.state().range, whole);
    }

    void theHostIsReadWhenItIsAskedFor()
    {
        Fixture f;
        f.show(f.page.trace);
        const std::size_t without = f.runs.run()->recording->spanCount();
        QSignalSpy changed(&f.runs, &RunDocument::runChanged);
        f.page.trace->host->click();
        QTRY_VERIFY_WITH_TIMEOUT(changed.count() > 0, kLong);
        QTRY_VERIFY_WITH_TIMEOUT(f.isReady(), kLong);
        QApplication::processEvents();
        // A call for each kernel, below the step on its thread
        QCOMPARE(f.runs.run()->recording->spanCount(), without + std::size_t(4 * 3 * 4 * 2));
        QCOMPARE(f.page.trace->chart->state().rowCount(), 12);
    }
};

TRAINYARD_TEST(TestProfileCard)
#include "tst_profile_card.moc"
