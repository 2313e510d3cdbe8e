// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/memory_advice.h"

#include "core/iteration/placement/stage_source.h"

#include <functional>

namespace trainyard {

namespace {

/// The gain in tokens per second as a change of the iteration: 1 / (1 + g) - 1.
RankedPart asPart(const HeadroomUse &purchase, const Plan &plan)
{
    RankedPart offer;
    offer.part.id = "buys:" + purchase.label;
    offer.part.group = offer.part.id;
    offer.part.label = purchase.label;
    offer.part.plan = purchase.plan;
    offer.part.sentence = purchase.sentence;
    if (purchase.tokensPerSecond > 0)
        offer.effect.iterationTime =
            double(plan.workload.globalBatch) * plan.workload.sequenceLength / purchase.tokensPerSecond;
    offer.effect.change = 1 / (1 + purchase.gain) - 1;
    offer.effect.memoryBytes = double(purchase.device);
    offer.effect.capacityBytes = double(purchase.capacity);
    return offer;
}

} // namespace

MemoryAdviser::MemoryAdviser(const Catalogue &catalogue, QObject *parent)
    : QObject(parent)
    , m_catalogue(catalogue)
    , m_worker(std::bind_front(&MemoryAdviser::advise, this))
{
}

void MemoryAdviser::advise(const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
    const WatchedWorker::Deliver &deliver)
{
    MemoryAdvice advice;
    advice.plan = plan;
    const auto publish = [&] {
        if (!stop.stop_requested())
            deliver([this, shared = std::make_shared<const MemoryAdvice>(advice)] { Q_EMIT adviceChanged(shared); });
    };
    if (stageFacts(*plan).hasMemory) {
        advice.fitting = fitModel(plan, m_catalogue, workspace, stop, [&](const LadderStep &step) {
            advice.fitting.steps.push_back(step);
            publish();
        });
        if (advice.fitting.before.fits)
            for (const HeadroomUse &purchase : headroomSuggestions(plan, m_catalogue, workspace, stop).offers)
                advice.offers.push_back(asPart(purchase, *plan));
    }
    advice.isComplete = true;
    publish();
}

} // namespace trainyard
