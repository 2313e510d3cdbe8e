// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/jobs/gang_patterns.h"

#include <algorithm>
#include <tuple>

namespace trainyard {

namespace {

/// What ended last of what had ended when it began.
void addCauses(GangPattern &pattern)
{
    std::vector<int> byEnd;
    for (int i = 0; i < int(pattern.spans.size()); ++i)
        byEnd.push_back(i);
    const auto endOf = [&](int i) {
        const GangPattern::Span &span = pattern.spans[std::size_t(i)];
        return span.start + span.length;
    };
    std::ranges::stable_sort(byEnd, {}, endOf);
    std::size_t ended = 0;
    for (GangPattern::Span &span : pattern.spans) {
        while (ended < byEnd.size() && endOf(byEnd[ended]) <= span.start)
            ++ended;
        span.cause = ended > 0 ? byEnd[ended - 1] : -1;
    }
}

} // namespace

GangPattern wholePattern(const GangForm &form, std::int64_t minibatches)
{
    GangPattern pattern;
    pattern.period = form.minibatch * minibatches;
    pattern.minibatches = minibatches;
    for (int seat = 0; seat < form.width; ++seat) {
        if (form.places[std::size_t(seat)].stage >= 0)
            pattern.spans.push_back({ 0, pattern.period, WorkKind::ForwardBackward, seat, -1 });
        pattern.computeShare.push_back(form.busyShare);
    }
    return pattern;
}

ExpectedAll<GangPattern> detailedPattern(const GangForm &form, const RunContext &context)
{
    const auto evaluation =
        run(form.plan, Depth::Spans, { context.catalogue, context.workspace, context.stop, nullptr, nullptr, nullptr });
    if (!evaluation)
        return std::unexpected(evaluation.error());
    const Timeline &timeline = (*evaluation)->timeline;
    const auto &shares = (*evaluation)->metrics.computeShare;
    GangPattern pattern;
    pattern.period = form.minibatch;
    for (int seat = 0; seat < form.width; ++seat) {
        const GangPlace place = form.places[std::size_t(seat)];
        const auto c = std::size_t(place.pipelineClass), s = std::size_t(place.stage);
        pattern.computeShare.push_back(c < shares.size() && s < shares[c].size() ? shares[c][s] : 1);
        for (const Track &track : timeline.tracks) {
            if (track.stream != Stream::Compute || track.pipelineClass != place.pipelineClass
                || track.stage != place.stage)
                continue;
            for (std::uint32_t span = track.first; span < track.last; ++span) {
                const Nanoseconds start = timeline.start[span], end = std::min(timeline.end[span], pattern.period);
                if (end > start)
                    pattern.spans.push_back({ start, end - start, timeline.kind[span], seat, -1 });
            }
        }
    }
    std::ranges::stable_sort(
        pattern.spans, {}, [](const GangPattern::Span &span) { return std::tuple(span.start, span.seat); });
    addCauses(pattern);
    return pattern;
}

} // namespace trainyard
