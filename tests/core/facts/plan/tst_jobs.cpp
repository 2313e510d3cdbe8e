// SPDX-License-Identifier: GPL-3.0-or-later
// Jobs of a plan: the list and the grid, their names, what a file may say of them, and how a change is said.
#include "core/facts/plan/jobs.h"
#include "tests/support/test_program.h"

#include "core/facts/plan/plan_diff.h"
#include "core/facts/plan/plan_io.h"
#include "core/facts/plan/validate.h"
#include "tests/core/facts/plan/random_plan.h"

#include <QTest>

#include <set>

using namespace trainyard;

namespace {

using Texts = std::vector<std::string>;

Plan example()
{
    Plan plan;
    Datacenter &site = plan.cluster.datacenters.emplace_back();
    site.id = "lab";
    Pool &pool = site.pools.emplace_back();
    pool.id = "lab-v100";
    pool.gpu = "v100-sxm-16gb";
    pool.nodes = 1;
    for (const char *name : { "a", "b", "c", "d" })
        plan.jobs.push_back({ .name = name, .model = "opt-1.3b" });
    return plan;
}

Texts namesOf(const std::vector<Job> &jobs)
{
    Texts names;
    for (const Job &job : jobs)
        names.push_back(job.name);
    return names;
}

/// Sentences about a change of the example.
template <class Change> Texts after(Change change)
{
    Plan plan = example();
    change(plan);
    return describeDifferences(example(), plan);
}

/// The places of the errors after a change.
template <class Change> Texts faults(Change change)
{
    Plan plan = example();
    change(plan);
    Texts places;
    for (const Error &error : validatePlan(plan))
        places.push_back(error.what.empty() || error.right.empty() ? "an error without what or right" : error.where);
    return places;
}

Expected<Plan> set(const char *key, const char *value)
{
    auto next = withKeySet(example(), key, value);
    if (next)
        return *next;
    return std::unexpected(next.error()[0]);
}

} // namespace

class TstJobs : public QObject {
    Q_OBJECT

private slots:
    void aPlanHasJobsByItsListOrByItsGrid()
    {
        Plan plan;
        QVERIFY(!hasJobs(plan) && jobCount(plan) == 0 && allJobs(plan).empty());
        plan.jobGrid.emplace();
        QVERIFY(!hasJobs(plan)); // of no model
        plan.jobGrid->model = { "opt-1.3b" };
        QVERIFY(hasJobs(plan) && jobCount(plan) == 1);
        plan.jobGrid.reset();
        plan.jobs = { { "one", "opt-1.3b" } };
        QVERIFY(hasJobs(plan) && jobCount(plan) == 1);
    }

    /// A file whose grid names no model asks for jobs, so the workload is not what it lacks.
    void aFileWithAnEmptyGridLacksAModelOfTheGrid()
    {
        const auto plan = parsePlan(R"({"format": "trainyard.plan", "version": 1, "workload": {}, "cluster": {
            "datacenters": [{"id": "lab", "pools": [{"id": "v", "gpu": "v100-sxm-16gb", "nodes": 1}]}]}, "job_grid": {"model": []}})",
            "grid.json");
        const Errors errors = plan ? validatePlan(*plan) : plan.error();
        QCOMPARE(errors.size(), 1u);
        QVERIFY2(errors.front().where.contains("job_grid"), errors.front().where.c_str());
        QCOMPARE(errors.front().what, "the grid has no model");
    }

    void theListComesFirstThenTheGridWithItsLastAxisFastest()
    {
        Plan plan = example();
        plan.jobs.resize(1);
        plan.jobGrid = JobGrid { .model = { "m", "n" }, .batch = { 8, 16 }, .learningRate = { 1e-3, 1e-4 } };
        QCOMPARE(namesOf(allJobs(plan)),
            (Texts { "a", "m, batch 8, 0.001", "m, batch 8, 0.0001", "m, batch 16, 0.001", "m, batch 16, 0.0001",
                "n, batch 8, 0.001", "n, batch 8, 0.0001", "n, batch 16, 0.001", "n, batch 16, 0.0001" }));
        const std::vector<Job> jobs = allJobs(plan);
        QCOMPARE(jobs[4].model, std::string("m"));
        QCOMPARE(jobs[4].batch, 16);
        QCOMPARE(jobs[4].learningRate, std::optional(1e-4));
        QCOMPARE(jobs[4].minibatches, Job {}.minibatches); // what the grid does not list is a job's default
    }

    /// n = list + product of the lengths of the grid's lists, an empty one counting as one.
    void jobsAreCountedAsTheyAreMade()
    {
        for (unsigned seed = 0; seed < 200; ++seed) {
            const Plan plan = test::RandomPlan(seed).plan();
            const std::vector<Job> jobs = allJobs(plan);
            QCOMPARE(double(jobs.size()), jobCount(plan));
            std::set<std::string> names;
            for (const Job &job : jobs)
                QVERIFY2(names.insert(job.name).second, job.name.c_str());
            QCOMPARE(hasJobs(plan), !jobs.empty());
        }
    }

    void aHugeGridIsCountedWithoutBeingMadeAndCutWhereAsked()
    {
        Plan plan;
        plan.jobGrid.emplace().model = { "m" };
        plan.jobGrid->batch.assign(100000, 1);
        plan.jobGrid->learningRate.assign(100000, 1e-3);
        QCOMPARE(jobCount(plan), 1e10);
        QCOMPARE(allJobs(plan, 7).size(), 7U);
        QCOMPARE(allJobs(plan).size(), 100000U); // and equal names take no longer than others
        Plan list = example();
        QCOMPARE(namesOf(allJobs(list, 2)), (Texts { "a", "b" }));
    }

    void aNameThatIsTakenGetsANumber()
    {
        Plan plan = example();
        plan.jobs.resize(2);
        plan.jobs[0].name = "m";
        plan.jobs[1].name = "m (2)";
        plan.jobGrid = JobGrid { .model = { "m", "m" } };
        QCOMPARE(namesOf(allJobs(plan)), (Texts { "m", "m (2)", "m (3)", "m (4)" }));
    }

    void everyAxisWithSeveralValuesIsInTheNames()
    {
        Plan plan;
        plan.jobGrid = JobGrid { .model = { "m" },
            .batch = { 4 },
            .learningRate = {},
            .sequenceLength = { 512, 1024 },
            .minibatches = { 5, 6 },
            .epochs = { 1, 2 },
            .precision = { Precision::Fp32, Precision::Bf16 },
            .optimizer = { Optimizer::Adam, Optimizer::Sgd } };
        const std::vector<Job> jobs = allJobs(plan);
        QCOMPARE(jobs.size(), 32U);
        QCOMPARE(jobs.front().name, std::string("m, 512 tokens, 5 mini-batches, 1 epochs, fp32, Adam"));
        QCOMPARE(jobs.front().batch, 4);
        QCOMPARE(jobs.back().optimizer, Optimizer::Sgd);
    }

    void keysOfJobsAreSetByTheirPath()
    {
        QCOMPARE(set("jobs[0].batch", "8")->jobs[0].batch, 8);
        QCOMPARE(set("jobs[3].technique", "zero-offload")->jobs[3].technique, JobTechnique::ZeroOffload);
        QCOMPARE(set("jobs[1].gpus", "2")->jobs[1].gpus, std::optional(2));
        QCOMPARE(set("jobs[1].gpus", "auto")->jobs[1].gpus, std::nullopt);
        QCOMPARE(set("jobs[0].unit_ms", "[1, 2.5, 3]")->jobs[0].unitMs, (std::vector<double> { 1, 2.5, 3 }));
        QCOMPARE(set("jobs[0].pinned_gpus", "[0, 3]")->jobs[0].pinnedGpus, (std::vector<int> { 0, 3 }));
        QCOMPARE(set("jobs[2].paused", "true")->jobs[2].paused, true);
        QCOMPARE(set("job_grid.model", "[\"opt-1.3b\"]")->jobGrid->model, (Texts { "opt-1.3b" }));
        QCOMPARE(set("job_grid", R"({"model": ["m"], "precision": ["fp16"]})")->jobGrid->precision,
            (std::vector<Precision> { Precision::Fp16 }));
        QCOMPARE(set("job_scheduler", "shard-milp")->jobScheduler, JobScheduler::ShardMilp);
        QCOMPARE(set("job_options.double_buffer", "false")->jobOptions.doubleBuffer, false);
        QCOMPARE(set("job_options.look_ahead", "true")->jobOptions.lookAhead, true);
        QCOMPARE(set("job_options.remaining", "minibatches")->jobOptions.remaining, RemainingWork::Minibatches);
        QCOMPARE(set("job_options.spill", "false")->jobOptions.spill, false);
        QCOMPARE(set("job_options.seconds", "2.5")->jobOptions.seconds, 2.5);
    }

    void whatNoJobCanHaveIsRefusedWithItsPlace()
    {
        const auto refused = [](const char *key, const char *value, const char *right) {
            const auto plan = set(key, value);
            return !plan && plan.error().right.find(right) != std::string::npos;
        };
        QVERIFY(refused("jobs[0].batch", "0", "from 1"));
        QVERIFY(refused("jobs[0].epochs", "1.5", "a whole number"));
        QVERIFY(refused("jobs[0].unit_ms", "[1, 0, 1]", "above 0"));
        QVERIFY(refused("jobs[0].deadline_s", "-3", "above 0"));
        QVERIFY(refused("jobs[0].pinned_gpus", "[-1]", "from 0"));
        QVERIFY(refused("jobs[0].precision", "bf61", "bf16"));
        QVERIFY(refused("job_scheduler", "longest", "sharded-lrtf"));
        QVERIFY(refused("job_options.remaining", "time", "units"));
        QVERIFY(refused("job_grid.batch", "[4, \"8\"]", "a whole number"));
        QVERIFY(!set("jobs[4].batch", "8")); // there are four
        const auto nameless =
            parsePlan(R"({"cluster": {"datacenters": []}, "workload": {}, "jobs": [{"model": "m"}]})", "p");
        QVERIFY(!nameless && nameless.error()[0].where == "p: /jobs/0/name");
    }

    void aPlanWithJobsNeedsNoModelOfItsOwn()
    {
        const char *text = R"({"cluster": {"datacenters": [{"id": "a", "pools": [{"id": "p", "gpu": "t4-16gb",
            "nodes": 1}]}]}, "workload": {}, "jobs": [{"name": "one", "model": "opt-1.3b"}]})";
        const auto plan = parsePlan(text, "p.json");
        QVERIFY2(plan, plan ? "" : toString(plan.error()[0]).c_str());
        QVERIFY(validatePlan(*plan).empty());
        QCOMPARE(plan->jobScheduler, JobScheduler::ShardedLrtf);
        QVERIFY(plan->jobOptions.doubleBuffer && plan->jobOptions.spill && plan->jobOptions.looksAhead());
    }

    void doubleBufferingImpliesLookingAhead()
    {
        JobOptions options { .doubleBuffer = false };
        QVERIFY(!options.looksAhead());
        options.lookAhead = true;
        QVERIFY(options.looksAhead());
        QVERIFY((JobOptions { .doubleBuffer = true, .lookAhead = false }.looksAhead()));
    }

    void namesOfJobsAreThereAndUnique()
    {
        QVERIFY(faults([](Plan &) {}).empty());
        QCOMPARE(faults([](Plan &p) { p.jobs[1].name.clear(); }), Texts { "jobs[1].name" });
        QCOMPARE(faults([](Plan &p) { p.jobs[2].name = "a"; }), Texts { "jobs[2].name" });
    }

    void whatContradictsItselfIsRefused()
    {
        QCOMPARE(faults([](Plan &p) { p.jobs[0].unitMs = { 1, 2 }; }), Texts { "jobs[0].unit_ms" }); // 2K - 1 is odd
        QVERIFY(faults([](Plan &p) { p.jobs[0].unitMs = { 1, 2, 3 }; }).empty());
        QCOMPARE(
            faults([](Plan &p) { p.jobs[1].arrivalS = 5, p.jobs[1].deadlineS = 5; }), Texts { "jobs[1].deadline_s" });
        QCOMPARE(faults([](Plan &p) { p.jobs[3].pinnedGpus = { 2, 1, 2 }; }), Texts { "jobs[3].pinned_gpus" });
        QCOMPARE(faults([](Plan &p) { p.jobGrid.emplace(); }), Texts { "job_grid.model" });
    }

    void moreJobsThanCanBePlannedAreRefused()
    {
        const auto grid = [](std::size_t batches) {
            return [batches](Plan &p) {
                p.jobGrid.emplace().model = { "m" };
                p.jobGrid->batch.assign(batches, 1);
            };
        };
        QVERIFY(faults(grid(100000 - 4)).empty()); // four in the list
        QCOMPARE(faults(grid(100000 - 3)), Texts { "job_grid" });
        QCOMPARE(faults(grid(2'000'000)), Texts { "job_grid" });
        QCOMPARE(faults([](Plan &p) {
            const Job job = p.jobs[0];
            for (int i = 0; i < 100000; ++i)
                p.jobs.push_back(job), p.jobs.back().name = std::to_string(i);
        }),
            Texts { "jobs" });
    }

    void changesOfTheListAreSaid()
    {
        QCOMPARE(after([](Plan &p) { p.jobs.push_back({ "e", "m" }); }), Texts { "Add job e" });
        QCOMPARE(after([](Plan &p) {
            p.jobs.insert(p.jobs.begin(), { { "e", "m" }, { "f", "m" } });
        }),
            Texts { "Add 2 jobs: e, f" });
        QCOMPARE(after([](Plan &p) { p.jobs.erase(p.jobs.begin() + 1); }), Texts { "Remove job b" });
        QCOMPARE(after([](Plan &p) { p.jobs.clear(); }), Texts { "Remove 4 jobs: a, b, c, d" });
        QCOMPARE(after([](Plan &p) { p.jobs[2].name = "x"; }), Texts { "Rename job c to x" });
        QCOMPARE(after([](Plan &p) { std::rotate(p.jobs.begin(), p.jobs.begin() + 3, p.jobs.end()); }),
            Texts { "Move job d to place 1" });
        QCOMPARE(after([](Plan &p) { std::rotate(p.jobs.begin(), p.jobs.begin() + 1, p.jobs.end()); }),
            Texts { "Move job a to place 4" });
        QCOMPARE(after([](Plan &p) { std::reverse(p.jobs.begin(), p.jobs.end()); }), Texts { "Jobs rearranged" });
    }

    void changesOfAJobAreSaidWithItsName()
    {
        QCOMPARE(after([](Plan &p) { p.jobs[1].batch = 8; }), Texts { "Batch of b 1 → 8" });
        QCOMPARE(after([](Plan &p) { p.jobs[1].deadlineS = 90; }), Texts { "Deadline of b none → 90 s" });
        QCOMPARE(after([](Plan &p) { p.jobs[1].model = "m"; }), Texts { "Model of b opt-1.3b → m" });
        QCOMPARE(after([](Plan &p) { p.jobs[0].paused = true; }), Texts { "Pause job a" });
        QCOMPARE(after([](Plan &p) { p.jobs[0].pinnedGpus = { 2 }; }), Texts { "Pin job a to GPU 2" });
        QCOMPARE(after([](Plan &p) { p.jobs[0].pinnedGpus = { 0, 2 }; }), Texts { "Pin job a to GPUs 0, 2" });
        QCOMPARE(after([](Plan &p) { p.jobs[0].gpus = 2; }), Texts { "GPUs of a auto → 2" });
        QCOMPARE(after([](Plan &p) {
            p.jobs[3].unitMs = { 1, 2, 3 };
        }),
            Texts { "Measured units of d none → 1, 2, 3" });
        QCOMPARE(after([](Plan &p) { p.jobs[3].extra["x"] = "1"; }), Texts { "X of d none → 1" });
        Plan pinned = example();
        pinned.jobs[0].pinnedGpus = { 1 };
        pinned.jobs[1].paused = true;
        QCOMPARE(describeDifferences(pinned, example()), (Texts { "Let job a run on any GPU", "Resume job b" }));
    }

    void changesOfTheGridTheSchedulerAndTheOptionsAreSaid()
    {
        const auto withGrid = [](Plan &p) {
            p.jobGrid = JobGrid { .model = { "m" }, .batch = { 8, 16 }, .learningRate = { 1, 2, 3 } };
        };
        QCOMPARE(after(withGrid), Texts { "Add a grid of 6 jobs" });
        Plan before = example();
        withGrid(before);
        QCOMPARE(describeDifferences(before, example()), Texts { "Remove the grid of 6 jobs" });
        Plan next = before;
        next.jobGrid->batch = { 8 };
        next.jobGrid->optimizer = { Optimizer::Sgd };
        QCOMPARE(describeDifferences(before, next),
            (Texts { "Batches of the grid 8, 16 → 8", "Optimizers of the grid default → sgd" }));
        QCOMPARE(
            after([](Plan &p) { p.jobScheduler = JobScheduler::Fifo; }), Texts { "Scheduler sharded-lrtf → fifo" });
        QCOMPARE(after([](Plan &p) { p.jobOptions.doubleBuffer = false; }), Texts { "Double buffer off" });
        QCOMPARE(after([](Plan &p) { p.jobOptions.remaining = RemainingWork::Minibatches; }),
            Texts { "Remaining work units → minibatches" });
        QCOMPARE(after([](Plan &p) { p.jobOptions.seconds = 3; }), Texts { "Solver's time 10 → 3 s" });
    }
};

TRAINYARD_APPLESS_TEST(TstJobs)
#include "tst_jobs.moc"
