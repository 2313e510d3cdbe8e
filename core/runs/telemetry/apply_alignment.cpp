// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/align.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

/// What an alignment takes off a clock: offset + drift × (moment - about).
struct Correction {
    double offset = 0, drift = 0;
    Moment about = 0;

    [[nodiscard]] double at(Moment moment) const { return offset + drift * static_cast<double>(moment - about); }
    /// Within what a recording may hold, whatever wild clocks were told: 2^61 ns either way.
    [[nodiscard]] Moment of(Moment moment) const
    {
        constexpr Moment kMost = (Moment(1) << 61) - 1;
        const Moment shift = std::llround(std::clamp(at(moment), -double(kMost), double(kMost)));
        return std::clamp(std::clamp(moment, -kMost, kMost) - shift, -kMost, kMost);
    }
};

void correct(RankRecording &rank, const Correction &correction)
{
    const auto move = [&](Moment &start, std::int64_t &duration) {
        const Moment end = correction.of(start + duration);
        start = correction.of(start);
        duration = end - start;
    };
    for (RecordedStream &stream : rank.streams) {
        RecordedSpans &spans = stream.spans;
        for (std::size_t i = 0; i < spans.size(); ++i)
            move(spans.start[i], spans.duration[i]);
        for (Moment &launch : spans.launchedAt)
            launch = launch == kNoMoment ? kNoMoment : correction.of(launch);
    }
    for (RecordedCollective &one : rank.collectives)
        move(one.start, one.duration);
    for (RecordedStep &step : rank.steps) {
        step.start = correction.of(step.start);
        step.end = correction.of(step.end);
    }
}

/// Both, one after the other, as one about the moment `about`, and the first alone where there is no second.
void compose(RankRecording &rank, Moment firstAbout, const Correction &second, Moment about)
{
    const double before = rank.clockOffset + rank.clockDrift * static_cast<double>(about - firstAbout);
    const double sinceSecond = static_cast<double>(about - second.about) - before;
    rank.clockOffset = before + second.offset + second.drift * sinceSecond;
    rank.clockDrift = 1 - (1 - rank.clockDrift) * (1 - second.drift);
}

} // namespace

void applyAlignment(Recording &recording, const ClockAlignment &alignment)
{
    std::vector<Correction> corrections(recording.ranks.size(), Correction { 0, 0, alignment.about });
    for (const ClockFit &fit : alignment.ranks)
        if (fit.island >= 0 && fit.rank < recording.ranks.size())
            corrections[fit.rank] = { fit.offset, fit.drift, alignment.about };
    for (std::size_t i = 0; i < recording.ranks.size(); ++i) {
        RankRecording &rank = recording.ranks[i];
        const Correction &correction = corrections[i];
        if (correction.offset != 0 || correction.drift != 0) {
            correct(rank, correction);
            for (SampleSeries &series : recording.series)
                if (!series.isByStep && rank.rank >= 0 && series.rank == rank.rank && rank.source != kNoIndex
                    && series.source == rank.source)
                    for (Moment &at : series.at)
                        at = correction.of(at);
        }
        compose(rank, recording.alignedAt, correction, alignment.about);
    }
    recording.alignedAt = alignment.about;
}

} // namespace trainyard
