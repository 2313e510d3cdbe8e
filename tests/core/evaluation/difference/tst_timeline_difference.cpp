// SPDX-License-Identifier: GPL-3.0-or-later
// Differences of timelines against edits that are known: made by hand in the spans, or by keys whose effect on each
// span is stated by the plan.
#include "core/evaluation/difference/timeline_difference.h"

#include "core/engine/timeline/cell_members.h"
#include "tests/core/evaluation/difference/gpu_time_truth.h"
#include "tests/support/plans.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QTest>

#include <algorithm>
#include <array>
#include <string>

using namespace trainyard;

namespace {

/// Four stages of 2 replicas, 8 micro-batches each, times of our own.
Plan measuredPlan()
{
    Plan plan = test::oneSite(8);
    plan.parallelism.data = 2;
    plan.workload.globalBatch = 16;
    plan.stack.name = "ideal";
    MeasuredStageTimes times;
    times.forwardMs = { 10, 10, 10, 10 };
    times.backwardMs = { 20, 20, 20, 20 };
    plan.profile = times;
    return plan;
}

std::shared_ptr<Evaluation> copyOf(const EvaluationPtr &evaluation)
{
    return std::make_shared<Evaluation>(*evaluation);
}

/// Spans of a kind on a stage's compute track.
std::vector<std::uint32_t> spansOf(const Evaluation &evaluation, int stage, WorkKind kind)
{
    std::vector<std::uint32_t> found;
    for (const Track &track : evaluation.timeline.tracks)
        for (std::uint32_t span = track.first; span < track.last; ++span)
            if (track.stream == Stream::Compute && track.stage == stage && evaluation.timeline.kind[span] == kind)
                found.push_back(span);
    return found;
}

/// The evaluation with its one class of two pipelines as two classes of one each, the spans of the second behind all.
EvaluationPtr unfolded(const EvaluationPtr &evaluation)
{
    auto both = copyOf(evaluation);
    both->layout.classes.push_back(both->layout.classes.front());
    both->layout.classes[0].pipelines = both->layout.classes[1].pipelines = 1;
    both->layout.classes[1].firstPipeline = 1;
    Timeline &t = both->timeline;
    const auto spans = std::uint32_t(t.spanCount()), tracks = std::uint32_t(t.tracks.size());
    for (std::uint32_t i = 0; i < tracks; ++i) {
        Track track = t.tracks[i];
        track.pipelineClass = 1;
        track.first += spans;
        track.last += spans;
        t.tracks.push_back(track);
    }
    const auto twice = [](auto &values) {
        const auto once = values;
        values.insert(values.end(), once.begin(), once.end());
    };
    twice(t.start);
    twice(t.end);
    twice(t.kind);
    twice(t.microBatch);
    twice(t.chunk);
    twice(t.taskClass);
    twice(t.cause);
    twice(t.trackOf);
    for (std::uint32_t i = spans; i < 2 * spans; ++i)
        t.trackOf[i] += tracks;
    t.origin.clear();
    t.fingerprint = 0;
    return both;
}

} // namespace

class TstTimelineDifference : public QObject {
    Q_OBJECT

private slots:
    void aPlanDiffersFromItselfInNothing_data()
    {
        QTest::addColumn<QString>("sample");
        const QStringList files = QDir(QStringLiteral(TRAINYARD_SOURCE_DIR "/samples"))
                                      .entryList({ QStringLiteral("*.trainyard.json") }, QDir::Files);
        QVERIFY(files.size() > 10);
        for (const QString &file : files)
            QTest::newRow(qPrintable(file)) << file.chopped(int(sizeof ".trainyard.json") - 1);
    }
    void aPlanDiffersFromItselfInNothing()
    {
        QFETCH(const QString, sample);
        const EvaluationPtr one = test::evaluatedSample(sample.toStdString());
        const EvaluationPtr again = test::evaluatedSample(sample.toStdString());
        QVERIFY(one->timeline.spanCount() > 0);
        const TimelineDifference found = timelineDifference(*one, *again);
        QVERIFY2(found.areMatched(), found.whyNotMatched.c_str());
        QVERIFY(found.isEmpty());
        QCOMPARE(found.spans.size(), std::size_t(0));
        QVERIFY(!found.gpuTime.empty()); // equal rows stay, so that tables show them
    }

    void oneSpanThatIsLongerIsTheOnlyDifference()
    {
        const EvaluationPtr before = test::evaluated(measuredPlan());
        const auto after = copyOf(before);
        const std::uint32_t span = spansOf(*before, 2, WorkKind::Backward)[3];
        after->timeline.end[span] += 1234;
        const TimelineDifference found = timelineDifference(*before, *after);
        QCOMPARE(found.spans.size(), std::size_t(1));
        // Both replicas are one class: 1234 ns each, of 8 GPUs a stage.
        QVERIFY((found.spans[0] == SpanDifference { span, span, 0, 2, 1234, 0 }));
        QVERIFY(found.spans[0].change() == SpanChange::Longer);
        const auto rows = largestGpuTimes(found, 10);
        QCOMPARE(rows.size(), std::size_t(1));
        QCOMPARE(rows[0].place, std::string("stage 3"));
        QCOMPARE(rows[0].stage, 2);
        QVERIFY(rows[0].kind == WorkKind::Backward && rows[0].stream == Stream::Compute);
        QCOMPARE(rows[0].difference(), GpuNanoseconds(1234 * 2 * 8));
        const std::array<std::int64_t, kSpanChangeCount> counts { 0, 0, 2, 0, 0 };
        QCOMPARE(countsByChange(found), counts);
    }

    void aSpanThatStartsElsewhereIsShiftedAndTakesNoOtherTime()
    {
        const EvaluationPtr before = test::evaluated(measuredPlan());
        const auto after = copyOf(before);
        const std::uint32_t span = spansOf(*before, 3, WorkKind::Backward).back();
        after->timeline.start[span] += 77;
        after->timeline.end[span] += 77;
        const TimelineDifference found = timelineDifference(*before, *after);
        QCOMPARE(found.spans.size(), std::size_t(1));
        QVERIFY((found.spans[0] == SpanDifference { span, span, 0, 2, 0, 77 }));
        QVERIFY(found.spans[0].change() == SpanChange::Shifted);
        QVERIFY(largestGpuTimes(found, 10).empty());
        QVERIFY(!found.isEmpty());
    }

    void anotherMicroBatchIsOneThatCameAndOneThatWent()
    {
        const EvaluationPtr before = test::evaluated(measuredPlan());
        const auto after = copyOf(before);
        const std::uint32_t span = spansOf(*before, 1, WorkKind::Forward)[5];
        after->timeline.microBatch[span] = 1000;
        const Nanoseconds length = before->timeline.end[span] - before->timeline.start[span];
        const TimelineDifference found = timelineDifference(*before, *after);
        QCOMPARE(found.spans.size(), std::size_t(2));
        QVERIFY((found.spans[0] == SpanDifference { span, kNoSpan, 0, 2, -length, 0 }));
        QVERIFY((found.spans[1] == SpanDifference { kNoSpan, span, 0, 2, length, 0 }));
        QVERIFY(found.spans[0].change() == SpanChange::Went && found.spans[1].change() == SpanChange::Came);
    }

    void anotherOrderOnAStageShiftsSpans()
    {
        const EvaluationPtr before = test::evaluated(measuredPlan());
        const auto after = copyOf(before);
        const auto spans = spansOf(*before, 0, WorkKind::Forward);
        std::swap(after->timeline.microBatch[spans[1]], after->timeline.microBatch[spans[2]]);
        const TimelineDifference found = timelineDifference(*before, *after);
        const Nanoseconds apart = before->timeline.start[spans[2]] - before->timeline.start[spans[1]];
        QCOMPARE(found.spans.size(), std::size_t(2));
        QVERIFY((found.spans[0] == SpanDifference { spans[1], spans[2], 0, 2, 0, apart }));
        QVERIFY((found.spans[1] == SpanDifference { spans[2], spans[1], 0, 2, 0, -apart }));
    }

    void replicasThatAreFoldedInOnePlanAloneAreTakenApart()
    {
        const EvaluationPtr folded = test::evaluated(measuredPlan());
        QCOMPARE(folded->layout.classes.size(), std::size_t(1));
        QVERIFY(timelineDifference(*folded, *unfolded(folded)).isEmpty());
        QVERIFY(timelineDifference(*unfolded(folded), *folded).isEmpty());
        // The second replica alone is slower.
        const auto after = copyOf(unfolded(folded));
        const std::uint32_t first = spansOf(*folded, 2, WorkKind::Forward)[0];
        const auto span = std::uint32_t(first + folded->timeline.spanCount());
        after->timeline.end[span] += 5;
        const TimelineDifference found = timelineDifference(*folded, *after);
        QCOMPARE(found.spans.size(), std::size_t(1));
        QVERIFY((found.spans[0] == SpanDifference { first, span, 1, 1, 5, 0 }));
        QCOMPARE(largestGpuTimes(found, 1).at(0).difference(), GpuNanoseconds(5 * 8));
    }

    void aSlowerStageMakesItsOwnForwardsLonger()
    {
        Plan plan = measuredPlan();
        const EvaluationPtr before = test::evaluated(plan);
        plan.profile->forwardMs = { 10, 10, 15, 10 };
        const EvaluationPtr after = test::evaluated(plan);
        const TimelineDifference found = timelineDifference(*before, *after);
        QVERIFY(found.areMatched());
        std::size_t longer = 0;
        for (const SpanDifference &span : found.spans) {
            if (span.change() == SpanChange::Shifted)
                continue;
            ++longer;
            QCOMPARE(span.longer, Nanoseconds(5'000'000));
            QCOMPARE(before->timeline.tracks[before->timeline.trackOf[span.before]].stage, 2);
            QVERIFY(before->timeline.kind[span.before] == WorkKind::Forward);
        }
        QCOMPARE(longer, std::size_t(8)); // micro-batches of a replica
        // 8 micro-batches, 2 replicas, 8 GPUs.
        const auto kinds = gpuTimeByKind(found);
        for (const KindDifference &kind : kinds)
            QCOMPARE(kind.difference(),
                kind.kind == WorkKind::Forward ? GpuNanoseconds(5'000'000) * 8 * 2 * 8 : GpuNanoseconds(0));
        QCOMPARE(countsByChange(found)[std::size_t(SpanChange::Longer)], std::int64_t(16));
        const auto largest = largestSpans(found, 3);
        QCOMPARE(largest.size(), std::size_t(3));
        for (const std::size_t i : largest)
            QCOMPARE(found.spans[i].longer, Nanoseconds(5'000'000));
    }

    void aMicroBatchMoreIsComparedByStageAndKind()
    {
        Plan plan = measuredPlan();
        const EvaluationPtr before = test::evaluated(plan);
        plan.workload.globalBatch = 18;
        const EvaluationPtr after = test::evaluated(plan);
        const TimelineDifference found = timelineDifference(*before, *after);
        QCOMPARE(found.whyNotMatched,
            std::string("9 micro-batches per replica instead of 8: spans are not matched, GPU time by stage and kind "
                        "of work is compared"));
        QVERIFY(found.spans.empty());
        QVERIFY(!found.isEmpty());
        int forwards = 0;
        for (const GpuTimeDifference &row : largestGpuTimes(found, 100)) {
            if (row.kind != WorkKind::Forward)
                continue;
            ++forwards; // one micro-batch of 10 ms, 2 replicas, 8 GPUs
            QCOMPARE(row.difference(), GpuNanoseconds(10'000'000) * 2 * 8);
        }
        QCOMPARE(forwards, 4);
    }

    void otherShapesAreNamedOneByOne()
    {
        const EvaluationPtr before = test::evaluated(test::oneSite(8));
        Plan fewer = test::oneSite(8);
        fewer.parallelism.data = 1;
        const TimelineDifference replicas = timelineDifference(*before, *test::evaluated(fewer));
        QCOMPARE(replicas.whyNotMatched,
            std::string("1 replica instead of 2, 64 micro-batches per replica instead of 32: spans are not matched, "
                        "GPU time by stage and kind of work is compared"));
        const TimelineDifference stages = timelineDifference(*before, *test::evaluated(test::oneSite(8, 8)));
        QVERIFY2(stages.whyNotMatched.starts_with("1 replica instead of 2, 8 stages instead of 4, "),
            stages.whyNotMatched.c_str());
        QVERIFY2(stages.whyNotMatched.ends_with(
                     ": spans are not matched, GPU time by datacenter and kind of work is compared"),
            stages.whyNotMatched.c_str());
        for (const GpuTimeDifference &row : stages.gpuTime) {
            QCOMPARE(row.place, std::string("a"));
            QCOMPARE(row.stage, -1);
        }
        Plan interleaved = test::oneSite(8);
        interleaved.schedule = ScheduleKind::Interleaved;
        interleaved.parallelism.virtualPipeline = 2;
        QCOMPARE(timelineDifference(*before, *test::evaluated(interleaved)).whyNotMatched,
            std::string("2 virtual stages per stage instead of 1: spans are not matched, GPU time by stage and kind of "
                        "work is compared"));
        const TimelineDifference jobs = timelineDifference(*before, *test::evaluatedSample("hydra-lab"));
        QVERIFY2(jobs.whyNotMatched.starts_with("jobs instead of one training: "), jobs.whyNotMatched.c_str());
    }

    void turnsOnASharedLinkAreOfTheReplicaWhoseResultTheyCarry()
    {
        Plan plan = test::atlasRow(4, 4, 2, 2, ScheduleKind::OneFOneB);
        const EvaluationPtr before = test::evaluated(plan);
        plan.wan.sharing = WanSharing::Temporal;
        const EvaluationPtr after = test::evaluated(plan);
        const Timeline &t = after->timeline;
        QVERIFY(std::ranges::any_of(t.tracks, [&](const Track &track) { return hasTurns(t, track); }));
        const TimelineDifference found = timelineDifference(*before, *after);
        QVERIFY2(found.areMatched(), found.whyNotMatched.c_str());
        int transfers = 0;
        for (const SpanDifference &span : found.spans) {
            const std::uint32_t at = span.before;
            if (at == kNoSpan || before->timeline.kind[at] != WorkKind::WanTransfer)
                continue;
            ++transfers;
            QVERIFY(span.after != kNoSpan);
            QCOMPARE(sendingMember(t, span.after), span.firstReplica);
        }
        QVERIFY(transfers > 0);
        for (const SpanDifference &span : found.spans)
            QVERIFY(span.before != kNoSpan || t.kind[span.after] != WorkKind::WanTransfer);
    }

    void aWindowHoldsWhatReachesIntoIt()
    {
        Plan plan = measuredPlan();
        const EvaluationPtr before = test::evaluated(plan);
        plan.profile->forwardMs = { 10, 10, 15, 10 };
        const EvaluationPtr after = test::evaluated(plan);
        const Nanoseconds half = after->timeline.duration / 2;
        const TimelineDifference whole = timelineDifference(*before, *after);
        const TimelineDifference early = timelineDifference(*before, *after, { 0, half });
        const TimelineDifference late = timelineDifference(*before, *after, { .from = half });
        QVERIFY(early.spans.size() < whole.spans.size() && late.spans.size() < whole.spans.size());
        QVERIFY(early.spans.size() + late.spans.size() >= whole.spans.size());
        const auto sum = [](const TimelineDifference &of) {
            GpuNanoseconds all = 0;
            for (const KindDifference &kind : gpuTimeByKind(of))
                all += kind.after;
            return all;
        };
        QCOMPARE(sum(early) + sum(late), sum(whole)); // a span that lies across is cut
        QCOMPARE(sum(whole), test::sumOf(test::gpuTimeOf(*after)));
    }

    void jobsAreKnownByTheirNames()
    {
        const EvaluationPtr before = test::evaluatedSample("hydra-lab");
        const auto renamed = copyOf(before);
        QVERIFY(renamed->metrics.jobs->perJob.size() > 1);
        renamed->metrics.jobs->perJob[0].name = "another";
        const TimelineDifference found = timelineDifference(*before, *renamed);
        std::size_t ofJob = 0;
        for (std::uint32_t span = 0; span < before->timeline.spanCount(); ++span)
            ofJob += before->timeline.classOf(span).job == 0;
        QVERIFY(ofJob > 0);
        QCOMPARE(found.spans.size(), 2 * ofJob); // each went and came
        for (const SpanDifference &span : found.spans)
            QVERIFY(span.change() == SpanChange::Came || span.change() == SpanChange::Went);
    }

    void timesBeyondTheLargestNumberStopThere()
    {
        const EvaluationPtr before = test::evaluated(measuredPlan());
        const auto after = copyOf(before);
        for (const std::uint32_t span : spansOf(*before, 1, WorkKind::Forward))
            after->timeline.end[span] = after->timeline.start[span] + kLongestTime;
        const TimelineDifference found = timelineDifference(*before, *after);
        const auto kinds = gpuTimeByKind(found);
        QVERIFY(std::ranges::any_of(kinds,
            [](const KindDifference &kind) { return kind.after == std::numeric_limits<GpuNanoseconds>::max(); }));
    }
};

TRAINYARD_APPLESS_TEST(TstTimelineDifference)
#include "tst_timeline_difference.moc"
