// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/search_report.h"

#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/plan/plan_diff.h"
#include "core/report/text_table.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

namespace trainyard {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostReasons = 8; // that a table tells
constexpr std::array kStates { "refused", "outdone", "infeasible", "out-of-constraint", "feasible" };

struct ValueName {
    const char *heading, *name;
};
constexpr std::array<ValueName, 5> kValues { { { "s per token", "seconds_per_token" },
    { "$ per 1M tokens", "usd_per_million_tokens" }, { "J per token", "joules_per_token" }, { "days", "days" },
    { "GPUs", "gpus" } } };

std::string valueText(Objective objective, const SearchRow &row)
{
    switch (objective) {
    case Objective::Throughput:
        return countText(1 / row.value) + " tokens/s";
    case Objective::Cost:
        return usdText(row.value) + " per 1M tokens";
    case Objective::Energy:
        return plainText(row.value) + " J per token";
    case Objective::Time:
        return plainText(row.value) + " days";
    case Objective::Gpus:
        break;
    }
    return counted(std::int64_t(row.value), "GPU");
}

std::string stateText(const SearchRow &row)
{
    return row.state == RowState::Feasible ? "" : row.reason;
}

void addRow(TextTable &table, const SearchResult &result, const std::string &rank, const SearchRow &row)
{
    const bool isTimed = row.seconds > 0;
    table.add({ rank, isTimed ? valueText(result.objective, row) : "", isTimed ? secondsText(row.seconds) : "",
        isTimed ? usdText(row.usdPerHour) : "", isTimed ? usdText(row.usdPerMillionTokens) : "",
        row.fill > 0 ? percentText(row.fill) : "", row.gpus > 0 ? std::to_string(row.gpus) : "", stateText(row) });
}

Json number(double value)
{
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json rowJson(const SearchResult &result, std::size_t index)
{
    const SearchRow &row = result.rows[index];
    const bool isTimed = row.seconds > 0 && row.state != RowState::Outdone;
    const auto timed = [&](double value) { return isTimed ? number(value) : Json(nullptr); };
    return { { "number", row.number }, { "state", kStates[std::size_t(row.state)] },
        { "reason", row.reason.empty() ? Json(nullptr) : Json(row.reason) }, { "changes", changesOf(result, index) },
        { "value", timed(row.value) }, { "iteration_time_s", timed(row.seconds) },
        { "tokens_per_s", timed(row.tokensPerSecond) }, { "usd_per_million_tokens", timed(row.usdPerMillionTokens) },
        { "usd_per_hour", timed(row.usdPerHour) }, { "joules_per_token", timed(row.joulesPerToken) },
        { "memory_fill", row.fill > 0 ? number(row.fill) : Json(nullptr) }, { "gpus_used", row.gpus },
        { "on_front", row.isOnFront } };
}

} // namespace

const char *valueName(Objective objective)
{
    return kValues[std::size_t(objective)].name;
}

std::vector<std::string> changesOf(const SearchResult &result, std::size_t row)
{
    const Candidate to = result.space->candidate(result.rows[row].number), from = result.space->baseCandidate();
    if (to == from)
        return {};
    std::vector<std::string> sentences = describeDifferences(*result.space->base(), *result.plan(row));
    if (!sentences.empty())
        return sentences;
    for (std::size_t i = 0; i < to.size(); ++i) // as the axes name it
        if (const Axis &axis = result.space->axes()[i]; to[i] != from[i])
            sentences.push_back(axis.label + " " + axis.values[from[i]].text + " → " + axis.values[to[i]].text);
    return sentences;
}

std::string searchTable(const SearchResult &result)
{
    std::string summary = result.summary;
    if (!summary.empty() && summary.front() >= 'a' && summary.front() <= 'z')
        summary.front() = char(summary.front() - 'a' + 'A');
    std::string text = summary + ", " + secondsText(result.elapsed) + "\n\n";
    using enum TextTable::Align;
    TextTable table({ Right, Right, Right, Right, Right, Right, Right, Left },
        { "", "best first", "iteration", "per hour", "per 1M tokens", "memory", "GPUs", "" });
    if (result.own)
        addRow(table, result, "yours", result.rows[*result.own]);
    for (std::size_t i = 0; i < result.best.size(); ++i)
        if (result.best[i] != result.own)
            addRow(table, result, std::to_string(i + 1), result.rows[result.best[i]]);
    text += table.text();
    text += "Money is that of the GPUs a plan uses, with egress; evaluate counts idle ones too.\n";
    for (std::size_t i = 0; i < result.best.size(); ++i) {
        if (result.best[i] == result.own)
            continue;
        text += "\n" + std::to_string(i + 1) + ". " + joined(changesOf(result, result.best[i]), "; ") + "\n";
    }
    if (!result.pruned.empty())
        text += "\nLeft out\n";
    TextTable left({ Right, Left });
    for (std::size_t i = 0; i < std::min(kMostReasons, result.pruned.size()); ++i)
        left.add({ wholeText(double(result.pruned[i].count)), result.pruned[i].reason });
    text += result.pruned.empty() ? "" : left.text();
    if (result.pruned.size() > kMostReasons)
        text += counted(std::int64_t(result.pruned.size() - kMostReasons), "further reason") + "\n";
    return text;
}

std::string searchJson(const SearchResult &result)
{
    Json best = Json::array(), pruned = Json::array(), axes = Json::array();
    for (const std::size_t row : result.best)
        best.push_back(rowJson(result, row));
    for (const PruneCount &one : result.pruned)
        pruned.push_back({ { "reason", one.reason }, { "count", one.count } });
    for (const Axis &axis : result.space->axes()) {
        Json values = Json::array();
        for (const AxisValue &value : axis.values)
            values.push_back(value.text);
        axes.push_back({ { "id", axis.id }, { "keys", axis.keys }, { "label", axis.label }, { "values", values },
            { "own", axis.base } });
    }
    const Json json { { "objective", toString(result.objective) }, { "value_is", valueName(result.objective) },
        { "summary", result.summary }, { "complete", result.isComplete }, { "stopped", result.isStopped },
        { "looked", result.looked }, { "scored", result.scored }, { "simulated", result.simulated },
        { "elapsed_s", number(result.elapsed) }, { "own", result.own ? rowJson(result, *result.own) : Json(nullptr) },
        { "best", best }, { "pruned", pruned }, { "axes", axes } };
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace trainyard
