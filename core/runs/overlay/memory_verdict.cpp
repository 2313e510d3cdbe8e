// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/memory_verdict.h"

#include "core/base/number_text.h"
#include "core/runs/imports/megatron_theory.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

constexpr double kWeight = 2, kGradient = 4; // bytes a parameter, as Megatron's estimate counts them
constexpr std::size_t kMostCauses = 2;

/// One GPU as the run tells it; NaN: not told.
struct GpuMemory {
    int rank = -1;
    std::string where;
    std::uint32_t source = kNoIndex;
    double atRest = std::nan(""), allocated = std::nan(""), reserved = std::nan(""), device = std::nan("");
    std::int64_t last = -1; // step that it was last told at; -1: samples over time
};

bool isTold(double bytes)
{
    return bytes > 0 && bytes < 1e15; // false for NaN
}

double GpuMemory::*levelOf(const SampleSeries &series)
{
    if (series.name == samples::kMemoryAllocated)
        return &GpuMemory::allocated;
    if (series.name == samples::kMemoryReserved)
        return &GpuMemory::reserved;
    if (series.name == samples::kMemoryUsed)
        return &GpuMemory::device;
    return series.name == "log.memory allocated" ? &GpuMemory::atRest : nullptr;
}

/// What is held between steps is the last that is told, all else the most.
std::vector<GpuMemory> gpusOf(const Recording &recording)
{
    std::map<std::pair<int, std::string>, GpuMemory> gpus;
    for (const SampleSeries &series : recording.series) {
        const auto level = levelOf(series);
        if (!level)
            continue;
        for (std::size_t i = 0; i < std::min(series.at.size(), series.value.size()); ++i) {
            if (!isTold(series.value[i]))
                continue;
            GpuMemory &gpu = gpus[{ series.rank, series.where }];
            gpu.rank = series.rank;
            gpu.where = series.where;
            gpu.source = series.source;
            double &bytes = gpu.*level;
            bytes = level == &GpuMemory::atRest || !isTold(bytes) ? series.value[i] : std::max(bytes, series.value[i]);
            if (series.isByStep)
                gpu.last = std::max(gpu.last, series.at[i]);
        }
    }
    std::vector<GpuMemory> told;
    for (auto &[key, gpu] : gpus)
        told.push_back(std::move(gpu));
    return told;
}

/// By the first of these levels that any GPU tells.
const GpuMemory *fullestOf(const std::vector<GpuMemory> &gpus)
{
    for (const auto level : { &GpuMemory::allocated, &GpuMemory::reserved, &GpuMemory::device }) {
        const GpuMemory *fullest = nullptr;
        for (const GpuMemory &gpu : gpus)
            if (isTold(gpu.*level) && (!fullest || gpu.*level > fullest->*level))
                fullest = &gpu;
        if (fullest)
            return fullest;
    }
    return nullptr;
}

const StageMemory *stageOf(const MemoryMetrics &memory, int stage)
{
    const auto at = std::ranges::find(memory.perStage, stage, &StageMemory::stage);
    return at == memory.perStage.end() ? nullptr : &*at;
}

enum class MemoryPartKind : std::uint8_t { States, Unexplained, Activations, All, Reserve, Outside };

struct Part {
    MemoryPartKind kind;
    VerdictPart part;
};

struct Cause {
    MemoryPartKind kind;
    bool isMore;
    const char *sentence;
};
constexpr auto kCauses = std::to_array<Cause>({
    { MemoryPartKind::States, true,
        "Optimizer states are not divided over the replicas (--use-distributed-optimizer), or the run keeps copies in "
        "32 bits that the plan does not" },
    { MemoryPartKind::States, false, "States are divided over more ranks, or have fewer bytes, than the plan says" },
    { MemoryPartKind::Unexplained, true,
        "Buffers that stay between steps: of exchanges of gradients, of libraries (cuBLAS, Transformer Engine), inputs "
        "that are still held" },
    { MemoryPartKind::Activations, true,
        "More is kept than the plan says: less recomputation, more micro-batches in flight, longer sequences, or "
        "attention that keeps its scores. An optimizer that is not fused has copies of its own while it updates" },
    { MemoryPartKind::Activations, false,
        "Less is kept than the plan says: more recomputation, fewer micro-batches in flight, shorter sequences" },
    { MemoryPartKind::All, true, "A larger model, longer sequences or less recomputation than the plan has" },
    { MemoryPartKind::All, false, "A smaller model, shorter sequences or more recomputation than the plan has" },
    { MemoryPartKind::Reserve, true,
        "The allocator is fragmented: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True lets it grow what it has" },
    { MemoryPartKind::Outside, true,
        "More communicators or libraries hold buffers than the plan counts, or another process" },
});

class Judging {
public:
    Judging(const Evaluation &evaluation, const Recording &recording, const GpuMemory &gpu)
        : m_evaluation(evaluation)
        , m_memory(*evaluation.metrics.memory)
        , m_recording(recording)
        , m_gpu(gpu)
    {
    }

    MemoryVerdict make(const std::vector<GpuMemory> &all, RankOrder order)
    {
        const RankMap map(*m_evaluation.plan, m_evaluation.layout, order);
        place(map, all);
        if (!m_plan)
            return {};
        addParts();
        std::ranges::stable_sort(
            m_parts, std::greater(), [](const Part &one) { return std::abs(one.part.measured - one.part.predicted); });
        std::vector<NamedDifference> named;
        for (Part &one : m_parts) {
            m_verdict.predictedBytes += one.part.predicted;
            m_verdict.measuredBytes += one.part.measured;
            named.push_back({ one.kind == MemoryPartKind::Unexplained ? "what is not explained" : one.part.what,
                one.part.measured - one.part.predicted });
        }
        addHeadline(named);
        addCauses();
        addDoubts();
        for (Part &one : m_parts)
            m_verdict.parts.push_back(std::move(one.part));
        return std::move(m_verdict);
    }

private:
    void place(const RankMap &map, const std::vector<GpuMemory> &all)
    {
        m_stage = m_memory.fullestStage;
        m_verdict.of = m_gpu.rank >= 0 ? "rank " + std::to_string(m_gpu.rank)
            : m_gpu.where.empty()      ? std::string("the fullest GPU")
                                       : m_gpu.where;
        if (m_gpu.rank >= 0 && m_gpu.rank < map.worldSize()) {
            m_stage = map.placeOf(m_gpu.rank).stage;
            if (map.stages() > 1)
                m_verdict.of += ", stage " + std::to_string(m_stage + 1) + " of " + std::to_string(map.stages());
        } else if (m_gpu.rank >= 0) {
            m_verdict.doubts.push_back("Rank " + std::to_string(m_gpu.rank)
                + " has no place in the plan: the plan's fullest GPU is beside it");
        }
        m_plan = stageOf(m_memory, m_stage);
        const bool isFullestTold =
            m_stage == m_memory.fullestStage || std::ranges::any_of(all, [&](const GpuMemory &gpu) {
                return gpu.rank >= 0 && gpu.rank < map.worldSize()
                    && map.placeOf(gpu.rank).stage == m_memory.fullestStage;
            });
        if (!isFullestTold)
            m_verdict.doubts.push_back("The plan's fullest GPU is on stage " + std::to_string(m_memory.fullestStage + 1)
                + ", with " + bytesText(double(m_memory.peak)) + " allocated: no rank of it tells its memory");
    }

    void add(MemoryPartKind kind, const char *what, double predicted, double measured, std::string evidence)
    {
        if (predicted != 0 || measured != 0)
            m_parts.push_back({ kind, { what, predicted, measured, std::move(evidence) } });
    }

    /// From the inside out: what stays between steps, the peak, the allocator, the device.
    void addParts()
    {
        const StageMemory &plan = *m_plan;
        const double states = double(plan.weights + plan.gradients + plan.optimizer);
        double inside = 0, predicted = 0; // what the parts so far add up to
        if (isTold(m_gpu.allocated)) {
            if (isTold(m_gpu.atRest) && m_gpu.atRest <= m_gpu.allocated) {
                addStates(states);
                add(MemoryPartKind::Activations, "activations and buffers", double(plan.peak) - states,
                    m_gpu.allocated - m_gpu.atRest, "max allocated − allocated" + atStep());
            } else {
                add(MemoryPartKind::All, "weights, gradients, optimizer, activations and buffers", double(plan.peak),
                    m_gpu.allocated, "max allocated" + atStep());
            }
            inside = m_gpu.allocated;
            predicted = double(plan.peak);
            m_verdict.peakMeasured = m_gpu.allocated;
        }
        m_verdict.peakPredicted = double(plan.peak);
        m_verdict.level = MemoryLevel::Allocated;
        if (isTold(m_gpu.reserved) && m_gpu.reserved >= inside) {
            add(inside > 0 ? MemoryPartKind::Reserve : MemoryPartKind::All,
                inside > 0 ? "reserve of the allocator" : "all that the allocator reserves",
                double(plan.reserved) - predicted, m_gpu.reserved - inside,
                inside > 0 ? "max reserved − max allocated" + atStep() : "max reserved" + atStep());
            inside = m_gpu.reserved;
            predicted = double(plan.reserved);
            m_verdict.level = MemoryLevel::Reserved;
        }
        if (isTold(m_gpu.device) && m_gpu.device >= inside) {
            add(inside > 0 ? MemoryPartKind::Outside : MemoryPartKind::All,
                inside > 0 ? "context and communication" : "all that is taken on the device",
                double(plan.device) - predicted, m_gpu.device - inside,
                inside > 0 ? "memory used on the device − the rest" + atStep()
                           : "memory used on the device" + atStep());
            m_verdict.level = MemoryLevel::Device;
        }
    }

    /// By the run's own count of parameters where it has one, which leaves what that does not explain.
    void addStates(double states)
    {
        const auto theory = imports::megatronTheory(m_recording);
        const bool isFullest = theory && (m_stage == 0 || !theory->others.isTold());
        const double parameters = !theory ? 0 : isFullest ? theory->fullest.value : theory->others.value;
        if (!theory || theory->source != m_gpu.source || !(parameters > 0) || !theory->states.isTold()
            || !theory->fullest.isTold())
            return add(MemoryPartKind::States, "weights, gradients and optimizer", states, m_gpu.atRest,
                "allocated" + atStep() + ", when no activation is left");
        const double each = theory->states.value / theory->fullest.value;
        const auto evidence = [&](double bytes) {
            return countText(parameters) + " parameters of the shard × " + plainText(bytes)
                + " bytes, by the run's own estimate";
        };
        add(MemoryPartKind::States, "weights", double(m_plan->weights), kWeight * parameters, evidence(kWeight));
        add(MemoryPartKind::States, "gradients", double(m_plan->gradients), kGradient * parameters,
            evidence(kGradient));
        const double optimizer = (each - kWeight - kGradient) * parameters;
        add(MemoryPartKind::States, "optimizer", double(m_plan->optimizer), optimizer,
            evidence(each - kWeight - kGradient));
        add(MemoryPartKind::Unexplained, "not explained", 0, m_gpu.atRest - each * parameters,
            "allocated" + atStep() + " beside weights, gradients and optimizer");
    }

    [[nodiscard]] std::string atStep() const
    {
        return m_gpu.last >= 0 ? " after step " + std::to_string(m_gpu.last) : std::string();
    }

    void addHeadline(const std::vector<NamedDifference> &named)
    {
        const double ratio = m_verdict.measuredBytes / m_verdict.predictedBytes,
                     whole = m_verdict.measuredBytes - m_verdict.predictedBytes;
        std::string &text = m_verdict.headline;
        if (!(m_verdict.predictedBytes > 0))
            text = "memory, of which the plan predicts none";
        else if (std::abs(ratio - 1) < kAsPredicted)
            text = "as much memory as predicted";
        else if (ratio >= 2)
            text = plainText(ratio) + " × as much memory as predicted";
        else
            text =
                differenceShareText(std::abs(ratio - 1)) + (ratio > 1 ? " more" : " less") + " memory than predicted";
        if (std::abs(ratio - 1) >= kAsPredicted && named.size() > 1)
            text += whereOf(named, whole);
        text += " (" + bytesText(m_verdict.measuredBytes) + " " + nameOf(m_verdict.level) + " on " + m_verdict.of + ", "
            + bytesText(m_verdict.predictedBytes) + " predicted)";
    }

    void addCauses()
    {
        const double whole = m_verdict.measuredBytes - m_verdict.predictedBytes;
        if (std::abs(whole) < kAsPredicted * m_verdict.predictedBytes)
            return;
        for (const Part &one : m_parts) {
            const double own = one.part.measured - one.part.predicted;
            if (own * whole <= 0 || std::abs(own) < 0.2 * std::abs(whole))
                continue;
            for (const Cause &cause : kCauses)
                if (cause.kind == one.kind && cause.isMore == (whole > 0) && m_verdict.causes.size() < kMostCauses
                    && std::ranges::find(m_verdict.causes, cause.sentence) == m_verdict.causes.end())
                    m_verdict.causes.emplace_back(cause.sentence);
        }
    }

    void addDoubts()
    {
        if (m_gpu.last >= 0 && m_gpu.last <= 1 && isTold(m_gpu.atRest))
            m_verdict.doubts.push_back("Told after the first iteration alone, at whose end the optimizer makes "
                                       "its states: activations of later ones lie on top of them, so that these may "
                                       "hold more");
    }

    const Evaluation &m_evaluation;
    const MemoryMetrics &m_memory;
    const Recording &m_recording;
    const GpuMemory &m_gpu;
    const StageMemory *m_plan = nullptr;
    int m_stage = 0;
    std::vector<Part> m_parts;
    MemoryVerdict m_verdict;
};

} // namespace

const char *nameOf(MemoryLevel level)
{
    return level == MemoryLevel::Allocated ? "allocated"
        : level == MemoryLevel::Reserved   ? "reserved"
                                           : "taken on the device";
}

std::optional<MemoryVerdict> memoryVerdict(const Evaluation &evaluation, const Recording &recording, RankOrder order)
{
    if (!evaluation.plan || !evaluation.metrics.memory)
        return std::nullopt;
    const std::vector<GpuMemory> gpus = gpusOf(recording);
    const GpuMemory *fullest = fullestOf(gpus);
    if (!fullest)
        return std::nullopt;
    MemoryVerdict verdict = Judging(evaluation, recording, *fullest).make(gpus, order);
    return verdict.parts.empty() ? std::nullopt : std::optional(std::move(verdict));
}

} // namespace trainyard
