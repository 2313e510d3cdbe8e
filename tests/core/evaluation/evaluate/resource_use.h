#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What an iteration must send over the links and drives of each node, counted from the plan and from who computes what
// where, not from the times that the cost model gives it: no resource carries more than its rate times the iteration.
// Counts are lower bounds: what is certain to move, each element in the fewest bytes that the precision allows.

#include "core/engine/schedule/traits.h"
#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/placement/degrees.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace trainyard::test {

/// Bytes of an iteration and what could be carried in it; the first is at most the second.
struct ResourceUse {
    std::string name;
    double bytes = 0, capacity = 0;
};

/// Datacenter, pool, node.
using NodeAt = std::tuple<int, int, int>;

class ResourceCount {
public:
    ResourceCount(const Evaluation &evaluation, const Catalogue &catalogue)
        : m_evaluation(evaluation)
        , m_plan(*evaluation.plan)
        , m_layout(evaluation.layout)
        , m_degrees(degreesOf(m_plan))
        , m_seconds(*evaluation.metrics.iterationTime)
    {
        for (const Datacenter &datacenter : m_plan.cluster.datacenters)
            for (const Pool &pool : datacenter.pools)
                m_gpus[{ datacenter.id, pool.id }] = pool.inlineGpu ? &*pool.inlineGpu : catalogue.gpu(pool.gpu);
        for (std::size_t c = 0; c < m_layout.classes.size(); ++c)
            for (std::size_t stage = 0; stage < m_layout.classes[c].locations.size(); ++stage)
                addGpusOf(int(c), int(stage));
        countMoves();
    }

    /// Of every node that computes, by direction: the way to host memory or drives, NVLink, the NICs.
    [[nodiscard]] std::vector<ResourceUse> all() const
    {
        std::vector<ResourceUse> uses;
        std::map<NodeAt, Sent> nodes;
        for (const auto &[at, gpus] : m_gpusAt)
            addGpu(uses, nodes[nodeOf(at)], at, gpus);
        addGradients(nodes);
        for (const auto &[node, sent] : nodes) {
            const auto &[datacenter, poolIndex, number] = node;
            const Pool &pool = poolAt(datacenter, poolIndex);
            const std::string name = pool.id + " node " + std::to_string(number);
            if (pool.ssd && m_plan.memory.activationOffload == ActivationOffload::Ssd) {
                uses.push_back({ name + ", drives written", sent.stored, pool.ssd->writeGBps * 1e9 * m_seconds });
                uses.push_back({ name + ", drives read", sent.loaded, pool.ssd->readGBps * 1e9 * m_seconds });
            }
            uses.push_back(
                { name + ", NICs out", sent.nics, nicRate(datacenter, poolIndex) * pool.gpusPerNode * m_seconds });
        }
        return uses;
    }

    /// Of every transfer between datacenters: what its node pairs carry while it lasts.
    [[nodiscard]] std::vector<ResourceUse> nodePairs() const
    {
        std::vector<ResourceUse> uses;
        const Timeline &timeline = m_evaluation.timeline;
        for (const Track &track : timeline.tracks) {
            if (track.stream != Stream::Wan)
                continue;
            const WanLink &link = m_plan.cluster.wanLinks[std::size_t(track.wanLink)];
            const PipelineClass &pipelines = m_layout.classes[std::size_t(track.pipelineClass)];
            // A member's pieces leave from the nodes of all members of its cell.
            const double pairs = double(std::max(nodesOfOne(track.pipelineClass, track.stage),
                                     nodesOfOne(track.pipelineClass, track.toStage)))
                * pipelines.cellMembers;
            for (std::uint32_t span = track.first; span < track.last; ++span) {
                const double seconds = toSeconds(timeline.end[span] - timeline.start[span]).value + 1e-9;
                uses.push_back(
                    { link.between[0] + "-" + link.between[1] + ", node pairs of stage " + std::to_string(track.stage),
                        timeline.bytesMoved(span), pairs * link.nodePairGbps / 8 * 1e9 * seconds });
            }
        }
        return uses;
    }

private:
    /// Class and stage, where a GPU is.
    struct GpuAt {
        int datacenter = 0, pool = 0, gpu = 0, pipelineClass = 0, stage = 0;
        auto operator<=>(const GpuAt &) const = default;
    };
    struct Sent {
        double stored = 0, loaded = 0, nics = 0;
    };

    [[nodiscard]] const Pool &poolAt(int datacenter, int pool) const
    {
        return m_plan.cluster.datacenters[std::size_t(datacenter)].pools[std::size_t(pool)];
    }
    [[nodiscard]] const GpuSpec &gpuAt(int datacenter, int pool) const
    {
        return *m_gpus.at({ m_plan.cluster.datacenters[std::size_t(datacenter)].id, poolAt(datacenter, pool).id });
    }
    [[nodiscard]] double nicRate(int datacenter, int pool) const
    {
        return m_plan.cluster.datacenters[std::size_t(datacenter)].fabricGbpsPerGpu.value_or(
                   gpuAt(datacenter, pool).fabricGbps)
            / 8 * 1e9;
    }
    [[nodiscard]] NodeAt nodeOf(const GpuAt &at) const
    {
        return { at.datacenter, at.pool, at.gpu / poolAt(at.datacenter, at.pool).gpusPerNode };
    }
    [[nodiscard]] int tensorOf(int pipelineClass, int stage) const
    {
        const StageLocation &at = m_layout.classes[std::size_t(pipelineClass)].locations[std::size_t(stage)];
        return at.tensor > 0 ? at.tensor : m_degrees.tensor;
    }

    void addGpusOf(int c, int stage)
    {
        const PipelineClass &pipelines = m_layout.classes[std::size_t(c)];
        const int gpusOfOne = tensorOf(c, stage) * m_degrees.context;
        for (const GpuRun &run : m_layout.runs) {
            if (run.stage != stage || !(run.location() == pipelines.locations[std::size_t(stage)]))
                continue;
            for (int gpu = 0; gpu < run.gpus; ++gpu) {
                const int pipeline = run.firstPipeline + gpu / gpusOfOne;
                if (pipeline < pipelines.firstPipeline || pipeline >= pipelines.firstPipeline + pipelines.pipelines)
                    continue;
                m_gpusAt.emplace(GpuAt { run.datacenter, run.pool, run.firstGpu + gpu, c, stage }, pipeline);
            }
        }
    }

    /// Activations that leave one GPU of a stage and come back, as its spans say.
    void countMoves()
    {
        const Timeline &timeline = m_evaluation.timeline;
        for (const Track &track : timeline.tracks)
            for (std::uint32_t span = track.first; span < track.last; ++span) {
                auto &[stored, loaded] = m_moved[{ track.pipelineClass, track.stage }];
                stored += timeline.kind[span] == WorkKind::OffloadStore ? timeline.bytesMoved(span) : 0;
                loaded += timeline.kind[span] == WorkKind::OffloadLoad ? timeline.bytesMoved(span) : 0;
            }
    }

    /// Activations of a micro-batch as one GPU holds them between layers, in the fewest bytes.
    [[nodiscard]] double boundary(const PipelineClass &pipelines) const
    {
        const int microBatch = pipelines.microBatch > 0 ? pipelines.microBatch : m_plan.workload.microBatch;
        const double element = m_plan.workload.precision == Precision::Fp8 ? 1 : 2;
        return element * microBatch * m_plan.workload.sequenceLength / m_degrees.context * m_evaluation.model.hidden;
    }

    /// Ring: each of t ranks sends 2 (t - 1) / t of what is summed; attention and the MLP of each layer, forward and
    /// backward (of a layer with experts, attention alone).
    [[nodiscard]] double tensorBytes(int c, int stage) const
    {
        const int t = tensorOf(c, stage);
        const PipelineClass &pipelines = m_layout.classes[std::size_t(c)];
        double sums = 0;
        for (const StageChunk &chunk : m_layout.chunks[std::size_t(stage)])
            sums += 4.0 * (chunk.layers - chunk.expertLayers) + 2.0 * chunk.expertLayers;
        return sums * pipelines.microBatches / m_degrees.copies * boundary(pipelines) * 2 * (t - 1) / t;
    }

    void addGpu(std::vector<ResourceUse> &uses, Sent &node, const GpuAt &at, int pipeline) const
    {
        const PipelineClass &pipelines = m_layout.classes[std::size_t(at.pipelineClass)];
        const GpuSpec &gpu = gpuAt(at.datacenter, at.pool);
        const Pool &pool = poolAt(at.datacenter, at.pool);
        const std::string name = pool.id + " GPU " + std::to_string(at.gpu);
        const auto moved = m_moved.find({ at.pipelineClass, at.stage });
        const auto [stored, loaded] = moved == m_moved.end() ? std::pair(0.0, 0.0) : moved->second;
        const bool toHost = m_plan.memory.activationOffload == ActivationOffload::Host;
        const double host = toHost && pool.host ? pool.host->gbytesPerSecondPerGpu : gpu.pcieGBps;
        double out = stored, in = loaded;
        if (!m_plan.profile) {
            const double tensor = tensorBytes(at.pipelineClass, at.stage);
            if (gpu.linkGBps > 0 && tensorOf(at.pipelineClass, at.stage) <= gpu.linkDomain)
                uses.push_back({ name + ", NVLink out", tensor, gpu.linkGBps * 1e9 * m_seconds });
            else if (tensorOf(at.pipelineClass, at.stage) <= pool.gpusPerNode && gpu.linkGBps == 0) {
                uses.push_back({ name + ", tensor over PCIe", tensor, gpu.pcieGBps * 1e9 * m_seconds });
                out += tensor;
                in += tensor;
            }
        }
        uses.push_back({ name + ", PCIe out", out, std::max(host, gpu.pcieGBps) * 1e9 * m_seconds });
        uses.push_back({ name + ", PCIe in", in, std::max(host, gpu.pcieGBps) * 1e9 * m_seconds });
        uses.push_back({ name + ", host written", stored, host * 1e9 * m_seconds });
        uses.push_back({ name + ", host read", loaded, host * 1e9 * m_seconds });
        node.stored += stored;
        node.loaded += loaded;
        if (m_plan.profile)
            return;
        // The stage before and the stage behind of the same pipeline, where they lie on other nodes of the datacenter.
        const std::set<NodeAt> own = nodesOf(at.pipelineClass, at.stage, pipeline);
        for (const int other : { at.stage - 1, at.stage + 1 }) {
            if (other < 0 || other >= int(pipelines.locations.size())
                || pipelines.locations[std::size_t(other)].datacenter != at.datacenter)
                continue;
            const std::set<NodeAt> theirs = nodesOf(at.pipelineClass, other, pipeline);
            if (std::ranges::none_of(own, [&](const NodeAt &n) { return theirs.contains(n); }))
                node.nics += boundary(pipelines) / tensorOf(at.pipelineClass, at.stage) * pipelines.microBatches
                    / m_degrees.copies;
        }
    }

    [[nodiscard]] std::set<NodeAt> nodesOf(int c, int stage, int pipeline) const
    {
        std::set<NodeAt> nodes;
        for (const auto &[at, its] : m_gpusAt)
            if (at.pipelineClass == c && at.stage == stage && its == pipeline)
                nodes.insert(nodeOf(at));
        return nodes;
    }
    /// Of the pipelines of a class, the most that the stage of one lies on.
    [[nodiscard]] std::size_t nodesOfOne(int c, int stage) const
    {
        const PipelineClass &pipelines = m_layout.classes[std::size_t(c)];
        std::size_t most = 1;
        for (int pipeline = 0; pipeline < pipelines.pipelines; ++pipeline)
            most = std::max(most, nodesOf(c, stage, pipelines.firstPipeline + pipeline).size());
        return most;
    }

    /// Replicas of a stage on n nodes of a datacenter: of what each of its GPUs holds, a node sends at least 2 (n - 1)
    /// / n, once for all replicas that it has. Experts, which other ranks hold, are left out.
    void addGradients(std::map<NodeAt, Sent> &nodes) const
    {
        std::map<std::tuple<int, int>, std::map<NodeAt, int>> of; // stage, datacenter -> node -> largest degree
        for (const auto &[at, pipeline] : m_gpusAt)
            if (!m_plan.profile)
                of[{ m_degrees.mirrorOf(at.stage) < at.stage ? m_degrees.mirrorOf(at.stage) : at.stage, at.datacenter }]
                  [nodeOf(at)] = tensorOf(at.pipelineClass, at.stage);
        for (const auto &[where, on] : of) {
            const double n = double(on.size());
            double elements = 0;
            for (const StageChunk &chunk : m_layout.chunks[std::size_t(std::get<0>(where))])
                for (int layer = 0; layer < chunk.layers; ++layer) {
                    const LayerParameters its = layerParameters(m_evaluation.model, layer < chunk.expertLayers);
                    elements += its.attention + its.mlp;
                }
            const double element = m_plan.workload.precision == Precision::Fp8 ? 1 : 2;
            for (const auto &[node, tensor] : on)
                nodes[node].nics += 2 * (n - 1) / n * elements * element;
        }
    }

    const Evaluation &m_evaluation;
    const Plan &m_plan;
    const Layout &m_layout;
    Degrees m_degrees;
    double m_seconds;
    std::map<std::pair<std::string, std::string>, const GpuSpec *> m_gpus;
    /// -> its pipeline
    std::map<GpuAt, int> m_gpusAt;
    std::map<std::pair<int, int>, std::pair<double, double>> m_moved;
};

} // namespace trainyard::test
