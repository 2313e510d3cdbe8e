// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/stream_lines.h"

#include "core/live/line_text_internal.h"
#include "core/live/stream_parts.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace trainyard::live {

namespace {

constexpr std::array<const char *, 8> kWorks { "\"compute\"", "\"communication\"", "\"copy\"", "\"wait\"",
    "\"host_call\"", "\"host_operator\"", "\"annotation\"", "\"other\"" };

class StreamWriter {
public:
    StreamWriter(const Recording &recording, const StreamParts &parts, Moment zero)
        : m_recording(recording)
        , m_told(parts)
        , m_zero(zero)
    {
        for (const std::string &name : recording.names)
            m_names.push_back(jsonText(name));
        nameGroups();
        std::set<std::pair<int, std::string>> speakers;
        std::set<int> ranks;
        for (const RankRecording &rank : recording.ranks) {
            speakers.emplace(rank.rank, rank.host);
            ranks.insert(rank.rank);
        }
        m_isAlone = recording.ranks.size() == 1;
        m_hasTwins = speakers.size() > ranks.size();
    }

    void write(std::string_view token, const std::function<bool(TimedLine &&line)> &out)
    {
        const Moment begin = m_told.parts().empty() ? m_zero : m_told.parts().front().at + m_zero;
        bool goesOn = true;
        const auto give = [&](Moment at, int rank, std::string text) {
            goesOn = goesOn && out({ at, rank, std::move(text) });
        };
        hellos(token, [&](int rank, std::string text) { give(begin, rank, std::move(text)); });
        for (std::size_t i = 0; goesOn && i < m_told.parts().size(); ++i)
            give(m_told.parts()[i].at + m_zero, rankOf(m_told.parts()[i]), textOf(m_told.parts()[i]));
        give(m_told.parts().empty() ? begin : m_told.parts().back().at + m_zero, -1, LineText("end").take());
    }

private:
    /// Events name groups by their names, so that each needs one of its own.
    void nameGroups()
    {
        std::map<std::string, int> told;
        for (const CommunicatorGroup &group : m_recording.groups) {
            std::string name = group.name.empty() ? "group" : group.name;
            if (const int again = told[name]++; again > 0)
                name += " #" + std::to_string(again + 1);
            m_groups.push_back(jsonText(name));
        }
    }

    // Their lines

    template <class Give> void hellos(std::string_view token, const Give &give)
    {
        const auto hello = [&](const RankRecording *rank, bool isFirst) {
            LineText line("hello");
            line.text("format", kStreamFormat).whole("version", kStreamVersion);
            if (isFirst && !m_recording.name.empty())
                line.text("run", m_recording.name);
            if (rank && rank->rank >= 0)
                line.whole("rank", rank->rank);
            if (rank && rank->worldSize > 0)
                line.whole("world_size", rank->worldSize);
            if (rank && !rank->host.empty())
                line.text("host", rank->host);
            if (rank && !rank->gpu.empty())
                line.text("gpu", rank->gpu);
            if (isFirst && !token.empty())
                line.text("token", token);
            give(rank ? rank->rank : -1, line.take());
        };
        hello(m_isAlone ? &m_recording.ranks.front() : nullptr, true);
        for (std::size_t i = 0; !m_isAlone && i < m_recording.ranks.size(); ++i)
            hello(&m_recording.ranks[i], false);
        if (!m_recording.arguments.empty()) {
            LineText line("arguments");
            line.key("values");
            char before = '{';
            for (const auto &[name, value] : m_recording.arguments) {
                line.raw({ &before, 1 }).raw(jsonText(name)).raw(":").raw(jsonText(value));
                before = ',';
            }
            give(-1, line.raw("}").take());
        }
        for (std::size_t i = 0; i < m_recording.groups.size(); ++i) {
            const CommunicatorGroup &group = m_recording.groups[i];
            LineText line("group");
            line.key("name").raw(m_groups[i]);
            if (!group.description.empty())
                line.text("description", group.description);
            line.key("ranks");
            char before = '[';
            for (const int rank : group.ranks) {
                line.raw({ &before, 1 }).append(std::int64_t(rank));
                before = ',';
            }
            give(-1, line.raw(group.ranks.empty() ? "[]" : "]").take());
        }
    }

    [[nodiscard]] int rankOf(const StreamPart &part) const
    {
        return part.kind == StreamPartKind::Samples ? m_recording.series[part.owner].rank
                                                    : m_recording.ranks[part.owner].rank;
    }

    [[nodiscard]] std::string textOf(const StreamPart &part) const
    {
        switch (part.kind) {
        case StreamPartKind::Spans:
            return spansText(part);
        case StreamPartKind::Collectives:
            return collectivesText(part);
        case StreamPartKind::Samples:
            return samplesText(part);
        case StreamPartKind::Step:
            return stepText(part);
        }
        return {};
    }

    [[nodiscard]] LineText begun(const char *event, const RankRecording &rank) const
    {
        LineText line(event);
        if (!m_isAlone && rank.rank >= 0)
            line.whole("rank", rank.rank);
        if (m_hasTwins)
            line.text("host", rank.host);
        return line;
    }

    static void addStream(LineText &line, const RecordedStream &stream)
    {
        line.text("stream", stream.label);
        if (!stream.isGpu)
            line.key("gpu_stream").raw("false");
        if (stream.device != 0)
            line.whole("device", stream.device);
        if (stream.stream != 0)
            line.whole("stream_number", stream.stream);
    }

    /// One for all where all are equal.
    template <class Value>
    void addColumn(LineText &line, const char *name, const StreamPart &part, const Value &value) const
    {
        const std::vector<std::uint32_t> &order = m_told.orderOf(part);
        std::size_t count = part.count;
        if constexpr (!std::is_arithmetic_v<decltype(value(0))>) {
            bool isSame = true;
            for (std::size_t i = 1; i < part.count && isSame; ++i)
                isSame = value(order[part.first + i]) == value(order[part.first]);
            count = isSame ? 1 : part.count;
        }
        line.column(name, count, [&](std::size_t i) {
            if constexpr (std::is_arithmetic_v<decltype(value(0))>)
                line.append(value(order[part.first + i]));
            else
                line.raw(value(order[part.first + i]));
        });
    }

    [[nodiscard]] std::string spansText(const StreamPart &part) const
    {
        const RankRecording &rank = m_recording.ranks[part.owner];
        const RecordedSpans &spans = rank.streams[part.list].spans;
        LineText line = begun(part.count == 1 ? "span" : "spans", rank);
        addStream(line, rank.streams[part.list]);
        addColumn(
            line, "work", part, [&](std::uint32_t i) { return std::string_view(kWorks[std::size_t(spans.work[i])]); });
        addColumn(line, "name", part, [&](std::uint32_t i) { return std::string_view(m_names[spans.name[i]]); });
        addColumn(line, "start_ns", part, [&](std::uint32_t i) { return unixTime(spans.start[i]); });
        addColumn(line, "duration_ns", part, [&](std::uint32_t i) { return std::int64_t(spans.duration[i]); });
        if (!spans.launchedAt.empty())
            addLaunches(line, part, spans);
        return line.take();
    }

    void addLaunches(LineText &line, const StreamPart &part, const RecordedSpans &spans) const
    {
        const std::vector<std::uint32_t> &order = m_told.orderOf(part);
        line.column("launched_ns", part.count, [&](std::size_t i) {
            const Moment at = spans.launchedAt[order[part.first + i]];
            if (at == kNoMoment)
                line.raw("null");
            else
                line.append(unixTime(at));
        });
    }

    [[nodiscard]] std::string collectivesText(const StreamPart &part) const
    {
        const RankRecording &rank = m_recording.ranks[part.owner];
        const std::vector<RecordedCollective> &all = rank.collectives;
        LineText line = begun(part.count == 1 ? "collective" : "collectives", rank);
        if (part.list != kNoIndex) {
            const RecordedSpans &spans = rank.streams[part.list].spans;
            addStream(line, rank.streams[part.list]);
            addColumn(line, "work", part,
                [&](std::uint32_t i) { return std::string_view(kWorks[std::size_t(spans.work[all[i].span])]); });
            addColumn(line, "name", part,
                [&](std::uint32_t i) { return std::string_view(m_names[spans.name[all[i].span]]); });
            if (!spans.launchedAt.empty()) {
                const std::vector<std::uint32_t> &order = m_told.orderOf(part);
                line.column("launched_ns", part.count, [&](std::size_t i) {
                    const Moment at = spans.launchedAt[all[order[part.first + i]].span];
                    at == kNoMoment ? void(line.raw("null")) : line.append(unixTime(at));
                });
            }
        }
        addColumn(line, "group", part, [&](std::uint32_t i) {
            return all[i].group == kNoIndex ? std::string_view("null") : std::string_view(m_groups[all[i].group]);
        });
        addColumn(
            line, "operation", part, [&](std::uint32_t i) { return std::string_view(m_names[all[i].operation]); });
        addColumn(line, "bytes", part, [&](std::uint32_t i) { return all[i].bytes; });
        if (std::ranges::any_of(all, [](const RecordedCollective &one) { return one.sequence >= 0; }))
            addColumn(line, "sequence", part, [&](std::uint32_t i) { return all[i].sequence; });
        addColumn(line, "start_ns", part, [&](std::uint32_t i) { return unixTime(all[i].start); });
        addColumn(line, "duration_ns", part, [&](std::uint32_t i) { return std::int64_t(all[i].duration); });
        return line.take();
    }

    [[nodiscard]] std::string samplesText(const StreamPart &part) const
    {
        const SampleSeries &series = m_recording.series[part.owner];
        LineText line(part.count == 1 ? "sample" : "samples");
        series.rank >= 0 ? line.whole("rank", series.rank) : line.key("rank").raw("null");
        line.text("name", series.name).text("unit", series.unit);
        if (!series.where.empty())
            line.text("where", series.where);
        addColumn(line, series.isByStep ? "step" : "at_ns", part,
            [&](std::uint32_t i) { return series.isByStep ? std::int64_t(series.at[i]) : unixTime(series.at[i]); });
        addColumn(line, "value", part, [&](std::uint32_t i) { return series.value[i]; });
        return line.take();
    }

    [[nodiscard]] std::string stepText(const StreamPart &part) const
    {
        const RankRecording &rank = m_recording.ranks[part.owner];
        const RecordedStep &step = rank.steps[part.first];
        return begun("step", rank)
            .whole("number", step.number)
            .whole("start_ns", unixTime(step.start))
            .whole("end_ns", unixTime(step.end))
            .take();
    }

    [[nodiscard]] std::int64_t unixTime(Moment moment) const { return m_zero + moment; }

    const Recording &m_recording;
    const StreamParts &m_told;
    const Moment m_zero;
    bool m_isAlone = false, m_hasTwins = false; // twins: two hosts that claim one rank
    std::vector<std::string> m_names, m_groups; // as JSON
};

} // namespace

std::string jsonText(std::string_view text)
{
    const auto isPlain = [](char c) { return c >= ' ' && c < 127 && c != '"' && c != '\\'; };
    if (std::ranges::all_of(text, isPlain))
        return '"' + std::string(text) + '"';
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void writeLines(const Recording &recording, std::string_view token, const std::function<bool(TimedLine &&line)> &out,
    std::size_t most)
{
    writeLines(recording, StreamParts(recording, most), recording.zero, token, out);
}

void writeLines(const Recording &recording, const StreamParts &parts, Moment zero, std::string_view token,
    const std::function<bool(TimedLine &&line)> &out)
{
    StreamWriter(recording, parts, zero).write(token, out);
}

} // namespace trainyard::live
