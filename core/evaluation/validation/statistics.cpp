// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/validation/statistics.h"

#include "core/base/median.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace trainyard {

namespace {

using Pointers = std::vector<const ValidationResult *>;

/// Ranks from 1; equal values share the mean of the ranks that they take up.
std::vector<double> ranks(std::span<const double> values)
{
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
    std::vector<double> result(values.size());
    for (std::size_t first = 0; first < order.size();) {
        std::size_t end = first;
        while (end < order.size() && values[order[end]] == values[order[first]])
            ++end;
        for (std::size_t i = first; i < end; ++i)
            result[order[i]] = double(first + 1 + end) / 2;
        first = end;
    }
    return result;
}

double mean(std::span<const double> values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

ErrorStatistics statisticsWhere(const Pointers &results, bool (*isMeant)(const ValidationResult &))
{
    Pointers some;
    std::ranges::copy_if(results, std::back_inserter(some), [&](const ValidationResult *r) { return isMeant(*r); });
    return errorStatistics(some);
}

bool isGated(const ValidationResult &result)
{
    return result.status == RowStatus::Gated;
}

MetricSummary summariseMetric(const std::string &metric, const Pointers &results)
{
    return { .metric = metric,
        .gated = statisticsWhere(results, &isGated),
        .fit = statisticsWhere(results, [](const auto &r) { return isGated(r) && r.role == RowRole::Fit; }),
        .test = statisticsWhere(results, [](const auto &r) { return isGated(r) && r.role == RowRole::Test; }),
        .guessed = statisticsWhere(results, [](const auto &r) { return !isGated(r); }),
        .failed = int(std::ranges::count_if(results, [](const auto *r) { return isGated(*r) && !r->predicted; })) };
}

/// Adds one result to the summary's rows and, in order of first appearance, to its metrics.
struct Collected {
    std::set<std::string_view> ids;
    std::vector<std::pair<std::string, Pointers>> metrics;
    Pointers all;

    void add(const ValidationResult &result)
    {
        ids.insert(result.id);
        all.push_back(&result);
        auto found = std::ranges::find(metrics, result.metric, [](const auto &m) { return m.first; });
        if (found == metrics.end())
            found = metrics.insert(metrics.end(), { result.metric, {} });
        found->second.push_back(&result);
    }

    SourceSummary summary() const
    {
        SourceSummary summary;
        summary.rows = int(ids.size());
        summary.fit = fitJudgement(all);
        for (const auto &[metric, results] : metrics)
            summary.metrics.push_back(summariseMetric(metric, results));
        return summary;
    }
};

/// A computed figure of memory does not say that anything ran; a time does.
bool isOfARun(const ValidationResult &result)
{
    return !result.metric.starts_with("memory.") && !result.metric.starts_with("wan.")
        && !result.metric.starts_with("cost.");
}

/// Results by a key, in the order of first appearance.
std::vector<std::pair<std::string, Collected>> collect(
    std::span<const ValidationResult> results, std::string ValidationResult::*key)
{
    std::vector<std::pair<std::string, Collected>> all;
    for (const ValidationResult &result : results) {
        auto found = std::ranges::find(all, result.*key, [](const auto &c) { return c.first; });
        if (found == all.end())
            found = all.insert(all.end(), { result.*key, {} });
        found->second.add(result);
    }
    return all;
}

} // namespace

std::optional<double> rankCorrelation(std::span<const double> a, std::span<const double> b)
{
    if (a.size() != b.size() || a.size() < 2)
        return std::nullopt;
    const std::vector<double> x = ranks(a), y = ranks(b);
    const double middle = double(x.size() + 1) / 2;
    double xy = 0, xx = 0, yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xy += (x[i] - middle) * (y[i] - middle);
        xx += (x[i] - middle) * (x[i] - middle);
        yy += (y[i] - middle) * (y[i] - middle);
    }
    return xx > 0 && yy > 0 ? std::optional(xy / std::sqrt(xx * yy)) : std::nullopt;
}

ErrorStatistics errorStatistics(std::span<const ValidationResult *const> results)
{
    std::vector<double> errors, sizes, published, predicted;
    for (const ValidationResult *result : results) {
        if (!result->predicted)
            continue;
        errors.push_back(*result->error());
        sizes.push_back(std::abs(errors.back()));
        published.push_back(result->published);
        predicted.push_back(*result->predicted);
    }
    ErrorStatistics statistics;
    statistics.n = int(errors.size());
    if (errors.empty())
        return statistics;
    statistics.meanAbs = mean(sizes);
    statistics.maxAbs = std::ranges::max(sizes);
    statistics.medianAbs = medianOf(std::move(sizes));
    statistics.bias = mean(errors);
    statistics.rankCorrelation = rankCorrelation(published, predicted);
    return statistics;
}

FitJudgement fitJudgement(std::span<const ValidationResult *const> results)
{
    std::set<std::pair<std::string_view, std::string_view>> ran, tooLarge;
    for (const ValidationResult *result : results) {
        if (!result->fits || !isOfARun(*result))
            continue;
        ran.insert({ result->source, result->id });
        if (!*result->fits)
            tooLarge.insert({ result->source, result->id });
    }
    return { int(ran.size()), int(tooLarge.size()) };
}

std::vector<SourceSummary> summarise(std::span<const RowSet> sets, std::span<const ValidationResult> results)
{
    std::vector<SourceSummary> summaries;
    for (const auto &[source, collected] : collect(results, &ValidationResult::source)) {
        SourceSummary summary = collected.summary();
        summary.source = source;
        if (const auto set = std::ranges::find(sets, source, &RowSet::source); set != sets.end()) {
            summary.title = set->title;
            summary.url = set->url;
            summary.note = set->note;
        }
        summaries.push_back(std::move(summary));
    }
    return summaries;
}

std::vector<SourceSummary> summariseGroups(std::span<const ValidationResult> results, std::string_view source)
{
    std::vector<ValidationResult> own;
    std::ranges::copy_if(
        results, std::back_inserter(own), [&](const ValidationResult &r) { return r.source == source; });
    std::vector<SourceSummary> summaries;
    for (const auto &[group, collected] : collect(own, &ValidationResult::group)) {
        SourceSummary summary = collected.summary();
        summary.source = source;
        summary.group = group;
        summaries.push_back(std::move(summary));
    }
    return summaries;
}

} // namespace trainyard
