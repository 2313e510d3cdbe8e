// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/suspects.h"

#include "core/runs/overlay/link_rates.h"
#include "core/runs/overlay/slow_links.h"

#include "core/base/number_text.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kLeastShare = 0.02; // of the step
constexpr int kLeastMatches = 5, kLeastSteps = 3;

std::string placeText(const RankMap &map, int rank)
{
    if (rank < 0 || rank >= map.worldSize())
        return {};
    const RankPlace place = map.placeOf(rank);
    return " (stage " + std::to_string(place.stage + 1) + ", pipeline " + std::to_string(place.replica + 1) + ")";
}

std::string sentenceOf(const Straggler &found, const WorkOfRank &own, const RankMap &map, bool isSlow)
{
    std::string text = "Rank " + std::to_string(found.rank) + placeText(map, found.rank);
    if (isSlow)
        text += " computes " + percentText(found.computeRatio - 1) + " longer than ranks like it";
    else
        text += " enters " + percentText(found.shareLast) + " of its collectives last, "
            + secondsText(found.lateSeconds)
            + " per step behind ranks like it, though it computes as long as they do: its host or its input holds it "
              "up";
    if (own.waiting > 0 && own.waitSeconds > 0)
        text += (isSlow ? "; " : ". ") + std::to_string(own.waiting)
            + (own.waiting == 1 ? " other waits " : " others wait ") + secondsText(own.waitSeconds)
            + " per step for it";
    return text;
}

} // namespace

Suspects findSuspects(const Run &run, const RankMap &map, const Evaluation *plan)
{
    Suspects suspects;
    if (!run.recording || !(run.medianSeconds > 0))
        return suspects;
    const double least = kLeastShare * run.medianSeconds;
    struct Found {
        Straggler straggler;
        double seconds = 0; // a step
    };
    std::vector<Found> found;
    suspects.work = workOfRanks(run, map);
    for (const WorkOfRank &own : suspects.work) {
        if (own.likes == 0 || (own.matches < kLeastMatches && own.steps < kLeastSteps))
            continue;
        const double longer = own.computeRatio - 1;
        const bool isSlow = longer * own.computeSeconds >= least && longer > kSureErrors * own.computeError;
        // Of few steps the spread is not known: that it is so often the last is all the evidence.
        const bool isOftenLast = own.shareLast - own.lastByChance > kSureErrors * own.lastError;
        const bool isLate = own.lateSeconds >= least && isOftenLast
            && (own.steps < kLeastSteps || own.lateSeconds > kSureErrors * own.lateError);
        if (!isSlow && !isLate)
            continue;
        Straggler made { own.rank, own.shareLast, own.lateSeconds, own.computeRatio, {} };
        made.sentence = sentenceOf(made, own, map, isSlow);
        found.push_back({ std::move(made), isSlow ? longer * own.computeSeconds : own.lateSeconds });
    }
    std::ranges::stable_sort(found, [](const Found &a, const Found &b) { return a.seconds > b.seconds; });
    for (Found &one : found)
        suspects.stragglers.push_back(std::move(one.straggler));
    if (plan)
        suspects.links = slowPlannedLinks(run, map, *plan, least);
    for (SlowLink &link : slowLinks(run, map, least))
        suspects.links.push_back(std::move(link));
    return suspects;
}

} // namespace trainyard
