// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/validation/confidence_fit.h"

#include "core/cost/gemm.h"
#include "core/plan/plan_io.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace trainyard {

namespace {

constexpr double kShareOutside = 0.05;   // of the rows, at either end
/// What plans with measured stage times are off by where no row shows it: our judgement.
constexpr TimeRange kProfilePrior{-0.05, 0.05};

/// Measured time / predicted time - 1; empty where the metric is neither a time nor a rate of the iteration.
std::optional<double> timeResidual(const ValidationResult &r)
{
    constexpr std::string_view rates[] = {"tokens_per_s", "tokens_per_s_per_gpu", "model_tflops_per_gpu", "mfu", "hfu"};
    if (!r.predicted || !(*r.predicted > 0))
        return std::nullopt;
    if (r.metric == "iteration_time_s")
        return r.published / *r.predicted - 1;
    if (std::ranges::find(rates, r.metric) != std::end(rates))
        return *r.predicted / r.published - 1;
    return std::nullopt;
}

/// Nine tenths of the values lie inside, and all of fewer than twenty; the prediction itself always does.
TimeRange spreadOf(std::vector<double> residuals)
{
    if (residuals.empty())
        return {};
    std::ranges::sort(residuals);
    const auto outside = std::size_t(std::floor(kShareOutside * double(residuals.size())));
    return {std::min(0.0, residuals[outside]), std::max(0.0, residuals[residuals.size() - 1 - outside])};
}

struct Sample {
    std::vector<double> fit, test;
    void add(RowRole role, double residual) { (role == RowRole::Fit ? fit : test).push_back(residual); }
    [[nodiscard]] int rows() const { return int(fit.size() + test.size()); }
    [[nodiscard]] TimeRange range() const
    {
        const TimeRange a = spreadOf(fit), b = spreadOf(test);
        return {std::min(a.low, b.low), std::max(a.high, b.high)};
    }
};

/// Time of matrix products as layers have them, in seconds.
double typicalProducts(const GpuSpec &gpu)
{
    constexpr std::array<GemmShape, 5> shapes{{{2048, 4096, 4096}, {4096, 3072, 12288}, {8192, 6144, 4096}, {4096, 8192, 8192}, {8192, 12288, 12288}}};
    double seconds = 0;
    for (const GemmShape &shape : shapes)
        seconds += double(gemmTime(gpu, Precision::Bf16, shape).value);
    return seconds;
}

/// The curve of GPUs that nobody measured, tried on each that was: measured / assumed - 1, the extremes.
TimeRange genericKernels(const Catalogue &catalogue)
{
    const auto evidence = [](const GpuSpec &gpu) { return gpu.gemm.evidence; };
    const auto assumed = std::ranges::find(catalogue.gpus, KernelEvidence::SpecSheet, evidence);
    TimeRange range;
    if (assumed == catalogue.gpus.end())
        return range;
    for (const GpuSpec &gpu : catalogue.gpus) {
        if (gpu.gemm.evidence != KernelEvidence::Measured)
            continue;
        GpuSpec generic = gpu;
        generic.gemm = assumed->gemm;
        const double error = typicalProducts(gpu) / typicalProducts(generic) - 1;
        range = {std::min(range.low, error), std::max(range.high, error)};
    }
    return range;
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

/// Half of what the times of equal plans differ by, the median over all plans that one source measured more than once; what is
/// known of the releases that were measured is taken off.
TimeRange repeats(std::span<const ValidationResult> results)
{
    std::map<std::pair<std::string, std::string>, std::pair<double, double>> extremes;   // source and plan -> shortest, longest
    std::map<std::pair<std::string, std::string>, int> counts;
    for (const ValidationResult &r : results) {
        const auto residual = timeResidual(r);
        if (!residual || r.status != RowStatus::Gated)
            continue;
        const std::pair key{r.source + " " + r.metric, agelessPlan(*r.plan)};
        const double factor = 1 + *residual;   // predictions differ by their releases at most
        auto [found, isNew] = extremes.try_emplace(key, factor, factor);
        found->second = {std::min(found->second.first, factor), std::max(found->second.second, factor)};
        ++counts[key];
    }
    std::vector<double> halves;
    for (const auto &[key, ends] : extremes) {
        if (counts[key] > 1)
            halves.push_back((ends.second - ends.first) / (ends.second + ends.first));
    }
    if (halves.empty())
        return {};
    std::ranges::nth_element(halves, halves.begin() + std::ptrdiff_t(halves.size() / 2));
    const double half = halves[halves.size() / 2];
    return {-half, half};
}

bool isBefore(const EvidenceKey &a, const EvidenceKey &b)
{
    return std::tie(a.stack, a.architecture, a.gpu, a.precisionBits, a.isMoe, a.reach, a.shardsWeights)
        < std::tie(b.stack, b.architecture, b.gpu, b.precisionBits, b.isMoe, b.reach, b.shardsWeights);
}

using Json = nlohmann::ordered_json;

Json figure(double value, const char *source)
{
    return {std::round(value * 1e3) / 1e3, source};
}

Json rangeObject(const TimeRange &range, const char *source)
{
    return {{"low", figure(range.low, source)}, {"high", figure(range.high, source)}};
}

} // namespace

ConfidenceData confidenceData(std::span<const ValidationResult> results, const Catalogue &catalogue)
{
    std::vector<std::pair<EvidenceKey, Sample>> samples;
    Sample profiles;
    std::set<std::pair<std::string, std::string>> counted;   // one figure a row
    for (const ValidationResult &r : results) {
        const auto residual = timeResidual(r);
        if (!residual || r.status != RowStatus::Gated || !counted.insert({r.source, r.id}).second)
            continue;
        if (r.plan->profile) {
            profiles.add(r.role, *residual);
            continue;
        }
        for (const EvidenceKey &key : r.evidence) {
            auto found = std::ranges::find(samples, key, [](const auto &s) { return s.first; });
            if (found == samples.end())
                found = samples.insert(samples.end(), {key, {}});
            found->second.add(r.role, *residual);
        }
    }
    ConfidenceData data;
    for (const auto &[key, sample] : samples)
        data.spreads.push_back({key, sample.rows(), sample.range()});
    std::ranges::sort(data.spreads, isBefore, &ResidualSpread::key);
    data.genericKernels = genericKernels(catalogue);
    data.repeats = repeats(results);
    data.profile = profiles.rows() > 0 ? profiles.range() : kProfilePrior;
    return data;
}

std::string confidenceJson(const ConfidenceData &data, const std::string &date)
{
    const Json sources{
        {"rows", {{"title", "errors of the published rows of resources/validation, measured / predicted - 1; scripts/validation"}, {"date", date}}},
        {"kernels", {{"title", "the curve for unmeasured GPUs against the measured curves, on matrix products of transformer layers; scripts/validation"}, {"date", date}}},
        {"repeats", {{"title", "half of what times of equal plans of one source differ by, median; scripts/validation"}, {"date", date}}},
        {"profile", {{"title", "rows with measured stage times; without such rows our judgement"}, {"date", date}}}};
    std::string text = "{\n\"sources\": {\n";
    for (auto source = sources.begin(); source != sources.end(); ++source)
        text += "  " + Json(source.key()).dump() + ": " + source.value().dump() + (std::next(source) == sources.end() ? "\n" : ",\n");
    text += "},\n\"generic_kernels\": " + rangeObject(data.genericKernels, "kernels").dump() + ",\n\"repeats\": "
        + rangeObject(data.repeats, "repeats").dump() + ",\n\"profile\": "
        + rangeObject(data.profile, "profile").dump() + ",\n\"spreads\": [\n";
    for (std::size_t i = 0; i < data.spreads.size(); ++i) {
        const ResidualSpread &spread = data.spreads[i];
        Json entry{{"stack", spread.key.stack}, {"gpu", spread.key.gpu}, {"architecture", spread.key.architecture},
                   {"precision_bits", spread.key.precisionBits}, {"moe", spread.key.isMoe}, {"shards_weights", spread.key.shardsWeights}, {"reach", toString(spread.key.reach)},
                   {"rows", spread.rows}};
        entry.update(rangeObject(spread.range, "rows"));
        text += "  " + entry.dump() + (i + 1 < data.spreads.size() ? ",\n" : "\n");
    }
    return text + "]\n}\n";
}

} // namespace trainyard
