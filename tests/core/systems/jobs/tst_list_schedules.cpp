// SPDX-License-Identifier: GPL-3.0-or-later
// Schedules of equal GPUs beside a list scheduler that shares no code, and how far they are from the bound.
#include "tests/core/systems/jobs/list_scheduler.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <random>

using namespace trainyard;
using namespace trainyard::test;

namespace {

class RandomModels {
public:
    explicit RandomModels(std::uint64_t seed)
        : m_random(seed)
    {
    }
    int among(int low, int high) { return low + static_cast<int>(m_random() % std::uint64_t(high - low + 1)); }
    /// 1 to 5 shards, units of 1 to 40 times `tick` seconds, 2 to 5 mini-batches: few, so that the end weighs most.
    std::vector<Model> operator()(int count, double tick)
    {
        std::vector<Model> models;
        for (int j = 0; j < count; ++j) {
            Model model { {}, among(2, 5) };
            for (int u = 2 * among(1, 5) - 1; u > 0; --u)
                model.units.push_back(among(1, 40) * tick);
            models.push_back(model);
        }
        return models;
    }

private:
    std::mt19937_64 m_random;
};

double longestUnit(const std::vector<Model> &models)
{
    double longest = 0;
    for (const Model &model : models)
        longest = std::max(longest, *std::ranges::max_element(model.units));
    return longest;
}

struct Distance { // to the bound
    double worst = 0, meanShare = 0, meanUnits = 0; // in longest units, of the bound, in longest units
};

} // namespace

class TestListSchedules : public QObject {
    Q_OBJECT

    double seconds(const JobSet &set, const JobRules &rules)
    {
        const auto run = runJobs(set, rules, m_workspace);
        Nanoseconds end = 0;
        for (const JobTimes &times : run->jobs)
            end = std::max(end, times.end);
        return toSeconds(end).value;
    }

    Distance distance(const JobRules &rules)
    {
        constexpr int kInstances = 1000;
        RandomModels random(5);
        Distance distance;
        for (int i = 0; i < kInstances; ++i) {
            const int gpus = random.among(2, 8);
            const std::vector<Model> models = random(random.among(gpus + 1, 3 * gpus), .025);
            const JobSet set = equalGpus(gpus, models);
            const double bound = jobBounds(set).makespan(), beyond = seconds(set, rules) - bound;
            distance.worst = std::max(distance.worst, beyond / longestUnit(models));
            distance.meanShare += beyond / bound / kInstances;
            distance.meanUnits += beyond / longestUnit(models) / kInstances;
        }
        qInfo("worst %.3f units, mean %.4f of the bound, %.4f units", distance.worst, distance.meanShare,
            distance.meanUnits);
        return distance;
    }

private slots:
    void everyRuleChoosesAsAListSchedulerDoes()
    {
        RandomModels random(11);
        for (int i = 0; i < 1500; ++i) {
            const int gpus = random.among(1, 6);
            const std::vector<Model> models = random(random.among(1, 3 * gpus), i % 2 == 0 ? .025 : .0012347);
            ListRules rules { .lookAhead = random.among(0, 1) == 1,
                .byMinibatches = random.among(0, 1) == 1,
                .isFifo = random.among(0, 3) == 0 };
            const JobRules same { .scheduler = rules.isFifo ? JobScheduler::Fifo : JobScheduler::ShardedLrtf,
                .doubleBuffer = false,
                .lookAhead = rules.lookAhead,
                .remaining = rules.byMinibatches ? RemainingWork::Minibatches : RemainingWork::Units };
            QCOMPARE(seconds(equalGpus(gpus, models), same), listMakespan(gpus, models, rules));
        }
    }

    void transfersOnTheirOwnLinksGoAsAListSchedulerCountsThem()
    {
        RandomModels random(12);
        for (int i = 0; i < 1500; ++i) {
            const int gpus = random.among(1, 6);
            const std::vector<Model> models = random(random.among(1, 3 * gpus), .025);
            ListRules rules { .byMinibatches = random.among(0, 1) == 1,
                .lambda = random.among(1, 20) * .025,
                .upsilon = random.among(1, 20) * .025,
                .isBuffered = random.among(0, 1) == 1,
                .staysInPlace = random.among(0, 1) == 1 };
            JobSet set = withTransfers(equalGpus(gpus, models), rules.lambda * 1e6, rules.upsilon * 1e6, 1e6);
            for (JobSpec &spec : set.jobs)
                for (std::size_t u = 0; !rules.staysInPlace && u < spec.units.size(); ++u)
                    spec.units[u].shard = static_cast<int>(u);
            if (!rules.staysInPlace && std::ranges::any_of(models, [](const Model &m) { return m.units.size() == 1; }))
                continue; // its one shard stays
            const JobRules same { .doubleBuffer = rules.isBuffered,
                .remaining = rules.byMinibatches ? RemainingWork::Minibatches : RemainingWork::Units };
            QCOMPARE(seconds(set, same), listMakespan(gpus, models, rules));
        }
    }

    void longestRemainingTimeFirstIsWithinAUnitOfTheBound()
    {
        // 1,000 instances, 2 to 8 GPUs, G < n <= 3G. makespan - bound <= 1 longest unit each, <= .05 of the bound and
        // of a longest unit in the mean; FIFO is not.
        const Distance lrtf = distance({ .doubleBuffer = false });
        QVERIFY(lrtf.worst >= 0 && lrtf.worst <= 1);
        QVERIFY(lrtf.meanShare <= .05 && lrtf.meanUnits <= .05);
        const Distance fifo = distance({ .scheduler = JobScheduler::Fifo, .doubleBuffer = false });
        QVERIFY(fifo.meanShare > .05 && fifo.meanUnits > .05);
        const Distance random = distance({ .scheduler = JobScheduler::Random, .doubleBuffer = false });
        QVERIFY(random.meanShare > .05);
        // Looking ahead costs something, never more than a unit.
        const Distance ahead = distance({ .doubleBuffer = false, .lookAhead = true });
        QVERIFY(ahead.worst <= 1 && ahead.meanShare > lrtf.meanShare && ahead.meanShare <= .05);
    }

private:
    SimulationWorkspace m_workspace;
};

TRAINYARD_APPLESS_TEST(TestListSchedules)
#include "tst_list_schedules.moc"
