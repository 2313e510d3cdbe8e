// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/problems/doubt_problems.h"

#include "core/base/printable.h"
#include "core/evaluation/evaluate/problems/fix_of.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>

namespace trainyard {

namespace {

constexpr std::size_t kMostShownOfDoubt = 600;

std::string signedPercent(double share)
{
    return (share < 0 ? "-" : "+") + std::to_string(std::lround(100 * std::abs(share))) + " %";
}

std::string whatFollows(double low, double high)
{
    const std::string range = low < 0 || high > 0
        ? ". The range of the time allows for " + signedPercent(low) + " to " + signedPercent(high)
        : "";
    return range + "; the plan is not ranked, searched or compared";
}

std::string sentenceOf(const Doubt &doubt)
{
    const std::string text =
        (doubt.isOfPlan ? "Not understood of what the plan is made of: " : "Not understood of the model: ")
        + shortened(toString(doubt), kMostShownOfDoubt);
    return text + (doubt.isBlocking ? ". Nothing is computed of it" : whatFollows(doubt.low, doubt.high));
}

/// Of the plan's own, which do not block, one for all of them, the weightiest first.
Problem ofPlan(std::vector<const Doubt *> doubts, const Plan &plan)
{
    constexpr std::size_t kMostNamed = 3;
    std::ranges::stable_sort(doubts, std::greater(), [](const Doubt *one) { return one->high - one->low; });
    TimeRange range;
    std::string text = "Not understood of what the plan is made of: ";
    for (std::size_t i = 0; i < doubts.size(); ++i) {
        range = widenedBy({ *doubts[i] }, range);
        if (i < kMostNamed)
            text += (i > 0 ? "; " : "") + shortened(toString(*doubts[i]), kMostShownOfDoubt / kMostNamed);
    }
    if (doubts.size() > kMostNamed)
        text += "; and " + std::to_string(doubts.size() - kMostNamed) + " more";
    return { Severity::Warning, text + whatFollows(range.low, range.high), "not_understood",
        { fixOf(plan, "Leave them out, where you know that they change nothing", [](Plan &p) {
            std::erase_if(p.notUnderstood, [](const NotUnderstood &one) { return !one.isBlocking; });
        }) } };
}

} // namespace

std::vector<Problem> doubtProblems(const Doubts &doubts, const std::string &where)
{
    std::vector<Problem> problems;
    for (const Doubt &doubt : doubts)
        if (doubt.isBlocking || !doubt.isOfPlan)
            problems.push_back({ doubt.isBlocking ? Severity::Blocking : Severity::Warning, sentenceOf(doubt),
                doubt.isOfPlan ? "not_understood" : where, {} });
    return problems;
}

std::optional<Problem> sourcesProblem(const Doubts &doubts, const Plan &plan)
{
    std::vector<const Doubt *> own;
    for (const Doubt &doubt : doubts)
        if (doubt.isOfPlan && !doubt.isBlocking)
            own.push_back(&doubt);
    return own.empty() ? std::nullopt : std::optional(ofPlan(own, plan));
}

TimeRange widenedBy(const Doubts &doubts, TimeRange range)
{
    for (const Doubt &doubt : doubts) {
        range.low = (1 + range.low) * (1 + doubt.low) - 1;
        range.high = (1 + range.high) * (1 + doubt.high) - 1;
    }
    return range;
}

} // namespace trainyard
