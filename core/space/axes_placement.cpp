// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/space/axes_internal.h"

#include "core/space/layer_partition.h"

#include <memory>
#include <numeric>

namespace trainyard::detail {

namespace {

/// What the placement of a plan is: its own, a mode that leaves the rest to the placement's own search, or an order of
/// datacenters (indices) with stages by their GPUs.
struct Place {
    bool isOwn = false;
    PlacementMode mode = PlacementMode::Auto;
    std::vector<int> order;
    bool operator==(const Place &) const = default;
};

bool mayBeUsed(const Scope &scope, const Datacenter &datacenter)
{
    const std::vector<std::string> &allowed = scope.options.datacenters;
    return datacenter.gpus() > 0 && (allowed.empty() || std::ranges::find(allowed, datacenter.id) != allowed.end());
}

/// One datacenter, two linked ones, three, …, each set in the orders that links allow, one of each two that are each
/// other's reverse.
std::vector<std::vector<int>> orders(const Scope &scope, std::size_t most)
{
    const Cluster &cluster = scope.plan.cluster;
    std::vector<int> open;
    for (int d = 0; d < int(cluster.datacenters.size()); ++d)
        if (mayBeUsed(scope, cluster.datacenters[std::size_t(d)]))
            open.push_back(d);
    std::vector<std::vector<int>> found;
    for (const int d : open)
        found.push_back({ d });
    for (std::size_t i = 0; i < found.size() && found.size() < most; ++i) {
        for (const int d : open) {
            std::vector<int> longer = found[i];
            const std::string &last = cluster.datacenters[std::size_t(longer.back())].id;
            if (std::ranges::find(longer, d) != longer.end()
                || cluster.linkBetween(last, cluster.datacenters[std::size_t(d)].id) < 0)
                continue;
            longer.push_back(d);
            const std::vector<int> reverse(longer.rbegin(), longer.rend());
            if (std::ranges::find(found, reverse) == found.end() && found.size() < most)
                found.push_back(std::move(longer));
        }
    }
    return found;
}

/// Stages of each by its GPUs, at least one, largest remainders first.
std::vector<StagePin> pinsOf(const Cluster &cluster, const std::vector<int> &order, int stages)
{
    double all = 0;
    for (const int d : order)
        all += cluster.datacenters[std::size_t(d)].gpus();
    std::vector<StagePin> pins;
    std::vector<std::pair<double, std::size_t>> remainders;
    int left = stages;
    for (const int d : order) {
        const double share = stages * cluster.datacenters[std::size_t(d)].gpus() / all;
        const int whole = std::max(1, int(share));
        remainders.emplace_back(whole - share, pins.size());
        pins.push_back({ cluster.datacenters[std::size_t(d)].id, whole, {} });
        left -= whole;
    }
    std::ranges::sort(remainders);
    for (std::size_t i = 0; left > 0; i = (i + 1) % remainders.size(), --left)
        ++pins[remainders[i].second].stages;
    for (; left < 0; ++left) {
        const auto fullest = std::ranges::max_element(pins, {}, &StagePin::stages);
        if (fullest->stages < 2)
            break; // more datacenters than stages: the rules leave it out
        --fullest->stages;
    }
    return pins;
}

std::string textOf(const Plan &plan, const Place &place)
{
    if (place.isOwn) {
        std::string text;
        for (const StagePin &pin : plan.placement.stages)
            text += (text.empty() ? "" : " → ") + pin.datacenter + " ×" + std::to_string(pin.stages);
        return text;
    }
    if (place.order.empty())
        return labelOf(place.mode);
    std::string text;
    for (const int d : place.order)
        text += (text.empty() ? "" : " → ") + plan.cluster.datacenters[std::size_t(d)].label();
    return place.order.size() == 1 ? text + " alone" : text + ", by GPUs";
}

void addPlace(AxisList &axes, const Scope &scope)
{
    const Placement &now = scope.plan.placement;
    if (scope.plan.cluster.datacenters.size() < 2)
        return;
    const Place own { !now.stages.empty(), now.mode, {} };
    std::vector<Place> values;
    if (own.isOwn)
        values.push_back(own);
    if (scope.options.datacenters.empty())
        for (const PlacementMode mode :
            { PlacementMode::Auto, PlacementMode::PipelineAcross, PlacementMode::DataAcross })
            values.push_back({ false, mode, {} });
    else if (!own.isOwn)
        values.push_back(own);
    if (scope.hasLayers) {
        const std::size_t room =
            scope.options.mostValues > values.size() ? scope.options.mostValues - values.size() : 0;
        for (std::vector<int> &order : orders(scope, room))
            values.push_back({ false, PlacementMode::Auto, std::move(order) });
    }
    axes.add(
        "placement", { "placement.mode", "placement.stages" }, "Placement", values, own,
        [](Plan &p, const Place &place) {
            if (place.isOwn)
                return;
            p.placement.mode = place.mode;
            p.placement.stages.clear();
            if (!place.order.empty())
                p.placement.stages = pinsOf(p.cluster, place.order, p.parallelism.pipeline);
        },
        [&](const Place &place) { return textOf(scope.plan, place); });
}

enum class Layers : std::uint8_t { Own, Even, Balanced };

/// Evenly, or so that the stage that takes longest, head included, takes as short as it can.
void addLayers(AxisList &axes, const Scope &scope)
{
    const auto model = std::make_shared<const ModelSpec>(*scope.model);
    const double tokens = scope.plan.workload.attendedLength();
    std::vector<Layers> values { Layers::Even };
    if (!scope.isMixed && partitionGains(*model, tokens))
        values.push_back(Layers::Balanced);
    axes.add(
        "layers", { "placement.layers" }, "Layers of the stages", values,
        scope.plan.placement.layers.empty() ? Layers::Even : Layers::Own,
        [model, tokens](Plan &p, Layers layers) {
            if (layers == Layers::Own)
                return;
            p.placement.layers.clear();
            if (layers == Layers::Balanced && p.parallelism.pipeline > 1)
                p.placement.layers = balancedLayers(*model, p.parallelism.pipeline, tokens);
        },
        [](Layers layers) {
            return std::string(layers == Layers::Own ? "as stated" : layers == Layers::Even ? "even" : "balanced");
        });
}

} // namespace

void addPlacementAxes(AxisList &axes, const Scope &scope)
{
    addPlace(axes, scope);
    if (scope.hasLayers)
        addLayers(axes, scope);
}

} // namespace trainyard::detail
