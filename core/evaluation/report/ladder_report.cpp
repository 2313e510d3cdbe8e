// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/ladder_report.h"

#include "core/base/printable.h"
#include "core/evaluation/report/json_internal.h"
#include "core/facts/plan/plan_diff.h"

namespace trainyard {

namespace {

Json changes(const PlanPtr &before, const PlanPtr &after)
{
    return before && after ? Json(describeDifferences(*before, *after)) : Json::array();
}

} // namespace

std::string fittingTable(const Fitting &fitting, const HeadroomUses &purchases)
{
    std::string text = printable(fitting.summary) + "\n";
    int number = 0;
    for (const LadderStep &step : fitting.steps)
        text += "  " + std::to_string(++number) + ". " + printable(step.sentence) + "\n";
    if (!purchases.offers.empty())
        text += "Headroom suggestions\n";
    for (const HeadroomUse &offer : purchases.offers)
        text += "  " + printable(offer.sentence) + "\n";
    return text;
}

std::string fittingJson(const Fitting &fitting, const HeadroomUses &purchases)
{
    const Footprint &before = fitting.before, &after = fitting.after;
    const auto host = [](std::int64_t bytes, const Footprint &size) {
        return size.hostCapacity > 0 ? Json(bytes) : Json(nullptr);
    };
    Json json { { "fits", fitting.fits }, { "tight", fitting.isTight }, { "summary", fitting.summary },
        { "device_bytes_before", before.device }, { "device_bytes", after.device },
        { "capacity_bytes", after.capacity }, { "host_bytes", host(after.host, after) },
        { "host_capacity_bytes", host(after.hostCapacity, after) }, { "steps", Json::array() },
        { "buys", Json::array() } };
    for (const LadderStep &step : fitting.steps) {
        json["steps"].push_back({ { "id", step.id }, { "name", step.name }, { "sentence", step.sentence },
            { "freed_bytes", step.freed }, { "device_bytes", step.device }, { "capacity_bytes", step.capacity },
            { "iteration_time_s", finite(step.iterationTime) }, { "slowdown", finite(step.slowdown) },
            { "changes", step.changes } });
    }
    for (const HeadroomUse &offer : purchases.offers)
        json["buys"].push_back(
            { { "label", offer.label }, { "sentence", offer.sentence }, { "gain", finite(offer.gain) },
                { "tokens_per_s", finite(offer.tokensPerSecond) }, { "device_bytes", offer.device },
                { "capacity_bytes", offer.capacity }, { "changes", changes(fitting.plan, offer.plan) } });
    return dumped(json);
}

} // namespace trainyard
