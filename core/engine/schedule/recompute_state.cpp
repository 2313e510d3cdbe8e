// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/schedule/recompute_state.h"

namespace trainyard {

RecomputeState::RecomputeState(const Program &program, int device, bool isRecomputing)
    : m_microBatches(std::size_t(program.shape.microBatches))
{
    if (!isRecomputing)
        return;
    const std::vector<Op> &order = program.order[std::size_t(device)];
    const auto sized = [&] { m_isWhole.resize(std::size_t(program.shape.chunks) * m_microBatches); };
    for (const Op &op : order)
        if (makesGradient(op.kind) && !op.recomputes) {
            sized();
            m_isWhole[index(op)] = 1;
        }
    for (const Op &op : order)
        if (op.kind == OpKind::Recompute) { // a forward that keeps little, made whole before its backward
            sized();
            m_isWhole[index(op)] = 0;
        }
}

OpWork RecomputeState::workOfSome(const Op &op)
{
    const bool whole = isWhole(op);
    switch (op.kind) {
    case OpKind::PairedForward:
    case OpKind::Forward:
        return whole ? OpWork::ForwardWhole : OpWork::Forward;
    case OpKind::Backward:
        return whole ? OpWork::BackwardWhole : OpWork::Backward;
    case OpKind::InputGrad:
        return whole ? OpWork::InputGradWhole : OpWork::InputGrad;
    case OpKind::WeightGrad:
        return OpWork::WeightGrad;
    case OpKind::Recompute:
        break;
    }
    if (whole)
        return OpWork::RecomputeWithin;
    m_isWhole[index(op)] = 1;
    return OpWork::Recompute;
}

} // namespace trainyard
