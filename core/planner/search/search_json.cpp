// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/search/search_report.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

namespace trainyard {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kStates { "refused", "outdone", "infeasible", "out-of-constraint", "feasible" };
constexpr std::array kValues { "seconds_per_token", "usd_per_million_tokens_used", "joules_per_token", "days", "gpus" };

Json number(double value)
{
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json text(const std::string &value)
{
    return value.empty() ? Json(nullptr) : Json(value);
}

/// For the plan's training tokens.
Json daysOf(const SearchResult &result, const SearchRow &row)
{
    const Plan &plan = *result.space->base();
    return !hasJobs(plan) && plan.workload.trainingTokens && row.tokensPerSecond > 0
        ? number(*plan.workload.trainingTokens / row.tokensPerSecond / 86400)
        : Json(nullptr);
}

Json rowJson(const SearchResult &result, const SearchRow &row)
{
    const bool keepsIdle = result.asked && result.asked->keepsIdle;
    const bool isTimed = row.seconds > 0 && (row.state != RowState::Outdone || row.isExact);
    const auto timed = [&](double value) { return isTimed ? number(value) : Json(nullptr); };
    // Lanes time a candidate and know no more of it.
    const auto known = [&](double value) { return row.joulesPerToken > 0 || value > 0 ? timed(value) : Json(nullptr); };
    return { { "number", row.number }, { "state", kStates[std::size_t(row.state)] }, { "reason", text(row.reason) },
        { "shortfall", text(row.shortfall) }, { "value", known(row.value) },
        { "worst_world", text(worstWorld(result, row)) }, { "iteration_time_s", timed(row.seconds) },
        { "tokens_per_s", timed(row.tokensPerSecond) }, { "days_total", daysOf(result, row) },
        { "usd_per_million_tokens", known(row.usdPerMillionTokens) }, { "usd_per_hour", known(row.usdPerHour) },
        { "usd_per_million_tokens_used", keepsIdle ? Json(nullptr) : known(row.usdPerMillionTokens) },
        { "usd_per_hour_used", keepsIdle ? Json(nullptr) : known(row.usdPerHour) },
        { "usd_per_million_tokens_cluster", known(row.clusterUsdPerMillionTokens) },
        { "usd_per_hour_cluster", known(row.clusterUsdPerHour) }, { "joules_per_token", known(row.joulesPerToken) },
        { "memory_fill", row.fill > 0 ? number(row.fill) : Json(nullptr) }, { "gpus_used", row.gpus },
        { "on_front", row.isOnFront } };
}

Json toldJson(const SearchResult &result, std::size_t row, const std::vector<std::string> &changes)
{
    Json json = rowJson(result, result.rows[row]);
    json["changes"] = changes;
    return json;
}

Json axesJson(const SearchResult &result)
{
    Json axes = Json::array();
    for (const Axis &axis : result.space->axes()) {
        Json values = Json::array();
        for (const AxisValue &value : axis.values)
            values.push_back(value.text);
        axes.push_back({ { "id", axis.id }, { "keys", axis.keys }, { "label", axis.label }, { "values", values },
            { "own", axis.base } });
    }
    return axes;
}

Json prunedJson(const std::vector<PruneCount> &pruned)
{
    Json list = Json::array();
    for (const PruneCount &one : pruned) {
        list.push_back({ { "reason", one.reason }, { "count", one.count }, { "looked_at", !one.isRule } });
        if (!one.details.empty())
            list.back()["details"] = prunedJson(one.details);
    }
    return list;
}

Json writtenJson(const WrittenPlan *written)
{
    if (!written)
        return nullptr;
    return { { "path", written->path }, { "gpus", written->gpus }, { "gpus_used", written->gpusUsed },
        { "idle_gpus_dropped", written->dropped }, { "usd_per_hour", number(written->usdPerHour) },
        { "usd_per_million_tokens", number(written->usdPerMillionTokens) }, { "not_launched", written->notLaunched } };
}

} // namespace

const char *valueName(Objective objective)
{
    return kValues[std::size_t(objective)];
}

std::string searchJson(const SearchResult &result, const WrittenPlan *written, std::size_t rows)
{
    Json best = Json::array(), looked = Json::array();
    const auto changes = changesOf(result, result.best);
    for (std::size_t i = 0; i < result.best.size(); ++i)
        best.push_back(toldJson(result, result.best[i], changes[i]));
    for (std::size_t i = 0; i < std::min(rows, result.rows.size()); ++i) {
        looked.push_back(rowJson(result, result.rows[i]));
        looked.back()["values"] = result.space->candidate(result.rows[i].number); // of the axes, by their indices
    }
    const auto told = [&](const std::optional<std::size_t> &row) {
        return row ? toldJson(result, *row, changesOf(result, *row)) : Json(nullptr);
    };
    Json json { { "objective", toString(result.objective) }, { "value_is", valueName(result.objective) },
        { "summary", result.summary }, { "software", result.software.empty() ? Json(nullptr) : Json(result.software) },
        { "complete", result.isComplete }, { "stopped", result.isStopped }, { "looked", result.looked },
        { "scored", result.scored }, { "simulated", result.simulated }, { "wholly", result.wholly },
        { "elapsed_s", number(result.elapsed) },
        { "robust",
            result.scenarios.empty()                         ? Json(nullptr)
                : result.robustness == Robustness::WorstCase ? Json("worst")
                                                             : Json("expected") },
        { "scenarios", result.scenarios }, { "own", told(result.own) }, { "best", best },
        { "nearest", told(result.nearest) }, { "written", writtenJson(written) },
        { "pruned", prunedJson(result.pruned) }, { "axes", axesJson(result) } };
    if (rows > 0)
        json["rows"] = looked;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace trainyard
