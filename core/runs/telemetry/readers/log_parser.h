#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One framework's lines in a log. Logs hold lines of several (NeMo prints Megatron's timers, MLPerf's records stand
// between anything), so each parser is offered every line until one takes it; the surest kind names the file. Parsers
// live for one log, and tell what is new in it as often as they are asked: what only its end would decide is decided by
// the lines before, so that a log that grows is read as the whole file is (growing_log.h). What is common to frameworks
// (mapped fields, moments of steps, restarts) is here. One thread.

#include "core/runs/telemetry/readers/argument_dump.h"
#include "core/runs/telemetry/readers/series_book.h"
#include "core/runs/telemetry/readers/stamped_times.h"
#include "core/runs/telemetry/readers/text_lines.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <memory>
#include <optional>
#include <unordered_set>

namespace trainyard {
/// line_pattern.h
class LinePattern;
} // namespace trainyard

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
    [[nodiscard]] virtual bool take(const TextLine &line) = 0;
    /// Behind the last line: what was held back is told with what give() gives next.
    void end();
    /// What is new goes to the recording, which has one source. Series and arguments that another parser told first
    /// are told under another name, or not at all: `nameOf` and `isOwn` say so.
    using ArgumentNaming = std::function<bool(const std::string &name)>;
    void give(Recording &recording, const SeriesBook::Naming &nameOf, const ArgumentNaming &isOwn);

    [[nodiscard]] SourceKind kind() const { return m_kind; }
    [[nodiscard]] const std::string &family() const { return m_family; }
    /// How sure the lines taken so far make that the file is this framework's log, 0 to 100.
    [[nodiscard]] int sureness() const { return m_sureness; }
    /// How many times it told of another step than before.
    [[nodiscard]] int stepsTold() const { return m_stepsTold; }
    /// Series and arguments that it told for the first time since the last call.
    [[nodiscard]] std::vector<const SampleSeries *> takeBegunSeries() { return m_book.takeBegun(); }
    [[nodiscard]] std::vector<std::string> takeBegunArguments() { return std::exchange(m_begunArguments, {}); }

protected:
    /// After the last line.
    virtual void finish() { }
    /// What is new beside series and arguments.
    virtual void giveMore(Recording &recording) { static_cast<void>(recording); }

    enum class Progress { Forward, Repeated, WentBack };
    /// Follows the counter of steps; a line of the log says that `step` is done. Two lines of one step within seconds
    /// are Repeated (several processes print); a counter that goes back is a restart, which is noted.
    Progress follow(std::int64_t step, std::optional<Moment> stamp, const TextLine &line);
    /// Whether another rank printed that step already: of lines with moments by follow(), else the first process that
    /// printed is the one. Repeats are counted, and told behind the last line.
    [[nodiscard]] bool isRepeated(std::int64_t step, std::optional<Moment> stamp, const TextLine &line);
    void tellStep(std::int64_t step);
    /// Step times from the moments that follow() was told, unless the log prints them: those that are
    /// sure by now, or all.
    void timesFromStamps(bool isLast);
    /// True, and the file is this framework's with at least that sureness.
    bool sure(int sureness);
    void addField(std::string_view key, double value, std::int64_t step);
    /// The last value of each stands.
    void addArgument(const std::string &name, std::string value);

    SeriesBook m_book;
    RecordedSource m_told; // dropped and notes
    std::optional<std::int64_t> m_step; // that the counter stands at

private:
    std::string m_family;
    SourceKind m_kind;
    int m_sureness = 0, m_stepsTold = 0;
    std::optional<std::int64_t> m_toldStep;
    std::optional<int> m_process; // that printed the last line that counts
    std::int64_t m_repeats = 0;
    bool m_printsStepTimes = false;
    bool m_hasClockGoneBack = false; // and was noted
    StampedTimes m_stamps;
    Arguments m_arguments; // new ones
    std::unordered_set<std::string> m_knownArguments;
    std::vector<std::string> m_begunArguments;
    std::size_t m_notesGiven = 0;
};

using LogParserPtr = std::unique_ptr<LogParser>;
[[nodiscard]] LogParserPtr makeMlperfParser();
[[nodiscard]] LogParserPtr makeNemoParser();
[[nodiscard]] LogParserPtr makeTorchtitanParser();
[[nodiscard]] LogParserPtr makeDeepSpeedParser();
[[nodiscard]] LogParserPtr makeMegatronParser();
[[nodiscard]] LogParserPtr makeHfTrainerParser();
[[nodiscard]] LogParserPtr makeStepLinesParser();
[[nodiscard]] LogParserPtr makeJobLinesParser();
/// Of a user's pattern, before all others.
[[nodiscard]] LogParserPtr makePatternParser(std::shared_ptr<const LinePattern> pattern);

} // namespace trainyard::readers
