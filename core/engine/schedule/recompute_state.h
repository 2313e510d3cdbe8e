#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which micro-batches of a device find at their backward everything that their forward made, as its order of work is
// gone through, and what that makes of each operation. Pure functions of the program.

#include "core/engine/schedule/program.h"

namespace trainyard {

/// Whole operations. `…Whole`: of a micro-batch that finds everything that its forward made, because nothing is
/// recomputed or it has been. Recompute: by an operation of its own; RecomputeWithin, RecomputeInput: as the first
/// part of a backward or input gradient.
enum class OpWork : std::uint8_t {
    Forward,
    ForwardWhole,
    Backward,
    BackwardWhole,
    InputGrad,
    InputGradWhole,
    WeightGrad,
    Recompute,
    RecomputeWithin,
    RecomputeInput
};
inline constexpr std::uint32_t kOpWorks = 10;

class RecomputeState {
public:
    /// `isRecomputing`: the plan recomputes at all.
    RecomputeState(const Program &program, int device, bool isRecomputing);
    /// Of an operation that is not a pair; a recomputation makes its micro-batch whole.
    [[nodiscard]] OpWork workOf(const Op &op)
    {
        constexpr OpWork kWork[] = { OpWork::Forward, OpWork::Backward, OpWork::InputGrad, OpWork::WeightGrad,
            OpWork::Recompute, OpWork::Forward };
        return m_isWhole.empty() ? kWork[std::size_t(op.kind)] : workOfSome(op);
    }
    [[nodiscard]] bool isWhole(const Op &op) const { return !m_isWhole.empty() && m_isWhole[index(op)] != 0; }

private:
    [[nodiscard]] OpWork workOfSome(const Op &op);
    [[nodiscard]] std::size_t index(const Op &op) const
    {
        return std::size_t(op.chunk) * m_microBatches + std::size_t(op.microBatch);
    }

    std::size_t m_microBatches;
    /// per chunk and micro-batch; empty where none is
    std::vector<std::uint8_t> m_isWhole;
};

} // namespace trainyard
