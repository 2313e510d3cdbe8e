// SPDX-License-Identifier: GPL-3.0-or-later
// What Nsight Systems exports as SQLite (nsys export --type sqlite): kernels, copies, the calls that launched them, and
// NVTX ranges, each process a rank. Column names are those of its documentation; tables that a version lacks are left
// out. The bytes are opened as a database in memory, for reading alone.
#include "core/runs/telemetry/readers/nsys_export.h"
#include "core/base/words.h"
#include "core/runs/telemetry/kernel_classes.h"
#include "core/runs/telemetry/readers/recording_builder.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <sqlite3.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <tuple>

namespace trainyard::readers {

namespace {

constexpr std::string_view kMagic = "SQLite format 3";
constexpr std::int64_t kProcessBits = 24; // of a thread's global number, behind its process's
constexpr std::int64_t kLatestNs = 4'000'000'000'000'000'000;

struct CloseDatabase {
    void operator()(sqlite3 *database) const { sqlite3_close(database); }
};
struct FinishStatement {
    void operator()(sqlite3_stmt *statement) const { sqlite3_finalize(statement); }
};

/// A query and its rows, one after the other.
class QueryRows {
public:
    QueryRows(sqlite3 *database, const std::string &query)
    {
        sqlite3_stmt *made = nullptr;
        m_state = sqlite3_prepare_v2(database, query.c_str(), -1, &made, nullptr);
        m_statement.reset(made);
    }
    [[nodiscard]] bool next()
    {
        if (m_statement)
            m_state = sqlite3_step(m_statement.get());
        return m_statement && m_state == SQLITE_ROW;
    }
    /// It ended before its last row.
    [[nodiscard]] bool isBroken() const { return m_state != SQLITE_ROW && m_state != SQLITE_DONE; }
    [[nodiscard]] bool isNull(int column) const
    {
        return sqlite3_column_type(m_statement.get(), column) == SQLITE_NULL;
    }
    [[nodiscard]] std::int64_t whole(int column) const { return sqlite3_column_int64(m_statement.get(), column); }
    [[nodiscard]] std::string text(int column) const
    {
        const auto *bytes = reinterpret_cast<const char *>(sqlite3_column_text(m_statement.get(), column));
        return bytes ? std::string(bytes, std::size_t(sqlite3_column_bytes(m_statement.get(), column))) : std::string();
    }

private:
    std::unique_ptr<sqlite3_stmt, FinishStatement> m_statement;
    int m_state = SQLITE_OK;
};

/// "iteration 12", "Step_3", "ProfilerStep#4": the number of a step.
std::optional<std::int64_t> stepNamed(std::string_view name)
{
    for (const std::string_view begin : { "iteration", "Iteration", "iter", "step", "Step", "ProfilerStep" }) {
        std::string_view rest = name;
        if (!takeText(rest, begin))
            continue;
        while (!rest.empty() && std::string_view(" _-:#=").find(rest.front()) != std::string_view::npos)
            rest.remove_prefix(1);
        if (const auto number = takeWhole(rest); number && trimmed(rest).empty())
            return number;
    }
    return std::nullopt;
}

class NsysExport {
public:
    NsysExport(sqlite3 *database, RecordingBuilder &scribe, const SourceOptions &options)
        : m_database(database)
        , m_scribe(scribe)
        , m_stop(options.stop)
        , m_classes(options.kernels ? *options.kernels : builtinKernelClasses())
        , m_names(scribe.recording().names)
    {
    }

    /// False: it was stopped.
    bool read()
    {
        readSession();
        readStrings();
        readLaunches();
        return readKernels() && readCopies("CUPTI_ACTIVITY_KIND_MEMCPY", "Memcpy")
            && readCopies("CUPTI_ACTIVITY_KIND_MEMSET", "Memset") && readSteps();
    }

    void finish()
    {
        Recording &recording = m_scribe.recording();
        // Nobody tells which ranks they are: by their GPUs.
        std::vector<Process *> all;
        for (auto &[id, process] : m_processes)
            if (!process.streams.empty())
                all.push_back(&process);
        std::ranges::stable_sort(all, {}, &Process::device);
        for (Process *process : all) {
            RankRecording &rank = recording.ranks.emplace_back();
            rank.rank = all.size() > 1 ? int(recording.ranks.size()) - 1 : -1;
            rank.source = 0;
            rank.host = m_host;
            if (const auto gpu = m_gpus.find(process->device); gpu != m_gpus.end())
                rank.gpu = gpu->second;
            else if (!m_gpus.empty())
                rank.gpu = m_gpus.begin()->second;
            for (auto &[key, stream] : process->streams)
                rank.streams.push_back(std::move(stream));
            for (RecordedStream &stream : rank.streams)
                sortByStart(stream.spans);
            std::ranges::stable_sort(process->steps, {}, &RecordedStep::start);
            rank.steps = std::move(process->steps);
        }
        if (all.size() > 1)
            m_scribe.note("It has " + std::to_string(all.size())
                + " processes with kernels and does not tell their ranks: they are numbered by their GPUs");
    }

private:
    struct Process {
        std::int64_t device = 0;
        std::map<std::pair<std::int64_t, std::int64_t>, RecordedStream> streams; // by device and stream
        std::vector<RecordedStep> steps;
    };

    static std::int64_t processOf(std::int64_t globalThread) { return globalThread >> kProcessBits << kProcessBits; }

    void readSession()
    {
        for (QueryRows rows(m_database, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME"); rows.next();)
            if (const std::int64_t began = rows.whole(0); began > 0 && began < kLatestNs)
                m_began = began;
        for (QueryRows rows(m_database, "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'");
             rows.next();)
            m_host = shortened(rows.text(0), 200);
        for (QueryRows rows(m_database, "SELECT id, name FROM TARGET_INFO_GPU"); rows.next();)
            m_gpus.emplace(rows.whole(0), shortened(rows.text(1), 200));
        if (m_began == 0)
            m_scribe.note("It does not tell when it began: its times count from an unknown moment");
    }

    void readStrings()
    {
        for (QueryRows rows(m_database, "SELECT id, value FROM StringIds"); rows.next();)
            m_strings.emplace(rows.whole(0), rows.text(1));
    }

    void readLaunches()
    {
        for (QueryRows rows(m_database, "SELECT start, globalTid, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME");
             rows.next();)
            m_launches.emplace(std::pair(processOf(rows.whole(1)), rows.whole(2)), rows.whole(0));
    }

    bool readKernels()
    {
        QueryRows rows(m_database,
            "SELECT start, end, deviceId, streamId, correlationId, globalPid, demangledName FROM "
            "CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start");
        std::int64_t taken = 0;
        while (rows.next()) {
            if (++taken % 65536 == 0 && m_stop.stop_requested())
                return false;
            const auto name = m_strings.find(rows.whole(6));
            const std::string_view text = name == m_strings.end() ? std::string_view("kernel") : name->second;
            add(rows.whole(5), rows.whole(2), rows.whole(3), rows.whole(0), rows.whole(1), text, m_classes.workOf(text),
                rows.whole(4));
        }
        noteBroken(rows, "kernels");
        return true;
    }

    bool readCopies(const std::string &table, std::string_view name)
    {
        QueryRows rows(m_database,
            "SELECT start, end, deviceId, streamId, correlationId, globalPid FROM " + table + " ORDER BY start");
        std::int64_t taken = 0;
        while (rows.next()) {
            if (++taken % 65536 == 0 && m_stop.stop_requested())
                return false;
            add(rows.whole(5), rows.whole(2), rows.whole(3), rows.whole(0), rows.whole(1), name, RecordedWork::Copy,
                rows.whole(4));
        }
        return true;
    }

    /// Ranges of NVTX that are numbered as steps.
    bool readSteps()
    {
        QueryRows rows(m_database,
            "SELECT start, end, text, textId, globalTid FROM NVTX_EVENTS WHERE end IS NOT NULL ORDER BY start");
        while (rows.next()) {
            if (m_stop.stop_requested())
                return false;
            std::string name = rows.text(2);
            if (const auto known = m_strings.find(rows.whole(3)); name.empty() && known != m_strings.end())
                name = known->second;
            const auto number = stepNamed(name);
            const auto process = m_processes.find(processOf(rows.whole(4)));
            if (!number || process == m_processes.end() || rows.whole(1) <= rows.whole(0))
                continue;
            process->second.steps.push_back({ *number, m_began + rows.whole(0), m_began + rows.whole(1) });
        }
        return true;
    }

    void add(std::int64_t process, std::int64_t device, std::int64_t number, std::int64_t start, std::int64_t end,
        std::string_view name, RecordedWork work, std::int64_t correlation)
    {
        if (start < 0 || end < start || end >= kLatestNs)
            return m_scribe.drop("spans at times that cannot be");
        if (!m_scribe.held().take(sizeof(Moment) * 3 + 16))
            return m_scribe.drop("spans that there is no room for");
        process = processOf(process);
        Process &own = m_processes[process];
        if (own.streams.empty())
            own.device = device;
        RecordedStream &stream = own.streams[{ device, number }];
        stream.device = device;
        stream.stream = number;
        RecordedSpans &spans = stream.spans;
        const auto launch = m_launches.find({ process, correlation });
        const bool isKnown = correlation > 0 && correlation < std::int64_t(kNoIndex);
        spans.start.push_back(m_began + start);
        spans.duration.push_back(end - start);
        spans.name.push_back(m_names(name));
        spans.work.push_back(work);
        spans.launch.push_back(isKnown ? static_cast<std::uint32_t>(correlation) : 0);
        spans.launchedAt.push_back(launch == m_launches.end() ? kNoMoment : m_began + launch->second);
        ++m_scribe.source().taken;
    }

    /// Copies come behind kernels.
    static void sortByStart(RecordedSpans &spans)
    {
        if (std::ranges::is_sorted(spans.start))
            return;
        std::vector<std::size_t> order(spans.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            order[i] = i;
        std::ranges::stable_sort(
            order, {}, [&](std::size_t i) { return std::pair(spans.start[i], -spans.duration[i]); });
        const auto arrange = [&](auto &values) {
            auto sorted = values;
            for (std::size_t i = 0; i < order.size(); ++i)
                sorted[i] = values[order[i]];
            values = std::move(sorted);
        };
        arrange(spans.duration);
        arrange(spans.name);
        arrange(spans.work);
        arrange(spans.launch);
        arrange(spans.launchedAt);
        arrange(spans.start);
    }

    void noteBroken(const QueryRows &rows, const char *what)
    {
        if (!rows.isBroken())
            return;
        m_scribe.source().isTruncated = true;
        m_scribe.note(std::string("The database ends early among its ") + what);
    }

    sqlite3 *m_database;
    RecordingBuilder &m_scribe;
    const std::stop_token m_stop;
    const KernelClasses &m_classes;
    NameTable m_names;
    std::map<std::int64_t, std::string> m_strings;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> m_launches; // by process and correlation
    std::map<std::int64_t, Process> m_processes;
    std::map<std::int64_t, std::string> m_gpus; // by id
    std::string m_host;
    Moment m_began = 0; // of the session, Unix time
};

/// A database over the bytes, which it only reads.
std::unique_ptr<sqlite3, CloseDatabase> opened(std::string_view bytes)
{
    sqlite3 *made = nullptr;
    if (sqlite3_open_v2(":memory:", &made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, nullptr) != SQLITE_OK) {
        sqlite3_close(made);
        return nullptr;
    }
    std::unique_ptr<sqlite3, CloseDatabase> database(made);
    auto *data = reinterpret_cast<unsigned char *>(const_cast<char *>(bytes.data()));
    const auto size = static_cast<sqlite3_int64>(bytes.size());
    if (sqlite3_deserialize(made, "main", data, size, size, SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
        return nullptr;
    return database;
}

bool isNsys(sqlite3 *database)
{
    QueryRows rows(database,
        "SELECT count(*) FROM sqlite_master WHERE name IN ('StringIds', 'TARGET_INFO_SESSION_START_TIME', "
        "'CUPTI_ACTIVITY_KIND_KERNEL', 'NVTX_EVENTS')");
    return rows.next() && rows.whole(0) >= 2;
}

} // namespace

int looksLikeNsysExport(std::string_view, std::string_view head)
{
    return head.starts_with(kMagic) ? 90 : 0;
}

Expected<Recording> readNsysExport(const SourceText &source, const SourceOptions &options)
{
    const auto database = opened(source.text);
    if (!database || !isNsys(database.get()))
        return refusal(source,
            "It is an SQLite database, but not one that Nsight Systems exports (nsys export --type sqlite), which has "
            "a table StringIds");
    RecordingBuilder scribe(source, SourceKind::NsysExport);
    NsysExport reading(database.get(), scribe, options);
    if (!reading.read())
        return ReadingPace(source, options).stopped();
    reading.finish();
    if (scribe.recording().ranks.empty())
        return refusal(source,
            "It is an export of Nsight Systems without a kernel of a GPU: it was recorded without CUDA (--trace=cuda)");
    return scribe.finish();
}

} // namespace trainyard::readers
