// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/sweep_options.h"

#include "app/cli/command.h"
#include "app/cli/outputs.h"

#include "core/base/number_text.h"
#include "core/base/printable.h"

#include <algorithm>
#include <filesystem>
#include <limits>

namespace trainyard::cli {

namespace {

Expected<SweepFormat> formatOf(const SweepOptions &options)
{
    const bool isPrinted = options.out.empty() || options.out == "-";
    const auto ending = isPrinted ? std::nullopt : sweepFormatOf(options.out);
    if (!options.format.empty()) {
        const SweepFormat named = options.format == "jsonl" ? SweepFormat::JsonLines : SweepFormat::Csv;
        if (ending && *ending != named)
            return std::unexpected(Error { ErrorCode::BadValue, "--format " + options.format,
                "is not what the name of " + options.out + " says", "one of the two, or names that agree" });
        return named;
    }
    if (isPrinted)
        return SweepFormat::Csv;
    if (ending)
        return *ending;
    return std::unexpected(Error { ErrorCode::BadValue, "--out " + options.out, "does not say how to write rows",
        "a name that ends in .csv or .jsonl, or --format" });
}

} // namespace

void addSweepOptions(const Subcommand &command, SweepOptions &options)
{
    constexpr int kMost = std::numeric_limits<int>::max();
    command.text("PLAN", options.plan, "Plan file, or - for standard input").required();
    addSetOption(command, options.settings);
    command
        .texts("--vary", options.vary,
            "A key and its values: parallelism.tensor=1,2,4 or workload.global_batch=256..4096:*2 or =10..100:+10; may "
            "be repeated, and then every combination is a row")
        .shownAs("KEY=V1,V2,...")
        .oneEach()
        .required();
    command.number("--random", options.random, "So many of the combinations instead of all, none twice")
        .between(1, kMost)
        .shownAs("N");
    command.number("--seed", options.seed, "Of --random").between(0, kMost).shownAs("N").showingDefault();
    command.text("--out", options.out, "File of rows; without it they are printed").shownAs("OUT.csv|OUT.jsonl");
    command
        .text("--format", options.format,
            "How to write rows that are printed, or where the ending of --out does not say it; else csv")
        .oneOf({ "csv", "jsonl" });
    command.flag("--resume", options.resume, "Go on with the file that a sweep left, or begin it");
}

std::string Sweep::folder() const
{
    std::error_code failed;
    const auto file = std::filesystem::absolute(out == "-" ? "rows" : out, failed);
    return failed ? std::string() : file.lexically_normal().parent_path().string();
}

Expected<SweepFile> Sweep::openFile(bool resume) const
{
    return SweepFile::open(out, spec, format, resume ? SweepFile::Start::Resume : SweepFile::Start::New);
}

ExpectedAll<Sweep> preparedSweep(const SweepOptions &options)
{
    Errors errors;
    const auto format = formatOf(options);
    if (!format)
        errors.push_back(format.error());
    Sweep sweep { { nullptr, {}, std::uint64_t(options.random), std::uint64_t(options.seed) },
        format.value_or(SweepFormat::Csv), options.out.empty() ? "-" : options.out };
    if (options.resume && sweep.out == "-")
        errors.push_back({ ErrorCode::BadValue, "--resume", "there is no file to go on with", "--out OUT.csv" });
    for (const std::string &text : options.vary) {
        auto axis = parseVary(text);
        if (axis)
            sweep.spec.vary.push_back(std::move(*axis));
        else
            errors.push_back(std::move(axis.error()));
    }
    auto plan = loadPlan(options.plan, options.settings);
    if (!plan)
        errors.insert(errors.end(), plan.error().begin(), plan.error().end());
    if (!errors.empty())
        return std::unexpected(std::move(errors));
    sweep.spec.plan = std::move(*plan);
    errors = checkSweep(sweep.spec);
    if (sweep.out != "-") {
        const NamedFile output { "--out", sweep.out };
        for (const Errors &clashes :
            { outputClashes({ output }, { options.plan }), outputClashes({ output }, filesNamedIn(*sweep.spec.plan)) })
            errors.insert(errors.end(), clashes.begin(), clashes.end());
    }
    if (!errors.empty())
        return std::unexpected(std::move(errors));
    sweep.spec.inputs = sweepInputs(sweep.spec);
    if (!sweep.spec.inputs.empty()) {
        std::error_code failed;
        const auto base =
            std::filesystem::absolute(sweep.spec.plan->baseDir.empty() ? "." : sweep.spec.plan->baseDir, failed)
                .lexically_normal();
        sweep.spec.folder = base.lexically_relative(sweep.folder()).generic_string();
    }
    return sweep;
}

std::string sentenceOf(const SweepEnd &end, const SweepSpec &spec)
{
    std::string text = wholeText(double(end.counts.all())) + (end.counts.all() == 1 ? " row: " : " rows: ")
        + wholeText(double(end.counts.feasible)) + " feasible, " + wholeText(double(end.counts.infeasible))
        + " infeasible, " + wholeText(double(end.counts.refused)) + " refused";
    if (end.there > 0)
        text += "; " + wholeText(double(end.there)) + " were there";
    if (spec.random > spec.combinations())
        text += "; these are all combinations, fewer than the " + wholeText(double(spec.random)) + " of --random";
    return text;
}

std::string quotedForShell(const std::string &word)
{
    const auto isPlain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
            || std::string_view("-_./:=,+%@").find(c) != std::string_view::npos;
    };
    if (!word.empty() && std::ranges::all_of(word, isPlain))
        return word;
    if (printable(word) != word) { // as bash writes what no terminal may obey
        std::string quoted = "$'";
        for (const char c : word) {
            const auto byte = static_cast<unsigned char>(c);
            const bool isPlainByte = byte >= 0x20 && byte < 0x7f && c != '\'' && c != '\\';
            quoted += isPlainByte
                ? std::string(1, c)
                : std::string { '\\', char('0' + byte / 64), char('0' + byte / 8 % 8), char('0' + byte % 8) };
        }
        return quoted + "'";
    }
    std::string quoted = "'";
    for (const char c : word)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string resumeLine(const std::string &program, const SweepOptions &options)
{
    std::string line = program + " " + quotedForShell(options.plan);
    for (const std::string &setting : options.settings)
        line += " --set " + quotedForShell(setting);
    for (const std::string &text : options.vary)
        line += " --vary " + quotedForShell(text);
    if (options.random > 0)
        line += " --random " + std::to_string(options.random) + " --seed " + std::to_string(options.seed);
    if (!options.format.empty())
        line += " --format " + options.format;
    return line + " --out " + quotedForShell(options.out) + " --resume";
}

} // namespace trainyard::cli
