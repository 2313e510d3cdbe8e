// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/idle_changes.h"

#include "core/base/words.h"
#include "core/evaluation/evaluate/comparable.h"
#include "core/evaluation/report/idle_reasons_internal.h"
#include "core/evaluation/report/outcome.h"
#include "core/facts/plan/plan_diff.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace trainyard {

namespace {

using detail::IdleCase;

std::string withoutCapital(std::string text)
{
    if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
        text[0] = char(std::tolower(static_cast<unsigned char>(text[0])));
    return text;
}

bool says(const Evaluation &evaluation, const std::string &text)
{
    return std::ranges::find(evaluation.problems, text, &Problem::text) != evaluation.problems.end();
}

/// A note names the change itself, as that of measured stage times does.
bool isNamed(const Evaluation &evaluation, const std::string &change)
{
    return std::ranges::any_of(
        evaluation.problems, [&](const Problem &problem) { return problem.text.find(change) != std::string::npos; });
}

/// What only one of the two is told about the key: the evaluation with the setting says why it is for nothing, or the
/// one that it was taken from said so.
std::string toldAbout(const IdleCase &idle)
{
    for (const auto &[with, without] : { std::pair(&idle.after, &idle.before), std::pair(&idle.before, &idle.after) })
        for (const Problem &problem : with->problems)
            if (problem.where == idle.key.path && problem.severity != Severity::Blocking
                && !says(*without, problem.text))
                return problem.text;
    return {};
}

/// What activation offload is told that moves nothing: about drives and hosts that are not there, or tensors too small.
std::string toldAboutOffload(const IdleCase &idle)
{
    if (!idle.isAbout("memory.activation_offload"))
        return {};
    for (const auto &[with, without] : { std::pair(&idle.after, &idle.before), std::pair(&idle.before, &idle.after) })
        for (const Problem &problem : with->problems)
            if ((problem.where.starts_with("memory.offload") || problem.where.ends_with(".ssd")
                    || problem.where.ends_with(".host"))
                && problem.severity != Severity::Blocking && !says(*without, problem.text))
                return problem.text;
    return {};
}

/// Neither of the two can run, so that nothing is known of what the setting would do.
std::string whyNothingRuns(const IdleCase &idle)
{
    if (idle.after.metrics.iterationTime || idle.after.metrics.jobs)
        return {};
    const auto blocking = std::ranges::find(idle.after.problems, Severity::Blocking, &Problem::severity);
    return "the plan cannot run either way"
        + (blocking == idle.after.problems.end() ? std::string() : ", since " + withoutCapital(blocking->text));
}

std::string whyOnlyTheRangeMoves(const IdleCase &idle)
{
    if (sameRange(idle.before, idle.after))
        return {};
    return "only how sure the prediction is changes, not what it comes to";
}

std::string whyOneIdles(const IdleCase &idle)
{
    constexpr std::array kRules { whyNothingRuns, detail::whyItDoesNotApply, toldAbout, toldAboutOffload,
        detail::whyMeasured, detail::whyShapeIdles, detail::whyMemoryIdles, detail::whyExpertsIdle, detail::whyWanIdles,
        detail::whySharingIdles, detail::whyFillIdles, detail::whyJobsIdle, detail::whyHardwareIdles,
        whyOnlyTheRangeMoves };
    for (const auto rule : kRules)
        if (std::string why = rule(idle); !why.empty())
            return why;
    return {};
}

std::optional<Workload> placedWorkload(const Evaluation &evaluation, const Catalogue &catalogue)
{
    if (hasJobs(*evaluation.plan) || !evaluation.metrics.iterationTime)
        return {};
    auto asked = resolve(evaluation.plan, catalogue);
    if (!asked)
        return {};
    return Workload(*std::move(asked), evaluation.layout);
}

std::string differencesText(const Plan &before, const Plan &after)
{
    std::string text;
    for (const std::string &difference : describeDifferences(before, after))
        text += (text.empty() ? "" : "; ") + difference;
    return text;
}

PlanPtr withKeyBack(const Plan &plan, const Plan &other, const ChangedKey &key)
{
    auto back = withKeyOf(plan, other, key);
    return back ? std::make_shared<const Plan>(std::move(*back)) : nullptr;
}

/// The other setting without which this one would do something: looked for, one at a time.
std::string whatMasks(const ChangedKey &key, const Plan &without, const Plan &with, const ScorePlan &score)
{
    const Plan standard = withSwitchesAtDefault(with);
    int tries = 0;
    for (const ChangedKey &other : changedKeys(standard, with)) {
        if (other.path == key.path)
            continue;
        if (++tries > kMostMasks)
            break;
        const PlanPtr withAlone = withKeyBack(with, standard, other),
                      withoutBoth = withKeyBack(without, standard, other);
        const EvaluationPtr a = withAlone ? score(withAlone) : nullptr, b = withoutBoth ? score(withoutBoth) : nullptr;
        if (a && b && a->metrics.iterationTime && b->metrics.iterationTime && !sameOutcome(*a, *b))
            return "it would do something without " + other.path + " ("
                + differencesText(standard, *withKeyOf(standard, with, other)) + ")";
    }
    return {};
}

} // namespace

std::string IdleChange::sentence() const
{
    return change + " has no effect" + (why.empty() ? std::string(" on this plan") : ": " + withoutCapital(why));
}

std::string whyIdle(const Evaluation &before, const Evaluation &after, const Catalogue &catalogue)
{
    std::optional<Workload> workload = placedWorkload(after, catalogue);
    for (const ChangedKey &key : changedKeys(*before.plan, *after.plan))
        if (std::string why = whyOneIdles({ key, before, after, catalogue, workload }); !why.empty())
            return why;
    return {};
}

std::vector<IdleChange> idleChanges(
    const PlanPtr &before, const Evaluation &after, const Catalogue &catalogue, const ScorePlan &score)
{
    std::vector<IdleChange> idle;
    if (!whyNotCompared(after).empty())
        return idle;
    const std::optional<Workload> workload = placedWorkload(after, catalogue);
    for (const ChangedKey &key : changedKeys(*before, *after.plan)) {
        const PlanPtr back = withKeyBack(*after.plan, *before, key);
        const EvaluationPtr without = back ? score(back) : nullptr;
        if (!without || !sameOutcome(*without, after))
            continue;
        IdleChange &change = idle.emplace_back();
        change.key = key.path;
        change.change = differencesText(*back, *after.plan);
        change.why = whyOneIdles({ key, *without, after, catalogue, workload });
        change.isSaid = says(after, change.why) || isNamed(after, change.change);
        if (change.why.empty())
            change.why = whatMasks(key, *back, *after.plan, score);
    }
    return idle;
}

Plan withSwitchesAtDefault(const Plan &plan)
{
    Plan standard = plan;
    standard.memory = {};
    standard.wan = {};
    standard.moe = {};
    standard.heterogeneity = {};
    standard.bubbleFill = {};
    standard.jobOptions = {};
    standard.calibration = {};
    standard.workload.optimizer = WorkloadSpec {}.optimizer;
    standard.workload.galoreRank = WorkloadSpec {}.galoreRank;
    standard.workload.documentLength = {};
    standard.parallelism.sequenceParallel = {};
    standard.parallelism.zeroStage = Parallelism {}.zeroStage;
    standard.parallelism.tokenSlices = Parallelism {}.tokenSlices;
    standard.stack.release = {};
    return standard;
}

std::vector<Problem> idleNotes(const std::vector<IdleChange> &changes)
{
    std::vector<Problem> notes;
    for (const IdleChange &change : changes)
        if (!change.isSaid)
            notes.push_back({ Severity::Note, change.sentence(), change.key, {} });
    return notes;
}

} // namespace trainyard
