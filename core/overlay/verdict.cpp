// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/overlay/verdict.h"

#include "core/base/number_text.h"
#include "core/overlay/job_stages.h"
#include "core/overlay/verdict_causes.h"
#include "core/overlay/verdict_parts.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kAsPredicted = 0.01; // of the step
constexpr double kAll = 0.9, kMoreThanAll = 1.15, kMost = 0.6; // of the difference

/// "11 %" from a tenth on, "3.2 %" below.
std::string shareText(double share)
{
    return share >= 0.0995 ? std::to_string(std::llround(share * 100)) + " %" : percentText(share);
}

std::string distanceText(double predicted, double measured)
{
    const double ratio = measured / predicted;
    if (std::abs(ratio - 1) < kAsPredicted)
        return "as long as predicted";
    if (ratio >= 2)
        return plainText(ratio) + " × as long as predicted";
    return shareText(std::abs(ratio - 1)) + (ratio > 1 ? " slower" : " faster") + " than predicted";
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
    std::vector<const TakenPart *> along, against;
    for (const TakenPart &one : taken.parts)
        (one.difference() * whole > 0 ? along : against).push_back(&one);
    if (along.empty())
        return {};
    const double first = along.front()->difference() / whole;
    if (first >= kMoreThanAll && !against.empty())
        return ", more than all of it in " + inPart(*along.front()) + ", against " + inPart(*against.front());
    if (first >= kAll || along.size() == 1)
        return ", all of it in " + inPart(*along.front());
    if (first >= kMost)
        return ", most of it in " + inPart(*along.front());
    return ", above all in " + inPart(*along[0]) + " and in " + inPart(*along[1]);
}

std::string headlineOf(const RunOverlay &overlay, const TakenApart &taken, bool isInRange)
{
    const int run = worldSizeOf(*overlay.run->recording), plan = overlay.evaluation->metrics.gpusUsed;
    std::string text = run > 0 && run != plan
        ? "Of another size (" + wholeText(run) + " GPUs, the plan " + wholeText(plan) + "): "
        : std::string(isInRange ? "In range: " : "");
    text += distanceText(taken.predicted, taken.measured) + whereText(taken);
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text;
}

} // namespace

Expected<RunVerdict> verdictOf(const RunOverlay &overlay)
{
    const auto refused = [](const char *what, const char *right) {
        return std::unexpected(Error { ErrorCode::BadValue, "the run", what, right });
    };
    if (!overlay.evaluation || !overlay.evaluation->metrics.breakdown || !overlay.evaluation->plan)
        return refused("lies under no plan whose iteration was simulated", "a feasible plan of one model");
    if (!overlay.run || overlay.run->steps.empty() || !(overlay.run->medianSeconds > 0))
        return refused("tells no step", "a log of steps or traces of a profiler");
    TakenApart taken = takeApart(overlay);
    if (!(taken.predicted > 0))
        return refused("lies under a plan whose iteration takes no time", "a feasible plan of one model");
    RunVerdict verdict;
    verdict.predictedSeconds = taken.predicted;
    verdict.measuredSeconds = taken.measured;
    const Confidence &confidence = overlay.evaluation->metrics.confidence;
    verdict.isInRange = confidence.iterationLow && confidence.iterationHigh
        && taken.measured >= *confidence.iterationLow && taken.measured <= *confidence.iterationHigh;
    verdict.headline = headlineOf(overlay, taken, verdict.isInRange);
    verdict.causes = causesOf(overlay, taken);
    verdict.doubts = doubtsOf(overlay, taken);
    for (TakenPart &one : taken.parts)
        verdict.parts.push_back(std::move(one.part));
    return verdict;
}

} // namespace trainyard
