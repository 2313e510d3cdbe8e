// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/sharing_report.h"

#include "core/base/number_text.h"
#include "core/base/text_table.h"
#include "core/evaluation/report/json_internal.h"

#include <algorithm>

namespace trainyard {

namespace {

std::string timesFasterText(const SharingResult &result, double first)
{
    return result.iterationTime && first > 0 ? plainText(first / *result.iterationTime) + " ×" : "";
}

/// What sets a line apart, behind it.
std::string sharingRemark(const SharingResult &result)
{
    std::string text = result.of.isCurrent ? "the plan" : "";
    if (!result.why.empty())
        text += (text.empty() ? "" : ", ") + result.why;
    return text;
}

std::string batchText(const SharingResult &result)
{
    if (!result.limits)
        return {};
    return result.limits->isBatchBounded ? wholeText(double(result.limits->batch)) : "any";
}

std::string modelText(const SharingResult &result)
{
    if (!result.limits)
        return {};
    return result.limits->parameters > 0 ? countText(result.limits->parameters) : "none";
}

std::string waysTable(const char *title, std::span<const SharingResult> results)
{
    using enum TextTable::Align;
    TextTable table({ Left, Right, Right, Right, Right, Right, Right, Right, Right, Left },
        { title, "iteration", "samples/s", "speed-up", "layer", "fullest GPU", "per iteration", "largest batch",
            "largest model", "" });
    const auto slowest = std::ranges::find_if(results, [](const SharingResult &r) { return r.isFeasible; });
    const double first = slowest != results.end() ? slowest->iterationTime.value_or(0) : 0;
    for (const SharingResult &result : results) {
        const bool isKnown = result.isEvaluated;
        table.add({ result.of.label, isKnown ? secondsText(*result.iterationTime) : "",
            result.samplesPerSecond ? plainText(*result.samplesPerSecond) : "", timesFasterText(result, first),
            result.layerTime ? secondsText(*result.layerTime) : "",
            result.capacity > 0 ? percentText(double(result.peak) / double(result.capacity)) : "",
            result.usdPerIteration ? usdText(*result.usdPerIteration) : "", batchText(result), modelText(result),
            sharingRemark(result) });
    }
    return table.text();
}

/// Work, states and waiting of each set of equal GPUs.
std::string setsTable(std::span<const SharingResult> results)
{
    using enum TextTable::Align;
    TextTable table({ Left, Left, Left, Right, Right, Right, Right, Right },
        { "what each GPU does", "stage", "GPUs", "", "samples", "of the work", "of the states", "waits" });
    for (const SharingResult &result : results) {
        std::string label = result.of.label;
        for (const SetShare &set : result.sets) {
            table.add({ label, set.stages > 1 ? std::to_string(set.stage + 1) : "all", set.gpu,
                std::to_string(set.gpus), plainText(set.samples), percentText(set.computeShare),
                percentText(set.stateShare), percentText(set.idle) });
            label.clear();
        }
    }
    return table.text();
}

Json setJson(const SetShare &set)
{
    return { { "datacenter", set.datacenter }, { "pool", set.pool }, { "gpu", set.gpu }, { "stage", set.stage },
        { "gpus", set.gpus }, { "samples", finite(set.samples) }, { "compute_share", finite(set.computeShare) },
        { "state_share", finite(set.stateShare) }, { "idle_share", finite(set.idle) } };
}

Json limitsJson(const std::optional<SharingLimits> &limits)
{
    if (!limits)
        return nullptr;
    return { { "by", limits->isByEquations ? "sharing equations" : "memory of placed plans" },
        { "largest_batch", limits->isBatchBounded ? Json(limits->batch) : Json(nullptr) },
        { "largest_parameters", finite(limits->parameters) },
        { "largest_layers", limits->layers > 0 ? Json(limits->layers) : Json(nullptr) } };
}

Json resultJson(const SharingResult &result)
{
    const auto number = [](Metric value) { return value ? finite(*value) : Json(nullptr); };
    Json sets = Json::array();
    for (const SetShare &set : result.sets)
        sets.push_back(setJson(set));
    return { { "id", result.of.id }, { "label", result.of.label }, { "what", result.of.what },
        { "current", result.of.isCurrent }, { "feasible", result.isFeasible },
        { "fits", result.isEvaluated ? Json(result.fits) : Json(nullptr) },
        { "why", result.why.empty() ? Json(nullptr) : Json(result.why) },
        { "iteration_time_s", number(result.iterationTime) }, { "samples_per_s", number(result.samplesPerSecond) },
        { "usd_per_iteration", number(result.usdPerIteration) },
        { "layer_ms", result.layerTime ? finite(1000 * *result.layerTime) : Json(nullptr) },
        { "device_bytes", result.capacity > 0 ? Json(result.peak) : Json(nullptr) },
        { "capacity_bytes", result.capacity > 0 ? Json(result.capacity) : Json(nullptr) },
        { "limits", limitsJson(result.limits) }, { "sets", sets } };
}

Json resultsJson(std::span<const SharingResult> results)
{
    Json list = Json::array();
    for (const SharingResult &result : results)
        list.push_back(resultJson(result));
    return list;
}

} // namespace

std::string sharingTable(std::span<const SharingResult> baselines, std::span<const SharingResult> ablations)
{
    return waysTable("way of sharing", baselines) + "\n" + waysTable("step by step", ablations) + "\n"
        + setsTable(baselines);
}

std::string sharingJson(std::span<const SharingResult> baselines, std::span<const SharingResult> ablations)
{
    return dumped({ { "baselines", resultsJson(baselines) }, { "ablations", resultsJson(ablations) } });
}

} // namespace trainyard
