// SPDX-License-Identifier: GPL-3.0-or-later
// Keys of a plan that no training framework has an argument for. Whatever a framework was not asked about and is not at
// its default is refused, so that a key that is new in plans is refused too until somebody says how it is launched.
#include "core/runs/launch/launch_internal.h"

#include "core/engine/schedule/traits.h"
#include "core/facts/plan/key_list.h"
#include "core/facts/plan/keys/plan_keys.h"
#include "core/iteration/placement/stage_source.h"

#include <algorithm>
#include <span>

namespace trainyard::launch {

namespace {

/// Visits the keys of a section.
template <class S> struct Otherwise : keys::PlainValues {
    Otherwise(Draft &made, const S &told, std::string named, std::span<const std::string_view> keys)
        : draft(made)
        , own(told)
        , section(std::move(named))
        , handled(keys)
    {
    }
    template <class M> void value(M S::*member, const Key &key) { check(member, key); }
    template <class M> void automatic(M S::*member, const Key &key) { check(member, key); }
    template <class M> void check(M S::*member, const Key &key)
    {
        const std::string path = section + "." + key.name;
        if (own.*member == standard.*member || std::ranges::find(handled, path) != handled.end()
            || (key.applies && !key.applies(draft.plan)))
            return;
        const std::string &usual = planKey(path).standard;
        draft.refuse(path, std::string(draft.name) + " has no argument for it",
            usual.empty() ? "a plan without it" : "its default, " + usual);
    }
    Draft &draft;
    const S &own;
    const S standard {};
    std::string section;
    std::span<const std::string_view> handled;
};

template <class S>
void check(Draft &draft, const S &own, const char *section, std::span<const std::string_view> handled)
{
    Otherwise<S> visitor(draft, own, section, handled);
    keys::describe(visitor, keys::Of<S> {});
}

} // namespace

void Draft::refuse(std::string_view key, std::string what, std::string right)
{
    const bool isTold =
        std::ranges::any_of(errors, [&](const Error &error) { return error.where == key && error.what == what; });
    if (!isTold)
        errors.push_back({ ErrorCode::BadValue, std::string(key), std::move(what), std::move(right) });
}

void Draft::note(std::string sentence)
{
    if (std::ranges::find(notes, sentence) == notes.end())
        notes.push_back(std::move(sentence));
}

bool hasModel(const Plan &plan)
{
    return stageFacts(plan).hasLayers && plan.jobs.empty() && !plan.jobGrid;
}

void refuseWhatNobodyRuns(Draft &draft)
{
    const Plan &plan = draft.plan;
    const std::string name = draft.name;
    if (!stageFacts(plan).hasLayers)
        draft.refuse("profile",
            "measured times of stages stand in for a model, so there is nothing that " + name + " could train",
            "a plan with a `workload.model` and without a `profile`");
    if (!plan.jobs.empty() || plan.jobGrid)
        draft.refuse(plan.jobs.empty() ? "job_grid" : "jobs", name + " trains one model in a run",
            "a plan of one of the models");
    if (plan.bubbleFill.enabled)
        draft.refuse("bubble_fill.enabled", name + " serves nothing in the bubbles of a training", "false");
    const WanStrategy &wan = plan.wan;
    if (plan.cluster.datacenters.size() > 1) {
        if (wan.sharing == WanSharing::Temporal)
            draft.refuse("wan.sharing", "in " + name + " pipelines do not take turns on a link", "spatial");
        if (wan.localSgd != LocalSgd::None)
            draft.refuse("wan.local_sgd", name + " reduces gradients in every step", "none");
        if (wan.activationBits)
            draft.refuse("wan.activation_bits", name + " sends activations as they are computed", "a plan without it");
        if (wan.gradientBits)
            draft.refuse("wan.gradient_bits", name + " sends gradients as they are reduced", "a plan without it");
    }
    const Heterogeneity &h = plan.heterogeneity;
    if (h.compute != ComputeSharing::Even)
        draft.refuse("heterogeneity.compute", name + " gives every replica as many micro-batches of one size", "even");
    if (h.state != StateSharing::Even)
        draft.refuse("heterogeneity.state", name + " divides states evenly", "even");
    if (h.layers != LayerSharing::Even && plan.parallelism.pipeline > 1)
        draft.note("Layers go by the speed of their stages: the arguments tell how many each has");
    if (h.isLayered())
        draft.refuse("heterogeneity.accumulation", name + " runs a micro-batch through all layers, then the next one",
            "standard");
    if (!h.assign.empty())
        draft.refuse("heterogeneity.assign", name + " gives every rank the same", "none");
    if (plan.workload.documentLength)
        draft.refuse("workload.document_length",
            "how long documents are is told by the data, and by no argument of " + name, "a plan without it");
    if (h.compute != ComputeSharing::Even) // unequal shares come of it, and no batch would help
        return;
    const Layout &layout = draft.evaluation.layout;
    for (const PipelineClass &one : layout.classes)
        if (one.microBatches != layout.classes.front().microBatches)
            return draft.refuse("workload.global_batch",
                std::to_string(plan.workload.globalBatch) + " sequences in micro-batches of "
                    + std::to_string(plan.workload.microBatch) + " are not as many for each of "
                    + std::to_string(layout.data) + " replicas, and " + name + " wants that",
                "a multiple of " + std::to_string(plan.workload.microBatch * std::max(1, layout.data)));
}

void refuseOtherKeys(Draft &draft, std::initializer_list<std::string_view> handled)
{
    std::vector<std::string_view> known(handled);
    const auto knows = [&](std::initializer_list<std::string_view> more) {
        known.insert(known.end(), more.begin(), more.end());
    };
    // Asked above, or without meaning where the keys that they go with are not set.
    knows({ "workload.document_length", "workload.sequence_length", "workload.global_batch", "workload.micro_batch",
        "workload.precision", "workload.optimizer", "workload.training_tokens", "parallelism.tensor",
        "parallelism.pipeline", "parallelism.data", "parallelism.context", "parallelism.expert",
        "parallelism.virtual_pipeline", "parallelism.sequence_parallel", "parallelism.zero_stage",
        "parallelism.expert_tensor", "memory.recompute" });
    const Plan &plan = draft.plan;
    if (!traitsOf(plan.schedule).isSliced())
        knows({ "parallelism.token_slices" });
    if (plan.memory.activationOffload == ActivationOffload::None)
        knows({ "memory.offload_fraction", "memory.offload_policy", "memory.offload_min_elements",
            "memory.offload_group", "memory.offload_ahead" });
    if (plan.memory.optimizerOffload == OptimizerOffload::None)
        knows({ "memory.delayed_update" });
    check(draft, plan.workload, "workload", known);
    check(draft, plan.parallelism, "parallelism", known);
    check(draft, plan.memory, "memory", known);
    // How full experts become is the router's business; a prediction's, not a launch's.
    knows({ "moe.imbalance", "moe.load", "moe.communication_sms", "moe.permute" });
    if (draft.model.isMoe())
        check(draft, plan.moe, "moe", known);
}

} // namespace trainyard::launch
