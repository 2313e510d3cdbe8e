// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/verdict.h"

#include "core/base/number_text.h"
#include "core/runs/overlay/job_stages.h"
#include "core/runs/overlay/plan_notes.h"
#include "core/runs/overlay/reported_job.h"
#include "core/runs/overlay/verdict_causes.h"
#include "core/runs/overlay/verdict_parts.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>

namespace trainyard {

namespace {

std::string distanceText(double predicted, double measured)
{
    const double ratio = measured / predicted;
    if (std::abs(ratio - 1) < kAsPredicted)
        return "as long as predicted";
    if (ratio >= 2)
        return plainText(ratio) + " × as long as predicted";
    return differenceShareText(std::abs(ratio - 1)) + (ratio > 1 ? " slower" : " faster") + " than predicted";
}

std::string inPart(const TakenPart &one)
{
    return one.kind == VerdictKind::Untold ? std::string("what the log does not tell apart") : one.part.what;
}

/// ", all of it in exposed all-reduce of gradients": the parts that go the way of the whole difference.
std::string whereText(const TakenApart &taken)
{
    const double whole = taken.measured - taken.predicted;
    if (std::abs(whole) < kAsPredicted * taken.predicted)
        return {};
    if (taken.parts.size() == 1 && taken.parts.front().kind == VerdictKind::Untold)
        return ": nothing tells where";
    std::vector<NamedDifference> named;
    for (const TakenPart &one : taken.parts)
        named.push_back({ inPart(one), one.difference() });
    return whereOf(named, whole);
}

/// The first iteration of a job is no step like others: whoever has nothing else hears it at once.
bool isFirstAlone(const Run &run)
{
    return run.steps.size() == 1 && run.steps[0].number <= 1 && !run.steps[0].hasSpans();
}

std::string capital(std::string text)
{
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text;
}

std::string headlineOf(const RunOverlay &overlay, const TakenApart &taken, bool isInRange)
{
    const int run = worldSizeOf(*overlay.run->recording), plan = overlay.evaluation->metrics.gpusUsed;
    std::string text = isFirstAlone(*overlay.run) ? "the first iteration alone, with warm-up in it: " : "";
    if (run > 0 && run != plan)
        text += "of another size (" + wholeText(run) + " GPUs, the plan " + wholeText(plan) + "): ";
    else if (isInRange)
        text += "in range: ";
    text += distanceText(taken.predicted, taken.measured) + whereText(taken);
    return capital(std::move(text));
}

/// Of ranks that are those of the plan.
std::vector<StageInRun> stagesOf(const RunOverlay &overlay, const Catalogue &catalogue)
{
    const RankMap map(*overlay.evaluation->plan, overlay.evaluation->layout, overlay.order);
    const int world = worldSizeOf(*overlay.run->recording);
    if (world > 0 && world != map.worldSize())
        return {};
    std::vector<StageInRun> stages =
        stagesInRun(overlay.suspects.work, overlay.run->medianSeconds, map, *overlay.evaluation, catalogue);
    std::ranges::stable_sort(stages, std::greater {}, &StageInRun::ratio);
    return stages;
}

/// "; stage 2 computes 20 % longer than the plan has it beside the others, 45 ms of a step"
std::string slowStagesText(const std::vector<StageInRun> &stages)
{
    std::string text;
    for (const StageInRun &one : stages)
        if (!one.sentence.empty())
            text += "; stage " + std::to_string(one.stage + 1) + " computes " + percentText(one.ratio - 1)
                + " longer than the plan has it beside the others, " + secondsText(one.seconds) + " of a step";
    return text;
}

/// Of ranks that are those of the plan.
std::vector<RankedCause> rankedOf(const RunOverlay &overlay, const Catalogue &catalogue)
{
    const RankMap map(*overlay.evaluation->plan, overlay.evaluation->layout, overlay.order);
    const int world = worldSizeOf(*overlay.run->recording);
    if (!overlay.run->spans || (world > 0 && world != map.worldSize()))
        return {};
    return rankedCauses(*overlay.run, map, *overlay.evaluation, catalogue);
}

/// "; first cause: throttling of rank 5, 45 ms of a step". Slow stages are told by themselves.
std::string firstCauseText(const std::vector<RankedCause> &ranked)
{
    if (ranked.empty() || ranked.front().kind == CauseKind::SlowStage)
        return {};
    const RankedCause &first = ranked.front();
    std::string text = std::string("; first cause: ") + nameOf(first.kind);
    if (!first.where.empty())
        text += " (" + first.where + ")";
    else if (first.rank >= 0)
        text += " (rank " + std::to_string(first.rank) + ")";
    return text + ", " + secondsText(first.seconds) + " of a step";
}

/// Another job comes first, and is compared with nothing.
void tellOtherJob(RunVerdict &verdict, const RunOverlay &overlay)
{
    const std::string differing = workDifferences(*overlay.evaluation, *overlay.run->recording);
    if (differing.empty())
        return;
    leaveMeasured(verdict, *overlay.run);
    verdict.headline = "Another job: " + differing + ". " + verdict.headline;
}

RunVerdict ofMemoryAlone(const RunOverlay &overlay, MemoryVerdict memory)
{
    RunVerdict verdict;
    verdict.isTimed = false;
    verdict.headline = capital(memory.headline) + "; no step is timed";
    verdict.predictedSeconds = overlay.evaluation->metrics.iterationTime.value_or(0);
    verdict.doubts = doubtsOfUntimed(overlay);
    verdict.memory = std::move(memory);
    tellOtherJob(verdict, overlay);
    return verdict;
}

} // namespace

void leaveMeasured(RunVerdict &verdict, const Run &run)
{
    verdict.isCompared = false;
    verdict.isInRange = false;
    verdict.causes.clear();
    verdict.parts.clear();
    verdict.stages.clear();
    verdict.ranked.clear();
    if (verdict.memory) {
        verdict.memory->causes.clear();
        verdict.memory->parts.clear();
        verdict.memory->headline = bytesText(verdict.memory->measuredBytes) + " " + nameOf(verdict.memory->level)
            + " on " + verdict.memory->of;
    }
    verdict.headline = verdict.isTimed
        ? std::string(isFirstAlone(run) ? "The first iteration alone, with warm-up in it, takes " : "A step takes ")
            + secondsText(verdict.measuredSeconds)
        : verdict.memory->headline + "; no step is timed";
}

Expected<RunVerdict> verdictOf(const RunOverlay &overlay, const Catalogue &catalogue)
{
    const auto refused = [](const char *what, const char *right) {
        return std::unexpected(Error { ErrorCode::BadValue, "the run", what, right });
    };
    if (!overlay.evaluation || !overlay.evaluation->metrics.breakdown || !overlay.evaluation->plan)
        return refused("lies under no plan whose iteration was simulated", "a feasible plan of one model");
    auto memory =
        overlay.run ? memoryVerdict(*overlay.evaluation, *overlay.run->recording, overlay.order) : std::nullopt;
    if (overlay.run && overlay.run->steps.empty() && memory)
        return ofMemoryAlone(overlay, *std::move(memory));
    if (!overlay.run || overlay.run->steps.empty() || !(overlay.run->medianSeconds > 0))
        return refused("tells no step, and no memory", "a log of steps or traces of a profiler");
    TakenApart taken = takeApart(overlay);
    if (!(taken.predicted > 0))
        return refused("lies under a plan whose iteration takes no time", "a feasible plan of one model");
    RunVerdict verdict;
    verdict.predictedSeconds = taken.predicted;
    verdict.measuredSeconds = taken.measured;
    const Confidence &confidence = overlay.evaluation->metrics.confidence;
    verdict.isInRange = overlay.evaluation->feasible() && confidence.iterationLow && confidence.iterationHigh
        && taken.measured >= *confidence.iterationLow && taken.measured <= *confidence.iterationHigh;
    verdict.memory = std::move(memory);
    verdict.stages = stagesOf(overlay, catalogue);
    verdict.ranked = rankedOf(overlay, catalogue);
    verdict.headline =
        headlineOf(overlay, taken, verdict.isInRange) + slowStagesText(verdict.stages) + firstCauseText(verdict.ranked);
    verdict.causes = causesOf(overlay, taken, verdict.stages, verdict.ranked);
    verdict.doubts = doubtsOf(overlay, taken);
    for (TakenPart &one : taken.parts)
        verdict.parts.push_back(std::move(one.part));
    tellOtherJob(verdict, overlay);
    return verdict;
}

} // namespace trainyard
