// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry summarize`: how each rank of a recorded run spent its time.
#include "app/cli/command.h"
#include "app/cli/json_values_internal.h"
#include "app/cli/run_sources.h"
#include "app/cli/signals.h"

#include "core/base/printable.h"
#include "core/base/ranges_text.h"
#include "core/base/text_table.h"
#include "core/runs/telemetry/summarize.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

namespace trainyard::cli {

namespace {

struct TelemetrySummarizeOptions {
    std::vector<std::string> sources;
    std::string format, as = "exact";

    [[nodiscard]] SummaryRule rule() const { return as == "hta" ? SummaryRule::Hta : SummaryRule::Exact; }
};

/// "Of steps 10 to 13 the last does not count, as HTA has it", and so on: each once.
std::vector<std::string> notesOfSummary(
    const std::vector<RankSummary> &summary, const Recording &recording, SummaryRule rule)
{
    std::vector<std::string> notes = notesOfSources(recording);
    const auto add = [&](std::string note) {
        if (std::ranges::find(notes, note) == notes.end())
            notes.push_back(std::move(note));
    };
    for (const RankSummary &rank : summary) {
        if (rank.isRankGuessed)
            add("Nobody tells the rank of " + rank.file + ": 0 is a guess");
        if (rank.steps.size() > 1 && rule == SummaryRule::Hta)
            add("Of steps " + rangesText(rank.steps)
                + " the last does not count, as in HTA: times are those of what was launched before it");
        if (!rank.reason.empty())
            add(rank.file + ": " + rank.reason);
    }
    return notes;
}

std::string summaryJson(const std::vector<RankSummary> &summary, const std::vector<std::string> &notes)
{
    Json json { { "ranks", Json::array() } };
    for (const RankSummary &rank : summary) {
        const auto time = [&](double TemporalBreakdown::*field) {
            return rank.breakdown ? Json((*rank.breakdown).*field) : Json(nullptr);
        };
        json["ranks"].push_back({ { "rank", rank.rank >= 0 ? Json(rank.rank) : Json(nullptr) },
            { "is_rank_told", rank.rank >= 0 && !rank.isRankGuessed },
            { "kernel_time_us", time(&TemporalBreakdown::kernelTime) },
            { "compute_us", time(&TemporalBreakdown::compute) },
            { "non_compute_us", time(&TemporalBreakdown::nonCompute) }, { "idle_us", time(&TemporalBreakdown::idle) },
            { "communication_overlap", jsonOrNull(rank.communicationOverlap) }, { "file", rank.file },
            { "reason", rank.reason.empty() ? Json(nullptr) : Json(rank.reason) }, { "steps", rank.steps } });
    }
    json["notes"] = notes;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string decimals(double value, int count)
{
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", count, value);
    return text;
}

std::string summaryTable(const std::vector<RankSummary> &summary, const std::vector<std::string> &notes)
{
    using enum TextTable::Align;
    TextTable table({ Right, Right, Right, Right, Right, Right, Left },
        { "rank", "kernel time µs", "compute µs", "non-compute µs", "idle µs", "overlap %", "file" });
    for (const RankSummary &rank : summary) {
        const auto time = [&](double TemporalBreakdown::*field) {
            if (!rank.breakdown)
                return std::string("–");
            const double microseconds = (*rank.breakdown).*field;
            return decimals(microseconds, microseconds == std::floor(microseconds) ? 0 : 3);
        };
        table.add({ rank.rank >= 0 ? std::to_string(rank.rank) + (rank.isRankGuessed ? "?" : "") : "–",
            time(&TemporalBreakdown::kernelTime), time(&TemporalBreakdown::compute),
            time(&TemporalBreakdown::nonCompute), time(&TemporalBreakdown::idle),
            rank.communicationOverlap ? decimals(*rank.communicationOverlap * 100, 2) : "–", rank.file });
    }
    std::string text = table.text() + (notes.empty() ? "" : "\nNotes\n");
    for (const std::string &note : notes)
        text += "  " + printable(note) + "\n";
    return text;
}

int runTelemetrySummarize(const TelemetrySummarizeOptions &options)
{
    Interruption interruption;
    const auto recording = readRun(options.sources, interruption.token());
    if (!recording)
        return recording.error().code == ErrorCode::Cancelled ? stoppedBefore("all files were read")
                                                              : fail({ recording.error() });
    Errors faults = tellOf(*recording, options.sources);
    if (recording->ranks.empty()) {
        const std::string what = recording->sources.size() == 1 && recording->sources[0].refused.empty()
            ? std::string("it is a ") + nameOf(recording->sources[0].kind) + ": "
            : std::string();
        const Error none { ErrorCode::BadValue, options.sources.front(), what + "there is no rank of a run in it",
            "traces of PyTorch's profiler, or a folder of them" };
        return fail(faults.empty() ? Errors { none } : faults);
    }
    const std::vector<RankSummary> summary = summarize(*recording, options.rule());
    const std::vector<std::string> notes = notesOfSummary(summary, *recording, options.rule());
    const int printed =
        print(options.format == "json" ? summaryJson(summary, notes) : summaryTable(summary, notes), options.format);
    if (std::ranges::none_of(summary, [](const RankSummary &rank) { return rank.breakdown.has_value(); }))
        faults.push_back({ ErrorCode::BadValue, options.sources.front(),
            summary.size() == 1 ? summary.front().reason : "no rank of it shows the time of a GPU",
            "traces of PyTorch's profiler with kernels of a GPU" });
    if (!faults.empty() && printed == kDone)
        return fail(faults);
    return printed;
}

} // namespace

void addTelemetryCommand(CLI::App &app, int &exitCode)
{
    const auto options = std::make_shared<TelemetrySummarizeOptions>();
    const Subcommand telemetry(app, "telemetry", "Recordings of real runs");
    const Subcommand summarize(
        telemetry, "summarize", "How each rank's GPU spent its time: computation, communication and memory, nothing");
    summarize.texts("SOURCE", options->sources, "Traces of the ranks, recordings, or folders of them").required();
    addFormatOption(summarize, options->format, { "table", "json" });
    summarize
        .text("--as", options->as,
            "Exact times of all that was recorded, or as HTA counts: whole microseconds, without the last step")
        .oneOf({ "exact", "hta" })
        .showingDefault();
    summarize.callback([options, &exitCode] { exitCode = runTelemetrySummarize(*options); });
    addTelemetryIdle(telemetry, exitCode);
    addTelemetryKernels(telemetry, exitCode);
    addTelemetryPath(telemetry, exitCode);
    addTelemetryRoofline(telemetry, exitCode);
    addTelemetryCompare(telemetry, exitCode);
    addTelemetryCalibrate(telemetry, exitCode);
    addTelemetryVerdict(telemetry, exitCode);
    addTelemetryRecord(telemetry, exitCode);
    addTelemetryReplay(telemetry, exitCode);
    addTelemetryWatch(telemetry, exitCode);
    addTelemetryAlarms(telemetry, exitCode);
}

} // namespace trainyard::cli
