// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry kernels`: the kernels of a run, the longest first; or what became of them in another run.
#include "app/cli/command.h"
#include "app/cli/profile_text.h"
#include "app/cli/run_sources.h"
#include "app/cli/run_text.h"
#include "app/cli/signals.h"

#include "core/base/text_table.h"
#include "core/runs/profile/kernel_table.h"

#include <algorithm>
#include <memory>

namespace trainyard::cli {

namespace {

struct TelemetryKernelsOptions {
    std::vector<std::string> sources, against;
    std::string format;
    int top = 25;
    bool byName = false, perStep = false;
};

std::size_t shownOf(std::size_t rows, int top)
{
    return top <= 0 ? rows : std::min(rows, static_cast<std::size_t>(top));
}

std::string kernelsTable(const KernelTable &kernels, int top)
{
    using enum TextTable::Align;
    const auto share = [&](double time) { return percentText(kernels.total > 0 ? time / kernels.total : 0); };
    TextTable kinds({ Left, Right, Right, Right }, { "kind", "count", "time", "share" });
    for (std::size_t kind = 0; kind < kWorkKinds; ++kind)
        if (const KernelTable::Kind &one = kernels.kinds[kind]; one.count > 0)
            kinds.add({ idOf(static_cast<RecordedWork>(kind)), wholeText(double(one.count)), nanosecondsText(one.total),
                share(one.total) });
    TextTable rows({ Right, Right, Right, Right, Left, Left, Left },
        { "time", "share", "count", "mean", "kind", "kernel", "grid × block" });
    const std::size_t shown = shownOf(kernels.rows.size(), top);
    for (std::size_t i = 0; i < shown; ++i) {
        const KernelRow &row = kernels.rows[i];
        rows.add({ nanosecondsText(row.total), share(row.total), wholeText(double(row.count)),
            nanosecondsText(row.mean()), idOf(row.work), kernelText(row.name), row.shape });
    }
    std::string text = kinds.text() + "\n" + rows.text();
    if (shown < kernels.rows.size())
        text += "… and " + wholeText(double(kernels.rows.size() - shown)) + " more (--top 0 shows all)\n";
    return text;
}

Json kernelsJson(const KernelTable &kernels, int top)
{
    Json json { { "ranks", kernels.ranks }, { "rank_steps", kernels.rankSteps }, { "total_ns", kernels.total },
        { "kinds", Json::object() }, { "kernels", Json::array() } };
    for (std::size_t kind = 0; kind < kWorkKinds; ++kind)
        if (const KernelTable::Kind &one = kernels.kinds[kind]; one.count > 0)
            json["kinds"][idOf(static_cast<RecordedWork>(kind))] = { { "count", one.count },
                { "total_ns", one.total } };
    for (std::size_t i = 0; i < shownOf(kernels.rows.size(), top); ++i) {
        const KernelRow &row = kernels.rows[i];
        json["kernels"].push_back({ { "name", row.name }, { "shape", row.shape }, { "kind", idOf(row.work) },
            { "count", row.count }, { "total_ns", row.total }, { "mean_ns", row.mean() }, { "least_ns", row.least },
            { "most_ns", row.most } });
    }
    return json;
}

std::string changesTable(const KernelDifferences &differences, int top)
{
    using enum TextTable::Align;
    TextTable rows({ Left, Right, Right, Right, Right, Right, Left, Left },
        { "", "difference", "by count", "by mean", "count", "mean", "kernel", "grid × block" });
    const std::size_t shown = shownOf(differences.rows.size(), top);
    const auto pair = [](const std::string &before, const std::string &after) {
        return before == after ? before : before + " → " + after;
    };
    for (std::size_t i = 0; i < shown; ++i) {
        const KernelDifference &row = differences.rows[i];
        const auto mean = [](double count, double value) { return count > 0 ? nanosecondsText(value) : "–"; };
        rows.add({ nameOf(row.change), signedSeconds(row.difference() * 1e-9), signedSeconds(row.byCount * 1e-9),
            signedSeconds(row.byMean * 1e-9), pair(plainText(row.countBefore), plainText(row.countAfter)),
            pair(mean(row.countBefore, row.meanBefore()), mean(row.countAfter, row.meanAfter())), kernelText(row.name),
            row.shape });
    }
    double rest = 0;
    for (std::size_t i = shown; i < differences.rows.size(); ++i)
        rest += differences.rows[i].difference();
    if (shown < differences.rows.size())
        rows.add({ "", signedSeconds(rest * 1e-9), "", "", "", "",
            "… " + wholeText(double(differences.rows.size() - shown)) + " more", "" });
    rows.add({ "All", signedSeconds((differences.after - differences.before) * 1e-9), "", "", "",
        nanosecondsText(differences.before) + " → " + nanosecondsText(differences.after), "", "" });
    return rows.text();
}

Json changesJson(const KernelDifferences &differences, int top)
{
    Json json { { "per_step", differences.isPerStep }, { "before_ns", differences.before },
        { "after_ns", differences.after }, { "kernels", Json::array() } };
    for (std::size_t i = 0; i < shownOf(differences.rows.size(), top); ++i) {
        const KernelDifference &row = differences.rows[i];
        json["kernels"].push_back({ { "name", row.name }, { "shape", row.shape }, { "kind", idOf(row.work) },
            { "change", nameOf(row.change) }, { "count_before", row.countBefore }, { "count_after", row.countAfter },
            { "before_ns", row.before }, { "after_ns", row.after }, { "difference_ns", row.difference() },
            { "by_count_ns", row.byCount }, { "by_mean_ns", row.byMean } });
    }
    return json;
}

/// Sums of runs of other sizes do not compare.
std::vector<std::string> notesOfSizes(const KernelTable &before, const KernelTable &after, bool isPerStep)
{
    if (isPerStep || before.rankSteps == after.rankSteps)
        return {};
    return { "The first run has " + wholeText(double(before.rankSteps)) + " steps of ranks and the second "
        + wholeText(double(after.rankSteps)) + ": --per-step compares one step of one rank" };
}

int runTelemetryKernels(const TelemetryKernelsOptions &options)
{
    Interruption interruption;
    const auto read = [&](const std::vector<std::string> &sources) { return readRanks(sources, interruption.token()); };
    const auto failed = [](const Errors &errors) {
        return errors.front().code == ErrorCode::Cancelled ? stoppedBefore("all files were read") : fail(errors);
    };
    const auto recording = read(options.sources);
    if (!recording)
        return failed(recording.error());
    const KernelTable kernels = kernelTable(*recording, !options.byName);
    if (kernels.rows.empty())
        return fail({ { ErrorCode::BadValue, options.sources.front(), "there is no kernel of a GPU in it",
            "traces of PyTorch's profiler with kernels of a GPU" } });
    std::vector<std::string> notes = notesOfSources(*recording);
    if (options.against.empty()) {
        Json json = kernelsJson(kernels, options.top);
        json["notes"] = notes;
        return print(options.format == "json" ? jsonText(json) : kernelsTable(kernels, options.top) + notesText(notes),
            options.format);
    }
    const auto earlier = read(options.against);
    if (!earlier)
        return failed(earlier.error());
    const KernelTable before = kernelTable(*earlier, !options.byName);
    const KernelDifferences differences = kernelDifferences(before, kernels, options.perStep);
    for (const std::string &note : notesOfSources(*earlier))
        notes.push_back(note);
    for (const std::string &note : notesOfSizes(before, kernels, options.perStep))
        notes.push_back(note);
    Json json = changesJson(differences, options.top);
    json["notes"] = notes;
    return print(options.format == "json" ? jsonText(json) : changesTable(differences, options.top) + notesText(notes),
        options.format);
}

} // namespace

void addTelemetryKernels(const Subcommand &telemetry, int &exitCode)
{
    const auto options = std::make_shared<TelemetryKernelsOptions>();
    const Subcommand kernels(telemetry, "kernels",
        "The kernels of a run by name and shape, the longest first, and shares by kind; with --against what became of "
        "those of another run");
    kernels.texts("SOURCE", options->sources, "Traces of the ranks, recordings, or folders of them").required();
    kernels.texts("--against", options->against, "Of the run before: its kernels less than those of SOURCE")
        .oneEach()
        .shownAs("SOURCE");
    kernels.flag("--per-step", options->perStep, "With --against: of one step of one rank");
    kernels.flag("--by-name", options->byName, "Kernels of one name are one row, whatever their grid and block");
    kernels.number("--top", options->top, "So many rows; 0: all").between(0, 1'000'000).showingDefault();
    addFormatOption(kernels, options->format, { "table", "json" });
    kernels.callback([options, &exitCode] { exitCode = runTelemetryKernels(*options); });
}

} // namespace trainyard::cli
