// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/problems/fill_problems.h"

#include "core/base/words.h"
#include "core/evaluation/evaluate/problems/fix_of.h"
#include "core/iteration/placement/degrees.h"
#include "core/iteration/prefill/arrivals.h"
#include "core/iteration/prefill/idle_prompt.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

struct InUse {
    int aligned = 0, inDatacenter = 0;
}; // the most GPUs of one stage, of one datacenter

/// Of the iteration, or until the last job has ended.
Metric duration(const Metrics &metrics)
{
    return metrics.jobs ? metrics.jobs->makespan : metrics.iterationTime;
}

const char *period(const Metrics &metrics)
{
    return metrics.jobs ? "while the jobs run" : "in one iteration";
}

InUse gpusInUse(const Evaluation &evaluation, const Degrees &degrees)
{
    InUse most;
    std::map<int, int> datacenters;
    for (const PipelineClass &c : evaluation.layout.classes)
        for (const StageLocation &location : c.locations) {
            const int gpus = c.pipelines * degrees.context * (location.tensor > 0 ? location.tensor : degrees.tensor);
            most.aligned = std::max(most.aligned, gpus);
            datacenters[location.datacenter] += gpus;
        }
    for (const auto &[datacenter, gpus] : datacenters)
        most.inDatacenter = std::max(most.inDatacenter, gpus);
    return most;
}

Problem noGroups(const Evaluation &evaluation, const Degrees &degrees)
{
    const Plan &plan = *evaluation.plan;
    const int stages = plan.bubbleFill.stages;
    const InUse most = gpusInUse(evaluation, degrees);
    const bool isTooFew = stages > most.inDatacenter;
    Problem problem { Severity::Warning, {}, "bubble_fill.stages", {} };
    problem.text = isTooFew ? "The served model is spread over " + std::to_string(stages)
            + " GPUs, and no datacenter has more than " + std::to_string(most.inDatacenter) + " in use"
        : evaluation.metrics.jobs
        ? "No " + std::to_string(stages) + " GPUs of one datacenter are idle at the same times"
        : "No " + std::to_string(stages) + " GPUs of one datacenter have aligned bubbles: a stage has at most "
            + std::to_string(most.aligned);
    if (most.aligned >= 1 && most.aligned < stages)
        problem.fixes.push_back(fixOf(plan, "Spread it over " + std::to_string(most.aligned),
            [&](Plan &p) { p.bubbleFill.stages = most.aligned; }));
    if (!isTooFew && !plan.bubbleFill.chaining)
        problem.fixes.push_back(fixOf(plan,
            evaluation.metrics.jobs ? "Chain GPUs that are idle at different times" : "Chain GPUs of different stages",
            [](Plan &p) { p.bubbleFill.chaining = true; }));
    return problem;
}

std::string shortTime(Nanoseconds time)
{
    const double s = toSeconds(time).value;
    return formatted(s >= 999.5 ? "%.0f s" : s >= 1 ? "%.3g s" : "%.3g ms", s >= 1 ? s : s * 1e3);
}

std::string number(double value)
{
    return formatted("%.4g", value);
}

Problem noWindow(const BubbleFill &fill, const std::optional<IdlePrompt> &prompt)
{
    const bool isMove = prompt && prompt->slice.kvMove > prompt->slice.compute;
    if (!isMove)
        return { Severity::Warning, "No bubble is as long as one stage of a prompt and the guard: bubbles stay empty",
            "bubble_fill.stages", {} };
    return { Severity::Warning,
        "No bubble is as long as the move of a prompt's keys and values and the guard: it takes "
            + shortTime(prompt->slice.kvMove) + (fill.kvGbps ? " at " + number(*fill.kvGbps) + " Gbps" : "")
            + " and keeps the GPU from its next prompt",
        "bubble_fill.kv_gbps", {} };
}

Problem allLate(const BubbleFill &fill, const std::optional<IdlePrompt> &prompt)
{
    const Nanoseconds slo = toNanoseconds(milliseconds(fill.ttftSloMs));
    if (!prompt || prompt->firstToken <= slo)
        return { Severity::Warning,
            "Every prompt would have to wait for a bubble longer than the " + number(fill.ttftSloMs)
                + " ms to its first token allow",
            "bubble_fill.ttft_slo_ms", {} };
    const bool isMove = fill.firstTokenFromDecode && prompt->slice.kvMove > prompt->firstToken / 2;
    return { Severity::Warning,
        "One prompt of " + counted(prompt->tokens, "token") + " takes " + shortTime(prompt->firstToken)
            + " on idle GPUs"
            + (isMove ? ", " + shortTime(prompt->slice.kvMove) + " of it to move keys and values" : "") + ": "
            + number(fill.ttftSloMs) + " ms cannot be met",
        isMove ? "bubble_fill.kv_gbps" : "bubble_fill.ttft_slo_ms", {} };
}

/// No request at all is served; the commonest reason is told.
Problem nothingServed(const Evaluation &evaluation, const Workload &workload, const Catalogue &catalogue)
{
    const BubbleFill &fill = evaluation.plan->bubbleFill;
    const BubbleFillMetrics &filled = *evaluation.metrics.bubbleFill;
    const std::int64_t most = std::max({ filled.rejectedForMemory, filled.rejectedForWindow, filled.rejectedAsLate,
        filled.rejectedAsFull, filled.rejectedByDecode });
    if (filled.rejectedByDecode == most)
        return { Severity::Warning,
            filled.decodeRequests.value_or(0) > 0
                ? "The decode pool has no room for any request: bubbles stay empty"
                : "The decode pool has too few GPUs for the served models with one request: bubbles stay empty",
            "bubble_fill.decode.gpus", {} };
    if (filled.rejectedForMemory == most)
        return { Severity::Warning,
            "Training leaves no memory for the served model with its keys and values: bubbles stay empty",
            "bubble_fill.model", {} };
    const auto prompt = shortestPrompt(workload, catalogue, toNanoseconds(Seconds { *duration(evaluation.metrics) }));
    return filled.rejectedForWindow == most ? noWindow(fill, prompt) : allLate(fill, prompt);
}

std::optional<Problem> unusedTrace(const Plan &plan)
{
    if (plan.bubbleFill.arrivals == Arrivals::Trace || plan.bubbleFill.trace.empty())
        return {};
    return Problem { Severity::Note, "A trace is named, but requests arrive by another rule: the trace is not used",
        "bubble_fill.trace",
        { fixOf(plan, "Use the trace", [](Plan &p) { p.bubbleFill.arrivals = Arrivals::Trace; }) } };
}

Problem tooManyRequests(const Metrics &metrics)
{
    return { Severity::Note,
        "Of " + number(double(metrics.bubbleFill->accepted + metrics.bubbleFill->rejected)) + " prefill requests "
            + period(metrics) + " a million are placed; the rest count as rejected",
        "bubble_fill.requests_per_s", {} };
}

/// The most of a rate whose bubbles are not quite full.
constexpr double kBelowSaturation = 0.95;

/// Of what any bubble could serve.
double offeredPerSecond(const BubbleFillMetrics &filled, double seconds)
{
    return double(filled.accepted + filled.rejected - filled.rejectedForMemory - filled.rejectedForWindow) / seconds;
}

/// More arrives than is served whatever the wait.
Problem saturated(const Plan &plan, const BubbleFillMetrics &filled, double seconds)
{
    const double holds = *filled.saturationRequestsPerSecond, offered = offeredPerSecond(filled, seconds);
    const bool isDecode = filled.decodeRequestsPerSecond && *filled.decodeRequestsPerSecond <= holds;
    Problem problem { Severity::Note,
        (isDecode ? "The decode pool takes " : "Bubbles hold ") + number(holds) + " prompts a second and "
            + number(offered) + " arrive: "
            + (isDecode ? "the rest are turned away"
                        : "the backlog grows until first tokens come after " + number(plan.bubbleFill.ttftSloMs)
                        + " ms, and the rest are turned away"),
        isDecode ? "bubble_fill.decode.gpus" : "bubble_fill.requests_per_s", {} };
    const double rate = plan.bubbleFill.requestsPerSecond * kBelowSaturation * holds / offered;
    if (!isDecode && plan.bubbleFill.served.empty() && plan.bubbleFill.arrivals != Arrivals::Trace && rate >= 1)
        problem.fixes.push_back(fixOf(plan, "Send " + number(std::floor(rate)) + " a second",
            [&](Plan &p) { p.bubbleFill.requestsPerSecond = std::floor(rate); }));
    return problem;
}

Problem unsettled(const BubbleFillMetrics &filled)
{
    return { Severity::Warning,
        "The backlog of prefill requests has not settled after " + counted(filled.iterations, "iteration")
            + ": times to first token are those of the last one",
        "bubble_fill.requests_per_s", {} };
}

/// How arrivals and what serves them stand to each other, where any is served.
void addBacklog(std::vector<Problem> &problems, const Evaluation &evaluation, double seconds)
{
    const auto &filled = evaluation.metrics.bubbleFill;
    if (!filled || filled->accepted == 0)
        return;
    if (!filled->isSettled)
        problems.push_back(unsettled(*filled));
    if (filled->saturationRequestsPerSecond
        && offeredPerSecond(*filled, seconds) > *filled->saturationRequestsPerSecond)
        problems.push_back(saturated(*evaluation.plan, *filled, seconds));
}

/// What keeps bubbles empty.
std::optional<Problem> emptyBubbles(const Evaluation &evaluation, const Workload &workload, const Catalogue &catalogue)
{
    const BubbleFill &fill = evaluation.plan->bubbleFill;
    if (fill.model.empty())
        return Problem { Severity::Warning, "Bubble filling is on but names no model to serve: bubbles stay empty",
            "bubble_fill.model",
            { fixOf(*evaluation.plan, "Serve Llama 3 8B", [](Plan &p) { p.bubbleFill.model = "llama-3-8b"; }) } };
    if (!evaluation.metrics.bubbleFill)
        return {};
    const BubbleFillMetrics &filled = *evaluation.metrics.bubbleFill;
    if (filled.groups == 0)
        return noGroups(evaluation, workload.degrees);
    if (filled.accepted > 0)
        return {};
    if (filled.rejected > 0)
        return nothingServed(evaluation, workload, catalogue);
    if (fill.arrivals == Arrivals::Trace)
        return Problem { Severity::Warning,
            evaluation.metrics.jobs ? "The trace has no request while the jobs run: bubbles stay empty"
                                    : "The trace has no request in the time of one iteration: bubbles stay empty",
            "bubble_fill.trace", {} };
    return Problem { Severity::Warning,
        std::string("No prefill request arrives ") + period(evaluation.metrics) + ": bubbles stay empty",
        "bubble_fill.requests_per_s", {} };
}

} // namespace

std::vector<Problem> bubbleFillProblems(
    const Evaluation &evaluation, const Workload &workload, const Catalogue &catalogue)
{
    const BubbleFill &fill = evaluation.plan->bubbleFill;
    const Metric seconds = duration(evaluation.metrics);
    if (!fill.enabled || !seconds)
        return {};
    std::vector<Problem> problems;
    if (auto empty = emptyBubbles(evaluation, workload, catalogue))
        problems.push_back(std::move(*empty));
    addBacklog(problems, evaluation, *seconds);
    if (auto unused = unusedTrace(*evaluation.plan))
        problems.push_back(std::move(*unused));
    if (fill.chaining && fill.stages == 1)
        problems.push_back(
            { Severity::Note, "A prompt is served by one GPU: there is nothing to chain", "bubble_fill.chaining",
                { fixOf(*evaluation.plan, "Switch it off", [](Plan &p) { p.bubbleFill.chaining = false; }) } });
    const auto &filled = evaluation.metrics.bubbleFill;
    const bool areTooMany = filled && double(filled->accepted + filled->rejected) > kMostPrefillRequests
        && (fill.arrivals == Arrivals::Trace
            || meanRequests(fill, toNanoseconds(Seconds { *seconds })) > kMostPrefillRequests);
    if (areTooMany)
        problems.push_back(tooManyRequests(evaluation.metrics));
    return problems;
}

} // namespace trainyard
