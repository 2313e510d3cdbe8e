// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/instance_catalogues.h"
#include "core/runs/telemetry/readers/node_builder.h"
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/text_lines.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <array>
#include <limits>

namespace trainyard::readers {

namespace {

constexpr std::size_t kMostRows = 1'000'000;
constexpr double kDearest = 1e6; // USD an hour

enum Column { Instance, Gpu, Count, Info, Price, Spot, Region, Zone, Columns };
constexpr std::array<std::string_view, Columns> kColumns { "InstanceType", "AcceleratorName", "AcceleratorCount",
    "GpuInfo", "Price", "SpotPrice", "Region", "AvailabilityZone" };

/// Fields of a line; in quotes a comma parts nothing, and two quotes are one. False where a quote stays open.
bool splitRow(std::string_view line, std::vector<std::string> &fields)
{
    fields.assign(1, {});
    bool isQuoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"' && isQuoted && i + 1 < line.size() && line[i + 1] == '"')
            fields.back() += line[++i];
        else if (line[i] == '"')
            isQuoted = !isQuoted;
        else if (line[i] == ',' && !isQuoted)
            fields.emplace_back();
        else
            fields.back() += line[i];
    }
    return !isQuoted;
}

/// Name of the GPU in GpuInfo: a Python dictionary ("{'Gpus': [{'Name': 'T4', …"), JSON, or the bare name.
std::string gpuOfInfo(std::string_view info)
{
    info = trimmed(info);
    if (!info.starts_with('{'))
        return std::string(info);
    for (const char quote : { '\'', '"' }) {
        const std::string key = std::string(1, quote).append("Name").append(1, quote);
        const auto at = info.find(key);
        const auto open = at == std::string_view::npos ? at : info.find(quote, at + key.size());
        const auto close = open == std::string_view::npos ? open : info.find(quote, open + 1);
        if (close != std::string_view::npos)
            return std::string(info.substr(open + 1, close - open - 1));
    }
    return {};
}

class Catalogue {
public:
    explicit Catalogue(const SourceText &source)
        : m_scribe(source, SourceKind::SkyPilotCatalog)
    {
        m_column.fill(kMissing);
    }

    void setHeader(std::string_view line)
    {
        std::vector<std::string> fields;
        splitRow(trimmed(line), fields);
        m_width = fields.size();
        for (std::size_t i = 0; i < fields.size(); ++i)
            for (std::size_t column = 0; column < Columns; ++column)
                if (trimmed(fields[i]) == kColumns[column] && m_column[column] == kMissing)
                    m_column[column] = i;
    }

    void add(std::string_view line, bool isFinished)
    {
        std::vector<std::string> fields;
        if (!splitRow(line, fields) || fields.size() != m_width) {
            m_scribe.source().isTruncated |= !isFinished;
            return m_scribe.drop(isFinished ? "lines that are no row" : "a last line that is cut");
        }
        const auto field = [&](Column column) {
            return m_column[column] == kMissing ? std::string_view() : trimmed(fields[m_column[column]]);
        };
        std::string gpu(field(Gpu));
        if (gpu.empty())
            gpu = gpuOfInfo(field(Info));
        if (gpu.empty())
            return m_scribe.drop("instances without a GPU");
        const double none = std::numeric_limits<double>::quiet_NaN();
        RecordedPrice price { .instance = std::string(field(Instance)), .gpu = std::move(gpu), .source = 0 };
        price.region = field(Region);
        price.zone = field(Zone);
        price.gpus = amountIn(field(Count), 1e6);
        if (price.gpus == 0)
            return m_scribe.drop("rows without a number of GPUs");
        price.usdPerHour = amountIn(field(Price), kDearest);
        price.spotUsdPerHour = amountIn(field(Spot), kDearest);
        m_freeSpots += price.spotUsdPerHour == 0 && !field(Spot).empty();
        price.usdPerHour = price.usdPerHour > 0 ? price.usdPerHour : none;
        price.spotUsdPerHour = price.spotUsdPerHour > 0 ? price.spotUsdPerHour : none;
        if (!(price.usdPerHour > 0) && !(price.spotUsdPerHour > 0))
            return m_scribe.drop("rows without a price");
        if (m_scribe.recording().prices.size() >= kMostRows)
            return m_scribe.drop("rows behind the first million");
        ++m_scribe.source().taken;
        m_scribe.recording().prices.push_back(std::move(price));
    }

    Expected<Recording> finish(const SourceText &source)
    {
        if (m_scribe.recording().prices.empty())
            return refusal(source, "It is a catalogue of SkyPilot without the price of an instance with GPUs");
        if (m_freeSpots > 0)
            m_scribe.note("Spot prices of 0 count as none");
        m_scribe.note("It tells nothing of networks");
        return m_scribe.finish();
    }

private:
    static constexpr std::size_t kMissing = std::numeric_limits<std::size_t>::max();
    RecordingBuilder m_scribe;
    std::array<std::size_t, Columns> m_column {};
    std::size_t m_width = 0;
    std::int64_t m_freeSpots = 0;
};

} // namespace

int looksLikeSkyCatalogue(std::string_view, std::string_view head)
{
    TextLines lines(head);
    TextLine line;
    if (!lines.next(line))
        return 0;
    const auto fields = fieldsAt(line.text, ',');
    const auto has = [&](std::string_view name) { return std::ranges::find(fields, name) != fields.end(); };
    return has("InstanceType") && has("AcceleratorName") && has("Price") ? 93 : 0;
}

Expected<Recording> readSkyCatalogue(const SourceText &source, const SourceOptions &options)
{
    Catalogue catalogue(source);
    PacedLines lines(source, options);
    TextLine line;
    if (lines.next(line))
        catalogue.setHeader(line.text);
    while (lines.next(line))
        catalogue.add(line.text, !line.isOpen);
    return catalogue.finish(source);
}

} // namespace trainyard::readers
