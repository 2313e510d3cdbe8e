// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry summarize`: how each rank of a recorded run spent its time.
#include "app/cli/command.h"
#include "app/cli/progress.h"
#include "app/cli/signals.h"

#include "core/base/printable.h"
#include "core/report/text_table.h"
#include "core/telemetry/read_sources.h"
#include "core/telemetry/summarize.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <thread>

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

void tell(const std::string &file, const std::string &what)
{
    std::cerr << toString({ ErrorCode::BadSyntax, file, shortened(what, 400), "" }) << '\n';
}

/// Tells on standard error what was refused or ends early. A file that was named itself, and is none of a run, is a
/// fault; one that lay in a folder is not.
Errors tellOf(const Recording &recording, const std::vector<std::string> &named)
{
    Errors faults;
    for (const RecordedSource &source : recording.sources) {
        const bool isNamed = std::ranges::find(named, source.file) != named.end();
        if (!source.refused.empty() && isNamed)
            faults.push_back({ ErrorCode::BadSyntax, source.file, source.refused, "" });
        else if (!source.refused.empty())
            tell(source.file, source.refused);
        else if (source.isTruncated)
            tell(source.file, "it ends early; what it has was read");
    }
    return faults;
}

int run(const Options &options)
{
    Interruption interruption;
    SourceOptions reading;
    reading.stop = interruption.token();
    Progress progress("files");
    const auto recording = readSources(options.sources, reading, static_cast<int>(std::thread::hardware_concurrency()),
        { [&](std::size_t done, std::size_t all, double) { progress.show(done, all); } });
    progress.clear();
    if (!recording) {
        if (recording.error().code != ErrorCode::Cancelled)
            return fail({ recording.error() });
        std::cerr << "stopped before all files were read\n";
        return kInterrupted;
    }
    const Errors faults = tellOf(*recording, options.sources);
    if (recording->ranks.empty()) {
        const Error none { ErrorCode::BadValue, options.sources.front(), "there is no rank of a run in it",
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
    summarize.texts("SOURCE", options->sources, "Traces of the ranks, or folders of them").required();
    addFormatOption(summarize, options->format, { "table", "json" });
    summarize.callback([options, &exitCode] { exitCode = run(*options); });
}

} // namespace trainyard::cli
