// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry idle` and `telemetry queue`: why a GPU did nothing, and how far its host ran ahead of it.
#include "app/cli/command.h"
#include "app/cli/profile_text.h"
#include "app/cli/run_sources.h"
#include "app/cli/signals.h"

#include "core/base/text_table.h"
#include "core/runs/profile/idle_causes.h"
#include "core/runs/profile/launch_queue.h"

#include <algorithm>
#include <memory>

namespace trainyard::cli {

namespace {

struct TelemetryIdleOptions {
    std::vector<std::string> sources;
    std::string format;
    int kernelDelay = int(IdleOptions().kernelDelay);
};

struct TelemetryQueueOptions {
    std::vector<std::string> sources;
    std::string format;
    int buckets = 100;
};

std::string fileOf(const Recording &recording, std::uint32_t rank)
{
    const std::uint32_t source = recording.ranks[rank].source;
    return source < recording.sources.size() ? recording.sources[source].file : "a rank";
}

/// What files say, and why ranks have no figures.
template <class Rank> std::vector<std::string> notesOfRanks(const Recording &recording, const std::vector<Rank> &ranks)
{
    std::vector<std::string> notes = notesOfSources(recording);
    for (const Rank &rank : ranks)
        if (!rank.reason.empty())
            notes.push_back(fileOf(recording, rank.rank) + ": " + rank.reason);
    return notes;
}

/// Of no rank anything is told.
template <class Rank> Errors nothingOf(const std::vector<Rank> &ranks, const std::vector<std::string> &sources)
{
    if (std::ranges::any_of(ranks, [](const Rank &rank) { return rank.reason.empty(); }))
        return {};
    return { { ErrorCode::BadValue, sources.front(),
        ranks.size() == 1 ? ranks.front().reason : "no rank of it shows what this is about",
        "traces of PyTorch's profiler with kernels of a GPU and the calls that launched them" } };
}

Json idleJson(const RankRecording &rank, const IdleTime &time)
{
    Json json;
    tellStream(json, rank, time.stream);
    json["works"] = time.works;
    json["launches_told"] = time.launchesTold;
    json["length_ns"] = time.length();
    json["busy_ns"] = time.busy;
    json["idle_ns"] = time.idle.total();
    json["host_wait_ns"] = time.idle.hostWait;
    json["kernel_wait_ns"] = time.idle.kernelWait;
    json["other_ns"] = time.idle.other;
    return json;
}

/// What each rank says, whole and by stream, or why it says nothing. `Rank`: RankIdle or RankQueue.
template <class Rank, class Tell>
Json ranksJson(const Recording &recording, const std::vector<Rank> &ranks, const Tell &tell)
{
    Json all = Json::array();
    for (const Rank &rank : ranks) {
        Json one { { "rank", rankJson(recording, rank.rank) }, { "file", fileOf(recording, rank.rank) },
            { "reason", rank.reason.empty() ? Json(nullptr) : Json(rank.reason) }, { "whole", nullptr },
            { "streams", Json::array() } };
        if (rank.reason.empty())
            one["whole"] = tell(recording.ranks[rank.rank], rank.whole);
        for (const auto &stream : rank.streams)
            one["streams"].push_back(tell(recording.ranks[rank.rank], stream));
        all.push_back(std::move(one));
    }
    return all;
}

std::string idleJson(const Recording &recording, const std::vector<RankIdle> &ranks, std::int64_t kernelDelay,
    const std::vector<std::string> &notes)
{
    const auto tell = [](const RankRecording &rank, const IdleTime &time) { return idleJson(rank, time); };
    return jsonText(Json {
        { "kernel_delay_ns", kernelDelay }, { "ranks", ranksJson(recording, ranks, tell) }, { "notes", notes } });
}

std::string idleTable(
    const Recording &recording, const std::vector<RankIdle> &ranks, const std::vector<std::string> &notes)
{
    using enum TextTable::Align;
    TextTable table({ Right, Right, Right, Right, Right, Right, Right, Right },
        { "rank", "stream", "length", "busy", "idle", "host wait", "kernel wait", "other" });
    const auto add = [&](std::uint32_t rank, const IdleTime &time) {
        const auto text = [](std::int64_t nanoseconds) { return nanosecondsText(double(nanoseconds)); };
        table.add({ rankText(recording, rank), streamText(recording.ranks[rank], time.stream), text(time.length()),
            text(time.busy), text(time.idle.total()), text(time.idle.hostWait), text(time.idle.kernelWait),
            text(time.idle.other) });
    };
    for (const RankIdle &rank : ranks) {
        if (!rank.reason.empty())
            continue;
        add(rank.rank, rank.whole);
        for (const IdleTime &stream : rank.streams)
            add(rank.rank, stream);
    }
    return table.text() + notesText(notes);
}

int runTelemetryIdle(const TelemetryIdleOptions &options)
{
    Interruption interruption;
    const auto recording = readRanks(options.sources, interruption.token());
    if (!recording)
        return recording.error().front().code == ErrorCode::Cancelled ? stoppedBefore("all files were read")
                                                                      : fail(recording.error());
    const std::vector<RankIdle> ranks = idleByCause(*recording, { .kernelDelay = options.kernelDelay });
    const std::vector<std::string> notes = notesOfRanks(*recording, ranks);
    const int printed = print(options.format == "json" ? idleJson(*recording, ranks, options.kernelDelay, notes)
                                                       : idleTable(*recording, ranks, notes),
        options.format);
    const Errors faults = nothingOf(ranks, options.sources);
    return faults.empty() || printed != kDone ? printed : fail(faults);
}

Json queueJson(const RankRecording &rank, const LaunchQueue &queue)
{
    Json json;
    tellStream(json, rank, queue.stream);
    json["launched"] = queue.launched;
    json["untold"] = queue.untold;
    json["start_ns"] = queue.start;
    json["length_ns"] = queue.length();
    json["share_empty"] = queue.shareEmpty();
    json["mean"] = queue.mean();
    json["most"] = queue.most;
    Json over { { "end_ns", Json::array() }, { "mean", Json::array() }, { "most", Json::array() } };
    for (const QueueBucket &bucket : queue.buckets) {
        over["end_ns"].push_back(bucket.end);
        over["mean"].push_back(bucket.mean);
        over["most"].push_back(bucket.most);
    }
    json["over_time"] = std::move(over);
    return json;
}

std::string queueJson(
    const Recording &recording, const std::vector<RankQueue> &ranks, const std::vector<std::string> &notes)
{
    const auto tell = [](const RankRecording &rank, const LaunchQueue &queue) { return queueJson(rank, queue); };
    return jsonText(Json { { "ranks", ranksJson(recording, ranks, tell) }, { "notes", notes } });
}

std::string queueTable(
    const Recording &recording, const std::vector<RankQueue> &ranks, const std::vector<std::string> &notes)
{
    using enum TextTable::Align;
    TextTable table({ Right, Right, Right, Right, Right, Right, Right },
        { "rank", "stream", "launched", "length", "empty", "mean", "most" });
    const auto add = [&](std::uint32_t rank, const LaunchQueue &queue) {
        table.add({ rankText(recording, rank), streamText(recording.ranks[rank], queue.stream),
            wholeText(double(queue.launched)), nanosecondsText(double(queue.length())), percentText(queue.shareEmpty()),
            plainText(queue.mean()), wholeText(double(queue.most)) });
    };
    for (const RankQueue &rank : ranks) {
        if (!rank.reason.empty())
            continue;
        add(rank.rank, rank.whole);
        for (const LaunchQueue &stream : rank.streams)
            if (stream.launched > 0)
                add(rank.rank, stream);
    }
    return table.text() + notesText(notes);
}

int runTelemetryQueue(const TelemetryQueueOptions &options)
{
    Interruption interruption;
    const auto recording = readRanks(options.sources, interruption.token());
    if (!recording)
        return recording.error().front().code == ErrorCode::Cancelled ? stoppedBefore("all files were read")
                                                                      : fail(recording.error());
    const std::vector<RankQueue> ranks = launchQueues(*recording, options.buckets);
    const std::vector<std::string> notes = notesOfRanks(*recording, ranks);
    const int printed =
        print(options.format == "json" ? queueJson(*recording, ranks, notes) : queueTable(*recording, ranks, notes),
            options.format);
    const Errors faults = nothingOf(ranks, options.sources);
    return faults.empty() || printed != kDone ? printed : fail(faults);
}

} // namespace

void addTelemetryIdle(const Subcommand &telemetry, int &exitCode)
{
    const auto options = std::make_shared<TelemetryIdleOptions>();
    const Subcommand idle(telemetry, "idle",
        "Why each rank's GPU and its streams did nothing: waiting for the host, between kernels, for something else");
    idle.texts("SOURCE", options->sources, "Traces of the ranks, recordings, or folders of them").required();
    idle.number("--kernel-delay", options->kernelDelay,
            "Nanoseconds below which a gap before a kernel that was launched in time lies between kernels, as in HTA")
        .between(0, 1'000'000'000)
        .showingDefault();
    addFormatOption(idle, options->format, { "table", "json" });
    idle.callback([options, &exitCode] { exitCode = runTelemetryIdle(*options); });

    const auto asked = std::make_shared<TelemetryQueueOptions>();
    const Subcommand queue(telemetry, "queue",
        "How many kernels each rank's host had launched that had not started: over time, on each stream");
    queue.texts("SOURCE", asked->sources, "Traces of the ranks, recordings, or folders of them").required();
    queue.number("--buckets", asked->buckets, "Parts of the time for which JSON tells the length")
        .between(1, 100'000)
        .showingDefault();
    addFormatOption(queue, asked->format, { "table", "json" });
    queue.callback([asked, &exitCode] { exitCode = runTelemetryQueue(*asked); });
}

} // namespace trainyard::cli
