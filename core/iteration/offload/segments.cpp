// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/offload/segments.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

/// Divides `total` as the values divide their sum, without losing a tick.
class Dealer {
public:
    Dealer(Nanoseconds total, double sum)
        : m_total(total)
        , m_sum(sum)
    {
    }
    Nanoseconds next(double value)
    {
        m_dealt += value;
        const Nanoseconds until = m_sum > 0 ? std::llround(double(m_total) * std::min(1.0, m_dealt / m_sum)) : 0;
        const Nanoseconds share = until - m_given;
        m_given = until;
        return share;
    }
    [[nodiscard]] Nanoseconds rest() const { return m_total - m_given; }

private:
    Nanoseconds m_total, m_given = 0;
    double m_sum, m_dealt = 0;
};

Nanoseconds moveTime(double bytes, double rate)
{
    return bytes > 0 ? std::max<Nanoseconds>(1, toNanoseconds(Bytes { bytes } / BytesPerSecond { rate })) : 0;
}

} // namespace

std::vector<OffloadPiece> piecesOf(const std::vector<OffloadModule> &modules, bool isSplit, int group)
{
    int inLayers = 0;
    std::vector<OffloadPiece> pieces;
    bool joins = false;
    for (std::size_t i = 0; i < modules.size(); ++i) {
        const OffloadModule &module = modules[i];
        const bool stands = module.leaves || module.discarded > 0;
        if (stands || !joins)
            pieces.emplace_back();
        joins = !stands;
        OffloadPiece &piece = pieces.back();
        (module.leaves ? piece.bytes.offloaded : piece.bytes.resident) += module.offloadable;
        piece.bytes.resident += module.resident;
        piece.bytes.discarded += module.discarded;
        piece.bytes.hasEmbedding |= module.part == ModulePart::Embedding;
        piece.bytes.hasHead |= module.part == ModulePart::Head;
        piece.bytes.hasLayers |= module.layer >= 0;
        piece.forward += module.forward.value;
        piece.backward += module.inputGrad.value + (isSplit ? 0 : module.weightGrad.value);
        piece.recompute += module.recompute.value;
        piece.group = inLayers / group; // what divides layers evenly falls on their borders
        piece.isLast = module.layer >= 0 && (i + 1 == modules.size() || modules[i + 1].layer < 0);
        inLayers += module.layer >= 0;
    }
    return pieces;
}

std::vector<OffloadSegment> segmentsOf(
    const std::vector<OffloadPiece> &pieces, const OpTimes &times, const OffloadPath &path, SegmentRule rule)
{
    double forward = 0, backward = 0, recompute = 0;
    for (const OffloadPiece &piece : pieces) {
        forward += piece.forward;
        backward += piece.backward;
        recompute += piece.recompute;
    }
    Dealer forwards(times.forward, forward), recomputes(times.recompute, recompute);
    Dealer backwards((rule.isSplit ? times.inputGrad : times.backward) - times.recompute, backward);
    std::vector<OffloadSegment> segments;
    for (const OffloadPiece &piece : pieces)
        segments.push_back({ forwards.next(piece.forward), recomputes.next(piece.recompute),
            backwards.next(piece.backward), moveTime(piece.bytes.offloaded, path.storeCap),
            moveTime(piece.bytes.offloaded, path.loadCap), piece.isLast, piece.group, -1, piece.bytes.offloaded });
    for (int k = 1, before = -1, last = -1; rule.waitsForBuffers && k < int(segments.size()); ++k) {
        if (segments[std::size_t(k - 1)].store <= 0)
            continue;
        before = last;
        last = k - 1;
        if (before >= 0)
            segments[std::size_t(before)].releases = k;
    }
    if (!segments.empty()) {
        segments.back().forward += forwards.rest();
        segments.back().recompute += recomputes.rest();
        segments.back().backward += backwards.rest();
    }
    return segments;
}

} // namespace trainyard
