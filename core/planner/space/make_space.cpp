// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/axes_internal.h"

#include "core/base/words.h"
#include "core/facts/cluster/pool_gpu.h"
#include "core/facts/plan/key_list.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/placement/resolve_model.h"
#include "core/iteration/placement/stage_source.h"
#include "core/planner/space/axes_pools.h"

#include <algorithm>
#include <iterator>

namespace trainyard {

namespace detail {

namespace {

/// Bytes of a parameter with its gradient and Adam's states, in mixed precision.
constexpr double kStateBytes = 18;

std::string withoutIndices(std::string_view key)
{
    std::string plain;
    bool isIndex = false;
    for (const char c : key) {
        isIndex = c == '[' || (isIndex && c != ']');
        if (!isIndex && c != ']')
            plain += c;
    }
    return plain;
}

bool isInside(std::string_view key, std::string_view section)
{
    return key == section || (key.starts_with(section) && key[section.size()] == '.');
}

} // namespace

bool AxisList::isFixed(const std::vector<std::string> &keys) const
{
    return std::ranges::any_of(m_scope.options.fixed, [&](const std::string &fixed) {
        const std::string plain = withoutIndices(fixed);
        return std::ranges::any_of(
            keys, [&](const std::string &key) { return isInside(key, plain) || isInside(plain, key); });
    });
}

bool AxisList::mayTakeIt(const AxisValue &value) const
{
    if (m_scope.options.mayTrainOtherwise)
        return true;
    Plan with = m_scope.plan;
    value.set(with);
    return !changesTraining(m_scope.plan, with);
}

/// The ends and the plan's own stay, of the others every so many.
std::vector<int> AxisList::thinned(std::set<int> values, int current) const
{
    const std::vector<int> all(values.begin(), values.end());
    const std::size_t most = std::max<std::size_t>(3, m_scope.options.mostValues);
    if (all.size() <= most)
        return all;
    values = { current };
    for (std::size_t i = 0; i + 1 < most; ++i)
        values.insert(all[i * (all.size() - 1) / (most - 2)]);
    return { values.begin(), values.end() };
}

} // namespace detail

namespace {

using detail::AxisList;
using detail::Scope;

/// Those that decide most of a plan's cost come first, so that what follows shares it, and rules see them early.
std::size_t rankOf(const Axis &axis)
{
    const auto id = []<class... Member>(
                        Member... members) { return std::vector<std::string> { rowOf(members).axisId()... }; };
    static const std::vector<std::string> kFirst = id(&Parallelism::tensor, &Parallelism::pipeline,
        &Parallelism::context, &Parallelism::expert, &Parallelism::expertTensor, &WorkloadSpec::microBatch,
        &Plan::schedule, &Parallelism::virtualPipeline, &Placement::mode, &Parallelism::data, &Placement::layers,
        &Parallelism::zeroStage, &Parallelism::sequenceParallel, &MemoryStrategy::recompute);
    return axis.id == kKindsAxis ? 0 : std::size_t(std::ranges::find(kFirst, axis.id) - kFirst.begin()) + 1;
}

Errors unknownKeys(const std::vector<std::string> &fixed)
{
    Errors errors;
    std::vector<std::string> known;
    for (const KeyRow &row : planKeys())
        known.push_back(detail::withoutIndices(row.path));
    for (const std::string &key : fixed) {
        const std::string plain = detail::withoutIndices(key);
        if (std::ranges::any_of(known, [&](const std::string &one) { return detail::isInside(one, plain); }))
            continue;
        const std::string near = nearestName(plain, known);
        errors.push_back({ ErrorCode::UnknownKey, key, "a plan has no such key",
            (near.empty() ? "" : "perhaps " + near + ": ")
                + std::string("a dotted key of a plan file, or one of its sections") });
    }
    return errors;
}

Errors unknownDatacenters(const Plan &plan, const std::vector<std::string> &ids)
{
    Errors errors;
    std::vector<std::string> known;
    for (const Datacenter &datacenter : plan.cluster.datacenters)
        known.push_back(datacenter.id);
    for (const std::string &id : ids) {
        if (std::ranges::find(known, id) != known.end())
            continue;
        const std::string near = nearestName(id, known);
        errors.push_back({ ErrorCode::UnknownName, "datacenters", "there is no datacenter " + id,
            near.empty() ? "one of " + joined(known, ", ") : near });
    }
    return errors;
}

void addHardware(Scope &scope, const Catalogue &catalogue)
{
    double bytes = 0;
    scope.statesHosts = true;
    for (const Datacenter &datacenter : scope.plan.cluster.datacenters) {
        const std::vector<std::string> &allowed = scope.options.datacenters;
        scope.sites += datacenter.gpus() > 0;
        scope.datacenters +=
            datacenter.gpus() > 0 && (allowed.empty() || std::ranges::find(allowed, datacenter.id) != allowed.end());
        for (const Pool &pool : datacenter.pools) {
            if (pool.gpus() == 0)
                continue;
            const GpuSpec *gpu = gpuOf(pool, catalogue);
            bytes += gpu ? double(pool.gpus()) * double(gpu->memoryBytes) : 0;
            scope.largestNode = std::max(scope.largestNode, pool.gpusPerNode);
            scope.statesHosts &= pool.host.has_value();
        }
    }
    scope.gpus = scope.plan.cluster.gpus();
    scope.isMixed = gpuIdsOf(scope.plan.cluster).size() > 1;
    scope.isScarce = scope.model && bytes < 2 * detail::kStateBytes * totalParameters(*scope.model);
}

} // namespace

ExpectedAll<SearchSpace> makeSpace(const PlanPtr &plan, const Catalogue &catalogue, const SpaceOptions &options)
{
    Errors errors = unknownKeys(options.fixed);
    for (Error &error : unknownDatacenters(*plan, options.datacenters))
        errors.push_back(std::move(error));
    Scope scope { .plan = *plan, .options = options, .stack = {}, .now = degreesOf(*plan) };
    ModelSpec model;
    if (!hasJobs(*plan)) {
        auto resolved = resolveModel(plan->workload, plan->baseDir, catalogue);
        scope.hasLayers = stageFacts(*plan).hasLayers;
        if (resolved)
            model = std::move(*resolved);
        else if (scope.hasLayers) // measured times need no model
            errors.push_back(resolved.error());
        if (!scope.hasLayers)
            model.doubts.clear();
        std::ranges::move(doubtsOfSources(*plan), std::back_inserter(model.doubts));
        if (auto unranked = whyUnranked(model.doubts))
            errors.push_back(*std::move(unranked));
        scope.model = &model;
    }
    if (const StackSpec *stack = catalogue.stack(plan->stack.name)) {
        auto stated = withOverrides(*stack, plan->stack.overrides);
        if (stated)
            scope.stack = std::move(*stated);
        else
            errors.push_back(stated.error());
    } else {
        std::vector<std::string> names;
        for (const StackSpec &known : catalogue.stacks)
            names.push_back(known.id);
        errors.push_back({ ErrorCode::UnknownName, "stack", "there is no stack " + plan->stack.name,
            nearestName(plan->stack.name, names) });
    }
    if (!errors.empty())
        return std::unexpected(std::move(errors));
    addHardware(scope, catalogue);
    AxisList list(scope);
    if (hasJobs(*plan)) {
        addJobAxes(list);
    } else {
        addDegreeAxes(list, scope);
        addScheduleAxes(list, scope);
        addPlacementAxes(list, scope);
        addMemoryAxes(list, scope);
        addExpertAxes(list, scope);
        addWanAxes(list, scope);
        addMixedAxes(list, scope);
        for (Axis &axis : poolAxes(*plan, catalogue))
            if (scope.hasLayers && (axis.id == kKindsAxis || !scope.model->isMoe())) // experts have one tensor degree
                list.addMade(std::move(axis));
        addNumericAxes(list, scope);
    }
    list.offerRest();
    std::vector<Axis> axes = list.take();
    std::ranges::stable_sort(axes, {}, rankOf);
    return SearchSpace(plan, std::move(axes));
}

} // namespace trainyard
