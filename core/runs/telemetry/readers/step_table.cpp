// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/experiment_json.h"
#include "core/runs/telemetry/readers/metric_names.h"
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/series_book.h"
#include "core/runs/telemetry/readers/text_lines.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <cmath>

namespace trainyard::readers {

namespace {

constexpr std::size_t kMostColumns = 2000;

/// Cells of a line of CSV; quotes are taken off, doubled ones are one.
std::vector<std::string> csvCellsOf(std::string_view line)
{
    std::vector<std::string> cells(1);
    bool isQuoted = false;
    for (std::size_t i = 0; i < line.size() && cells.size() <= kMostColumns; ++i) {
        const char c = line[i];
        if (c == '"' && isQuoted && i + 1 < line.size() && line[i + 1] == '"')
            cells.back().push_back(line[++i]);
        else if (c == '"')
            isQuoted = !isQuoted;
        else if (c == ',' && !isQuoted)
            cells.emplace_back();
        else
            cells.back().push_back(c);
    }
    return cells;
}

std::vector<std::string> headingOf(std::string_view text)
{
    TextLines lines(text);
    TextLine line;
    return lines.next(line) && line.text.size() < 100000 ? csvCellsOf(trimmed(line.text)) : std::vector<std::string>();
}

/// "llama-7b - train/loss" of wandb is "train/loss"; its "…__MIN" and "…__MAX" repeat it.
std::string_view wandbName(std::string_view column)
{
    const std::size_t dash = column.find(" - ");
    return dash == column.npos ? column : column.substr(dash + 3);
}

Expected<Recording> readTable(const SourceText &source, const SourceOptions &options, SourceKind kind)
{
    Recording recording = recordingOf(source, kind);
    RecordedSource &made = recording.sources.front();
    SeriesBook book;
    PacedLines lines(source, options);
    TextLine line;
    const std::vector<std::string> heading =
        lines.next(line) ? csvCellsOf(trimmed(line.text)) : std::vector<std::string>();
    std::vector<MetricName> metrics;
    for (const std::string &column : heading) {
        // DeepSpeed's files are named "Train_Samples_train_loss"
        std::string_view name = wandbName(column);
        takeText(name, "Train/");
        takeText(name, "Train_");
        metrics.push_back(metricOfTag(trimmed(name).substr(0, 300)));
        if (name.starts_with("Samples_"))
            metrics.back() = metricOfTag("Samples/" + std::string(name.substr(8, 300)));
    }
    while (lines.next(line)) {
        if (line.isOpen)
            made.isTruncated = true;
        const auto cells = csvCellsOf(trimmed(line.text));
        const auto step = leadingNumber(cells.front());
        if (!step || !(std::abs(*step) < 1e15) || line.isOpen) {
            drop(made, "rows without a step");
            continue;
        }
        ++made.taken;
        for (std::size_t i = 1; i < std::min(cells.size(), heading.size()); ++i)
            if (heading[i].ends_with("__MIN") || heading[i].ends_with("__MAX"))
                continue;
            else if (const auto value = leadingNumber(cells[i]))
                book.addStep(
                    metrics[i].name, metrics[i].unit, static_cast<std::int64_t>(*step), *value * metrics[i].factor);
    }
    drop(made, "values of steps that a later row tells again", book.close(recording, 0, "table"));
    return recording;
}

} // namespace

int looksLikeStepTable(std::string_view, std::string_view head)
{
    if (!head.starts_with("step,"))
        return 0;
    const auto heading = headingOf(head);
    return heading.size() == 2 && !leadingNumber(heading[1]) ? 80 : 0;
}

Expected<Recording> readStepTable(const SourceText &source, const SourceOptions &options)
{
    return readTable(source, options, SourceKind::DeepSpeedLog);
}

int looksLikeWandbTable(std::string_view, std::string_view head)
{
    if (!head.starts_with("\"Step\",") && !head.starts_with("Step,"))
        return 0;
    const auto heading = headingOf(head);
    return heading.size() >= 2 && heading[1].find(" - ") != std::string::npos ? 85 : 0;
}

Expected<Recording> readWandbTable(const SourceText &source, const SourceOptions &options)
{
    return readTable(source, options, SourceKind::WandbFile);
}

} // namespace trainyard::readers
