// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/smi_columns.h"
#include "core/runs/telemetry/readers/smi_tables.h"
#include "core/runs/telemetry/readers/text_lines.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>

namespace trainyard::readers {

namespace {

std::vector<std::string_view> dmonCellsOf(std::string_view line)
{
    return line.find(',') != std::string_view::npos ? fieldsAt(line, ',') : fieldsOf(line);
}

/// The names of "# gpu pwr gtemp …"; empty where it is no such header.
std::vector<std::string_view> headerOf(std::string_view line)
{
    if (!line.starts_with('#'))
        return {};
    auto names = dmonCellsOf(trimmed(line.substr(1)));
    const auto has = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
    return has("gpu") && names.size() > 1 ? names : std::vector<std::string_view>();
}

bool isProcessTable(const std::vector<std::string_view> &names)
{
    return std::ranges::find(names, "pid") != names.end();
}

/// Nanoseconds of "20240501" and "12:00:00"; either may be empty.
std::int64_t dateTimeOf(std::string_view date, std::string_view time)
{
    const std::string day = date.size() == 8
        ? std::string(date.substr(0, 4)).append("-").append(date.substr(4, 2)).append("-").append(date.substr(6, 2))
        : std::string("1970-01-01");
    return momentIn(day + " " + (time.empty() ? std::string("00:00:00") : std::string(time)))
        .value_or(RecordingBuilder::kNoTime);
}

class DmonTable {
public:
    explicit DmonTable(const SourceText &source)
        : m_scribe(source, SourceKind::SmiDmon)
        , m_rows(m_scribe)
    {
    }

    void addLine(std::string_view line, bool isFinished)
    {
        if (line.starts_with('#')) {
            if (const auto names = headerOf(line); !names.empty())
                m_names.assign(names.begin(), names.end()), m_columns.clear();
            else if (m_columns.empty() && !m_names.empty())
                setUnits(dmonCellsOf(trimmed(line.substr(1))));
            return;
        }
        if (m_columns.empty())
            setUnits({}); // "nounit" leaves the second line out
        const auto cells = dmonCellsOf(line);
        if (cells.size() < m_names.size() || !isFinished)
            return m_rows.drop(isFinished);
        const std::string_view index = cellAt(cells, "gpu");
        if (!integerIn(index))
            return m_rows.drop(true);
        const auto at = m_hasClock || m_hasDate
            ? std::optional(dateTimeOf(cellAt(cells, "Date"), cellAt(cells, "Time")))
            : std::nullopt;
        m_rows.add(m_columns, "gpu" + std::string(index), at, cells);
    }

    Expected<Recording> finish(const SourceText &source, bool isOfProcesses)
    {
        if (isOfProcesses)
            return refusal(source, "It is nvidia-smi's table of processes (pmon), of which nothing is read; dmon's is");
        if (m_scribe.recording().series.empty())
            return refusal(source, "It is a table of nvidia-smi dmon without a row");
        if (m_hasClock)
            m_scribe.note(m_hasDate ? "nvidia-smi writes local times without a zone: they are read as UTC"
                                    : "It tells the time of the day without a date: moments count from the first row");
        else if (m_rows.hasGuessedTimes())
            m_scribe.note("It carries no times: rows of a GPU are taken to be a second apart, as dmon's default is");
        return m_rows.finish(m_hasDate);
    }

private:
    void setUnits(const std::vector<std::string_view> &units)
    {
        m_columns.clear();
        for (std::size_t i = 0; i < m_names.size(); ++i) {
            m_columns.push_back(smiDmonColumn(m_names[i], i < units.size() ? units[i] : unitWithout(m_names[i])));
            m_hasClock |= m_names[i] == "Time";
            m_hasDate |= m_names[i] == "Date";
        }
    }

    /// Units as dmon documents them, for tables that leave them out.
    static std::string_view unitWithout(std::string_view name)
    {
        if (name == "pwr")
            return "W";
        if (name.ends_with("temp"))
            return "C";
        if (name.ends_with("clk"))
            return "MHz";
        if (name.ends_with("pci"))
            return "MB/s";
        constexpr std::string_view kShares[] = { "sm", "mem", "enc", "dec", "jpg", "ofa" };
        return std::ranges::find(kShares, name) != std::end(kShares) ? "%" : "";
    }

    [[nodiscard]] std::string_view cellAt(const std::vector<std::string_view> &cells, std::string_view name) const
    {
        const auto at = static_cast<std::size_t>(std::ranges::find(m_names, name) - m_names.begin());
        return at < cells.size() && at < m_names.size() ? cells[at] : std::string_view();
    }

    RecordingBuilder m_scribe;
    SmiRows m_rows;
    std::vector<std::string> m_names;
    std::vector<SmiColumn> m_columns;
    bool m_hasClock = false, m_hasDate = false;
};

} // namespace

int looksLikeSmiDmon(std::string_view, std::string_view head)
{
    TextLines lines(head);
    TextLine line;
    for (int seen = 0; seen < 20 && lines.next(line); ++seen) {
        const auto names = headerOf(trimmed(line.text));
        if (isProcessTable(names))
            return 70;
        int known = 0;
        for (const std::string_view name : names)
            known +=
                !smiDmonColumn(name, "").name.starts_with("smi.") || name == "mem" || name == "mclk" || name == "enc";
        if (known > 0)
            return 90;
    }
    return 0;
}

Expected<Recording> readSmiDmon(const SourceText &source, const SourceOptions &options)
{
    DmonTable table(source);
    bool isOfProcesses = false;
    PacedLines lines(source, options);
    for (TextLine line; lines.next(line) && !isOfProcesses;) {
        const std::string_view text = trimmed(line.text);
        isOfProcesses = isProcessTable(headerOf(text));
        if (!isOfProcesses)
            table.addLine(text, !line.isOpen);
    }
    return table.finish(source, isOfProcesses);
}

} // namespace trainyard::readers
