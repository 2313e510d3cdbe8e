// SPDX-License-Identifier: GPL-3.0-or-later
// Pins of shares: entries of `heterogeneity.assign` about one pool are laid out GPU by GPU, changed, and put together
// again, so that pins of other GPUs stay where they are.
#include "models/gpu_shares.h"

#include <algorithm>

namespace trainyard {

namespace {

bool pinsShare(const RankPin &pin)
{
    return pin.microBatch || pin.microBatches || pin.stateShare;
}

bool saysNothing(const RankPin &pin)
{
    return !pinsShare(pin) && !pin.tensor;
}

bool isAlike(RankPin a, RankPin b)
{
    a.gpus = b.gpus = std::nullopt;
    return a == b;
}

const Pool &poolAt(const Plan &plan, StageLocation at)
{
    return plan.cluster.datacenters[std::size_t(at.datacenter)].pools[std::size_t(at.pool)];
}

/// Of every GPU of the pool its pin, in their order.
std::vector<RankPin> pinsByGpu(const Plan &plan, StageLocation at)
{
    const Datacenter &place = plan.cluster.datacenters[std::size_t(at.datacenter)];
    const Pool &pool = poolAt(plan, at);
    const auto total = std::size_t(pool.gpus());
    RankPin none;
    none.datacenter = place.id;
    none.pool = pool.id.empty() ? pool.gpu : pool.id;
    std::vector<RankPin> pins;
    for (const RankPin &pin : plan.heterogeneity.assign) {
        if (pin.datacenter != place.id || !pin.isAbout(pool))
            continue;
        RankPin own = pin;
        own.pool = none.pool;
        const std::size_t left = total - std::min(total, pins.size());
        pins.insert(pins.end(), pin.gpus ? std::min(left, std::size_t(*pin.gpus)) : left, own);
    }
    pins.resize(total, none);
    return pins;
}

template <class Change> PlanPtr withChangedPins(const Plan &plan, const PoolGpus &gpus, Change change)
{
    const Datacenter &place = plan.cluster.datacenters[std::size_t(gpus.at.datacenter)];
    const Pool &pool = poolAt(plan, gpus.at);
    std::vector<RankPin> pins = pinsByGpu(plan, gpus.at);
    for (int g = std::max(0, gpus.first); g < std::min(gpus.first + gpus.count, int(pins.size())); ++g)
        change(pins[std::size_t(g)]);
    std::vector<RankPin> entries;
    for (RankPin &pin : pins) {
        pin.gpus.reset();
        if (!entries.empty() && isAlike(entries.back(), pin)) {
            ++*entries.back().gpus;
        } else {
            entries.push_back(pin);
            entries.back().gpus = 1;
        }
    }
    if (!entries.empty() && saysNothing(entries.back()) && entries.back().extra.empty())
        entries.pop_back();
    else if (!entries.empty())
        entries.back().gpus.reset(); // all the others
    Plan next = plan;
    auto &assign = next.heterogeneity.assign;
    const auto isAboutIt = [&](const RankPin &pin) { return pin.datacenter == place.id && pin.isAbout(pool); };
    const auto isAboutOthers = [&](const RankPin &pin) {
        return std::ranges::any_of(
            place.pools, [&](const Pool &other) { return &other != &pool && pin.isAbout(other); });
    };
    const bool isShared =
        std::ranges::any_of(assign, [&](const RankPin &pin) { return isAboutIt(pin) && isAboutOthers(pin); });
    const auto at = std::ranges::find_if(assign, isAboutIt) - assign.begin();
    std::erase_if(assign, [&](const RankPin &pin) { return isAboutIt(pin) && !isAboutOthers(pin); });
    if (isShared && (entries.empty() || entries.back().gpus)) { // an entry about several pools must not reach these
        RankPin rest;
        rest.datacenter = place.id;
        rest.pool = pool.id.empty() ? pool.gpu : pool.id;
        entries.push_back(rest);
    }
    assign.insert(assign.begin() + std::min(at, std::ptrdiff_t(assign.size())), entries.begin(), entries.end());
    return std::make_shared<const Plan>(std::move(next));
}

} // namespace

MicroBatches microBatchesFor(int samples, const GpuShare &share, bool mayResize)
{
    if (samples <= 0)
        return { share.microBatch, 0 };
    if (!mayResize)
        return { share.microBatch, std::max(1, (samples + share.microBatch / 2) / share.microBatch) };
    const int largest = share.largestMicroBatch > 0 ? share.largestMicroBatch : std::max(share.microBatch, samples);
    MicroBatches best { 1, samples };
    const auto distance = [&](int size) { return std::abs(size - share.microBatch); };
    for (int size = 1; size <= std::min(samples, largest); ++size)
        if (samples % size == 0 && distance(size) <= distance(best.size))
            best = { size, samples / size };
    return best;
}

PlanPtr withPin(const Plan &plan, const PoolGpus &gpus, const SharePin &pin)
{
    return withChangedPins(plan, gpus, [&](RankPin &entry) {
        if (pin.work) {
            entry.microBatches = pin.work->count;
            entry.microBatch = pin.setsSize ? std::optional(pin.work->size) : entry.microBatch;
        }
        if (pin.stateShare)
            entry.stateShare = pin.stateShare;
    });
}

PlanPtr withoutPin(const Plan &plan, const PoolGpus &gpus, bool ofWork, bool ofStates)
{
    return withChangedPins(plan, gpus, [&](RankPin &entry) {
        if (ofWork) {
            entry.microBatch.reset();
            entry.microBatches.reset();
        }
        if (ofStates)
            entry.stateShare.reset();
    });
}

PlanPtr withoutPins(const Plan &plan)
{
    Plan next = plan;
    auto &assign = next.heterogeneity.assign;
    for (RankPin &pin : assign) {
        pin.microBatch = pin.microBatches = std::nullopt;
        pin.stateShare.reset();
    }
    if (std::ranges::all_of(assign, saysNothing))
        assign.clear(); // else an entry without a word may still say where the next one begins
    return std::make_shared<const Plan>(std::move(next));
}

bool hasPinnedShares(const Plan &plan)
{
    return std::ranges::any_of(plan.heterogeneity.assign, pinsShare);
}

PlanPtr withBalancedShares(const Plan &plan)
{
    Plan next = plan;
    next.heterogeneity.compute = ComputeSharing::Balanced;
    next.heterogeneity.state = StateSharing::MinParams;
    if (next.parallelism.pipeline > 1 && next.placement.layers.empty())
        next.heterogeneity.layers = LayerSharing::BySpeed;
    return std::make_shared<const Plan>(std::move(next));
}

} // namespace trainyard
