// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/experts/piece_pipeline.h"

#include <algorithm>

namespace trainyard {

Seconds pipelineTime(std::span<const PipelineStage> stages, int pieces)
{
    Seconds sum, longest;
    for (const PipelineStage &stage : stages) {
        const Seconds piece = stage.start + stage.moving / pieces;
        sum += piece;
        longest = std::max(longest, piece);
    }
    return sum + longest * (pieces - 1);
}

int bestPieces(std::span<const PipelineStage> stages, int most)
{
    // Less than that is rounding: stages without a start leave flat stretches.
    constexpr double kTie = 1e-12;
    const auto falls = [&](int pieces) {
        return pipelineTime(stages, pieces + 1).value < pipelineTime(stages, pieces).value * (1 - kTie);
    };
    // T falls up to the best number and never again behind it: look for the first number from which it does not fall.
    int low = 1, high = std::max(1, most);
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (falls(middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

} // namespace trainyard
