// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/validation/coverage.h"

#include "core/evaluation/evaluate/metrics/confidence.h"
#include "core/evaluation/validation/held_out.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace trainyard {

namespace {

constexpr double kOutsideTimes = 20; // 2 / 0.1

struct Outcome {
    const ValidationResult *row = nullptr;
    ConfidenceLabel label = ConfidenceLabel::Extrapolated;
    bool isInside = false;
    double score = 0;
};

using Outcomes = std::vector<Outcome>;
using Rows = std::vector<TimedRow>;

template <class Keep> Rows rowsWhere(const Rows &rows, Keep &&keep)
{
    Rows some;
    std::ranges::copy_if(rows, std::back_inserter(some), [&](const TimedRow &row) { return keep(*row.result); });
    return some;
}

Outcome judged(const TimedRow &row, ConfidenceLabel label, const TimeRange &range)
{
    return { row.result, label, range.low <= row.error && row.error <= range.high, intervalScore(row.error, range) };
}

/// What the ranges without their publications say of the rows. `label`: as HeldOutRanges takes it.
Outcomes outcomes(const Rows &counted, const Rows &evidence, double narrowest, std::optional<ConfidenceLabel> label)
{
    std::set<std::string> publications;
    for (const TimedRow &row : counted)
        publications.insert(row.result->publication);
    Outcomes all;
    for (const std::string &publication : publications) {
        const HeldOutRanges others(rowsWhere(evidence,
                                       [&](const ValidationResult &r) {
                                           return r.status == RowStatus::Gated && r.publication != publication;
                                       }),
            narrowest, label);
        std::map<std::tuple<ConfidenceLabel, std::string, bool, bool>, std::optional<TimeRange>>
            ranges; // by stack, sharded weights, experts
        for (const TimedRow &row : counted) {
            if (row.result->publication != publication)
                continue;
            const ConfidenceLabel own = label ? *label : labelOf(*row.result, others.evidence());
            if (!label && own == ConfidenceLabel::SpecSheet)
                continue; // of its own kernels nothing was hidden: unmeasured rows tell of this label
            const EvidenceKey &plan = row.result->evidence.front();
            const auto [found, isNew] = ranges.try_emplace({ own, plan.stack, plan.shardsWeights, plan.isMoe });
            if (isNew)
                found->second = others.range(own, plan);
            if (found->second)
                all.push_back(judged(row, own, *found->second));
        }
    }
    return all;
}

template <class Counts> Coverage coverageOf(const Outcomes &outcomes, Counts &&counts)
{
    struct Sum {
        int rows = 0, inside = 0;
        double score = 0;
    };
    std::map<std::string_view, Sum> byPublication;
    Coverage coverage;
    for (const Outcome &outcome : outcomes) {
        if (!counts(outcome))
            continue;
        Sum &sum = byPublication[outcome.row->publication];
        ++sum.rows;
        sum.inside += outcome.isInside;
        sum.score += outcome.score;
    }
    for (const auto &[publication, sum] : byPublication) {
        coverage.rows += sum.rows;
        ++coverage.publications;
        coverage.inside += sum.inside;
        coverage.score += sum.score;
        coverage.insideAlike += double(sum.inside) / sum.rows;
        coverage.scoreAlike += sum.score / sum.rows;
    }
    coverage.inside /= std::max(1, coverage.rows);
    coverage.score /= std::max(1, coverage.rows);
    coverage.insideAlike /= std::max(1, coverage.publications);
    coverage.scoreAlike /= std::max(1, coverage.publications);
    return coverage;
}

} // namespace

double intervalScore(double error, const TimeRange &range)
{
    return range.high - range.low + kOutsideTimes * std::max({ 0.0, range.low - error, error - range.high });
}

/// One entry for each label that occurs.
static std::vector<LabelCoverage> byLabel(const Outcomes &all)
{
    std::vector<LabelCoverage> labels;
    for (const ConfidenceLabel label : kConfidenceLabels) {
        const auto isGated = [&](const Outcome &o) { return o.label == label && o.row->status == RowStatus::Gated; };
        const LabelCoverage coverage { label, coverageOf(all, isGated),
            coverageOf(all, [&](const Outcome &o) { return isGated(o) && o.row->role == RowRole::Test; }),
            coverageOf(
                all, [&](const Outcome &o) { return o.label == label && o.row->status == RowStatus::Guessed; }) };
        if (coverage.all.rows + coverage.guessed.rows > 0)
            labels.push_back(coverage);
    }
    return labels;
}

std::vector<LabelCoverage> heldOutCoverage(std::span<const ValidationResult> counted,
    std::span<const ValidationResult> evidence, std::span<const ValidationResult> unmeasured)
{
    const double narrowest = halfOfRepeats(evidence);
    Outcomes all = outcomes(timedRows(counted), timedRows(evidence), narrowest, {});
    std::set<std::string_view> sources;
    for (const ValidationResult &result : counted)
        sources.insert(result.source);
    const Rows specSheet = specSheetRows(unmeasured);
    const Outcomes more =
        outcomes(rowsWhere(specSheet, [&](const ValidationResult &r) { return sources.contains(r.source); }), specSheet,
            narrowest, ConfidenceLabel::SpecSheet);
    all.insert(all.end(), more.begin(), more.end());
    return byLabel(all);
}

std::vector<LabelCoverage> coverageOfOwn(std::span<const ValidationResult> counted, const ConfidenceData &data)
{
    Outcomes all;
    for (const TimedRow &row : timedRows(counted)) {
        const ConfidenceLabel label = labelOf(*row.result, data.evidence);
        const TimeRange shares = rangeOf(data, label, row.result->evidence.front());
        all.push_back(judged(row, label, { std::log1p(shares.low), std::log1p(shares.high) }));
    }
    return byLabel(all);
}

std::vector<LabelCoverage> coverageOf(
    const ValidationRun &run, RowsOrigin origin, const Catalogue &catalogue, const std::stop_token &stop)
{
    if (!run.isComplete)
        return {};
    if (origin == RowsOrigin::Own)
        return coverageOfOwn(run.results, catalogue.confidence);
    const ValidationRun all =
        origin == RowsOrigin::Builtin ? ValidationRun() : runRows(builtinRows(), catalogue, { .stop = stop });
    const ValidationRun unmeasured = runRows(builtinRows(), withoutMeasuredKernels(catalogue), { .stop = stop });
    if (!all.isComplete || !unmeasured.isComplete)
        return {};
    return heldOutCoverage(run.results, origin == RowsOrigin::Builtin ? run.results : all.results, unmeasured.results);
}

} // namespace trainyard
