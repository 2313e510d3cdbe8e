// SPDX-License-Identifier: GPL-3.0-or-later
// Jobs of a plan as units of work: nothing of a model is lost or counted twice, everything fits, and times are those of
// the same model as a plan of its own.

#include "core/evaluation/evaluate/run.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/job_shards/job_workloads.h"
#include "tests/core/iteration/job_shards/job_plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace trainyard;
using namespace trainyard::test;

namespace {

Errors errorsOf(const Plan &plan)
{
    auto jobs = resolveJobs(share(plan), builtinCatalogue());
    return jobs ? Errors {} : jobs.error();
}

const JobSpec &specOf(const JobWorkloads &jobs, std::size_t job = 0)
{
    return jobs.set.jobs[std::size_t(jobs.jobs[job].specIndex)];
}

double sum(const std::vector<double> &values)
{
    return std::accumulate(values.begin(), values.end(), 0.0);
}

bool isNear(double a, double b, double tolerance = 1e-9)
{
    return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

Pool ofMemory(double gib, int gpus = 2)
{
    Pool made = pool("own", "", 1, gpus);
    GpuSpec gpu = *builtinCatalogue().gpu("a100-sxm-80gb");
    gpu.memoryBytes = std::int64_t(gib * 0x1p30);
    made.inlineGpu = gpu;
    made.id = "of-" + std::to_string(int(gib));
    made.gpu = "";
    return made;
}

Plan ideal(Plan plan)
{
    plan.stack.name = "ideal";
    return plan;
}

const char *const kModels[] = { "opt-1.3b", "gpt-3-2.7b", "llama-7b", "qwen2.5-3b", "qwen1.5-moe-a2.7b" };

} // namespace

class TstJobWorkloads : public QObject {
    Q_OBJECT

private slots:
    /// Sum over shards = the model, with a second copy of a matrix that both ends of the model use once it is cut.
    void shardsHaveAllParametersOfTheModel()
    {
        for (const char *model : kModels)
            for (const double gib : { 16.0, 24.0, 400.0 }) {
                const JobWorkloads jobs = resolved(jobPlan({ ofMemory(gib) }, { job("a", model, 1) }));
                const JobWorkload &of = jobs.jobs.front();
                QVERIFY2(!of.shards.empty(), of.why.c_str());
                double parameters = 0;
                int layers = 0;
                for (const ShardCut &shard : of.shards) {
                    QCOMPARE(shard.firstLayer, layers);
                    layers += shard.layers;
                    parameters += shard.parameters;
                }
                QCOMPARE(layers, of.model.layers);
                QVERIFY(of.shards.front().hasEmbedding && of.shards.back().hasHead);
                const bool isTwice = of.model.tiedEmbeddings && of.shards.size() > 1;
                const double all = totalParameters(of.model) + (isTwice ? double(of.model.vocab) * of.model.hidden : 0);
                QVERIFY2(isNear(parameters, all), model);
                QCOMPARE(specOf(jobs).units.size(), 2 * of.shards.size() - 1);
            }
    }

    /// t(one unit, K = 1) = iteration of the same model, batch and stack as a plan on one GPU without ZeRO.
    void aModelThatIsNotCutTakesWhatItsOwnPlanTakes()
    {
        for (const char *stack : { "ideal", "megatron-core", "fsdp" }) {
            Plan plan = jobPlan({ ofMemory(400, 1) }, { job("a", "opt-1.3b", 2) });
            plan.stack.name = stack;
            const JobWorkloads jobs = resolved(plan);
            QCOMPARE(jobs.jobs[0].shards.size(), 1u);
            Plan own = plan;
            own.jobs.clear();
            own.workload.model = "opt-1.3b";
            own.workload.sequenceLength = 1024;
            own.workload.globalBatch = own.workload.microBatch = 2;
            own.workload.precision = Precision::Fp16;
            own.parallelism.zeroStage = 0;
            EvaluationWorkspace workspace;
            const auto evaluation = run(share(own), Depth::Score, { builtinCatalogue(), workspace });
            QVERIFY(evaluation && (*evaluation)->metrics.iterationTime);
            QVERIFY2(isNear(specOf(jobs).seconds[0][0], *(*evaluation)->metrics.iterationTime, 1e-6), stack);
            // And what is on the GPU is what its memory would hold, but for a communicator's buffers.
            const StageMemory &memory = (*evaluation)->metrics.memory->perStage[0];
            const double workspaceBytes = jobs.cluster->stack.workspaceBytes;
            QVERIFY2(isNear(specOf(jobs).units[0].running, double(memory.peak) - workspaceBytes, 1e-6), stack);
        }
    }

    /// sum of units = whole model once forward and backward + one forward more of all shards but the last.
    void timeOfUnitsIsThatOfTheModelAndItsForwardsAgain()
    {
        for (const char *model : { "llama-7b", "qwen1.5-moe-a2.7b" }) { // whose ends are two matrices
            const Plan cut = ideal(jobPlan({ ofMemory(24) }, { job("a", model, 1) })),
                       whole = ideal(jobPlan({ ofMemory(900) }, { job("a", model, 1) }));
            const JobWorkloads shards = resolved(cut), one = resolved(whole);
            const std::size_t k = shards.jobs[0].shards.size();
            QVERIFY(k > 2 && one.jobs[0].shards.size() == 1);
            const std::vector<double> &units = specOf(shards).seconds[0];
            const double forwards = std::accumulate(units.begin(), units.begin() + std::ptrdiff_t(k - 1), 0.0);
            QVERIFY(isNear(sum(units) - forwards, specOf(one).seconds[0][0]));
        }
    }

    /// running + weights and input of the next, whatever those are, <= memory of the smallest GPU. Of two jobs: one
    /// alone takes the cut that is fastest by simulation.
    void everyUnitFitsBesideTheBuffer()
    {
        int cases = 0, buffered = 0; // where a buffer would ask for so many shards that it is slower, there is none
        for (const char *model : kModels)
            for (const double gib : { 12.0, 16.0, 24.0, 80.0 }) {
                const JobWorkloads jobs =
                    resolved(jobPlan({ ofMemory(gib) }, { job("a", model, 1), job("b", model, 1) }));
                if (jobs.jobs[0].shards.empty()) // an expert layer alone is larger
                    continue;
                double memory = jobs.set.gpus.front().memory, running = 0, ahead = 0;
                for (const JobUnit &unit : specOf(jobs).units) {
                    running = std::max(running, unit.running);
                    ahead = std::max(ahead, unit.weights + unit.input);
                    QVERIFY(unit.running >= unit.weights + unit.input + unit.output);
                    QVERIFY(unit.writeBack <= unit.weights);
                }
                QVERIFY(running <= memory && memory < gib * 0x1p30);
                ++cases;
                buffered += specOf(jobs).units.size() == 1 || running + ahead <= memory;
            }
        QVERIFY2(4 * buffered >= 3 * cases, qPrintable(QString("%1 of %2").arg(buffered).arg(cases)));
    }

    void moreMemoryNeverMakesMoreShards()
    {
        for (const char *model : kModels) {
            std::size_t before = 1000;
            for (double gib = 12; gib < 600; gib *= 1.1) {
                Plan plan = jobPlan({ ofMemory(gib) }, { job("a", model, 1), job("b", model, 1) });
                plan.jobOptions.doubleBuffer = false;
                const JobWorkloads jobs = resolved(plan);
                const std::size_t shards = jobs.jobs[0].shards.size();
                if (shards == 0) {
                    QCOMPARE(before, 1000u);
                    QVERIFY(!jobs.jobs[0].why.empty());
                    continue;
                }
                QVERIFY(shards <= before);
                before = shards;
            }
            QCOMPARE(before, 1u);
        }
    }

    /// Forward k leaves its output in host memory until backward k + 1 has read it: at most K - 1 of them.
    void boundariesInHostMemoryAreTakenAndGivenBack()
    {
        const JobWorkloads jobs = resolved(jobPlan({ ofMemory(16) }, { job("a", "opt-1.3b", 4) }));
        const JobSpec &spec = specOf(jobs);
        const double boundary = 2.0 * 4 * 1024 * 2048; // bytes x batch x sequence x hidden
        const int k = int(jobs.jobs[0].shards.size());
        double now = 0, most = 0;
        for (const JobUnit &unit : spec.units) {
            now += unit.hostAfter;
            most = std::max(most, now);
        }
        QVERIFY(k > 2 && std::abs(now) < 1e-6);
        QCOMPARE(most, (k - 1) * boundary);
        QCOMPARE(spec.hostBoundaries, most);
        QCOMPARE(spec.units[0].input, 0.0);
        QCOMPARE(spec.units[0].output, boundary);
        QCOMPARE(spec.units.back().output, 0.0);
        // 16-bit weights, their 32-bit copies and two moments of Adam
        double parameters = 0;
        for (const ShardCut &shard : jobs.jobs[0].shards)
            parameters += shard.parameters;
        QVERIFY(isNear(spec.hostBytes, 14 * parameters));
        QVERIFY(isNear(spec.units[0].weights, 2 * jobs.jobs[0].shards[0].parameters));
        QVERIFY(isNear(spec.units.back().weights, 14 * jobs.jobs[0].shards[0].parameters));
    }

    void withoutSpillingAModelIsWholeOrCannotRun()
    {
        Plan plan = jobPlan({ ofMemory(40) }, { job("small", "opt-125m", 1), job("large", "llama-7b", 1) });
        plan.jobOptions.spill = false;
        const JobWorkloads jobs = resolved(plan);
        QCOMPARE(jobs.jobs[0].shards.size(), 1u);
        QVERIFY(jobs.jobs[1].shards.empty());
        QCOMPARE(jobs.jobs[1].specIndex, -1);
        QVERIFY2(jobs.jobs[1].why.starts_with("the whole model"), jobs.jobs[1].why.c_str());
        plan.jobs[0].unitMs = { 100, 200, 300 }; // of one unit then
        QCOMPARE(specOf(resolved(plan), 0).seconds[0], std::vector<double> { .6 });
    }

    /// 2K - 1 times make K shards of about equal size.
    void measuredTimesStandForModelledOnes()
    {
        Plan plan = jobPlan({ ofMemory(80) }, { job("a", "opt-1.3b", 1), job("b", "opt-1.3b", 1) });
        plan.jobs[1].unitMs = { 100, 200, 300, 400, 500, 600, 700 };
        const JobWorkloads jobs = resolved(plan);
        QVERIFY(jobs.jobs[1].isMeasured && !jobs.jobs[0].isMeasured);
        QCOMPARE(jobs.jobs[1].shards.size(), 4u);
        const std::vector<double> seconds { .1, .2, .3, .4, .5, .6, .7 };
        for (std::size_t i = 0; i < seconds.size(); ++i)
            QVERIFY(isNear(specOf(jobs, 1).seconds[0][i], seconds[i]));
        const double all = totalParameters(jobs.jobs[1].model);
        for (const ShardCut &shard : jobs.jobs[1].shards)
            QVERIFY(shard.parameters > 0.15 * all && shard.parameters < 0.4 * all);
    }

    void measuredShardsThatNoGpuHoldsAreAnError()
    {
        Plan plan = jobPlan({ ofMemory(16) }, { job("a", "opt-125m", 1), job("b", "llama-7b", 1) });
        plan.jobs[1].unitMs = { 100, 200, 300 };
        Errors errors = errorsOf(plan);
        QCOMPARE(errors.size(), 1u);
        QCOMPARE(errors[0].where, "jobs[1].unit_ms");
        plan.jobs[1].unitMs.assign(201, 10);
        errors = errorsOf(plan);
        QCOMPARE(errors.size(), 1u);
        QVERIFY2(errors[0].what.contains("101 shards"), errors[0].what.c_str());
        plan.jobs[1].unitMs.assign(4, 10);
        QCOMPARE(errorsOf(plan).front().where, "jobs[1].unit_ms");
    }

    void theSmallestGpuThatMayRunItAtItsHostDecides()
    {
        Plan plan = jobPlan({ ofMemory(80), ofMemory(16) }, { job("any", "opt-2.7b", 1), job("large", "opt-2.7b", 1) });
        plan.jobs[0].pinnedGpus = { 2 };
        plan.jobs[1].pinnedGpus = { 1, 0 };
        const JobWorkloads jobs = resolved(plan);
        QVERIFY(jobs.jobs[0].shards.size() > jobs.jobs[1].shards.size());
        QCOMPARE(specOf(jobs, 1).gpus, (std::vector<int> { 0, 1 }));
        QVERIFY(specOf(jobs).seconds[0].empty() && !specOf(jobs).seconds[1].empty());
        QVERIFY(specOf(jobs, 1).seconds[1].empty()); // its shards are larger than that GPU
    }

    void aGpuTooSmallForOneLayerIsLeftOut()
    {
        Plan plan = jobPlan({ ofMemory(4), ofMemory(40) }, { job("a", "llama-7b", 1), job("b", "opt-125m", 1) });
        plan.jobs[1].pinnedGpus = { 0 };
        const JobWorkloads jobs = resolved(plan);
        QVERIFY(specOf(jobs).seconds[0].empty() && !specOf(jobs).seconds[1].empty());
        QVERIFY(!specOf(jobs, 1).seconds[0].empty());
        const JobWorkloads none = resolved(jobPlan({ ofMemory(4) }, { job("a", "llama-7b", 1) }));
        QVERIFY2(none.jobs[0].why.contains("GB"), none.jobs[0].why.c_str());
        QVERIFY(none.set.jobs.empty());
    }

    void jobsThatDifferInRateAloneAreCutAlike()
    {
        Plan plan = jobPlan({ ofMemory(16) }, {});
        JobGrid grid;
        grid.model = { "opt-1.3b", "opt-2.7b" };
        grid.learningRate = { 1e-3, 1e-4, 1e-5 };
        grid.batch = { 1, 2 };
        plan.jobGrid = grid;
        const JobWorkloads jobs = resolved(plan);
        QCOMPARE(jobs.jobs.size(), 12u);
        QCOMPARE(jobs.set.jobs.size(), 12u);
        for (std::size_t i = 0; i < 3; ++i) {
            QCOMPARE(specOf(jobs, i).units, specOf(jobs, 0).units);
            QVERIFY(specOf(jobs, i + 3).units != specOf(jobs, 0).units);
        }
    }

    void pausedJobsHaveShardsButNoWork()
    {
        Plan plan = jobPlan({ ofMemory(16) }, { job("a", "opt-1.3b"), job("b", "opt-1.3b") });
        plan.jobs[0].paused = true;
        const JobWorkloads jobs = resolved(plan);
        QCOMPARE(jobs.jobs[0].specIndex, -1);
        QVERIFY(!jobs.jobs[0].shards.empty() && jobs.jobs[0].why.empty());
        QCOMPARE(jobs.jobs[1].specIndex, 0);
    }

    /// Units stand for several mini-batches; their time and that of their transfers do too.
    void tooManyMiniBatchesAreTakenTogether()
    {
        Plan plan = jobPlan({ ofMemory(16) }, { job("a", "opt-1.3b"), job("b", "opt-125m") });
        plan.jobs[0].minibatches = 1000 * 1000;
        plan.jobs[0].epochs = 7;
        const JobWorkloads few = resolved(jobPlan({ ofMemory(16) }, { job("a", "opt-1.3b"), job("b", "opt-125m") })),
                           many = resolved(plan);
        QCOMPARE(few.minibatchesPerSpan, 1);
        QVERIFY(many.minibatchesPerSpan > 1);
        const JobSpec &spec = specOf(many);
        QVERIFY(double(spec.minibatches) * double(spec.units.size()) <= kMostUnits);
        QVERIFY(isNear(sum(spec.seconds[0]) * double(spec.minibatches), 7e6 * sum(specOf(few).seconds[0])));
        QVERIFY(isNear(spec.minibatchesPerUnit * double(spec.minibatches), 7e6));
        QVERIFY(many.set.routes == few.set.routes && specOf(many, 1).minibatchesPerUnit == 3);
        QCOMPARE(spec.units, specOf(few).units);
        plan.jobs[0].minibatches = plan.jobs[0].epochs = 1000 * 1000;
        const Errors errors = errorsOf(plan);
        QCOMPARE(errors.size(), 1u);
        QCOMPARE(errors[0].where, "jobs[0].minibatches");
    }

    void gpusReachTheirHostOverPcieAndOthersOverAFastFabric()
    {
        Plan plan = jobPlan(
            { pool("a", "t4-16gb", 3, 8, 512, 12), pool("b", "t4-16gb", 1, 4, 0, 0) }, { job("a", "opt-1.3b", 16) });
        plan.cluster.datacenters[0].fabricGbpsPerGpu = 60;
        Datacenter slow = plan.cluster.datacenters[0];
        slow.id = "slow";
        slow.fabricGbpsPerGpu = 2;
        for (Pool &of : slow.pools)
            of.id += "-slow";
        plan.cluster.datacenters.push_back(slow);
        const JobWorkloads jobs = resolved(plan);
        QCOMPARE(jobs.set.gpus.size(), 56u);
        QCOMPARE(jobs.set.nodes.size(), 8u);
        QCOMPARE(jobs.set.nodes[0].memory, 512 * 0x1p30);
        QVERIFY(std::isinf(jobs.set.nodes[3].memory) && jobs.nodes[3].memory == 0);
        const auto rate = [&](std::size_t node, std::size_t gpu) {
            const int route = jobs.set.routeOf[node][gpu];
            return route < 0 ? 0 : jobs.set.routes[std::size_t(route)].toGpu;
        };
        QCOMPARE(rate(0, 0), 12e9);
        QVERIFY(rate(3, 24) > 10e9 && rate(3, 24) < 15.75e9); // what a copy reaches of the catalogue's PCIe
        QVERIFY(rate(0, 8) > 5e9 && rate(0, 8) < 7.5e9); // 60 Gbit/s a GPU
        QCOMPARE(rate(0, 28), 0.0); // another datacenter
        QCOMPARE(rate(4, 28), 12e9);
        QCOMPARE(rate(4, 36), 0.0); // over 2 Gbit/s its weights would take longer than its work
        // One site where GPUs serve all hosts, else one a node.
        QCOMPARE(jobs.set.nodes[3].site, jobs.set.nodes[0].site);
        QVERIFY(jobs.set.nodes[5].site != jobs.set.nodes[4].site);
        // 20 GPUs elsewhere may ask more of a host than the NICs of its eight carry.
        const JobRoute &remote = jobs.set.routes[std::size_t(jobs.set.routeOf[0][8])];
        QCOMPARE(remote.linksToGpu.size(), 1u);
        QVERIFY(isNear(jobs.set.links[remote.linksToGpu[0]], 8 * rate(0, 8)));
        QVERIFY(remote.linksToHost != remote.linksToGpu);
        QVERIFY(jobs.set.routes[std::size_t(jobs.set.routeOf[0][0])].linksToGpu.empty());
    }

    void errorsNameTheirKeys()
    {
        Plan plan = jobPlan({ ofMemory(16) }, { job("a", "opt-1.3b"), job("b", "opt-1.3bb") });
        plan.jobGrid.emplace().model = { "gpt-33" };
        Errors errors = errorsOf(plan);
        QCOMPARE(errors.size(), 2u);
        QCOMPARE(errors[0].where, "jobs[1].model");
        QVERIFY(errors[0].right.contains("opt-1.3b"));
        QCOMPARE(errors[1].where, "job_grid.model");
        plan = jobPlan({ pool("a", "a100", 1, 8) }, { job("a", "opt-1.3b") });
        errors = errorsOf(plan);
        QCOMPARE(errors.size(), 1u);
        QCOMPARE(errors[0].where, "cluster.datacenters[0].pools[0].gpu");
        plan = jobPlan({ pool("a", "a100-sxm-40gb", 0, 8) }, { job("a", "opt-1.3b") });
        errors = errorsOf(plan);
        QCOMPARE(errors.size(), 1u);
        QCOMPARE(errors[0].where, "cluster.datacenters");
        plan = jobPlan({ ofMemory(16) }, { job("a", "opt-1.3b"), job("a", "opt-1.3b") });
        QCOMPARE(errorsOf(plan).front().where, "jobs[1].name");
    }

    void pinsThatDoNotExistAreLeftOut()
    {
        Plan plan = jobPlan({ ofMemory(16) }, { job("a", "opt-1.3b"), job("b", "opt-1.3b") });
        plan.jobs[0].pinnedGpus = { 1, 7 };
        plan.jobs[1].pinnedGpus = { 9 };
        const JobWorkloads jobs = resolved(plan);
        QCOMPARE(specOf(jobs).gpus, std::vector<int> { 1 });
        QCOMPARE(jobs.jobs[1].specIndex, -1);
        QVERIFY(jobs.jobs[1].why.contains("pinned"));
    }
};

TRAINYARD_APPLESS_TEST(TstJobWorkloads)
#include "tst_job_workloads.moc"
