// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/flight_recorder.h"

#include "core/runs/telemetry/readers/collective_names.h"
#include "core/runs/telemetry/readers/loose_json.h"
#include "core/runs/telemetry/readers/recording_builder.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace trainyard::readers {

namespace {

constexpr std::size_t kMostGroupRanks = 1 << 20;

double bytesOf(std::string_view dtype)
{
    constexpr std::array<std::pair<std::string_view, double>, 12> kSizes { { { "Double", 8 }, { "Long", 8 },
        { "ComplexFloat", 8 }, { "ComplexDouble", 16 }, { "Float", 4 }, { "Int", 4 }, { "UInt32", 4 }, { "Half", 2 },
        { "BFloat16", 2 }, { "Short", 2 }, { "Char", 1 }, { "Byte", 1 } } };
    const auto known = std::ranges::find(kSizes, dtype, &std::pair<std::string_view, double>::first);
    return known != kSizes.end() ? known->second : dtype == "Bool" || dtype.starts_with("Float8") ? 1 : 0;
}

/// Of lists of sizes and dtypes, one of each a tensor.
double tensorBytes(LooseJsonValue sizes, LooseJsonValue dtypes)
{
    double sum = 0;
    LooseJsonValue::Walk dtype = dtypes.begin();
    for (const LooseJsonValue size : sizes) {
        if (!(dtype != dtypes.end()))
            break;
        double elements = 1;
        for (const LooseJsonValue extent : size)
            elements *= std::max(extent.numberOr(0), 0.0);
        sum += elements * bytesOf((*dtype).raw());
        ++dtype;
    }
    return sum < 1e18 ? sum : 0;
}

/// "[0, 1, 2]" or an array.
std::vector<int> ranksOfGroup(LooseJsonValue value)
{
    std::vector<int> ranks;
    const auto add = [&](std::optional<std::int64_t> rank) {
        if (rank && *rank >= 0 && *rank < (1 << 30) && ranks.size() < kMostGroupRanks)
            ranks.push_back(static_cast<int>(*rank));
    };
    for (const LooseJsonValue one : value)
        add(one.integer());
    if (value.isString()) {
        std::string_view text = value.raw();
        while (!text.empty() && (text.front() == '[' || text.front() == ' '))
            text.remove_prefix(1);
        for (const std::string_view one : fieldsAt(text.substr(0, text.find(']')), ','))
            add(leadingInteger(one));
    }
    return ranks;
}

/// The last number of the file's name, as in nccl_trace_rank_3.json; -1 where it has none.
int rankOfName(const std::string &file)
{
    const std::string name = std::filesystem::path(file).stem().string();
    const auto at = name.rfind("rank");
    if (at == std::string::npos)
        return -1;
    const auto digit = name.find_first_of("0123456789", at);
    return digit == std::string::npos || digit > at + 5
        ? -1
        : static_cast<int>(
            std::clamp<std::int64_t>(leadingInteger(std::string_view(name).substr(digit)).value_or(-1), -1, 1 << 30));
}

class FlightDump {
public:
    explicit FlightDump(const SourceText &source)
        : m_scribe(source, SourceKind::FlightRecorder)
        , m_nameOf(m_scribe.recording().names)
    {
        m_rank.source = 0;
        m_rank.rank = rankOfName(source.file);
    }

    void addGroups(LooseJsonValue root)
    {
        for (const LooseJsonValue group : root["pg_config"]) {
            CommunicatorGroup made { group["name"].text(), group["desc"].text(), ranksOfGroup(group["ranks"]) };
            m_rank.worldSize = std::max(m_rank.worldSize, static_cast<int>(made.ranks.size()));
            m_scribe.recording().groups.push_back(std::move(made));
        }
        for (const LooseJsonValue status : root["pg_status"]) {
            const auto enqueued = status["last_enqueued_collective"].integer();
            const auto completed = status["last_completed_collective"].integer();
            if (enqueued && completed && *completed < *enqueued)
                m_scribe.note("Group " + std::string(status.key()) + " has enqueued collective "
                    + std::to_string(*enqueued) + " and completed no more than " + std::to_string(*completed));
        }
    }

    void add(LooseJsonValue entry)
    {
        const auto created = entry["time_created_ns"].integer();
        const std::string profiled = entry["profiling_name"].text();
        if (!created || *created <= 0 || profiled.empty())
            return m_scribe.drop("entries without a name or a time");
        RecordedCollective one;
        const std::string operation = collectiveNamed(profiled);
        one.operation = m_nameOf(operation);
        one.group = groupOf(entry["process_group"]);
        one.sequence = entry[entry["is_p2p"].isTrue() ? "p2p_seq_id" : "collective_seq_id"].integer().value_or(-1);
        const bool isGather = operation == "all_gather";
        one.bytes = isGather ? tensorBytes(entry["output_sizes"], entry["output_dtypes"])
                             : tensorBytes(entry["input_sizes"], entry["input_dtypes"]);
        one.start = *created;
        const double milliseconds = entry["duration_ms"].numberOr(0);
        if (milliseconds > 0 && milliseconds < 1e12)
            one.duration = static_cast<std::int64_t>(milliseconds * 1e6);
        const std::string state = entry["state"].text();
        if (!state.empty() && state != "completed")
            m_scribe.note(operation + " " + std::to_string(one.sequence) + " of group "
                + entry["process_group"].first().text() + " is " + state + ", not completed");
        m_rank.collectives.push_back(one);
        ++m_scribe.source().taken;
    }

    Expected<Recording> finish(bool isTruncated)
    {
        std::ranges::stable_sort(m_rank.collectives, {}, &RecordedCollective::start);
        m_scribe.recording().ranks.push_back(std::move(m_rank));
        m_scribe.source().isTruncated |= isTruncated;
        return m_scribe.finish();
    }

private:
    std::uint32_t groupOf(LooseJsonValue group)
    {
        auto &groups = m_scribe.recording().groups;
        const std::string name = group.first().text();
        const auto known = std::ranges::find(groups, name, &CommunicatorGroup::name);
        if (known != groups.end())
            return static_cast<std::uint32_t>(known - groups.begin());
        if (name.empty())
            return kNoIndex;
        groups.push_back({ name, group.second().text(), {} });
        return static_cast<std::uint32_t>(groups.size() - 1);
    }

    RecordingBuilder m_scribe;
    NameTable m_nameOf;
    RankRecording m_rank;
};

} // namespace

int looksLikeFlightRecorder(std::string_view, std::string_view head)
{
    const auto has = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
    if (!trimmed(head.substr(0, 256)).starts_with('{'))
        return 0;
    const bool hasEntries = has("\"entries\"") && (has("\"collective_seq_id\"") || has("\"pg_config\""));
    return hasEntries || (has("\"pg_config\"") && has("\"pg_status\"")) ? 90 : 0;
}

Expected<Recording> readFlightRecorder(const SourceText &source, const SourceOptions &)
{
    LooseJson json;
    if (!json.read(source.text))
        return refusal(source, "It is no JSON of a flight recorder");
    FlightDump dump(source);
    dump.addGroups(json.root());
    for (const LooseJsonValue entry : json.root()["entries"])
        dump.add(entry);
    return dump.finish(json.isTruncated() || json.isBroken());
}

int looksLikeFlightRecorderPickle(std::string_view fileName, std::string_view head)
{
    const bool isPickle = head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
    if (!isPickle)
        return 0;
    const auto has = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
    return fileName.find("nccl_trace") != std::string_view::npos || has("collective_seq_id") || has("pg_config")
            || has("pg_status")
        ? 95
        : 20;
}

Expected<Recording> refuseFlightRecorderPickle(const SourceText &source, const SourceOptions &)
{
    return refusal(source,
        looksLikeFlightRecorderPickle(source.file, source.text.substr(0, 65536)) > 50
            ? "It is a flight recorder dump in Python's pickle format, which runs what is in it when it is opened; "
              "dump it as "
              "JSON instead (torch._C._distributed_c10d._dump_nccl_trace_json)"
            : "It is a Python pickle, which runs what is in it when it is opened");
}

} // namespace trainyard::readers
