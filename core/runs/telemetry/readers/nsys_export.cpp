// SPDX-License-Identifier: GPL-3.0-or-later
// What Nsight Systems exports as SQLite (nsys export --type sqlite): kernels, copies, the calls that launched them, and
// NVTX ranges, each process a rank. Column names are those of its documentation; tables that a version lacks are left
// out. The bytes are opened as a database in memory, for reading alone.
#include "core/runs/telemetry/readers/nsys_export.h"
#include "core/base/words.h"
#include "core/runs/telemetry/kernel_classes.h"
#include "core/runs/telemetry/readers/recording_builder.h"
#include "core/runs/telemetry/readers/span_order.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

namespace trainyard::readers {

namespace {

constexpr std::string_view kMagic = "SQLite format 3";
constexpr std::int64_t kProcessBits = 24; // of a thread's global number, behind its process's
constexpr std::int64_t kLatestNs = 100'000'000'000'000'000, // of a session
    kLatestBegin = 4'000'000'000'000'000'000;
constexpr std::size_t kOfTable = 80; // bytes of a row of a table here, about

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
        m_isThere = sqlite3_prepare_v2(database, query.c_str(), -1, &made, nullptr) == SQLITE_OK;
        m_statement.reset(made);
    }
    [[nodiscard]] bool next()
    {
        if (m_statement)
            m_state = sqlite3_step(m_statement.get());
        return m_statement && m_state == SQLITE_ROW;
    }
    /// The database has such a table, with these columns.
    [[nodiscard]] bool isThere() const { return m_isThere; }
    /// It ended before its last row.
    [[nodiscard]] bool isBroken() const { return m_isThere && m_state != SQLITE_ROW && m_state != SQLITE_DONE; }
    [[nodiscard]] std::int64_t whole(int column) const { return sqlite3_column_int64(m_statement.get(), column); }
    [[nodiscard]] std::string text(int column) const
    {
        const auto *bytes = reinterpret_cast<const char *>(sqlite3_column_text(m_statement.get(), column));
        return bytes ? std::string(bytes, std::size_t(sqlite3_column_bytes(m_statement.get(), column))) : std::string();
    }

private:
    std::unique_ptr<sqlite3_stmt, FinishStatement> m_statement;
    int m_state = SQLITE_DONE;
    bool m_isThere = false;
};

bool isTimeOfSession(std::int64_t nanoseconds)
{
    return nanoseconds >= 0 && nanoseconds < kLatestNs;
}

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

    void read()
    {
        readSession();
        readStrings();
        readLaunches();
        readKernels();
        readCopies("CUPTI_ACTIVITY_KIND_MEMCPY", "Memcpy");
        readCopies("CUPTI_ACTIVITY_KIND_MEMSET", "Memset");
        readSteps();
        if (QueryRows graphs(m_database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE");
            graphs.next() && graphs.whole(0) > 0)
            m_scribe.note("What CUDA graphs launch is told as a whole (" + std::to_string(graphs.whole(0))
                + " graphs), which is not read: record with --cuda-graph-trace=node");
    }

    void finish()
    {
        Recording &recording = m_scribe.recording();
        // Nobody tells which ranks they are: by their GPUs, where each has its own.
        std::vector<Process *> all;
        std::set<std::int64_t> devices;
        for (auto &[id, process] : m_processes)
            if (!process.streams.empty()) {
                all.push_back(&process);
                devices.insert(process.device);
            }
        const bool areNumbered = all.size() > 1 && devices.size() == all.size();
        std::ranges::stable_sort(all, {}, &Process::device);
        for (Process *process : all) {
            RankRecording &rank = recording.ranks.emplace_back();
            rank.rank = areNumbered ? int(recording.ranks.size()) - 1 : -1;
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
                + " processes with kernels and does not tell their ranks"
                + (areNumbered ? ": they are numbered by their GPUs" : ""));
    }

private:
    struct Named {
        std::string text;
        std::optional<RecordedWork> work; // once it was asked for
    };
    struct Process {
        /// of its first span
        std::int64_t device = 0, first = 0;
        std::map<std::pair<std::int64_t, std::int64_t>, RecordedStream> streams; // by device and stream
        std::vector<RecordedStep> steps;
    };

    static std::int64_t processOf(std::int64_t globalThread) { return globalThread >> kProcessBits << kProcessBits; }

    void readSession()
    {
        for (QueryRows rows(m_database, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME"); rows.next();)
            if (const std::int64_t began = rows.whole(0); began > 0 && began < kLatestBegin)
                m_began = began;
        for (QueryRows rows(m_database, "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'");
             rows.next();)
            m_host = shortened(rows.text(0), 200);
        for (QueryRows rows(m_database, "SELECT id, name FROM TARGET_INFO_GPU"); rows.next();)
            m_gpus.emplace(rows.whole(0), shortened(rows.text(1), 200));
        if (m_began == 0)
            m_scribe.note("It does not tell when it began: its times count from an unknown moment");
    }

    /// Calls `take` with each row until it is stopped, and says where the table ends early.
    template <class Take> void eachRow(const std::string &query, const char *what, const Take &take)
    {
        QueryRows rows(m_database, query);
        while (!m_stop.stop_requested() && rows.next())
            take(rows);
        if (!rows.isBroken() || m_stop.stop_requested())
            return;
        m_scribe.source().isTruncated = true;
        m_scribe.note(std::string("The database is damaged among its ") + what + ": those behind are left out");
    }

    void readStrings()
    {
        eachRow("SELECT id, value FROM StringIds", "names", [&](const QueryRows &rows) {
            std::string text = rows.text(1);
            if (m_scribe.held().take(text.size() + kOfTable))
                m_strings.emplace(rows.whole(0), Named { std::move(text), {} });
        });
    }

    void readLaunches()
    {
        eachRow("SELECT start, globalTid, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME", "calls",
            [&](const QueryRows &rows) {
                if (isTimeOfSession(rows.whole(0)) && m_scribe.held().take(kOfTable))
                    m_launches.emplace(std::pair(processOf(rows.whole(1)), rows.whole(2)), rows.whole(0));
            });
    }

    void readKernels()
    {
        eachRow("SELECT start, end, deviceId, streamId, correlationId, globalPid, demangledName FROM "
                "CUPTI_ACTIVITY_KIND_KERNEL",
            "kernels", [&](const QueryRows &rows) {
                Named &name = m_strings.try_emplace(rows.whole(6), Named { "kernel", {} }).first->second;
                if (!name.work)
                    name.work = m_classes.workOf(name.text);
                add(rows, name.text, *name.work);
            });
    }

    void readCopies(const std::string &table, std::string_view name)
    {
        eachRow("SELECT start, end, deviceId, streamId, correlationId, globalPid FROM " + table, "copies",
            [&](const QueryRows &rows) { add(rows, name, RecordedWork::Copy); });
    }

    /// Ranges of NVTX that are numbered as steps.
    void readSteps()
    {
        eachRow("SELECT start, end, text, textId, globalTid FROM NVTX_EVENTS WHERE end IS NOT NULL", "ranges",
            [&](const QueryRows &rows) {
                std::string name = rows.text(2);
                if (const auto known = m_strings.find(rows.whole(3)); name.empty() && known != m_strings.end())
                    name = known->second.text;
                const auto number = stepNamed(name);
                const auto process = m_processes.find(processOf(rows.whole(4)));
                const std::int64_t start = rows.whole(0), end = rows.whole(1);
                if (number && process != m_processes.end() && isTimeOfSession(start) && isTimeOfSession(end)
                    && end > start && m_scribe.held().take(sizeof(RecordedStep)))
                    process->second.steps.push_back({ *number, m_began + start, m_began + end });
            });
    }

    /// A row that begins with start, end, device, stream, correlation and process.
    void add(const QueryRows &rows, std::string_view name, RecordedWork work)
    {
        const std::int64_t start = rows.whole(0), end = rows.whole(1), device = rows.whole(2), number = rows.whole(3),
                           correlation = rows.whole(4), process = processOf(rows.whole(5));
        if (!isTimeOfSession(start) || !isTimeOfSession(end) || end < start)
            return m_scribe.drop("spans at times that cannot be");
        if (!m_scribe.held().take(sizeof(Moment) * 3 + 16))
            return m_scribe.drop("spans that there is no room for");
        Process &own = m_processes[process];
        if (own.streams.empty() || start < own.first) {
            own.device = device;
            own.first = start;
        }
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
        const std::vector<std::uint32_t> order = orderByStart(spans);
        arrange(spans.start, order);
        arrange(spans.duration, order);
        arrange(spans.name, order);
        arrange(spans.work, order);
        arrange(spans.launch, order);
        arrange(spans.launchedAt, order);
    }

    sqlite3 *m_database;
    RecordingBuilder &m_scribe;
    const std::stop_token m_stop;
    const KernelClasses &m_classes;
    NameTable m_names;
    std::map<std::int64_t, Named> m_strings;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> m_launches; // by process and correlation
    std::map<std::int64_t, Process> m_processes;
    std::map<std::int64_t, std::string> m_gpus; // by id
    std::string m_host;
    Moment m_began = 0; // of the session, Unix time
};

/// A database over the bytes, which it only reads: no view, no trigger, and nothing that it says is run.
std::unique_ptr<sqlite3, CloseDatabase> opened(std::string_view bytes, const std::stop_token &stop)
{
    sqlite3 *made = nullptr;
    if (sqlite3_open_v2(":memory:", &made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, nullptr) != SQLITE_OK) {
        sqlite3_close(made);
        return nullptr;
    }
    std::unique_ptr<sqlite3, CloseDatabase> database(made);
    for (const auto &[option, value] :
        { std::pair { SQLITE_DBCONFIG_DEFENSIVE, 1 }, { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
            { SQLITE_DBCONFIG_ENABLE_VIEW, 0 }, { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 } })
        sqlite3_db_config(made, option, value, nullptr);
    constexpr int kInstructionsBetweenAsks = 10'000;
    sqlite3_progress_handler(
        made, kInstructionsBetweenAsks,
        [](void *asked) { return static_cast<const std::stop_token *>(asked)->stop_requested() ? 1 : 0; },
        const_cast<std::stop_token *>(&stop));
    auto *data = reinterpret_cast<unsigned char *>(const_cast<char *>(bytes.data()));
    const auto size = static_cast<sqlite3_int64>(bytes.size());
    if (sqlite3_deserialize(made, "main", data, size, size, SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
        return nullptr;
    return database;
}

/// Bytes 18 and 19 of its head: changes lie in a file beside it.
bool hasWriteAheadLog(std::string_view bytes)
{
    return bytes.size() > 19 && (bytes[18] == 2 || bytes[19] == 2);
}

enum class DatabaseKind : std::uint8_t { Nsys, Other, Damaged };

DatabaseKind databaseKind(sqlite3 *database)
{
    QueryRows rows(database,
        "SELECT count(*) FROM sqlite_master WHERE name IN ('StringIds', 'TARGET_INFO_SESSION_START_TIME', "
        "'CUPTI_ACTIVITY_KIND_KERNEL', 'NVTX_EVENTS')");
    if (!rows.next())
        return DatabaseKind::Damaged;
    return rows.whole(0) >= 2 ? DatabaseKind::Nsys : DatabaseKind::Other;
}

} // namespace

int looksLikeNsysExport(std::string_view, std::string_view head)
{
    return head.starts_with(kMagic) ? 90 : 0;
}

Expected<Recording> readNsysExport(const SourceText &source, const SourceOptions &options)
{
    const auto database = opened(source.text, options.stop);
    const DatabaseKind kind = database ? databaseKind(database.get()) : DatabaseKind::Damaged;
    if (kind != DatabaseKind::Nsys && hasWriteAheadLog(source.text))
        return refusal(source,
            "It is an SQLite database with its newest rows in a file beside it (a write-ahead log): `sqlite3 FILE "
            "'PRAGMA journal_mode=DELETE'` puts them in");
    if (kind == DatabaseKind::Damaged)
        return refusal(source, "It is an SQLite database that is damaged or ends early");
    if (kind == DatabaseKind::Other)
        return refusal(source,
            "It is an SQLite database, but not one that Nsight Systems exports (nsys export --type sqlite), which has "
            "a table StringIds");
    RecordingBuilder scribe(source, SourceKind::NsysExport);
    NsysExport reading(database.get(), scribe, options);
    reading.read();
    reading.finish();
    if (scribe.recording().ranks.empty())
        return refusal(source,
            scribe.source().isTruncated
                ? "It is an export of Nsight Systems that is damaged: no kernel of a GPU is left in it"
                : "It is an export of Nsight Systems without a kernel of a GPU: it was recorded without CUDA "
                  "(--trace=cuda)");
    return scribe.finish();
}

} // namespace trainyard::readers
