#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The ranks of one stage, one by one: replica after replica in the order of their data ranks, in each context, then
// tensor. Which GPU each of them is, read from the runs of a layout. Groups that are dealt by rank numbers (experts)
// find their places here; all else asks sets of equal ranks (ranks.h).

#include "core/iteration/placement/layout.h"

#include <vector>

namespace trainyard {

struct RankGpu {
    StageLocation at;
    /// of the pool, in node order
    int gpu = 0;
    int pipeline = 0;
    bool operator==(const RankGpu &) const = default;
};

class StageRanks {
public:
    StageRanks(const Layout &layout, int stage);

    [[nodiscard]] int count() const { return m_count; }
    /// 0 <= rank < count()
    [[nodiscard]] RankGpu place(int rank) const;

    /// Ranks in a row on GPUs in a row.
    struct Stretch {
        int first = 0;
        GpuRun run;
        [[nodiscard]] int end() const { return first + run.gpus; }
        [[nodiscard]] StageLocation at() const { return { run.datacenter, run.pool }; }
    };
    [[nodiscard]] const std::vector<Stretch> &stretches() const { return m_stretches; }
    [[nodiscard]] const Stretch &stretchOf(int rank) const;

private:
    std::vector<Stretch> m_stretches;
    int m_count = 0;
};

} // namespace trainyard
