// SPDX-License-Identifier: GPL-3.0-or-later
// What is found once for many jobs is what is found for each of them.

#include "core/systems/jobs/served.h"
#include "tests/core/systems/jobs/random_job_set.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <limits>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// min over the GPUs that serve it, unit by unit
std::vector<double> fastest(const JobSet &set, const JobSpec &job, const std::vector<std::uint8_t> &served)
{
    std::vector<double> seconds;
    for (std::size_t gpu = 0; gpu < served.size(); ++gpu) {
        if (served[gpu] == 0)
            continue;
        const std::vector<double> &there = job.seconds[std::size_t(set.gpus[gpu].kind)];
        seconds.resize(there.size(), std::numeric_limits<double>::infinity());
        for (std::size_t unit = 0; unit < there.size(); ++unit)
            seconds[unit] = std::min(seconds[unit], there[unit]);
    }
    return seconds;
}

} // namespace

class TstServed : public QObject {
    Q_OBJECT

private slots:
    /// gpus(j, n) = servedBy(j, n); list(j, n) = those counted by kind; runs(j) where neverRuns(j) says nothing.
    void manyJobsAreServedAsEachIs()
    {
        RandomJobSet random(7);
        for (int round = 0; round < 400; ++round) {
            const JobSet set = random();
            Served served(set);
            for (const JobSpec &dealt : set.jobs) {
                for (int node = -1; node <= int(set.nodes.size()); ++node) {
                    JobSpec job = dealt;
                    job.node = node;
                    const std::size_t like = served.likeOf(job);
                    QCOMPARE(served.runs(job, like), neverRuns(set, job).empty());
                    if (node < 0)
                        continue;
                    const std::vector<std::uint8_t> gpus = servedBy(set, job, node);
                    QVERIFY(served.gpus(like, node) == gpus);
                    GpusOfKind kinds;
                    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu)
                        if (gpus[gpu] != 0)
                            ++kinds[set.gpus[gpu].kind];
                    QVERIFY(served.list(served.listOf(like, node)) == kinds);
                    QVERIFY(fastestOf(job, kinds) == fastest(set, job, gpus));
                }
            }
        }
    }

    /// Jobs that differ in length alone are alike; one that is pinned is not like those.
    void jobsAreAlikeInWhatDecidesWhereTheyRun()
    {
        JobSet set;
        set.nodes.resize(1);
        set.gpus.resize(2);
        Served served(set);
        JobSpec job;
        job.units = { { .kind = WorkKind::ForwardBackward, .running = 5 } };
        job.seconds = { { 1 } };
        JobSpec longer = job, pinned = job, larger = job;
        longer.minibatches = 9;
        longer.seconds = { { 3 } };
        pinned.gpus = { 1 };
        larger.units.front().running = 6;
        QCOMPARE(served.likeOf(job), served.likeOf(longer));
        QVERIFY(served.likeOf(job) != served.likeOf(pinned) && served.likeOf(job) != served.likeOf(larger));
    }
};

TRAINYARD_APPLESS_TEST(TstServed)
#include "tst_served.moc"
