// SPDX-License-Identifier: GPL-3.0-or-later
// A recorded run under the plan: where its rows lie, what is said about its spans, and what nobody recorded.
#include "tests/support/plans.h"
#include "tests/support/sample_run.h"
#include "tests/support/sample_timelines.h"
#include "tests/support/test_program.h"
#include "views/theme/recorded_colors.h"
#include "views/theme/theme.h"
#include "views/timeline/area_table.h"
#include "views/timeline/measured_text.h"
#include "views/timeline/minimap.h"
#include "views/timeline/run_ends.h"
#include "views/timeline/run_key.h"
#include "views/timeline/span_card.h"
#include "views/timeline/timeline_view.h"

#include <QApplication>
#include <QBuffer>
#include <QClipboard>
#include <QMouseEvent>
#include <QPainter>
#include <QSignalSpy>
#include <QSvgGenerator>
#include <QTest>

#include <cmath>
#include <memory>
#include <set>

using namespace trainyard;

class MeasuredRowsTest : public QObject {
    Q_OBJECT
    std::unique_ptr<TimelineView> m_view;
    EvaluationPtr m_plan;

    [[nodiscard]] const TimelineState &state() const { return m_view->state(); }
    [[nodiscard]] const SpanCard &card() const { return *m_view->findChild<SpanCard *>(); }
    [[nodiscard]] QPoint origin() const
    {
        return m_view->trackArea().topLeft() - m_view->canvas()->mapTo(m_view.get(), QPoint());
    }
    [[nodiscard]] int rowOfStage(int stage) const
    {
        for (std::size_t r = 0; r < state().layout.rows.size(); ++r)
            if (state().layout.rows[r].stage == stage && state().layout.rows[r].kind == TrackRow::Kind::Stage)
                return int(r);
        return -1;
    }
    /// On the measured lane of a row at a time, in the canvas.
    [[nodiscard]] QPoint onLane(int row, Nanoseconds time) const
    {
        const TrackRow &of = state().layout.rows[std::size_t(row)];
        const QPoint tracks = origin();
        return { int(timeToX(time, state().range, tracks.x(), m_view->trackArea().width())),
            tracks.y() + rowTop(state().layout, of, state().scroll) + of.measuredTop + of.measuredHeight / 2 };
    }
    void pointAt(QPoint at) const
    {
        QMouseEvent move(
            QEvent::MouseMove, at, m_view->canvas()->mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
        QApplication::sendEvent(m_view->canvas(), &move);
    }
    /// Middle of a measured span of a stage's row, as the run says it.
    [[nodiscard]] static Nanoseconds middleOf(const RunOverlay &run, int stage, std::size_t number)
    {
        for (const MeasuredRow &row : run.rows)
            if (row.key.stage == stage && row.key.stream == Stream::Compute)
                return (row.start[number] + row.end[number]) / 2;
        return -1;
    }
    [[nodiscard]] std::set<QRgb> colorsOfLane(int row) const
    {
        const QImage image = m_view->canvas()->grab().toImage();
        const TrackRow &of = state().layout.rows[std::size_t(row)];
        std::set<QRgb> colors;
        for (int y = 1; y + 1 < of.measuredHeight; ++y)
            for (int x = 20; x < 220; ++x)
                colors.insert(
                    image.pixel(origin() + QPoint(x, rowTop(state().layout, of, state().scroll) + of.measuredTop + y)));
        return colors;
    }

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }
    void init()
    {
        m_plan = test::sampleEvaluation({ .datacenters = 2, .stages = 4, .microBatches = 6 });
        m_view = std::make_unique<TimelineView>();
        m_view->resize(1280, 420);
        m_view->setEvaluation(m_plan);
        m_view->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_view.get()));
    }
    void cleanup() { m_view.reset(); }

    void aRunBringsALaneUnderEachRowAndTakesItAwayAgain()
    {
        const TrackLayout before = state().layout;
        m_view->setOverlay(test::sampleRun(m_plan));
        QCOMPARE(state().layout.rows.size(), before.rows.size());
        for (const TrackRow &row : state().layout.rows) {
            QCOMPARE(row.measured.size(), 1);
            QVERIFY(row.measuredTop > row.barTop + row.barHeight);
            QVERIFY(row.measuredTop + row.measuredHeight <= row.pitch);
            if (row.kind == TrackRow::Kind::Stage)
                QCOMPARE(row.measuredHeight, row.barHeight / 2);
        }
        m_view->setOverlay(nullptr);
        QVERIFY(state().layout == before);
        QCOMPARE(state().whole, (TimeInterval { 0, m_plan->timeline.duration }));
    }

    void rowsKeepTheirPlaceWhenTheScheduleChanges()
    {
        EvaluationWorkspace workspace;
        const auto evaluated = [&](ScheduleKind schedule, int chunks) {
            Plan plan = test::oneSite(4);
            plan.schedule = schedule;
            plan.parallelism.virtualPipeline = chunks;
            return *evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace);
        };
        const EvaluationPtr plain = evaluated(ScheduleKind::OneFOneB, 1),
                            interleaved = evaluated(ScheduleKind::Interleaved, 2);
        QVERIFY(!plain->timeline.isEmpty() && !interleaved->timeline.isEmpty());
        QVERIFY(plain->timeline.spanCount() != interleaved->timeline.spanCount());
        m_view->setEvaluation(plain);
        const auto run = test::sampleRun(plain);
        m_view->setOverlay(run);
        m_view->setEvaluation(interleaved);
        int stages = 0;
        for (const TrackRow &row : state().layout.rows) {
            if (row.kind != TrackRow::Kind::Stage)
                continue;
            ++stages;
            QVERIFY(!row.measured.empty());
            QCOMPARE(run->rows[row.measured.front()].key.stage, row.stage);
            QCOMPARE(run->rows[row.measured.front()].key.stream, Stream::Compute);
        }
        QCOMPARE(stages, 4);
    }

    void theAxisReachesToTheEndOfALongerRun()
    {
        m_view->setOverlay(test::sampleRun(m_plan, { .longer = 0.11 }));
        QCOMPARE(state().whole.end, state().overlay->duration);
        QCOMPARE(state().range, state().whole);
        const std::vector<TimeEnd> ends = timeEnds(state());
        QCOMPARE(ends.size(), 2);
        QCOMPARE(ends[0].at, m_plan->timeline.duration);
        QCOMPARE(ends[1].at, state().overlay->duration);
        QCOMPARE(ends[1].text, QStringLiteral("run +11 %"));
        m_view->setOverlay(test::sampleRun(m_plan, { .longer = -0.04 }));
        QCOMPARE(state().whole.end, m_plan->timeline.duration);
        QCOMPARE(timeEnds(state()).front().text, QStringLiteral("run −4.0 %"));
    }

    /// Ranks that do not wait for each other: their steps lie over each other, and a step counts with its period. The
    /// number is that of all tables, where its last span ends is named apart.
    void aStepShorterThanItsSpansIsComparedByItsPeriod()
    {
        const auto run = test::sampleRun(m_plan, { .longer = 0.02 });
        run->differences.measuredSeconds = 0.94 * double(m_plan->timeline.duration) * 1e-9;
        m_view->setOverlay(run);
        const std::vector<TimeEnd> ends = timeEnds(state());
        QCOMPARE(ends.size(), 3);
        QCOMPARE(ends[0].text, QStringLiteral("run −6.0 %"));
        QVERIFY(std::abs(double(ends[0].at) - 0.94 * double(m_plan->timeline.duration)) <= 1);
        QCOMPARE(ends[1].text, QStringLiteral("plan"));
        QCOMPARE(ends[2].text, QStringLiteral("last span"));
        QCOMPARE(ends[2].at, run->duration);
        QCOMPARE(state().whole.end, run->duration);
    }

    void aRunOfAnotherJobHasNoDifference()
    {
        const auto run = test::sampleRun(m_plan, { .longer = 0.11 });
        run->differences.otherJob = "24 ranks, plan 576";
        m_view->setOverlay(run);
        QCOMPARE(timeEnds(state())[1].text, QStringLiteral("run of another job"));
    }

    void pastThePlansEndItsRowsAreOver()
    {
        m_view->setOverlay(test::sampleRun(m_plan, { .longer = 0.5 }));
        const QImage image = m_view->canvas()->grab().toImage();
        const TrackRow &row = state().layout.rows[std::size_t(rowOfStage(0))];
        const auto pixel = [&](double share, int y) {
            return image.pixelColor(
                origin() + QPoint(int(share * m_view->trackArea().width()), rowTop(state().layout, row, 0) + y));
        };
        QCOMPARE(pixel(0.85, row.barTop + 2), theme().panel); // 1 / 1.5 is the plan's end
        QVERIFY(pixel(0.85, row.measuredTop + 2) != theme().panel);
    }

    void aMeasuredSpanSaysWhatItIsAndWhatThePlanHasThere()
    {
        const auto run = test::sampleRun(m_plan, { .longer = 0, .noise = 0, .kernels = 1 });
        m_view->setOverlay(run);
        pointAt(onLane(rowOfStage(2), middleOf(*run, 2, 0)));
        QVERIFY(card().isVisible());
        const QStringList lines = card().text().split(u'\n');
        QCOMPARE(lines[0], QStringLiteral("Kernel2 · rank 4"));
        // 92 % of a forward of 30 ms, as sampleRun cuts it
        QVERIFY2(lines[1].startsWith(QStringLiteral("27.6 ms, from ")), qPrintable(lines[1]));
        QCOMPARE(lines[2], QStringLiteral("measured: compute, rank 4 of ranks 4 and 5"));
        QCOMPARE(lines[3], QStringLiteral("plan here: forward 1 of stage 3"));
        QVERIFY2(lines[4].startsWith(QStringLiteral("row busy: ")), qPrintable(lines[4]));
        QVERIFY2(lines[4].endsWith(QStringLiteral("(−8.0 %)")), qPrintable(lines[4]));
        QCOMPARE(lines.size(), 5);
        QCOMPARE(state().hovered, kNoSpan);
    }

    void aClickSelectsAndKeysWalkTheLane()
    {
        const auto run = test::sampleRun(m_plan);
        m_view->setOverlay(run);
        QSignalSpy selected(m_view.get(), &TimelineView::measuredSelected);
        m_view->selectSpan(3);
        QTest::mouseClick(m_view->canvas(), Qt::LeftButton, {}, onLane(rowOfStage(1), middleOf(*run, 1, 4)));
        QCOMPARE(m_view->selectedSpan(), kNoSpan);
        QVERIFY(state().selectedMeasured != kNoSpan);
        QCOMPARE(state().measured->numberOf[state().selectedMeasured], 4);
        QVERIFY(selected.last()[0].toString().endsWith(QStringLiteral("rank 2")));
        QTest::keyClick(m_view.get(), Qt::Key_Period);
        QCOMPARE(state().measured->numberOf[state().selectedMeasured], 5);
        QTest::keyClick(m_view.get(), Qt::Key_Comma);
        QTest::keyClick(m_view.get(), Qt::Key_Comma);
        QCOMPARE(state().measured->numberOf[state().selectedMeasured], 3);
        QVERIFY(m_view->accessibleDescription().contains(QStringLiteral("rank 2")));
        m_view->copySpan();
        QVERIFY(QApplication::clipboard()->text().contains(QStringLiteral("measured: compute")));
        m_view->setOverlay(std::make_shared<RunOverlay>(*run)); // made anew, as after an edit
        QCOMPARE(state().measured->numberOf[state().selectedMeasured], 3);
        QTest::keyClick(m_view.get(), Qt::Key_Escape);
        QCOMPARE(state().selectedMeasured, kNoSpan);
        QVERIFY(selected.last()[0].toString().isEmpty());
    }

    void twoMarksMeasureFromThePlanToTheRun()
    {
        const auto run = test::sampleRun(m_plan, { .longer = 0.2, .noise = 0, .kernels = 1 });
        m_view->setOverlay(run);
        const int row = rowOfStage(3);
        const std::uint32_t first = state().timeline()->tracks[state().layout.rows[std::size_t(row)].tracks[0]].first;
        const TrackRow &of = state().layout.rows[std::size_t(row)];
        QPoint above = onLane(row, state().timeline()->start[first] + 5'000'000);
        above.setY(origin().y() + of.y + of.barTop + 2);
        pointAt(above);
        QTest::keyClick(m_view.get(), Qt::Key_M);
        pointAt(onLane(row, middleOf(*run, 3, 0)));
        QTest::keyClick(m_view.get(), Qt::Key_M);
        QCOMPARE(*state().marks[0], state().timeline()->start[first]);
        // The run starts the same forward a fifth later.
        QVERIFY(std::abs(double(*state().marks[1]) - 1.2 * double(*state().marks[0])) < 10);
    }

    void aRankThatNobodyRecordedIsHatched()
    {
        m_view->setOverlay(test::sampleRun(m_plan, { .missingStages = { 1 }, .partlyMissing = { 2 } }));
        const std::set<QRgb> hatched = colorsOfLane(rowOfStage(1));
        QCOMPARE(hatched.size(), 2); // lines on the panel's ground
        QVERIFY(hatched.contains(theme().panel.rgb()));
        QVERIFY(!hatched.contains(recordedColor(RecordedWork::Compute).rgb()));
        QVERIFY(colorsOfLane(rowOfStage(2)).contains(recordedColor(RecordedWork::Compute).rgb()));
        pointAt(onLane(rowOfStage(1), m_plan->timeline.duration / 2));
        QCOMPARE(card().text(), QStringLiteral("stage 2 · run · not recorded\nno recording of ranks 2 and 3"));
        pointAt(onLane(rowOfStage(2), middleOf(*state().overlay, 2, 0)));
        QVERIFY(card().text().endsWith(QStringLiteral("no recording of rank 5")));
    }

    void rowsOfARunAloneHaveNoPlaceInThePlan()
    {
        // Their keys are ranks and streams, which look like replicas and stages.
        const auto run = test::sampleRun(m_plan);
        run->evaluation = nullptr;
        m_view->setOverlay(run);
        QVERIFY(!state().measured);
        QCOMPARE(state().layout.rows.front().measuredHeight, 0);
        QCOMPARE(timeEnds(state()).size(), 2);
    }

    void aStepWithoutSpansOfARankThatWasRecordedSaysSo()
    {
        const auto run = test::sampleRun(m_plan, { .missingStages = { 1 } });
        for (MeasuredRow &row : run->rows)
            if (row.shown < 0)
                row.missing.clear();
        m_view->setOverlay(run);
        pointAt(onLane(rowOfStage(1), m_plan->timeline.duration / 2));
        QCOMPARE(card().text(), QStringLiteral("stage 2 · run · no spans\nno spans of ranks 2 and 3 in this step"));
    }

    void theSwitchHidesTheRowsAndKeepsTheRun()
    {
        m_view->setOverlay(test::sampleRun(m_plan));
        auto *key = m_view->findChild<RunKey *>();
        QVERIFY(key->isVisible() && key->isChecked());
        QTest::mouseClick(key, Qt::LeftButton);
        QVERIFY(!state().showsMeasured && !state().measured && state().overlay);
        QVERIFY(!key->isChecked());
        QCOMPARE(state().whole.end, m_plan->timeline.duration);
        QVERIFY(std::ranges::all_of(state().layout.rows, [](const TrackRow &row) { return row.measuredHeight == 0; }));
        QTest::keyClick(m_view.get(), Qt::Key_R);
        QVERIFY(state().measured && key->isChecked());
        m_view->setOverlay(nullptr);
        QVERIFY(!key->isVisible());
    }

    void aFoldedDatacenterBlendsWhatWasMeasuredInIt()
    {
        m_view->setOverlay(test::sampleRun(m_plan));
        QTest::mouseClick(
            m_view->canvas(), Qt::LeftButton, {}, QPoint(30, kRulerHeight + state().layout.groups[0].y + 6));
        const TrackRow &summary = state().layout.rows.front();
        QCOMPARE(summary.kind, TrackRow::Kind::Summary);
        QCOMPARE(summary.measured.size(), 2); // its two stages
        QVERIFY(colorsOfLane(0).size() > 2);
        pointAt(onLane(0, m_plan->timeline.duration / 2));
        QCOMPARE(state().hoveredMeasured, kNoSpan);
    }

    void theTableOfAnAreaCountsWhatWasMeasured()
    {
        m_view->setOverlay(test::sampleRun(m_plan, { .longer = 0, .noise = 0, .missingStages = { 1 } }));
        const int first = rowOfStage(0), last = rowOfStage(1);
        const QPoint from = onLane(first, 0) + QPoint(1, 0),
                     to = onLane(last, m_plan->timeline.duration) - QPoint(2, 0);
        QTest::mousePress(m_view->canvas(), Qt::LeftButton, {}, from);
        for (const QPoint &at : { (from + to) / 2, to }) {
            QMouseEvent move(
                QEvent::MouseMove, at, m_view->canvas()->mapToGlobal(at), Qt::NoButton, Qt::LeftButton, {});
            QApplication::sendEvent(m_view->canvas(), &move);
        }
        QTest::mouseRelease(m_view->canvas(), Qt::LeftButton, {}, to);
        m_view->areaTable()->copy();
        QMap<QString, double> seconds;
        for (const QString &line : QApplication::clipboard()->text().split(u'\n', Qt::SkipEmptyParts).mid(1))
            seconds[line.section(u'\t', 0, 0)] = line.section(u'\t', 2, 2).toDouble();
        // Of two rows one was recorded: its work and its idle time fill the selected time once.
        const double area = double(state().area->time.length()) * 1e-9;
        const double run = seconds[QStringLiteral("run: compute")] + seconds[QStringLiteral("run: communication")]
            + seconds[QStringLiteral("run: idle")];
        QVERIFY2(std::abs(run - area) < 1e-6, qPrintable(QStringLiteral("%1 of %2").arg(run).arg(area)));
        QVERIFY(seconds[QStringLiteral("run: compute")] > 0);
    }

    void aDrawingToTakeAwayHasTheMeasuredRows()
    {
        m_view->setOverlay(test::sampleRun(m_plan, { .missingStages = { 1 } }));
        QBuffer file;
        QSvgGenerator svg;
        svg.setOutputDevice(&file);
        svg.setSize(m_view->size());
        QPainter painter(&svg);
        m_view->render(&painter, {}, {}, QWidget::DrawChildren);
        painter.end();
        const QString text = QString::fromUtf8(file.data());
        QVERIFY(text.contains(recordedColor(RecordedWork::Compute).name()));
        QVERIFY(text.contains(recordedColor(RecordedWork::Communication).name()));
        QVERIFY(text.contains(QStringLiteral("rank 4")));
        QVERIFY(text.contains(QStringLiteral("not recorded")));
    }

    void measuredColoursAreToldApartFromThoseOfThePlan()
    {
        const auto distance = [](const QColor &a, const QColor &b) {
            return std::hypot(a.red() - b.red(), a.green() - b.green(), a.blue() - b.blue());
        };
        for (const ThemeKind kind : { ThemeKind::Light, ThemeKind::Dark }) {
            applyTheme(*qApp, kind);
            for (const RecordedWork work : { RecordedWork::Compute, RecordedWork::Communication, RecordedWork::Copy }) {
                for (const WorkKind plan : { WorkKind::Forward, WorkKind::Backward, WorkKind::WanTransfer,
                         WorkKind::Collective, WorkKind::GradientReduce, WorkKind::OffloadStore })
                    QVERIFY2(distance(recordedColor(work), theme().work(plan)) > 25, toString(plan));
                QVERIFY(distance(recordedColor(work), recordedIdle()) > 60);
            }
        }
        applyTheme(*qApp, ThemeKind::Dark);
    }

    void aMillionSpansAreDrawnFromArrays()
    {
        // Painting makes room for the bars that can be told apart, not for each span.
        auto run = test::sampleRun(m_plan);
        for (MeasuredRow &row : run->rows) {
            if (row.key.stream != Stream::Compute)
                continue;
            constexpr int kSpans = 250'000;
            row.start.resize(kSpans);
            row.end.resize(kSpans);
            row.work.assign(kSpans, RecordedWork::Compute);
            row.name.assign(kSpans, 0);
            for (int i = 0; i < kSpans; ++i) {
                row.start[std::size_t(i)] = run->duration / kSpans * i;
                row.end[std::size_t(i)] = row.start[std::size_t(i)] + run->duration / kSpans / 2;
            }
        }
        m_view->setOverlay(run);
        QVERIFY(state().measured->timeline.spanCount() > 1'000'000);
        const QImage image = m_view->canvas()->grab().toImage();
        const TrackRow &row = state().layout.rows[std::size_t(rowOfStage(3))];
        const QColor at = image.pixelColor(origin() + QPoint(500, row.y + row.measuredTop + 3));
        // Each column is busy half of its time: half the colour of computing, half the ground.
        const auto half = [](int a, int b) { return (a + b) / 2; };
        const QColor busy = recordedColor(RecordedWork::Compute), idle = recordedIdle();
        QVERIFY(std::abs(at.red() - half(busy.red(), idle.red())) <= 3);
        QVERIFY(std::abs(at.blue() - half(busy.blue(), idle.blue())) <= 3);
    }

    void spansThatOverlapAreDrawnOnce()
    {
        // Compute [0, 10) and [4, 12), communication [2, 30): front 12, behind 28, busy 30 of 40.
        auto run = test::sampleRun(m_plan);
        MeasuredRow row;
        row.key = run->rows[0].key;
        row.ranks = { 0 };
        row.shown = 0;
        row.start = { 0, 2, 4, 5 };
        row.end = { 10, 30, 12, 7 };
        row.work = { RecordedWork::Compute, RecordedWork::Communication, RecordedWork::Compute, RecordedWork::Compute };
        row.name = { 0, 1, 0, 99 };
        run->rows = { row };
        run->duration = 40;
        const MeasuredLanesPtr lanes = MeasuredLanes::of(run);
        QCOMPARE(lanes->timeline.spanCount(), 3);
        QCOMPARE(lanes->timeline.start[1], 10);
        QCOMPARE(lanes->timeline.end[1], 12);
        QCOMPARE(lanes->busy[0], 30);
        QCOMPARE(lanes->spanOf(0, 1), 2u);
        QCOMPARE(lanes->spanOf(0, 3), kNoSpan);
        QCOMPARE(lanes->rowOf(2), 0);
    }

    void ranksAreSaidInRuns()
    {
        QCOMPARE(ranksText({ 3 }), QStringLiteral("rank 3"));
        QCOMPARE(ranksText({ 3, 7 }), QStringLiteral("ranks 3 and 7"));
        QCOMPARE(ranksText({ 0, 1, 2, 3 }), QStringLiteral("ranks 0–3"));
        QCOMPARE(ranksText({ 0, 1, 2, 3, 8, 9 }), QStringLiteral("ranks 0–3, 8 and 9"));
        QCOMPARE(ranksText({ 0, 2, 4, 6, 8, 10 }), QStringLiteral("ranks 0, 2, 4, 6, …"));
    }

    void namesOfKernelsLoseWhatNobodyReads()
    {
        QCOMPARE(shortSpanName(test::kernelNames()[0]), QStringLiteral("Kernel2"));
        QCOMPARE(shortSpanName(test::kernelNames()[1]), QStringLiteral("ncclDevKernel_AllReduce_Sum_bf16_RING_LL"));
        QCOMPARE(shortSpanName(test::kernelNames()[2]), QStringLiteral("vectorized_elementwise_kernel"));
        QCOMPARE(shortSpanName("Memcpy HtoD (Pinned -> Device)"), QStringLiteral("Memcpy HtoD"));
        QCOMPARE(shortSpanName("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<int>(int)"),
            QStringLiteral("multi_tensor_apply_kernel"));
        QCOMPARE(shortSpanName("<<<>>>"), QStringLiteral("<<<>>>"));
        QCOMPARE(shortSpanName("aten::mm", 3), QStringLiteral("mm"));
        QCOMPARE(shortSpanName("a_long_name", 6), QStringLiteral("a_lon…"));
        QVERIFY(shortSpanName("").isEmpty());
    }
};

TRAINYARD_TEST(MeasuredRowsTest)
#include "tst_measured_rows.moc"
