// SPDX-License-Identifier: GPL-3.0-or-later
// What whole jobs share and what they wait for: hosts, GPUs of unlike speed, the plan that they are in.
#include "tests/core/evaluation/evaluate/gang_runs.h"
#include "tests/support/test_program.h"

#include <random>
#include <set>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// When each job starts, by the rule alone: at every arrival and end those that wait, by priority and then in order,
/// start where all of their GPUs (or with `isAny` the lowest of them) are free, and keep those that are from the
/// others.
std::vector<Nanoseconds> startsByTheRule(const Plan &plan, const std::vector<Nanoseconds> &lengths, bool isAny)
{
    const std::size_t count = plan.jobs.size();
    std::vector<Nanoseconds> starts(count, -1), arrivals(count), freeAt(std::size_t(plan.cluster.gpus()), 0);
    std::set<Nanoseconds> events;
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) {
        order[i] = i;
        events.insert(arrivals[i] = toNanoseconds(Seconds { plan.jobs[i].arrivalS }));
    }
    std::ranges::stable_sort(order, std::greater {}, [&](std::size_t i) { return plan.jobs[i].priority; });
    while (!events.empty()) {
        const Nanoseconds now = *events.begin();
        events.erase(events.begin());
        std::set<int> kept;
        for (const std::size_t i : order) {
            if (starts[i] >= 0 || arrivals[i] > now)
                continue;
            std::vector<int> free;
            for (const int gpu : plan.jobs[i].pinnedGpus)
                if (freeAt[std::size_t(gpu)] <= now && !kept.contains(gpu))
                    free.push_back(gpu);
            if (free.empty() || (!isAny && free.size() < plan.jobs[i].pinnedGpus.size())) {
                kept.insert(free.begin(), free.end());
                continue;
            }
            starts[i] = now;
            events.insert(now + lengths[i]);
            for (const int gpu : free) {
                freeAt[std::size_t(gpu)] = now + lengths[i];
                if (isAny)
                    break;
            }
        }
    }
    return starts;
}

} // namespace

class TestGangSharing : public QObject {
    Q_OBJECT

private slots:
    void jobsThatFillAHostTakeTurnsThere()
    {
        // Each alone fits, both together would not: pins apart do not let them share a host.
        Plan plan = planOf(JobScheduler::ZeroOffload, 4, 2, job("gpt-3-13b", 4, 3));
        plan.jobs[0].pinnedGpus = { 0, 1 };
        plan.jobs[1].pinnedGpus = { 2, 3 };
        const double alone = double(m_run(plan).gangs[0].forms[0]->hostBytes);
        plan.cluster.datacenters[0].pools[0].host->memoryGib = 1.5 * alone / 0x1p30;
        const Result result = m_run(plan);
        const auto &times = result.run.run.jobs;
        QCOMPARE(times[1].start, times[0].end);
        QVERIFY(result.run.run.hostPeaks[0] <= result.jobs.nodes[0].memory);
        checkSpans(result);
        // Two nodes have two hosts.
        plan.cluster.datacenters[0].pools[0].nodes = 2;
        plan.cluster.datacenters[0].pools[0].gpusPerNode = 2;
        QCOMPARE(m_run(plan).run.run.jobs[1].start, Nanoseconds(0));
    }

    void statesAreCountedWhereNobodySaysWhatAHostHas()
    {
        // 14 bytes of 13e9 parameters, as above
        Plan plan = planOf(JobScheduler::ZeroOffload, 4, 1, job("gpt-3-13b", 4, 3));
        plan.cluster.datacenters[0].pools[0].host.reset();
        const Result result = m_run(plan);
        QVERIFY2(result.run.run.hostPeaks[0] > 14 * 12.8e9, qPrintable(QString::number(result.run.run.hostPeaks[0])));
    }

    void aShareOfTheMemoryHoldsForWholeJobs()
    {
        // Weights, gradients and Adam's states: more than 16 bytes of 2.7e9 parameters, 43 GB of 80, not of 20.
        Plan plan = planOf(JobScheduler::TaskParallel, 1, 1, job("gpt-3-2.7b", 4, 3));
        const Result whole = m_run(plan);
        QVERIFY2(whole.jobs.jobs[0].why.empty(), whole.jobs.jobs[0].why.c_str());
        plan.heterogeneity.memoryFraction = 0.25;
        const Result part = m_run(plan);
        QVERIFY(part.gangs.empty());
        QVERIFY2(part.jobs.jobs[0].why.starts_with("it needs at the least"), part.jobs.jobs[0].why.c_str());
    }

    void thePlansOwnStrategySaysNothingToJobs()
    {
        Plan plan = planOf(JobScheduler::Pipeline, 4, 1, job("gpt-3-1.3b", 8, 3));
        const Nanoseconds makespan = m_run(plan).run.makespan;
        plan.memory.recompute = Recompute::Full;
        plan.memory.savedActivationBits = 4;
        plan.moe.imbalance = 3;
        QCOMPARE(m_run(plan).run.makespan, makespan);
    }

    void theFastestGpuThatIsFreeIsTaken()
    {
        Plan plan = planOf(JobScheduler::TaskParallel, 1, 2, job("gpt-3-125m", 4, 10), "v100-sxm-16gb");
        plan.cluster.datacenters[0].pools.push_back(site("x", 1, "a100-sxm-80gb", 1).pools[0]);
        const Result result = m_run(plan);
        QCOMPARE(result.run.run.jobs[0].gpus, GpuList { 1 });
        QCOMPARE(result.run.run.jobs[1].gpus, GpuList { 0 });
        QVERIFY(result.run.run.jobs[0].end < result.run.run.jobs[1].end);
        checkSpans(result);
    }

    void noScheduleOnUnequalGpusIsShorterThanTheBound()
    {
        // n equal jobs, k of them on the fast GPU: max(k a, (n - k) v), the least of which over k is the shortest.
        for (int jobs = 1; jobs <= 9; ++jobs) {
            Plan plan = planOf(JobScheduler::TaskParallel, 1, jobs, job("gpt-3-125m", 4, 10), "v100-sxm-16gb");
            plan.cluster.datacenters[0].pools.push_back(site("x", 1, "a100-sxm-80gb", 1).pools[0]);
            for (Job &each : plan.jobs)
                each.gpus = 1;
            const Result result = m_run(plan);
            const auto &forms = result.gangs[0].forms;
            QCOMPARE(forms.size(), std::size_t(2));
            const double a = 10 * seconds(forms[0]->minibatch), v = 10 * seconds(forms[1]->minibatch);
            QVERIFY(a < v);
            double shortest = std::numeric_limits<double>::infinity();
            for (int k = 0; k <= jobs; ++k)
                shortest = std::min(shortest, std::max(k * a, (jobs - k) * v));
            const double bound = std::max(result.run.boundShared, result.run.boundLongest);
            QVERIFY2(bound <= shortest * (1 + 1e-9) && bound > 0.6 * shortest,
                qPrintable(QString::number(bound) + " beside " + QString::number(shortest)));
            QVERIFY(isClose(result.run.boundLongest, a, 1e-9));
        }
    }

    void measuredTimesThatAreNotUsedAreNotSaidToBe()
    {
        Plan plan = planOf(JobScheduler::ZeroOffload, 4, 1, job("gpt-3-1.3b", 8, 3));
        plan.jobs[0].unitMs = { 100, 100, 100, 300, 200, 200, 200 };
        const auto said = [&] {
            EvaluationWorkspace workspace;
            const auto evaluation =
                *trainyard::run(std::make_shared<const Plan>(plan), Depth::Score, { builtinCatalogue(), workspace });
            const bool warns = std::ranges::any_of(evaluation->problems,
                [](const Problem &p) { return p.text.find("are not used") != std::string::npos; });
            return std::pair(evaluation->metrics.jobs->perJob[0].isMeasured, warns);
        };
        QCOMPARE(said(), std::pair(false, true));
        plan.jobScheduler = JobScheduler::ModelParallel;
        QCOMPARE(said(), std::pair(true, false));
    }

    void manyPinnedJobsStartByTheRule()
    {
        std::mt19937 random(3);
        const std::vector<std::vector<int>> pins { { 0 }, { 0, 1 }, { 1, 2 }, { 2, 3 }, { 0, 1, 2, 3 }, { 3 } };
        for (int round = 0; round < 20; ++round) {
            const bool isAny = round % 2;
            Plan plan = planOf(
                isAny ? JobScheduler::TaskParallel : JobScheduler::ModelParallel, 4, 40, job("gpt-3-125m", 4, 10));
            for (Job &each : plan.jobs) {
                each.minibatches = int(1 + random() % 20);
                each.pinnedGpus = pins[random() % pins.size()];
                each.arrivalS = random() % 3 ? 0 : double(random() % 5);
                each.priority = double(random() % 3);
                if (isAny)
                    each.gpus = 1;
            }
            const Result result = m_run(plan);
            std::vector<Nanoseconds> lengths(plan.jobs.size());
            for (const GangJob &gang : result.gangs)
                lengths[std::size_t(gang.job)] =
                    plan.jobs[std::size_t(gang.job)].minibatches * gang.forms[0]->minibatch;
            const std::vector<Nanoseconds> starts = startsByTheRule(plan, lengths, isAny);
            for (std::size_t i = 0; i < starts.size(); ++i)
                QCOMPARE(result.run.run.jobs[i].start, starts[i]);
            checkSpans(result);
        }
    }

private:
    Gangs m_run;
};

TRAINYARD_APPLESS_TEST(TestGangSharing)
#include "tst_gang_sharing.moc"
