// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/nccl_debug.h"

#include "core/runs/telemetry/readers/reading_bounds_internal.h"
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/recording_builder.h"
#include "core/runs/telemetry/readers/text_lines.h"
#include "core/runs/telemetry/readers/text_scan.h"
#include "core/runs/telemetry/readers/training_logs.h"

#include <algorithm>
#include <map>
#include <set>

namespace trainyard::readers {

namespace {

constexpr std::size_t kMostWarnings = 20;
constexpr double kShareOfDebugLines = 0.5; // of the time that reading takes

/// "host:pid:tid [dev] NCCL INFO message", whatever stands before it.
struct DebugLine {
    std::string_view host, process, message; // process: "host:pid"
    bool isWarning = false;
};

bool splitLine(std::string_view line, DebugLine &split)
{
    auto at = line.find(" NCCL INFO ");
    split.isWarning = at == std::string_view::npos;
    if (split.isWarning)
        at = line.find(" NCCL WARN ");
    if (at == std::string_view::npos)
        return false;
    split.message = trimmed(line.substr(at + 11));
    split.host = split.process = {};
    for (const std::string_view field : fieldsOf(line.substr(0, at))) {
        const auto last = field.rfind(':');
        const auto first = last == std::string_view::npos ? last : field.rfind(':', last - 1);
        if (first == std::string_view::npos || first == 0 || !integerIn(field.substr(last + 1))
            || !integerIn(field.substr(first + 1, last - first - 1)))
            continue;
        split.host = field.substr(0, first);
        split.process = field.substr(0, last);
    }
    return !split.host.empty();
}

/// "NET/IBext_v8 with GDRDMA" of "NET/IBext_v8/0/GDRDMA": without numbers of devices.
std::string transportOf(std::string_view via)
{
    std::string name;
    for (const std::string_view part : fieldsAt(via.substr(0, via.find(' ')), '/'))
        if (!part.empty() && !leadingInteger(part))
            name.append(name.empty() ? "" : "/").append(part);
    return name;
}

class DebugLog {
public:
    explicit DebugLog(const SourceText &source)
        : m_scribe(source, SourceKind::NcclDebugLog)
    {
    }

    void add(std::string_view line)
    {
        DebugLine split;
        if (const auto at = line.find("NCCL version "); at != std::string_view::npos)
            m_scribe.note("NCCL version " + std::string(trimmed(line.substr(at + 13))));
        if (!splitLine(line, split))
            return;
        ++m_scribe.source().taken;
        if (split.isWarning)
            return addWarning(split);
        if (split.message.find(" rank ") != std::string_view::npos
            && (split.message.find("Init COMPLETE") != std::string_view::npos
                || split.message.find("Init START") != std::string_view::npos))
            return addRank(split);
        if (const auto via = split.message.find(" via "); via != std::string_view::npos
            && (split.message.starts_with("Channel ") || split.message.starts_with("Ring ")))
            ++m_transports[transportOf(split.message.substr(via + 5))];
        else if (split.message.starts_with("Using network "))
            m_scribe.note("NCCL uses the network " + std::string(trimmed(split.message.substr(14))));
    }

    Expected<Recording> finish(const SourceText &source)
    {
        if (m_scribe.source().taken == 0)
            return refusal(source, "It is an NCCL debug log without a line of a process");
        std::string transports;
        for (const auto &[name, count] : m_transports)
            transports.append(transports.empty() ? "" : ", ").append(std::to_string(count) + " via " + name);
        if (!transports.empty())
            m_scribe.note("Ends of channels by transport: " + transports);
        if (m_transports.contains("NET/Socket"))
            m_scribe.note("Some channels go via NET/Socket: TCP instead of InfiniBand or RoCE");
        m_scribe.drop("warnings beyond the first 20", m_warningsLeftOut);
        std::set<int> seen;
        for (auto &[process, rank] : m_ranks)
            if (seen.insert(rank.rank).second || rank.rank < 0)
                m_scribe.recording().ranks.push_back(std::move(rank));
            else
                m_scribe.drop("processes whose rank another process has");
        std::ranges::stable_sort(m_scribe.recording().ranks, {}, &RankRecording::rank);
        return m_scribe.finish();
    }

private:
    void addWarning(const DebugLine &split)
    {
        if (++m_warnings <= kMostWarnings)
            m_scribe.note("NCCL warns on " + std::string(split.host) + ": " + std::string(split.message));
        else
            ++m_warningsLeftOut;
    }

    /// A process belongs to several communicators: the largest tells its rank in the run.
    void addRank(const DebugLine &split)
    {
        const auto rank = integerIn(wordAfter(split.message, "rank"));
        const auto size = integerIn(wordAfter(split.message, "nranks"));
        const std::string_view device = wordAfter(split.message, "cudaDev");
        if (!rank || !size || *rank < 0 || *size < 1 || *rank >= *size || *size > kMostRanks)
            return m_scribe.drop("communicators without a rank");
        // threads of one process may drive several GPUs
        RankRecording &known = m_ranks[std::string(split.process).append("/").append(device)];
        if (known.worldSize >= *size)
            return;
        known.rank = static_cast<int>(*rank);
        known.worldSize = static_cast<int>(*size);
        known.source = 0;
        known.host = split.host;
        known.gpu = device.empty() ? "" : std::string("gpu").append(device);
    }

    RecordingBuilder m_scribe;
    std::map<std::string, RankRecording> m_ranks;
    std::map<std::string, std::int64_t> m_transports;
    std::size_t m_warnings = 0;
    std::int64_t m_warningsLeftOut = 0;
};

} // namespace

int looksLikeNcclDebug(std::string_view, std::string_view head)
{
    int of = 0, all = 0;
    TextLines lines(head);
    for (TextLine line; lines.next(line);) {
        ++all;
        of += line.text.find(" NCCL INFO ") != std::string_view::npos
            || line.text.find(" NCCL WARN ") != std::string_view::npos;
    }
    return of == 0 ? 0 : of * 2 > all ? 45 : 20; // else it is most likely the log of a training run
}

Expected<Recording> readNcclDebug(const SourceText &source, const SourceOptions &options)
{
    DebugLog log(source);
    SourceOptions first = options, second = options;
    if (options.progress) {
        first.progress = [&](double share) { options.progress(share * kShareOfDebugLines); };
        second.progress = [&](double share) {
            options.progress(kShareOfDebugLines + share * (1 - kShareOfDebugLines));
        };
    }
    PacedLines lines(source, first);
    for (TextLine line; lines.next(line);)
        log.add(trimmed(line.text));
    auto debug = log.finish(source);
    // megabytes of debug lines may stand before the steps of a training run: it is the log of that
    auto training = readTrainingLog(source, second);
    if (!training || !debug)
        return training ? std::move(training) : std::move(debug);
    RecordedSource &made = training->sources.front();
    made.notes.insert(made.notes.end(), debug->sources.front().notes.begin(), debug->sources.front().notes.end());
    if (training->ranks.empty())
        training->ranks = std::move(debug->ranks);
    return training;
}

int looksLikeNcclProfilerDump(std::string_view, std::string_view head)
{
    if (!trimmed(head.substr(0, 256)).starts_with('['))
        return 0;
    const auto has = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
    const bool isOfPlugin = has("\"cat\": \"GROUP_API\"") || has("\"cat\": \"COLL_API\"")
        || has("\"cat\": \"KERNEL_LAUNCH\"") || has("\"cat\": \"P2P_API\"")
        || (has("\"cat\": \"GROUP\"") && has("\"groupId\"")) || (has("\"cat\": \"COLL\"") && has("\"CommHash\""))
        || (has("\"cat\": \"PROXY\"") && has("\"Channel\""));
    return isOfPlugin ? 97 : 0;
}

Expected<Recording> refuseNcclProfilerDump(const SourceText &source, const SourceOptions &)
{
    return refusal(source,
        "It is a dump of NCCL's example profiler plugin, which is no valid JSON (names without quotes, hexadecimal "
        "numbers, "
        "no end); NCCL Inspector writes the same measurements in a form that is read");
}

} // namespace trainyard::readers
