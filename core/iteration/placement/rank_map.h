#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which rank of the running job is which place of the plan: what import, overlay, calibration and export share. Ranks
// are numbered as frameworks do, tensor fastest: Megatron-LM's default order tp-cp-ep-dp-pp (its expert groups divide
// the ranks of one stage, in the order of their numbers: expert tensor parallel fastest, then expert), torchtitan's
// mesh pp, dp, cp, tp. `--use-tp-pp-dp-mapping` puts pipeline before data. A place without experts, context … has index
// 0 there. Immutable; any thread.

#include "core/base/error.h"
#include "core/iteration/placement/layout.h"

#include <vector>

namespace trainyard {

/// the earlier is faster
enum class RankOrder : std::uint8_t { DataBeforePipeline, PipelineBeforeData };

struct RankPlace {
    /// pipeline, as PipelineClass numbers them
    int replica = 0;
    /// of the pipeline (a device; with virtual stages it holds several chunks)
    int stage = 0;
    int tensor = 0, context = 0;
    /// index in its expert group
    int expert = 0;
    bool operator==(const RankPlace &) const = default;
};

class RankMap {
public:
    /// of no rank
    RankMap() = default;
    /// Of a grid whose degrees are all at least 1. Expert: ranks over which experts are divided; it divides
    /// tensor × context × data (expert tensor parallel 1).
    RankMap(int tensor, int context, int data, int pipeline, int expert = 1,
        RankOrder order = RankOrder::DataBeforePipeline);
    /// Of a plan as it was placed: stages of unequal GPUs may have tensor degrees of their own. Empty where nothing is
    /// placed (layout.data 0).
    RankMap(const Plan &plan, const Layout &layout, RankOrder order = RankOrder::DataBeforePipeline);

    [[nodiscard]] int worldSize() const;
    [[nodiscard]] int replicas() const { return m_data; }
    [[nodiscard]] int stages() const { return m_pipeline; }
    /// 0 <= rank < worldSize().
    [[nodiscard]] RankPlace placeOf(int rank) const;
    /// -1 where there is no such place.
    /// its expert index is not read
    [[nodiscard]] int rankOf(const RankPlace &place) const;
    /// All ranks of a stage of `pipelines` replicas from `first` on, ascending.
    [[nodiscard]] std::vector<int> ranksOf(int stage, int first, int pipelines) const;

private:
    // A cell is one stage of one replica; cells are numbered in the order of their ranks.
    [[nodiscard]] int cellOf(int replica, int stage) const;
    [[nodiscard]] int tensorOf(int cell) const
    {
        return m_firstRank.empty() ? m_tensor : m_tensorOf[std::size_t(cell)];
    }
    [[nodiscard]] int firstOf(int cell) const;

    int m_tensor = 1, m_context = 1, m_data = 0, m_pipeline = 0, m_expert = 1, m_expertTensor = 1;
    RankOrder m_order = RankOrder::DataBeforePipeline;
    /// [cell]; empty: m_tensor everywhere
    std::vector<int> m_tensorOf;
    /// [cell], and the world's size behind them; empty with m_tensorOf
    std::vector<int> m_firstRank;
};

} // namespace trainyard
