// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/sensitivity/shadow_prices.h"

#include "core/base/words.h"
#include "core/evaluation/advice/alternatives.h"
#include "core/evaluation/memory_fit/headroom_uses.h"
#include "core/facts/hardware/gpu_name.h"
#include "core/iteration/placement/as_placed.h"
#include "core/planner/search/idle_nodes.h"
#include "core/planner/sensitivity/binding_internal.h"
#include "core/planner/sensitivity/plan_runs_internal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace trainyard {

namespace {

using detail::PlanRun, detail::PlanRuns, detail::savedShare;

constexpr std::array kNodeSteps { 1, 2, 4, 8 };
constexpr double kNothing = 1e-7; // times are whole nanoseconds
constexpr std::size_t kMostSpansToShop = 50'000; // of a timeline, with a hundred and more plans to look at

std::string number(double value)
{
    return formatted("%.4g", value);
}

class Pricing {
public:
    Pricing(const Catalogue &catalogue, EvaluationWorkspace &workspace, Objective objective, double step,
        std::stop_token stop)
        : m_catalogue(catalogue)
        , m_workspace(workspace)
        , m_runs(catalogue, workspace, objective, std::move(stop))
        , m_objective(objective)
        , m_step(step)
    {
    }

    ExpectedAll<ShadowPrices> run(const PlanPtr &plan)
    {
        auto now = m_runs.run(plan);
        if (!now)
            return std::unexpected(std::move(now.error()));
        m_now = std::move(*now);
        m_result.now = m_now.evaluation;
        if (hasJobs(*plan) || whyUnranked(m_result.now->model.doubts)) // nothing is compared by what is not understood
            return std::move(m_result);
        priceResources();
        priceNextGpus();
        rank();
        priceBudget();
        m_result.binding = detail::bindingSentences(*m_now.evaluation, m_result.list, m_sought);
        if (m_runs.isStopped())
            return std::unexpected(Errors { { ErrorCode::Cancelled, {}, "the prices were stopped", {} } });
        return std::move(m_result);
    }

private:
    [[nodiscard]] const Plan &plan() const { return *m_now.plan; }

    void priceResources()
    {
        std::vector<HardwareResource> resources = resourcesOf(plan(), m_catalogue, &m_now.evaluation->layout);
        std::ranges::stable_sort(resources, {}, &HardwareResource::distance);
        const std::size_t most = mostParts(2 * m_now.evaluation->metrics.spans); // more and less
        if (resources.size() > most) {
            m_result.leftOut = resources.size() - most;
            resources.resize(most);
        }
        for (const HardwareResource &resource : resources) {
            if (m_runs.isStopped())
                return;
            if (resource.kind == ResourceKind::Node)
                priceNodes(resource);
            else
                priceRate(resource);
        }
    }

    ShadowPrice priceOf(const HardwareResource &resource, double amount, const PlanRun &with) const
    {
        ShadowPrice price { .kind = resource.kind, .id = resource.id, .unit = resource.unit, .amount = amount };
        price.share = std::abs(amount) / resource.now;
        if (resource.usdPerHour)
            price.usdPerHour = *resource.usdPerHour * amount;
        setGain(price, with, m_now);
        return price;
    }

    /// Against the plan, or against what else could be had without the resource.
    void setGain(ShadowPrice &price, const PlanRun &with, const PlanRun &reference) const
    {
        price.plan = with.plan;
        price.evaluation = with.evaluation;
        price.isFeasible = with.isFeasible();
        price.gain = m_now.value > 0 && with.isFeasible() ? (reference.value - with.value) / m_now.value : 0;
        price.secondsSaved = with.figures && reference.figures ? reference.figures->seconds - with.figures->seconds : 0;
        price.gainPerUnit = price.gain / std::abs(price.amount);
        if (price.usdPerHour && *price.usdPerHour > 0)
            price.gainPerUsd = price.gain / *price.usdPerHour;
    }

    PlanRun with(const HardwareResource &resource, double value)
    {
        Plan next = plan();
        resource.set(next, value);
        return m_runs.tried(std::move(next));
    }

    void priceRate(const HardwareResource &resource)
    {
        const double more = resource.isLessBetter ? -m_step : m_step;
        const PlanRun better = with(resource, resource.now * (1 + more));
        ShadowPrice price = priceOf(resource, resource.now * more, better);
        price.label = resource.name + formatted(" %s%.3g %%", more > 0 ? "+" : "−", 100 * m_step)
            + (resource.unit == "%"
                    ? std::string()
                    : formatted(" (%s%.4g ", more > 0 ? "+" : "−", resource.now * m_step) + resource.unit + ")");
        const PlanRun worse = with(resource, resource.now * (1 - more));
        price.isLessFeasible = worse.isFeasible();
        if (worse.isFeasible())
            price.lossOfLess = -savedShare(m_now, worse);
        if (resource.kind == ResourceKind::HbmSize && resource.distance == 0)
            seekRoom(resource, price, better);
        m_result.list.push_back(std::move(price));
    }

    /// What free memory buys now, and with more of it.
    const std::vector<HeadroomUse> &offersNow()
    {
        if (!m_offersNow)
            m_offersNow = headroomSuggestions(m_now.plan, m_catalogue, m_workspace, m_runs.context().stop).offers;
        return *m_offersNow;
    }

    void seekRoom(const HardwareResource &resource, ShadowPrice &price, const PlanRun &roomier)
    {
        detail::RoomSought sought { .gib = price.amount, .type = resource.name.substr(0, resource.name.rfind(',')) };
        sought.fits = roomier.isFeasible();
        if (m_now.isFeasible() && roomier.isFeasible() && m_now.evaluation->metrics.spans <= kMostSpansToShop) {
            PlanRun reference = m_now;
            for (const HeadroomUse &offer : offersNow())
                if (PlanRun run = m_runs.tried(*offer.plan); run.isFeasible() && run.value < reference.value)
                    reference = std::move(run);
            PlanRun best = roomier;
            for (const HeadroomUse &offer :
                headroomSuggestions(roomier.plan, m_catalogue, m_workspace, m_runs.context().stop).offers)
                if (PlanRun run = m_runs.tried(*offer.plan); run.isFeasible() && run.value < best.value) {
                    best = std::move(run);
                    sought.best = offer.label;
                }
            if (best.value < reference.value * (1 - kNothing) && best.plan != roomier.plan) {
                price.isReplanned = true;
                setGain(price, best, reference);
                sought.best += formatted(" saves %.3g %% more than anything that fits now", 100 * price.gain);
            } else {
                sought.best.clear();
            }
        }
        m_sought.push_back(std::move(sought));
    }

    /// Whether the nodes buy what can be had for nothing: GPUs that idle with them moved there from where they idle, or
    /// the placement that comes out with them stated.
    bool isFree(const PlanRun &run)
    {
        if (!run.isFeasible() || !m_now.isFeasible())
            return false;
        int bought = run.plan->cluster.gpus() - plan().cluster.gpus();
        const auto idleOf = [](const PlanRun &one) {
            return one.plan->cluster.gpus() - one.evaluation->metrics.gpusUsed;
        };
        if (idleOf(run) - idleOf(m_now) < bought)
            return false;
        std::optional<Plan> moved = *run.plan;
        std::vector<PoolNodes> idle = idleNodes(*run.plan, run.evaluation->layout);
        std::ranges::reverse(idle); // what stands before keeps its place
        for (PoolNodes what : idle) {
            const Pool &pool =
                run.plan->cluster.datacenters[std::size_t(what.datacenter)].pools[std::size_t(what.pool)];
            what.nodes = std::min(what.nodes, bought / std::max(1, pool.gpusPerNode));
            bought -= what.nodes * pool.gpusPerNode;
            if (what.nodes > 0 && moved)
                moved = withoutNodes(*moved, what);
        }
        const auto isAsGood = [&](Plan other) {
            const PlanRun there = m_runs.tried(std::move(other));
            return there.isFeasible() && there.value <= run.value * (1 + kNothing);
        };
        return (moved && bought == 0 && isAsGood(*std::move(moved)))
            || isAsGood(asPlaced(plan(), run.evaluation->layout));
    }

    /// The fewest that change anything; replicas as many as fit where the plan says how many.
    void priceNodes(const HardwareResource &resource)
    {
        std::optional<ShadowPrice> first, found;
        for (const int more : kNodeSteps) {
            Plan next = plan();
            resource.set(next, resource.now + more);
            PlanRun run = m_runs.tried(next);
            bool isReplanned = false;
            if (next.parallelism.data && (!run.isFeasible() || savedShare(m_now, run) <= kNothing)) {
                next.parallelism.data.reset();
                PlanRun again = m_runs.tried(std::move(next));
                if (again.isFeasible() && (!run.isFeasible() || again.value < run.value)) {
                    run = std::move(again);
                    isReplanned = true;
                }
            }
            ShadowPrice price = priceOf(resource, more, run);
            price.label = "+" + counted(more, "node") + resource.name.substr(std::string_view("nodes").size());
            price.isReplanned = isReplanned;
            const bool helps = (price.gain > kNothing && !isFree(run)) || (run.isFeasible() && !m_now.isFeasible());
            if (!first)
                first = price;
            if (helps)
                found = std::move(price);
            if (helps || m_runs.isStopped())
                break;
        }
        m_result.list.push_back(found ? std::move(*found) : std::move(*first));
    }

    void priceNextGpus()
    {
        std::set<std::string> types;
        for (const Datacenter &datacenter : plan().cluster.datacenters)
            for (const Pool &pool : datacenter.pools)
                if (!pool.inlineGpu && pool.gpus() > 0)
                    types.insert(pool.gpu);
        for (const std::string &type : types) {
            const GpuSpec *now = m_catalogue.gpu(type);
            if (!now || m_runs.isStopped())
                continue;
            for (const GpuSpec *better : nextGpus(*now, m_catalogue, plan().workload.precision)) {
                Plan next = plan();
                replaceGpus(next, type, better->id);
                ShadowPrice price { .kind = ResourceKind::NextGpu,
                    .id = "gpu:" + type + ":" + better->id,
                    .label = shortName(*now) + " → " + shortName(*better),
                    .unit = "GPUs" };
                price.usdPerHour = dearerBy(type, *now, *better, price.amount);
                setGain(price, m_runs.tried(std::move(next)), m_now);
                m_result.list.push_back(std::move(price));
            }
        }
    }

    /// USD an hour; empty where a price is not known. Counts the GPUs.
    Metric dearerBy(const std::string &type, const GpuSpec &now, const GpuSpec &better, double &gpus) const
    {
        double usd = 0;
        bool isKnown = better.usdPerHour > 0;
        for (const Datacenter &datacenter : plan().cluster.datacenters)
            for (const Pool &pool : datacenter.pools) {
                if (pool.inlineGpu || pool.gpu != type || pool.gpus() == 0)
                    continue;
                const double own = pool.usdPerGpuHour.value_or(now.usdPerHour);
                isKnown = isKnown && own > 0;
                gpus += pool.gpus();
                usd += (better.usdPerHour - own) * pool.gpus();
            }
        return isKnown ? Metric(usd) : std::nullopt;
    }

    void rank()
    {
        std::ranges::stable_sort(m_result.list, std::greater {},
            [](const ShadowPrice &price) { return std::pair(price.isFeasible, price.gain); });
    }

    /// The best of what can be bought by the hour.
    void priceBudget()
    {
        const ShadowPrice *best = nullptr;
        for (const ShadowPrice &price : m_result.list)
            if (price.isFeasible && price.gainPerUsd && *price.gainPerUsd > 0
                && (!best || *price.gainPerUsd > *best->gainPerUsd))
                best = &price;
        if (!best)
            return;
        ShadowPrice budget = *best;
        budget.kind = ResourceKind::Budget;
        budget.id = "budget";
        budget.unit = "USD/h";
        budget.share = 0;
        budget.amount = *best->usdPerHour;
        budget.gainPerUnit = *best->gainPerUsd;
        budget.lossOfLess.reset();
        budget.label = "Budget +" + number(budget.amount) + " USD/h, spent on " + best->label;
        const auto before = std::ranges::find_if(
            m_result.list, [&](const ShadowPrice &price) { return !price.isFeasible || price.gain < budget.gain; });
        m_result.list.insert(before, std::move(budget));
    }

    const Catalogue &m_catalogue;
    EvaluationWorkspace &m_workspace;
    PlanRuns m_runs;
    Objective m_objective;
    double m_step;
    PlanRun m_now;
    ShadowPrices m_result;
    std::optional<std::vector<HeadroomUse>> m_offersNow;
    std::vector<detail::RoomSought> m_sought;
};

} // namespace

double ShadowPrice::elasticity() const
{
    return share > 0 && gain < 1 ? std::log(1 - gain) / (amount < 0 ? std::log(1 - share) : -std::log(1 + share)) : 0;
}

bool ShadowPrice::isKink() const
{
    if (share <= 0 || !isFeasible)
        return false;
    if (!isLessFeasible || !lossOfLess)
        return !isLessFeasible;
    const double most = std::max(std::abs(gain), std::abs(*lossOfLess)),
                 least = std::min(std::abs(gain), std::abs(*lossOfLess));
    return most > 1e-4 && most > 2 * least;
}

ExpectedAll<ShadowPrices> shadowPrices(const PlanPtr &plan, const Catalogue &catalogue, EvaluationWorkspace &workspace,
    Objective objective, double step, std::stop_token stop)
{
    return Pricing(catalogue, workspace, objective, std::clamp(step, 1e-6, 0.99), std::move(stop)).run(plan);
}

} // namespace trainyard
