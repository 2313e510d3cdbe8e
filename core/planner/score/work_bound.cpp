// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/score/work_bound.h"

#include "core/engine/schedule/traits.h"
#include "core/facts/plan/jobs.h"
#include "core/facts/plan/key_list.h"
#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/placement/location_book.h"
#include "core/iteration/placement/place.h"
#include "core/iteration/placement/pool_parts.h"
#include "core/iteration/placement/resolve.h"
#include "core/planner/score/parts.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace trainyard {

namespace {

/// What times of layers do not depend on.
std::vector<std::string> ignoredKeys()
{
    return pathsOf(&Parallelism::data, &Parallelism::pipeline, &Placement::mode, &Placement::stages, &Placement::layers,
        &Heterogeneity::layers, &Heterogeneity::state);
}

bool isKnown(const Plan &plan)
{
    const auto hasOwnSize = [](const RankPin &pin) { return pin.microBatch.has_value(); };
    // Replicas that go layer by layer may have micro-batches of any size.
    const bool mayHaveAnySize =
        plan.heterogeneity.isLayered() && plan.heterogeneity.compute == ComputeSharing::Balanced;
    return !hasJobs(plan) && !plan.jobGrid && stageFacts(plan).hasLayers && !plan.layerProfiles && !mayHaveAnySize
        && std::ranges::none_of(plan.heterogeneity.assign, hasOwnSize);
}

/// Whether what operations are told to compute is what Metrics counts as computing: not where two run as one, nor where
/// gathers of parameters in between are taken out.
bool tellsComputing(const Plan &plan)
{
    return !traitsOf(plan).pairs && plan.parallelism.zeroStage < 3;
}

bool mayUse(const Plan &plan, int datacenter)
{
    if (plan.placement.mode == PlacementMode::DataAcross) // which no pin is about
        return true;
    const std::vector<StagePin> &pins = plan.placement.stages;
    const std::string &id = plan.cluster.datacenters[std::size_t(datacenter)].id;
    return pins.empty() || std::ranges::find(pins, id, &StagePin::datacenter) != pins.end();
}

} // namespace

int leastGpusOf(const Plan &plan)
{
    const Parallelism &p = plan.parallelism;
    int tensor = p.tensor;
    for (const RankPin &pin : plan.heterogeneity.assign)
        tensor = std::min(tensor, pin.tensor.value_or(tensor));
    return tensor * p.pipeline * p.context * p.data.value_or(1);
}

WorkBound::WorkBound(const SearchSpace &space, const Catalogue &catalogue)
    : m_space(space)
    , m_catalogue(catalogue)
    , m_axes(space, ignoredKeys())
{
}

/// For replicas of unequal GPUs that may have micro-batches of other sizes (own_sizes.cpp): of each pool what is least
/// for as many samples as the plan's micro-batch has.
std::vector<WorkBound::Groups> WorkBound::groupsOf(const PlanPtr &plan) const
{
    if (!isKnown(*plan))
        return {};
    const int now = plan->workload.microBatch;
    std::vector<Groups> all = groupsOfSize(plan, now);
    if (plan->heterogeneity.compute == ComputeSharing::Balanced && !all.empty())
        for (const int size : { now / 4, now / 2, 2 * now, 4 * now, 8 * now }) {
            if (size < 1 || size > plan->workload.globalBatch)
                continue;
            const std::vector<Groups> other = groupsOfSize(plan, size);
            const double share = double(now) / size;
            for (std::size_t i = 0; i < std::min(all.size(), other.size()); ++i) {
                all[i].layers = std::min(all[i].layers, share * other[i].layers);
                all[i].embedding = std::min(all[i].embedding, share * other[i].embedding);
                all[i].head = std::min(all[i].head, share * other[i].head);
            }
        }
    std::ranges::stable_sort(all, {}, &Groups::layers);
    return all;
}

std::vector<WorkBound::Groups> WorkBound::groupsOfSize(const PlanPtr &plan, int microBatch) const
{
    std::vector<Groups> all;
    auto whole = std::make_shared<Plan>(*plan); // one stage of all layers, wherever it is
    whole->parallelism.pipeline = 1;
    whole->parallelism.data.reset();
    whole->placement = {};
    whole->workload.microBatch = microBatch;
    // Gathers beside computing slow it, by more or less as replicas share the parameters.
    whole->parallelism.zeroStage = std::min(whole->parallelism.zeroStage, 1);
    auto asked = resolve(whole, m_catalogue);
    if (!asked || asked->model.isMoe() || traitsOf(*plan).isSliced())
        return all;
    WorkloadInTurn turns(*std::move(asked));
    const Workload &workload = turns.now();
    for (const PoolPart &part : poolParts(*plan)) {
        const int groups = part.gpus / std::max(1, part.tensor * workload.degrees.context);
        if (groups == 0)
            continue;
        Layout layout;
        layout.data = 1;
        // What is done once an iteration is shared by as many as there are.
        layout.classes = { { 0, 1, totalMicroBatches(*whole), { part.at } } };
        layout.chunks = splitLayers(workload.model, 1, 1);
        StageCoster coster(turns.at(std::move(layout)));
        const StageCoster::Layers layers = coster.layers(workload.layout.classes.front(), 0);
        all.push_back({ part.at.datacenter, groups, workload.model.layers * layers.dense.computing().value,
            layers.embedding.computing().value, layers.head.computing().value,
            part.tensor * workload.degrees.context });
        if (!(all.back().layers > 0))
            return {};
    }
    return all;
}

LeastWork WorkBound::of(const Candidate &candidate)
{
    LeastWork least;
    if (!m_axes.isWhole())
        return least;
    const PlanPtr plan = m_space.plan(candidate);
    const Parallelism &p = plan->parallelism;
    least.gpus = leastGpusOf(*plan);
    const std::uint64_t number = m_axes.numberOf(candidate);
    const std::vector<Groups> *groups = m_groups.find(number);
    if (!groups)
        groups = &m_groups.add(number, groupsOf(plan));
    const int microBatches = totalMicroBatches(*plan);
    std::int64_t left = std::int64_t(p.pipeline) * p.data.value_or(microBatches); // more replicas have no work
    constexpr double kNone = std::numeric_limits<double>::infinity();
    double pace = 0, embedding = kNone, head = kNone;
    double computingLayers = kNone, computingEmbedding = kNone, computingHead = kNone;
    for (const Groups &one : *groups) {
        if (!mayUse(*plan, one.datacenter))
            continue;
        computingLayers = std::min(computingLayers, one.gpus * one.layers);
        computingEmbedding = std::min(computingEmbedding, one.gpus * one.embedding);
        computingHead = std::min(computingHead, one.gpus * one.head);
        const auto count = std::min<std::int64_t>(left, one.count);
        left -= count;
        pace += double(count) / one.layers;
        embedding = std::min(embedding, one.embedding / one.layers);
        head = std::min(head, one.head / one.layers);
    }
    if (pace > 0)
        least.seconds = kOfRounded * microBatches * (1 + embedding + head) / pace;
    if (pace > 0 && tellsComputing(*plan))
        least.computing = kOfRounded * microBatches * (computingLayers + computingEmbedding + computingHead);
    return least;
}

} // namespace trainyard
