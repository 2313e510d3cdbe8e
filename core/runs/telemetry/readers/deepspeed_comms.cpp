// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/deepspeed_comms.h"

#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <array>
#include <utility>

namespace trainyard::readers {

namespace {

constexpr std::size_t kMostOperationPoints = 200000;
constexpr double kBytesPerGigabit = 1e9 / 8;

/// NCCL's word for DeepSpeed's operation.
std::string operationNamed(std::string_view name)
{
    struct Word {
        std::string_view theirs, ours;
    };
    static constexpr std::array<Word, 8> kWords { { { "reduce_scatter", "reduce_scatter" },
        { "all_gather", "all_gather" }, { "allgather", "all_gather" }, { "all_reduce", "all_reduce" },
        { "all_to_all", "alltoall" }, { "broadcast", "broadcast" }, { "barrier", "barrier" },
        { "reduce", "reduce" } } };
    for (const auto &[theirs, ours] : kWords)
        if (name.find(theirs) != name.npos)
            return std::string(ours);
    return std::string(name);
}

bool isOperation(std::string_view text)
{
    return !text.empty() && text.size() < 60 && isLetter(text[0])
        && std::ranges::all_of(text, [](char c) { return isLetter(c) || isDigit(c) || c == '_'; });
}

} // namespace

bool DeepSpeedComms::take(const TextLine &line)
{
    return takeOperation(line.text, line.isOpen) || takeTable(line);
}

bool DeepSpeedComms::takeOperation(std::string_view text, bool isOpen)
{
    const std::size_t at = text.find("comm op: ");
    if (at == text.npos)
        return false;
    std::string_view rest = text.substr(at);
    BenchmarkPoint point;
    for (LogField field; takeField(rest, field);) {
        std::string_view value = field.value;
        if (isOpen && !field.isClosed)
            continue;
        if (field.key == "comm op")
            point.what = operationNamed(value.substr(0, 60));
        else if (field.key == "time (ms)")
            point.seconds = takeNumber(value).value_or(0) * 1e-3;
        else if (field.key == "msg size")
            point.bytes = takeBytes(value).value_or(0);
        else if (field.key == "algbw (Gbps)")
            point.bytesPerSecond = takeNumber(value).value_or(0) * kBytesPerGigabit;
        else if (field.key == "busbw (Gbps)")
            point.busBytesPerSecond = takeNumber(value).value_or(0) * kBytesPerGigabit;
    }
    if (point.bytes > 0 && point.seconds > 0)
        add(std::move(point));
    else
        ++m_left;
    return true;
}

void DeepSpeedComms::add(BenchmarkPoint point)
{
    const bool isMeasured = isFigure(point.bytes) && isFigure(point.seconds) && isFigure(point.bytesPerSecond)
        && isFigure(point.busBytesPerSecond);
    if (isMeasured && m_given + m_points.size() < kMostOperationPoints)
        m_points.push_back(std::move(point));
    else
        ++m_left;
}

bool DeepSpeedComms::takeTable(const TextLine &line)
{
    const std::string_view text = line.text;
    if (const std::size_t at = text.find("Comm. Op"); at != text.npos && text.find("Message Size") != text.npos) {
        m_isOfStragglers = text.find("traggler") != text.npos;
        m_isInTable = true;
        m_operation.clear();
        return true;
    }
    if (!m_isInTable)
        return false;
    if (const std::string_view name = trimmed(text); isOperation(name) && !text.starts_with(' ')) {
        m_operation = name;
        return true;
    }
    if (!m_operation.empty() && text.starts_with("  ") && !line.isOpen)
        return takeRow(text);
    return false;
}

/// "                    98.25 MB            1                   8317.12             8317.12             0.20    0.19"
bool DeepSpeedComms::takeRow(std::string_view text)
{
    std::string_view rest = text;
    const auto bytes = takeBytes(rest);
    if (!bytes)
        return false;
    // count, total and mean latency, algorithm and bus bandwidth; of stragglers: count, totals of operations and of
    // waiting, means of both
    std::array<double, 5> column {};
    for (double &one : column)
        if (const auto value = takeNumber(rest))
            one = *value;
        else
            return false;
    BenchmarkPoint point;
    point.what = operationNamed(m_operation);
    point.bytes = *bytes;
    if (m_isOfStragglers) {
        point.what += " without waiting";
        point.seconds = column[3] * 1e-3;
        point.bytesPerSecond = column[3] > 0 ? *bytes / point.seconds : 0;
    } else {
        point.seconds = column[2] * 1e-3;
        point.bytesPerSecond = column[3] * kBytesPerGigabit;
        point.busBytesPerSecond = column[4] * kBytesPerGigabit;
    }
    add(std::move(point));
    return true;
}

void DeepSpeedComms::give(Recording &recording, RecordedSource &told)
{
    m_given += m_points.size();
    for (BenchmarkPoint &point : std::exchange(m_points, {})) {
        point.source = 0;
        recording.benchmarks.push_back(std::move(point));
    }
    drop(told, "communication operations without size or time, or beyond the first 200000", std::exchange(m_left, 0));
    if (m_isInTable)
        note(told, "The rows of its table of communication are means over the operations of one size");
}

} // namespace trainyard::readers
