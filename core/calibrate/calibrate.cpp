// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibrate/calibrate.h"

#include "core/assembly/iteration_costs.h"
#include "core/base/number_text.h"
#include "core/calibrate/calibration_case_internal.h"
#include "core/calibrate/collective_samples.h"
#include "core/calibrate/probe_samples.h"
#include "core/calibrate/robust_fit.h"
#include "core/evaluate/metrics/confidence.h"
#include "core/evaluate/run.h"
#include "core/overlay/told_job.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <set>

namespace trainyard {

namespace {

constexpr double kOtherRun = 1.5; // error of predicted steps beyond which plan and run are not the same job
constexpr double kMostFactor = 8; // what lies farther off is not the same thing measured

std::string dateOf(Moment zero)
{
    if (zero <= 0)
        return {};
    const std::time_t seconds = zero / 1'000'000'000;
    std::tm parts {};
    if (!gmtime_r(&seconds, &parts))
        return {};
    char text[32];
    return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%d", &parts));
}

std::string nameOf(const Recording &recording)
{
    std::string name = recording.name;
    if (name.empty() && !recording.sources.empty())
        name = recording.sources.front().file;
    name.erase(0, name.find_last_of('/') + 1);
    const std::string date = dateOf(recording.zero);
    return date.empty() ? name : name + ", " + date;
}

/// Steps that count, every other one held out.
void shareOut(CalibrationCase &of, double share)
{
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

/// By the orders of the plan's schedule: a backward that follows its own forward finds its activations still there.
std::vector<std::vector<RecomputedShares>> recomputedShares(const Workload &workload, const std::stop_token &stop)
{
    std::vector<std::vector<RecomputedShares>> shares;
    if (workload.plan->memory.recompute == Recompute::None)
        return shares;
    const auto costs = cost(workload, stop);
    if (!costs || costs->iteration.classes.size() != costs->stages.size())
        return shares;
    for (std::size_t c = 0; c < costs->stages.size(); ++c) {
        const Program &program = costs->iteration.classes[c].program;
        const std::vector<StageCosts> &stages = costs->stages[c];
        std::vector<RecomputedShares> &of = shares.emplace_back(stages.size());
        for (std::size_t stage = 0; stage < std::min(stages.size(), program.order.size()); ++stage) {
            std::vector<double> all(stages[stage].chunks.size()), again = all;
            for (const Op &op : program.order[stage]) {
                if (std::size_t(op.chunk) >= all.size())
                    continue;
                all[std::size_t(op.chunk)] += isForward(op.kind);
                again[std::size_t(op.chunk)] += op.recomputes || op.kind == OpKind::Recompute;
            }
            for (std::size_t chunk = 0; chunk < all.size(); ++chunk)
                of[stage].push_back(all[chunk] > 0 ? again[chunk] / all[chunk] : 1);
        }
    }
    return shares;
}

class Judge {
public:
    Judge(const CalibrationCase &of, const Plan &plan, const Catalogue &catalogue)
        : m_of(of)
        , m_plan(plan)
        , m_catalogue(catalogue)
    {
        m_plan.calibration.clear();
    }

    /// Of the plan with these factors; 0 where it has no iteration.
    [[nodiscard]] double seconds(const std::vector<const FittedFactor *> &factors)
    {
        Plan plan = m_plan;
        for (const FittedFactor *fitted : factors)
            plan.calibration[fitted->id] = formatCalibrationFactor(fitted->factor);
        const auto answer = run(std::make_shared<const Plan>(std::move(plan)), Depth::Score,
            { .catalogue = m_catalogue, .workspace = m_workspace, .stop = m_of.options.stop });
        return answer && *answer ? (*answer)->metrics.iterationTime.value_or(0) : 0;
    }

    /// Median of |predicted / measured - 1| of the steps that were held out; empty: there are none.
    [[nodiscard]] std::optional<double> errorOf(double predicted) const
    {
        std::vector<double> off;
        for (const int step : m_of.held)
            off.push_back(std::abs(predicted / m_of.run.steps[std::size_t(step)].seconds - 1));
        if (off.empty() || predicted <= 0)
            return std::nullopt;
        return middleOf(std::move(off));
    }

private:
    const CalibrationCase &m_of;
    Plan m_plan;
    const Catalogue &m_catalogue;
    EvaluationWorkspace m_workspace;
};

/// Steps of a log alone: the one factor on products by which the median step comes out.
void addLogFactor(CalibrationCase &of, Judge &judge)
{
    std::vector<double> times;
    for (const int step : of.fitted)
        times.push_back(of.run.steps[std::size_t(step)].seconds);
    const double target = middleOf(times);
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
        return judge.seconds({ &fitted });
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
            fitted.factor.standardError = spread->standardError * target / slope;
    }
    fitted.sentence = "Matrix products take " + factorText(factor, fitted.factor.standardError.value_or(0))
        + "; so that the median of " + wholeText(double(times.size())) + " steps comes out)";
    of.note(
        "Step times alone do not tell what is slow: all of the difference is put on matrix products, which may stand "
        "for communication, host or memory as well, and carries over to other plans with that doubt");
    of.propose(std::move(fitted));
}

void judgeAll(CalibrationCase &of, Judge &judge, const Evaluation &evaluation)
{
    CalibrationProposal &proposal = of.proposal;
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
    proposal.errorBefore = judge.errorOf(evaluation.metrics.iterationTime.value_or(0)).value_or(0);
    proposal.errorAfter = judge.errorOf(judge.seconds(all)).value_or(0);
    if (proposal.errorBefore > kOtherRun)
        of.note("The steps of the run lie " + percentText(proposal.errorBefore)
            + " from the plan: it is hardly the plan of this run");
    else if (proposal.errorAfter > proposal.errorBefore)
        of.note("With all factors the plan lies farther from the run than before: what is left out weighs more");
    std::ranges::stable_sort(explained, [](const auto &a, const auto &b) { return a.first > b.first; });
    std::vector<FittedFactor> sorted;
    for (const auto &[seconds, index] : explained)
        sorted.push_back(std::move(proposal.factors[index]));
    proposal.factors = std::move(sorted);
}

} // namespace

double middleOf(std::vector<double> values)
{
    if (values.empty())
        return 0;
    const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return values.size() % 2 == 1 ? *middle : (*std::max_element(values.begin(), middle) + *middle) / 2;
}

std::string latencyText(double us, double error)
{
    return secondsText(us * 1e-6) + (error > 0 ? " (± " + secondsText(error * 1e-6) + ")" : "");
}

void setError(std::optional<double> &error, double value)
{
    if (value > 0 && std::isfinite(value))
        error = value;
}

std::string factorText(double factor, double error)
{
    return plainText(factor) + " × as long as modelled ("
        + (error > 0 ? "± " + plainText(error) : std::string("its error is not known"));
}

std::vector<int> CalibrationCase::likes() const
{
    std::map<std::pair<const PipelineClass *, int>, int> numbers;
    std::vector<int> likes;
    for (const RankRecording &rank : run.recording->ranks) {
        const PipelineClass *pipelines = classOf(workload, map, rank.rank);
        likes.push_back(-1);
        if (pipelines)
            likes.back() =
                numbers.try_emplace({ pipelines, map.placeOf(rank.rank).stage }, int(numbers.size())).first->second;
    }
    return likes;
}

const RecomputedShares &CalibrationCase::recomputedOf(const PipelineClass &pipelines, int stage) const
{
    static const RecomputedShares kAll;
    const auto c = std::size_t(&pipelines - workload.layout.classes.data());
    return c < recomputed.size() && std::size_t(stage) < recomputed[c].size() ? recomputed[c][std::size_t(stage)]
                                                                              : kAll;
}

void CalibrationCase::note(std::string sentence)
{
    if (std::ranges::find(proposal.notes, sentence) == proposal.notes.end())
        proposal.notes.push_back(std::move(sentence));
}

void CalibrationCase::propose(FittedFactor one, bool isMeasured)
{
    one.factor.recording = recording;
    one.factor.fittedOn = fittedOn;
    const double factor = one.factor.factor.value_or(1);
    if (!one.refused.empty()) {
        // by who fitted it
    } else if (!isMeasured && one.factor.samples < options.leastSamples)
        one.refused = "It stands on " + std::to_string(one.factor.samples) + " samples; at least "
            + std::to_string(options.leastSamples) + " are needed";
    else if (one.residual > options.mostResidual)
        one.refused = "Half of its samples lie more than " + percentText(one.residual) + " off the fit; "
            + percentText(options.mostResidual) + " is the most";
    else if (!(factor < kMostFactor) || !(factor > 1 / kMostFactor))
        one.refused =
            "A factor of " + plainText(factor) + " is no calibration: the run does something else than the plan";
    const auto known = std::ranges::find(proposal.factors, one.id, &FittedFactor::id);
    if (known == proposal.factors.end()) {
        proposal.factors.push_back(std::move(one));
        return;
    }
    // A link that both steps and a tool tell of: the tool's figure is of the link alone.
    if (one.refused.empty())
        *known = std::move(one);
}

Expected<CalibrationProposal> calibrate(
    const Evaluation &evaluation, const Run &run, const Catalogue &catalogue, const CalibrateOptions &options)
{
    Plan bare = *evaluation.plan;
    bare.calibration.clear();
    auto workload = resolve(std::make_shared<const Plan>(std::move(bare)), catalogue);
    if (!workload)
        return std::unexpected(workload.error().front());
    workload->layout = evaluation.layout;
    if (workload->layout.classes.empty())
        return std::unexpected(Error { ErrorCode::BadValue, "plan",
            "it has no iteration that a run could be compared with", "a plan that is placed" });
    CalibrationCase of { .run = run,
        .workload = *std::move(workload),
        .map = RankMap(*evaluation.plan, evaluation.layout,
            options.order.value_or(toldJob(*run.recording).order.value_or(RankOrder::DataBeforePipeline))),
        .fitted = {},
        .held = {},
        .options = options,
        .recording = nameOf(*run.recording),
        .fittedOn = jobOfPlan(*evaluation.plan, evaluation.model, evaluation.layout, catalogue),
        .proposal = {} };
    shareOut(of, options.heldOut);
    of.recomputed = recomputedShares(of.workload, options.stop);
    for (const RankRecording &rank : run.recording->ranks)
        if (rank.worldSize > 0 && rank.worldSize != of.map.worldSize())
            of.isOfWorld = false;
    Judge judge(of, *evaluation.plan, catalogue);
    const bool hasSpans = !of.fitted.empty() && run.steps[std::size_t(of.fitted.front())].hasSpans();
    // First what was timed alone: what the run itself shows of the same takes its place.
    for (FittedFactor &fitted : factorsOfProbe(*run.recording, evaluation, catalogue))
        of.proposal.factors.push_back(std::move(fitted));
    const std::string otherWork = otherWorkOf(evaluation, *run.recording);
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
    } else if (!of.fitted.empty()) {
        addLogFactor(of, judge);
    }
    if (!options.stop.stop_requested()) {
        addLinkFactors(of);
        addBenchmarkFactors(of);
        judgeAll(of, judge, evaluation);
    }
    if (options.stop.stop_requested())
        return std::unexpected(Error { ErrorCode::Cancelled, "", "cancelled", "" });
    if (of.proposal.factors.empty()) {
        std::string why;
        for (const std::string &note : of.proposal.notes)
            why += (why.empty() ? "" : ". ") + note;
        return std::unexpected(Error { ErrorCode::BadValue, of.recording,
            "nothing of it says how the plan's hardware or software does" + (why.empty() ? "" : ": " + why),
            "profiler traces of all ranks, a log of steps, or benchmarks of links and drives" });
    }
    return of.proposal;
}

/// Entries of the same part and place: the new one was fitted without them.
static void removeOthers(Plan &plan, const FittedFactor &fitted)
{
    std::erase_if(plan.calibration, [&](const auto &entry) {
        const auto known = parseCalibrationFactor(entry.second, "calibration/" + entry.first);
        if (!known || known->what != fitted.factor.what)
            return false;
        const CalibrationFactor &own = fitted.factor;
        const bool isWider = own.gpu.empty() && own.datacenter.empty() && own.between.empty();
        return isWider
            || (known->gpu == own.gpu && known->datacenter == own.datacenter && known->between == own.between);
    });
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
        removeOthers(next, fitted);
        next.calibration[fitted.id] = formatCalibrationFactor(factor);
    }
    return next;
}

} // namespace trainyard
