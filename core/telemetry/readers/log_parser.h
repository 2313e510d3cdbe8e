#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One framework's lines in a log. Logs hold lines of several (NeMo prints Megatron's timers, MLPerf's records stand
// between anything), so each parser is offered every line until one takes it; the surest kind names the file. Parsers
// live for one file; what is common to frameworks (mapped fields, moments of steps, restarts) is here. One thread.

#include "core/telemetry/readers/log_lines.h"
#include "core/telemetry/readers/log_text.h"
#include "core/telemetry/readers/series_book.h"

#include <memory>
#include <optional>

namespace trainyard::readers {

class LogParser {
public:
    LogParser(SourceKind kind, std::string family)
        : m_family(std::move(family))
        , m_kind(kind)
    {
    }
    virtual ~LogParser() = default;
    LogParser(const LogParser &) = delete;
    LogParser &operator=(const LogParser &) = delete;

    /// Whether the line is one of this framework.
    [[nodiscard]] virtual bool take(const LogLine &line) = 0;
    /// Everything that was taken goes to the recording, which has one source.
    void close(Recording &recording);
    [[nodiscard]] SourceKind kind() const { return m_kind; }
    /// How sure the lines taken so far make that the file is this framework's log, 0 to 100.
    [[nodiscard]] int sureness() const { return m_sureness; }

protected:
    /// After the last line, before the book is closed.
    virtual void finish(Recording &recording) { static_cast<void>(recording); }

    enum class Progress { Forward, Repeated, WentBack };
    /// Follows the counter of steps; a line of the log says that `step` is done. Two lines of one step within seconds
    /// are Repeated (several processes print); a counter that goes back is a restart, which is noted.
    Progress follow(std::int64_t step, std::optional<Moment> stamp, const LogLine &line);
    /// Step times from the moments that follow() was told.
    void timesFromStamps();
    /// True, and the file is this framework's with at least that sureness.
    bool sure(int sureness);
    void addField(std::string_view key, double value, std::int64_t step);

    SeriesBook m_book;
    RecordedSource m_told; // dropped and notes
    std::optional<std::int64_t> m_step; // that the counter stands at

private:
    struct Stamped {
        std::int64_t step = 0;
        Moment at = 0;
    };
    std::string m_family;
    SourceKind m_kind;
    int m_sureness = 0;
    bool m_hasClockGoneBack = false; // and was noted
    std::vector<Stamped> m_stamps;
};

using LogParserPtr = std::unique_ptr<LogParser>;
[[nodiscard]] LogParserPtr makeMlperfParser();
[[nodiscard]] LogParserPtr makeNemoParser();
[[nodiscard]] LogParserPtr makeTorchtitanParser();
[[nodiscard]] LogParserPtr makeDeepSpeedParser();
[[nodiscard]] LogParserPtr makeMegatronParser();
[[nodiscard]] LogParserPtr makeHfTrainerParser();

} // namespace trainyard::readers
