#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings of a few spans for tests, in microseconds, each a few lines away from what a test is about.

#include "core/runs/overlay/run_steps.h"
#include "core/runs/telemetry/sample_names.h"

namespace trainyard::test {

inline constexpr Moment kMicrosecond = 1000;

class SmallRecording {
public:
    /// Streams are made as they are named.
    struct Rank {
        SmallRecording &all;
        std::size_t index;

        RankRecording &rank() const { return all.m_recording.ranks[index]; }
        RecordedStream &stream(int number) const
        {
            for (RecordedStream &stream : rank().streams)
                if (stream.stream == number)
                    return stream;
            RecordedStream &made = rank().streams.emplace_back();
            made.stream = number;
            return made;
        }
        /// From start to end, launched at a moment of the host; -1: nobody tells. In order of start.
        const Rank &span(RecordedWork work, Moment start, Moment end, Moment launched = -1, int number = 7,
            std::string_view name = "kernel") const
        {
            RecordedSpans &spans = stream(number).spans;
            spans.start.push_back(start * kMicrosecond);
            spans.duration.push_back((end - start) * kMicrosecond);
            spans.name.push_back(all.m_names(name));
            spans.work.push_back(work);
            spans.launch.push_back(0);
            spans.launchedAt.push_back(launched < 0 ? kNoMoment : launched * kMicrosecond);
            return *this;
        }
        const Rank &collective(std::string_view operation, Moment start, Moment end, double bytes = 1e6,
            int number = 24, Moment launched = -1, std::vector<int> group = {}) const
        {
            span(RecordedWork::Communication, start, end, launched, number, operation);
            RecordedCollective &made = rank().collectives.emplace_back();
            made.operation = all.m_names(operation);
            made.bytes = bytes;
            made.start = start * kMicrosecond;
            made.duration = (end - start) * kMicrosecond;
            for (std::uint32_t s = 0; s < rank().streams.size(); ++s)
                if (rank().streams[s].stream == number)
                    made.stream = s;
            made.span = static_cast<std::uint32_t>(stream(number).spans.size()) - 1;
            if (!group.empty())
                made.group = all.groupOf(group);
            return *this;
        }
        const Rank &step(std::int64_t number, Moment start, Moment end) const
        {
            rank().steps.push_back({ number, start * kMicrosecond, end * kMicrosecond });
            return *this;
        }
    };

    Rank rank(int number, int world = 0)
    {
        RankRecording &made = m_recording.ranks.emplace_back();
        made.rank = number;
        made.worldSize = world;
        return { *this, m_recording.ranks.size() - 1 };
    }
    SmallRecording &stages(int count)
    {
        m_recording.arguments["pipeline_model_parallel_size"] = std::to_string(count);
        return *this;
    }
    /// By step from `first` on.
    SmallRecording &series(std::string_view name, std::int64_t first, std::vector<double> values)
    {
        SampleSeries &made = m_recording.series.emplace_back();
        made.name = SharedText(name);
        made.isByStep = true;
        for (std::size_t i = 0; i < values.size(); ++i)
            made.at.push_back(first + static_cast<std::int64_t>(i));
        made.value = std::move(values);
        return *this;
    }
    /// Over time; moments in seconds.
    SmallRecording &overTime(
        std::string_view name, std::vector<double> seconds, std::vector<double> values, std::string_view where = {})
    {
        SampleSeries &made = m_recording.series.emplace_back();
        made.name = SharedText(name);
        made.where = SharedText(where);
        for (const double second : seconds)
            made.at.push_back(static_cast<Moment>(second * 1e9));
        made.value = std::move(values);
        return *this;
    }
    [[nodiscard]] RunPtr run() const { return makeRun(m_recording); }
    Recording m_recording;

private:
    std::uint32_t groupOf(const std::vector<int> &ranks)
    {
        for (std::uint32_t g = 0; g < m_recording.groups.size(); ++g)
            if (m_recording.groups[g].ranks == ranks)
                return g;
        m_recording.groups.push_back({ "group " + std::to_string(m_recording.groups.size()), "", ranks });
        return static_cast<std::uint32_t>(m_recording.groups.size()) - 1;
    }
    NameTable m_names { m_recording.names };
};

inline bool hasNote(const std::vector<std::string> &notes, std::string_view part)
{
    for (const std::string &note : notes)
        if (note.find(part) != std::string::npos)
            return true;
    return false;
}

} // namespace trainyard::test
