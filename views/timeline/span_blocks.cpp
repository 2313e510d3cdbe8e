// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/span_blocks.h"

#include <cstring>

namespace trainyard {

namespace {

bool isSame(const WorkPalette &a, const WorkPalette &b)
{
    return std::memcmp(a.data(), b.data(), sizeof a) == 0;
}

} // namespace

void SpanBlocks::prepare(const EvaluationPtr &evaluation, const WorkPalette &vivid, const WorkPalette &faded)
{
    m_isRepeated = evaluation && m_evaluation.lock() == evaluation && isSame(vivid, m_vivid) && isSame(faded, m_faded);
    if (m_isRepeated)
        return;
    m_evaluation = evaluation;
    m_vivid = vivid;
    m_faded = faded;
    m_made.clear();
}

const BlockSums *SpanBlocks::of(std::size_t index, bool isVivid, int columns)
{
    const EvaluationPtr evaluation = m_isRepeated ? m_evaluation.lock() : nullptr;
    if (!evaluation)
        return nullptr;
    const Timeline &timeline = evaluation->timeline;
    const Track &track = timeline.tracks[index];
    if (track.last - track.first < BlockSums::kLeastPerColumn * std::uint32_t(columns))
        return nullptr;
    m_made.resize(timeline.tracks.size());
    m_sums.blocks.resize(timeline.end.size() / BlockSums::kSpans);
    const Colors wanted = isVivid ? Colors::Vivid : Colors::Faded;
    if (m_made[index] == wanted)
        return &m_sums;
    m_made[index] = wanted;
    const WorkPalette &palette = isVivid ? m_vivid : m_faded;
    for (std::uint32_t b = (track.first + BlockSums::kSpans - 1) / BlockSums::kSpans;
         (b + 1) * BlockSums::kSpans <= track.last; ++b) {
        ColorLanes sum {};
        for (std::uint32_t i = b * BlockSums::kSpans; i < (b + 1) * BlockSums::kSpans; ++i)
            sum += palette[std::size_t(timeline.kind[i])] * float(timeline.end[i] - timeline.start[i]);
        m_sums.blocks[b] = { timeline.start[b * BlockSums::kSpans], timeline.end[(b + 1) * BlockSums::kSpans - 1],
            sum };
    }
    return &m_sums;
}

} // namespace trainyard
