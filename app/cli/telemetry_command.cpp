// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry summarize`: how each rank of a recorded run spent its time.
#include "app/cli/command.h"
#include "app/cli/run_sources.h"
#include "app/cli/signals.h"

#include "core/report/text_table.h"
#include "core/telemetry/summarize.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <optional>

namespace trainyard::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
    std::vector<std::string> sources;
    std::string format;
};

template <class T> Json jsonOf(const std::optional<T> &value)
{
    return value ? Json(*value) : Json(nullptr);
}

std::string summaryJson(const std::vector<RankSummary> &summary)
{
    Json json { { "ranks", Json::array() } };
    for (const RankSummary &rank : summary) {
        const auto time = [&](std::int64_t TemporalBreakdown::*field) {
            return rank.breakdown ? Json((*rank.breakdown).*field) : Json(nullptr);
        };
        json["ranks"].push_back({ { "rank", rank.rank >= 0 ? Json(rank.rank) : Json(nullptr) },
            { "kernel_time_us", time(&TemporalBreakdown::kernelTime) },
            { "compute_us", time(&TemporalBreakdown::compute) },
            { "non_compute_us", time(&TemporalBreakdown::nonCompute) }, { "idle_us", time(&TemporalBreakdown::idle) },
            { "communication_overlap", jsonOf(rank.communicationOverlap) }, { "file", rank.file } });
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string decimals(double value, int count)
{
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", count, value);
    return text;
}

std::string summaryTable(const std::vector<RankSummary> &summary)
{
    using enum TextTable::Align;
    TextTable table({ Right, Right, Right, Right, Right, Right, Left },
        { "rank", "kernel time µs", "compute µs", "non-compute µs", "idle µs", "overlap %", "file" });
    for (const RankSummary &rank : summary) {
        const auto time = [&](std::int64_t TemporalBreakdown::*field) {
            return rank.breakdown ? std::to_string((*rank.breakdown).*field) : std::string("–");
        };
        table.add({ rank.rank >= 0 ? std::to_string(rank.rank) : "–", time(&TemporalBreakdown::kernelTime),
            time(&TemporalBreakdown::compute), time(&TemporalBreakdown::nonCompute), time(&TemporalBreakdown::idle),
            rank.communicationOverlap ? decimals(*rank.communicationOverlap * 100, 2) : "–", rank.file });
    }
    return table.text();
}

int run(const Options &options)
{
    Interruption interruption;
    const auto recording = readRun(options.sources, interruption.token());
    if (!recording)
        return recording.error().code == ErrorCode::Cancelled ? stoppedBefore("all files were read")
                                                              : fail({ recording.error() });
    const Errors faults = tellOf(*recording, options.sources);
    if (recording->ranks.empty()) {
        const std::string what = recording->sources.size() == 1 && recording->sources[0].refused.empty()
            ? std::string("it is a ") + nameOf(recording->sources[0].kind) + ": "
            : std::string();
        const Error none { ErrorCode::BadValue, options.sources.front(), what + "there is no rank of a run in it",
            "traces of PyTorch's profiler, or a folder of them" };
        return fail(faults.empty() ? Errors { none } : faults);
    }
    const std::vector<RankSummary> summary = summarize(*recording);
    const int printed = print(options.format == "json" ? summaryJson(summary) : summaryTable(summary), options.format);
    if (!faults.empty() && printed == kDone)
        return fail(faults);
    return printed;
}

} // namespace

void addTelemetryCommand(CLI::App &app, int &exitCode)
{
    const auto options = std::make_shared<Options>();
    const Subcommand telemetry(app, "telemetry", "Recordings of real runs");
    const Subcommand summarize(telemetry, "summarize",
        "How each rank's GPU spent its time: computation, communication and memory, nothing; as HTA counts it");
    summarize.texts("SOURCE", options->sources, "Traces of the ranks, recordings, or folders of them").required();
    addFormatOption(summarize, options->format, { "table", "json" });
    summarize.callback([options, &exitCode] { exitCode = run(*options); });
    addTelemetryCompare(telemetry, exitCode);
    addTelemetryCalibrate(telemetry, exitCode);
    addTelemetryVerdict(telemetry, exitCode);
}

} // namespace trainyard::cli
