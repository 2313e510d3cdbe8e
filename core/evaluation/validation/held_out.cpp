// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/validation/held_out.h"

#include "core/evaluation/evaluate/metrics/confidence.h"
#include "core/facts/plan/plan_io.h"
#include "core/iteration/placement/stage_source.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace trainyard {

namespace {

constexpr double kShareOutside = 0.05; // of the weight, at either end
constexpr double kShareInside = 0.9; // of the held-out weight, after widening
constexpr std::size_t kFewestPublications = 3; // that make a range of a stack's own
constexpr double kHalf = 0.5; // what a row of another label counts, and one that was fitted to

/// Measured time / predicted time; empty where the metric is neither a time nor a rate of the iteration.
std::optional<double> timeRatio(const ValidationResult &r)
{
    constexpr std::string_view rates[] = { "tokens_per_s", "tokens_per_s_per_gpu", "model_tflops_per_gpu", "mfu",
        "hfu" };
    if (!r.predicted || !(*r.predicted > 0) || !(r.published > 0))
        return std::nullopt;
    if (r.metric == "iteration_time_s")
        return r.published / *r.predicted;
    if (std::ranges::find(rates, r.metric) != std::end(rates))
        return *r.predicted / r.published;
    return std::nullopt;
}

bool isBefore(const EvidenceKey &a, const EvidenceKey &b)
{
    return std::tie(a.stack, a.architecture, a.gpu, a.precisionBits, a.isMoe, a.reach, a.shardsWeights)
        < std::tie(b.stack, b.architecture, b.gpu, b.precisionBits, b.isMoe, b.reach, b.shardsWeights);
}

const EvidenceKey &planOf(const ValidationResult &row)
{
    return row.evidence.front(); // stack and sharding are the whole plan's
}

/// A row that parameters were fitted to shows less of what the next cluster will.
double fittedShare(const TimedRow &row)
{
    return row.result->role == RowRole::Fit ? kHalf : 1;
}

/// The first value that no more than 1 - `share` of the weight lies above; `values` ascend. Empty without weight.
std::optional<double> quantile(std::span<const double> values, std::span<const double> weights, double share)
{
    double all = 0, sum = 0;
    for (const double weight : weights)
        all += weight;
    for (std::size_t i = 0; i < values.size(); ++i) {
        sum += weights[i];
        if (weights[i] > 0 && sum >= share * all * (1 - 1e-12))
            return values[i];
    }
    return std::nullopt;
}

/// The plan whatever the age of its stack.
std::string agelessPlan(const Plan &plan)
{
    if (plan.stack.release.empty())
        return formatPlan(plan);
    Plan ageless = plan;
    ageless.stack.release.clear();
    return formatPlan(ageless);
}

} // namespace

std::vector<TimedRow> timedRows(std::span<const ValidationResult> results)
{
    std::vector<TimedRow> rows;
    std::set<std::pair<std::string_view, std::string_view>> counted; // one figure a row
    for (const ValidationResult &r : results) {
        const auto ratio = timeRatio(r);
        if (ratio && !r.evidence.empty() && r.plan && stageFacts(*r.plan).hasLayers
            && counted.insert({ r.source, r.id }).second)
            rows.push_back({ &r, std::log(*ratio) });
    }
    return rows;
}

std::vector<TimedRow> specSheetRows(std::span<const ValidationResult> results)
{
    std::vector<TimedRow> rows = timedRows(results);
    std::erase_if(rows, [](const TimedRow &row) { return planOf(*row.result).precisionBits < 16; });
    return rows;
}

std::vector<Evidence> evidenceOf(std::span<const TimedRow> rows)
{
    std::vector<Evidence> all;
    for (const TimedRow &row : rows) {
        if (row.result->status != RowStatus::Gated)
            continue;
        for (const EvidenceKey &key : row.result->evidence) {
            auto found = std::ranges::find(all, key, &Evidence::key);
            if (found == all.end())
                found = all.insert(all.end(), { key, 0 });
            ++found->rows;
        }
    }
    std::ranges::sort(all, isBefore, &Evidence::key);
    return all;
}

ConfidenceLabel labelOf(const ValidationResult &row, std::span<const Evidence> evidence)
{
    ConfidenceLabel weakest = ConfidenceLabel::Calibrated;
    for (const EvidenceKey &key : row.evidence)
        weakest = std::max(weakest, labelOf(key, evidence));
    return weakest != ConfidenceLabel::Calibrated && !row.hasMeasuredKernels ? ConfidenceLabel::SpecSheet : weakest;
}

double halfOfRepeats(std::span<const ValidationResult> results)
{
    struct Extremes {
        double least = 0, most = 0;
        int count = 0;
    };
    std::map<std::pair<std::string, std::string>, Extremes>
        all; // source and plan; predictions differ by their releases at most
    for (const TimedRow &row : timedRows(results)) {
        if (row.result->status != RowStatus::Gated)
            continue;
        Extremes &extremes = all[{ row.result->source, agelessPlan(*row.result->plan) }];
        extremes.least = extremes.count == 0 ? row.error : std::min(extremes.least, row.error);
        extremes.most = extremes.count == 0 ? row.error : std::max(extremes.most, row.error);
        ++extremes.count;
    }
    std::vector<double> halves;
    for (const auto &[key, extremes] : all) {
        if (extremes.count > 1)
            halves.push_back((extremes.most - extremes.least) / 2);
    }
    if (halves.empty())
        return 0;
    std::ranges::nth_element(halves, halves.begin() + std::ptrdiff_t(halves.size() / 2));
    return halves[halves.size() / 2];
}

HeldOutRanges::HeldOutRanges(std::vector<TimedRow> rows, double narrowest, std::optional<ConfidenceLabel> label)
    : m_evidence(evidenceOf(rows))
    , m_narrowest(narrowest)
{
    std::ranges::stable_sort(rows, {}, &TimedRow::error);
    std::map<std::string_view, std::vector<TimedRow>> byPublication;
    for (const TimedRow &row : rows)
        byPublication[row.result->publication].push_back(row);
    std::vector<std::vector<Evidence>> others; // evidence without a publication
    for (const auto &[publication, own] : byPublication) {
        m_publications.emplace_back(publication);
        others.push_back(m_evidence);
        for (const Evidence &held : evidenceOf(own))
            std::ranges::find(others.back(), held.key, &Evidence::key)->rows -= held.rows;
        std::erase_if(others.back(), [](const Evidence &e) { return e.rows == 0; });
    }
    std::set<std::string> shardingStacks;
    for (const TimedRow &row : rows) {
        const auto publication =
            std::ranges::lower_bound(m_publications, row.result->publication) - m_publications.begin();
        m_rows.push_back(
            { row, int(publication), label ? *label : labelOf(*row.result, others[std::size_t(publication)]) });
        if (planOf(*row.result).shardsWeights)
            shardingStacks.insert(planOf(*row.result).stack);
    }
    m_shardingStacks.assign(shardingStacks.begin(), shardingStacks.end());
    setExcesses();
}

HeldOutRanges::Kind HeldOutRanges::kindOf(ConfidenceLabel label, const EvidenceKey &plan) const
{
    const bool isKnown =
        plan.shardsWeights && std::ranges::find(m_shardingStacks, plan.stack) != m_shardingStacks.end();
    return { label, isKnown ? plan.stack : std::string(), plan.isMoe,
        !plan.shardsWeights && speaksForItself(plan.stack, plan.isMoe) ? plan.stack : std::string() };
}

bool HeldOutRanges::speaksForItself(const std::string &stack, bool isMoe) const
{
    std::set<int> publications;
    for (const Row &row : m_rows)
        if (const EvidenceKey &key = planOf(*row.timed.result);
            key.stack == stack && key.isMoe == isMoe && !key.shardsWeights)
            publications.insert(row.publication);
    return publications.size() >= kFewestPublications;
}

/// Rows with sharded weights speak for their own stack alone, as evidenceDistance() has it. Plans without experts are
/// known far better: rows with experts say nothing of them, while all that holds for them holds for the other layers of
/// a model with experts.
double HeldOutRanges::shareFor(const Row &row, const Kind &kind)
{
    const EvidenceKey &key = planOf(*row.timed.result);
    if ((key.shardsWeights && key.stack != kind.shardingStack) || (!kind.stack.empty() && key.stack != kind.stack))
        return 0;
    return key.isMoe == kind.isMoe ? 1 : kind.isMoe ? kHalf : 0;
}

/// A publication weighs as its heaviest row, however many it has.
std::vector<double> HeldOutRanges::alike(std::vector<double> weights) const
{
    struct Sum {
        double heaviest = 0, all = 0;
    };
    std::vector<Sum> sums(m_publications.size());
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        Sum &sum = sums[std::size_t(m_rows[i].publication)];
        sum = { std::max(sum.heaviest, weights[i]), sum.all + weights[i] };
    }
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        const Sum &sum = sums[std::size_t(m_rows[i].publication)];
        weights[i] *= sum.all > 0 ? sum.heaviest / sum.all : 0;
    }
    return weights;
}

std::optional<HeldOutRanges::Spread> HeldOutRanges::spread(const Kind &kind, int heldBack) const
{
    std::vector<double> errors, weights;
    for (const Row &row : m_rows) {
        const double share = row.publication == heldBack ? 0 : shareFor(row, kind);
        errors.push_back(row.timed.error);
        weights.push_back(share * (row.label == kind.label ? 1 : kHalf) * fittedShare(row.timed));
    }
    weights = alike(std::move(weights));
    const auto low = quantile(errors, weights, kShareOutside), middle = quantile(errors, weights, 0.5),
               high = quantile(errors, weights, 1 - kShareOutside);
    if (!low || !middle || !high)
        return std::nullopt;
    return Spread { std::min(*low, *middle - m_narrowest), *middle, std::max(*high, *middle + m_narrowest) };
}

/// How far each row lies outside of what the other publications say of its kind.
void HeldOutRanges::setExcesses()
{
    std::map<std::pair<int, Kind>, std::optional<Spread>> spreads;
    for (Row &row : m_rows) {
        const Kind kind = kindOf(row.label, planOf(*row.timed.result));
        const auto [found, isNew] = spreads.try_emplace({ row.publication, kind });
        if (isNew)
            found->second = spread(kind, row.publication);
        if (!found->second)
            continue; // the only publication
        const Spread &others = *found->second;
        const double way = row.timed.error - others.middle;
        const double edge = way > 0 ? others.high - others.middle : others.middle - others.low;
        row.excess = edge > 0 ? std::abs(way) / edge : 0;
    }
}

/// By how much the way from the middle to the edges grows, so that nine in ten of the rows that were held back would
/// have been inside, and nine in ten with every publication alike. The rows of all labels tell, since the way is
/// relative.
double HeldOutRanges::widening(const Kind &kind) const
{
    std::vector<std::size_t> order;
    std::vector<double> byRow, byPublication;
    for (const Row &row : m_rows) {
        order.push_back(order.size());
        byRow.push_back(shareFor(row, kind));
        byPublication.push_back(byRow.back() * fittedShare(row.timed));
    }
    byPublication = alike(std::move(byPublication));
    std::ranges::sort(order, {}, [&](std::size_t i) { return m_rows[i].excess; });
    double widening = 1;
    for (const std::vector<double> *weights : { &byRow, &byPublication }) {
        std::vector<double> excesses, ordered;
        for (const std::size_t i : order) {
            excesses.push_back(m_rows[i].excess);
            ordered.push_back((*weights)[i]);
        }
        widening = std::max(widening, quantile(excesses, ordered, kShareInside).value_or(1));
    }
    return widening;
}

std::optional<TimeRange> HeldOutRanges::rangeOf(const Kind &kind) const
{
    const auto own = spread(kind, kNone);
    if (!own)
        return std::nullopt;
    const double factor = widening(kind);
    return TimeRange { std::min(0.0, own->middle - factor * (own->middle - own->low)),
        std::max(0.0, own->middle + factor * (own->high - own->middle)) };
}

std::optional<TimeRange> HeldOutRanges::range(ConfidenceLabel label, const EvidenceKey &plan) const
{
    return rangeOf(kindOf(label, plan));
}

std::vector<LabelRange> HeldOutRanges::rangesOf(ConfidenceLabel label) const
{
    std::vector<std::string> stacks { std::string() };
    stacks.insert(stacks.end(), m_shardingStacks.begin(), m_shardingStacks.end());
    std::set<std::string> all;
    for (const Row &row : m_rows)
        all.insert(planOf(*row.timed.result).stack);
    std::vector<Kind> kinds;
    for (const bool isMoe : { false, true }) {
        for (const std::string &stack : stacks)
            kinds.push_back({ label, stack, isMoe, {} });
        for (const std::string &stack : all)
            if (speaksForItself(stack, isMoe))
                kinds.push_back({ label, {}, isMoe, stack });
    }
    std::vector<LabelRange> ranges;
    for (const Kind &kind : kinds) {
        const auto range = rangeOf(kind);
        if (!range)
            continue;
        std::set<int> publications;
        LabelRange known { label, kind.shardingStack, kind.isMoe, kind.stack, 0, 0,
            { std::exp(range->low) - 1, std::exp(range->high) - 1 } };
        for (const Row &row : m_rows) {
            if (row.label == label && shareFor(row, kind) == 1) {
                publications.insert(row.publication);
                ++known.rows;
            }
        }
        known.publications = int(publications.size());
        ranges.push_back(std::move(known));
    }
    return ranges;
}

} // namespace trainyard
