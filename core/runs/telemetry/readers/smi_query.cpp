// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/smi_columns.h"
#include "core/runs/telemetry/readers/smi_tables.h"
#include "core/runs/telemetry/readers/text_lines.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>

namespace trainyard::readers {

namespace {

/// Fields whose names nvidia-smi --help-query-gpu lists and that hardly anything else has for a column.
bool isQueryHeader(std::string_view line)
{
    int known = 0;
    for (const std::string_view field : fieldsAt(line, ',')) {
        const std::string_view name = trimmed(field.substr(0, field.find('[')));
        known += name.starts_with("utilization.") || name.starts_with("memory.") || name.starts_with("power.")
            || name.starts_with("temperature.") || name.starts_with("clocks.") || name.starts_with("pcie.link")
            || name.starts_with("ecc.") || name == "pci.bus_id" || name == "fan.speed";
    }
    return known > 0 && line.find('"') == std::string_view::npos;
}

/// "2024/05/01 12:00:00.123, 0, GPU-…": a row whose header was left out.
bool isHeadlessRow(std::string_view line)
{
    const auto fields = fieldsAt(line, ',');
    return fields.size() > 2 && momentIn(fields[0]) && fields[0].size() > 10 && fields[0][4] == '/'
        && (line.find(" MiB") != std::string_view::npos || line.find(" %") != std::string_view::npos
            || line.find("GPU-") != std::string_view::npos || line.find("NVIDIA") != std::string_view::npos);
}

class QueryTable {
public:
    explicit QueryTable(const SourceText &source)
        : m_scribe(source, SourceKind::SmiQuery)
        , m_rows(m_scribe)
    {
    }

    void addLine(std::string_view line, bool isFinished)
    {
        if (isQueryHeader(line))
            return setHeader(line);
        const auto cells = fieldsAt(line, ',');
        if (m_columns.empty() || cells.size() != m_columns.size() || !isFinished)
            return m_rows.drop(isFinished);
        std::string_view gpu, time;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (m_names[i] == "timestamp")
                time = cells[i];
            else if (m_names[i] == "index")
                gpu = cells[i];
        }
        std::string where = gpu.empty() ? "" : "gpu" + std::string(gpu);
        for (const std::string_view other : { "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id" })
            for (std::size_t i = 0; i < cells.size() && where.empty(); ++i)
                if (m_names[i] == other)
                    where = cells[i];
        const auto at = momentIn(time);
        m_hasTimes |= at.has_value();
        m_rows.add(m_columns, where, at, cells);
    }

    Expected<Recording> finish(const SourceText &source)
    {
        if (m_scribe.recording().series.empty())
            return refusal(source, "It is a table of nvidia-smi without a row of numbers");
        if (m_hasTimes)
            m_scribe.note("nvidia-smi writes local times without a zone: they are read as UTC");
        if (m_rows.hasGuessedTimes())
            m_scribe.note("It has no timestamp column: rows of a GPU are taken to be a second apart");
        return m_rows.finish(m_hasTimes);
    }

private:
    void setHeader(std::string_view line)
    {
        m_columns.clear();
        m_names.clear();
        for (const std::string_view field : fieldsAt(line, ',')) {
            m_columns.push_back(smiQueryColumn(field));
            m_names.emplace_back(trimmed(field.substr(0, field.find('['))));
        }
    }

    RecordingBuilder m_scribe;
    SmiRows m_rows;
    std::vector<SmiColumn> m_columns;
    std::vector<std::string> m_names;
    bool m_hasTimes = false;
};

} // namespace

int looksLikeSmiQuery(std::string_view, std::string_view head)
{
    TextLines lines(head);
    TextLine line;
    for (int seen = 0; seen < 20 && lines.next(line); ++seen) {
        const std::string_view text = trimmed(line.text);
        if (isQueryHeader(text) && text.find(',') != std::string_view::npos)
            return 90;
        if (isHeadlessRow(text))
            return 60;
    }
    return 0;
}

Expected<Recording> readSmiQuery(const SourceText &source, const SourceOptions &options)
{
    QueryTable table(source);
    bool hasHeader = false;
    PacedLines lines(source, options);
    for (TextLine line; lines.next(line);) {
        const std::string_view text = trimmed(line.text);
        hasHeader |= isQueryHeader(text);
        table.addLine(text, !line.isOpen);
    }
    if (!hasHeader)
        return refusal(source,
            "It is a table of nvidia-smi without its header, so that nobody knows its columns; leave out noheader");
    return table.finish(source);
}

} // namespace trainyard::readers
