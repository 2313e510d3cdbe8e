// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/run_sources.h"

#include "app/cli/command.h"
#include "app/cli/progress.h"
#include "core/base/printable.h"
#include "core/base/ranges_text.h"
#include "core/runs/telemetry/line_pattern.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <thread>

namespace trainyard::cli {

namespace {

void tell(const std::string &file, const std::string &what)
{
    std::cerr << toString({ ErrorCode::BadSyntax, file, shortened(what, 400), "" }) << '\n';
}

} // namespace

void addLinePatternOption(const Subcommand &command, std::string &pattern)
{
    command
        .text("--line-pattern", pattern,
            "Regular expression of the lines of a log of another tool, with groups (?<step>…), (?<time>…) of a step, "
            "(?<tokens>…) per second, (?<tokens_per_gpu>…), (?<loss>…), (?<memory>…) of a GPU; a unit may end a name: "
            "(?<time_ms>…)")
        .shownAs("PATTERN");
}

Expected<Recording> readRun(const std::vector<std::string> &sources, const std::stop_token &stop,
    const std::string &linePattern, bool keepsHost)
{
    SourceOptions reading;
    reading.stop = stop;
    reading.keepsHostSpans = keepsHost;
    if (!linePattern.empty()) {
        auto pattern = LinePattern::parse(linePattern);
        if (!pattern) {
            pattern.error().where = "--line-pattern";
            return std::unexpected(pattern.error());
        }
        reading.linePattern = std::make_shared<const LinePattern>(*std::move(pattern));
    }
    Progress progress("files");
    auto recording = readSources(sources, reading, static_cast<int>(std::thread::hardware_concurrency()),
        { [&](std::size_t done, std::size_t all, double) { progress.show(done, all); } });
    progress.clear();
    return recording;
}

ExpectedAll<Recording> readRanks(const std::vector<std::string> &sources, const std::stop_token &stop, bool keepsHost)
{
    auto recording = readRun(sources, stop, {}, keepsHost);
    if (!recording)
        return std::unexpected(Errors { recording.error() });
    if (Errors faults = tellOf(*recording, sources); !faults.empty())
        return std::unexpected(std::move(faults));
    if (!recording->ranks.empty())
        return *std::move(recording);
    const std::string what = recording->sources.size() == 1 && recording->sources[0].refused.empty()
        ? std::string("it is a ") + nameOf(recording->sources[0].kind) + ": "
        : std::string();
    return std::unexpected(Errors { { ErrorCode::BadValue, sources.front(), what + "there is no rank of a run in it",
        "traces of PyTorch's profiler, or a folder of them" } });
}

Errors tellOf(const Recording &recording, const std::vector<std::string> &named)
{
    Errors faults;
    for (const RecordedSource &source : recording.sources) {
        const bool isNamed = std::ranges::find(named, source.file) != named.end();
        if (!source.refused.empty() && isNamed)
            faults.push_back({ ErrorCode::BadSyntax, source.file, source.refused,
                source.mayTakeLinePattern
                    ? "a log of a known tool, or --line-pattern, which says what stands where in its lines"
                    : "" });
        else if (!source.refused.empty())
            tell(source.file, source.refused);
        else if (source.isTruncated)
            tell(source.file, "it ends early; what it has was read");
    }
    return faults;
}

std::vector<std::string> notesOfSources(const Recording &recording)
{
    std::vector<std::string> notes;
    for (const RecordedSource &source : recording.sources)
        if (source.isTruncated && source.refused.empty())
            notes.push_back(source.file + " ends early: times and steps are those of what it has");
    std::map<int, std::vector<std::string>> filesOf;
    for (const RankRecording &rank : recording.ranks)
        if (rank.rank >= 0)
            filesOf[rank.rank].push_back(
                rank.source < recording.sources.size() ? recording.sources[rank.source].file : "a file");
    std::vector<std::int64_t> repeated;
    for (const auto &[rank, files] : filesOf)
        if (files.size() > 1)
            repeated.push_back(rank);
    if (!repeated.empty()) {
        const std::vector<std::string> &files = filesOf[static_cast<int>(repeated.front())];
        notes.push_back((repeated.size() == 1 ? "Rank " : "Ranks ") + rangesText(repeated)
            + (repeated.size() == 1 ? " is" : " are") + " told by more than one file (" + files[0] + " and " + files[1]
            + (files.size() > 2 ? ", …" : "")
            + "): all are kept. If they are not of one run, name the files of one only");
    }
    return notes;
}

bool hasAnything(const Recording &recording)
{
    return !recording.ranks.empty() || !recording.series.empty() || !recording.benchmarks.empty()
        || !recording.kernels.empty() || !recording.arguments.empty() || !recording.models.empty()
        || !recording.nodes.empty() || !recording.switches.empty() || !recording.prices.empty();
}

int stoppedBefore(const char *before)
{
    std::cerr << "stopped before " << before << '\n';
    return kInterrupted;
}

} // namespace trainyard::cli
