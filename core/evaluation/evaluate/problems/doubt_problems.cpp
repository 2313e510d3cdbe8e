// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/problems/doubt_problems.h"

#include "core/base/printable.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace trainyard {

namespace {

constexpr std::size_t kMostShownOfDoubt = 600;

std::string signedPercent(double share)
{
    return (share < 0 ? "-" : "+") + std::to_string(std::lround(100 * std::abs(share))) + " %";
}

std::string sentenceOf(const Doubt &doubt)
{
    std::string text = "Not understood of the model: " + shortened(toString(doubt), kMostShownOfDoubt);
    if (doubt.isBlocking)
        return text + ". Nothing is computed of it";
    if (doubt.low < 0 || doubt.high > 0)
        text += ". The range of the time allows for " + signedPercent(doubt.low) + " to " + signedPercent(doubt.high);
    return text + "; the plan is not ranked, searched or compared";
}

} // namespace

std::vector<Problem> doubtProblems(const Doubts &doubts, const std::string &where)
{
    std::vector<Problem> problems;
    for (const Doubt &doubt : doubts)
        problems.push_back({ doubt.isBlocking ? Severity::Blocking : Severity::Warning, sentenceOf(doubt), where, {} });
    return problems;
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
