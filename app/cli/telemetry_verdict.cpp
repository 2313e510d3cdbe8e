// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry verdict`: what a run's files alone say of it: its plan, the prediction, the measured steps, and why they
// differ.
#include "app/cli/command.h"
#include "app/cli/json_values_internal.h"
#include "app/cli/run_sources.h"
#include "app/cli/run_text.h"
#include "app/cli/signals.h"

#include "core/base/number_text.h"
#include "core/base/text_table.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/runs/overlay/judge_run.h"
#include "core/runs/overlay/run_signs.h"

#include <cmath>

namespace trainyard::cli {

namespace {

struct TelemetryVerdictOptions {
    std::vector<std::string> sources, settings;
    std::string plan, base, format, linePattern;
};

std::string partsTable(const RunVerdict &verdict)
{
    using enum TextTable::Align;
    TextTable text({ Left, Right, Right, Right, Left }, { "part", "predicted", "measured", "difference", "from" });
    for (const VerdictPart &part : verdict.parts)
        text.add({ part.what, secondsText(part.predicted), secondsText(part.measured),
            signedSeconds(part.measured - part.predicted), oneLine(part.evidence) });
    text.add({ "Step", secondsText(verdict.predictedSeconds), secondsText(verdict.measuredSeconds),
        signedSeconds(verdict.measuredSeconds - verdict.predictedSeconds), "" });
    return text.text();
}

std::string stagesTable(const RunVerdict &verdict)
{
    using enum TextTable::Align;
    TextTable text({ Left, Right, Right, Right, Right, Right },
        { "computing of", "ranks", "predicted", "measured", "beside others", "costs" });
    for (const StageInRun &one : verdict.stages)
        text.add({ "stage " + std::to_string(one.stage + 1), wholeText(one.ranks), secondsText(one.planned),
            secondsText(one.measured), (one.ratio < 1 ? "−" : "+") + percentText(std::abs(one.ratio - 1)),
            one.seconds > 0 ? secondsText(one.seconds) : "" });
    return "\n" + text.text();
}

std::string signedBytes(double bytes)
{
    if (std::abs(bytes) < 0.5)
        return "0 B";
    return (bytes > 0 ? "+" : "−") + bytesText(std::abs(bytes));
}

std::string memoryTable(const MemoryVerdict &memory)
{
    using enum TextTable::Align;
    TextTable text({ Left, Right, Right, Right, Left },
        { "memory of " + oneLine(memory.of), "predicted", "measured", "difference", "from" });
    for (const VerdictPart &part : memory.parts)
        text.add({ part.what, bytesText(part.predicted), bytesText(part.measured),
            signedBytes(part.measured - part.predicted), oneLine(part.evidence) });
    const std::string level = nameOf(memory.level);
    text.add({ "All " + level, bytesText(memory.predictedBytes), bytesText(memory.measuredBytes),
        signedBytes(memory.measuredBytes - memory.predictedBytes), "" });
    return "\n" + text.text();
}

/// Of what typically is behind it, and in doubt, after the same of the step.
std::vector<std::string> joined(const std::vector<std::string> &ofStep, const std::vector<std::string> &ofMemory)
{
    std::vector<std::string> all = ofStep;
    for (const std::string &one : ofMemory)
        all.push_back("Memory: " + one);
    return all;
}

std::optional<double> memoryOf(const JudgedRun &judged)
{
    const auto sign = fullestMemory(*judged.run->recording, *judged.evaluation);
    return sign ? std::optional(sign->bytes) : std::nullopt;
}

std::string predictionText(const JudgedRun &judged)
{
    const Metrics &metrics = judged.evaluation->metrics;
    std::string text = metrics.iterationTime ? "The plan predicts " + secondsText(*metrics.iterationTime) + " a step"
                                             : std::string("The plan predicts no step");
    if (metrics.memory)
        text += ", and " + bytesText(double(metrics.memory->peak)) + " on the fullest GPU";
    text += "\n";
    const bool isJudged = judged.verdict && judged.verdict->memory;
    if (const auto memory = isJudged ? std::nullopt : memoryOf(judged))
        text += "The run's fullest GPU held " + bytesText(*memory) + "\n";
    return text;
}

std::string verdictTable(const JudgedRun &judged)
{
    std::string text;
    const RunVerdict *verdict = judged.verdict ? &*judged.verdict : nullptr;
    const MemoryVerdict none, &memory = verdict && verdict->memory ? *verdict->memory : none;
    if (verdict)
        text += verdict->headline + "\n";
    const bool isCompared = !verdict || verdict->isCompared;
    if (verdict && verdict->isTimed && isCompared)
        text += "\n" + partsTable(*verdict);
    if (verdict && !verdict->stages.empty())
        text += stagesTable(*verdict);
    if (verdict && verdict->memory) {
        text += isCompared ? memoryTable(memory) : std::string();
        if (verdict->isTimed)
            text += "\nMemory: " + memory.headline + "\n";
    }
    if (isCompared)
        text += (text.empty() ? "" : "\n") + predictionText(judged);
    if (verdict)
        text += section("Typical causes", joined(verdict->causes, memory.causes))
            + section("Doubts", joined(verdict->doubts, memory.doubts));
    if (judged.imported) {
        if (!judged.verdict)
            text += section("Assumed", judged.imported->assumed);
        text += section("The plan is made of", judged.imported->taken)
            + section("Not understood", judged.imported->notUnderstood) + section("Ignored", judged.imported->ignored);
    }
    return text;
}

Json memoryJson(const MemoryVerdict &memory)
{
    Json parts = Json::array();
    for (const VerdictPart &part : memory.parts)
        parts.push_back({ { "part", part.what }, { "predicted_bytes", part.predicted },
            { "measured_bytes", part.measured }, { "evidence", part.evidence } });
    return { { "headline", memory.headline }, { "of", memory.of }, { "level", nameOf(memory.level) },
        { "predicted_bytes", memory.predictedBytes }, { "measured_bytes", memory.measuredBytes },
        { "parts", std::move(parts) }, { "causes", memory.causes }, { "doubts", memory.doubts } };
}

std::string verdictJson(const JudgedRun &judged)
{
    const Metrics &metrics = judged.evaluation->metrics;
    Json json { { "headline", nullptr }, { "in_range", nullptr }, { "predicted_s", jsonOrNull(metrics.iterationTime) },
        { "measured_s", nullptr },
        { "range_s", { jsonOrNull(metrics.confidence.iterationLow), jsonOrNull(metrics.confidence.iterationHigh) } },
        { "confidence", metrics.confidence.label }, { "parts", Json::array() }, { "stages", Json::array() },
        { "ranked", Json::array() }, { "causes", Json::array() }, { "doubts", Json::array() } };
    if (judged.verdict) {
        const RunVerdict &verdict = *judged.verdict;
        json["headline"] = verdict.headline;
        if (verdict.isTimed) {
            json["in_range"] = verdict.isInRange;
            json["predicted_s"] = verdict.isCompared ? Json(verdict.predictedSeconds) : Json(nullptr);
            json["measured_s"] = verdict.measuredSeconds;
        }
        for (const VerdictPart &part : verdict.parts)
            json["parts"].push_back({ { "part", part.what }, { "predicted_s", part.predicted },
                { "measured_s", part.measured }, { "evidence", part.evidence } });
        json["causes"] = verdict.causes;
        for (const RankedCause &one : verdict.ranked)
            json["ranked"].push_back(
                { { "cause", nameOf(one.kind) }, { "stage", one.stage >= 0 ? Json(one.stage + 1) : Json(nullptr) },
                    { "rank", one.rank >= 0 ? Json(one.rank) : Json(nullptr) }, { "where", one.where },
                    { "ratio", one.ratio > 0 ? Json(one.ratio) : Json(nullptr) }, { "costs_s", one.seconds } });
        for (const StageInRun &one : verdict.stages)
            json["stages"].push_back(
                { { "stage", one.stage + 1 }, { "ranks", one.ranks }, { "predicted_s", one.planned },
                    { "measured_s", one.measured }, { "beside_others", one.ratio }, { "costs_s", one.seconds } });
        json["doubts"] = verdict.doubts;
    }
    json["feasible"] = judged.evaluation->feasible();
    json["steps"] = judged.run->steps.size();
    const MemoryVerdict *memory = judged.verdict && judged.verdict->memory ? &*judged.verdict->memory : nullptr;
    json["memory_bytes"] = { { "predicted", metrics.memory ? Json(metrics.memory->peak) : Json(nullptr) },
        { "measured", jsonOrNull(memoryOf(judged)) } };
    if (memory)
        json["memory_bytes"] = { { "predicted", memory->predictedBytes }, { "measured", memory->measuredBytes } };
    json["memory"] = memory ? memoryJson(*memory) : Json(nullptr);
    json["plan"] = judged.imported
        ? Json { { "taken", judged.imported->taken }, { "assumed", judged.imported->assumed },
              { "not_understood", judged.imported->notUnderstood }, { "ignored", judged.imported->ignored } }
        : Json(nullptr);
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// An empty path: none.
ExpectedAll<PlanPtr> maybePlan(const std::string &path)
{
    return path.empty() ? ExpectedAll<PlanPtr>(nullptr) : loadPlan(path);
}

int runTelemetryVerdict(const TelemetryVerdictOptions &options)
{
    if (!options.plan.empty() && !options.base.empty())
        return fail({ { ErrorCode::BadValue, "--base " + options.base, "is of no use beside --plan",
            "--base, which has what the sources do not tell, or --plan, which has all" } });
    Interruption interruption;
    JudgeOptions asked;
    asked.stop = interruption.token();
    for (const auto &[path, plan] : { std::pair(&options.plan, &asked.plan), std::pair(&options.base, &asked.base) }) {
        auto loaded = maybePlan(*path);
        if (!loaded)
            return fail(loaded.error());
        *plan = *std::move(loaded);
        if (*plan)
            if (const Errors refused = refusedForJobs(**plan, *path, "a verdict is about"); !refused.empty())
                return fail(refused);
    }
    if (!options.settings.empty())
        asked.amend = [&](Plan plan) { return withSettings(std::move(plan), options.settings); };
    auto recording = readRun(options.sources, interruption.token(), options.linePattern);
    if (!recording)
        return recording.error().code == ErrorCode::Cancelled ? stoppedBefore("all files were read")
                                                              : fail({ recording.error() });
    if (const Errors faults = tellOf(*recording, options.sources); !faults.empty())
        return fail(faults);
    if (recording->sources.empty())
        return fail({ { ErrorCode::CannotRead, options.sources.front(), "there is no file in it",
            "logs, traces or arguments of a run" } });
    const auto judged = judgeRun(*std::move(recording), builtinCatalogue(), asked);
    if (!judged)
        return judged.error().front().code == ErrorCode::Cancelled
            ? stoppedBefore("the run was judged")
            : fail(options.plan.empty() ? judged.error() : inFile(judged.error(), options.plan));
    const int printed = print(options.format == "json" ? verdictJson(*judged) : verdictTable(*judged), options.format);
    if (judged->verdict || printed != kDone)
        return printed;
    Error why = judged->verdict.error();
    why.where = options.sources.front() + ": " + why.where;
    return fail({ why });
}

} // namespace

void addTelemetryVerdict(const Subcommand &telemetry, int &exitCode)
{
    const auto options = std::make_shared<TelemetryVerdictOptions>();
    const Subcommand verdict(telemetry, "verdict",
        "What a run's files alone tell: its plan, what that predicts, what was measured, and where they differ");
    verdict.texts("SOURCE", options->sources, "Logs, traces, arguments, recordings of the run, or folders of them")
        .required();
    verdict.text("--plan", options->plan, "Plan that the run is judged by, instead of the one its files tell of")
        .shownAs("PLAN");
    verdict.text("--base", options->base, "Plan that has what the files do not tell").shownAs("PLAN");
    addLinePatternOption(verdict, options->linePattern);
    addSetOption(verdict, options->settings);
    addFormatOption(verdict, options->format, { "table", "json" });
    verdict.callback([options, &exitCode] { exitCode = runTelemetryVerdict(*options); });
}

} // namespace trainyard::cli
