// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/calibrate/calibrate.h"

#include "core/base/median.h"
#include "core/base/number_text.h"
#include "core/evaluation/evaluate/metrics/confidence.h"
#include "core/iteration/iteration_costs/recomputed_shares.h"
#include "core/runs/calibrate/calibration_judge_internal.h"
#include "core/runs/calibrate/probe_samples.h"
#include "core/runs/calibrate/robust_fit.h"
#include "core/runs/overlay/log_steps.h"
#include "core/runs/overlay/reported_job.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

namespace trainyard {

namespace {

constexpr double kOtherRun = 1.5; // error of predicted steps beyond which plan and run are not the same job

/// Steps that count, every other one held out.
void shareOut(CalibrationCase &of, double share)
{
    if (const LogSteps log = logSteps(*of.run.recording); !log.untimed.empty())
        of.note(untimedText(log));
    std::vector<int> counted, spanned;
    for (std::size_t i = 0; i < of.run.steps.size(); ++i) {
        const RunStep &step = of.run.steps[i];
        if (step.isWarmUp || step.isOutlier || step.seconds <= 0)
            continue;
        counted.push_back(int(i));
        if (step.hasSpans())
            spanned.push_back(int(i));
    }
    // Spans tell more than a log's seconds; a run with both is fitted to those steps that show spans.
    std::vector<int> &used = spanned.empty() ? counted : spanned;
    if (used.empty() && of.run.typicalStep >= 0)
        used.push_back(of.run.typicalStep);
    double held = 0;
    for (std::size_t i = 0; i < used.size(); ++i) {
        held += share;
        const bool isHeld = held >= 1 - 1e-9;
        if (isHeld)
            held -= 1;
        (isHeld ? of.held : of.fitted).push_back(used[i]);
    }
    if (of.held.empty() && !of.fitted.empty()) {
        of.held = of.fitted;
        of.note("One step alone: it is fitted and judged, and how far other steps lie is not known");
    }
    of.proposal.stepsFitted = int(of.fitted.size());
    of.proposal.stepsHeldOut = int(of.held.size());
}

/// Steps of a log alone: the one factor on products by which the median step comes out.
void addLogFactor(CalibrationCase &of, Judge &judge)
{
    std::vector<double> times;
    for (const int step : of.fitted)
        times.push_back(of.run.steps[std::size_t(step)].seconds);
    const double target = medianOf(times);
    if (!of.workload.source.hasLayers || target <= 0)
        return;
    std::set<std::string> gpus;
    for (const GpuRun &run : of.workload.layout.runs)
        gpus.insert(of.workload.gpu(run.location()).id);
    if (gpus.size() != 1)
        return of.note("Step times alone do not tell which of the plan's GPU types is slow");
    FittedFactor fitted { .id = "products-" + *gpus.begin() };
    fitted.factor.what = CalibratedPart::Products;
    fitted.factor.gpu = *gpus.begin();
    const auto at = [&](double factor) {
        fitted.factor.factor = factor;
        return judge.secondsBeside(fitted);
    };
    double low = 1 / kMostFactor, high = kMostFactor;
    if (at(low) >= target || at(high) <= target) {
        of.note("No factor on products brings the plan to the steps of " + secondsText(target)
            + ": something else takes them");
        return;
    }
    for (int i = 0; i < 24 && !of.options.stop.stop_requested(); ++i) {
        const double middle = std::sqrt(low * high);
        (at(middle) < target ? low : high) = middle;
    }
    const double factor = std::sqrt(low * high);
    const double slope = (at(factor * 1.02) - at(factor / 1.02)) / (factor * (1.02 - 1 / 1.02));
    fitted.factor.factor = factor;
    fitted.factor.samples = int(times.size());
    const std::vector<double> predicted(times.size(), target);
    if (const auto spread = fitRatio(predicted, times)) {
        fitted.residual = spread->residual;
        if (slope > 0)
            setError(fitted.factor.standardError, spread->standardError * target / slope);
    }
    fitted.sentence = "Matrix products take " + factorText(factor, fitted.factor.standardError.value_or(0))
        + "; so that the median of " + wholeText(double(times.size())) + " steps comes out)";
    of.note(
        "Step times alone do not tell what is slow: all of the difference is put on matrix products, which may stand "
        "for communication, host or memory as well, and carries over to other plans with that doubt");
    of.propose(std::move(fitted));
}

/// Leaves out of what is proposed what brings the plan farther from the steps held out, one factor after the other: the
/// one without which all others together come nearest.
void refuseWhatMisleads(CalibrationCase &of, Judge &judge)
{
    CalibrationProposal &proposal = of.proposal;
    if (proposal.heldSeconds.empty() || of.held == of.fitted)
        return;
    constexpr double kSeen = 2e-3; // less is within what few steps tell
    const double middle = medianOf(proposal.heldSeconds);
    const double most = proposal.errorBefore
        + std::max(kSeen,
            kMedianError * medianDistance(proposal.heldSeconds, middle) / middle
                / std::sqrt(double(proposal.heldSeconds.size())));
    std::vector<FittedFactor *> kept;
    for (FittedFactor &fitted : proposal.factors)
        if (fitted.refused.empty())
            kept.push_back(&fitted);
    const auto errorOf = [&](const FittedFactor *without) {
        std::vector<const FittedFactor *> some;
        std::ranges::copy_if(kept, std::back_inserter(some), [&](const FittedFactor *one) { return one != without; });
        return judge.errorOf(judge.seconds(some)).value_or(std::numeric_limits<double>::infinity());
    };
    while (proposal.errorAfter > most && !kept.empty() && !of.options.stop.stop_requested()) {
        FittedFactor *worst = nullptr;
        double nearest = std::numeric_limits<double>::infinity();
        for (FittedFactor *one : kept)
            if (const double error = errorOf(one); error < nearest)
                nearest = error, worst = one;
        if (!worst)
            return;
        worst->refused = "With it and the others predicted steps lie " + percentText(proposal.errorAfter)
            + " off those held out, without it " + percentText(nearest);
        std::erase(kept, worst);
        proposal.errorAfter = nearest;
    }
}

void judgeAll(CalibrationCase &of, Judge &judge)
{
    CalibrationProposal &proposal = of.proposal;
    for (const int step : of.held)
        proposal.heldSeconds.push_back(of.run.steps[std::size_t(step)].seconds);
    const double before = judge.seconds({});
    std::vector<const FittedFactor *> all;
    std::vector<std::pair<double, std::size_t>> explained; // seconds
    for (std::size_t i = 0; i < proposal.factors.size(); ++i) {
        FittedFactor &fitted = proposal.factors[i];
        if (!fitted.refused.empty()) {
            explained.emplace_back(-1, i);
            continue;
        }
        const double alone = judge.seconds({ &fitted });
        explained.emplace_back(std::abs(alone - before), i);
        all.push_back(&fitted);
        if (const auto error = judge.errorOf(before); error && alone > 0) {
            fitted.factor.errorBefore = error;
            fitted.factor.errorAfter = judge.errorOf(alone);
        }
    }
    const auto errorBefore = judge.errorOf(before), errorAfter = judge.errorOf(judge.seconds(all));
    proposal.errorBefore = errorBefore.value_or(0);
    proposal.errorAfter = errorAfter.value_or(0);
    if (errorBefore && errorAfter && *errorBefore <= kOtherRun)
        refuseWhatMisleads(of, judge);
    for (auto &[seconds, index] : explained)
        if (!proposal.factors[index].refused.empty())
            seconds = -1;
    if (proposal.errorBefore > kOtherRun)
        of.note("The steps of the run lie " + percentText(proposal.errorBefore)
            + " from the plan: it is hardly the plan of this run");
    std::ranges::stable_sort(explained, [](const auto &a, const auto &b) { return a.first > b.first; });
    std::vector<FittedFactor> sorted;
    for (const auto &[seconds, index] : explained)
        sorted.push_back(std::move(proposal.factors[index]));
    proposal.factors = std::move(sorted);
}

} // namespace

Expected<CalibrationProposal> calibrate(
    const Evaluation &evaluation, const Run &run, const Catalogue &catalogue, const CalibrateOptions &options)
{
    Plan bare = *evaluation.plan;
    bare.calibration.clear();
    auto asked = resolve(std::make_shared<const Plan>(std::move(bare)), catalogue);
    if (!asked)
        return std::unexpected(asked.error().front());
    if (evaluation.layout.classes.empty())
        return std::unexpected(Error { ErrorCode::BadValue, "plan",
            "it has no iteration that a run could be compared with", "a plan that is placed" });
    CalibrationCase of { .run = run,
        .workload = { *std::move(asked), evaluation.layout },
        .map = RankMap(*evaluation.plan, evaluation.layout,
            options.order.value_or(reportedJob(*run.recording).order.value_or(RankOrder::DataBeforePipeline))),
        .fitted = {},
        .held = {},
        .options = options,
        .recording = {},
        .known = calibrationOf(*evaluation.plan).value_or(Calibration()),
        .fittedOn = jobOfPlan(*evaluation.plan, evaluation.model, evaluation.layout, catalogue),
        .proposal = {} };
    shareOut(of, options.heldOut);
    if (const auto costs = cost(of.workload, options.stop))
        of.recomputed = recomputedShares(*of.workload.plan, *costs);
    for (const RankRecording &rank : run.recording->ranks)
        if (rank.worldSize > 0 && rank.worldSize != of.map.worldSize())
            of.isOfWorld = false;
    Judge judge(of, *evaluation.plan, catalogue);
    const bool hasSpans = !of.fitted.empty() && run.steps[std::size_t(of.fitted.front())].hasSpans();
    // First what was timed alone: what the run itself shows of the same takes its place.
    of.learnFrom(LearntFrom::Probe);
    for (FittedFactor &fitted : factorsOfProbe(*run.recording, evaluation, catalogue))
        of.propose(std::move(fitted));
    for (std::string &sentence : notesOfProbe(*run.recording, evaluation, catalogue))
        of.note(std::move(sentence));
    const std::string otherWork = otherWorkOf(evaluation, *run.recording);
    of.learnFrom(LearntFrom::Ranks);
    if (!otherWork.empty()) {
        of.note(otherWork + ": its steps are not compared, only links");
        of.held.clear();
        of.proposal.stepsHeldOut = of.proposal.stepsFitted = 0;
    } else if (hasSpans && of.isOfWorld) {
        addKernelFactors(of);
        addHostFactor(of);
        addOverlapFactor(of);
    } else if (hasSpans) {
        of.note("The run has another number of ranks than the plan: kernels and hosts are not compared, only links");
    }
    if (!options.stop.stop_requested()) {
        of.learnFrom(LearntFrom::Collectives);
        addLinkFactors(of);
        of.learnFrom(LearntFrom::Tools);
        addBenchmarkFactors(of);
    }
    // Last what step times alone tell: what else was learnt is not put on them again.
    of.learnFrom(LearntFrom::Steps);
    if (otherWork.empty() && !hasSpans && !of.fitted.empty() && !options.stop.stop_requested())
        addLogFactor(of, judge);
    if (!options.stop.stop_requested())
        judgeAll(of, judge);
    if (options.stop.stop_requested())
        return std::unexpected(Error { ErrorCode::Cancelled, "", "cancelled", "" });
    if (of.proposal.factors.empty()) {
        std::string why;
        for (const std::string &note : of.proposal.notes)
            why += (why.empty() ? "" : ". ") + note;
        return std::unexpected(Error { ErrorCode::BadValue, nameOf(*run.recording),
            "nothing of it says how the plan's hardware or software does" + (why.empty() ? "" : ": " + why),
            "profiler traces of all ranks, a log of steps, or benchmarks of links and drives" });
    }
    return of.proposal;
}

std::optional<double> heldOutError(const CalibrationProposal &proposal, double predicted)
{
    std::vector<double> off;
    for (const double seconds : proposal.heldSeconds)
        off.push_back(std::abs(predicted / seconds - 1));
    if (off.empty() || predicted <= 0)
        return std::nullopt;
    return medianOf(std::move(off));
}

std::string fartherText(const CalibrationProposal &proposal, double after)
{
    constexpr double kSeen = 1e-4; // less is rounding
    if (proposal.stepsHeldOut == 0 || !(after > proposal.errorBefore + kSeen))
        return {};
    return "Farther from the run than without them: with these factors predicted steps lie " + percentText(after)
        + " off those held out, " + percentText(proposal.errorBefore)
        + " before. Each may be right of its own part; what no factor covers weighs more then";
}

Plan withFactors(const Plan &plan, const CalibrationProposal &proposal, const std::vector<std::string> &ids)
{
    Plan next = plan;
    const auto isTaken = [&](const FittedFactor &fitted) {
        return fitted.refused.empty() && std::ranges::find(ids, fitted.id) != ids.end();
    };
    const bool areAll = std::ranges::all_of(
        proposal.factors, [&](const FittedFactor &fitted) { return !fitted.refused.empty() || isTaken(fitted); });
    for (const FittedFactor &fitted : proposal.factors) {
        if (!isTaken(fitted))
            continue;
        CalibrationFactor factor = fitted.factor;
        // Each alone leaves what the others explain; together they were judged too.
        if (areAll && proposal.stepsHeldOut > 0 && factor.errorAfter)
            factor.errorAfter = proposal.errorAfter;
        accept(next, fitted.id, factor);
    }
    return next;
}

} // namespace trainyard
