#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Prefill never delays training: two evaluations of a plan, with it and without, hold the same spans to the nanosecond,
// and nothing that is served lies on anything that its GPU computes.

#include "tests/core/evaluation/evaluate/plan_checks.h"

#include <set>

namespace trainyard::test {

/// Streams whose work runs on the GPU's own units, where prefill would have to share them.
inline bool computes(const Track &track)
{
    return track.stream == Stream::Compute || track.stream == Stream::StepGpu;
}

inline void checkPrefillSpans(Findings &findings, unsigned seed, const Evaluation &e)
{
    const Timeline &t = e.timeline;
    for (const Track &prefill : t.tracks) {
        if (prefill.stream != Stream::Prefill)
            continue;
        for (std::uint32_t span = prefill.first; span < prefill.last; ++span)
            findings.expect(t.kind[span] == WorkKind::Prefill && t.start[span] >= 0 && t.end[span] <= t.duration, seed,
                "prefill lies in the iteration");
        for (const Track &own : t.tracks) {
            if (!computes(own) || own.pipelineClass != prefill.pipelineClass || own.stage != prefill.stage)
                continue;
            std::uint32_t work = own.first;
            for (std::uint32_t span = prefill.first; span < prefill.last; ++span) {
                while (work < own.last && t.end[work] <= t.start[span])
                    ++work;
                std::uint32_t next = work;
                while (next < own.last && t.start[next] == t.end[next]) // takes no time
                    ++next;
                findings.expect(next == own.last || t.start[next] >= t.end[span], seed,
                    std::string("prefill lies on no work of its GPU: ")
                        + (next == own.last ? "" : toString(t.kind[next])));
            }
        }
    }
}

inline void checkNoDelay(Findings &findings, unsigned seed, const Evaluation &with, const Evaluation &without)
{
    const Timeline &a = with.timeline, &b = without.timeline;
    findings.expect(a.duration == b.duration && with.metrics.iterationTime == without.metrics.iterationTime, seed,
        "an iteration is as long with prefill as without");
    findings.expect(with.feasibility == without.feasibility && with.layout.classes == without.layout.classes, seed,
        "placement and verdict are the same with prefill as without");
    if (a.spanCount() < b.spanCount())
        return findings.expect(false, seed, "no span of training is gone with prefill");
    const auto isSame = [&](const auto &mine, const auto &theirs) {
        return mine.size() >= theirs.size() && std::equal(theirs.begin(), theirs.end(), mine.begin());
    };
    findings.expect(isSame(a.start, b.start) && isSame(a.end, b.end) && isSame(a.kind, b.kind)
            && isSame(a.microBatch, b.microBatch) && isSame(a.cause, b.cause),
        seed, "every span of training is where it is without prefill");
    for (std::size_t span = b.spanCount(); span < a.spanCount(); ++span)
        findings.expect(a.kind[span] == WorkKind::Prefill, seed, "what comes with prefill is prefill");
    findings.expect(with.metrics.gpuUtilization == without.metrics.gpuUtilization
            && with.metrics.bubbleFraction == without.metrics.bubbleFraction
            && with.metrics.wanBytesPerIteration == without.metrics.wanBytesPerIteration,
        seed, "numbers of training are the same with prefill as without");
    if (with.metrics.breakdown && without.metrics.breakdown)
        for (double Breakdown::*part : kBreakdownParts)
            findings.expect((*with.metrics.breakdown).*part == (*without.metrics.breakdown).*part, seed,
                "the breakdown is the same with prefill as without");
    if (!with.metrics.bubbleFill)
        return;
    const BubbleFillMetrics &fill = *with.metrics.bubbleFill;
    findings.expect(fill.trainingDelay == 0, seed, "training is delayed by nothing");
    findings.expect(fill.rejected
            == fill.rejectedForMemory + fill.rejectedForWindow + fill.rejectedAsFull + fill.rejectedAsLate
                + fill.rejectedByDecode,
        seed, "what is turned away has a reason");
    std::set<std::pair<int, int>> serving;
    for (const Track &track : a.tracks)
        if (track.stream == Stream::Prefill)
            serving.insert({ track.pipelineClass, track.stage });
    for (const DeviceMetrics &device : with.metrics.devices)
        if (serving.contains({ device.pipelineClass, device.stage }) && device.capacity > 0)
            findings.expect(
                device.device + fill.memoryPerGpu <= device.capacity, seed, "what is served fits beside training");
    checkPrefillSpans(findings, seed, with);
}

} // namespace trainyard::test
