// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/offload/offload_plan.h"

#include "core/offload/amount.h"
#include "core/offload/modules.h"
#include "core/offload/paths.h"
#include "core/offload/settings.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

bool splitsBackward(const Program &program)
{
    const auto splits = [](const std::vector<Op> &order) { return std::ranges::find(order, OpKind::InputGrad, &Op::kind) != order.end(); };
    return std::ranges::any_of(program.order, splits);
}

/// Consecutive modules as one segment.
struct Piece {
    SegmentBytes bytes;
    double forward = 0, backward = 0, recompute = 0;   // seconds, as shares of the operation's
    bool isLast = false;           // of the layers: what comes after never leaves
    int group = 0;
};

/// A module that leaves is a segment of its own; those between are joined.
std::vector<Piece> piecesOf(const std::vector<OffloadModule> &modules, std::size_t firstKept, bool isSplit, int group)
{
    int inLayers = 0;
    std::vector<Piece> pieces;
    bool joins = false;
    for (std::size_t i = 0; i < modules.size(); ++i) {
        const OffloadModule &module = modules[i];
        const bool leaves = i < firstKept && module.offloadable > 0;
        if (leaves || !joins)
            pieces.emplace_back();
        joins = !leaves;
        Piece &piece = pieces.back();
        (leaves ? piece.bytes.offloaded : piece.bytes.resident) += module.offloadable;
        piece.bytes.resident += module.resident;
        piece.bytes.hasEmbedding |= module.part == ModulePart::Embedding;
        piece.bytes.hasHead |= module.part == ModulePart::Head;
        piece.bytes.hasLayers |= module.layer >= 0;
        piece.forward += module.forward.value;
        piece.backward += module.inputGrad.value + (isSplit ? 0 : module.weightGrad.value);
        piece.recompute += module.recompute.value;
        piece.group = inLayers / group;   // what divides layers evenly falls on their borders
        piece.isLast = module.layer >= 0 && (i + 1 == modules.size() || modules[i + 1].layer < 0);
        inLayers += module.layer >= 0;
    }
    return pieces;
}

/// Divides `total` as the values divide their sum, without losing a tick.
class Dealer {
public:
    Dealer(Nanoseconds total, double sum) : m_total(total), m_sum(sum) {}
    Nanoseconds next(double value)
    {
        m_dealt += value;
        const Nanoseconds until = m_sum > 0 ? std::llround(double(m_total) * std::min(1.0, m_dealt / m_sum)) : 0;
        const Nanoseconds share = until - m_given;
        m_given = until;
        return share;
    }
    [[nodiscard]] Nanoseconds rest() const { return m_total - m_given; }

private:
    Nanoseconds m_total, m_given = 0;
    double m_sum, m_dealt = 0;
};

Nanoseconds moveTime(double bytes, double rate)
{
    return bytes > 0 ? std::max<Nanoseconds>(1, toNanoseconds(Bytes{bytes} / BytesPerSecond{rate})) : 0;
}

std::vector<OffloadSegment> segmentsOf(const std::vector<Piece> &pieces, const OpTimes &times, bool isSplit, const OffloadPath &path)
{
    double forward = 0, backward = 0, recompute = 0;
    for (const Piece &piece : pieces) {
        forward += piece.forward;
        backward += piece.backward;
        recompute += piece.recompute;
    }
    Dealer forwards(times.forward, forward), recomputes(times.recompute, recompute);
    Dealer backwards((isSplit ? times.inputGrad : times.backward) - times.recompute, backward);
    std::vector<OffloadSegment> segments;
    for (const Piece &piece : pieces)
        segments.push_back({forwards.next(piece.forward), recomputes.next(piece.recompute), backwards.next(piece.backward),
                            moveTime(piece.bytes.offloaded, path.storeCap), moveTime(piece.bytes.offloaded, path.loadCap), piece.isLast, piece.group});
    if (!segments.empty()) {
        segments.back().forward += forwards.rest();
        segments.back().recompute += recomputes.rest();
        segments.back().backward += backwards.rest();
    }
    return segments;
}

class OffloadPlanner {
public:
    OffloadPlanner(const Workload &workload, StageCoster &coster, Costs &costs)
        : m_work(workload), m_coster(coster), m_costs(costs), m_settings(offloadSettings(*workload.plan)), m_paths(offloadPaths(workload))
    {
    }

    void plan()
    {
        const auto firstLink = std::uint32_t(m_costs.iteration.linkCapacity.size());
        m_costs.iteration.linkCapacity.insert(m_costs.iteration.linkCapacity.end(), m_paths.linkCapacity.begin(), m_paths.linkCapacity.end());
        for (std::size_t c = 0; c < m_costs.iteration.classes.size(); ++c) {
            PipelineCosts &pipelines = m_costs.iteration.classes[c];
            OffloadTimes times{{}, m_paths.of[c], {}};
            times.prefetch.ahead = m_settings.ahead;
            for (OffloadPath &path : times.paths)
                for (auto *links : {&path.storeLinks, &path.loadLinks})
                    for (std::uint32_t &link : *links)
                        link += firstLink;
            const std::vector<double> inFlight = peakInFlight(pipelines.program);
            auto &stages = m_costs.offload.emplace_back();
            for (std::size_t stage = 0; stage < times.paths.size(); ++stage)
                stages.push_back(planStage(c, int(stage), inFlight[stage], times));
            if (std::ranges::any_of(stages, [](const StageOffload &s) { return s.offloaded > 0; }))
                pipelines.offload = std::move(times);
        }
    }

private:
    [[nodiscard]] std::size_t firstKept(const std::vector<OffloadModule> &modules, const OffloadPath &path, double inFlight, int microBatches) const
    {
        std::vector<AmountModule> amounts;
        double forward = 0, backward = 0;
        for (const OffloadModule &module : modules) {
            amounts.push_back({module.offloadable, module.forward.value, module.layer});
            forward += module.forward.value;
            backward += (module.inputGrad + module.weightGrad + module.recompute).value;
        }
        if (!(path.storeCap > 0) || !(path.loadCap > 0))
            return 0;
        if (m_settings.fraction)
            return firstModuleKept(amounts, *m_settings.fraction);
        return firstModuleKept(amounts, {path.storeCap, path.loadCap, forward > 0 ? backward / forward : 2, inFlight > 1, inFlight / microBatches});
    }

    StageOffload planStage(std::size_t pipelineClass, int stage, double inFlight, OffloadTimes &times)
    {
        const PipelineCosts &pipelines = m_costs.iteration.classes[pipelineClass];
        const StageCoster::Parts parts = m_coster.parts(m_work.layout.classes[pipelineClass], stage);
        const OffloadPath &path = times.paths[std::size_t(stage)];
        const auto &chunks = m_work.layout.chunks[std::size_t(stage)];
        std::vector<OffloadModule> all;
        std::vector<std::size_t> begins;
        const std::vector<RecomputedLayers> again = recomputedLayers(m_work, stage);
        for (std::size_t c = 0; c < chunks.size(); ++c) {
            begins.push_back(all.size());
            const std::vector<OffloadModule> modules = chunkModules(m_work, chunks[c], again[c], parts, m_settings.minElements);
            all.insert(all.end(), modules.begin(), modules.end());
        }
        begins.push_back(all.size());
        const std::size_t kept = firstKept(all, path, inFlight, pipelines.program.shape.microBatches);
        const bool isSplit = splitsBackward(pipelines.program);
        StageOffload result;
        result.writeRate = path.storeCap;
        result.readRate = path.loadCap;
        for (const OffloadModule &module : all)
            result.offloadable += module.offloadable;
        for (std::size_t c = 0; c < chunks.size(); ++c) {
            const std::vector<OffloadModule> modules(all.begin() + std::ptrdiff_t(begins[c]), all.begin() + std::ptrdiff_t(begins[c + 1]));
            const std::vector<Piece> pieces = piecesOf(modules, kept > begins[c] ? kept - begins[c] : 0, isSplit, m_settings.group);
            auto &bytes = result.chunks.emplace_back();
            for (const Piece &piece : pieces) {
                bytes.push_back(piece.bytes);
                result.offloaded += piece.bytes.offloaded;
            }
            times.ops.push_back(segmentsOf(pieces, pipelines.ops[std::size_t(stage) * chunks.size() + c], isSplit, path));
        }
        return result;
    }

    const Workload &m_work;
    StageCoster &m_coster;
    Costs &m_costs;
    OffloadSettings m_settings;
    OffloadPaths m_paths;
};

} // namespace

void planOffload(const Workload &workload, StageCoster &coster, Costs &costs)
{
    if (workload.plan->memory.activationOffload != ActivationOffload::None && whyActivationsStay(*workload.plan).empty())
        OffloadPlanner(workload, coster, costs).plan();
}

} // namespace trainyard
