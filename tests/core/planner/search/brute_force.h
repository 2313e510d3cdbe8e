#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Small problems for a planner and their answer by brute force: every combination of the axes that goes together
// through run(), judged from the metrics of docs/metrics.md by code that shares nothing
// with the search.

#include "core/facts/hardware/power_spec.h"
#include "core/planner/search/search.h"
#include "core/planner/space/rules.h"
#include "tests/core/evaluation/evaluate/random_valid_plans.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace trainyard::test {

/// One candidate by its metrics.
struct Reference {
    bool isFeasible = false;
    double seconds = 0, tokensPerSecond = 0, usdPerMillionTokens = 0, usdPerHour = 0, joulesPerToken = 0, days = 0;
    double fill = 0;
    int gpus = 0, data = 0;
    std::vector<std::string> datacenters = {}; // that are used

    [[nodiscard]] double value(Objective objective) const
    {
        switch (objective) {
        case Objective::Throughput:
            return 1 / tokensPerSecond;
        case Objective::Cost:
            return usdPerMillionTokens;
        case Objective::Energy:
            return joulesPerToken;
        case Objective::Time:
            return days;
        case Objective::Gpus:
            return gpus + seconds / (1 + seconds);
        }
        return 0;
    }
    [[nodiscard]] bool keeps(const Constraints &c, double margin) const
    {
        return isFeasible && fill <= 1 - margin && (!c.mostGpus || gpus <= *c.mostGpus)
            && (!c.mostUsdPerHour || usdPerHour <= *c.mostUsdPerHour)
            && (!c.leastTokensPerSecond || tokensPerSecond >= *c.leastTokensPerSecond)
            && (!c.mostDays || days <= *c.mostDays)
            && (c.datacenters.empty() || std::ranges::all_of(datacenters, [&](const std::string &id) {
                   return std::ranges::find(c.datacenters, id) != c.datacenters.end();
               }));
    }
};

/// From the metrics of the whole cluster, less what nodes that are idle as a whole cost and draw. Of the plan that was
/// asked about `replicas` are the fastest, as everywhere; of other candidates the most, which the search then states.
inline Reference referenceOf(
    const PlanPtr &plan, EvaluationWorkspace &workspace, OpenReplicas replicas = OpenReplicas::Most)
{
    const auto evaluation =
        run(plan, Depth::Score, { .catalogue = builtinCatalogue(), .workspace = workspace, .replicas = replicas });
    if (!evaluation || !(*evaluation)->metrics.iterationTime || !(*evaluation)->metrics.cost.energyMwhTotal)
        return {};
    const Metrics &m = (*evaluation)->metrics;
    Reference r;
    r.isFeasible = (*evaluation)->feasible();
    r.seconds = *m.iterationTime;
    r.tokensPerSecond = *m.tokensPerSecond;
    r.days = *m.cost.daysTotal;
    r.gpus = m.gpusUsed;
    r.data = (*evaluation)->layout.data;
    for (const GpuRun &run : (*evaluation)->layout.runs)
        r.datacenters.push_back(plan->cluster.datacenters[std::size_t(run.datacenter)].id);
    double idleUsd = 0, idleWatts = 0;
    for (std::size_t d = 0; d < plan->cluster.datacenters.size(); ++d) {
        const Datacenter &site = plan->cluster.datacenters[d];
        for (std::size_t p = 0; p < site.pools.size(); ++p) {
            const int ofNode = site.pools[p].gpusPerNode;
            std::set<int> nodes; // with a GPU that works: a node is paid for whole
            for (const GpuRun &run : (*evaluation)->layout.runs)
                for (int gpu = run.firstGpu;
                     run.datacenter == int(d) && run.pool == int(p) && gpu < run.firstGpu + run.gpus; ++gpu)
                    nodes.insert(gpu / ofNode);
            const int idle = site.pools[p].gpus() - int(nodes.size()) * ofNode;
            int unused = site.pools[p].gpus(); // also of nodes where others work: they draw nothing here
            for (const GpuRun &run : (*evaluation)->layout.runs)
                unused -= run.datacenter == int(d) && run.pool == int(p) ? run.gpus : 0;
            const GpuSpec &gpu = *builtinCatalogue().gpu(site.pools[p].gpu);
            idleUsd += idle * site.pools[p].usdPerGpuHour.value_or(gpu.usdPerHour);
            idleWatts += unused * gpu.tdpWatts * builtinPower().idleShare;
        }
    }
    const double tokens = r.tokensPerSecond * r.seconds;
    r.usdPerHour = *m.cost.usdPerIteration / r.seconds * 3600 - idleUsd;
    r.usdPerMillionTokens = r.usdPerHour / 3600 * r.seconds / tokens * 1e6;
    r.joulesPerToken = *m.cost.energyMwhTotal * 3.6e9 / *plan->workload.trainingTokens - idleWatts / r.tokensPerSecond;
    if (m.memory)
        for (const StageMemory &stage : m.memory->perStage)
            r.fill = std::max(r.fill, stage.capacity > 0 ? double(stage.device) / double(stage.capacity) : 0);
    return r;
}

struct SmallProblem {
    PlanPtr plan;
    std::vector<std::string> fixed; // keys, so that the space is small
    SearchSpace space;
    std::vector<std::string> datacenters = {}; // the only ones that may be used; empty: all
};

/// A random plan and random keys fixed until at most so many combinations are left; nothing where run() refuses the
/// plan, or too few are left. `limitsDatacenters`: all but the last may be used, of a plan with several.
inline std::optional<SmallProblem> randomProblem(unsigned seed, std::uint64_t most, bool limitsDatacenters = false)
{
    Plan plan = RandomPlanBy<StandardDraws>(seed).plan();
    plan.bubbleFill.enabled = false;
    plan.workload.trainingTokens = 1e12;
    for (Datacenter &site : plan.cluster.datacenters)
        for (Pool &pool : site.pools)
            pool.nodes = std::min(pool.nodes, 8);
    plan.workload.globalBatch =
        std::min(plan.workload.globalBatch, 64) / plan.workload.microBatch * plan.workload.microBatch;
    const auto shared = std::make_shared<const Plan>(std::move(plan));
    EvaluationWorkspace workspace;
    if (!run(shared, Depth::Score, { builtinCatalogue(), workspace }))
        return std::nullopt;
    std::mt19937 random(seed);
    std::vector<std::string> fixed, allowed;
    if (limitsDatacenters) {
        for (const Datacenter &site : shared->cluster.datacenters)
            allowed.push_back(site.id);
        allowed.pop_back();
        if (allowed.empty())
            return std::nullopt;
    }
    while (true) {
        const SpaceOptions options { .fixed = fixed, .datacenters = allowed };
        auto space = makeSpace(shared, builtinCatalogue(), options);
        if (!space || space->axes().empty())
            return std::nullopt;
        if (space->size() <= most)
            return space->size() >= most / 20
                ? std::optional(SmallProblem { shared, fixed, std::move(*space), allowed })
                : std::nullopt;
        fixed.push_back(space->axes()[random() % space->axes().size()].keys.front());
    }
}

inline bool areNear(double a, double b)
{
    return a == b || std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

struct Answer {
    double value = std::numeric_limits<double>::infinity(); // infinite: nothing keeps the constraints
    std::string text; // the values of its axes
};

struct BruteForce {
    std::vector<Reference> all; // by number; nothing of what does not go together

    explicit BruteForce(const SearchSpace &space)
        : all(space.size())
    {
        EvaluationWorkspace workspace;
        const SpaceRules rules(space, builtinCatalogue());
        for (std::uint64_t i = 0; i < space.size(); ++i)
            if (const Candidate candidate = space.candidate(i); !rules.whyNot(candidate))
                all[i] = referenceOf(space.plan(candidate), workspace,
                    candidate == space.baseCandidate() ? OpenReplicas::Fastest : OpenReplicas::Most);
    }
    /// 5 % of the memory, or what the plan itself leaves.
    [[nodiscard]] double margin(const SmallProblem &problem, const Constraints &constraints) const
    {
        const Reference &own = all[problem.space.number(problem.space.baseCandidate())];
        return constraints.memoryMargin.value_or(own.isFeasible ? std::clamp(1 - own.fill, 0.0, 0.05) : 0.05);
    }
    [[nodiscard]] Answer best(const SmallProblem &problem, Objective objective, const Constraints &constraints) const
    {
        const double margin = this->margin(problem, constraints);
        Answer best;
        std::uint64_t number = 0;
        for (std::uint64_t i = 0; i < all.size(); ++i)
            if (all[i].keeps(constraints, margin) && all[i].value(objective) < best.value) {
                best.value = all[i].value(objective);
                number = i;
            }
        const Candidate candidate = problem.space.candidate(number);
        for (std::size_t i = 0; i < candidate.size(); ++i) {
            const Axis &axis = problem.space.axes()[i];
            best.text += axis.label + " " + axis.values[candidate[i]].text + (candidate[i] == axis.base ? "*; " : "; ");
        }
        return best;
    }
    /// The one in the middle of all feasible ones, to bind; a little beside it, where two ways to sum it up agree.
    template <class Number> [[nodiscard]] double middle(Number Reference::*figure) const
    {
        std::vector<double> values;
        for (const Reference &one : all)
            if (one.isFeasible)
                values.push_back(double(one.*figure));
        std::ranges::sort(values);
        return values.empty() ? 1 : values[values.size() / 2] * (1 + 1e-6);
    }
};

/// A constraint that binds some of the candidates, another one each time.
inline Constraints constraintsFor(unsigned turn, const BruteForce &brute)
{
    Constraints c;
    if (turn % 5 == 1)
        c.mostUsdPerHour = brute.middle(&Reference::usdPerHour);
    if (turn % 5 == 2)
        c.leastTokensPerSecond = brute.middle(&Reference::tokensPerSecond);
    if (turn % 5 == 3)
        c.mostDays = brute.middle(&Reference::days);
    if (turn % 5 == 4)
        c.mostGpus = int(brute.middle(&Reference::gpus));
    if (turn % 8 >= 4)
        c.memoryMargin = 0.2;
    return c;
}

} // namespace trainyard::test
