// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/targets.h"

#include "core/evaluation/validation/rows.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/catalogue/parse.h"
#include "core/facts/plan/plan_io.h"
#include "core/facts/plan/validate.h"
#include "core/iteration/prefill/trace_file.h"
#include "core/runs/telemetry/line_pattern.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/evaluate_target.h"
#include "tests/fuzz/live_targets.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/reader_targets.h"
#include "tests/fuzz/run_target.h"
#include "tests/fuzz/seeds.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace trainyard::fuzz {

namespace {

/// A plan that was accepted is written and read back equal, and is written the same again.
std::string faultOfPlan(const Plan &plan)
{
    const std::string written = formatPlan(plan);
    const auto again = parsePlan(written, "again.json", plan.baseDir);
    if (!again)
        return "what was written is refused: " + toString(again.error().front()) + "\n" + written;
    if (!(*again == plan))
        return "what was written reads back different:\n" + written;
    if (formatPlan(*again) != written)
        return "what was read back is written differently:\n" + written;
    for (const Error &error : validatePlan(plan))
        if (error.where.empty() || error.what.empty())
            return "a contradiction without a place: " + toString(error);
    return {};
}

Outcome plan(const std::string &input)
{
    const auto plan = parsePlan(input, "p.json");
    return plan ? Outcome { true, faultOfPlan(*plan) } : Outcome { false, faultOf(plan.error(), "p.json") };
}

/// KEY=VALUE, as --set takes it, on a plan that has every kind of section.
Outcome settings(const std::string &input)
{
    static const Plan base = *parsePlan(R"({"cluster": {"datacenters": [
        {"id": "virginia", "pools": [{"gpu": "h100-sxm-80gb", "nodes": 4, "ssd": {"write_gbytes_per_s": 12, "read_gbytes_per_s": 14}}]},
        {"id": "oregon", "pools": [{"gpu": {"memory_gib": 80, "memory_gbytes_per_s": 2000, "peak_tflops": {"bf16": 312}}, "nodes": 4}]}],
        "wan_links": [{"between": ["virginia", "oregon"], "rtt_ms": 60}]}, "workload": {"model": "llama-3-8b", "global_batch": 64, "sequence_length": 4096},
        "placement": {"stages": [{"datacenter": "oregon", "stages": 8}]}, "calibration": {"x": 1}, "mine": {"a": [1, {"b": 2}]}})",
        "base.json");
    const std::size_t equals = std::min(input.find('='), input.size());
    const auto plan = withKeySet(base, input.substr(0, equals), input.substr(std::min(equals + 1, input.size())));
    if (plan)
        return { true, faultOfPlan(*plan) };
    for (const Error &error : plan.error())
        if (error.what.empty() || error.code == ErrorCode::Internal)
            return { false, "an error is no help: " + toString(error) };
    return { false, plan.error().empty() ? "refused without an error" : "" };
}

/// Sizes that the cost model divides by are there.
Outcome config(const std::string &input)
{
    const auto model = parseHuggingFaceConfig(input, "config.json");
    if (!model)
        return { false, faultOf({ model.error() }, "config.json") };
    const ModelSpec &m = *model;
    const bool isWhole = m.layers > 0 && m.hidden > 0 && m.heads > 0 && m.kvHeads > 0 && m.heads % m.kvHeads == 0
        && m.headDim > 0 && m.ffn > 0 && m.vocab > 0 && m.expertLayerStep > 0 && m.denseLayers <= m.layers
        && (m.experts == 0 || (m.expertFfn > 0 && m.expertsPerToken > 0));
    return { true, isWhole ? "" : "a model that lacks a size: " + formatModel(m) };
}

Outcome rows(const std::string &input)
{
    const auto set = parseRows(input, "rows.json");
    if (!set)
        return { false, faultOf(set.error(), "rows.json") };
    std::set<std::string> ids;
    for (const ValidationRow &row : set->rows) {
        if (!row.plan || row.published.empty() || !ids.insert(row.id).second)
            return { true, "a row without plan, figure or an id of its own" };
        for (const PublishedFigure &figure : row.published)
            if (!(figure.value > 0))
                return { true, "a figure that is not above 0" };
        if (std::string fault = faultOfPlan(*row.plan); !fault.empty())
            return { true, fault };
    }
    return { true, set->source.empty() ? "rows without a source" : "" };
}

/// As many requests as lines below the heading, in order of time.
Outcome trace(const std::string &input)
{
    const auto requests = parseRequestTrace(input, "t.csv");
    if (!requests)
        return { false, faultOf(requests.error(), "t.csv") };
    std::size_t lines = 0;
    bool hasText = false;
    const std::string mark = "\xef\xbb\xbf"; // some editors begin a file with it
    for (const char c : input.substr(input.starts_with(mark) ? mark.size() : 0) + "\n") {
        lines += c == '\n' && hasText;
        hasText = c != '\n' && (hasText || (c != ' ' && c != '\t' && c != '\r'));
    }
    if (requests->size() + 1 != lines)
        return { true, std::to_string(requests->size()) + " requests of " + std::to_string(lines) + " lines" };
    const bool isGood = std::ranges::is_sorted(*requests, {}, &PrefillRequest::arrival)
        && std::ranges::all_of(*requests, [](const PrefillRequest &r) { return r.arrival >= 0 && r.tokens > 0; });
    return { true, isGood ? "" : "a request before the start, out of order or without a token" };
}

template <class Spec>
Outcome entry(const std::string &input, ExpectedAll<Spec> (*parse)(std::string_view, const std::string &),
    std::string (*format)(const Spec &))
{
    const auto spec = parse(input, "p.json: /at");
    if (!spec)
        return { false, faultOf(spec.error(), "p.json: /at") };
    const auto again = parse(format(*spec), "again");
    return { true,
        !again                ? "what was written is refused: " + toString(again.error().front())
            : *again == *spec ? ""
                              : "reads back different: " + format(*spec) };
}

Outcome gpu(const std::string &input)
{
    return entry<GpuSpec>(input, parseGpu, formatGpu);
}
Outcome model(const std::string &input)
{
    return entry<ModelSpec>(input, parseModel, formatModel);
}

/// A line pattern and, behind the first line feed, lines that it is held against.
Outcome pattern(const std::string &input)
{
    const std::size_t end = std::min(input.find('\n'), input.size());
    const auto made = LinePattern::parse(std::string_view(input).substr(0, end));
    if (!made)
        return { false, made.error().what.empty() ? "an error without a sentence" : "" };
    const auto again = LinePattern::parse(made->text());
    for (const LinePattern::Value &value :
        made->valuesOf(std::string_view(input).substr(std::min(end + 1, input.size()))))
        if (!std::isfinite(value.value))
            return { true, "a figure that is no number" };
    return { true, again.has_value() ? "" : "its own text is no pattern" };
}

std::vector<std::string> patternSeeds(const std::string &)
{
    return { "it (?<step>\\d+): (?<time>[\\d.]+) ms, (?<tokens>\\S+) tok\nit 10: 250.5 ms, 11.5K tok",
        "(?:a|b[^c-e]{2,3}?)*x+?(?<loss>-?\\d+)\\b|^(?P<memory_gb>.*)$\nabbx-12 3.5",
        "((a*)*|b)+(?<tokens_per_gpu>1)(?: in (?<time_ms>2))?\naaaab1 in 2" };
}

/// Words of what is no JSON, with the signs that lines of logs are told by.
void addWords(const std::string &text, std::set<std::string> &words)
{
    constexpr std::size_t kLongest = 24;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = text.find_first_not_of(" \t\r\n", at);
        at = std::min(text.find_first_of(" \t\r\n", begin), text.size());
        if (begin != text.npos && at - begin <= kLongest)
            words.insert(text.substr(begin, at - begin));
    }
}

void addStrings(const std::string &text, std::set<std::string> &words)
{
    constexpr std::size_t kLongest = 40;
    if (!text.starts_with('{') && !text.starts_with('['))
        addWords(text, words);
    for (const JsonSpan &span : jsonSpans(text)) {
        if (span.isMember)
            words.insert(
                text.substr(span.begin + 1, std::min(text.find('"', span.begin + 1), text.size()) - span.begin - 1));
        else if (text[span.begin] == '"' && span.end - span.begin < kLongest)
            words.insert(text.substr(span.begin + 1, span.end - span.begin - 2));
    }
}

} // namespace

const std::vector<Target> &targets()
{
    static const std::vector<Target> all = [] {
        std::vector<Target> made { { "plan", plan, planSeeds }, { "settings", settings, settingSeeds },
            { "config", config, configSeeds }, { "rows", rows, rowSeeds }, { "trace", trace, traceSeeds },
            { "gpu", gpu, gpuSeeds }, { "model", model, modelSeeds }, { "evaluate", evaluated, evaluateSeeds },
            { "run", ranAndPlanned, runSeeds }, { "pattern", pattern, patternSeeds } };
        const std::vector<Target> ofRecordings = readerTargets();
        made.insert(made.end(), ofRecordings.begin(), ofRecordings.end());
        const std::vector<Target> ofLive = liveTargets();
        made.insert(made.end(), ofLive.begin(), ofLive.end());
        return made;
    }();
    return all;
}

std::vector<std::string> dictionary(const std::vector<std::string> &seeds)
{
    std::set<std::string> words;
    for (const std::string &seed : seeds)
        addStrings(seed, words);
    addStrings(planSchema(), words);
    for (const auto *keys : { &gpuKeys(), &modelKeys(), &stackKeys() })
        words.insert(keys->begin(), keys->end());
    return { words.begin(), words.end() };
}

} // namespace trainyard::fuzz
