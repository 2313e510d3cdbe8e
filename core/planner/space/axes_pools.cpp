// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/axes_pools.h"

#include "core/base/words.h"
#include "core/facts/cluster/pool_gpu.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

namespace {

constexpr std::size_t kMostOrdered = 3; // kinds whose orders are all looked at
constexpr int kTensorMultiples[] = { 1, 2, 4 };

struct GpuKind {
    std::string id, name;
    int gpusPerNode = 0; // of its largest machine
    bool operator==(const GpuKind &) const = default;
};

/// In the order in which the plan has them.
std::vector<GpuKind> kindsOf(const Plan &plan, const Catalogue &catalogue)
{
    std::vector<GpuKind> kinds;
    for (const Datacenter &datacenter : plan.cluster.datacenters) {
        for (const Pool &pool : datacenter.pools) {
            if (pool.gpus() == 0)
                continue;
            const std::string id = gpuIdOf(pool);
            auto known = std::ranges::find(kinds, id, &GpuKind::id);
            if (known == kinds.end()) {
                const GpuSpec *gpu = gpuOf(pool, catalogue);
                known = kinds.insert(kinds.end(), { id, gpu && !gpu->name.empty() ? gpu->name : id, 0 });
            }
            known->gpusPerNode = std::max(known->gpusPerNode, pool.gpusPerNode);
        }
    }
    return kinds;
}

using Order = std::vector<int>; // kinds, first those whose pools come first

/// Pools of kinds that are not in it have no nodes, the others stand in its order. What is equal keeps its order.
void setOrder(Plan &plan, const std::vector<std::string> &ids, const Order &order)
{
    const auto rank = [&](const Pool &pool) {
        const auto kind = std::ranges::find(ids, gpuIdOf(pool)) - ids.begin();
        return std::ranges::find(order, int(kind)) - order.begin();
    };
    for (Datacenter &datacenter : plan.cluster.datacenters) {
        std::ranges::stable_sort(datacenter.pools, {}, rank);
        for (Pool &pool : datacenter.pools)
            if (rank(pool) == std::ptrdiff_t(order.size()))
                pool.nodes = 0;
    }
}

bool anySharesDatacenter(const Plan &plan)
{
    return std::ranges::any_of(plan.cluster.datacenters, [](const Datacenter &datacenter) {
        return std::ranges::any_of(datacenter.pools,
            [&](const Pool &pool) { return pool.gpus() > 0 && gpuIdOf(pool) != gpuIdOf(datacenter.pools.front()); });
    });
}

/// Sets of kinds, each in every order where orders differ.
std::vector<Order> ordersOf(std::size_t kinds, bool isOrdered)
{
    std::vector<Order> orders;
    const auto add = [&](Order order) {
        do
            orders.push_back(order);
        while (isOrdered && kinds <= kMostOrdered && std::ranges::next_permutation(order).found);
    };
    Order all(kinds);
    std::iota(all.begin(), all.end(), 0);
    add(all);
    if (kinds <= kMostOrdered) {
        for (unsigned set = (1u << kinds) - 2; set > 0; --set) {
            Order order;
            std::ranges::copy_if(all, std::back_inserter(order), [&](int kind) { return (set >> kind) & 1u; });
            add(order);
        }
        return orders;
    }
    for (const int kind : all) {
        orders.push_back({ kind });
        Order others = all;
        std::erase(others, kind);
        orders.push_back(std::move(others));
    }
    return orders;
}

Axis kindsAxis(const Plan &plan, const std::vector<GpuKind> &kinds)
{
    Axis axis { kKindsAxis, { "cluster.datacenters" }, "Kinds of GPUs", { { "as they stand", [](Plan &) {} } }, 0 };
    std::vector<std::string> ids;
    for (const GpuKind &kind : kinds)
        ids.push_back(kind.id);
    std::vector<Cluster> known { plan.cluster }; // orders of kinds that nowhere stand side by side are one
    for (const Order &order : ordersOf(kinds.size(), anySharesDatacenter(plan))) {
        Plan changed = plan;
        setOrder(changed, ids, order);
        if (std::ranges::find(known, changed.cluster) != known.end())
            continue;
        known.push_back(std::move(changed.cluster));
        std::vector<std::string> names;
        for (const int kind : order)
            names.push_back(kinds[std::size_t(kind)].name);
        axis.values.push_back({ joined(names, ", then ") + (names.size() < kinds.size() ? " alone" : ""),
            [ids, order](Plan &p) { setOrder(p, ids, order); } });
    }
    return axis;
}

/// Tensor degrees of the pools of each kind, as so many times the plan's.
void setMultiples(Plan &plan, const std::vector<std::string> &ids, const std::vector<int> &multiples)
{
    plan.heterogeneity.assign.clear();
    for (const Datacenter &datacenter : plan.cluster.datacenters) {
        for (const Pool &pool : datacenter.pools) {
            const auto kind = std::size_t(std::ranges::find(ids, gpuIdOf(pool)) - ids.begin());
            if (kind >= ids.size() || multiples[kind] == 1)
                continue;
            RankPin pin;
            pin.datacenter = datacenter.id;
            pin.pool = pool.id;
            pin.tensor = plan.parallelism.tensor * multiples[kind];
            plan.heterogeneity.assign.push_back(std::move(pin));
        }
    }
}

Axis tensorAxis(const Plan &plan, const std::vector<GpuKind> &kinds)
{
    Axis axis { "kind_tensor", { "heterogeneity.assign" }, "Tensor parallel by kind",
        { { plan.heterogeneity.assign.empty() ? "the same everywhere" : "as pinned", [](Plan &) {} } }, 0 };
    std::vector<std::string> ids;
    for (const GpuKind &kind : kinds)
        ids.push_back(kind.id);
    std::size_t count = 1;
    for (std::size_t k = 0; k < kinds.size(); ++k)
        count *= std::size(kTensorMultiples);
    for (std::size_t number = 0; number < count && kinds.size() <= kMostOrdered; ++number) {
        std::vector<int> multiples;
        std::vector<std::string> names;
        std::size_t rest = number;
        bool fitsNodes = true;
        for (const GpuKind &kind : kinds) {
            multiples.push_back(kTensorMultiples[rest % std::size(kTensorMultiples)]);
            rest /= std::size(kTensorMultiples);
            if (multiples.back() > 1)
                names.push_back(kind.name + " ×" + std::to_string(multiples.back()));
            fitsNodes &= multiples.back() <= kind.gpusPerNode;
        }
        const bool isSame = std::ranges::all_of(multiples, [](int m) { return m == 1; });
        if (std::ranges::find(multiples, 1) == multiples.end() || (isSame && plan.heterogeneity.assign.empty())
            || !fitsNodes)
            continue;
        axis.values.push_back({ isSame ? "the same everywhere" : joined(names, ", "),
            [ids, multiples](Plan &p) { setMultiples(p, ids, multiples); } });
    }
    return axis;
}

} // namespace

std::vector<Axis> poolAxes(const Plan &plan, const Catalogue &catalogue)
{
    const std::vector<GpuKind> kinds = kindsOf(plan, catalogue);
    std::vector<Axis> axes;
    if (kinds.size() < 2)
        return axes;
    axes.push_back(kindsAxis(plan, kinds));
    axes.push_back(tensorAxis(plan, kinds));
    std::erase_if(axes, [](const Axis &axis) { return axis.values.size() < 2; });
    return axes;
}

} // namespace trainyard
