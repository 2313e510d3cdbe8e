// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prefill/bubble_fill.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

template <class Change>
Fix fixOf(const Plan &plan, std::string label, Change change)
{
    Plan next = plan;
    change(next.bubbleFill);
    return {std::move(label), std::make_shared<const Plan>(std::move(next))};
}

struct InUse { int aligned = 0, inDatacenter = 0; };   // the most GPUs of one stage, of one datacenter

InUse gpusInUse(const Evaluation &evaluation)
{
    InUse most;
    std::map<int, int> datacenters;
    const int perSeat = evaluation.plan->parallelism.tensor * evaluation.plan->parallelism.context;
    for (const PipelineClass &c : evaluation.layout.classes) {
        most.aligned = std::max(most.aligned, c.pipelines * perSeat);
        for (const StageSeat &seat : c.seats)
            datacenters[seat.datacenter] += c.pipelines * perSeat;
    }
    for (const auto &[datacenter, gpus] : datacenters)
        most.inDatacenter = std::max(most.inDatacenter, gpus);
    return most;
}

Problem noGroups(const Evaluation &evaluation)
{
    const Plan &plan = *evaluation.plan;
    const int stages = plan.bubbleFill.stages;
    const InUse most = gpusInUse(evaluation);
    const bool isTooFew = stages > most.inDatacenter;
    Problem problem{Severity::Warning, {}, "bubble_fill.stages", {}};
    problem.text = isTooFew ? "The served model is spread over " + std::to_string(stages) + " GPUs, and no datacenter has more than "
                                  + std::to_string(most.inDatacenter) + " in use"
                            : "No " + std::to_string(stages) + " GPUs of one datacenter have aligned bubbles: a stage has at most " + std::to_string(most.aligned);
    if (most.aligned >= 1 && most.aligned < stages)
        problem.fixes.push_back(fixOf(plan, "Spread it over " + std::to_string(most.aligned), [&](BubbleFill &f) { f.stages = most.aligned; }));
    if (!isTooFew && !plan.bubbleFill.chaining)
        problem.fixes.push_back(fixOf(plan, "Chain GPUs of different stages", [](BubbleFill &f) { f.chaining = true; }));
    return problem;
}

Problem tooManyRequests(const Evaluation &evaluation)
{
    const double rate = std::floor(kMostPrefillRequests / *evaluation.metrics.iterationTime);
    return {Severity::Warning, "More than a million prefill requests in one iteration are not placed: bubbles stay empty", "bubble_fill.requests_per_s",
            {fixOf(*evaluation.plan, "Fewer requests", [&](BubbleFill &f) { f.requestsPerSecond = rate; })}};
}

} // namespace

std::vector<Problem> bubbleFillProblems(const Evaluation &evaluation)
{
    const BubbleFill &fill = evaluation.plan->bubbleFill;
    if (!fill.enabled || !evaluation.metrics.iterationTime)
        return {};
    if (fill.model.empty())
        return {{Severity::Warning, "Bubble filling is on but names no model to serve: bubbles stay empty", "bubble_fill.model",
                 {fixOf(*evaluation.plan, "Serve Llama 3 8B", [](BubbleFill &f) { f.model = "llama-3-8b"; })}}};
    if (!evaluation.metrics.bubbleFill)
        return *evaluation.metrics.iterationTime > 0 ? std::vector<Problem>{tooManyRequests(evaluation)} : std::vector<Problem>{};
    const BubbleFillMetrics &filled = *evaluation.metrics.bubbleFill;
    const std::int64_t requests = filled.accepted + filled.rejected;
    if (filled.groups == 0)
        return {noGroups(evaluation)};
    if (requests == 0 && fill.arrivals == Arrivals::Trace)
        return {{Severity::Warning, "The trace has no request in the time of one iteration: bubbles stay empty", "bubble_fill.trace", {}}};
    if (requests == 0)
        return {{Severity::Warning, "No prefill request arrives in one iteration: bubbles stay empty", "bubble_fill.requests_per_s", {}}};
    if (filled.rejectedForMemory == requests)
        return {{Severity::Warning, "Training leaves no memory for the served model with its keys and values: bubbles stay empty", "bubble_fill.model", {}}};
    if (filled.rejectedForWindow == requests)
        return {{Severity::Warning, "No bubble is as long as one stage of a prompt and the guard: bubbles stay empty", "bubble_fill.stages", {}}};
    return {};
}

} // namespace trainyard
