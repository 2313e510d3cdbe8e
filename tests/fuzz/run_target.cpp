// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/run_target.h"

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan_io.h"
#include "core/runs/imports/plan_from_recording.h"
#include "core/runs/overlay/run_overlay.h"
#include "core/runs/overlay/run_steps.h"
#include "core/runs/telemetry/file/check_recording.h"
#include "core/runs/telemetry/readers.h"
#include "core/runs/telemetry/recording_file.h"
#include "tests/core/runs/telemetry/random_recording.h"
#include "tests/fuzz/recording_checks.h"
#include "tests/fuzz/seeds.h"

#include <algorithm>
#include <cmath>

namespace trainyard::fuzz {

namespace {

constexpr std::size_t kRunHead = std::size_t(64) << 10;

/// Parts of one recording: texts of several files in one input, so that they meet each other.
std::vector<Recording> readParts(const std::string &input)
{
    std::vector<Recording> parts;
    for (std::size_t at = 0; at <= input.size() && parts.size() < 4;) {
        const std::size_t end = std::min(input.find('\x1e', at), input.size());
        std::string text = input.substr(at, end - at);
        at = end + 1;
        const std::size_t size = text.size();
        const bool isJson = text.starts_with('{') || text.starts_with('[');
        const std::string file = "part" + std::to_string(parts.size())
            + (isJson                        ? ".json"
                    : text.starts_with("#!") ? ".sh"
                                             : ".log");
        text.append(kSourcePadding, '\0');
        const SourceText source { file, std::string_view(text).substr(0, size), std::int64_t(size), false };
        const SourceReader *reader = readerFor(file, source.text.substr(0, kRunHead));
        if (!reader)
            continue;
        auto part = reader->read(source, {});
        if (!part)
            continue;
        if (reader->kind != SourceKind::Recording)
            recording_file::dropOutOfBounds(*part);
        parts.push_back(std::move(*part));
    }
    return parts;
}

std::string faultOfShares(const RunOverlay &overlay)
{
    for (const DifferenceRow &row : overlay.differences.rows)
        if (!std::isfinite(row.measured) || !std::isfinite(row.reference))
            return "a difference that is no number";
    return overlay.step >= int(overlay.run->steps.size()) ? "a step that is none" : "";
}

std::string faultOfRun(Recording recording)
{
    const RunPtr run = makeRun(std::move(recording));
    if (!run)
        return "no run, though nobody stopped it";
    if (run->clockShift.size() != run->recording->ranks.size())
        return "ranks without a clock";
    if (const auto checked = recording_file::checkRecording(*run->recording); !checked)
        return "aligned, it is no recording: " + toString(checked.error());
    for (const RunStep &step : run->steps)
        if (!(step.seconds >= 0) || (step.hasSpans() && step.end < step.start))
            return "a step that ends before it starts";
    return faultOfShares(*overlayRun(nullptr, run, {}));
}

std::string faultOfMadePlan(const Recording &recording)
{
    static const Plan base = *parsePlan(R"({"cluster": {"datacenters": [{"id": "here", "pools":
        [{"gpu": "h100-sxm-80gb", "nodes": 2}]}]}, "workload": {"model": "llama-3-8b", "global_batch": 64}})",
        "base.json");
    const auto made = planFrom(recording, builtinCatalogue(), base);
    if (!made) {
        for (const Error &error : made.error())
            if (error.what.empty() || error.code == ErrorCode::Internal)
                return "an error is no help: " + toString(error);
        return made.error().empty() ? "refused without an error" : "";
    }
    return parsePlan(formatPlan(made->plan), "made.json") ? "" : "a plan that cannot be read back";
}

} // namespace

Outcome ranAndPlanned(const std::string &input)
{
    std::vector<Recording> parts = readParts(input);
    if (parts.empty())
        return {};
    const Recording recording = mergeRecordings(std::move(parts));
    if (const auto checked = recording_file::checkRecording(recording); !checked)
        return { true, "merged, it is no recording: " + toString(checked.error()) };
    if (std::string fault = faultOfMadePlan(recording); !fault.empty())
        return { true, fault };
    return { true, faultOfRun(recording) };
}

std::vector<std::string> runSeeds(const std::string &folder)
{
    std::vector<std::string> texts = readerSeeds(folder, "run");
    for (const char *family : { "kineto", "logs", "inputs" })
        for (std::string &text : readerSeeds(folder, family))
            texts.push_back(std::move(text));
    const std::size_t alone = texts.size();
    for (std::size_t i = 0; i + 1 < alone && i < 60; i += 3)
        texts.push_back(texts[i] + '\x1e' + texts[i + 1]);
    for (std::uint64_t seed = 1; seed <= 12; ++seed)
        if (const auto file = formatRecording(testing::RandomRecording(seed)()); file)
            texts.push_back(unpacked(*file));
    return texts;
}

} // namespace trainyard::fuzz
