#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A training log read line by line, with what is new in it whenever somebody asks: how often they ask changes nothing
// of what is told in sum. Every line is offered to every framework's parser, the surest names the log. Where several
// tell of one quantity, its plain name belongs to the surest of those that told it before two steps were told, later to
// the first; others have their family in front ("deepspeed.step_time"). One thread.

#include "core/runs/telemetry/readers/log_parser.h"
#include "core/runs/telemetry/readers/out_of_memory.h"

#include <set>

namespace trainyard::readers {

class GrowingLog {
public:
    /// `pattern`: of the user, for lines that are offered to it first; may be null
    explicit GrowingLog(std::string file, std::shared_ptr<const LinePattern> pattern = nullptr);

    /// Lines in their order. The last of a file that ends without a line feed may be half a number: it is believed up
    /// to its last word.
    void take(TextLine line);
    /// Whether news() would tell anything but counts of lines.
    [[nodiscard]] bool hasNews() const { return m_isNamed && m_hasTaken; }
    /// What is new since the last time; its source counts the lines since.
    [[nodiscard]] Recording news();
    /// After the last line: what is left.
    [[nodiscard]] Recording end();

    [[nodiscard]] SourceKind kind() const { return surest().kind(); }
    [[nodiscard]] int sureness() const { return surest().sureness(); }

private:
    using SeriesKey = std::tuple<int, std::string, std::string, bool>; // rank, name, where, by step

    [[nodiscard]] const LogParser &surest() const;
    void name(); // who tells what, once two steps were told
    void claim(LogParser &parser);
    void give(Recording &recording);
    void giveOutOfMemory(Recording &recording);
    [[nodiscard]] std::vector<LogParser *> bySureness() const;

    std::string m_file;
    std::vector<LogParserPtr> m_parsers;
    std::size_t m_jobs = 0; // of m_parsers, the one of the job's own lines
    std::map<SeriesKey, const LogParser *> m_series;
    std::map<std::string, const LogParser *> m_arguments;
    std::optional<OutOfMemory> m_outOfMemory; // the first, until it is given
    bool m_hasRunOut = false;
    std::int64_t m_taken = 0, m_others = 0, m_untilNamed = 0; // lines
    bool m_isNamed = false, m_hasTaken = false, m_isCut = false;
};

} // namespace trainyard::readers
