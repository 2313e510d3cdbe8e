#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a shard of a job's model takes, by the product's own counting: its layers as the one stage of a plan on one GPU,
// nothing divided, nothing recomputed and nothing off the GPU. A backward has its gradients while it runs and updates
// at once, so none are kept between units. docs/many-models.md.

#include "core/iteration/job_shards/job_workloads.h"
#include "core/iteration/job_shards/partition.h"
#include "core/iteration/placement/ranks.h"

#include <map>
#include <tuple>

namespace trainyard {

struct ShardBytes {
    double parameters = 0;
    /// weights as a forward needs them
    double computed = 0;
    /// weights, master weights, optimizer states: what an update needs and changes
    double states = 0;
    // On the GPU while a unit runs, boundaries included: forward alone (one layer's tensors at a time), forward again
    // with backward and update
    double forward = 0, backward = 0;
};

struct ShardSeconds {
    /// backward: gradients of inputs and weights; step: of its parameters
    double forward = 0, backward = 0, step = 0;
};

class ShardModel {
public:
    /// `asked`: by a plan on one GPU, whatever the cluster (jobWorkload). `kinds`: a location of each kind of GPU.
    ShardModel(const ShardModel &) = delete;
    ShardModel(const Requested &asked, const std::vector<StageLocation> &kinds);

    [[nodiscard]] const ModelSpec &model() const { return m_work.model; }
    /// The embedding, each layer, the head.
    [[nodiscard]] int pieces() const { return m_work.model.layers + 2; }
    [[nodiscard]] ShardCut cut(Pieces pieces);
    [[nodiscard]] const ShardBytes &bytes(Pieces pieces);
    [[nodiscard]] ShardSeconds seconds(Pieces pieces, std::size_t kind);
    /// Host work of a mini-batch, seconds.
    [[nodiscard]] double overhead(std::size_t kind) const { return m_costs[kind].overhead; }
    /// Of what goes from one shard to the next, or its gradient.
    [[nodiscard]] double boundaryBytes() const { return m_boundary; }

private:
    struct OfKind { // seconds of one of each
        /// chunk: host work of each unit
        ShardSeconds dense, expert, embedding, head, chunk;
        double stepOfParameter = 0;
        double overhead = 0;
    };
    [[nodiscard]] StageChunk chunk(Pieces pieces) const;
    [[nodiscard]] ShardBytes counted(const StageChunk &chunk);
    void addKind(StageLocation at);

    /// one chunk on one GPU: the one that is counted
    WorkloadInTurn m_turns;
    const Workload &m_work = m_turns.now();
    RankSet m_ranks;
    double m_boundary = 0, m_layerTensors = 0;
    /// [layer]: how many layers before it have experts
    std::vector<int> m_expertsBefore;
    std::vector<OfKind> m_costs;
    std::map<std::tuple<int, int, bool, bool>, ShardBytes> m_known;
};

/// Of a GPU's memory what is there for units, the rest being for the driver's context, the allocator's reserve and the
/// workspace of libraries.
[[nodiscard]] double roomForUnits(const Requested &asked, StageLocation at);

} // namespace trainyard
