// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/nccl_inspector.h"

#include "core/runs/telemetry/readers/collective_names.h"
#include "core/runs/telemetry/readers/loose_json.h"
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/recording_builder.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trainyard::readers {

namespace {

constexpr double kLeastMicroseconds = 1e-3; // a nanosecond: bytes ÷ less may be no number any more
constexpr std::size_t kMostFastest = 20000;
constexpr std::int64_t kMostMicroseconds = 9'000'000'000'000'000; // as Unix time, the year 2255

int smallCount(LooseJsonValue value)
{
    return static_cast<int>(std::clamp<std::int64_t>(value.integer().value_or(0), 0, 1 << 30));
}

class InspectorLog {
public:
    explicit InspectorLog(const SourceText &source)
        : m_scribe(source, SourceKind::NcclInspector)
        , m_nameOf(m_scribe.recording().names)
    {
    }

    void add(LooseJsonValue record)
    {
        const LooseJsonValue header = record["header"], metadata = record["metadata"];
        const bool isPair = bool(record["p2p_perf"]);
        const LooseJsonValue perf = record[isPair ? "p2p_perf" : "coll_perf"];
        const std::string prefix = isPair ? "p2p_" : "coll_";
        const auto bytes = perf[prefix + "msg_size_bytes"].number();
        const auto microseconds = perf[prefix + "exec_time_us"].number();
        if (!header || !bytes || !microseconds || !(*microseconds >= kLeastMicroseconds) || !(*microseconds < 1e12)
            || !(*bytes >= 0) || !(*bytes < 1e18))
            return m_scribe.drop("records without a size or a time");
        RecordedCollective one;
        const std::string operation = collectiveNamed(perf[isPair ? "p2p" : "coll"].text());
        one.operation = m_nameOf(operation);
        one.group = groupOf(header);
        one.sequence = perf[prefix + "sn"].integer().value_or(-1);
        one.bytes = *bytes;
        one.duration = static_cast<std::int64_t>(*microseconds * 1000);
        const auto begun = perf["event_trace_ts"][prefix + "start_ts"].integer();
        const auto dumped = metadata["dump_timestamp_us"].integer();
        if (begun && *begun > 0 && *begun < kMostMicroseconds)
            one.start = *begun * 1000;
        else if (dumped && *dumped > 0 && *dumped < kMostMicroseconds)
            one.start = std::max<std::int64_t>(*dumped * 1000 - one.duration, 0);
        m_collectives[processOf(header, metadata)].push_back(one);
        if (perf["coll_timing_source"].text() == "collective_cpu")
            m_scribe.note("Some times are those of the CPU's calls, not of the kernels");
        addPoint(header, perf, prefix, operation, *bytes, *microseconds);
        ++m_scribe.source().taken;
    }

    Expected<Recording> finish(const SourceText &source)
    {
        Recording &recording = m_scribe.recording();
        for (std::size_t i = 0; i < m_collectives.size(); ++i) {
            std::ranges::stable_sort(m_collectives[i], {}, &RecordedCollective::start);
            recording.ranks[i].collectives = std::move(m_collectives[i]);
        }
        for (auto &[key, point] : m_fastest) {
            point.source = 0;
            recording.benchmarks.push_back(point);
        }
        if (recording.ranks.empty())
            return refusal(source, "It is a log of NCCL Inspector without a single operation");
        std::ranges::stable_sort(recording.ranks, {}, &RankRecording::rank);
        return m_scribe.finish();
    }

    [[nodiscard]] RecordingBuilder &scribe() { return m_scribe; }

private:
    std::uint32_t groupOf(LooseJsonValue header)
    {
        const std::string id = header["id"].text(), name = header["comm_name"].text();
        auto [known, isNew] = m_groups.try_emplace(id, static_cast<std::uint32_t>(m_groups.size()));
        if (isNew)
            m_scribe.recording().groups.push_back({ id, name, {} });
        return known->second;
    }

    /// A process is one rank of the run: its rank in the largest of its communicators.
    std::size_t processOf(LooseJsonValue header, LooseJsonValue metadata)
    {
        auto &ranks = m_scribe.recording().ranks;
        const std::string host = metadata["hostname"].text();
        auto [known, isNew] = m_processes.try_emplace(host + ":" + metadata["pid"].text(), ranks.size());
        if (isNew) {
            ranks.push_back({ .source = 0, .host = host });
            m_collectives.emplace_back();
        }
        RankRecording &rank = ranks[known->second];
        if (const int size = smallCount(header["n_ranks"]); size > rank.worldSize) {
            rank.worldSize = size;
            rank.rank = smallCount(header["rank"]);
        }
        return known->second;
    }

    void addPoint(LooseJsonValue header, LooseJsonValue perf, const std::string &prefix, const std::string &operation,
        double bytes, double microseconds)
    {
        const int ranks = smallCount(header["n_ranks"]), nodes = smallCount(header["nnodes"]);
        const auto key = std::tuple(operation, ranks, nodes, bytes);
        const auto known = m_fastest.find(key);
        if (known == m_fastest.end() && m_fastest.size() >= kMostFastest)
            return m_scribe.drop("sizes of messages beyond 20000 different ones, as points of a benchmark");
        if (known != m_fastest.end() && known->second.seconds <= microseconds * 1e-6)
            return;
        BenchmarkPoint point { .what = operation, .ranks = ranks, .nodes = nodes, .bytes = bytes };
        point.seconds = microseconds * 1e-6;
        point.bytesPerSecond = perf[prefix + "algobw_gbs"].numberOr(0) * 1e9;
        point.busBytesPerSecond = perf[prefix + "busbw_gbs"].numberOr(0) * 1e9;
        if (!(point.bytesPerSecond > 0) || !(point.bytesPerSecond < 1e18))
            point.bytesPerSecond = bytes / point.seconds;
        if (!(point.busBytesPerSecond >= 0) || !(point.busBytesPerSecond < 1e18))
            point.busBytesPerSecond = 0;
        m_fastest.insert_or_assign(key, point);
    }

    RecordingBuilder m_scribe;
    NameTable m_nameOf;
    std::unordered_map<std::string, std::uint32_t> m_groups;
    std::unordered_map<std::string, std::size_t> m_processes;
    std::vector<std::vector<RecordedCollective>> m_collectives; // by rank
    std::map<std::tuple<std::string, int, int, double>, BenchmarkPoint> m_fastest;
};

} // namespace

int looksLikeNcclInspector(std::string_view, std::string_view head)
{
    const bool isJson = trimmed(head.substr(0, 256)).starts_with('{');
    const auto has = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
    return isJson && has("\"header\"") && (has("\"coll_perf\"") || has("\"p2p_perf\"")) ? 95
        : isJson && has("\"inspector_output_format_version\"")                          ? 90
                                                                                        : 0;
}

Expected<Recording> readNcclInspector(const SourceText &source, const SourceOptions &options)
{
    InspectorLog log(source);
    ReadingPace pace(source, options);
    LooseJson json;
    for (std::size_t at = 0; at < source.text.size() && !pace.isStopped(at);) {
        at = source.text.find('{', at);
        if (at == std::string_view::npos || !json.read(source.text, at))
            break;
        if (json.isTruncated()) {
            log.scribe().source().isTruncated = true;
            log.scribe().drop("a last record that is cut");
            break;
        }
        if (json.isBroken()) { // a torn line: the next one goes on
            log.scribe().drop("lines that are no JSON");
            const auto end = source.text.find('\n', at);
            at = end == std::string_view::npos ? source.text.size() : end;
            continue;
        }
        log.add(json.root());
        at = json.end();
    }
    return log.finish(source);
}

} // namespace trainyard::readers
