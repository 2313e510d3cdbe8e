// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/smi_columns.h"

#include "core/base/units.h"
#include "core/runs/telemetry/readers/text_scan.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <array>

namespace trainyard::readers {

namespace {

struct NamedColumn {
    std::string_view header;
    const char *name;
};

constexpr std::array<NamedColumn, 9> kQueryNames { {
    { "utilization.gpu", samples::kGpuUtilization },
    { "memory.used", samples::kMemoryUsed },
    { "memory.free", samples::kMemoryFree },
    { "power.draw", samples::kPower },
    { "power.draw.average", samples::kPower },
    { "temperature.gpu", samples::kTemperature },
    { "clocks.sm", samples::kSmClock },
    { "clocks.current.sm", samples::kSmClock },
    { "pstate", nullptr },
} };

constexpr std::array<NamedColumn, 10> kDmonNames { {
    { "pwr", samples::kPower },
    { "gtemp", samples::kTemperature },
    { "temp", samples::kTemperature },
    { "sm", samples::kGpuUtilization },
    { "pclk", samples::kSmClock },
    { "fb", samples::kMemoryUsed },
    { "rxpci", samples::kPcieToGpu },
    { "txpci", samples::kPcieToHost },
    { "smutil", samples::kSmActive },
    { "tensor", samples::kTensorActive },
} };

struct SmiUnit {
    std::string_view printed, unit;
    double factor;
};

constexpr std::array<SmiUnit, 13> kUnits { {
    { "%", "1", 0.01 },
    { "MiB", "B", 1048576 },
    { "KiB", "B", 1024 },
    { "W", "W", 1 },
    { "MHz", "Hz", 1e6 },
    { "C", "°C", 1 },
    { "MB/s", "B/s", 1e6 },
    { "KB/s", "B/s", 1e3 },
    { "GB/s", "B/s", 1e9 },
    { "mJ", "J", 1e-3 },
    { "s", "s", 1 },
    { "us", "s", 1e-6 },
    { "ms", "s", 1e-3 },
} };

SmiColumn made(std::span<const NamedColumn> names, std::string_view header, std::string_view unit)
{
    SmiColumn column { .name = std::string("smi.").append(header) };
    if (const auto known = std::ranges::find(names, header, &NamedColumn::header); known != names.end() && known->name)
        column.name = known->name;
    if (const auto known = std::ranges::find(kUnits, unit, &SmiUnit::printed); known != kUnits.end()) {
        column.unit = known->unit;
        column.factor = known->factor;
    } else {
        column.unit = unit;
    }
    if (column.name == samples::kTemperature && column.unit.empty())
        column.unit = "°C"; // the header of a query tells none
    return column;
}

} // namespace

SmiColumn smiQueryColumn(std::string_view header)
{
    const auto bracket = header.find('[');
    const std::string_view name = trimmed(header.substr(0, bracket));
    std::string_view unit;
    if (bracket != std::string_view::npos)
        unit = trimmed(header.substr(bracket + 1, header.find(']', bracket) - bracket - 1));
    SmiColumn column = made(kQueryNames, name, unit);
    constexpr std::array<std::string_view, 12> kWords { "timestamp", "index", "uuid", "gpu_uuid", "name", "gpu_name",
        "pci.bus_id", "gpu_bus_id", "serial", "driver_version", "pstate", "count" };
    column.isSeries = std::ranges::find(kWords, name) == kWords.end();
    return column;
}

SmiColumn smiDmonColumn(std::string_view header, std::string_view unit)
{
    SmiColumn column = made(kDmonNames, header, header == "fb" || header == "bar1" || header == "ccpm" ? "MiB" : unit);
    constexpr std::array<std::string_view, 4> kWords { "gpu", "Date", "Time", "pstate" };
    column.isSeries = std::ranges::find(kWords, header) == kWords.end();
    return column;
}

void SmiRows::add(const std::vector<SmiColumn> &columns, const std::string &gpu, std::optional<std::int64_t> at,
    const std::vector<std::string_view> &cells)
{
    std::int64_t &row = m_rows[gpu];
    m_hasGuessedTimes |= !at && row > 0;
    const std::int64_t moment = at.value_or(row * kNanosecondsPerSecond);
    for (std::size_t i = 0; i < std::min(columns.size(), cells.size()); ++i)
        addCell(columns[i], gpu, moment, cells[i]);
    ++row;
}

void SmiRows::drop(bool isFinished)
{
    m_scribe.source().isTruncated |= !isFinished;
    m_scribe.drop(isFinished ? "lines that are no row" : "a last line that is cut");
}

Expected<Recording> SmiRows::finish(bool hasTimes)
{
    auto recording = m_scribe.finish();
    if (!hasTimes)
        recording->zero = 0;
    return recording;
}

void SmiRows::addCell(const SmiColumn &column, std::string_view gpu, std::int64_t at, std::string_view cell)
{
    if (!column.isSeries)
        return;
    cell = trimmed(cell);
    const bool isMissing = cell == "-" || cell.empty() || cell == "N/A" || cell.starts_with("[N/A")
        || cell.starts_with("[Not Supported") || cell.starts_with("[Unknown Error") || cell.starts_with("[GPU ");
    const auto value =
        isMissing ? std::optional(std::numeric_limits<double>::quiet_NaN()) : numberIn(cell.substr(0, cell.find(' ')));
    if (!value)
        return m_scribe.drop("words where a number was looked for");
    const std::string key = column.name + '\x01' + std::string(gpu);
    auto series = m_scribe.seriesOf(key);
    if (series == RecordingBuilder::kNewSeries)
        series = m_scribe.addSeries(
            key, { .name = SharedText(column.name), .unit = SharedText(column.unit), .where = SharedText(gpu) });
    m_scribe.add(series, at, *value * column.factor);
}

} // namespace trainyard::readers
