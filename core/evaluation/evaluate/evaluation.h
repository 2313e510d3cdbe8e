#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The answer to a plan: an immutable value that every view, report and export only reads. Names follow the metrics of
// docs/metrics.md; a metric that does not apply is empty, never zero.

#include "core/base/metric.h"
#include "core/engine/timeline/timeline.h"
#include "core/evaluation/evaluate/job_metrics.h"
#include "core/facts/plan/plan.h"
#include "core/iteration/cost/wan/wan_use.h"
#include "core/iteration/memory/stage_bytes.h"
#include "core/iteration/model_states/optimizer_step.h"
#include "core/iteration/placement/layout.h"
#include "core/iteration/prefill/fill_metrics.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

struct Breakdown { // seconds; mean over the stages of the slowest pipeline; adds up to the iteration
    double compute = 0, bubble = 0, tensorParallel = 0, contextParallel = 0, expertParallel = 0, wan = 0, pipeline = 0,
           dataParallel = 0, offloadStall = 0, optimizer = 0;
    /// host work at the end; metrics call the sum of it and the update `breakdown_s.optimizer`
    double overhead = 0;
    // The part of dataParallel and of offloadStall that lies inside forward and backward spans, not in gaps between
    // them
    double dataParallelInSpans = 0, offloadStallInSpans = 0;
    [[nodiscard]] double total() const
    {
        return compute + bubble + tensorParallel + contextParallel + expertParallel + wan + pipeline + dataParallel
            + offloadStall + optimizer + overhead;
    }
};

/// The parts of a breakdown, for whoever sums, lists or exports them all.
inline constexpr std::array<double Breakdown::*, 11> kBreakdownParts { &Breakdown::compute, &Breakdown::bubble,
    &Breakdown::tensorParallel, &Breakdown::contextParallel, &Breakdown::expertParallel, &Breakdown::wan,
    &Breakdown::pipeline, &Breakdown::dataParallel, &Breakdown::offloadStall, &Breakdown::optimizer,
    &Breakdown::overhead };

struct MemoryMetrics {
    /// of the fullest GPU (largest device / capacity)
    std::int64_t peak = 0, capacity = 0;
    int fullestStage = 0;
    bool fits = true;
    std::vector<StageMemory> perStage;
    /// main memory of the node that has the largest share of it taken
    std::int64_t host = 0;
    /// 0 where no pool that keeps anything there states one
    std::int64_t hostCapacity = 0;
};

/// What the equal GPUs of one stage of one class do in an iteration: seconds, which add up to it.
struct DeviceMetrics {
    StageLocation at;
    int pipelineClass = 0, stage = 0;
    /// GPUs
    int ranks = 0;
    /// degree of tensor parallel
    int tensor = 1;
    int microBatch = 1, microBatches = 1;
    /// of the states that ZeRO divides, on each; 1 where it divides none
    double stateShare = 1;
    /// computing: forward, backward, recomputation and update
    double time = 0;
    /// all else: for other GPUs, for data, exchanges that show, host work
    double wait = 0;
    /// bytes on each; 0 where memory is not known
    std::int64_t peak = 0, device = 0, capacity = 0;
    /// of those, weights, gradients and optimizer states
    double states = 0;
};

/// Activations that wait for the backward pass outside the GPU (SSDTrain, arXiv 2408.10013); all figures are of the GPU
/// that moves most.
struct OffloadMetrics {
    /// written in one iteration
    double bytesPerGpu = 0;
    /// written = read + forwarded
    double bytesRead = 0, bytesForwarded = 0;
    /// needed before their store began, never written
    double bytesDropped = 0;
    /// bytes of one GPU outside it at once
    std::int64_t mostOffloaded = 0;
    /// bytes over half the iteration
    double requiredWriteGBps = 0;
    /// seconds of the iteration that transfers add
    double stall = 0;
    /// share of the peak without offload
    double activationPeakReduction = 0;
    /// of what could leave the stage that keeps most of it: tensors with too few elements
    double smallShare = 0;
    /// empty without drives or endurance
    Metric ssdLifetimeYears;
    /// empty without a price
    Metric ssdUsdPerGpu;
    // What MEMO, KARMA and ProTrain make of the layers of the stage that would hold most; SSDTrain chooses no layers.
    int policyStage = 0, layersKept = 0, layersSwapped = 0, layersRecomputed = 0;
    /// of MEMO: of the tensors beside input and attention output, what leaves
    Metric tokenShare;
    /// seconds of that stage's iteration in which it computes again what did not leave
    double recompute = 0;
};

/// One layer of experts and one micro-batch, on the rank that takes longest, and what of an iteration is due to such
/// layers. Logical: a copy of a token for each expert that it visits, as benchmarks count; wire: what a link carries.
struct ExpertMetrics {
    /// that one GPU sends in an iteration, to other GPUs, over all links
    double wireBytes = 0;
    /// of these, between nodes of a datacenter and between datacenters
    double nicBytes = 0, wanBytes = 0;
    /// of a dispatch, over its time
    double logicalGBps = 0;
    /// of its farthest way, between datacenters, between nodes or inside one, while it is used
    double wireGBps = 0;
    /// of the visits to experts
    double droppedShare = 0;
    /// of an expert group
    int slowestRank = 0;
    /// its load / mean
    double skew = 1;
    /// what traffic-aware took, else what was asked for
    MoeDispatch chosen = MoeDispatch::Flat;
    int forwardChunks = 1, backwardChunks = 1;
    /// forward
    double layerMs = 0;
    /// of which nothing computes, nor what is paired with it
    double exposedMs = 0;
};

struct CostMetrics {
    Metric usdPerIteration, usdPerMillionTokens, usdTotal, egressUsdTotal, daysTotal, energyMwhTotal, co2TonsTotal;
};

/// Blocking: the plan is infeasible
enum class Severity : std::uint8_t { Note, Warning, Blocking };

/// A change of the plan that would help, and what it is called: "Use 7 data-parallel replicas".
struct Fix {
    std::string label;
    /// the plan with the fix applied
    PlanPtr plan;
};

/// Problems whose fixes have to be looked for, by placing or simulating plans that might be one
/// (core/evaluation/advice/fixes.h). Every other problem brings its fixes with it.
enum class FixSearchKind : std::uint8_t {
    None,
    GpuMemory,
    HostMemory,
    TensorGroups,
    Experts,
    Stages,
    Placement,
    Schedule,
    IdleGpus,
    UnequalGpus,
    Pins
};

struct Problem {
    Severity severity = Severity::Warning;
    /// one sentence
    std::string text;
    /// dotted key of the plan it is about, may be empty
    std::string where;
    /// nearest first
    std::vector<Fix> fixes;
    FixSearchKind toFind = FixSearchKind::None;
    /// the sentence ends with how far fixes were looked for
    bool saysWhatWasLeftOut = false;
};

/// Whether the plan can run, judged once: a plan is feasible where nothing is false.
struct Feasibility {
    /// false: nothing but jobs, or a model whose source was not understood
    bool isModelled = true;
    /// its stages have locations and layers, and its schedule can be built
    bool isPlaced = true;
    /// every replica has micro-batches, experts divide their ranks inside one datacenter
    bool isShaped = true;
    /// the stack does what is asked of ZeRO
    bool isSharded = true;
    bool fitsGpus = true, fitsHosts = true, hasDrives = true;

    [[nodiscard]] bool all() const
    {
        return isModelled && isPlaced && isShaped && isSharded && fitsGpus && fitsHosts && hasDrives;
    }
    bool operator==(const Feasibility &) const = default;
};

struct Confidence {
    /// "calibrated", "same family", "extrapolated", "spec sheet"
    std::string label;
    /// seconds
    Metric iterationLow, iterationHigh;
    /// what would narrow the range, one sentence; may be empty
    std::string note = {};
};

struct Metrics {
    Metric iterationTime, tokensPerSecond, tokensPerSecondPerGpu, modelTflopsPerGpu, mfu, hfu;
    Metric gpuUtilization, gpuUtilizationWithFill, bubbleFraction;
    /// [class][stage]: of the time in spans of forward, backward and recompute, the share that is computation; the rest
    /// is communication inside them. Empty: all of it. gpuUtilization and its curve (gpu_use.h) both come from it.
    std::vector<std::vector<double>> computeShare;
    int gpusUsed = 0, gpusTotal = 0;
    std::optional<Breakdown> breakdown;
    std::optional<MemoryMetrics> memory;
    /// of every class and stage
    std::vector<DeviceMetrics> devices;
    double wanBytesPerIteration = 0;
    std::vector<WanLinkUse> wanLinks;
    std::optional<BubbleFillMetrics> bubbleFill;
    std::optional<OffloadMetrics> offload;
    std::optional<ExpertMetrics> experts;
    /// of a plan with jobs, which has no iteration
    std::optional<JobMetrics> jobs;
    CostMetrics cost;
    Confidence confidence;
    std::size_t spans = 0;
    double simulateMs = 0, evaluateMs = 0;
};

struct Evaluation {
    PlanPtr plan;
    ModelSpec model;
    Layout layout;
    Timeline timeline;
    Metrics metrics;
    Feasibility feasibility;
    std::vector<Problem> problems;
    /// Memory of one GPU of a stage over time: the static part plus activation bytes at each change.
    using MemoryStep = trainyard::MemoryStep;
    /// [stage], slowest class
    std::vector<std::vector<MemoryStep>> memoryCurves;
    /// as if every activation stayed; empty where they do
    std::vector<std::vector<MemoryStep>> memoryCurvesKept;
    std::vector<std::vector<OffloadedStep>>
        offloadedSteps; // [class][stage], of one GPU; empty where the optimizer's states stay on it

    [[nodiscard]] bool feasible() const { return feasibility.all(); }
};

/// The link with the largest usableUtilization; nullptr where no link carries anything.
[[nodiscard]] const WanLinkUse *busiestLink(const Metrics &metrics);

using EvaluationPtr = std::shared_ptr<const Evaluation>;

} // namespace trainyard
