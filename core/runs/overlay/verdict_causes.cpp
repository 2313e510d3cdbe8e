// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/verdict_causes.h"

#include "core/base/number_text.h"
#include "core/runs/overlay/job_stages.h"
#include "core/runs/overlay/run_signs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace trainyard {

namespace {

constexpr double kSmall = 0.01; // of the step: no difference to explain
constexpr double kCounts = 0.2; // of the difference
constexpr double kFull = 0.92; // of the memory
constexpr double kOften = 0.1; // of the samples
constexpr std::size_t kMostSuspects = 3;

struct TypicalCause {
    VerdictKind kind;
    const char *sentence;
};

constexpr auto kSlower = std::to_array<TypicalCause>({
    { VerdictKind::Compute,
        "Matrix products and attention reach less of their peak than the plan's model of the GPU says: sizes that are "
        "no multiples of 64 or 128, unfused kernels, an older library. Calibration tells how much" },
    { VerdictKind::Compute, "The run computes what the plan leaves out: recomputation, evaluation, gradient checks" },
    { VerdictKind::ForwardBackward,
        "Forward and backward have collectives and waiting in them that these timers do not tell apart; a trace of one "
        "step does" },
    { VerdictKind::Optimizer,
        "The update is not fused (Apex or Transformer Engine is missing), or clips and checks gradients in passes of "
        "their own" },
    { VerdictKind::Tensor,
        "The ranks of a tensor group reach each other by PCIe or the network instead of NVLink: a link is down, "
        "NCCL_P2P_DISABLE is set, or ranks are not placed node by node" },
    { VerdictKind::Tensor,
        "Nothing hides the exchange: --tp-comm-overlap or CUDA_DEVICE_MAX_CONNECTIONS=1 is missing" },
    { VerdictKind::Context, "Attention of uneven or masked sequences does not cover the exchange of keys and values" },
    { VerdictKind::Expert, "Tokens go to few experts, so that some ranks receive a multiple of the mean" },
    { VerdictKind::Expert,
        "All-to-all between nodes is slower than its links: no GPUDirect RDMA, or rails that are shared" },
    { VerdictKind::Gradients,
        "The network carries less than the plan says: a NIC is down, no GPUDirect RDMA, routes that collide, other "
        "jobs "
        "on it. nccl-tests of the same size and ranks tells" },
    { VerdictKind::Gradients,
        "Buckets are too small for the latency of the network, or NCCL has chosen another algorithm" },
    { VerdictKind::Pipeline,
        "Transfers between stages wait for each other, or for a network that is slower than the plan says: congestion, "
        "a NIC that is down, a window of TCP that is too small between sites" },
    { VerdictKind::Copies,
        "Copies are not from pinned memory, cross the sockets of the host, or share PCIe with the network" },
    { VerdictKind::Communication,
        "The network carries less than the plan says: a NIC is down, no GPUDirect RDMA, routes that collide, other "
        "jobs "
        "on it" },
    { VerdictKind::Bubble, "Stages take unequally long: the embedding, the loss or a layer more on one of them" },
    { VerdictKind::Bubble, "Sequences of unequal length make micro-batches of unequal length" },
    { VerdictKind::Stragglers,
        "No rank stands out by itself: sequences or experts of unequal length, garbage collection of Python at its own "
        "time on each rank, noise of the hosts" },
    { VerdictKind::Host,
        "Kernels are shorter than the host takes to launch them: CUDA graphs or larger micro-batches help" },
    { VerdictKind::Host,
        "Something holds up the host: reading data with too few workers, garbage collection of Python (--manual-gc), a "
        "figure that is fetched from the GPU each step, the profiler itself" },
    { VerdictKind::Untold,
        "Matrix products and attention reach less of their peak than the plan's model of the GPU says" },
    { VerdictKind::Untold,
        "The network carries less than the plan says, or exchanges are not hidden under computing as the plan has it" },
});

constexpr auto kFaster = std::to_array<TypicalCause>({
    { VerdictKind::Compute,
        "The GPUs are faster than the plan's, or the run computes less: other precision, no recomputation" },
    { VerdictKind::ForwardBackward,
        "The GPUs are faster than the plan's, or the run computes less: other precision, shorter or packed "
        "sequences, no recomputation" },
    { VerdictKind::Gradients,
        "The run hides more of the exchange than the plan's stack does, or its network is faster" },
    { VerdictKind::Tensor, "The run hides more of the exchange than the plan's stack does" },
    { VerdictKind::Communication,
        "The run hides more of its communication than the plan's stack does, or its network is faster" },
    { VerdictKind::Pipeline, "The network is faster than the plan says, or transfers are hidden" },
    { VerdictKind::Bubble, "The run has more micro-batches, or another schedule, than the plan" },
    { VerdictKind::Host, "The run launches its kernels ahead or as CUDA graphs, so that the host hides" },
    { VerdictKind::Untold,
        "The GPUs or the network are faster than the plan's, or the run is a smaller job: other precision, shorter "
        "sequences, a smaller model" },
});

class Causes {
public:
    Causes(const RunOverlay &overlay, const TakenApart &taken)
        : m_overlay(overlay)
        , m_recording(*overlay.run->recording)
        , m_plan(*overlay.evaluation)
        , m_taken(taken)
    {
    }

    std::vector<std::string> make(const std::vector<StageInRun> &stages, const std::vector<RankedCause> &ranked)
    {
        bool areStagesSlow = false;
        for (const RankedCause &one : ranked) {
            add(one.sentence);
            m_rankedRanks.insert(one.rank);
            areStagesSlow |= one.kind == CauseKind::SlowStage;
        }
        for (const StageInRun &one : stages) {
            areStagesSlow |= !one.sentence.empty();
            if (!one.sentence.empty() && std::ranges::none_of(ranked, [&](const RankedCause &cause) {
                    return cause.kind == CauseKind::SlowStage && cause.stage == one.stage;
                }))
                add(one.sentence);
        }
        if (areStagesSlow) {
            stragglers();
            links();
            return std::move(m_causes);
        }
        const double whole = m_taken.measured - m_taken.predicted;
        if (std::abs(whole) < kSmall * m_taken.predicted)
            return std::move(m_causes);
        std::vector<const TakenPart *> large;
        for (const TakenPart &one : m_taken.parts)
            if (one.difference() * whole > 0 && (large.empty() || one.difference() / whole >= kCounts)
                && large.size() < 2)
                large.push_back(&one);
        for (const TakenPart *one : large)
            whole > 0 ? slower(*one) : typical(kFaster, one->kind);
        return std::move(m_causes);
    }

private:
    void slower(const TakenPart &one)
    {
        using enum VerdictKind;
        switch (one.kind) {
        case Compute:
        case ForwardBackward:
        case Untold:
            clocks();
            memory();
            experts();
            if (one.kind != Compute)
                overlapSwitch();
            if (one.kind != Compute)
                microBatches();
            break;
        case Gradients:
        case Communication:
            links();
            overlapSwitch();
            fabric();
            break;
        case Tensor:
        case Context:
        case Expert:
        case Pipeline:
            links();
            break;
        case Bubble:
            microBatches();
            stragglers();
            links();
            break;
        case Stragglers:
            stragglers();
            links();
            clocks();
            experts();
            if (!m_overlay.suspects.stragglers.empty() || !m_overlay.suspects.links.empty())
                return; // they are named
            break;
        case VerdictKind::Host:
            memory();
            break;
        case Copies:
        case Optimizer:
            break;
        }
        typical(kSlower, one.kind);
    }

    void add(std::string sentence)
    {
        if (std::ranges::find(m_causes, sentence) == m_causes.end())
            m_causes.push_back(std::move(sentence));
    }
    template <std::size_t N> void typical(const std::array<TypicalCause, N> &causes, VerdictKind kind)
    {
        for (const TypicalCause &cause : causes)
            if (cause.kind == kind)
                add(cause.sentence);
    }

    void stragglers()
    {
        const auto &named = m_overlay.suspects.stragglers;
        for (std::size_t i = 0; i < std::min(named.size(), kMostSuspects); ++i)
            if (!m_rankedRanks.contains(named[i].rank))
                add(named[i].sentence);
    }
    void links()
    {
        const auto &named = m_overlay.suspects.links;
        for (std::size_t i = 0; i < std::min(named.size(), kMostSuspects); ++i)
            add(named[i].sentence);
    }

    void clocks()
    {
        if (const auto sign = throttling(m_recording); sign && sign->share >= kOften)
            add("In " + percentText(sign->share)
                + " of the samples a GPU's clock is more than a tenth below the highest"
                + (sign->watts > 0 ? ", at " + wholeText(std::round(sign->watts)) + " W" : "")
                + ": power or temperature holds it down");
        if (const auto sign = lowestClock(m_recording); sign && sign->hertz < kLowClock * sign->highest)
            add(sign->where + " runs at " + plainText(sign->hertz * 1e-9) + " GHz where the fastest GPU runs at "
                + plainText(sign->highest * 1e-9) + " GHz");
    }

    void memory()
    {
        const auto sign = fullestMemory(m_recording, m_plan);
        if (sign && sign->capacity > 0 && sign->bytes >= kFull * sign->capacity && sign->bytes <= 1.05 * sign->capacity)
            add("Memory is full to " + bytesText(sign->bytes) + " of " + bytesText(sign->capacity)
                + ": the allocator frees and asks again, which stops GPU and host each time");
    }

    void experts()
    {
        if (m_plan.model.isMoe())
            add("Experts with more tokens than others compute longer, and all ranks wait for them");
    }

    /// Only where the switch itself is told, or the whole command: a dump that was cut proves nothing.
    void overlapSwitch()
    {
        const bool isCommand = std::ranges::any_of(m_recording.sources, [](const RecordedSource &source) {
            return source.kind == SourceKind::MegatronArguments && source.refused.empty() && !source.isTruncated;
        });
        const auto told = isSwitchedOn(m_recording, "overlap_grad_reduce");
        const bool isOff = told ? !*told : isCommand && m_recording.arguments.contains("tensor_model_parallel_size");
        if (isOff && m_plan.layout.data > 1 && !isSwitchedOn(m_recording, "use_torch_fsdp2").value_or(false))
            add("The run was started without --overlap-grad-reduce: nothing hides the exchange of gradients");
    }

    void fabric()
    {
        for (const Datacenter &datacenter : m_plan.plan->cluster.datacenters)
            if (datacenter.fabricGbpsPerGpu && m_plan.layout.gpusUsed > 8)
                return add("The plan counts on " + plainText(*datacenter.fabricGbpsPerGpu) + " Gbit/s a GPU in "
                    + datacenter.label());
    }

    void microBatches()
    {
        const int stages = planStages(m_plan);
        int least = 0;
        for (const DeviceMetrics &device : m_plan.metrics.devices)
            least = least == 0 ? device.microBatches : std::min(least, device.microBatches);
        if (stages > 1 && least > 0 && least < 4 * stages)
            add("There are few micro-batches: " + wholeText(least) + " on " + wholeText(stages)
                + " stages, so that each delay of a stage shows in the step");
    }

    const RunOverlay &m_overlay;
    const Recording &m_recording;
    const Evaluation &m_plan;
    const TakenApart &m_taken;
    std::vector<std::string> m_causes;
    std::set<int> m_rankedRanks;
};

} // namespace

std::vector<std::string> causesOf(const RunOverlay &overlay, const TakenApart &taken,
    const std::vector<StageInRun> &stages, const std::vector<RankedCause> &ranked)
{
    return Causes(overlay, taken).make(stages, ranked);
}

} // namespace trainyard
