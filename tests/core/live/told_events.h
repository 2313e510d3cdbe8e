#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What recordings tell, event by event as text, with times as Unix times less `base`: two recordings tell the same
// where these are equal, however their tables are numbered.

#include "core/runs/telemetry/recording.h"

#include <cmath>
#include <set>
#include <string>

namespace trainyard::live::tests {

struct ToldEvents {
    std::multiset<std::string> spans, collectives, steps, samples;
    bool operator==(const ToldEvents &) const = default;

    void add(const Recording &part, Moment base)
    {
        const Moment shift = part.zero - base;
        const auto number = [](auto value) { return std::to_string(value) + " "; };
        const auto name = [&](std::uint32_t index) {
            return (index < part.names.size() ? part.names[index] : std::string("?")) + " ";
        };
        for (const RankRecording &rank : part.ranks) {
            const std::string who = number(rank.rank) + rank.host + " ";
            for (const RecordedStream &stream : rank.streams)
                for (std::size_t i = 0; i < stream.spans.size(); ++i)
                    spans.insert(who + number(stream.isGpu) + number(stream.device) + number(stream.stream)
                        + stream.label + " " + name(stream.spans.name[i]) + number(int(stream.spans.work[i]))
                        + number(stream.spans.start[i] + shift) + number(stream.spans.duration[i]));
            for (const RecordedCollective &own : rank.collectives)
                collectives.insert(who + name(own.operation)
                    + (own.group < part.groups.size() ? part.groups[own.group].name : std::string("?")) + " "
                    + number(own.sequence) + number(own.bytes) + number(own.start + shift) + number(own.duration));
            for (const RecordedStep &step : rank.steps)
                steps.insert(who + number(step.number) + number(step.start + shift) + number(step.end + shift));
        }
        for (const SampleSeries &series : part.series)
            for (std::size_t i = 0; i < series.at.size(); ++i)
                samples.insert(series.name.text() + " " + series.unit.text() + " " + number(series.rank)
                    + series.where.text() + " " + number(series.isByStep)
                    + number(series.isByStep ? series.at[i] : series.at[i] + shift)
                    + (std::isnan(series.value[i]) ? std::string("none") : number(series.value[i])));
    }
};

/// Step times that a store makes of the steps of ranks, where nobody told any.
inline void leaveOutStepTimes(ToldEvents &events)
{
    std::erase_if(events.samples, [](const std::string &sample) { return sample.starts_with("step_time "); });
}

inline ToldEvents eventsOf(const Recording &recording, Moment base)
{
    ToldEvents events;
    events.add(recording, base);
    return events;
}

} // namespace trainyard::live::tests
