#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Experts as places: which rank of which group holds which of a layer's experts, on which GPU, how loaded it is, and
// who sends tokens to it. Of one stage of a placed plan and one layer of it; for the cluster map and whoever asks.

#include "core/evaluation/evaluate/expert_layer.h"
#include "core/iteration/placement/expert_spread.h"

#include <vector>

namespace trainyard {

struct ExpertPlace {
    /// of the stage, in the order of data, context, tensor
    int rank = 0;
    /// of ranks that hold every expert once (a shard of each, where experts are shared out)
    int group = 0;
    /// of the experts: firstExpert() of it and as many as the others have
    int part = 0;
    int pipeline = 0;
    StageLocation at;
    /// of the pool
    int gpu = 0, node = 0;
    /// visits that it computes / mean
    double load = 1;
    bool operator==(const ExpertPlace &) const = default;
};

/// Whoever sends to a place: a GPU, a node or a datacenter.
struct ExpertSender {
    /// of a datacenter: its first pool that sends
    StageLocation at;
    /// -1: all of them
    int node = -1, gpu = -1;
    /// that send
    int gpus = 1;
    double bytes = 0;
};
enum class SenderKind : std::uint8_t { Gpu, Node, Datacenter };

class ExpertPlaces {
public:
    /// Empty where the stage has no layer with experts or nothing is placed.
    ExpertPlaces(const Evaluation &evaluation, const ExpertLayer &layer, int stage);

    [[nodiscard]] int stage() const { return m_stage; }
    [[nodiscard]] bool isEmpty() const { return m_ranks.empty(); }
    [[nodiscard]] const std::vector<ExpertPlace> &ranks() const { return m_ranks; }
    [[nodiscard]] int experts() const { return m_experts; }
    [[nodiscard]] int expertsEach() const { return m_grid.expert > 0 ? m_experts / m_grid.expert : 0; }
    [[nodiscard]] int groups() const { return m_groups; }
    [[nodiscard]] int firstExpert(const ExpertPlace &place) const { return place.part * expertsEach(); }
    /// The place of a GPU; nullptr where it serves another stage or none.
    [[nodiscard]] const ExpertPlace *find(StageLocation at, int gpu) const;
    /// One in each group, in their order.
    [[nodiscard]] std::vector<const ExpertPlace *> holders(int expert) const;
    /// The fullest rank's first expert; of equal loads expert 0.
    [[nodiscard]] int fullestExpert() const;

    /// Bytes of tokens of `from` that experts on `to` get in one layer, one micro-batch and one forward, whatever way
    /// they take: a copy for each visit or for each rank visited, as the dispatch sends them. 0 between groups. What a
    /// rank keeps for itself counts too.
    [[nodiscard]] double bytes(const ExpertPlace &from, const ExpertPlace &to) const;
    /// Most bytes first; the place's own GPU, node or datacenter among them.
    [[nodiscard]] std::vector<ExpertSender> senders(const ExpertPlace &to, SenderKind kind) const;

private:
    [[nodiscard]] std::vector<const ExpertPlace *> groupOf(const ExpertPlace &place) const;

    int m_stage = 0, m_experts = 0, m_groups = 0;
    ExpertGrid m_grid;
    std::vector<ExpertPlace> m_ranks;
    /// [part], from each rank of the group
    std::vector<double> m_bytesTo;
};

} // namespace trainyard
