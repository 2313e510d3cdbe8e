// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/live_changes.h"

#include <algorithm>
#include <tuple>

namespace trainyard {

Workspace workspaceOf(const ChunkMemory &chunk, const SegmentBytes &segment, bool isSpared)
{
    Workspace worst;
    bool isFirst = true;
    const auto consider = [&](Workspace t) {
        if (isFirst || t.total() > worst.total())
            worst = t;
        isFirst = false;
    };
    if (segment.hasHead)
        consider(chunk.atHead);
    if (segment.hasLayers) {
        Workspace t = chunk.atLayers;
        t.recomputed = isSpared ? 0 : t.recomputed;
        t.logits = segment.hasHead ? t.logits : 0;
        consider(t);
    }
    if (segment.hasEmbedding) {
        Workspace t = chunk.atEmbedding;
        t.kept = -std::min(-t.kept, segment.whole());
        t.logits = segment.hasHead ? t.logits : 0;
        consider(t);
    }
    return worst;
}

void addUp(std::vector<LiveChange> &changes, LiveOverTime &result)
{
    std::ranges::stable_sort(changes, {}, [](const LiveChange &c) { return std::tuple(c.time, c.order); });
    LiveBytes live;
    double offloaded = 0, discarded = 0;
    result.steps.push_back({0, 0, 0});
    for (const LiveChange &change : changes) {
        live.activations += change.activations;
        live.ends += change.ends;
        live.loss += change.loss;
        live.forWeightGrads += change.forWeightGrads;
        live.inFlight += change.inFlight;
        offloaded += change.offloaded;
        discarded += change.discarded;
        if (change.workspace)
            live.workspace = change.order == ChangeOrder::Runs ? *change.workspace : Workspace{};
        const double without = live.total(), with = without - offloaded - discarded;
        result.mostOffloaded = std::max(result.mostOffloaded, offloaded);
        result.peakWithout = std::max(result.peakWithout, without);
        if (with > result.peak) {
            result.peak = with;
            result.fullest = live;
            result.fullest.activations -= offloaded + discarded;
        }
        LiveOverTime::Step &last = result.steps.back();
        if (last.time == change.time)
            last = {change.time, with, without};
        else if (last.with != with || last.without != without)
            result.steps.push_back({change.time, with, without});
    }
}

} // namespace trainyard
