// SPDX-License-Identifier: GPL-3.0-or-later
// Prefill on GPUs that jobs leave idle, on runs of whole jobs whose idle times are known.
#include "core/evaluation/evaluate/jobs/job_fill.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include "tests/support/plans.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr Nanoseconds kSecond = 1'000'000'000;

/// Jobs that compute on each GPU from then to then, in a run of ten seconds. `bytes`: that they hold on each.
Evaluation evaluationOf(const std::vector<std::vector<std::pair<int, int>>> &work, std::int64_t bytes = 0)
{
    Plan plan;
    plan.cluster.datacenters = { site("a", 1, "a100-sxm-80gb", int(work.size())) };
    plan.jobs.push_back({ .name = "job", .model = "gpt-3-1.3b" });
    plan.bubbleFill.enabled = true;
    plan.bubbleFill.model = "llama-3-8b";
    plan.bubbleFill.requestsPerSecond = 100;
    Evaluation evaluation;
    PipelineClass gpus;
    Timeline &t = evaluation.timeline;
    double busy = 0;
    auto &memory = evaluation.metrics.memory.emplace();
    for (std::size_t gpu = 0; gpu < work.size(); ++gpu) {
        gpus.locations.push_back({ 0, 0 });
        t.tracks.push_back({ .stage = int(gpu), .first = std::uint32_t(t.spanCount()) });
        for (const auto &[from, to] : work[gpu]) {
            t.start.push_back(from * kSecond);
            t.end.push_back(to * kSecond);
            t.kind.push_back(WorkKind::ForwardBackward);
            t.microBatch.push_back(0);
            t.chunk.push_back(0);
            t.cause.push_back(kNoSpan);
            t.trackOf.push_back(std::uint32_t(gpu));
            busy += to - from;
        }
        t.tracks.back().last = std::uint32_t(t.spanCount());
        StageMemory there;
        there.device = bytes;
        memory.perStage.push_back(there);
    }
    t.duration = 10 * kSecond;
    evaluation.layout.classes.push_back(gpus);
    evaluation.metrics.jobs.emplace();
    evaluation.metrics.jobs->makespan = 10;
    evaluation.metrics.jobs->gpuUtilization = busy / 10 / double(work.size());
    evaluation.plan = std::make_shared<const Plan>(std::move(plan));
    return evaluation;
}

void fill(Evaluation &evaluation)
{
    EvaluationWorkspace workspace;
    Plan cluster;
    cluster.cluster = evaluation.plan->cluster;
    cluster.workload.model = "gpt-3-1.3b";
    cluster.workload.globalBatch = 1;
    const auto workload = resolve(std::make_shared<const Plan>(std::move(cluster)), builtinCatalogue());
    const auto filled = addJobFill(evaluation, *workload, { builtinCatalogue(), workspace });
    if (!filled)
        qFatal("%s", toString(filled.error().front()).c_str());
}

double prefillSeconds(const Timeline &t)
{
    double sum = 0;
    for (std::size_t span = 0; span < t.spanCount(); ++span)
        if (t.kind[span] == WorkKind::Prefill)
            sum += toSeconds(t.end[span] - t.start[span]).value;
    return sum;
}

} // namespace

class TestJobFill : public QObject {
    Q_OBJECT

private slots:
    void prefillLiesInIdleTimesAndMovesNothing()
    {
        const Evaluation alone = evaluationOf({ { { 0, 4 }, { 6, 10 } }, { { 3, 5 } } });
        Evaluation with = alone;
        fill(with);
        const Timeline &t = with.timeline, &before = alone.timeline;
        for (std::size_t span = 0; span < before.spanCount(); ++span) {
            QCOMPARE(t.start[span], before.start[span]);
            QCOMPARE(t.end[span], before.end[span]);
        }
        QCOMPARE(t.duration, before.duration);
        QCOMPARE(with.metrics.bubbleFill->trainingDelay, 0.0);
        QVERIFY(with.metrics.bubbleFill->accepted > 0);
        int tracks = 0;
        for (const Track &track : t.tracks) {
            if (track.stream != Stream::Prefill)
                continue;
            ++tracks;
            const Track &compute = t.tracks[std::size_t(track.stage)];
            for (std::uint32_t span = track.first; span < track.last; ++span) {
                QVERIFY(t.start[span] >= 0 && t.end[span] <= t.duration); // nothing goes on in a next run
                for (std::uint32_t job = compute.first; job < compute.last; ++job)
                    QVERIFY(t.end[span] <= t.start[job] || t.start[span] >= t.end[job]);
            }
        }
        QCOMPARE(tracks, 2);
        // What is idle and what fills it: GPU seconds of both over those of the run.
        QVERIFY(std::abs(*with.metrics.gpuUtilizationWithFill
                    - (*with.metrics.jobs->gpuUtilization + prefillSeconds(t) / 20))
            < 1e-6);
        QVERIFY(std::abs(with.metrics.bubbleFill->filledFraction * 10 - prefillSeconds(t)) < 1e-6);
    }

    void moreIdleGpusServeNoLess()
    {
        double last = 0;
        for (std::size_t idle = 0; idle < 4; ++idle) {
            std::vector<std::vector<std::pair<int, int>>> work(4 - idle, { { 0, 9 } });
            work.resize(4);
            Evaluation evaluation = evaluationOf(work);
            fill(evaluation);
            QVERIFY(prefillSeconds(evaluation.timeline) >= last);
            last = prefillSeconds(evaluation.timeline);
        }
        QVERIFY(last > 0);
    }

    void aPromptThatCannotEndInTimeIsTurnedAway()
    {
        // Idle at the beginning alone: in a run that repeats, late prompts would be served there.
        Evaluation evaluation = evaluationOf({ { { 1, 10 } } });
        fill(evaluation);
        const BubbleFillMetrics &filled = *evaluation.metrics.bubbleFill;
        QVERIFY(filled.accepted > 0);
        QVERIFY(filled.accepted < 200); // of about 100 in the first second and 900 later
        QVERIFY(filled.rejectedAsLate + filled.rejectedAsFull > 700);
        for (std::size_t span = 0; span < evaluation.timeline.spanCount(); ++span)
            if (evaluation.timeline.kind[span] == WorkKind::Prefill)
                QVERIFY(evaluation.timeline.end[span] <= kSecond);
    }

    void whatJobsLeaveOfTheMemoryHoldsTheServedModel()
    {
        Evaluation evaluation = evaluationOf({ { { 0, 5 } } }, 70'000'000'000); // 16 GB of weights do not fit
        fill(evaluation);
        QCOMPARE(evaluation.metrics.bubbleFill->accepted, std::int64_t(0));
        QCOMPARE(evaluation.metrics.bubbleFill->rejectedForMemory, evaluation.metrics.bubbleFill->rejected);
        QCOMPARE(evaluation.problems.front().where, std::string("bubble_fill.model"));
    }
};

TRAINYARD_APPLESS_TEST(TestJobFill)
#include "tst_job_fill.moc"
