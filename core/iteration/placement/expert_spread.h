#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which ranks share the experts of a layer, and where those lie. Only the pipeline is common to both views of the same
// ranks (parallel folding): TP x CP x DP x PP = ETP x EP x EDP x PP, attention's as reshape(.., DP, CP, TP) and the
// experts' as reshape(.., EDP, EP, ETP), innermost last, as Megatron Core numbers them. So the ranks of a stage are cut
// into blocks of EP x ETP in a row, wherever replicas end: a group may lie inside a node, over nodes, over datacenters.

#include "core/iteration/placement/resolve.h"

#include <optional>
#include <vector>

namespace trainyard {

/// How the ranks of a stage are dealt to groups of experts. A block holds `stride` groups side by side. ETP > 1: the
/// ranks of one expert lie in a row. Without it and without sequence parallelism the ranks of a tensor group hold the
/// same tokens, and those of equal place in their tensor groups share the experts (DeepSpeed), where that divides.
struct ExpertGrid {
    int expert = 1, expertTensor = 1, stride = 1;

    [[nodiscard]] int block() const { return expert * stride; }
    /// 0 <= lane < stride; a group is one lane of one block.
    [[nodiscard]] int rankOf(int blockIndex, int lane, int coordinate) const
    {
        return blockIndex * block() + coordinate * stride + lane;
    }
    [[nodiscard]] int blockOf(int rank) const { return rank / block(); }
    [[nodiscard]] int laneOf(int rank) const { return rank % stride; }
    /// Of the `expert` equal parts of the experts the one that a rank holds.
    [[nodiscard]] int coordinateOf(int rank) const { return rank % block() / stride; }
    /// Whether two ranks hold the same part, and of each expert the same shard.
    [[nodiscard]] bool areReplicas(int a, int b) const
    {
        return coordinateOf(a) == coordinateOf(b) && (expertTensor == 1 || laneOf(a) == laneOf(b));
    }
};
[[nodiscard]] ExpertGrid expertGrid(const Degrees &degrees, int ranksOfStage);

/// A group as a rank of one place sees it.
struct ExpertSpread {
    int ranks = 1;
    /// of them that the rank reaches without the fabric, itself too
    int together = 1;
    /// ranks in each datacenter, the rank's own first, then in the order of the cluster
    std::vector<int> perSite;
    /// those datacenters
    std::vector<int> sites;
    /// of the stage's, one of the group
    int firstRank = 0;

    [[nodiscard]] bool isAcross() const { return perSite.size() > 1; }
    [[nodiscard]] int here() const { return perSite.empty() ? ranks : perSite.front(); }
    /// Wherever in the stage.
    [[nodiscard]] bool isLike(const ExpertSpread &o) const
    {
        return ranks == o.ranks && together == o.together && perSite == o.perSite && sites == o.sites;
    }
    bool operator==(const ExpertSpread &) const = default;
};

/// Of the class's ranks the group that is apart most: fewest ranks in their own datacenter, then fewest that need no
/// fabric. One rank where the model has no experts or nothing is placed.
[[nodiscard]] ExpertSpread expertSpread(const Workload &workload, const PipelineClass &pipelines, int stage);

/// Share of a stage's experts whose replicas lie in more than one datacenter: their gradients alone cross the WAN.
[[nodiscard]] double expertsHeldApart(const Workload &workload, int stage);

/// Where replicas of a stage lie in two datacenters, ranks of one group may too: tokens then cross the WAN.
struct ExpertsAcross {
    /// datacenters of the first block of groups that is cut
    int from = 0, to = 0;
    /// the largest divisor of the present degree whose groups no border cuts; 0: none
    int expert = 0;
};
[[nodiscard]] std::optional<ExpertsAcross> expertsAcross(const Workload &workload);

/// Two datacenters with ranks of one group and no WAN link between them: tokens have no way.
struct UnlinkedExperts {
    int from = 0, to = 0;
};
[[nodiscard]] std::optional<UnlinkedExperts> unlinkedExperts(const Workload &workload);

/// Two datacenters with ranks of one expert: the products that they make together would be added up over the WAN.
struct CutExperts {
    int from = 0, to = 0;
};
[[nodiscard]] std::optional<CutExperts> cutExperts(const Workload &workload);

} // namespace trainyard
