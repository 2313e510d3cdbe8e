// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/held_changes.h"

#include <algorithm>
#include <tuple>

namespace trainyard {

Transient besideOf(const ChunkMemory &chunk, const SegmentBytes &segment, bool isSpared)
{
    Transient worst;
    bool isFirst = true;
    const auto consider = [&](Transient t) {
        if (isFirst || t.total() > worst.total())
            worst = t;
        isFirst = false;
    };
    if (segment.hasHead)
        consider(chunk.atHead);
    if (segment.hasLayers) {
        Transient t = chunk.atLayers;
        t.recomputed = isSpared ? 0 : t.recomputed;
        t.logits = segment.hasHead ? t.logits : 0;
        consider(t);
    }
    if (segment.hasEmbedding) {
        Transient t = chunk.atEmbedding;
        t.kept = -std::min(-t.kept, segment.whole());
        t.logits = segment.hasHead ? t.logits : 0;
        consider(t);
    }
    return worst;
}

void addUp(std::vector<HeldChange> &changes, HeldOverTime &result)
{
    std::ranges::stable_sort(changes, {}, [](const HeldChange &c) { return std::tuple(c.time, c.order); });
    Held held;
    double away = 0, gone = 0;
    result.steps.push_back({0, 0, 0});
    for (const HeldChange &change : changes) {
        held.activations += change.activations;
        held.ends += change.ends;
        held.loss += change.loss;
        held.forWeightGrads += change.forWeightGrads;
        held.inFlight += change.inFlight;
        away += change.away;
        gone += change.gone;
        if (change.beside)
            held.beside = change.order == ChangeOrder::Runs ? *change.beside : Transient{};
        const double without = held.total(), with = without - away - gone;
        result.mostAway = std::max(result.mostAway, away);
        result.peakWithout = std::max(result.peakWithout, without);
        if (with > result.peak) {
            result.peak = with;
            result.fullest = held;
            result.fullest.activations -= away + gone;
        }
        HeldOverTime::Step &last = result.steps.back();
        if (last.time == change.time)
            last = {change.time, with, without};
        else if (last.with != with || last.without != without)
            result.steps.push_back({change.time, with, without});
    }
}

} // namespace trainyard
