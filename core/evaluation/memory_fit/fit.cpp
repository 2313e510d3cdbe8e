// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/memory_fit/fit.h"

#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/evaluation/memory_fit/climb_internal.h"
#include "core/facts/plan/plan_diff.h"
#include "core/iteration/iteration_costs/task_count.h"
#include "core/iteration/placement/resolve.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

std::string ofGpu(const Footprint &size)
{
    return bytesText(double(size.device)) + " of " + bytesText(double(size.capacity)) + " per GPU";
}
std::string ofNode(const Footprint &size)
{
    return bytesText(double(size.host)) + " of " + bytesText(double(size.hostCapacity)) + " of host memory per node";
}
/// "2.5 % headroom": what the fullest GPU has left.
std::string headroom(const Footprint &size)
{
    return plainText(100 * std::max(0.0, 1 - size.fill())) + " % headroom";
}

std::string timeText(const LadderStep &step)
{
    std::string text = "; the iteration takes " + secondsText(*step.iterationTime);
    if (!step.slowdown)
        return text;
    const double change = 100 * *step.slowdown;
    if (std::abs(change) < 0.05)
        return text + ", as before";
    return text
        + (change >= 100 ? formatted(", %.2g times as long", 1 + *step.slowdown)
                         : formatted(", %.2g %% %s", std::abs(change), change > 0 ? "longer" : "shorter"));
}

/// "…: frees 23 GB per GPU; the iteration takes 1.5 s, 3 % longer (…). Changes: …" or, without a time, what is paid in
/// words.
std::string stepSentence(const LadderStep &step, const std::string &price, std::int64_t hostFreed)
{
    std::string text = step.name + ": frees "
        + (step.freed > 0 || hostFreed <= 0 ? bytesText(double(step.freed)) + " per GPU"
                                            : bytesText(double(hostFreed)) + " of host memory per node");
    text += step.iterationTime ? timeText(step) + " (" + price + ")" : "; costs: " + price;
    for (std::size_t i = 0; i < step.changes.size(); ++i)
        text += (i == 0 ? ". Changes: " : "; ") + step.changes[i];
    return text;
}

/// Of one search for steps: some minutes.
constexpr std::int64_t kMostFitTasks = 200'000'000;

class Fitter {
public:
    Fitter(PlanPtr plan, Footprints &footprints)
        : m_footprints(footprints)
        , m_catalogue(footprints.catalogue())
        , m_stop(footprints.stop())
    {
        m_fitting.before = m_fitting.after = m_footprints.of(plan);
        m_fitting.plan = std::move(plan);
    }

    Fitting run(EvaluationWorkspace *workspace, const std::function<void(const LadderStep &)> &onStep)
    {
        const PlanPtr start = m_fitting.plan;
        const auto workload = resolve(start, m_catalogue);
        if (workload && !workload->model.doubts.empty())
            workspace = nullptr; // no time is set against another
        if (!m_fitting.before.hasRoom() && workload && workload->source.hasMemory) {
            const ChosenRungs chosen = Climb(start, m_fitting.before, m_footprints)
                                           .choose(memorySavings(*start, workload->model, workload->stack), workspace);
            m_reached = fitOf(chosen.size);
            walk(chosen.memorySavings, workspace, onStep);
        }
        m_fitting.isCancelled = m_stop.stop_requested();
        m_fitting.fits = m_fitting.after.fits;
        m_fitting.isTight = m_fitting.fits && !m_fitting.after.hasRoom();
        m_fitting.isCut = m_footprints.isCut();
        m_fitting.summary = summary();
        if (m_fitting.isCut)
            m_fitting.summary += ". Not every plan was looked at: the search simulates "
                + taskCountText(m_footprints.mostTasks()) + " tasks at most";
        return std::move(m_fitting);
    }

private:
    /// Full recomputation of as few layers as are enough, as the last step.
    PlanPtr fewestLayers(const PlanPtr &plan) const
    {
        const auto workload = resolve(plan, m_catalogue);
        if (!workload || m_reached == Fit::No)
            return plan;
        int low = 0, high = (workload->model.layers + workload->degrees.pipeline - 1) / workload->degrees.pipeline;
        PlanPtr best = plan; // high layers are enough
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            Plan next = *plan;
            next.memory.recomputeLayers = middle;
            auto candidate = std::make_shared<const Plan>(std::move(next));
            if (fitOf(m_footprints.of(candidate)) >= m_reached) {
                high = middle;
                best = std::move(candidate);
            } else {
                low = middle;
            }
        }
        return best;
    }

    LadderStep stepOf(const MemorySaving &saving, bool isLast, EvaluationWorkspace *workspace) const
    {
        LadderStep step;
        step.id = saving.id;
        step.name = saving.name;
        step.plan = withSaving(m_fitting.plan, saving);
        if (saving.aim == SavingAim::RecomputeLayers && isLast)
            step.plan = fewestLayers(step.plan);
        if (step.plan->memory.recomputeLayers && saving.aim == SavingAim::RecomputeLayers)
            step.name = "Recompute " + std::to_string(*step.plan->memory.recomputeLayers) + " layers of each stage";
        step.changes = describeDifferences(*m_fitting.plan, *step.plan);
        step.iterationTime = iterationTime(step.plan, workspace);
        return step;
    }

    void walk(const std::vector<MemorySaving> &chosen, EvaluationWorkspace *workspace,
        const std::function<void(const LadderStep &)> &onStep)
    {
        Metric last = iterationTime(m_fitting.plan, workspace);
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            LadderStep step = stepOf(chosen[i], i + 1 == chosen.size(), workspace);
            const Footprint now = m_fitting.after, next = m_footprints.of(step.plan);
            step.freed =
                now.capacity > 0 ? now.device - next.device : 0; // of a plan that had no place, nothing is known
            step.device = next.device;
            step.capacity = next.capacity;
            if (last && step.iterationTime && *last > 0)
                step.slowdown = *step.iterationTime / *last - 1;
            step.sentence = stepSentence(step, chosen[i].price, now.host - next.host);
            last = step.iterationTime;
            m_fitting.after = next;
            m_fitting.plan = step.plan;
            if (onStep)
                onStep(step);
            m_fitting.steps.push_back(std::move(step));
        }
    }

    Metric iterationTime(const PlanPtr &plan, EvaluationWorkspace *workspace) const
    {
        if (!workspace || m_stop.stop_requested())
            return {};
        const auto evaluation =
            trainyard::run(plan, Depth::Score, { .catalogue = m_catalogue, .workspace = *workspace, .stop = m_stop });
        return evaluation ? (*evaluation)->metrics.iterationTime : Metric {};
    }

    [[nodiscard]] std::string summary() const
    {
        const Footprint &before = m_fitting.before, &after = m_fitting.after;
        const std::size_t count = m_fitting.steps.size();
        if (m_fitting.isCancelled)
            return "Stopped after " + counted(std::int64_t(count), "step");
        if (!m_fitting.fits)
            return closest();
        if (before.capacity == 0)
            return count == 0 ? "The plan fits"
                              : "Fits after " + counted(std::int64_t(count), "step") + ": " + ofGpu(after);
        const std::string tight = m_fitting.isTight
            ? ". With " + headroom(after) + " out of memory is likely: no step of the ladder leaves 5 %"
            : "";
        if (count == 0)
            return "The plan fits: " + ofGpu(before) + tight;
        if (before.fits)
            return "The plan fits with " + headroom(before) + ": " + ofGpu(before) + ". "
                + counted(std::int64_t(count), "step") + (count == 1 ? " leaves" : " leave") + " more: " + ofGpu(after);
        return "Fits after " + counted(std::int64_t(count), "step") + ": " + ofGpu(after) + tight;
    }

    [[nodiscard]] std::string closest() const
    {
        const Footprint &after = m_fitting.after;
        if (!after.isPlaced)
            return "No step of the ladder makes the plan run on these GPUs: it cannot be placed";
        std::string text = "No step of the ladder makes the plan fit. Closest";
        text += m_fitting.steps.empty() ? ", as it is: "
                                        : ", after " + counted(std::int64_t(m_fitting.steps.size()), "step") + ": ";
        text += ofGpu(after);
        return after.hostFill() > 1 ? text + ", and " + ofNode(after) : text;
    }

    Footprints &m_footprints;
    const Catalogue &m_catalogue;
    std::stop_token m_stop;
    Fitting m_fitting;
    Fit m_reached = Fit::No;
};

} // namespace

Fitting fitModel(PlanPtr plan, const Catalogue &catalogue, EvaluationWorkspace &workspace, std::stop_token stop,
    const std::function<void(const LadderStep &)> &onStep)
{
    Footprints footprints(catalogue, kMostFitTasks, std::move(stop));
    return Fitter(std::move(plan), footprints).run(&workspace, onStep);
}

Fitting fitMemory(PlanPtr plan, const Catalogue &catalogue, std::stop_token stop)
{
    Footprints footprints(catalogue, kMostFitTasks, std::move(stop));
    return fitMemory(std::move(plan), footprints);
}

Fitting fitMemory(PlanPtr plan, Footprints &footprints)
{
    return Fitter(std::move(plan), footprints).run(nullptr, {});
}

} // namespace trainyard
