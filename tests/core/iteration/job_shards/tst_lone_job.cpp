// SPDX-License-Identifier: GPL-3.0-or-later
// One job that has two unequal pools to itself: it is as fast as pinned to any GPU, better hardware never hurts
// it, jobs that cannot run leave it alone, and what is run of it is all of its work, once. And several jobs on such
// pools. ctest draws a part; TRAINYARD_TRIALS=30 draws 3,000 plans (scripts/trials).

#include "core/evaluation/evaluate/run.h"
#include "core/iteration/job_shards/job_workloads.h"
#include "tests/core/iteration/job_shards/job_plans.h"
#include "tests/core/systems/jobs/schedule_checker.h"
#include "tests/support/test_program.h"
#include "tests/support/trials.h"

#include <QTest>

#include <functional>
#include <numeric>
#include <random>

using namespace trainyard;
using namespace trainyard::test;

namespace {

class UnequalPools {
public:
    explicit UnequalPools(unsigned seed)
        : m_random(seed)
    {
    }

    /// Every GPU spelled out, so that it can be made better.
    Plan plan(int jobs)
    {
        Plan plan = jobPlan({ randomPool("one"), randomPool("other") }, {});
        if (coin()) { // in a datacenter each
            plan.cluster.datacenters.push_back(plan.cluster.datacenters[0]);
            plan.cluster.datacenters[1].id = "far";
            plan.cluster.datacenters[0].pools.pop_back();
            plan.cluster.datacenters[1].pools.erase(plan.cluster.datacenters[1].pools.begin());
        }
        for (Datacenter &site : plan.cluster.datacenters)
            for (Pool &pool : site.pools) {
                pool.inlineGpu = *builtinCatalogue().gpu(pool.gpu);
                pool.gpu.clear();
            }
        for (int i = 0; i < jobs; ++i)
            plan.jobs.push_back(randomJob(i));
        plan.jobScheduler = JobScheduler(whole(0, 2));
        plan.jobOptions.doubleBuffer = whole(0, 3) > 0;
        plan.jobOptions.lookAhead = coin();
        plan.jobOptions.spill = whole(0, 5) > 0;
        plan.jobOptions.seed = whole(0, 9);
        return plan;
    }

private:
    int whole(int low, int high) { return low + int(m_random() % unsigned(high - low + 1)); }
    bool coin() { return whole(0, 1) == 1; }
    template <class Value, std::size_t n> Value one(const Value (&of)[n]) { return of[std::size_t(whole(0, n - 1))]; }

    Pool randomPool(const char *id)
    {
        static const char *const kGpus[] = { "v100-sxm-16gb", "t4-16gb", "rtx-4090-24gb", "a6000-48gb", "a100-sxm-40gb",
            "h100-sxm-80gb" };
        return pool(id, one(kGpus), whole(1, 2), whole(1, 4), whole(64, 1024), whole(1, 30));
    }

    Job randomJob(int number)
    {
        static const char *const kModels[] = { "opt-350m", "opt-1.3b", "gpt-3-1.3b", "gpt-3-2.7b",
            "qwen1.5-moe-a2.7b" };
        Job made = job(("job " + std::to_string(number)).c_str(), one(kModels), whole(1, 4), whole(1, 4));
        made.sequenceLength = 256 * whole(1, 4);
        made.optimizer = coin() ? Optimizer::Adam : Optimizer::Sgd;
        return made;
    }

    std::mt19937 m_random;
};

Metric makespan(const Plan &plan)
{
    EvaluationWorkspace workspace;
    const auto evaluation = run(share(plan), Depth::Score, { builtinCatalogue(), workspace });
    return evaluation && (*evaluation)->feasible() ? (*evaluation)->metrics.jobs->makespan : Metric {};
}

/// The first of each pool.
std::vector<int> gpusOfPools(const Plan &plan)
{
    std::vector<int> gpus;
    int next = 0;
    for (const Datacenter &site : plan.cluster.datacenters)
        for (const Pool &pool : site.pools) {
            gpus.push_back(next);
            next += pool.gpus();
        }
    return gpus;
}

void eachPool(Plan &plan, const std::function<void(Pool &)> &change)
{
    for (Datacenter &site : plan.cluster.datacenters)
        for (Pool &pool : site.pools)
            change(pool);
}

struct Better {
    const char *name;
    std::function<void(Plan &)> apply;
};

const std::vector<Better> kBetter {
    { "twice the host memory", [](Plan &p) { eachPool(p, [](Pool &pool) { pool.host->memoryGib *= 2; }); } },
    { "twice the host memory in the first pool",
        [](Plan &p) { p.cluster.datacenters[0].pools[0].host->memoryGib *= 2; } },
    { "copies twice as fast", [](Plan &p) { eachPool(p, [](Pool &pool) { pool.host->gbytesPerSecondPerGpu *= 2; }); } },
    { "copies twice as fast in the last pool",
        [](Plan &p) { p.cluster.datacenters.back().pools.back().host->gbytesPerSecondPerGpu *= 2; } },
    { "half as many GPUs again", [](Plan &p) { eachPool(p, [](Pool &pool) { pool.nodes += 1; }); } },
    { "GPUs 1.3 times as fast",
        [](Plan &p) {
            eachPool(p, [](Pool &pool) {
                for (double &peak : pool.inlineGpu->peakTflops)
                    peak *= 1.3;
                pool.inlineGpu->memoryGBps *= 1.3;
            });
        } },
    { "half as much GPU memory again",
        [](Plan &p) {
            eachPool(p, [](Pool &pool) { pool.inlineGpu->memoryBytes += pool.inlineGpu->memoryBytes / 2; });
        } },
};

std::string seedText(int seed, const char *what, double before, double after)
{
    return "\nplan " + std::to_string(seed) + ", " + what + ": " + std::to_string(before) + " -> "
        + std::to_string(after);
}

constexpr double kRounding = 1 + 1e-6; // units take whole nanoseconds

} // namespace

class TstLoneJob : public QObject {
    Q_OBJECT

private slots:
    /// Pinned, the rules for many jobs may find a cut for a buffer that is not of the family that a lone job's are of:
    /// of 3,000 plans six were faster so, by 1.3 % at most.
    void itIsNeverSlowerThanPinnedToAGpu()
    {
        constexpr double kOtherCuts = 1.02;
        std::string slower;
        int compared = 0, gained = 0;
        for (int seed = 0; seed < trials(60); ++seed) {
            const Plan plan = UnequalPools(unsigned(seed)).plan(1);
            const Metric open = makespan(plan);
            for (const int gpu : gpusOfPools(plan)) {
                Plan pinned = plan;
                pinned.jobs[0].pinnedGpus = { gpu };
                const Metric there = makespan(pinned);
                QVERIFY2(open || !there, qPrintable(QString::number(seed)));
                if (!there)
                    continue;
                ++compared;
                gained += *open < 0.98 * *there;
                if (*open > kOtherCuts * *there)
                    slower += seedText(seed, "open against pinned", *there, *open);
            }
        }
        QVERIFY2(slower.empty(), slower.c_str());
        QVERIFY2(compared > trials(50) && gained > trials(15), qPrintable(QString::number(gained)));
    }

    void betterHardwareNeverHurtsIt()
    {
        std::string slower;
        int compared = 0;
        for (int seed = 0; seed < trials(30); ++seed) {
            const Plan plan = UnequalPools(unsigned(seed)).plan(1);
            const Metric before = makespan(plan);
            for (const Better &better : kBetter) {
                Plan next = plan;
                better.apply(next);
                const Metric after = makespan(next);
                QVERIFY2(after || !before, better.name);
                if (!before)
                    continue;
                ++compared;
                if (*after > kRounding * *before)
                    slower += seedText(seed, better.name, *before, *after);
            }
        }
        QVERIFY2(slower.empty(), slower.c_str());
        QVERIFY(compared > trials(100));
    }

    /// States of Llama 3.1 405B are more than the hosts of a datacenter hold together.
    void jobsThatCannotRunLeaveItAlone()
    {
        int compared = 0;
        for (int seed = 0; seed < trials(20); ++seed) {
            const Plan plan = UnequalPools(unsigned(seed)).plan(1);
            const Metric alone = makespan(plan);
            Plan crowded = plan;
            for (const int batch : { 1, 2 })
                crowded.jobs.push_back(job(("large " + std::to_string(batch)).c_str(), "llama-3.1-405b", batch, 20));
            const Metric beside = makespan(crowded);
            QCOMPARE(beside.has_value(), alone.has_value());
            if (alone)
                QCOMPARE(*beside, *alone);
            compared += alone.has_value();
        }
        QVERIFY(compared > trials(14));
    }

    /// The checker shares no code with the scheduler. What is run is every unit of every job that runs, once.
    void schedulesOnUnequalPoolsHaveNoFaultAndKeepAllWork()
    {
        SimulationWorkspace workspace;
        int units = 0, lone = 0;
        for (int seed = 0; seed < trials(100); ++seed) {
            const PlanPtr plan = share(UnequalPools(unsigned(seed)).plan(1 + seed % 4));
            const auto jobs = resolveJobs(plan, builtinCatalogue());
            QVERIFY2(jobs, jobs ? "" : toString(jobs.error().front()).c_str());
            const JobRules rules = rulesOf(plan->jobScheduler, plan->jobOptions);
            const auto ran = runJobs(jobs->set, rules, workspace);
            QVERIFY2(ran, ran ? "" : ran.error().what.c_str());
            const std::string fault = ScheduleChecker(jobs->set, rules, *ran).fault();
            QVERIFY2(fault.empty(), ("plan " + std::to_string(seed) + ": " + fault).c_str());
            std::int64_t expected = 0, computed = 0;
            for (std::size_t j = 0; j < jobs->set.jobs.size(); ++j)
                if (ran->jobs[j].end != JobTimes::kNever)
                    expected += std::int64_t(jobs->set.jobs[j].units.size()) * jobs->set.jobs[j].minibatches;
            for (const auto &gpu : spansOf(jobs->set, ran->timeline))
                computed += std::int64_t(gpu.units.size());
            QCOMPARE(computed, expected);
            units += int(computed);
            lone += jobs->set.jobs.size() == 1 && ran->jobs[0].gpus.size() == 1;
        }
        QVERIFY2(units > trials(500) && lone > trials(15), qPrintable(QString::number(units)));
    }
};

TRAINYARD_APPLESS_TEST(TstLoneJob)
#include "tst_lone_job.moc"
