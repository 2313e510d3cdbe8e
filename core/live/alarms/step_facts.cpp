// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/alarms/step_facts.h"

#include "core/base/median.h"
#include "core/evaluation/evaluate/evaluation.h"
#include "core/live/alarms/link_waits.h"
#include "core/runs/overlay/curve_predictions.h"
#include "core/runs/overlay/reported_job.h"
#include "core/runs/overlay/work_of_ranks.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace trainyard::watch {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Watchman::StepFigures noFigures()
{
    return { 0, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone };
}

void addRanks(const WatchedPlan &watched, const std::vector<RankStep> &shares, StepFacts &facts)
{
    const Recording &recording = *watched.run().recording;
    std::map<int, std::vector<std::size_t>> alike;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const int like = shares[i].rank < watched.likes.size() ? watched.likes[shares[i].rank] : -1;
        if (like >= 0)
            alike[like].push_back(i);
    }
    for (const auto &[like, members] : alike) {
        std::vector<double> compute, host;
        for (const std::size_t i : members) {
            compute.push_back(shares[i].shares.compute);
            host.push_back(shares[i].shares.host);
        }
        // The median of the others hardly depends on who is left out, but for few of them.
        const auto usual = [&](std::vector<double> values, std::size_t own) {
            if (values.size() <= 16)
                values.erase(values.begin() + static_cast<std::ptrdiff_t>(own));
            return medianOf(std::move(values));
        };
        const double computeOfAll = medianOf(compute), hostOfAll = medianOf(host);
        for (std::size_t k = 0; k < members.size(); ++k) {
            RankFacts &made = facts.ranks.emplace_back();
            made.rank = recording.ranks[shares[members[k]].rank].rank;
            made.others = static_cast<int>(members.size()) - 1;
            made.compute = compute[k];
            made.host = host[k];
            made.usualCompute = members.size() > 16 ? computeOfAll : usual(compute, k);
            made.usualHost = members.size() > 16 ? hostOfAll : usual(host, k);
        }
    }
}

void addShares(const WatchedPlan &watched, const std::vector<RankStep> &shares, StepFacts &facts)
{
    Watchman::StepFigures &figures = facts.figures;
    figures.compute = figures.communication = figures.waiting = figures.bubble = figures.host = 0;
    std::vector<double> ranksOf(facts.stageWaits.size(), 0);
    for (const RankStep &one : shares) {
        const auto n = static_cast<double>(shares.size());
        figures.compute += one.shares.compute / n;
        figures.communication += one.shares.communication / n;
        figures.waiting += one.shares.stragglers / n;
        figures.bubble += one.shares.bubble / n;
        figures.host += one.shares.host / n;
        const int rank = watched.run().recording->ranks[one.rank].rank;
        if (rank < 0 || rank >= watched.map.worldSize())
            continue;
        const auto stage = static_cast<std::size_t>(watched.map.placeOf(rank).stage);
        facts.stageWaits[stage] += one.shares.stragglers + one.shares.bubble;
        ++ranksOf[stage];
    }
    for (std::size_t stage = 0; stage < ranksOf.size(); ++stage)
        facts.stageWaits[stage] = ranksOf[stage] > 0 ? facts.stageWaits[stage] / ranksOf[stage] : kNone;
}

} // namespace

WatchedPlan watchedPlan(const RunOverlay &overlay, const LinkRates *links, bool hasNew)
{
    WatchedPlan watched { .overlay = &overlay };
    const Run &run = *overlay.run;
    if (const Evaluation *plan = overlay.evaluation.get()) {
        watched.map = RankMap(*plan->plan, plan->layout, overlay.order);
        watched.links = links;
    }
    if (!hasNew)
        return watched;
    const bool hasSpans = std::ranges::any_of(run.steps, [](const RunStep &step) { return step.hasSpans(); });
    if (hasSpans)
        watched.likes = likesOf(run, watched.map);
    const StepWork work = workOf({ &run, overlay.evaluation.get(), &watched.map });
    const ReportedJob job = reportedJob(*run.recording);
    const double gpus = job.ranks > 0 ? job.ranks : work.isOfPlan ? overlay.evaluation->metrics.gpusUsed : 0;
    watched.tokensPerSequence = work.tokens * gpus;
    watched.batch = work.samplesOf(run.steps.empty() ? 0 : run.steps.back().number);
    return watched;
}

Moment momentOf(const Run &run, const RunStep &step)
{
    const Recording &recording = *run.recording;
    if (recording.zero == 0)
        return 0;
    if (step.hasSpans())
        return recording.zero + step.start;
    for (const SampleSeries &series : recording.series) {
        if (series.name != samples::kStepEnded)
            continue;
        for (std::size_t i = std::min(series.at.size(), series.value.size()); i-- > 0;) { // the latest are asked for
            if (series.value[i] == static_cast<double>(step.number))
                return recording.zero + series.at[i];
            if (series.value[i] < static_cast<double>(step.number))
                break;
        }
    }
    return 0;
}

StepFacts factsOf(const WatchedPlan &watched, const RunStep &step)
{
    StepFacts facts;
    facts.number = step.number;
    facts.at = momentOf(watched.run(), step);
    facts.isWarmUp = step.isWarmUp;
    facts.figures = noFigures();
    facts.figures.number = step.number;
    facts.figures.seconds = step.seconds;
    if (step.seconds > 0 && watched.tokensPerSequence > 0 && watched.batch > 0)
        facts.figures.tokensPerSecond = watched.tokensPerSequence * watched.batch / step.seconds;
    if (!step.hasSpans())
        return facts;
    facts.stageWaits.assign(static_cast<std::size_t>(watched.map.stages()), 0);
    const int stages = watched.plan() ? planStages(*watched.plan()) : 0;
    const std::vector<RankStep> shares = sharesOf(watched.run(), step, stages);
    if (!shares.empty())
        addShares(watched, shares, facts);
    addRanks(watched, shares, facts);
    if (watched.links && !watched.links->isEmpty()) {
        const RunStep *own = &step;
        facts.links = watched.links->of(watched.run(), watched.map, { &own, 1 });
        facts.linkWaits = linkWaitsOf(watched, step);
    }
    return facts;
}

Watchman::StepFigures figuresOf(const Evaluation &plan)
{
    Watchman::StepFigures figures = noFigures();
    const Metrics &metrics = plan.metrics;
    figures.seconds = metrics.iterationTime.value_or(kNone);
    figures.tokensPerSecond = metrics.tokensPerSecond.value_or(kNone);
    if (metrics.memory)
        figures.peakBytes = static_cast<double>(metrics.memory->peak);
    if (const auto &parts = metrics.breakdown) {
        figures.compute = parts->compute + parts->optimizer;
        figures.bubble = parts->bubble;
        figures.host = parts->overhead;
        figures.waiting = 0;
        figures.communication = parts->total() - figures.compute - figures.bubble - figures.host;
    }
    return figures;
}

} // namespace trainyard::watch
