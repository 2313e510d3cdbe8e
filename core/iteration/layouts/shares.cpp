// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/layouts/shares.h"

#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/facts/hardware/gpu_name.h"
#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/layouts/dealt_pipelines.h"
#include "core/iteration/layouts/dealt_states.h"
#include "core/iteration/layouts/layered_shares.h"
#include "core/iteration/layouts/layers_by_speed.h"
#include "core/iteration/layouts/replica_runs.h"
#include "core/iteration/layouts/shares_internal.h"
#include "core/iteration/memory/bounded_memory.h"
#include "core/iteration/placement/activations_leave.h"
#include "core/iteration/placement/class_workload.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

/// A class of pipelines with how fast it is.
struct Paced {
    const PipelineClass *pipelines;
    PipelinePace pace;
    int microBatch = 1;
    std::string gpu; // of its slowest stage
    [[nodiscard]] double perSample() const { return pace.each / microBatch; }
    [[nodiscard]] double end() const { return pace.end(pipelines->microBatches); }
};

std::vector<Paced> pacesOf(const Workload &workload)
{
    ClassWorkloads views(workload);
    std::map<const Workload *, StageCoster> costers; // of views
    std::vector<Paced> paces;
    for (const PipelineClass &c : workload.layout.classes) {
        const Workload &view = views.of(c);
        StageCoster &coster = costers.try_emplace(&view, view).first->second;
        Paced paced { &c, paceOf(view, c, coster), view.plan->workload.microBatch, {} };
        paced.gpu = shortName(workload.gpu(c.locations[std::size_t(paced.pace.slowestStage)]));
        paces.push_back(std::move(paced));
    }
    return paces;
}

/// "2.3 times as fast as the A100".
std::string speedOf(const Paced &paced, const std::vector<Paced> &all)
{
    const auto bySample = [](const Paced &p) { return p.perSample(); };
    const auto slowest = std::ranges::max_element(all, {}, bySample),
               fastest = std::ranges::min_element(all, {}, bySample);
    constexpr double kEqual = 1.005;
    if (slowest->perSample() <= fastest->perSample() * kEqual)
        return "as fast as the others";
    const bool isSlowest = paced.perSample() * kEqual >= slowest->perSample();
    const Paced &other = isSlowest ? *fastest : *slowest;
    const double times = isSlowest ? paced.perSample() / other.perSample() : other.perSample() / paced.perSample();
    const std::string whose = other.gpu == paced.gpu ? "the others" : "the " + other.gpu;
    return isSlowest ? whose + (other.gpu == paced.gpu ? " are " : " is ") + plainText(times) + " times as fast"
                     : plainText(times) + " times as fast as " + whose;
}

std::string memoryOf(const PipelineClass &c, double even)
{
    if (c.stateShare == 0)
        return {};
    constexpr double kMuch = 1.01;
    return c.stateShare > even * kMuch ? ", and has memory for more of the states"
        : c.stateShare * kMuch < even  ? ", and has memory for less of the states"
                                       : "";
}

void noteShares(Workload &workload)
{
    Layout &layout = workload.layout;
    const std::vector<Paced> paces = pacesOf(workload);
    SharedOut &out = layout.shares;
    out.ranks.clear();
    double longest = 0, longestEven = 0;
    const int batch = workload.plan->workload.globalBatch;
    const double evenSamples = std::ceil(double(batch) / layout.data);
    for (const Paced &paced : paces) {
        const PipelineClass &c = *paced.pipelines;
        const double even = 1.0 / stateSharers(workload, c);
        const int shards = workload.degrees.context * workload.degrees.copies;
        if (paced.end() > longest) {
            longest = paced.end();
            out.slowest = int(out.ranks.size());
        }
        longestEven = std::max(longestEven, paced.pace.fill + evenSamples * paced.perSample());
        ReplicaShare share { c.locations[std::size_t(paced.pace.slowestStage)], c.firstPipeline, c.pipelines,
            paced.microBatch * c.microBatches, 0, {} };
        if (workload.degrees.zeroStage >= 1)
            share.stateShare = (c.stateShare > 0 ? c.stateShare : even) * shards;
        share.why = formatted("%s: %d of %d samples", paced.gpu.c_str(), share.samples, batch)
            + (workload.degrees.zeroStage >= 1 ? formatted(", %.3g %% of the states", 100 * share.stateShare) : "")
            + ": " + speedOf(paced, paces) + memoryOf(c, even) + tensorGroupsOf(c.locations)
            + (c.microBatch > 0 ? ", in micro-batches of " + std::to_string(c.microBatch) : "");
        out.ranks.push_back(std::move(share));
    }
    const double layers = std::max(1, workload.model.layers);
    out.layerTime = longest / layers;
    out.evenLayerTime = longestEven / layers;
}

/// As far as memory can be told before there is an order of work: of activations that leave it cannot.
bool allFit(const Workload &workload)
{
    const auto fits = [](const StageMemory &m) { return m.device <= m.capacity; };
    return activationsLeaveTo(workload.plan->memory) != ActivationOffload::None
        || std::ranges::all_of(workload.layout.classes,
            [&](const PipelineClass &c) { return std::ranges::all_of(boundedMemory(workload, c), fits); });
}

/// Whether no micro-batch is partly empty.
bool areFull(const Workload &workload)
{
    std::int64_t samples = 0;
    for (const PipelineClass &c : workload.layout.classes)
        samples += std::int64_t(c.pipelines) * c.microBatches
            * (c.microBatch > 0 ? c.microBatch : workload.plan->workload.microBatch);
    return samples == workload.plan->workload.globalBatch;
}

/// Micro-batches and states, as far as layers are dealt.
void dealReplicas(Workload &workload, const OwnSizes &sizes, bool notes)
{
    dealPipelines(workload, sizes);
    if (workload.layout.shares.why.empty())
        dealStates(workload);
    if (notes && workload.plan->heterogeneity.sharesUnevenly())
        noteShares(workload);
}

} // namespace

bool sharesOut(const Plan &plan)
{
    const Heterogeneity &h = plan.heterogeneity;
    return h.isLayered() || h.sharesUnevenly() || h.layers != LayerSharing::Even;
}

bool dealsTwice(const Plan &plan)
{
    const Heterogeneity &h = plan.heterogeneity;
    return h.isLayered() ? offloadFreesShares(plan) : h.layers == LayerSharing::BySpeed;
}

void shareOut(Workload &workload, bool boldly, bool notes)
{
    if (workload.layout.data == 0)
        return;
    if (workload.plan->heterogeneity.isLayered())
        return shareOutLayered(workload, boldly ? CountedAway::ActivationOffload : CountedAway::Boundaries);
    if (boldly)
        dealLayers(workload);
    dealReplicas(workload, {}, notes);
}

std::vector<Layout> withOwnSizes(Workload &workload, bool notes)
{
    constexpr std::size_t kMost = 3, kMostDealt = 40; // dealing estimates, and each that fits is simulated
    std::vector<Layout> layouts;
    const Heterogeneity &h = workload.plan->heterogeneity;
    if (workload.layout.data == 0 || h.compute != ComputeSharing::Balanced || h.isLayered())
        return layouts;
    std::vector<OwnSizes> all = ownSizes(workload, allFit(workload));
    all.resize(std::min(all.size(), kMostDealt));
    const Layout dealt = workload.layout;
    for (const OwnSizes &sizes : all) {
        dealReplicas(workload, sizes, false);
        if (workload.layout.shares.why.empty() && workload.layout.classes != dealt.classes && areFull(workload)
            && allFit(workload)) {
            if (notes)
                noteShares(workload);
            layouts.push_back(std::move(workload.layout));
        }
        workload.layout = dealt;
        if (layouts.size() == kMost)
            break;
    }
    return layouts;
}

} // namespace trainyard
