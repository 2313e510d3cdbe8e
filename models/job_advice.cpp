// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/job_advice.h"

#include "core/evaluation/advice/job_comparison.h"
#include "models/job_edits.h"
#include "models/text/format.h"

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

/// "One RTX A6000 48 GB more in Lab" of "One NVIDIA RTX A6000 48 GB more in Lab, pool lab-gpus": the pool where another
/// offer is called the same without it.
std::string shortName(const JobVariant &variant, const std::vector<JobVariant> &all)
{
    const auto place = [](const std::string &name) { return name.substr(0, name.rfind(", pool ")); };
    const bool isAlone =
        std::ranges::count(all, place(variant.name), [&](const JobVariant &other) { return place(other.name); }) == 1;
    std::string name = isAlone ? place(variant.name) : variant.name;
    static constexpr std::string_view kVendor = "NVIDIA ";
    if (const std::size_t at = name.find(kVendor); at != std::string::npos)
        name.erase(at, kVendor.size());
    return name;
}

/// "+1 RTX A6000 48 GB in Lab" of "One RTX A6000 48 GB more in Lab", where there is little room.
std::string plusOne(std::string name)
{
    static constexpr std::string_view kOne = "One ", kMore = " more in ";
    if (const std::size_t at = name.find(kMore); name.starts_with(kOne) && at != std::string::npos) {
        name.replace(at, kMore.size(), " in ");
        name.replace(0, kOne.size(), "+1 ");
    }
    return name;
}

RankedPart offerOf(const JobVariant &variant, const std::string &name, const JobAdvice &now)
{
    RankedPart offer;
    offer.part.id = variant.name;
    offer.part.sentence = name;
    offer.part.label = plusOne(name);
    offer.part.plan = variant.plan->jobScheduler == now.plan->jobScheduler
        ? variant.plan
        : withScheduler(*variant.plan, now.plan->jobScheduler).plan;
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
    std::vector<JobVariant> variants = jobsWithOneMoreGpu(plan, context);
    std::erase_if(variants, [](const JobVariant &variant) { return !variant.plan; });
    if (variants.empty())
        return advice;
    // Where a solver schedules the plan, both sides are told by a rule: a comparison waits for no solver.
    const JobScheduler rule = variants.front().plan->jobScheduler;
    const auto now = run(rule == plan->jobScheduler ? plan : withScheduler(*plan, rule).plan, Depth::Score, context);
    if (!now || !(*now)->metrics.jobs)
        return advice;
    advice.makespan = (*now)->metrics.jobs->makespan;
    advice.usd = (*now)->metrics.jobs->usd;
    for (const JobVariant &variant : variants)
        advice.oneMoreGpu.push_back(offerOf(variant, shortName(variant, variants), advice));
    std::ranges::stable_sort(advice.oneMoreGpu, {}, [](const RankedPart &offer) {
        return offer.effect.iterationTime.value_or(std::numeric_limits<double>::infinity());
    });
    return advice;
}

} // namespace trainyard
