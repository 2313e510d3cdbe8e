// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ladder/fit.h"

#include "core/placement/resolve.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace trainyard {

namespace {

std::string gigabytes(double bytes)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.3g GB", bytes / 1e9);
    return text;
}

std::string seconds(double s)
{
    char text[32];
    std::snprintf(text, sizeof text, s < 1 ? "%.3g ms" : "%.4g s", s < 1 ? s * 1e3 : s);
    return text;
}

/// Orders to climb in: by cost as the rungs are listed, with another shape before states leave the GPU, and with it before
/// anything is computed twice. Which is cheapest depends on links and batch.
enum class Way : std::uint8_t { AsListed, ShapeBeforeOffload, ShapeFirst };

int place(const Rung &rung, Way way)
{
    const bool isOffload = rung.id == "optimizer-host" || rung.id == "parameters-host";
    switch (way) {
    case Way::AsListed: return 0;
    case Way::ShapeBeforeOffload: return isOffload ? 2 : rung.cost == RungCost::Shape ? 1 : 0;
    case Way::ShapeFirst: return rung.cost == RungCost::Nothing ? 0 : rung.cost == RungCost::Shape ? 1 : isOffload ? 3 : 2;
    }
    return 0;
}

/// "…: frees 23 GB a GPU; the iteration takes 1.5 s, 3 % longer" or, without a time, what is paid in words.
std::string sentenceOf(const LadderStep &step, const std::string &price)
{
    std::string text = step.name + ": frees " + gigabytes(double(step.freed)) + " a GPU";
    if (!step.iterationTime)
        return text + "; costs: " + price;
    text += "; the iteration takes " + seconds(*step.iterationTime);
    if (step.slowdown) {
        const double percent = 100 * *step.slowdown;
        char change[64];
        if (percent >= 100)
            std::snprintf(change, sizeof change, "%.2g times as long", 1 + *step.slowdown);
        else
            std::snprintf(change, sizeof change, "%.2g %% %s", std::abs(percent), percent > 0 ? "longer" : "shorter");
        text += std::abs(percent) < 0.05 ? ", as before" : std::string(", ") + change;
    }
    return text + " (" + price + ")";
}

class Climb {
public:
    Climb(PlanPtr plan, const Catalogue &catalogue, std::stop_token stop) : m_catalogue(catalogue), m_stop(std::move(stop))
    {
        m_fitting.plan = std::move(plan);
        m_fitting.before = footprint(m_fitting.plan, catalogue);
    }

    Fitting run(EvaluationWorkspace *workspace, const std::function<void(const LadderStep &)> &onStep)
    {
        m_fitting.fits = m_fitting.before.fits;
        const PlanPtr start = m_fitting.plan;
        const auto workload = resolve(start, m_catalogue);
        if (!m_fitting.fits && workload && !start->profile) {
            choose(rungs(*start, workload->model, workload->stack), start, workspace);
            walk(start, workspace, onStep);
        }
        summarise();
        return std::move(m_fitting);
    }

private:
    bool isStopped()
    {
        m_fitting.isCancelled = m_fitting.isCancelled || m_stop.stop_requested();
        return m_fitting.isCancelled;
    }

    /// The way whose plan trains fastest; without evaluations the first that fits.
    void choose(const std::vector<Rung> &all, const PlanPtr &start, EvaluationWorkspace *workspace)
    {
        Metric best;
        for (const Way way : {Way::AsListed, Way::ShapeBeforeOffload, Way::ShapeFirst}) {
            std::vector<Rung> order = all;
            std::ranges::stable_sort(order, {}, [&](const Rung &rung) { return place(rung, way); });
            bool isEnough = false;
            std::vector<Rung> chosen = climb(std::move(order), start, isEnough);
            if (isEnough)
                stepBack(chosen, start);
            PlanPtr plan = start;
            for (const Rung &rung : chosen)
                plan = with(plan, rung);
            const Metric time = isEnough ? iterationTime(plan, workspace) : Metric{};
            const bool isBetter = m_chosen.empty() || (isEnough && (!m_fitting.fits || (time && (!best || *time < *best))));
            if (isBetter) {
                m_chosen = std::move(chosen);
                m_fitting.fits = isEnough;
                best = time;
            }
            if (isStopped() || (m_fitting.fits && !workspace))
                return;
        }
    }

    static PlanPtr with(const PlanPtr &plan, const Rung &rung)
    {
        Plan next = *plan;
        rung.apply(next);
        return std::make_shared<const Plan>(std::move(next));
    }

    /// Of the rungs in order, those that free something on top of the ones before, up to the first that makes the plan fit.
    std::vector<Rung> climb(std::vector<Rung> all, PlanPtr plan, bool &isEnough)
    {
        std::vector<Rung> chosen;
        Footprint now = m_fitting.before;
        for (Rung &rung : all) {
            if (isStopped())
                break;
            PlanPtr next = with(plan, rung);
            if (*next == *plan)
                continue;
            const Footprint size = footprint(next, m_catalogue);
            if (!size.isSeated || (now.isSeated && fullness(size) >= fullness(now)))
                continue;
            chosen.push_back(std::move(rung));
            plan = std::move(next);
            now = size;
            if ((isEnough = size.fits))
                break;
        }
        return chosen;
    }

    static double fullness(const Footprint &size) { return size.capacity > 0 ? double(size.device) / double(size.capacity) : 1e300; }

    /// Drops what the last rungs have made needless, costliest first.
    void stepBack(std::vector<Rung> &chosen, const PlanPtr &start)
    {
        std::vector<std::size_t> order(chosen.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            order[i] = i;
        std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return chosen[a].cost != chosen[b].cost ? chosen[a].cost > chosen[b].cost : a > b; });
        std::vector<bool> isTaken(chosen.size(), true);
        for (const std::size_t without : order) {
            if (isStopped())
                return;
            if (chosen[without].cost == RungCost::Nothing)
                continue;          // free: kept, for the room that it leaves
            PlanPtr plan = start;
            for (std::size_t i = 0; i < chosen.size(); ++i)
                if (isTaken[i] && i != without)
                    plan = with(plan, chosen[i]);
            isTaken[without] = !footprint(plan, m_catalogue).fits;
        }
        std::vector<Rung> kept;
        for (std::size_t i = 0; i < chosen.size(); ++i)
            if (isTaken[i])
                kept.push_back(std::move(chosen[i]));
        chosen = std::move(kept);
    }

    /// Full recomputation of as few layers as are enough.
    PlanPtr fewestLayers(const PlanPtr &plan, bool isLast) const
    {
        const auto workload = resolve(plan, m_catalogue);
        if (!isLast || !workload)
            return plan;
        const int most = (workload->model.layers + plan->parallelism.pipeline - 1) / plan->parallelism.pipeline;
        int low = 0, high = most;  // high layers are enough
        PlanPtr best = plan;
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            Plan next = *plan;
            next.memory.recomputeLayers = middle;
            auto candidate = std::make_shared<const Plan>(std::move(next));
            if (footprint(candidate, m_catalogue).fits) {
                high = middle;
                best = std::move(candidate);
            } else {
                low = middle;
            }
        }
        return best;
    }

    void walk(const PlanPtr &start, EvaluationWorkspace *workspace, const std::function<void(const LadderStep &)> &onStep)
    {
        Metric last = iterationTime(start, workspace);
        Footprint size = m_fitting.before;
        for (std::size_t i = 0; i < m_chosen.size(); ++i) {
            const Rung &rung = m_chosen[i];
            LadderStep step;
            step.id = rung.id;
            step.name = rung.name;
            step.plan = with(m_fitting.plan, rung);
            if (rung.id == "recompute-full" && m_fitting.fits)
                step.plan = fewestLayers(step.plan, i + 1 == m_chosen.size());
            if (step.plan->memory.recomputeLayers && rung.id == "recompute-full")
                step.name = "Recompute " + std::to_string(*step.plan->memory.recomputeLayers) + " layers of each stage";
            const Footprint next = footprint(step.plan, m_catalogue);
            step.freed = size.device - next.device;
            step.device = next.device;
            step.capacity = next.capacity;
            step.iterationTime = iterationTime(step.plan, workspace);
            if (last && step.iterationTime && *last > 0)
                step.slowdown = *step.iterationTime / *last - 1;
            step.sentence = sentenceOf(step, rung.price);
            last = step.iterationTime;
            size = next;
            m_fitting.plan = step.plan;
            if (onStep)
                onStep(step);
            m_fitting.steps.push_back(std::move(step));
        }
    }

    Metric iterationTime(const PlanPtr &plan, EvaluationWorkspace *workspace)
    {
        if (!workspace || isStopped())
            return {};
        const auto evaluation = evaluate(plan, m_catalogue, *workspace, m_stop, {false, false});
        return evaluation ? (*evaluation)->metrics.iterationTime : Metric{};
    }

    void summarise()
    {
        const std::size_t count = m_fitting.steps.size();
        const Footprint &before = m_fitting.before;
        if (before.fits)
            m_fitting.summary = "The plan fits: " + gigabytes(double(before.device)) + " of " + gigabytes(double(before.capacity)) + " a GPU";
        else if (m_fitting.isCancelled)
            m_fitting.summary = "Stopped after " + std::to_string(count) + (count == 1 ? " step" : " steps");
        else if (m_fitting.fits)
            m_fitting.summary = "Fits after " + std::to_string(count) + (count == 1 ? " step: " : " steps: ") + gigabytes(double(m_fitting.steps.back().device))
                + " of " + gigabytes(double(m_fitting.steps.back().capacity)) + " a GPU";
        else
            m_fitting.summary = "No step of the ladder makes the plan fit these GPUs";
    }

    const Catalogue &m_catalogue;
    std::stop_token m_stop;
    Fitting m_fitting;
    std::vector<Rung> m_chosen;
};

} // namespace

Fitting fitModel(PlanPtr plan, const Catalogue &catalogue, EvaluationWorkspace &workspace, std::stop_token stop,
                 const std::function<void(const LadderStep &)> &onStep)
{
    return Climb(std::move(plan), catalogue, std::move(stop)).run(&workspace, onStep);
}

Fitting fitMemory(PlanPtr plan, const Catalogue &catalogue, std::stop_token stop)
{
    return Climb(std::move(plan), catalogue, std::move(stop)).run(nullptr, {});
}

} // namespace trainyard
