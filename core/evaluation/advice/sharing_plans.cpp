// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/sharing_plans.h"

#include "core/evaluation/advice/sharing_shapes.h"
#include "core/iteration/placement/stage_source.h"

#include <algorithm>

namespace trainyard {

namespace {

struct Described {
    const char *id, *label, *what;
};

Described described(SharingBaseline which)
{
    switch (which) {
    case SharingBaseline::EvenSplit:
        return { "even-split", "Even split (FSDP)",
            "Fully sharded data parallelism as it is (ZeRO-3, arXiv 1910.02054; FSDP, arXiv 2304.11277): every GPU "
            "gets "
            "as many samples, in one micro-batch where they divide, and as much of the states" };
    case SharingBaseline::EvenAccumulated:
        return { "fsdp-accumulation", "FSDP with accumulation",
            "The even split, cut into the largest micro-batch that divides it and fits every GPU" };
    case SharingBaseline::UnevenPipeline:
        return { "uneven-pipeline", "Uneven pipeline",
            "A pipeline whose stages lie on equal GPUs, a node or a GPU type each, with layers by speed (Megatron-Het; "
            "FlashFlex, arXiv 2409.01143; Metis, USENIX ATC 2024)" };
    case SharingBaseline::Whale:
        return { "whale", "Whale",
            "Samples by peak FLOPS in one micro-batch for each GPU, then off GPUs that overflow, with even states "
            "(Whale, arXiv 2011.09208)" };
    case SharingBaseline::Groups:
        return { "groups", "Groups (Zorse-like)",
            "A pipeline of groups of equal GPUs with layers by speed, which shard gradients and optimizer states "
            "inside "
            "(ZeRO-2); Zorse also lets groups differ in size, and GPUs of a group in their samples" };
    case SharingBaseline::Cephalo:
        break;
    }
    return { "cephalo", "Cephalo",
        "Samples and states shared out apart, all micro-batches of a layer before the next layer, inputs of layers in "
        "host memory (arXiv 2411.01075)" };
}

/// Why none of them can be made; empty where they can.
std::string whyNone(const Plan &plan)
{
    if (hasJobs(plan))
        return "several models on shared GPUs have no batch to share out";
    if (!stageFacts(plan).hasLayers)
        return "measured stage times hold for the stages that were measured";
    return {};
}

Expected<Plan> made(SharingBaseline which, const Plan &plan, const RunContext &context)
{
    switch (which) {
    case SharingBaseline::EvenSplit:
        return evenSplit(plan, context);
    case SharingBaseline::EvenAccumulated:
        return evenAccumulated(plan, context);
    case SharingBaseline::UnevenPipeline:
        return unevenPipeline(plan, context);
    case SharingBaseline::Whale:
        return byFlops(plan, context);
    case SharingBaseline::Groups:
        return pipelineOfGroups(plan, context);
    case SharingBaseline::Cephalo:
        break;
    }
    return cephalo(plan);
}

SharingPlan finished(SharingPlan sharing, Expected<Plan> next, const PlanPtr &plan)
{
    if (!next) {
        sharing.whyNot = next.error().what;
        return sharing;
    }
    sharing.isCurrent = *next == *plan;
    sharing.plan = sharing.isCurrent ? plan : std::make_shared<const Plan>(std::move(*next));
    return sharing;
}

} // namespace

SharingPlan sharingBaseline(SharingBaseline which, const PlanPtr &plan, const RunContext &context)
{
    const Described about = described(which);
    SharingPlan sharing { about.id, about.label, about.what, {}, whyNone(*plan),
        "Share as " + std::string(about.label) + " does" };
    if (!sharing.whyNot.empty())
        return sharing;
    return finished(std::move(sharing), made(which, *plan, context), plan);
}

std::vector<SharingPlan> sharingBaselines(const PlanPtr &plan, const RunContext &context)
{
    std::vector<SharingPlan> all;
    for (const SharingBaseline which : kSharingBaselines)
        all.push_back(sharingBaseline(which, plan, context));
    return all;
}

std::vector<SharingPlan> sharingAblations(const PlanPtr &plan, const RunContext &context)
{
    std::vector<SharingPlan> all;
    const std::string why = whyNone(*plan);
    const auto add = [&](const char *id, const char *label, const char *what, auto make) {
        SharingPlan sharing { id, label, what, {}, why, "Share as in the step: " + std::string(label) };
        if (why.empty())
            sharing = finished(std::move(sharing), make(), plan);
        all.push_back(std::move(sharing));
    };
    const auto layered = [&](auto change) {
        return [&plan, change] {
            Plan next = cephalo(*plan);
            change(next.heterogeneity);
            return Expected<Plan>(std::move(next));
        };
    };
    const auto even = [](Heterogeneity &h) {
        h.compute = ComputeSharing::Even;
        h.state = StateSharing::Even;
    };
    add("even-standard", "Even, plain accumulation",
        "Even shares, one micro-batch through all layers after the other: weights are gathered for each",
        [&] { return evenAccumulated(*plan, context); });
    add("even-layered", "+ layer by layer",
        "All micro-batches go through a layer, whose weights are gathered once a pass", layered([&](Heterogeneity &h) {
            even(h);
            h.gatherPrefetch = h.boundaryOffload = false;
        }));
    add("even-prefetch", "+ prefetch", "Weights of the next layer are gathered while a layer computes",
        layered([&](Heterogeneity &h) {
            even(h);
            h.boundaryOffload = false;
        }));
    add("even-offload", "+ host memory", "Inputs of layers wait in host memory, so that samples cost no GPU memory",
        layered(even));
    add("state-alone", "State balance alone", "Even samples, states where there is room",
        layered([](Heterogeneity &h) { h.compute = ComputeSharing::Even; }));
    add("compute-alone", "Compute balance alone", "Samples by speed, even states",
        layered([](Heterogeneity &h) { h.state = StateSharing::Even; }));
    add("both", "Both balanced", "Samples by speed and states where there is room: Cephalo",
        layered([](Heterogeneity &) {}));
    return all;
}

} // namespace trainyard
