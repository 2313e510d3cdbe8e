// SPDX-License-Identifier: GPL-3.0-or-later
// What has to get better or worse when something changes. Lists of units have anomalies (Graham 1969: more of
// everything can end later), so single schedules are compared only where that is proven, and means elsewhere.
#include "tests/core/systems/jobs/job_sets.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <functional>
#include <random>

using namespace trainyard;
using namespace trainyard::test;

class TestJobTrends : public QObject {
    Q_OBJECT

    static JobSet instance(std::uint64_t seed)
    {
        std::mt19937_64 random(seed);
        const auto among = [&](int low, int high) {
            return low + static_cast<int>(random() % std::uint64_t(high - low + 1));
        };
        const int gpus = among(2, 6);
        std::vector<Model> models;
        for (int j = among(gpus + 1, 3 * gpus); j > 0; --j) {
            Model model { {}, among(2, 6) };
            for (int u = 2 * among(1, 4) - 1; u > 0; --u)
                model.units.push_back(among(2, 30) * .01);
            models.push_back(model);
        }
        return withTransfers(equalGpus(gpus, models), 1e6, 1e6, 12e6);
    }
    double seconds(const JobSet &set, const JobRules &rules = {})
    {
        return toSeconds(runJobs(set, rules, m_workspace)->timeline.duration).value;
    }
    double mean(
        const JobRules &rules, const std::function<void(JobSet &)> &change = [](JobSet &) {})
    {
        constexpr int kInstances = 300;
        double sum = 0;
        for (int i = 0; i < kInstances; ++i) {
            JobSet set = instance(std::uint64_t(i));
            change(set);
            sum += seconds(set, rules) / kInstances;
        }
        return sum;
    }

private slots:
    void aBufferSavesTime()
    {
        const double buffered = mean({}), unbuffered = mean({ .doubleBuffer = false });
        qInfo("%.3f s, without a buffer %.3f s", buffered, unbuffered);
        QVERIFY(unbuffered > buffered);
    }

    void fasterLinksSaveTime()
    {
        double slower = mean({});
        for (const double rate : { 24e6, 48e6, 1e9 }) {
            const double faster = mean({}, [&](JobSet &set) { set.routes[0].toGpu = set.routes[0].toHost = rate; });
            QVERIFY(faster < slower);
            slower = faster;
        }
    }

    void oneEngineForBothDirectionsCostsTime()
    {
        QVERIFY(mean({}, [](JobSet &set) { set.isFullDuplex = false; }) > mean({}));
    }

    void aSharedLinkCostsTime()
    {
        const auto shared = [](JobSet &set) {
            set.links = { 20e6 };
            set.routes[0].linksToGpu = set.routes[0].linksToHost = { 0 };
        };
        QVERIFY(mean({}, shared) > mean({}));
        // A link that is as wide as all that can ask for it is none.
        const JobSet set = instance(3);
        JobSet wide = set;
        wide.links = { 1e12 };
        wide.routes[0].linksToGpu = wide.routes[0].linksToHost = { 0 };
        QCOMPARE(seconds(wide), seconds(set));
    }

    void moreMemoryForTheBufferSavesTime()
    {
        const auto only = [](double bytes) {
            return [bytes](JobSet &set) {
                for (JobGpu &gpu : set.gpus)
                    gpu.memory = bytes;
            };
        };
        // Units take 1 MB: alone; with one buffer; with one buffer and what returns.
        const double one = mean({}, only(1e6)), two = mean({}, only(2e6)), three = mean({}, only(3e6));
        QVERIFY(one > two && two > three);
        QVERIFY(mean({}) <= three);
    }

    void longestRemainingTimeFirstBeatsTheOthers()
    {
        const double lrtf = mean({});
        QVERIFY(mean({ .scheduler = JobScheduler::Fifo }) > lrtf);
        QVERIFY(mean({ .scheduler = JobScheduler::Random }) > lrtf);
    }

    void theOrderOfJobsThatDifferInArrivalAndPriorityAloneDoesNotMatter()
    {
        // Without transfers two that tie have the same future, so that the ends are those of any other order.
        JobSet set = equalGpus(3, std::vector<Model>(7, { { .1, .2, .3, .2, .1 }, 4 }));
        for (std::size_t j = 0; j < set.jobs.size(); ++j) {
            set.jobs[j].arrival = .37 * double(j * j % 5);
            set.jobs[j].priority = double(j % 2);
        }
        for (const bool lookAhead : { false, true }) {
            const auto ends = [&] {
                std::vector<Nanoseconds> all;
                const auto run = runJobs(set, { .doubleBuffer = false, .lookAhead = lookAhead }, m_workspace);
                for (const JobTimes &job : run->jobs)
                    all.push_back(job.end);
                std::ranges::sort(all);
                return all;
            };
            const std::vector<Nanoseconds> first = ends();
            for (int i = 0; i < 50; ++i) {
                std::ranges::shuffle(set.jobs, m_random);
                QCOMPARE(ends(), first);
            }
        }
    }

    void theOrderOfJobsThatNeverTieDoesNotMatter()
    {
        // Incommensurable units: no two jobs have ever the same time left, so the list decides nothing.
        std::vector<Model> models;
        for (int j = 0; j < 8; ++j)
            models.push_back({ { .1 + .0112357 * j, .2 + .0031831 * j * j, .1 + .0141421 * j }, 3 + j % 3 });
        const double first = seconds(equalGpus(3, models), { .doubleBuffer = false });
        std::ranges::reverse(models);
        QCOMPARE(seconds(equalGpus(3, models), { .doubleBuffer = false }), first);
    }

    void allTimesTwiceAsLongTakeTwiceAsLong()
    {
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            JobSet set = instance(seed);
            set.routes[0] = { .toGpu = 10e6, .toHost = 10e6, .linksToGpu = {}, .linksToHost = {} };
            const double once = seconds(set);
            set.routes[0].toGpu = set.routes[0].toHost = 5e6;
            for (JobSpec &spec : set.jobs)
                for (double &unit : spec.seconds[0])
                    unit *= 2;
            QCOMPARE(seconds(set), 2 * once);
        }
    }

    void oneJobTakesItsWorkHoweverManyGpus()
    {
        // At most one unit of a job runs at once.
        for (int gpus = 1; gpus < 5; ++gpus)
            QCOMPARE(seconds(equalGpus(gpus, { { { .1, .2, .1 }, 5 } })), 2.0);
    }

    void twelveJobsScaleWithTheGpusToWithinAUnit()
    {
        const std::vector<Model> models(12, { { .1, .1, .3, .2, .2 }, 10 }); // 108 s of work
        for (int gpus = 1; gpus <= 12; ++gpus) {
            const double beyond = seconds(equalGpus(gpus, models), { .doubleBuffer = false }) - 108.0 / gpus;
            QVERIFY(beyond > -1e-6 && beyond <= .3);
        }
    }

private:
    SimulationWorkspace m_workspace;
    std::mt19937 m_random { 5 };
};

TRAINYARD_APPLESS_TEST(TestJobTrends)
#include "tst_job_trends.moc"
