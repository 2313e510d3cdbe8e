// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/problems/offload_problems.h"

#include "core/base/words.h"
#include "core/evaluation/evaluate/problems/fix_of.h"
#include "core/facts/plan/plan_io.h"
#include "core/iteration/offload/layer_policy.h"
#include "core/iteration/offload/settings.h"
#include "core/iteration/placement/activations_leave.h"

#include <algorithm>

namespace trainyard {

namespace {

std::string poolKey(int datacenter, int pool, const char *key)
{
    return "cluster.datacenters[" + std::to_string(datacenter) + "].pools[" + std::to_string(pool) + "]." + key;
}

const char *whereOf(const MemoryStrategy &memory)
{
    return onlyExpertInputLeaves(memory) ? "memory.offload_expert_input" : "memory.activation_offload";
}

/// Pools that serve a stage and have nowhere to put its activations.
bool addMissingActivationDrives(
    std::vector<Problem> &problems, const Workload &workload, const OffloadSettings &settings)
{
    const bool blocks =
        recomputesByPolicy(*workload.plan) && workload.plan->memory.offloadPolicy != OffloadPolicy::Memo;
    std::vector<std::pair<int, int>> named;
    for (const GpuRun &run : workload.layout.runs) {
        const std::pair at(run.datacenter, run.pool);
        const Pool &pool = workload.pool({ run.datacenter, run.pool });
        const PoolRates rates = poolRates(workload, { run.datacenter, run.pool }, settings);
        const bool hasWay = rates.gpu > 0 && rates.nodeWrite.value_or(1) > 0 && rates.nodeRead.value_or(1) > 0;
        if (hasWay || std::ranges::find(named, at) != named.end())
            continue;
        named.push_back(at);
        problems.push_back({ Severity::Warning,
            "Pool " + pool.id + " has no " + (rates.nodeWrite ? "drives" : "way to host memory") + ": "
                + (blocks ? "nothing of its layers can be swapped" : "its activations stay on the GPU"),
            poolKey(at.first, at.second, rates.nodeWrite ? "ssd" : "host"), {} });
    }
    return !named.empty();
}

void addRetention(std::vector<Problem> &problems, const Workload &workload)
{
    std::vector<std::pair<int, int>> named;
    for (const GpuRun &run : workload.layout.runs) {
        const std::pair at(run.datacenter, run.pool);
        const Pool &pool = workload.pool({ run.datacenter, run.pool });
        if (!pool.ssd || pool.ssd->retentionGain <= 1 || std::ranges::find(named, at) != named.end())
            continue;
        named.push_back(at);
        problems.push_back({ Severity::Note,
            "The life of the drives of pool " + pool.id
                + " counts on cells that hold data for a day: what lies on them without power for longer may be lost",
            poolKey(at.first, at.second, "ssd.retention_gain"), {} });
    }
}

std::string percent(double share)
{
    return formatted("%.3g %%", 100 * share);
}

/// What MEMO, KARMA or ProTrain do in this plan's timeline, on the stage that would hold most.
std::string policySentence(const Plan &plan, const OffloadMetrics &offload)
{
    const auto layers = [](int count, const char *what) { return counted(count, "layer") + " " + what; };
    std::string text =
        labelOf(plan.memory.offloadPolicy) + std::string(" on stage ") + std::to_string(offload.policyStage + 1) + ": ";
    if (offload.tokenShare && offload.layersSwapped > 0)
        text += "of " + layers(offload.layersSwapped, "input and attention output leave, and ")
            + percent(*offload.tokenShare) + " of the tokens of the other tensors; "
            + layers(offload.layersKept, offload.layersKept == 1 ? "stays" : "stay");
    else if (plan.memory.offloadPolicy == OffloadPolicy::Memo)
        text += "nothing leaves, since the last two layers of a virtual stage never do or nothing can be moved";
    else if (offload.layersSwapped + offload.layersRecomputed == 0)
        text += "all " + layers(offload.layersKept, "stay, since there is room for them");
    else
        text += layers(offload.layersKept, offload.layersKept == 1 ? "stays, " : "stay, ")
            + std::to_string(offload.layersSwapped) + (offload.layersSwapped == 1 ? " is swapped, " : " are swapped, ")
            + std::to_string(offload.layersRecomputed) + " computed again";
    if (offload.recompute > 0)
        text += formatted("; %.3g s per iteration recompute", offload.recompute);
    return text;
}

void addPolicy(std::vector<Problem> &problems, const Plan &plan, const std::optional<OffloadMetrics> &offload)
{
    if (std::string why = whyPolicyRests(plan); !why.empty()) {
        Problem problem { Severity::Warning, std::move(why), "memory.offload_policy", {} };
        if (plan.memory.recompute != Recompute::None)
            problem.fixes.push_back(
                fixOf(plan, "Leave recomputation to " + std::string(labelOf(plan.memory.offloadPolicy)), [](Plan &p) {
                    p.memory.recompute = Recompute::None;
                    p.memory.recomputeLayers.reset();
                }));
        problem.fixes.push_back(
            fixOf(plan, "SSDTrain's rule", [](Plan &p) { p.memory.offloadPolicy = OffloadPolicy::SsdTrain; }));
        problems.push_back(std::move(problem));
        return;
    }
    if (!recomputesByPolicy(plan))
        return;
    if (offload)
        problems.push_back({ Severity::Note, policySentence(plan, *offload), "memory.offload_policy", {} });
    if (plan.memory.offloadFraction && plan.memory.offloadPolicy != OffloadPolicy::Memo)
        problems.push_back({ Severity::Note,
            std::string(labelOf(plan.memory.offloadPolicy))
                + " decides by the room for activations: the offloaded share has no effect",
            "memory.offload_fraction", {} });
}

/// Where little or nothing comes of it, and why; where the training waits for it.
void addEffect(
    std::vector<Problem> &problems, const Evaluation &evaluation, const Plan &plan, const OffloadMetrics &offload)
{
    constexpr int kSmallTensor = 1048576; // elements: Megatron's fine-grained offload
    constexpr double kMuch = 0.25, kLittle = 0.02, kWaits = 0.01;
    const bool byRule = !recomputesByPolicy(plan);
    const auto with = [&](const char *label, auto change) {
        return std::vector { fixOf(plan, label, [&](Plan &p) { change(p.memory); }) };
    };
    if (byRule && offload.smallShare > kMuch && plan.memory.offloadMinElements > kSmallTensor)
        problems.push_back({ Severity::Note,
            percent(offload.smallShare) + " of what could leave stays on the GPU: tensors of fewer than "
                + std::to_string(plan.memory.offloadMinElements) + " elements",
            "memory.offload_min_elements", with("Let tensors of 1,048,576 elements leave", [](MemoryStrategy &m) {
                m.offloadMinElements = kSmallTensor;
            }) });
    else if (byRule && offload.bytesPerGpu == 0)
        problems.push_back({ Severity::Note, "No activation can leave and be back in time: all stay on the GPU",
            "memory.activation_offload", {} });
    if (offload.bytesPerGpu > 0 && offload.activationPeakReduction < kLittle)
        problems.push_back({ Severity::Note,
            formatted("%.3g", offload.bytesPerGpu * 1e-9)
                + " GB leave a GPU per iteration, and its activations peak only "
                + percent(std::max(0.0, offload.activationPeakReduction)) + " lower",
            "memory.activation_offload",
            byRule ? with(
                "Keep activations on the GPU", [](MemoryStrategy &m) { m.activationOffload = ActivationOffload::None; })
                   : with("SSDTrain's rule", [](MemoryStrategy &m) { m.offloadPolicy = OffloadPolicy::SsdTrain; }) });
    if (byRule && offload.stall > kWaits * evaluation.metrics.iterationTime.value_or(0) && plan.memory.offloadFraction)
        problems.push_back({ Severity::Warning,
            "Backward waits " + formatted("%.3g", offload.stall) + " s per iteration for what left the GPU",
            "memory.offload_fraction",
            with("As much as hides: share auto", [](MemoryStrategy &m) { m.offloadFraction.reset(); }) });
}

/// Drives that are worn out before the training ends.
void addWear(std::vector<Problem> &problems, const Evaluation &evaluation, const OffloadMetrics &offload)
{
    const Metric &days = evaluation.metrics.cost.daysTotal;
    if (!offload.ssdLifetimeYears || !days || *offload.ssdLifetimeYears * 365.25 >= *days)
        return;
    const MemoryStrategy &memory = evaluation.plan->memory;
    const char *where = memory.activationOffload == ActivationOffload::Ssd ? "memory.activation_offload"
        : memory.optimizerOffload == OptimizerOffload::Ssd                 ? "memory.optimizer_offload"
                                                                           : "memory.parameter_offload";
    const double life = *offload.ssdLifetimeYears * 365.25, sets = *days / life;
    if (life * 86400 < evaluation.metrics.iterationTime.value_or(0)) {
        problems.push_back({ Severity::Warning, "The drives are worn out before one iteration ends", where, {} });
        return;
    }
    std::string sentence =
        formatted("The drives last %.3g days and the training takes %.3g: %.2g sets of drives", life, *days, sets);
    if (offload.ssdUsdPerGpu)
        sentence += formatted(", $%.3g per GPU, which the cost does not count", sets * *offload.ssdUsdPerGpu);
    problems.push_back({ Severity::Warning, std::move(sentence), where, {} });
}

} // namespace

void addOffloadProblems(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload)
{
    const OffloadSettings settings = offloadSettings(workload);
    if (evaluation.metrics.offload)
        addWear(problems, evaluation, *evaluation.metrics.offload);
    if (settings.target == ActivationOffload::None
        || (onlyExpertInputLeaves(workload.plan->memory) && !workload.model.isMoe()))
        return;
    if (const std::string why = whyActivationsStay(*workload.plan); !why.empty()) {
        problems.push_back({ Severity::Warning, why, whereOf(workload.plan->memory), {} });
        return;
    }
    const bool isMissing = addMissingActivationDrives(problems, workload, settings);
    const auto &offload = evaluation.metrics.offload;
    addPolicy(problems, *workload.plan, offload);
    if (!isMissing && offload && settings.fraction.value_or(1) > 0 && !onlyExpertInputLeaves(workload.plan->memory))
        addEffect(problems, evaluation, *workload.plan, *offload);
    if (settings.target == ActivationOffload::Ssd)
        addRetention(problems, workload);
}

} // namespace trainyard
