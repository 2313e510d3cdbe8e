// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/job_advice.h"

#include "core/advice/job_comparison.h"
#include "models/text/format.h"

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

RankedPart offerOf(const JobVariant &variant, const JobAdvice &now)
{
    RankedPart offer;
    offer.part.id = offer.part.label = offer.part.sentence = variant.name;
    offer.part.plan = variant.plan;
    Effect &effect = offer.effect;
    effect.isOfJobs = true;
    effect.reason = variant.note;
    effect.iterationTime = variant.makespan();
    effect.feasible = variant.evaluation && variant.evaluation->feasible();
    if (effect.iterationTime && now.makespan && *now.makespan > 0)
        effect.change = *effect.iterationTime / *now.makespan - 1;
    const Metric usd =
        variant.evaluation && variant.evaluation->metrics.jobs ? variant.evaluation->metrics.jobs->usd : std::nullopt;
    if (usd && now.usd)
        effect.because =
            QObject::tr("%1 instead of %2 for all jobs").arg(formatUsd(*usd), formatUsd(*now.usd)).toStdString();
    return offer;
}

} // namespace

JobAdviser::JobAdviser(const Catalogue &catalogue, QObject *parent)
    : QObject(parent)
    , m_catalogue(catalogue)
    , m_worker([this](const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
                   const WatchedWorker::Deliver &deliver) {
        const JobAdvice advice = advise(plan, workspace, stop);
        if (!stop.stop_requested())
            deliver([this, shared = std::make_shared<const JobAdvice>(advice)] { Q_EMIT adviceChanged(shared); });
    })
{
}

JobAdvice JobAdviser::advise(const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop) const
{
    JobAdvice advice;
    advice.plan = plan;
    if (!hasJobs(*plan))
        return advice;
    const RunContext context { .catalogue = m_catalogue,
        .workspace = workspace,
        .stop = stop,
        .fixes = nullptr,
        .cache = &RunPool::shared().cache() };
    const auto now = run(plan, Depth::Score, context);
    if (!now || !(*now)->metrics.jobs)
        return advice;
    advice.makespan = (*now)->metrics.jobs->makespan;
    advice.usd = (*now)->metrics.jobs->usd;
    for (const JobVariant &variant : jobsWithOneMoreGpu(plan, context))
        if (variant.plan)
            advice.oneMoreGpu.push_back(offerOf(variant, advice));
    std::ranges::stable_sort(advice.oneMoreGpu, {}, [](const RankedPart &offer) {
        return offer.effect.iterationTime.value_or(std::numeric_limits<double>::infinity());
    });
    return advice;
}

} // namespace trainyard
