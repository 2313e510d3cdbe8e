// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/collective_names.h"
#include "core/runs/telemetry/readers/loose_json.h"
#include "core/runs/telemetry/readers/nccl_tests.h"
#include "core/runs/telemetry/readers/nccl_tests_section.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <filesystem>

namespace trainyard::readers {

namespace {

/// The program's name is the first argument; nothing else of the arguments is looked at.
std::string operationOf(LooseJsonValue root, const std::string &file)
{
    namespace fs = std::filesystem;
    std::string named = collectiveIn(fs::path(root["args"].first().text()).filename().string());
    return named.empty() ? collectiveIn(fs::path(file).filename().string()) : named;
}

void addBlock(LooseJsonValue row, const char *name, NcclTestsSection &section, RecordingBuilder &scribe)
{
    const LooseJsonValue block = row[name];
    if (!block || block.isNull())
        return;
    const bool isCpuTime = bool(block["cpu_time"]);
    const auto time = block[isCpuTime ? "cpu_time" : "time"].number(), bytes = row["size"].number();
    const auto algorithm = block["alg_bw"].number(), bus = block["bus_bw"].number();
    if (!time || !bytes || !algorithm || !bus || !(*time > 0) || !(*bytes > 0) || !(*algorithm >= 0) || !(*bus >= 0))
        return scribe.drop("measurements of no bytes or no time");
    if (block["nwrong"].numberOr(0) > 0)
        return scribe.drop("measurements with wrong results");
    section.add({ .bytes = *bytes,
        .microseconds = *time,
        .algorithm = *algorithm,
        .bus = *bus,
        .isInPlace = std::string_view(name) == "in_place",
        .isCpuTime = isCpuTime,
        .reduction = row["redop"].text(),
        .root = row["root"].integer().value_or(-1) });
}

} // namespace

int looksLikeNcclTestsJson(std::string_view, std::string_view head)
{
    const std::string_view begin = trimmed(head.substr(0, 256));
    if (!begin.starts_with('{'))
        return 0;
    const auto has = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
    if (has("\"nccl_version\"") && has("\"config\"") && (has("\"minimum_bytes\"") || has("\"aggregated_iterations\"")))
        return 95;
    // a long environment stands before all else
    return has("\"version\"") && has("\"start_time\"") && has("\"args\"") && has("\"env\"") && has("_perf") ? 80 : 0;
}

Expected<Recording> readNcclTestsJson(const SourceText &source, const SourceOptions &)
{
    LooseJson json;
    if (!json.read(source.text))
        return refusal(source, "It is no JSON of nccl-tests");
    RecordingBuilder scribe(source, SourceKind::NcclTestsJson);
    const LooseJsonValue root = json.root(), config = root["config"];
    NcclTestsSection section;
    section.operation = operationOf(root, source.file);
    for (const LooseJsonValue device : config["devices"])
        section.addRank(device["rank"].integer().value_or(-1), device["group"].integer().value_or(0),
            device["hostname"].raw(), device["device"].integer().value_or(-1));
    const auto perProcess = [&](const char *key) {
        return std::clamp<std::int64_t>(config[key].integer().value_or(1), 1, 64);
    };
    section.setRanksPerProcess(std::min<std::int64_t>(perProcess("nthreads") * perProcess("ngpus"), 64));
    std::int64_t rows = 0;
    for (const LooseJsonValue row : root["results"]) {
        addBlock(row, "out_of_place", section, scribe);
        addBlock(row, "in_place", section, scribe);
        ++rows;
    }
    for (const LooseJsonValue error : root["errors"])
        scribe.note("nccl-tests says: " + error.text());
    if (section.isEmpty())
        return refusal(source, "It is a run of nccl-tests that ended before the first measurement");
    if (section.isAlone())
        return refusal(source, kNcclTestsAlone);
    section.write(scribe);
    scribe.source().isTruncated |= json.isTruncated() || json.isBroken();
    return scribe.finish();
}

} // namespace trainyard::readers
