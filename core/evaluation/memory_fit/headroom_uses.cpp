// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/memory_fit/headroom_uses.h"

#include "core/base/words.h"
#include "core/engine/schedule/traits.h"
#include "core/evaluation/evaluate/comparable.h"
#include "core/evaluation/memory_fit/footprint.h"
#include "core/iteration/placement/degrees.h"
#include "core/iteration/placement/resolve.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace trainyard {

namespace {

/// One dimension: the value that the plan has, and those that need more memory.
struct Change {
    std::string label; // empty for the present value
    std::function<void(Plan &)> apply;
};
using Dimension = std::vector<Change>;

Change present()
{
    return { {}, [](Plan &) {} };
}

Dimension microBatches(const Plan &plan)
{
    Dimension changes { present() };
    constexpr int kDoublings = 4;
    int b = plan.workload.microBatch;
    for (int i = 0; i < kDoublings && b * 2 <= plan.workload.globalBatch; ++i) {
        b *= 2;
        if (plan.workload.globalBatch % b == 0)
            changes.push_back({ "micro-batch " + std::to_string(b), [b](Plan &p) { p.workload.microBatch = b; } });
    }
    return changes;
}

Dimension stages(const Plan &plan)
{
    Dimension changes { present() };
    if (!plan.placement.stages.empty() || !plan.placement.layers.empty())
        return changes; // pinned by the user
    for (int p = degreesOf(plan).pipeline; p % 2 == 0;) {
        p /= 2;
        changes.push_back({ counted(p, "stage"), [p](Plan &next) {
                               next.parallelism.pipeline = p;
                               next.parallelism.data.reset();
                               if (p == 1) {
                                   next.parallelism.virtualPipeline = 1;
                                   next.schedule = kPlainSchedule;
                               }
                           } });
    }
    return changes;
}

Dimension tensorRanks(const Plan &plan)
{
    Dimension changes { present() };
    for (int t = degreesOf(plan).tensor; t % 2 == 0;) {
        t /= 2;
        changes.push_back({ "tensor parallel " + std::to_string(t), [t](Plan &next) {
                               next.parallelism.tensor = t;
                               next.parallelism.data.reset();
                               if (t == 1)
                                   next.parallelism.sequenceParallel.reset();
                           } });
    }
    return changes;
}

Dimension recomputation(const Plan &plan)
{
    Dimension changes { present() };
    if (plan.memory.recompute == Recompute::Full)
        changes.push_back({ "selective recomputation", [](Plan &p) { p.memory.recompute = Recompute::Selective; } });
    if (plan.memory.recompute != Recompute::None)
        changes.push_back({ "no recomputation", [](Plan &p) { p.memory.recompute = Recompute::None; } });
    return changes;
}

std::string offerSentence(const HeadroomUse &offer)
{
    return capitalised(offer.label)
        + formatted(": %.3g %% more tokens per second, %.3g of %.3g GB", 100 * offer.gain, double(offer.device) / 1e9,
            double(offer.capacity) / 1e9);
}

class Shopping {
public:
    Shopping(const PlanPtr &plan, const Catalogue &catalogue, EvaluationWorkspace &workspace, std::stop_token stop)
        : m_plan(plan)
        , m_catalogue(catalogue)
        , m_workspace(workspace)
        , m_stop(std::move(stop))
    {
    }

    HeadroomUses run(std::size_t most)
    {
        const EvaluationPtr now = evaluated(m_plan);
        if (now && !whyNotCompared(*now).empty())
            return m_result;
        m_now = now && now->metrics.tokensPerSecond ? *now->metrics.tokensPerSecond : 0;
        if (m_now <= 0 || !stageFacts(*m_plan).hasLayers) // measured times hold for their own shape only
            return m_result;
        const std::vector<Dimension> dimensions { microBatches(*m_plan), stages(*m_plan), tensorRanks(*m_plan),
            recomputation(*m_plan) };
        combine(dimensions, 0, *m_plan, {});
        auto &offers = m_result.offers;
        std::ranges::stable_sort(offers, std::greater {}, &HeadroomUse::gain);
        if (offers.size() > most)
            offers.resize(most);
        return std::move(m_result);
    }

private:
    EvaluationPtr evaluated(const PlanPtr &plan)
    {
        auto result =
            trainyard::run(plan, Depth::Score, { .catalogue = m_catalogue, .workspace = m_workspace, .stop = m_stop });
        ++m_result.evaluated;
        return result ? *result : nullptr;
    }

    void combine(const std::vector<Dimension> &dimensions, std::size_t at, const Plan &plan, const std::string &label)
    {
        if (m_stop.stop_requested()) {
            m_result.isCancelled = true;
            return;
        }
        if (at == dimensions.size()) {
            if (!label.empty())
                judge(std::make_shared<const Plan>(plan), label);
            return;
        }
        for (const Change &change : dimensions[at]) {
            Plan next = plan;
            change.apply(next);
            combine(dimensions, at + 1, next,
                label.empty() || change.label.empty() ? label + change.label : label + ", " + change.label);
        }
    }

    void judge(const PlanPtr &plan, const std::string &label)
    {
        const Footprint size = footprint(plan, m_catalogue, m_workspace);
        if (!size.hasRoom()) {
            m_result.tooLarge += size.isPlaced;
            return;
        }
        const EvaluationPtr evaluation = evaluated(plan);
        if (!evaluation || !evaluation->feasible() || !evaluation->metrics.tokensPerSecond
            || !evaluation->metrics.memory)
            return;
        HeadroomUse offer { label, {}, plan, *evaluation->metrics.tokensPerSecond / m_now - 1,
            *evaluation->metrics.tokensPerSecond, 0, 0 };
        if (offer.gain < kLeastGain)
            return;
        const MemoryMetrics &memory = *evaluation->metrics.memory;
        const StageMemory &fullest = memory.perStage[std::size_t(memory.fullestStage)];
        offer.device = fullest.device;
        offer.capacity = fullest.capacity;
        offer.sentence = offerSentence(offer);
        m_result.offers.push_back(std::move(offer));
    }

    const PlanPtr &m_plan;
    const Catalogue &m_catalogue;
    EvaluationWorkspace &m_workspace;
    std::stop_token m_stop;
    double m_now = 0;
    HeadroomUses m_result;
};

} // namespace

HeadroomUses headroomSuggestions(const PlanPtr &plan, const Catalogue &catalogue, EvaluationWorkspace &workspace,
    std::stop_token stop, std::size_t most)
{
    return Shopping(plan, catalogue, workspace, std::move(stop)).run(most);
}

} // namespace trainyard
