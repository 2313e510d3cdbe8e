// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/alternatives.h"

#include "core/engine/schedule/traits.h"
#include "core/evaluation/advice/alternatives_internal.h"
#include "core/facts/cluster/pool_gpu.h"
#include "core/facts/plan/plan_io.h"
#include "core/iteration/placement/degrees.h"
#include "core/iteration/placement/stage_source.h"

#include <algorithm>
#include <set>

namespace trainyard {

namespace {

using namespace detail;

int largestNode(const Cluster &cluster)
{
    int gpus = 1;
    for (const Datacenter &datacenter : cluster.datacenters)
        for (const Pool &pool : datacenter.pools)
            gpus = std::max(gpus, pool.gpusPerNode);
    return gpus;
}

/// In a node or in several whole ones.
bool canHoldGroup(const Cluster &cluster, int tensor)
{
    const auto holds = [tensor](const Pool &pool) {
        return tensor <= pool.gpusPerNode || (tensor % pool.gpusPerNode == 0 && tensor <= pool.gpus());
    };
    return std::ranges::any_of(cluster.datacenters,
        [&](const Datacenter &datacenter) { return std::ranges::any_of(datacenter.pools, holds); });
}

void addTensor(Alternatives &out, const Plan &plan, const ModelSpec *model)
{
    const KeyRow &row = rowOf(&Parallelism::tensor);
    std::set<int> values = powersOfTwo(std::max(8, largestNode(plan.cluster)));
    values.insert(degreesOf(plan).tensor);
    Choices choices = choicesOf(row, values);
    for (Choice<KeyValue> &c : choices) {
        if (!canHoldGroup(plan.cluster, int(*c.value)))
            c.blocked = "no node holds " + c.key + " GPUs, nor do whole nodes of a pool make them up";
        else if (model && model->heads % int(*c.value) != 0)
            c.blocked = std::to_string(model->heads) + " attention heads do not divide by " + c.key;
    }
    addChoices(out, plan, row, choices, degreesOf(plan).tensor, [](Plan &p, KeyValue tensor) {
        if (tensor == 1)
            p.parallelism.sequenceParallel.reset();
    });
}

void addPipeline(Alternatives &out, const Plan &plan, const ModelSpec *model)
{
    const KeyRow &row = rowOf(&Parallelism::pipeline);
    const Degrees now = degreesOf(plan);
    const int most = std::max(1, plan.cluster.gpus() / std::max(1, now.tensor * now.context));
    const int layers = model ? model->layers : 128;
    std::set<int> values = powersOfTwo(layers);
    for (int p = 1; model && p <= layers; ++p)
        if (layers % p == 0)
            values.insert(p);
    values.insert({ std::max(1, now.pipeline - 1), now.pipeline, now.pipeline + 1 });
    Choices choices = choicesOf(row, values);
    for (Choice<KeyValue> &c : choices) {
        const int stages = int(*c.value);
        if (model && stageFacts(plan).hasLayers && stages * now.chunks > layers)
            c.blocked = "the model has " + std::to_string(layers) + " layers";
        else if (stages > most)
            c.blocked = c.key + " stages need " + std::to_string(stages * now.tensor * now.context)
                + " GPUs, the cluster has " + std::to_string(plan.cluster.gpus());
    }
    addChoices(out, plan, row, choices, now.pipeline, [](Plan &p, KeyValue stages) {
        p.placement.stages.clear(); // pins count stages; they cannot hold for another number
        if (stages > 1)
            p.heterogeneity.accumulation = Accumulation::Standard; // layered goes through whole models
        if (stages == 1) {
            p.parallelism.virtualPipeline = 1;
            p.schedule = scheduleForChunks(p.schedule, 1);
        }
    });
}

void addData(Alternatives &out, const Plan &plan)
{
    const Degrees now = degreesOf(plan);
    const int group = std::max(1, now.tensor * now.pipeline * now.context);
    const int most = plan.cluster.gpus() / group;
    std::set<int> values;
    for (int d = most; d >= 1; d /= 2)
        values.insert(d);
    if (now.data)
        values.insert({ std::max(1, *now.data - 1), *now.data, *now.data + 1 });
    const KeyRow &row = rowOf(&Parallelism::data);
    Choices choices = choicesOf(row, row.values(plan, std::vector<double>(values.begin(), values.end())));
    for (Choice<KeyValue> &c : choices) {
        if (c.value > most)
            c.blocked = c.key + " replicas need " + std::to_string(int(*c.value) * group) + " GPUs, the cluster has "
                + std::to_string(plan.cluster.gpus());
        else if (c.value > plan.workload.globalBatch && plan.workload.globalBatch > 0)
            c.blocked = "the global batch has " + std::to_string(plan.workload.globalBatch) + " sequences";
    }
    addChoices(out, plan, row, choices, now.data ? KeyValue(*now.data) : KeyValue());
}

void addContext(Alternatives &out, const Plan &plan)
{
    const Degrees now = degreesOf(plan);
    std::set<int> values = powersOfTwo(16);
    values.insert(now.context);
    const KeyRow &row = rowOf(&Parallelism::context);
    Choices choices = choicesOf(row, values);
    for (Choice<KeyValue> &c : choices) {
        const int ranks = int(*c.value);
        if (ranks * now.tensor * now.pipeline > plan.cluster.gpus())
            c.blocked = "one replica would need " + std::to_string(ranks * now.tensor * now.pipeline) + " GPUs";
        else if (plan.workload.sequenceLength % (2 * ranks) != 0 && ranks > 1)
            c.blocked = "a sequence of " + std::to_string(plan.workload.sequenceLength)
                + " tokens does not divide into " + std::to_string(2 * ranks) + " balanced pieces";
    }
    addChoices(out, plan, row, choices, now.context);
}

void addVirtual(Alternatives &out, const Plan &plan, const ModelSpec *model)
{
    const KeyRow &row = rowOf(&Parallelism::virtualPipeline);
    const int stages = degreesOf(plan).pipeline;
    Choices choices = choicesOf(row, plan);
    const ScheduleTraits &schedule =
        traitsOf(plan.schedule); // a number of chunks belongs to it where they are not dealt in a loop
    for (Choice<KeyValue> &c : choices) {
        const int chunks = int(*c.value);
        if (chunks > 1 && stages < 2)
            c.blocked = "interleaving needs at least 2 pipeline stages";
        else if (!schedule.isLoop() && !schedule.chunks.accepts(schedule.chunksPerStage(chunks)))
            c.blocked = std::string(toString(plan.schedule)) + " has another number of chunks per stage";
        else if (model && stageFacts(plan).hasLayers && model->layers < chunks * stages)
            c.blocked = std::to_string(stages) + " stages of " + c.key + " chunks need "
                + std::to_string(chunks * stages) + " layers, the model has " + std::to_string(model->layers);
    }
    addChoices(out, plan, row, choices,
        [](Plan &p, KeyValue) { p.schedule = scheduleForChunks(p.schedule, p.parallelism.virtualPipeline); });
}

void addSequenceParallel(Alternatives &out, const Plan &plan)
{
    const KeyRow &row = rowOf(&Parallelism::sequenceParallel);
    const Degrees now = degreesOf(plan);
    const std::string needs =
        now.tensor > 1 ? "" : "it splits along the tensor-parallel group, and tensor parallelism is 1";
    addChoices(out, plan, row, choicesOf(row, std::vector<KeyValue> { 0, 1 }, needs), now.isSequenceParallel);
}

void addZero(Alternatives &out, const Plan &plan)
{
    static const char *const kLabels[] = { "0 · off", "1 · optimizer", "2 · gradients", "3 · weights" };
    const KeyRow &row = rowOf(&Parallelism::zeroStage);
    Choices choices = choicesOf(row, std::set<int> { 0, 1, 2, 3 });
    for (Choice<KeyValue> &c : choices)
        c.label = kLabels[std::size_t(*c.value)];
    addChoices(out, plan, row, choices, degreesOf(plan).zeroStage);
}

void addSchedule(Alternatives &out, const Plan &plan)
{
    Choices choices;
    const bool idle = degreesOf(plan).pipeline < 2;
    for (const ScheduleTraits *schedule : allSchedules())
        choices.push_back({ double(schedule->kind), toString(schedule->kind), schedule->label,
            idle ? "there is one pipeline stage, so nothing to schedule" : "" });
    addChoices(out, plan, rowOf(&Plan::schedule), choices, [](Plan &p, KeyValue) {
        p.parallelism.virtualPipeline =
            traitsOf(p.schedule).takesSeveralChunks() ? std::max(2, p.parallelism.virtualPipeline) : 1;
    });
}

void addMicroBatch(Alternatives &out, const Plan &plan)
{
    const KeyRow &row = rowOf(&WorkloadSpec::microBatch);
    const int now = plan.workload.microBatch, batch = plan.workload.globalBatch;
    std::set<int> values = powersOfTwo(8);
    values.insert({ now, now * 2 });
    if (now > 1)
        values.insert(now / 2);
    Choices choices = choicesOf(row, values);
    for (Choice<KeyValue> &c : choices)
        if (batch > 0 && c.value > batch)
            c.blocked = "the global batch has " + std::to_string(batch) + " sequences";
    addChoices(out, plan, row, choices);
}

/// A placement that is pinned is a choice of its own, which the others clear.
void addPlacement(Alternatives &out, const Plan &plan)
{
    const std::string alone = plan.cluster.datacenters.size() > 1 ? "" : "the cluster has one datacenter";
    const KeyRow &row = rowOf(&Placement::mode);
    std::vector<Choice<Placement>> choices;
    for (const Choice<KeyValue> &mode : choicesOf(row, plan, alone)) {
        Placement placement = plan.placement;
        placement.mode = static_cast<PlacementMode>(*mode.value);
        placement.stages.clear();
        choices.push_back({ placement, mode.key, mode.label, mode.blocked });
    }
    if (!plan.placement.stages.empty()) {
        std::string label = "pinned";
        for (const StagePin &pin : plan.placement.stages)
            label += (&pin == &plan.placement.stages.front() ? " " : "+") + std::to_string(pin.stages);
        choices.push_back({ plan.placement, "pinned", label, {} });
    }
    addGroup(out, plan, row, choices, plan.placement, [](Plan &p, const Placement &next) { p.placement = next; });
}

void addPrecision(Alternatives &out, const Plan &plan, const Catalogue &catalogue)
{
    const KeyRow &row = rowOf(&WorkloadSpec::precision);
    Choices choices = choicesOf(row, plan);
    for (Choice<KeyValue> &c : choices) {
        c.label = c.key;
        for (const Datacenter &datacenter : plan.cluster.datacenters) {
            for (const Pool &pool : datacenter.pools) {
                const GpuSpec *gpu = gpuOf(pool, catalogue);
                if (gpu && gpu->peakTflops[std::size_t(*c.value)] <= 0)
                    c.blocked = gpu->name + " has no " + c.key + " units";
            }
        }
    }
    addChoices(out, plan, row, choices);
}

void addStack(Alternatives &out, const Plan &plan, const Catalogue &catalogue)
{
    std::vector<Choice<Stack>> choices;
    for (const StackSpec &spec : catalogue.stacks)
        if (spec.id != plan.stack.name || plan.stack.overrides.empty())
            choices.push_back({ Stack { spec.id, {}, spec.id == plan.stack.name ? plan.stack.release : std::string() },
                spec.id, spec.name.empty() ? spec.id : spec.name, {} });
    if (!plan.stack.overrides.empty() || !catalogue.stack(plan.stack.name))
        choices.push_back({ plan.stack, plan.stack.name + "+", plan.stack.name + ", adjusted", {} });
    addGroup(out, plan, rowOf(&Stack::name), choices, plan.stack, [](Plan &p, const Stack &s) { p.stack = s; });
}

/// Releases of the plan's stack, newest first, where any are known.
void addRelease(Alternatives &out, const Plan &plan, const Catalogue &catalogue)
{
    const StackSpec *stack = catalogue.stack(plan.stack.name);
    if (!stack || stack->releases.empty())
        return;
    std::vector<Choice<std::string>> choices { { "", "null", "not named", {} } };
    for (auto release = stack->releases.rbegin(); release != stack->releases.rend(); ++release)
        choices.push_back({ release->id, release->id, release->id, {} });
    addGroup(out, plan, rowOf(&Stack::release), choices, plan.stack.release,
        [](Plan &p, const std::string &r) { p.stack.release = r; });
}

} // namespace

std::vector<Alternative> strategyAlternatives(const Plan &plan, const Catalogue &catalogue, const ModelSpec *model)
{
    if (!model)
        model = plan.workload.inlineModel ? &*plan.workload.inlineModel : catalogue.model(plan.workload.model);
    Alternatives out;
    if (hasJobs(plan)) { // the rest is about one model's iteration, which there is not
        out = jobAlternatives(plan);
        addStack(out, plan, catalogue);
        addRelease(out, plan, catalogue);
        addBubbleFill(out, plan, catalogue, nullptr);
        offerRest(out, plan, nullptr);
        return out;
    }
    addTensor(out, plan, model);
    addPipeline(out, plan, model);
    addData(out, plan);
    addVirtual(out, plan, model);
    addContext(out, plan);
    addSequenceParallel(out, plan);
    addZero(out, plan);
    addSchedule(out, plan);
    addMicroBatch(out, plan);
    addPlacement(out, plan);
    addWanStrategies(out, plan);
    addMemoryStrategies(out, plan, model);
    addActivationOffload(out, plan);
    addMixedGpus(out, plan);
    addExperts(out, plan, model);
    addPrecision(out, plan, catalogue);
    addStack(out, plan, catalogue);
    addRelease(out, plan, catalogue);
    addBubbleFill(out, plan, catalogue, model);
    offerRest(out, plan, model);
    if (!stageFacts(plan).hasLayers)
        blockWhatIsMeasured(out);
    return out;
}

} // namespace trainyard
