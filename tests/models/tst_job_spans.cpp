// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/job_spans.h"
#include "tests/support/job_evaluation.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;

class JobSpansTest : public QObject {
    Q_OBJECT
private slots:
    void everySpanBelongsToOneJobAndEveryRunningJobHasSpans()
    {
        test::JobShape shape;
        shape.pausedJob = 2;
        const EvaluationPtr evaluation = test::jobEvaluation(shape);
        const JobSpans jobs = jobSpans(*evaluation);
        std::vector<int> units(jobs.names.size(), 0);
        const Timeline &t = evaluation->timeline;
        for (std::uint32_t span = 0; span < t.spanCount(); ++span) {
            const int job = jobs.of(t, span);
            QVERIFY(job >= 0);
            QCOMPARE(job, jobOfSpan(*evaluation, span));
            units[std::size_t(job)] += t.tracks[t.trackOf[span]].stream == Stream::Compute;
        }
        // units = (2K - 1) × mini-batches; none of a paused job
        for (std::size_t job = 0; job < units.size(); ++job)
            QCOMPARE(units[job], int(job) == 2 ? 0 : (2 * shape.shards - 1) * shape.minibatches);
        QVERIFY(!jobs.isRun(2));
        QVERIFY(jobs.isRun(3));
    }

    void aPlanWithoutJobsHasNone()
    {
        Evaluation evaluation;
        evaluation.plan = std::make_shared<const Plan>();
        QVERIFY(jobSpans(evaluation).isEmpty());
        QVERIFY(!isOfJobs(evaluation));
        QCOMPARE(jobOfSpan(evaluation, 0), JobSpans::kNone);
    }

    void gpusAreNumberedThroughTheCluster()
    {
        Cluster cluster;
        for (const int nodes : { 1, 2 }) {
            Datacenter place;
            for (int p = 0; p < nodes; ++p) {
                Pool pool;
                pool.nodes = 2;
                pool.gpusPerNode = 4;
                place.pools.push_back(pool);
            }
            cluster.datacenters.push_back(place);
        }
        // 8 in the first datacenter, 8 in the first pool of the second: its second pool begins with 16
        QCOMPARE(gpuNumber(cluster, 1, 1, 3), 19);
        for (int number = 0; number < cluster.gpus(); ++number) {
            const auto at = gpuOfNumber(cluster, number);
            QVERIFY(at);
            QCOMPARE(gpuNumber(cluster, at->datacenter, at->pool, at->firstGpu), number);
        }
        QVERIFY(!gpuOfNumber(cluster, cluster.gpus()));
        QVERIFY(!gpuOfNumber(cluster, -1));
    }

    void aGpuIsBusyAsLongAsItsUnits()
    {
        const EvaluationPtr evaluation = test::jobEvaluation();
        const Timeline &t = evaluation->timeline;
        for (int gpu = 0; gpu < 4; ++gpu) {
            Nanoseconds sum = 0;
            for (std::uint32_t span = 0; span < t.spanCount(); ++span)
                if (t.tracks[t.trackOf[span]].stage == gpu && isTrainingCompute(t.kind[span]))
                    sum += t.end[span] - t.start[span];
            QVERIFY(std::abs(busyShare(*evaluation, gpu) - double(sum) / double(t.duration)) < 1e-12);
        }
    }
};

TRAINYARD_APPLESS_TEST(JobSpansTest)
#include "tst_job_spans.moc"
