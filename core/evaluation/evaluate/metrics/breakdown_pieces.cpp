// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/metrics/breakdown_pieces.h"

#include "core/engine/timeline/stage_booking.h"

#include <cmath>

namespace trainyard {

namespace {

/// Takes what belongs to the parts that are asked for.
struct Collector {
    const Timeline &timeline;
    std::uint32_t track;
    std::span<const BreakdownPart> parts;
    std::vector<TimePiece> &pieces;

    [[nodiscard]] bool wants(BreakdownPart part) const { return std::ranges::find(parts, part) != parts.end(); }
    void add(TimeUse use, TimePiece piece)
    {
        const auto of = std::ranges::find(kUseParts, use, &UsePart::use);
        if (of == kUseParts.end() || piece.end <= piece.begin || !wants(of->part))
            return;
        piece.part = of->part;
        piece.seconds = toSeconds(piece.end - piece.begin).value;
        pieces.push_back(piece);
    }
    void wait(TimeUse use, Nanoseconds begin, Nanoseconds end, std::uint32_t span, std::uint32_t transfer)
    {
        add(use, { .track = track, .begin = begin, .end = end, .span = span, .transfer = transfer, .isWait = true });
    }
    void work(std::uint32_t span)
    {
        if (traitsOf(timeline.kind[span]).use != TimeUse::Compute)
            return add(traitsOf(timeline.kind[span]).use,
                { .track = track, .begin = timeline.start[span], .end = timeline.end[span], .span = span });
        for (const OperationPart &of : operationParts(timeline, span))
            if (wants(of.part))
                pieces.push_back({ .track = track,
                    .begin = of.begin,
                    .end = of.end,
                    .seconds = of.seconds,
                    .span = span,
                    .part = of.part });
    }
};

} // namespace

OperationParts operationParts(const Timeline &timeline, std::uint32_t span)
{
    const ExposedSeconds &inside = timeline.classOf(span).exposed;
    const Nanoseconds end = timeline.end[span];
    const double length = toSeconds(end - timeline.start[span]).value;
    OperationParts parts;
    double reached = 0;
    const auto add = [&](BreakdownPart part, double seconds) {
        reached += seconds;
        const Nanoseconds begin = parts.count > 0 ? parts.parts[parts.count - 1].end : timeline.start[span];
        const auto until = static_cast<Nanoseconds>(std::llround(reached * 1e9)) + timeline.start[span];
        parts.parts[parts.count++] = { part, seconds, begin, std::clamp(until, begin, end) };
    };
    add(&Breakdown::compute, length - inside.total());
    for (const InsidePart &of : kInsideParts)
        if (inside.*of.seconds > 0)
            add(of.part, inside.*of.seconds);
    return parts;
}

int slowestClass(const Timeline &timeline)
{
    int slowest = 0;
    Nanoseconds latest = -1;
    for (const Track &track : timeline.tracks) {
        if (track.stream != Stream::Compute)
            continue;
        for (std::uint32_t span = track.last; span-- > track.first;) {
            if (!isTrainingCompute(timeline.kind[span]))
                continue;
            if (timeline.end[span] > latest) {
                latest = timeline.end[span];
                slowest = track.pipelineClass;
            }
            break;
        }
    }
    return slowest;
}

double TimePieces::seconds() const
{
    double sum = 0;
    for (const TimePiece &piece : pieces)
        sum += piece.seconds;
    return stages > 0 ? sum / stages : 0;
}

TimePieces piecesOf(const Timeline &timeline, std::span<const BreakdownPart> parts)
{
    TimePieces found;
    const int slowest = slowestClass(timeline);
    for (std::uint32_t track = 0; track < timeline.tracks.size(); ++track) {
        if (timeline.tracks[track].stream != Stream::Compute || timeline.tracks[track].pipelineClass != slowest)
            continue;
        ++found.stages;
        bookStage(timeline, track, Collector { timeline, track, parts, found.pieces });
    }
    return found;
}

} // namespace trainyard
