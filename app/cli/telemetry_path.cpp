// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry path`: the critical path of a measured step.
#include "app/cli/command.h"
#include "app/cli/profile_text.h"
#include "app/cli/run_sources.h"
#include "app/cli/signals.h"

#include "core/base/text_table.h"
#include "core/runs/profile/measured_path.h"

#include <algorithm>
#include <limits>
#include <memory>

namespace trainyard::cli {

namespace {

constexpr int kTypical = std::numeric_limits<int>::min();

struct TelemetryPathOptions {
    std::vector<std::string> sources;
    std::string format;
    int step = kTypical, top = 25;
    bool keepsHost = false;
};

Errors noStep(const std::string &where, const std::string &what)
{
    return { { ErrorCode::BadValue, where, what, "traces of PyTorch's profiler with kernels of a GPU" } };
}

/// The step that was asked for, and spans show.
ExpectedAll<const RunStep *> stepOf(const Run &run, const TelemetryPathOptions &options)
{
    const int index = options.step == kTypical ? run.typicalStep : stepIndex(run, options.step);
    if (options.step != kTypical && index < 0 && !run.steps.empty())
        return std::unexpected(
            Errors { { ErrorCode::BadValue, "--step " + std::to_string(options.step), "the run has no such step",
                "one from " + std::to_string(run.steps.front().number) + " to "
                    + std::to_string(run.steps.back().number) } });
    if (index < 0 || !run.steps[static_cast<std::size_t>(index)].hasSpans())
        return std::unexpected(noStep(options.sources.front(), "no spans show the step"));
    return &run.steps[static_cast<std::size_t>(index)];
}

std::string pathShare(double part, double whole)
{
    return percentText(whole > 0 ? part / whole : 0);
}

std::string pathTable(const Run &run, const RunStep &step, const MeasuredPath &path, int top)
{
    using enum TextTable::Align;
    const double seconds = double(path.end - path.start) * 1e-9;
    TextTable kinds({ Left, Right, Right }, { "step " + std::to_string(step.number) + " waited for", "time", "share" });
    for (std::size_t kind = 0; kind < kPathKinds; ++kind) {
        const double own = double(path.nanoseconds[kind]) * 1e-9;
        if (own > 0)
            kinds.add({ nameOf(static_cast<PathKind>(kind)), secondsText(own), pathShare(own, seconds) });
    }
    kinds.add({ "Step", secondsText(seconds), "" });
    TextTable rows({ Right, Right, Right, Left, Left }, { "time", "share", "count", "kind", "kernel" });
    const std::vector<PathShare> shares = sharesOfPath(*run.recording, path);
    const std::size_t shown = top <= 0 ? shares.size() : std::min(shares.size(), static_cast<std::size_t>(top));
    for (std::size_t i = 0; i < shown; ++i)
        rows.add({ secondsText(shares[i].seconds), pathShare(shares[i].seconds, seconds),
            wholeText(double(shares[i].count)), nameOf(shares[i].kind), kernelText(shares[i].name) });
    return kinds.text() + "\n" + rows.text() + "\nThe path has " + wholeText(double(path.pieces.size()))
        + " pieces and goes on on another rank " + wholeText(double(path.rankChanges)) + " times\n";
}

Json pathJson(const Run &run, const RunStep &step, const MeasuredPath &path, int top)
{
    const Recording &recording = *run.recording;
    Json json { { "step", step.number }, { "length_ns", path.end - path.start }, { "rank_changes", path.rankChanges },
        { "kinds", Json::object() }, { "kernels", Json::array() }, { "pieces", Json::array() } };
    for (std::size_t kind = 0; kind < kPathKinds; ++kind)
        json["kinds"][nameOf(static_cast<PathKind>(kind))] = path.nanoseconds[kind];
    const std::vector<PathShare> shares = sharesOfPath(recording, path);
    for (std::size_t i = 0; i < shares.size() && (top <= 0 || i < static_cast<std::size_t>(top)); ++i)
        json["kernels"].push_back({ { "name", shares[i].name }, { "kind", nameOf(shares[i].kind) },
            { "count", shares[i].count }, { "seconds", shares[i].seconds } });
    for (const PathPiece &piece : path.pieces) {
        Json one { { "kind", nameOf(piece.kind) }, { "rank", rankJson(recording, piece.rank) } };
        const bool isOfStream = piece.stream != kNoIndex;
        tellStream(one, recording.ranks[piece.rank], piece.stream);
        one["name"] = isOfStream
            ? Json(recording.names[recording.ranks[piece.rank].streams[piece.stream].spans.name[piece.span]])
            : Json(nullptr);
        one["start_ns"] = piece.start - path.start;
        one["duration_ns"] = piece.end - piece.start;
        json["pieces"].push_back(std::move(one));
    }
    return json;
}

int runTelemetryPath(const TelemetryPathOptions &options)
{
    Interruption interruption;
    const auto failed = [](const Errors &errors) {
        return errors.front().code == ErrorCode::Cancelled ? stoppedBefore("the path was found") : fail(errors);
    };
    auto recording = readRanks(options.sources, interruption.token(), options.keepsHost);
    if (!recording)
        return failed(recording.error());
    const RunPtr run = makeRun(*std::move(recording), interruption.token());
    if (interruption.token().stop_requested())
        return stoppedBefore("the path was found");
    const auto step = stepOf(*run, options);
    if (!step)
        return failed(step.error());
    const MeasuredPath path = measuredPath(*run, **step);
    if (path.pieces.empty())
        return fail(noStep(options.sources.front(), "no kernel of a GPU ends in the step"));
    std::vector<std::string> notes = notesOfSources(*run->recording);
    notes.insert(notes.end(), run->notes.begin(), run->notes.end());
    Json json = pathJson(*run, **step, path, options.top);
    json["notes"] = notes;
    return print(
        options.format == "json" ? jsonText(json) : pathTable(*run, **step, path, options.top) + notesText(notes),
        options.format);
}

} // namespace

void addTelemetryPath(const Subcommand &telemetry, int &exitCode)
{
    const auto options = std::make_shared<TelemetryPathOptions>();
    const Subcommand path(telemetry, "path",
        "What the step of a run waited for, from its end to its start: through launches, streams and collectives of "
        "all ranks");
    path.texts("SOURCE", options->sources, "Traces of the ranks, recordings, or folders of them").required();
    path.number("--step", options->step, "Number of the step; the typical one without it").shownAs("N");
    path.number("--top", options->top, "So many kernels; 0: all").between(0, 1'000'000).showingDefault();
    path.flag("--host", options->keepsHost, "Keep calls of the host: they tell where it waited for its GPU");
    addFormatOption(path, options->format, { "table", "json" });
    path.callback([options, &exitCode] { exitCode = runTelemetryPath(*options); });
}

} // namespace trainyard::cli
