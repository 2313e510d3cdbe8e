#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Sums of eight spans each in the colours of their kinds, so that a picture of millions of spans reads few bytes of
// each. Made for a track when a second picture of the same evaluation in the same colours asks for it: of a picture
// that is never drawn again they would cost as much as they save. Owned by a RowMixer; GUI thread.

#include "core/evaluation/evaluate/evaluation.h"
#include "views/timeline/column_walk.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace trainyard {

class SpanBlocks {
public:
    /// A picture begins. What is known stays while evaluation and colours are those of the picture before.
    void prepare(const EvaluationPtr &evaluation, const WorkPalette &vivid, const WorkPalette &faded);
    /// The sums of track `index` for so many columns; null in the first picture, and where it has too few spans.
    [[nodiscard]] const BlockSums *of(std::size_t index, bool isVivid, int columns);

private:
    enum class Colors : std::uint8_t { None, Vivid, Faded };

    std::weak_ptr<const Evaluation> m_evaluation;
    WorkPalette m_vivid {}, m_faded {};
    bool m_isRepeated = false;
    BlockSums m_sums;
    /// by track: in which colours its sums are
    std::vector<Colors> m_made;
};

} // namespace trainyard
