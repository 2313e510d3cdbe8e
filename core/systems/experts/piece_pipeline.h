#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A movement through stages in n equal pieces, each stage busy with one piece at a time: closed form and the best n.
// T(n) = sum of t_x(n) + (n - 1) max t_x(n), with t_x(n) = start_x + moving_x / n. Exact for equal pieces; T(1) is one
// after the other. The form of MoNTA's pipeline (arXiv 2411.00662) as its released code runs it; equations are our
// reconstruction. docs/experts.md.

#include "core/base/units.h"

#include <span>

namespace trainyard {

struct PipelineStage {
    /// moving: all bytes
    Seconds start, moving;
};

[[nodiscard]] Seconds pipelineTime(std::span<const PipelineStage> stages, int pieces);
/// The fewest pieces of the smallest time, 1 .. most. For each stage x as the longest, T_x(n) = a + b n + c / n with
/// c >= 0 is convex, and T is the largest of these, so convex too: it falls up to its best n and never again behind it.
/// The root sqrt(sum of other stages' moving / start of the longest) of one T_x is not always the answer: which stage
/// is the longest changes with n.
[[nodiscard]] int bestPieces(std::span<const PipelineStage> stages, int most);

} // namespace trainyard
