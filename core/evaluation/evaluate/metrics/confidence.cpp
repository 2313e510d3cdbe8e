// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/metrics/confidence.h"

#include "core/base/words.h"
#include "core/evaluation/evaluate/problems/doubt_problems.h"
#include "core/facts/cluster/pool_gpu.h"
#include "core/facts/hardware/element_bytes.h"
#include "core/facts/plan/calibration.h"
#include "core/iteration/placement/degrees.h"
#include "core/iteration/placement/stage_source.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kFewestRows = 3; // fewer rows on one combination are evidence for their family only

/// The widest of both: neither's observations are left out.
void widen(TimeRange &range, const TimeRange &by)
{
    range.low = std::min(range.low, by.low);
    range.high = std::max(range.high, by.high);
}

KernelEvidence kernelEvidence(const EvidenceKey &key, const Workload &workload)
{
    KernelEvidence weakest =
        key.gpu.empty() ? KernelEvidence::SpecSheet : KernelEvidence::Measured; // empty: described in the plan
    for (const auto &pools : workload.gpus) {
        for (const GpuSpec *gpu : pools) {
            if (gpu->id == key.gpu)
                weakest = std::max(weakest, gpu->gemm.evidence);
        }
    }
    return weakest;
}

} // namespace

std::vector<EvidenceKey> evidenceKeys(
    const Plan &plan, const ModelSpec &model, const Layout &layout, const Catalogue &catalogue)
{
    std::vector<StageLocation> pools;
    std::vector<std::vector<bool>> isKnown(plan.cluster.datacenters.size());
    Reach reach = Reach::Node;
    for (const GpuRun &run : layout.runs) {
        const StageLocation location { run.datacenter, run.pool };
        const int nodeSize =
            std::max(1, plan.cluster.datacenters[std::size_t(run.datacenter)].pools[std::size_t(run.pool)].gpusPerNode);
        if (run.firstGpu + run.gpus > nodeSize)
            reach = std::max(reach, Reach::Fabric);
        auto &known = isKnown[std::size_t(location.datacenter)];
        known.resize(plan.cluster.datacenters[std::size_t(location.datacenter)].pools.size());
        if (known[std::size_t(location.pool)])
            continue;
        if (!pools.empty())
            reach = std::max(reach, pools.front().datacenter == location.datacenter ? Reach::Fabric : Reach::Wan);
        known[std::size_t(location.pool)] = true;
        pools.push_back(location);
    }
    std::vector<EvidenceKey> keys;
    const bool gathersWeights = degreesOf(plan).zeroStage >= 3;
    for (const StageLocation &location : pools) {
        const Pool &pool = plan.cluster.datacenters[std::size_t(location.datacenter)].pools[std::size_t(location.pool)];
        const GpuSpec *const gpu = gpuOf(pool, catalogue);
        EvidenceKey key { plan.stack.name, pool.inlineGpu ? std::string() : pool.gpu,
            gpu ? gpu->architecture : std::string(), elementBits(plan.workload.precision), model.isMoe(), reach,
            gathersWeights };
        if (std::ranges::find(keys, key) == keys.end())
            keys.push_back(std::move(key));
    }
    return keys;
}

int evidenceDistance(const EvidenceKey &measured, const EvidenceKey &plan)
{
    // How a stack gathers sharded weights is its own: ZeRO-3 of 2021 says nothing of other stacks, nor of plans that
    // keep theirs whole.
    if (measured.shardsWeights && !(plan.shardsWeights && measured.stack == plan.stack))
        return kUnrelated;
    const bool isSameGpu = !plan.gpu.empty() && measured.gpu == plan.gpu;
    const bool isSister = !plan.architecture.empty() && measured.architecture == plan.architecture;
    return int(measured.stack != plan.stack)
        + (isSameGpu       ? 0
                : isSister ? 1
                           : kOtherArchitecture)
        + int(measured.precisionBits != plan.precisionBits) + int(measured.isMoe != plan.isMoe)
        + int(measured.shardsWeights != plan.shardsWeights) + int(measured.reach < plan.reach);
}

ConfidenceLabel labelOf(const EvidenceKey &plan, std::span<const Evidence> evidence)
{
    bool hasRelatives = false;
    for (const Evidence &measured : evidence) {
        const int distance = evidenceDistance(measured.key, plan);
        if (distance == 0 && measured.rows >= kFewestRows)
            return ConfidenceLabel::Calibrated;
        hasRelatives = hasRelatives || distance <= 1;
    }
    return hasRelatives ? ConfidenceLabel::SameFamily : ConfidenceLabel::Extrapolated;
}

TimeRange rangeOf(const ConfidenceData &data, ConfidenceLabel label, const EvidenceKey &plan)
{
    TimeRange range;
    for (const LabelRange &known : data.ranges) {
        if (known.label != label || known.isMoe != plan.isMoe)
            continue;
        if (plan.shardsWeights && known.shardingStack == plan.stack)
            return known.range;
        if (!plan.shardsWeights && known.stack == plan.stack)
            return known.range;
        if (known.shardingStack.empty() && known.stack.empty())
            range = known.range;
    }
    return range;
}

/// Whether an override replaces what was fitted to the rows of its stack: they say less about the plan then.
static bool changesFittedFigure(const Stack &stack)
{
    constexpr const char *kFitted[] = { "host_us_per_kernel", "kernel_efficiency", "narrow_efficiency",
        "elementwise_passes", "eager_passes", "accumulation_bytes", "cast_passes", "rowwise_cast_passes",
        "micro_batch_overhead_us", "iteration_overhead_ms", "graphed_overhead_ms", "pair_loss" };
    return std::ranges::any_of(kFitted, [&](const char *key) { return stack.overrides.contains(key); });
}

/// How far the releases lie from the stack as fitted: their times, less one. Only those count that were seen on models
/// of this kind.
static TimeRange releaseRange(const StackSpec &stack, bool isMoe)
{
    TimeRange range;
    for (const StackRelease &release : stack.releases) {
        if (release.plans(isMoe) > 0)
            widen(range, { release.time(isMoe) - 1, release.time(isMoe) - 1 });
    }
    return range;
}

/// "%" of a share, at least 1: nothing is said where there is nothing to say.
static std::string percent(double share)
{
    return std::to_string(std::max(1L, std::lround(100 * share))) + " %";
}

/// A plan that does not say which release it runs, or names one that nobody measured on models of its kind, may run any
/// of them: their times come on top of what the evidence is off by, because rows that name theirs are judged without
/// that difference.
static void addReleases(
    TimeRange &range, std::vector<std::string> &notes, const Workload &workload, const Catalogue &catalogue)
{
    const StackSpec *stack = catalogue.stack(workload.plan->stack.name);
    if (!stack)
        return;
    const bool isMoe = workload.model.isMoe();
    const StackRelease *named = stack->release(workload.plan->stack.release);
    const TimeRange releases = releaseRange(*stack, isMoe);
    if ((named && named->plans(isMoe) > 0) || (releases.low == 0 && releases.high == 0))
        return;
    // Times were taken relative to the named release's already.
    const double own = named ? named->time(isMoe) : 1;
    range.low = (1 + range.low) * std::min(1.0, (1 + releases.low) / own) - 1;
    range.high = (1 + range.high) * std::max(1.0, (1 + releases.high) / own) - 1;
    const std::string apart =
        "releases of this stack lie " + percent((1 + releases.high) / (1 + releases.low) - 1) + " apart";
    notes.push_back(named ? "no plan tells the time of release " + named->id + " from others; " + apart
                          : apart + "; name stack.release");
}

std::optional<FittedOn> jobOfPlan(
    const Plan &plan, const ModelSpec &model, const Layout &layout, const Catalogue &catalogue)
{
    const std::vector<EvidenceKey> keys = evidenceKeys(plan, model, layout, catalogue);
    if (keys.empty())
        return {};
    FittedOn job { .key = keys.front(), .model = model.name, .gpus = 0, .layout = {} };
    job.key.gpu.clear();
    job.key.architecture.clear();
    job.key.reach = keys.back().reach;
    for (const GpuRun &run : layout.runs)
        job.gpus += run.gpus;
    const Degrees degrees = degreesOf(plan);
    const auto add = [&](const char *name, int degree) {
        job.layout += (job.layout.empty() ? "" : ", ") + std::string(name) + " " + std::to_string(degree);
    };
    add("tensor", degrees.tensor);
    add("context", degrees.context);
    add("pipeline", degrees.pipeline);
    add("data", layout.data);
    add("expert", degrees.expert);
    add("chunks", degrees.chunks);
    return job;
}

namespace {

enum class Kinship { Own, Kin, Other }; // the job that factors were fitted to, and the plan's

struct OwnRecording {
    std::string name;
    double error = 0; // median of the steps that no fit saw
    Kinship kinship = Kinship::Own;
};

Kinship kinshipOf(const std::optional<FittedOn> &fitted, const FittedOn &plan)
{
    if (!fitted || evidenceDistance(fitted->key, plan.key) % kOtherArchitecture != 0)
        return Kinship::Other;
    return fitted->model == plan.model && fitted->gpus == plan.gpus && fitted->layout == plan.layout ? Kinship::Own
                                                                                                     : Kinship::Kin;
}

/// The recording whose factors cover the plan: products of every GPU that serves a stage and, where pipelines or
/// gradients cross datacenters, a link between them.
std::optional<OwnRecording> ownRecording(const Workload &workload, bool isAcross, const Catalogue &catalogue)
{
    const auto factors = workload.calibrated ? calibrationOf(*workload.plan) : ExpectedAll<Calibration> {};
    if (!factors || factors->empty())
        return {};
    const auto job = jobOfPlan(*workload.plan, workload.model, workload.layout, catalogue);
    if (!job)
        return {};
    OwnRecording own;
    const auto covers = [&](CalibratedPart part, const std::string &gpu, const std::string &datacenter) {
        for (const auto &[id, factor] : *factors) {
            if (factor.what != part || !factor.errorAfter || (!factor.gpu.empty() && factor.gpu != gpu)
                || (!factor.datacenter.empty() && factor.datacenter != datacenter))
                continue;
            own.name = factor.recording;
            own.error = std::max(own.error, *factor.errorAfter);
            own.kinship = std::max(own.kinship, kinshipOf(factor.fittedOn, *job));
            return true;
        }
        return false;
    };
    const bool isCovered = std::ranges::all_of(workload.layout.runs, [&](const GpuRun &run) {
        return covers(CalibratedPart::Products, workload.gpu(run.location()).id,
            workload.plan->cluster.datacenters[std::size_t(run.datacenter)].id);
    });
    if (!isCovered || (isAcross && !covers(CalibratedPart::Wan, {}, {})))
        return {};
    return own;
}

} // namespace

void addConfidence(Metrics &metrics, const Workload &workload, const Catalogue &catalogue)
{
    const ConfidenceData &data = catalogue.confidence;
    const bool isMeasured = !workload.source.hasLayers;
    const std::vector<EvidenceKey> keys = evidenceKeys(*workload.plan, workload.model, workload.layout, catalogue);
    ConfidenceLabel label = keys.empty() ? ConfidenceLabel::Extrapolated : ConfidenceLabel::Calibrated;
    for (const EvidenceKey &key : keys) {
        ConfidenceLabel own = labelOf(key, data.evidence);
        if (own != ConfidenceLabel::Calibrated && !isMeasured
            && kernelEvidence(key, workload) == KernelEvidence::SpecSheet)
            own = ConfidenceLabel::SpecSheet;
        label = std::max(label, own);
    }
    std::vector<std::string> notes;
    const bool isAcross = !keys.empty() && keys.back().reach == Reach::Wan;
    if (isAcross)
        notes.emplace_back("no published run crosses datacenters");
    if (isMeasured)
        notes.emplace_back("stage times are taken as the plan gives them");
    if (isAcross || isMeasured || changesFittedFigure(workload.plan->stack))
        label = std::max(label, ConfidenceLabel::SameFamily);
    TimeRange range = keys.empty() ? TimeRange {} : rangeOf(data, label, keys.front());
    const auto own = isMeasured ? std::nullopt : ownRecording(workload, isAcross, catalogue);
    if (workload.calibrated && !own && label < ConfidenceLabel::SameFamily) {
        label = ConfidenceLabel::SameFamily; // published runs were predicted without what was measured here
        range = keys.empty() ? range : rangeOf(data, label, keys.front());
        notes.emplace_back("some of it is measured, not its products");
    }
    if (own && own->kinship == Kinship::Own && own->error <= kMostOwnError) {
        // Nine in ten of normal errors lie within 2.44 times their median size.
        const double width = std::max(0.02, 2.44 * own->error);
        label = ConfidenceLabel::Calibrated;
        range = { -width, width };
        notes = { "calibrated by " + (own->name.empty() ? std::string("a recording") : own->name) };
    } else if (!isMeasured) {
        if (own) {
            const std::string name = own->name.empty() ? "a recording" : own->name;
            label = std::max(
                own->kinship == Kinship::Other ? label : ConfidenceLabel::SameFamily, ConfidenceLabel::SameFamily);
            range = rangeOf(data, label, keys.front());
            notes.push_back(own->kinship == Kinship::Own
                    ? "with its factors the plan lies " + percent(own->error) + " from " + name
                    : "its factors are of " + name + ", which ran another job");
        }
        addReleases(range, notes, workload, catalogue);
    }
    if (const Doubts &doubts = workload.model.doubts; !doubts.empty() && !isMeasured) {
        label = std::max(label, ConfidenceLabel::Extrapolated); // no row is of a model that is not understood
        range = widenedBy(doubts, range);
        notes.push_back(counted(doubts.size(), "field") + " of the model or of what the plan is made of "
            + (doubts.size() == 1 ? "is" : "are") + " not understood");
    }
    Confidence &confidence = metrics.confidence;
    confidence.label = toString(label);
    confidence.note = joined(notes, "; ");
    if (metrics.iterationTime) {
        confidence.iterationLow = *metrics.iterationTime * (1 + range.low);
        confidence.iterationHigh = *metrics.iterationTime * (1 + range.high);
    }
}

int evidenceRows(const Evaluation &evaluation, const Catalogue &catalogue)
{
    const std::string &label = evaluation.metrics.confidence.label;
    const bool isCalibrated = label == toString(ConfidenceLabel::Calibrated);
    if (!evaluation.plan || !stageFacts(*evaluation.plan).hasLayers
        || (!isCalibrated && label != toString(ConfidenceLabel::SameFamily)))
        return 0;
    const std::vector<EvidenceKey> keys =
        evidenceKeys(*evaluation.plan, evaluation.model, evaluation.layout, catalogue);
    int rows = 0;
    for (const Evidence &measured : catalogue.confidence.evidence) {
        const bool counts = std::ranges::any_of(keys,
            [&](const EvidenceKey &key) { return evidenceDistance(measured.key, key) <= (isCalibrated ? 0 : 1); });
        rows += counts ? measured.rows : 0;
    }
    return rows;
}

} // namespace trainyard
