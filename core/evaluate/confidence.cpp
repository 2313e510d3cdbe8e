// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluate/confidence.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kFewestRows = 3;     // fewer rows on one combination are evidence for their family only
constexpr int kEnoughRows = 10;    // a range that is borrowed from others rests on at least so many
constexpr int kFurthest = kOtherArchitecture + 5;   // evidence that shares nothing with a plan
enum class Label : std::uint8_t { Calibrated, SameFamily, Extrapolated, SpecSheet };   // from the best to the worst
constexpr const char *kLabels[] = {"calibrated", "same family", "extrapolated", "spec sheet"};

int precisionBits(Precision precision)
{
    switch (precision) {
    case Precision::Fp32:
    case Precision::Tf32: return 32;
    case Precision::Fp16:
    case Precision::Bf16: return 16;
    case Precision::Fp8:
    case Precision::Mxfp8: return 8;
    case Precision::Nvfp4: return 4;
    }
    return 16;
}

const GpuSpec *gpuOf(const Pool &pool, const Catalogue &catalogue)
{
    return pool.inlineGpu ? &*pool.inlineGpu : catalogue.gpu(pool.gpu);
}

struct Judgement {
    Label label = Label::Calibrated;
    TimeRange range;
};

/// The widest of both: neither's observations are left out.
void widen(TimeRange &range, const TimeRange &by)
{
    range.low = std::min(range.low, by.low);
    range.high = std::max(range.high, by.high);
}

/// Spread of the evidence nearest to a plan: up to `distance`, and further until enough rows are together.
TimeRange nearestSpread(const ConfidenceData &data, const EvidenceKey &plan, int distance)
{
    std::array<TimeRange, kFurthest + 1> ranges;
    std::array<int, kFurthest + 1> rows{};
    for (const ResidualSpread &spread : data.spreads) {
        const auto at = std::size_t(evidenceDistance(spread.key, plan));
        widen(ranges[at], spread.range);
        rows[at] += spread.rows;
    }
    TimeRange range;
    int sum = 0;
    for (int d = 0; d <= kFurthest && (d <= distance || sum < kEnoughRows); ++d) {
        widen(range, ranges[std::size_t(d)]);
        sum += rows[std::size_t(d)];
    }
    return range;
}

/// What was measured on exactly this; rows over the same network are preferred to rows over a wider one.
std::optional<TimeRange> calibratedSpread(const ConfidenceData &data, const EvidenceKey &plan)
{
    std::optional<TimeRange> wider;
    for (const ResidualSpread &spread : data.spreads) {
        if (spread.rows < kFewestRows || evidenceDistance(spread.key, plan) > 0)
            continue;
        if (spread.key.reach == plan.reach)
            return spread.range;
        if (!wider)
            wider.emplace();
        widen(*wider, spread.range);
    }
    return wider;
}

Judgement judged(const EvidenceKey &plan, KernelEvidence kernels, const ConfidenceData &data)
{
    if (const auto measured = calibratedSpread(data, plan))
        return {Label::Calibrated, *measured};
    if (kernels == KernelEvidence::SpecSheet) {
        TimeRange range = nearestSpread(data, plan, 0);
        range.low = (1 + range.low) * (1 + data.genericKernels.low) - 1;
        range.high = (1 + range.high) * (1 + data.genericKernels.high) - 1;
        return {Label::SpecSheet, range};
    }
    const bool hasRelatives = std::ranges::any_of(data.spreads, [&](const ResidualSpread &s) { return evidenceDistance(s.key, plan) <= 1; });
    if (hasRelatives)
        return {Label::SameFamily, nearestSpread(data, plan, 1)};
    return {Label::Extrapolated, nearestSpread(data, plan, 0)};
}

/// Marks the spreads that a plan's range was read from, as judged() reads them; `distance` as it was given there.
void markUsed(const ConfidenceData &data, const EvidenceKey &plan, int distance, std::vector<bool> &isUsed)
{
    const auto mark = [&](auto &&isMeant) {
        int rows = 0;
        for (std::size_t i = 0; i < data.spreads.size(); ++i) {
            if (isMeant(data.spreads[i])) {
                isUsed[i] = true;
                rows += data.spreads[i].rows;
            }
        }
        return rows;
    };
    const auto isCalibrating = [&](const ResidualSpread &s) { return s.rows >= kFewestRows && evidenceDistance(s.key, plan) == 0; };
    if (mark([&](const ResidualSpread &s) { return isCalibrating(s) && s.key.reach == plan.reach; }) > 0 || mark(isCalibrating) > 0)
        return;
    int sum = 0;
    for (int d = 0; d <= kFurthest && (d <= distance || sum < kEnoughRows); ++d)
        sum += mark([&](const ResidualSpread &s) { return evidenceDistance(s.key, plan) == d; });
}

KernelEvidence kernelEvidence(const EvidenceKey &key, const Workload &workload)
{
    KernelEvidence weakest = key.gpu.empty() ? KernelEvidence::SpecSheet : KernelEvidence::Measured;   // empty: described in the plan
    for (const auto &pools : workload.gpus) {
        for (const GpuSpec *gpu : pools) {
            if (gpu->id == key.gpu)
                weakest = std::max(weakest, gpu->gemm.evidence);
        }
    }
    return weakest;
}

} // namespace

std::vector<EvidenceKey> evidenceKeys(const Plan &plan, const ModelSpec &model, const Layout &layout, const Catalogue &catalogue)
{
    std::vector<StageSeat> pools;
    std::vector<std::vector<bool>> isKnown(plan.cluster.datacenters.size());
    Reach reach = Reach::Node;
    for (const GpuRun &run : layout.runs) {
        const StageSeat seat{run.datacenter, run.pool};
        const int nodeSize = std::max(1, plan.cluster.datacenters[std::size_t(run.datacenter)].pools[std::size_t(run.pool)].gpusPerNode);
        if (run.firstGpu + run.gpus > nodeSize)
            reach = std::max(reach, Reach::Fabric);
        auto &known = isKnown[std::size_t(seat.datacenter)];
        known.resize(plan.cluster.datacenters[std::size_t(seat.datacenter)].pools.size());
        if (known[std::size_t(seat.pool)])
            continue;
        if (!pools.empty())
            reach = std::max(reach, pools.front().datacenter == seat.datacenter ? Reach::Fabric : Reach::Wan);
        known[std::size_t(seat.pool)] = true;
        pools.push_back(seat);
    }
    std::vector<EvidenceKey> keys;
    for (const StageSeat &seat : pools) {
        const Pool &pool = plan.cluster.datacenters[std::size_t(seat.datacenter)].pools[std::size_t(seat.pool)];
        const GpuSpec *const gpu = gpuOf(pool, catalogue);
        EvidenceKey key{plan.stack.name, pool.inlineGpu ? std::string() : pool.gpu, gpu ? gpu->architecture : std::string(),
                        precisionBits(plan.workload.precision), model.isMoe(), reach, plan.parallelism.zeroStage >= 3};
        if (std::ranges::find(keys, key) == keys.end())
            keys.push_back(std::move(key));
    }
    return keys;
}

int evidenceDistance(const EvidenceKey &measured, const EvidenceKey &plan)
{
    const bool isSameGpu = !plan.gpu.empty() && measured.gpu == plan.gpu;
    const bool isSister = !plan.architecture.empty() && measured.architecture == plan.architecture;
    return int(measured.stack != plan.stack) + (isSameGpu ? 0 : isSister ? 1 : kOtherArchitecture)
        + int(measured.precisionBits != plan.precisionBits) + int(measured.isMoe != plan.isMoe)
        + int(measured.shardsWeights != plan.shardsWeights) + int(measured.reach < plan.reach);
}

/// Whether an override replaces what was fitted to the rows of its stack: they say less about the plan then.
static bool changesFittedFigure(const Stack &stack)
{
    constexpr const char *kFitted[] = {"host_us_per_kernel", "kernel_efficiency", "narrow_efficiency", "elementwise_passes", "eager_passes",
                                       "accumulation_bytes", "cast_passes", "rowwise_cast_passes", "expert_overhead_us",
                                       "micro_batch_overhead_us", "iteration_overhead_ms"};
    return std::ranges::any_of(kFitted, [&](const char *key) { return stack.overrides.contains(key); });
}

/// How far the releases lie from the stack as fitted: their times, less one. Only those count that were seen on models of this kind.
static TimeRange releaseRange(const StackSpec &stack, bool isMoe)
{
    TimeRange range;
    for (const StackRelease &release : stack.releases) {
        if (release.plans(isMoe) > 0)
            widen(range, {release.time(isMoe) - 1, release.time(isMoe) - 1});
    }
    return range;
}

/// "%" of a share, at least 1: nothing is said where there is nothing to say.
static std::string percent(double share)
{
    return std::to_string(std::max(1L, std::lround(100 * share))) + " %";
}

/// A plan that does not say which release it runs, or names one that nobody measured on models of its kind, may run any of them:
/// their times come on top of what the evidence is off by, because rows that name theirs are judged without that difference.
static void addReleases(Judgement &judgement, Confidence &confidence, const Workload &workload)
{
    const StackSpec &stack = workload.stack;
    const bool isMoe = workload.model.isMoe();
    const StackRelease *named = stack.release(workload.plan->stack.release);
    const TimeRange releases = releaseRange(stack, isMoe);
    if ((named && named->plans(isMoe) > 0) || (releases.low == 0 && releases.high == 0))
        return;
    // Times were taken relative to the named release's already.
    const double own = named ? named->time(isMoe) : 1;
    judgement.range.low = (1 + judgement.range.low) * std::min(1.0, (1 + releases.low) / own) - 1;
    judgement.range.high = (1 + judgement.range.high) * std::max(1.0, (1 + releases.high) / own) - 1;
    const std::string apart = "releases of this stack lie " + percent((1 + releases.high) / (1 + releases.low) - 1) + " apart";
    confidence.note = named ? "no plan tells the time of release " + named->id + " from others; " + apart : apart + "; name stack.release";
}

void addConfidence(Metrics &metrics, const Workload &workload, const Catalogue &catalogue)
{
    const ConfidenceData &data = catalogue.confidence;
    Judgement worst;
    if (workload.plan->profile) {
        worst.range = data.profile;
    } else {
        for (const EvidenceKey &key : evidenceKeys(*workload.plan, workload.model, workload.layout, catalogue)) {
            const Judgement judgement = judged(key, kernelEvidence(key, workload), data);
            worst.label = std::max(worst.label, judgement.label);
            widen(worst.range, judgement.range);
        }
    }
    if (changesFittedFigure(workload.plan->stack))
        worst.label = std::max(worst.label, Label::SameFamily);
    widen(worst.range, data.repeats);
    Confidence &confidence = metrics.confidence;
    if (!workload.plan->profile)
        addReleases(worst, confidence, workload);
    confidence.label = kLabels[std::size_t(worst.label)];
    if (metrics.iterationTime) {
        confidence.iterationLow = *metrics.iterationTime * (1 + worst.range.low);
        confidence.iterationHigh = *metrics.iterationTime * (1 + worst.range.high);
    }
}

int evidenceRows(const Evaluation &evaluation, const Catalogue &catalogue)
{
    if (!evaluation.plan || evaluation.plan->profile)
        return 0;
    const ConfidenceData &data = catalogue.confidence;
    const int distance = evaluation.metrics.confidence.label == kLabels[std::size_t(Label::SameFamily)] ? 1 : 0;
    std::vector<bool> isUsed(data.spreads.size());
    for (const EvidenceKey &key : evidenceKeys(*evaluation.plan, evaluation.model, evaluation.layout, catalogue))
        markUsed(data, key, distance, isUsed);
    int rows = 0;
    for (std::size_t i = 0; i < isUsed.size(); ++i)
        rows += isUsed[i] ? data.spreads[i].rows : 0;
    return rows;
}

} // namespace trainyard
