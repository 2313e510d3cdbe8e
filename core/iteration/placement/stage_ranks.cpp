// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/stage_ranks.h"

#include <algorithm>

namespace trainyard {

StageRanks::StageRanks(const Layout &layout, int stage)
{
    for (const GpuRun &run : layout.runs)
        if (run.stage == stage && run.gpus > 0)
            m_stretches.push_back({ 0, run });
    std::ranges::stable_sort(m_stretches, {}, [](const Stretch &s) { return s.run.firstPipeline; });
    for (Stretch &stretch : m_stretches) {
        stretch.first = m_count;
        m_count += stretch.run.gpus;
    }
}

const StageRanks::Stretch &StageRanks::stretchOf(int rank) const
{
    const auto next = std::ranges::upper_bound(m_stretches, rank, {}, &Stretch::first);
    return *std::prev(next);
}

RankGpu StageRanks::place(int rank) const
{
    const Stretch &stretch = stretchOf(rank);
    const int offset = rank - stretch.first, each = std::max(1, stretch.run.gpus / std::max(1, stretch.run.pipelines));
    return { stretch.at(), stretch.run.firstGpu + offset,
        stretch.run.firstPipeline + std::min(offset / each, stretch.run.pipelines - 1) };
}

} // namespace trainyard
