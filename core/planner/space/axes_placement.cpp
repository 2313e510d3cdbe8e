// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/axes_internal.h"

#include "core/planner/space/layer_partition.h"

#include <array>
#include <memory>
#include <numeric>
#include <tuple>

namespace trainyard::detail {

namespace {

/// What the placement of a plan is: its own, a mode that leaves the rest to the placement's own search, in all
/// datacenters or among some, or an order of datacenters with stages by their GPUs.
struct Place {
    bool isOwn = false;
    PlacementMode mode = PlacementMode::Auto;
    std::vector<int> order = {}; // indices
    std::vector<int> among = {}; // rising indices: the others have no nodes then; empty: all
    bool operator==(const Place &) const = default;
};

bool mayBeUsed(const Scope &scope, const Datacenter &datacenter)
{
    const std::vector<std::string> &allowed = scope.options.datacenters;
    return datacenter.gpus() > 0 && (allowed.empty() || std::ranges::find(allowed, datacenter.id) != allowed.end());
}

constexpr std::array kModes { PlacementMode::Auto, PlacementMode::PipelineAcross, PlacementMode::DataAcross };
/// Selections are so many times as many as other axes have values: each is another part of the hardware.
constexpr std::size_t kSelectionsPerValue = 5;
constexpr std::size_t kMostListed = 1'000; // selections that are looked at before the best of them are taken

std::vector<int> mayBeUsed(const Scope &scope)
{
    std::vector<int> open;
    for (int d = 0; d < int(scope.plan.cluster.datacenters.size()); ++d)
        if (mayBeUsed(scope, scope.plan.cluster.datacenters[std::size_t(d)]))
            open.push_back(d);
    return open;
}

int linkBetween(const Cluster &cluster, int a, int b)
{
    return cluster.linkBetween(cluster.datacenters[std::size_t(a)].id, cluster.datacenters[std::size_t(b)].id);
}

/// Two linked datacenters, three, …, each set in the orders that links allow, one of each two that are each other's
/// reverse.
std::vector<Place> orders(const Scope &scope, const std::vector<int> &open)
{
    std::vector<std::vector<int>> found;
    for (const int d : open)
        found.push_back({ d });
    for (std::size_t i = 0; i < found.size() && found.size() < kMostListed; ++i) {
        for (const int d : open) {
            std::vector<int> longer = found[i];
            if (std::ranges::find(longer, d) != longer.end() || linkBetween(scope.plan.cluster, longer.back(), d) < 0)
                continue;
            longer.push_back(d);
            const std::vector<int> reverse(longer.rbegin(), longer.rend());
            if (std::ranges::find(found, reverse) == found.end() && found.size() < kMostListed)
                found.push_back(std::move(longer));
        }
    }
    std::vector<Place> places;
    for (std::vector<int> &order : found)
        places.push_back({ .order = std::move(order) });
    return places;
}

/// Sets of at least two that links connect, but for the set of all of the plan's: each in every mode. Of measured
/// stages sets of one as well: of others an order has it.
std::vector<Place> modesAmongSome(const Scope &scope, const std::vector<int> &open)
{
    std::vector<std::vector<int>> sets;
    for (const int d : open)
        sets.push_back({ d });
    for (std::size_t i = 0; i < sets.size() && sets.size() < kMostListed; ++i)
        for (const int d : open) {
            std::vector<int> wider = sets[i];
            if (std::ranges::find(wider, d) != wider.end()
                || std::ranges::none_of(wider, [&](int one) { return linkBetween(scope.plan.cluster, one, d) >= 0; }))
                continue;
            wider.insert(std::ranges::lower_bound(wider, d), d);
            if (std::ranges::find(sets, wider) == sets.end())
                sets.push_back(std::move(wider));
        }
    std::vector<Place> places;
    for (const std::vector<int> &set : sets)
        if (set.size() == 1 && !scope.hasLayers) // whose stages cannot be pinned
            places.push_back({ .mode = PlacementMode::Auto, .among = set });
        else if (set.size() > 1 && int(set.size()) < scope.sites)
            for (const PlacementMode mode : kModes)
                places.push_back({ .mode = mode, .among = set });
    return places;
}

/// One datacenter first, then those with most GPUs, and of as many those whose slowest link is fastest.
void putBestFirst(std::vector<Place> &places, const Cluster &cluster)
{
    const auto rank = [&](const Place &place) {
        const std::vector<int> &set = place.order.empty() ? place.among : place.order;
        int gpus = 0;
        double slowest = 0;
        for (std::size_t i = 0; i < set.size(); ++i) {
            gpus += cluster.datacenters[std::size_t(set[i])].gpus();
            const int link = i == 0 ? -1 : linkBetween(cluster, set[i - 1], set[i]);
            if (link >= 0) {
                const double gbps = cluster.wanLinks[std::size_t(link)].capacityGbps;
                slowest = slowest > 0 ? std::min(slowest, gbps) : gbps;
            }
        }
        return std::tuple(set.size() > 1, -gpus, -slowest);
    };
    std::ranges::stable_sort(places, {}, rank);
}

/// Takes all GPUs from the other datacenters: a plan says in no other way which of them its modes may use.
void leaveOnly(Cluster &cluster, const std::vector<int> &among)
{
    for (int d = 0; d < int(cluster.datacenters.size()); ++d)
        if (std::ranges::find(among, d) == among.end())
            for (Pool &pool : cluster.datacenters[std::size_t(d)].pools)
                pool.nodes = 0;
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
    std::string text;
    for (const int d : place.among)
        text += (text.empty() ? "" : " + ") + plan.cluster.datacenters[std::size_t(d)].label();
    if (place.order.empty())
        return labelOf(place.mode) + (text.empty() ? text : ", " + text + " alone");
    for (const int d : place.order)
        text += (text.empty() ? "" : " → ") + plan.cluster.datacenters[std::size_t(d)].label();
    return place.order.size() == 1 ? text + " alone" : text + ", by GPUs";
}

void addPlace(AxisList &axes, const Scope &scope)
{
    const Placement &now = scope.plan.placement;
    if (scope.plan.cluster.datacenters.size() < 2)
        return;
    const Place own { .isOwn = !now.stages.empty(), .mode = now.mode };
    std::vector<Place> values { own };
    const std::vector<int> open = mayBeUsed(scope);
    if (int(open.size()) == scope.sites)
        for (const PlacementMode mode : kModes)
            if (const Place place { .mode = mode }; place != own)
                values.push_back(place);
    const bool mayEmpty = !axes.isFixed({ "cluster.datacenters" });
    std::vector<Place> selections = scope.hasLayers ? orders(scope, open) : std::vector<Place> {};
    if (mayEmpty)
        for (Place &place : modesAmongSome(scope, open))
            selections.push_back(std::move(place));
    putBestFirst(selections, scope.plan.cluster);
    const std::size_t room = std::max(kSelectionsPerValue * scope.options.mostValues, values.size()) - values.size();
    const std::size_t thinned = selections.size() - std::min(selections.size(), room);
    selections.resize(selections.size() - thinned);
    values.insert(values.end(), selections.begin(), selections.end());
    std::vector<std::string> others { rowOf(&Placement::stages).path };
    if (std::ranges::any_of(values, [](const Place &place) { return !place.among.empty(); }))
        others.emplace_back("cluster.datacenters");
    axes.add(
        rowOf(&Placement::mode), values, own,
        [](Plan &p, const Place &place) {
            if (place.isOwn)
                return;
            p.placement.mode = place.mode;
            p.placement.stages.clear();
            if (!place.order.empty())
                p.placement.stages = pinsOf(p.cluster, place.order, p.parallelism.pipeline);
            if (!place.among.empty())
                leaveOnly(p.cluster, place.among);
        },
        [&](const Place &place) { return textOf(scope.plan, place); }, others);
    axes.setThinned(rowOf(&Placement::mode), thinned);
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
        rowOf(&Placement::layers), values, scope.plan.placement.layers.empty() ? Layers::Even : Layers::Own,
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
