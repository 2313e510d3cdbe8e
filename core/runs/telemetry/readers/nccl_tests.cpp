// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/nccl_tests.h"

#include "core/runs/telemetry/readers/collective_names.h"
#include "core/runs/telemetry/readers/nccl_tests_section.h"
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/text_lines.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace trainyard::readers {

namespace {

constexpr std::size_t kNoColumn = std::size_t(-1);

/// Where each value of a row stands; one block out of place, one in place.
struct TableColumns {
    struct Block {
        std::size_t time = kNoColumn, algorithm = kNoColumn, bus = kNoColumn, wrong = kNoColumn;
    };
    std::size_t reduction = kNoColumn, root = kNoColumn, count = 0; // fields without a trailing time stamp
    std::array<Block, 2> blocks;
    bool isCpuTime = false;
    std::size_t blockCount = 0;
};

TableColumns columnsOf(const std::vector<std::string_view> &names)
{
    TableColumns columns;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string_view name = names[i];
        if (name == "timestamp")
            continue;
        columns.count = i + 1;
        if (name == "redop")
            columns.reduction = i;
        else if (name == "root")
            columns.root = i;
        else if ((name == "time" || name == "cputime") && columns.blockCount < 2) {
            columns.isCpuTime = name == "cputime";
            columns.blocks[columns.blockCount++].time = i;
        } else if (columns.blockCount > 0) {
            TableColumns::Block &block = columns.blocks[columns.blockCount - 1];
            if (name == "algbw")
                block.algorithm = i;
            else if (name == "busbw")
                block.bus = i;
            else if (name == "#wrong" || name == "error")
                block.wrong = i;
        }
    }
    return columns;
}

/// Of a table that lost its header, by the number of fields of a row; none where no version prints so many.
TableColumns columnsOfWidth(std::size_t width)
{
    using Names = std::vector<std::string_view>;
    const Names block { "time", "algbw", "busbw", "#wrong" }, statistics { "i_min", "i_max", "i_p99", "i_cv%" };
    Names names { "size", "count", "type", "redop" };
    const bool isOld = width == 12;
    if (!isOld && width != 13 && width != 15 && width != 21 && width != 23)
        return {};
    if (!isOld)
        names.emplace_back("root");
    for (int i = 0; i < 2; ++i) {
        names.insert(names.end(), block.begin(), block.end());
        if (width > 20)
            names.insert(names.end(), statistics.begin(), statistics.end());
    }
    return columnsOf(names);
}

class Table {
public:
    Table(const SourceText &source)
        : m_scribe(source, SourceKind::NcclTests)
        , m_fileOperation(collectiveIn(std::filesystem::path(source.file).filename().string()))
    {
    }

    void addLine(std::string_view line, bool isFinished)
    {
        if (line.starts_with('#'))
            return addComment(line);
        if (line.front() >= '0' && line.front() <= '9')
            return addRow(line, isFinished);
        if (const auto at = line.find("_perf");
            at != std::string_view::npos && line.find("NCCL") == std::string_view::npos)
            if (std::string named = collectiveIn(line.substr(0, at)); !named.empty())
                m_nextOperation = std::move(named); // the command
    }

    void addComment(std::string_view line)
    {
        const std::string_view text = trimmed(line.substr(1));
        if (text.starts_with("Collective test starting:")) {
            m_nextOperation = collectiveNamed(text.substr(25));
            if (!m_section.isEmpty())
                startSection();
        } else if (text.starts_with("nThread")) {
            if (!m_section.isEmpty() || m_section.hasRanks())
                startSection();
        } else if (text.starts_with("Using devices")) {
            if (!m_section.isEmpty())
                startSection();
        } else if (text.starts_with("Rank") && wordAfter(text, "Pid") != "") {
            if (!m_section.isEmpty())
                startSection();
            m_section.addRank(integerIn(wordAfter(text, "Rank")).value_or(-1),
                integerIn(wordAfter(text, "Group")).value_or(0), wordAfter(text, "on"),
                integerIn(wordAfter(text, "device")).value_or(-1));
            m_section.operation = m_nextOperation;
        } else if (text.starts_with("...")) {
            m_section.markListShortened();
        } else if (text.starts_with("Out of bounds values") || text.starts_with("Avg bus bandwidth")) {
            m_isOpen = false;
            if (text.find("FAILED") != std::string_view::npos)
                m_scribe.note("nccl-tests says: " + std::string(text));
        } else if (text.starts_with("error:")) {
            m_scribe.note("nccl-tests says: " + std::string(text));
        } else if (const auto fields = fieldsOf(text);
                   fields.size() > 6 && fields[0] == "size" && std::ranges::find(fields, "busbw") != fields.end()) {
            m_columns = columnsOf(fields);
        }
    }

    void addRow(std::string_view line, bool isFinished)
    {
        const auto fields = fieldsOf(line);
        if (fields.size() < 9 || !integerIn(fields[0]) || !integerIn(fields[1]))
            return m_scribe.drop("lines that are no row");
        TableColumns columns = m_columns.blockCount > 0 ? m_columns : columnsOfWidth(fields.size());
        const bool onlyInPlace = columns.blockCount == 2 && fields.size() == columns.blocks[1].time && isFinished;
        if (onlyInPlace) { // the replay of a trace leaves the first block blank
            columns.count = columns.blocks[1].time;
            columns.blockCount = 1;
        }
        if (m_section.operation.empty())
            m_section.operation = m_nextOperation;
        if (columns.blockCount == 0 || fields.size() < columns.count)
            return m_scribe.drop("rows that do not fit the header");
        m_isOpen = true;
        for (std::size_t i = 0; i < columns.blockCount; ++i)
            addBlock(fields, columns, columns.blocks[i], i == 1 || onlyInPlace);
    }

    Expected<Recording> finish(const SourceText &source)
    {
        startSection();
        m_scribe.source().isTruncated |= m_isOpen;
        if (m_alone > 0 && m_scribe.recording().benchmarks.empty())
            return refusal(source, kNcclTestsAlone);
        if (m_scribe.recording().benchmarks.empty())
            return refusal(source, "It is output of nccl-tests that ended before the first measurement");
        m_scribe.drop("measurements of processes that ran alone", m_alone);
        return m_scribe.finish();
    }

private:
    void addBlock(const std::vector<std::string_view> &fields, const TableColumns &columns,
        const TableColumns::Block &block, bool isInPlace)
    {
        const auto at = [&](std::size_t column) {
            return column < fields.size() ? numberIn(fields[column]) : std::optional<double>();
        };
        const auto time = at(block.time), algorithm = at(block.algorithm), bus = at(block.bus), bytes = at(0);
        if (!time || !algorithm || !bus || !bytes || !(*time > 0) || !(*bytes > 0))
            return m_scribe.drop("measurements of no bytes or no time");
        if (at(block.wrong).value_or(0) > 0)
            return m_scribe.drop("measurements with wrong results");
        NcclTestsSection::Measured measured { .bytes = *bytes,
            .microseconds = *time,
            .algorithm = *algorithm,
            .bus = *bus,
            .isInPlace = isInPlace,
            .isCpuTime = columns.isCpuTime };
        if (columns.reduction < fields.size())
            measured.reduction = fields[columns.reduction];
        if (columns.root < fields.size())
            measured.root = integerIn(fields[columns.root]).value_or(-1);
        m_section.add(std::move(measured));
        ++m_rows;
    }

    void startSection()
    {
        if (m_section.operation.empty())
            m_section.operation = m_fileOperation;
        if (!m_section.isEmpty() && m_section.isAlone())
            m_alone += m_rows;
        else
            m_section.write(m_scribe);
        m_section = {};
        m_rows = 0;
    }

    RecordingBuilder m_scribe;
    std::string m_fileOperation, m_nextOperation;
    NcclTestsSection m_section;
    TableColumns m_columns;
    std::int64_t m_alone = 0, m_rows = 0;
    bool m_isOpen = false; // rows came without a footer so far
};

} // namespace

int looksLikeNcclTests(std::string_view, std::string_view head)
{
    int sure = 0;
    TextLines lines(head);
    for (TextLine line; lines.next(line);) {
        const auto hash = line.text.find('#');
        if (hash == std::string_view::npos)
            continue;
        const std::string_view text = trimmed(line.text.substr(hash + 1));
        if (text.starts_with("nccl-tests version") || text.starts_with("Collective test starting:")
            || (text.starts_with("size") && text.find("algbw") != std::string_view::npos)
            || (text.starts_with("nThread ") && text.find("minBytes") != std::string_view::npos))
            return 92;
        if (text.starts_with("Rank ") && text.find(" Pid ") != std::string_view::npos)
            sure = 70;
        if (text.starts_with("Avg bus bandwidth"))
            sure = std::max(sure, 60);
    }
    return sure;
}

Expected<Recording> readNcclTests(const SourceText &source, const SourceOptions &options)
{
    Table table(source);
    PacedLines lines(source, options);
    for (TextLine line; lines.next(line);) {
        table.addLine(trimmed(line.text), !line.isOpen);
    }
    return table.finish(source);
}

} // namespace trainyard::readers
