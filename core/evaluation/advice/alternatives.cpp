// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/alternatives.h"

#include "core/engine/schedule/traits.h"
#include "core/evaluation/advice/alternatives_internal.h"
#include "core/facts/plan/plan_io.h"
#include "core/iteration/placement/degrees.h"
#include "core/iteration/placement/stage_source.h"

#include <algorithm>
#include <map>
#include <set>

namespace trainyard {

namespace {

using detail::addGroup;
using detail::Choice;
using detail::numbers;
using detail::powersOfTwo;

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

void addTensor(std::vector<Alternative> &out, const Plan &plan, const ModelSpec *model)
{
    const int node = largestNode(plan.cluster);
    std::set<int> values = powersOfTwo(std::max(8, node));
    values.insert(degreesOf(plan).tensor);
    std::vector<Choice<int>> choices = numbers(values);
    for (Choice<int> &c : choices) {
        if (!canHoldGroup(plan.cluster, c.value))
            c.blocked = "no node holds " + c.key + " GPUs, nor do whole nodes of a pool make them up";
        else if (model && model->heads % c.value != 0)
            c.blocked = std::to_string(model->heads) + " attention heads do not divide by " + c.key;
    }
    addGroup(out, plan, "tensor", "Tensor parallel", choices, degreesOf(plan).tensor, [](Plan &p, int t) {
        p.parallelism.tensor = t;
        if (t == 1)
            p.parallelism.sequenceParallel.reset();
    });
}

void addPipeline(std::vector<Alternative> &out, const Plan &plan, const ModelSpec *model)
{
    const Degrees now = degreesOf(plan);
    const int most = std::max(1, plan.cluster.gpus() / std::max(1, now.tensor * now.context));
    const int layers = model ? model->layers : 128;
    std::set<int> values = powersOfTwo(layers);
    for (int p = 1; model && p <= layers; ++p)
        if (layers % p == 0)
            values.insert(p);
    values.insert({ std::max(1, now.pipeline - 1), now.pipeline, now.pipeline + 1 });
    std::vector<Choice<int>> choices = numbers(values);
    for (Choice<int> &c : choices) {
        if (model && stageFacts(plan).hasLayers && c.value * now.chunks > layers)
            c.blocked = "the model has " + std::to_string(layers) + " layers";
        else if (c.value > most)
            c.blocked = c.key + " stages need " + std::to_string(c.value * now.tensor * now.context)
                + " GPUs, the cluster has " + std::to_string(plan.cluster.gpus());
    }
    addGroup(out, plan, "pipeline", "Pipeline stages", choices, now.pipeline, [](Plan &p, int stages) {
        p.parallelism.pipeline = stages;
        p.placement.stages.clear(); // pins count stages; they cannot hold for another number
        if (stages > 1)
            p.heterogeneity.accumulation = Accumulation::Standard; // layered goes through whole models
        if (stages == 1) {
            p.parallelism.virtualPipeline = 1;
            p.schedule = scheduleForChunks(p.schedule, 1);
        }
    });
}

void addData(std::vector<Alternative> &out, const Plan &plan)
{
    const Degrees now = degreesOf(plan);
    const int group = std::max(1, now.tensor * now.pipeline * now.context);
    const int most = plan.cluster.gpus() / group;
    std::set<int> values;
    for (int d = most; d >= 1; d /= 2)
        values.insert(d);
    if (now.data)
        values.insert({ std::max(1, *now.data - 1), *now.data, *now.data + 1 });
    std::vector<Choice<Auto<int>>> choices { { std::nullopt, "auto", "auto", {} } };
    for (const int d : values) {
        const std::string text = std::to_string(d);
        std::string blocked;
        if (d > most)
            blocked = text + " replicas need " + std::to_string(d * group) + " GPUs, the cluster has "
                + std::to_string(plan.cluster.gpus());
        else if (d > plan.workload.globalBatch && plan.workload.globalBatch > 0)
            blocked = "the global batch has " + std::to_string(plan.workload.globalBatch) + " sequences";
        choices.push_back({ d, text, text, blocked });
    }
    addGroup(
        out, plan, "data", "Data parallel", choices, now.data, [](Plan &p, Auto<int> d) { p.parallelism.data = d; });
}

void addContext(std::vector<Alternative> &out, const Plan &plan)
{
    const Degrees now = degreesOf(plan);
    std::set<int> values = powersOfTwo(16);
    values.insert(now.context);
    std::vector<Choice<int>> choices = numbers(values);
    for (Choice<int> &c : choices) {
        if (c.value * now.tensor * now.pipeline > plan.cluster.gpus())
            c.blocked = "one replica would need " + std::to_string(c.value * now.tensor * now.pipeline) + " GPUs";
        else if (plan.workload.sequenceLength % (2 * c.value) != 0 && c.value > 1)
            c.blocked = "a sequence of " + std::to_string(plan.workload.sequenceLength)
                + " tokens does not divide into " + std::to_string(2 * c.value) + " balanced pieces";
    }
    addGroup(out, plan, "context", "Context parallel", choices, now.context,
        [](Plan &p, int c) { p.parallelism.context = c; });
}

void addVirtual(std::vector<Alternative> &out, const Plan &plan, const ModelSpec *model)
{
    const int own = plan.parallelism.virtualPipeline, stages = degreesOf(plan).pipeline;
    std::set<int> values { 1, 2, 3, 4, 6, 8, own };
    std::vector<Choice<int>> choices = numbers(values);
    const ScheduleTraits &schedule =
        traitsOf(plan.schedule); // a number of chunks belongs to it where they are not dealt in a loop
    for (Choice<int> &c : choices) {
        if (c.value > 1 && stages < 2)
            c.blocked = "interleaving needs at least 2 pipeline stages";
        else if (!schedule.isLoop() && !schedule.chunks.accepts(schedule.chunksPerStage(c.value)))
            c.blocked = std::string(toString(plan.schedule)) + " has another number of chunks per stage";
        else if (model && stageFacts(plan).hasLayers && model->layers < c.value * stages)
            c.blocked = std::to_string(stages) + " stages of " + c.key + " chunks need "
                + std::to_string(c.value * stages) + " layers, the model has " + std::to_string(model->layers);
    }
    addGroup(out, plan, "virtual", "Virtual stages", choices, own, [](Plan &p, int v) {
        p.parallelism.virtualPipeline = v;
        p.schedule = scheduleForChunks(p.schedule, v);
    });
}

void addSequenceParallel(std::vector<Alternative> &out, const Plan &plan)
{
    const std::string needs =
        degreesOf(plan).tensor > 1 ? "" : "it splits along the tensor-parallel group, and tensor parallelism is 1";
    const std::vector<Choice<bool>> choices { { false, "false", "off", needs }, { true, "true", "on", needs } };
    addGroup(out, plan, "sequence_parallel", "Sequence parallel", choices, degreesOf(plan).isSequenceParallel,
        [](Plan &p, bool on) { p.parallelism.sequenceParallel = on; });
}

void addZero(std::vector<Alternative> &out, const Plan &plan)
{
    static const char *const kLabels[] = { "0 · off", "1 · optimizer", "2 · gradients", "3 · weights" };
    std::vector<Choice<int>> choices;
    for (int stage = 0; stage <= 3; ++stage)
        choices.push_back({ stage, std::to_string(stage), kLabels[stage], {} });
    addGroup(out, plan, "zero", "ZeRO stage", choices, degreesOf(plan).zeroStage,
        [](Plan &p, int z) { p.parallelism.zeroStage = z; });
}

void addSchedule(std::vector<Alternative> &out, const Plan &plan)
{
    std::vector<Choice<ScheduleKind>> choices;
    const bool idle = degreesOf(plan).pipeline < 2;
    for (const ScheduleTraits *schedule : allSchedules())
        choices.push_back({ schedule->kind, toString(schedule->kind), schedule->label,
            idle ? "there is one pipeline stage, so nothing to schedule" : "" });
    addGroup(out, plan, "schedule", "Schedule", choices, plan.schedule, [](Plan &p, ScheduleKind kind) {
        p.schedule = kind;
        p.parallelism.virtualPipeline =
            traitsOf(kind).takesSeveralChunks() ? std::max(2, p.parallelism.virtualPipeline) : 1;
    });
}

void addMicroBatch(std::vector<Alternative> &out, const Plan &plan)
{
    const int now = plan.workload.microBatch;
    std::set<int> values = powersOfTwo(8);
    values.insert({ now, now * 2 });
    if (now > 1)
        values.insert(now / 2);
    std::vector<Choice<int>> choices = numbers(values);
    for (Choice<int> &c : choices)
        if (plan.workload.globalBatch > 0 && c.value > plan.workload.globalBatch)
            c.blocked = "the global batch has " + std::to_string(plan.workload.globalBatch) + " sequences";
    addGroup(out, plan, "micro_batch", "Micro-batch", choices, now, [](Plan &p, int b) { p.workload.microBatch = b; });
}

/// A placement that is pinned is a choice of its own, which the others clear.
void addPlacement(std::vector<Alternative> &out, const Plan &plan)
{
    const std::string alone = plan.cluster.datacenters.size() > 1 ? "" : "the cluster has one datacenter";
    std::vector<Choice<Placement>> choices;
    for (const Choice<PlacementMode> &mode : detail::choicesOf<PlacementMode>(alone)) {
        Placement placement = plan.placement;
        placement.mode = mode.value;
        placement.stages.clear();
        choices.push_back({ placement, mode.key, mode.label, mode.blocked });
    }
    if (!plan.placement.stages.empty()) {
        std::string label = "pinned";
        for (const StagePin &pin : plan.placement.stages)
            label += (&pin == &plan.placement.stages.front() ? " " : "+") + std::to_string(pin.stages);
        choices.push_back({ plan.placement, "pinned", label, {} });
    }
    addGroup(out, plan, "placement", "Placement", choices, plan.placement,
        [](Plan &p, const Placement &next) { p.placement = next; });
}

void addPrecision(std::vector<Alternative> &out, const Plan &plan, const Catalogue &catalogue)
{
    std::vector<Choice<Precision>> choices;
    for (int i = 0; i < kPrecisionCount; ++i) {
        const auto precision = static_cast<Precision>(i);
        std::string blocked;
        for (const Datacenter &datacenter : plan.cluster.datacenters) {
            for (const Pool &pool : datacenter.pools) {
                const GpuSpec *gpu = pool.inlineGpu ? &*pool.inlineGpu : catalogue.gpu(pool.gpu);
                if (gpu && gpu->peakTflops[i] <= 0)
                    blocked = gpu->name + " has no " + toString(precision) + " units";
            }
        }
        choices.push_back({ precision, toString(precision), toString(precision), blocked });
    }
    addGroup(out, plan, "precision", "Precision", choices, plan.workload.precision,
        [](Plan &p, Precision v) { p.workload.precision = v; });
}

void addStack(std::vector<Alternative> &out, const Plan &plan, const Catalogue &catalogue)
{
    std::vector<Choice<Stack>> choices;
    for (const StackSpec &spec : catalogue.stacks)
        if (spec.id != plan.stack.name || plan.stack.overrides.empty())
            choices.push_back({ Stack { spec.id, {}, spec.id == plan.stack.name ? plan.stack.release : std::string() },
                spec.id, spec.name.empty() ? spec.id : spec.name, {} });
    if (!plan.stack.overrides.empty() || !catalogue.stack(plan.stack.name))
        choices.push_back({ plan.stack, plan.stack.name + "+", plan.stack.name + ", adjusted", {} });
    addGroup(out, plan, "stack", "Software", choices, plan.stack, [](Plan &p, const Stack &s) { p.stack = s; });
}

/// Releases of the plan's stack, newest first, where any are known.
void addRelease(std::vector<Alternative> &out, const Plan &plan, const Catalogue &catalogue)
{
    const StackSpec *stack = catalogue.stack(plan.stack.name);
    if (!stack || stack->releases.empty())
        return;
    std::vector<Choice<std::string>> choices { { "", "null", "not named", {} } };
    for (auto release = stack->releases.rbegin(); release != stack->releases.rend(); ++release)
        choices.push_back({ release->id, release->id, release->id, {} });
    addGroup(out, plan, "release", "Release of the software", choices, plan.stack.release,
        [](Plan &p, const std::string &r) { p.stack.release = r; });
}

/// Measured stage times are those of one stage and one micro-batch, whatever these say; other values would need other
/// measurements.
void blockWhatTheProfileFixes(std::vector<Alternative> &out)
{
    static const std::map<std::string, const char *> kFixed { { "tensor", "tensor parallel is" },
        { "pipeline", "the number of stages is" }, { "virtual", "chunks per stage are" },
        { "context", "context parallel is" }, { "expert", "expert parallel is" },
        { "sequence_parallel", "sequence parallel is" }, { "zero", "ZeRO is" }, { "micro_batch", "the micro-batch is" },
        { "precision", "the precision is" }, { "stack", "the software is" }, { "release", "the software is" },
        { "recompute_layers", "what is recomputed is" }, { "recompute_norms", "what is recomputed is" },
        { "recompute_activation_function", "what is recomputed is" }, { "optimizer", "the optimizer is" },
        { "optimizer_offload", "where states lie is" }, { "delayed_update", "the update is" },
        { "parameter_offload", "where weights lie is" }, { "saved_activation_bits", "what is saved is" },
        { "fp8_activations", "what is saved is" }, { "activation_offload", "where activations lie is" },
        { "offload_fraction", "where activations lie is" }, { "offload_policy", "where activations lie is" },
        { "share_states", "where states lie is" }, { "share_layers", "layers of a stage are" },
        { "accumulation", "the order of work is" }, { "expert_tensor", "tensor parallel in experts is" },
        { "dispatch", "how tokens travel is" }, { "overlap_chunks", "how tokens travel is" },
        { "pipeline_backward", "how tokens travel is" }, { "shared_expert_overlap", "how tokens travel is" },
        { "expert_overlap", "how tokens travel is" }, { "capacity_factor", "the experts' room is" },
        { "moe_baseline", "how tokens are ordered is" }, { "permute", "what is kept of experts is" },
        { "recompute_up_projection", "what is recomputed is" }, { "recompute_shared_experts", "what is recomputed is" },
        { "offload_expert_input", "where activations lie is" } };
    for (Alternative &a : out) {
        const auto fixed = kFixed.find(a.group);
        if (a.isCurrent || !a.plan || fixed == kFixed.end())
            continue;
        a.plan.reset();
        a.blockedBecause = std::string(kMeasured) + ": " + fixed->second + " fixed";
    }
}

} // namespace

std::vector<Alternative> strategyAlternatives(const Plan &plan, const Catalogue &catalogue, const ModelSpec *model)
{
    if (!model)
        model = plan.workload.inlineModel ? &*plan.workload.inlineModel : catalogue.model(plan.workload.model);
    std::vector<Alternative> out;
    if (hasJobs(plan)) { // the rest is about one model's iteration, which there is not
        out = jobAlternatives(plan);
        addStack(out, plan, catalogue);
        addRelease(out, plan, catalogue);
        detail::addBubbleFill(out, plan, catalogue, nullptr);
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
    detail::addWanStrategies(out, plan);
    detail::addMemoryStrategies(out, plan, model);
    detail::addActivationOffload(out, plan);
    detail::addMixedGpus(out, plan);
    detail::addExperts(out, plan, model);
    addPrecision(out, plan, catalogue);
    addStack(out, plan, catalogue);
    addRelease(out, plan, catalogue);
    detail::addBubbleFill(out, plan, catalogue, model);
    if (!stageFacts(plan).hasLayers)
        blockWhatTheProfileFixes(out);
    return out;
}

} // namespace trainyard
