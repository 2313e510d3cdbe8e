// SPDX-License-Identifier: GPL-3.0-or-later
// A plan with jobs in the timeline, under real events: rows are GPUs, colours are jobs, bounds are lines, and a job
// that is dropped on a GPU asks to be pinned there.
#include "tests/support/job_evaluation.h"
#include "tests/support/sample_timelines.h"
#include "tests/support/test_program.h"
#include "views/theme/job_colors.h"
#include "views/theme/theme.h"
#include "views/timeline/bound_painter.h"
#include "views/timeline/job_text.h"
#include "views/timeline/legend.h"
#include "views/timeline/minimap.h"
#include "views/timeline/span_card.h"
#include "views/timeline/span_text.h"
#include "views/timeline/timeline_view.h"

#include <QContextMenuEvent>
#include <QDropEvent>
#include <QMenu>
#include <QMimeData>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include <memory>

using namespace trainyard;

class JobsShownTest : public QObject {
    Q_OBJECT
    std::unique_ptr<TimelineView> m_view;
    EvaluationPtr m_evaluation;

    [[nodiscard]] const TimelineState &state() const { return m_view->state(); }
    [[nodiscard]] const Timeline &timeline() const { return m_evaluation->timeline; }
    void show(const test::JobShape &shape)
    {
        m_evaluation = test::jobEvaluation(shape);
        m_view->setEvaluation(m_evaluation);
        QCoreApplication::processEvents();
    }
    [[nodiscard]] QPoint middleOf(std::uint32_t span) const
    {
        const QRect tracks = m_view->trackArea();
        const TrackRow &row = state().layout.rows[std::size_t(state().layout.rowOfTrack[timeline().trackOf[span]])];
        const double x = (timeToX(timeline().start[span], state().range, tracks.left(), tracks.width())
                             + timeToX(timeline().end[span], state().range, tracks.left(), tracks.width()))
            / 2;
        return m_view->canvas()->mapFrom(m_view.get(), QPoint(int(x), tracks.top()))
            + QPoint(0, rowTop(state().layout, row, state().scroll) + row.barTop + row.barHeight / 2);
    }
    [[nodiscard]] std::uint32_t firstOfGpu(int gpu) const
    {
        for (const Track &track : timeline().tracks)
            if (track.stage == gpu && track.stream == Stream::Compute)
                return track.first;
        return kNoSpan;
    }
    template <class Event> bool drop(const QString &job, QPoint at)
    {
        QMimeData mime;
        if (!job.isEmpty())
            mime.setData(QStringLiteral("application/x-trainyard-job"), job.toUtf8());
        Event event(at, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        event.setAccepted(false);
        QApplication::sendEvent(m_view->canvas(), &event);
        return event.isAccepted();
    }

private slots:
    void init()
    {
        m_view = std::make_unique<TimelineView>();
        m_view->resize(1280, 400);
        m_view->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_view.get()));
        show({});
    }
    void cleanup() { m_view.reset(); }

    void rowsAreGpusByDatacenterWithTheirTransfersBelow()
    {
        m_view->resize(1280, 500);
        show({ .gpus = 2, .datacenters = 2 });
        QCOMPARE(state().layout.groups.size(), std::size_t(2));
        QStringList labels;
        for (const TrackRow &row : state().layout.rows)
            labels << row.label;
        QCOMPARE(labels.size(), 12); // 4 GPUs × (units, to the host, to the GPU)
        QVERIFY(labels.at(0).startsWith(QStringLiteral("GPU 0 · V100")));
        QVERIFY(labels.at(9).startsWith(QStringLiteral("GPU 3 · V100")));
        QVERIFY(labels.contains(QStringLiteral("← host")) && labels.contains(QStringLiteral("→ host")));
        for (const QString &text : labels + QStringList { m_view->accessibleDescription() }) {
            QVERIFY2(!text.contains(QStringLiteral("stage")), qPrintable(text));
            QVERIFY2(!text.contains(QStringLiteral("iteration")), qPrintable(text));
        }
    }

    void transfersOfManyGpusWaitForUnfolding()
    {
        show({ .jobs = 16, .gpus = 16 });
        QCOMPARE(state().layout.rows.size(), std::size_t(16));
        m_view->toggleStreams();
        QCOMPARE(state().layout.rows.size(), std::size_t(48));
    }

    void aBarHasTheColourOfItsJob()
    {
        const QImage image = m_view->grab().toImage();
        for (int gpu = 0; gpu < 4; ++gpu) {
            const std::uint32_t span = firstOfGpu(gpu);
            const QPoint at = m_view->canvas()->mapTo(m_view.get(), middleOf(span)) + QPoint(0, 0);
            const TrackRow &row = state().layout.rows[std::size_t(state().layout.rowOfTrack[timeline().trackOf[span]])];
            // Clear of the label: near the bar's upper edge.
            const QColor color = image.pixelColor(at - QPoint(0, row.barHeight / 2 - 1));
            QCOMPARE(color.rgb(), jobColor(jobOfSpan(*m_evaluation, span)).rgb());
        }
    }

    void spansSayMinibatchShardAndJob()
    {
        const std::uint32_t span = firstOfGpu(2);
        const QString title = spanTitle(*m_evaluation, span);
        QCOMPARE(title, QStringLiteral("Forward · model 3 · mini-batch 1 · shard 1 · GPU 2"));
        QCOMPARE(spanName(*m_evaluation, span), QStringLiteral("mini-batch 1, shard 1, forward of model 3, on GPU 2"));
        QVERIFY(timelineSummary(*m_evaluation).startsWith(QStringLiteral("6 jobs · ")));
        QTest::mouseMove(m_view->canvas(), middleOf(span));
        QMouseEvent move(QEvent::MouseMove, middleOf(span), m_view->canvas()->mapToGlobal(middleOf(span)), Qt::NoButton,
            Qt::NoButton, Qt::NoModifier);
        QApplication::sendEvent(m_view->canvas(), &move);
        QVERIFY(m_view->findChild<SpanCard *>()->text().startsWith(title));
    }

    void aSpanOfSeveralMinibatchesNamesThemAll()
    {
        auto several = std::make_shared<Evaluation>(*test::jobEvaluation({ .minibatches = 2 }));
        Plan plan = *several->plan;
        for (Job &job : plan.jobs)
            job.minibatches = 15;
        several->plan = std::make_shared<const Plan>(plan);
        several->metrics.jobs->minibatchesPerSpan = 10;
        for (std::int32_t &first : several->timeline.microBatch)
            first *= 10;
        QStringList texts;
        for (std::uint32_t span = 0; span < several->timeline.spanCount(); ++span)
            texts << minibatchText(*several, span);
        texts.removeDuplicates();
        texts.sort();
        QCOMPARE(texts, (QStringList { QStringLiteral("mini-batches 11–15"), QStringLiteral("mini-batches 1–10") }));
    }

    void aClickOnASpanMakesItsJobStandOutUntilEscape()
    {
        QSignalSpy selected(m_view.get(), &TimelineView::jobSelected);
        const std::uint32_t span = firstOfGpu(1);
        const int job = jobOfSpan(*m_evaluation, span);
        QTest::mouseClick(m_view->canvas(), Qt::LeftButton, {}, middleOf(span));
        QCOMPARE(m_view->selectedJob(), job);
        QCOMPARE(selected.size(), 1);
        std::uint32_t shown = 0;
        for (std::uint32_t s = 0; s < timeline().spanCount(); ++s)
            if (m_view->filter().matches(timeline(), s)) {
                QCOMPARE(jobOfSpan(*m_evaluation, s), job);
                ++shown;
            }
        QCOMPARE(shown, 3u * 3u * 3u); // units, loads, stores × (2K - 1) × mini-batches
        QTest::keyClick(m_view.get(), Qt::Key_Escape);
        QCOMPARE(m_view->selectedJob(), JobSpans::kNone);
        QVERIFY(m_view->filter().isNeutral());
    }

    void theLegendChoosesJobs()
    {
        const QList<JobButton *> buttons = m_view->findChildren<JobButton *>();
        QCOMPARE(buttons.size(), 6);
        QTest::mouseClick(buttons.at(4), Qt::LeftButton);
        QCOMPARE(m_view->selectedJob(), 4);
        QVERIFY(buttons.at(4)->isChecked());
        QTest::mouseClick(buttons.at(4), Qt::LeftButton);
        QCOMPARE(m_view->selectedJob(), JobSpans::kNone);
        for (const KindButton *kind : m_view->findChildren<KindButton *>())
            QVERIFY(!kind->isVisible());
    }

    void manyJobsWaitInTheMenuOfTheLegend()
    {
        show({ .jobs = 300, .gpus = 8, .minibatches = 1 });
        int shown = 0;
        for (const JobButton *button : m_view->findChildren<JobButton *>())
            shown += button->isVisible();
        QVERIFY(shown > 0 && shown < 40);
        bool saysTheRest = false;
        for (const QToolButton *button : m_view->findChild<Legend *>()->findChildren<QToolButton *>())
            saysTheRest =
                saysTheRest || (button->isVisible() && button->text() == QStringLiteral("+%1").arg(300 - shown));
        QVERIFY(saysTheRest);
    }

    void theSelectedJobStaysThroughANewEvaluation()
    {
        m_view->selectJob(3);
        show({ .gpus = 3 });
        QCOMPARE(m_view->selectedJob(), 3);
        show({ .jobs = 2 }); // it is gone
        QCOMPARE(m_view->selectedJob(), JobSpans::kNone);
        QVERIFY(m_view->filter().isNeutral());
    }

    void aSearchFindsJobsShardsAndGpus()
    {
        QVERIFY(m_view->find(QStringLiteral("model 2, mini-batch 3")));
        std::uint32_t span = m_view->selectedSpan();
        QCOMPARE(jobOfSpan(*m_evaluation, span), 1);
        QCOMPARE(timeline().microBatch[span], 2);
        QVERIFY(m_view->find(QStringLiteral("gpu 3 shard 2")));
        span = m_view->selectedSpan();
        QCOMPARE(timeline().tracks[timeline().trackOf[span]].stage, 3);
        QCOMPARE(int(timeline().chunk[span]), 1);
        QVERIFY(m_view->find(QStringLiteral("MODEL")));
        QCOMPARE(jobOfSpan(*m_evaluation, m_view->selectedSpan()), 0);
    }

    void boundsAndEndAreLinesInOrderOfTime()
    {
        auto late = std::make_shared<Evaluation>(*m_evaluation);
        late->metrics.jobs->perJob[1].deadline = *late->metrics.jobs->perJob[1].end / 2;
        TimelineState shown;
        shown.evaluation = late;
        const std::vector<TimeBound> bounds = timeBounds(shown);
        QCOMPARE(bounds.size(), std::size_t(4));
        QVERIFY(std::ranges::is_sorted(bounds, {}, &TimeBound::at));
        int missed = 0, ends = 0;
        for (const TimeBound &bound : bounds) {
            missed += bound.isMissed;
            if (bound.kind == TimeBound::Kind::End) {
                QCOMPARE(bound.at, late->timeline.duration);
                ++ends;
            }
        }
        QCOMPARE(missed, 1);
        QCOMPARE(ends, 1);
        QVERIFY(
            std::ranges::any_of(bounds, [](const TimeBound &b) { return b.text.startsWith(QStringLiteral("ΣW/G")); }));
        TimelineState other;
        other.evaluation = test::sampleEvaluation();
        QVERIFY(timeBounds(other).empty());
    }

    void flagsNeverOverlap()
    {
        const QRect ruler(100, 0, 400, 22);
        const std::vector<QRectF> places = flagPlaces({ 300, 301, 302, 490 }, { 80, 90, 0, 70 }, ruler);
        for (std::size_t i = 0; i < places.size(); ++i)
            for (std::size_t j = i + 1; j < places.size(); ++j)
                QVERIFY(places[i].isEmpty() || places[j].isEmpty() || !places[i].intersects(places[j]));
        QVERIFY(places[1].right() <= 303 && places[0].right() < places[1].left());
        QVERIFY(flagPlaces({ 110, 115 }, { 300, 300 }, ruler).front().isEmpty()); // no room for both
    }

    void aJobDroppedOnARowAsksToBePinnedThere()
    {
        QSignalSpy pins(m_view.get(), &TimelineView::pinRequested);
        const QPoint at = middleOf(firstOfGpu(2));
        QVERIFY(drop<QDragEnterEvent>(QStringLiteral("model 5"), at));
        QVERIFY(drop<QDragMoveEvent>(QStringLiteral("model 5"), at));
        QCOMPARE(state().dropGpu, 2);
        QVERIFY(drop<QDropEvent>(QStringLiteral("model 5"), at));
        QCOMPARE(state().dropGpu, -1);
        QCOMPARE(pins.size(), 1);
        QCOMPARE(pins.at(0).at(0).toString(), QStringLiteral("model 5"));
        QCOMPARE(pins.at(0).at(1).value<std::vector<int>>(), (std::vector<int> { 2 }));
        QVERIFY(!drop<QDragEnterEvent>(QString(), at)); // files are the window's
    }

    void theMenuPinsAndUnpins()
    {
        QSignalSpy pins(m_view.get(), &TimelineView::pinRequested);
        Plan plan = *m_evaluation->plan;
        plan.jobs[2].pinnedGpus = { 0 };
        m_evaluation = test::jobEvaluation({}, std::make_shared<const Plan>(plan));
        m_view->setEvaluation(m_evaluation);
        const auto choose = [&](const QString &entry, std::uint32_t span) {
            const QPoint at = middleOf(span);
            QContextMenuEvent event(
                QContextMenuEvent::Mouse, m_view->canvas()->mapTo(m_view.get(), at), m_view->canvas()->mapToGlobal(at));
            QApplication::sendEvent(m_view.get(), &event);
            auto *menu = qobject_cast<QMenu *>(QApplication::activePopupWidget());
            QVERIFY(menu);
            bool isThere = false;
            for (QAction *action : menu->actions())
                if (action->text() == entry) {
                    action->trigger();
                    isThere = true;
                }
            menu->close();
            QVERIFY2(isThere, qPrintable(entry));
        };
        std::uint32_t ofThird = 0;
        while (jobOfSpan(*m_evaluation, ofThird) != 2)
            ++ofThird;
        const int gpu = timeline().tracks[timeline().trackOf[ofThird]].stage;
        choose(QStringLiteral("Pin this job to GPU %1").arg(gpu), ofThird);
        choose(QStringLiteral("Unpin model 3"), ofThird);
        QCOMPARE(pins.size(), 2);
        QCOMPARE(pins.at(0).at(1).value<std::vector<int>>(), (std::vector<int> { gpu }));
        QVERIFY(pins.at(1).at(1).value<std::vector<int>>().empty());
    }

    void prefillBetweenJobsHasItsOwnColour()
    {
        auto filled = std::make_shared<Evaluation>(*m_evaluation);
        Timeline &t = filled->timeline;
        Track track;
        track.stream = Stream::Prefill;
        track.stage = 0;
        track.first = std::uint32_t(t.spanCount());
        track.last = track.first + 1;
        const Nanoseconds free = t.end[t.tracks[0].last - 1], end = t.duration;
        QVERIFY(end > free);
        t.start.push_back(free);
        t.end.push_back(end);
        t.kind.push_back(WorkKind::Prefill);
        t.taskClass.push_back(kNoSpan); // nothing more is known of it
        t.microBatch.push_back(-1);
        t.chunk.push_back(0);
        t.cause.push_back(kNoSpan);
        t.trackOf.push_back(std::uint32_t(t.tracks.size()));
        t.tracks.push_back(track);
        m_evaluation = filled;
        m_view->setEvaluation(filled);
        m_view->setVisibleRange(free - (end - free), end);
        QCoreApplication::processEvents();
        const QRect tracks = m_view->trackArea();
        const QImage image = m_view->grab().toImage();
        const QColor color = image.pixelColor(tracks.left() + tracks.width() * 3 / 4, tracks.top() + 3);
        QCOMPARE(color.rgb(), theme().work(WorkKind::Prefill).rgb());
        // The legend names it beside the jobs; what is switched off there fades.
        KindButton *named = nullptr;
        for (KindButton *button : m_view->findChildren<KindButton *>())
            if (button->isVisible()) {
                QCOMPARE(button->kind(), WorkKind::Prefill);
                named = button;
            }
        QVERIFY(named && m_view->findChild<JobButton *>()->isVisible());
        const auto shown = [&] {
            return m_view->grab().toImage().pixelColor(tracks.left() + tracks.width() * 3 / 4, tracks.top() + 3);
        };
        QTest::mouseClick(named, Qt::LeftButton);
        QVERIFY(shown() != color);
        QTest::mouseClick(named, Qt::LeftButton);
        QCOMPARE(shown().rgb(), color.rgb());
        m_view->selectJob(1); // it fades with all that is no job's
        QVERIFY(m_view->grab().toImage().pixelColor(tracks.left() + tracks.width() * 3 / 4, tracks.top() + 3) != color);
    }

    void anotherPlanWithoutJobsLooksAsBefore()
    {
        TimelineView fresh;
        fresh.resize(1280, 400);
        fresh.show();
        m_view->selectJob(2);
        for (TimelineView *view : { &fresh, m_view.get() }) {
            view->startPlan();
            view->setEvaluation(test::sampleEvaluation());
        }
        QCoreApplication::processEvents();
        QCOMPARE(m_view->canvas()->grab().toImage(), fresh.canvas()->grab().toImage());
        QCOMPARE(m_view->findChild<Minimap *>()->picture(), fresh.findChild<Minimap *>()->picture());
    }
};

TRAINYARD_TEST(JobsShownTest)
#include "tst_jobs_shown.moc"
