// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/validation/gates.h"

#include "core/base/or_abort.h"
#include "core/evaluation/report/metric_lookup.h"
#include "core/evaluation/validation/embedded_files.h"
#include "core/evaluation/validation/row_reader_internal.h"

#include <algorithm>

namespace trainyard {

namespace {

const std::vector<std::string> kStatistics { "mean_abs_error", "median_abs_error", "max_abs_error",
    "rank_correlation" };

std::optional<double> valueOf(const ErrorStatistics &statistics, GateStatistic which)
{
    if (statistics.n == 0)
        return std::nullopt;
    switch (which) {
    case GateStatistic::MeanAbsError:
        return statistics.meanAbs;
    case GateStatistic::MedianAbsError:
        return statistics.medianAbs;
    case GateStatistic::MaxAbsError:
        return statistics.maxAbs;
    case GateStatistic::RankCorrelation:
        return statistics.rankCorrelation;
    }
    return std::nullopt;
}

/// Whether a text fits a pattern in which * stands for any text.
bool isLike(std::string_view text, std::string_view pattern)
{
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos)
        return text == pattern;
    if (!text.starts_with(pattern.substr(0, star)))
        return false;
    pattern.remove_prefix(star + 1);
    for (std::size_t from = star; from <= text.size(); ++from) {
        if (isLike(text.substr(from), pattern))
            return true;
    }
    return false;
}

bool counts(const Gate &gate, const ValidationResult &result)
{
    return result.status == gate.status && result.source == gate.source && isLike(result.metric, gate.metric)
        && isLike(result.group, gate.group) && (!gate.role || result.role == *gate.role);
}

Gate readGate(const Json &json, const std::string &pointer, Faults &faults)
{
    Gate gate;
    if (!checkObject(json, pointer,
            { "title", "source", "group", "metric", "statistic", "status", "role", "limit", "aim" }, faults))
        return gate;
    gate.title = textAt(json, "title", pointer, faults, true);
    gate.source = textAt(json, "source", pointer, faults, true);
    if (json.contains("group"))
        gate.group = textAt(json, "group", pointer, faults);
    gate.metric = textAt(json, "metric", pointer, faults, true);
    const bool isPattern = gate.metric.find('*') != std::string::npos;
    if (const auto known = checkMetricName(gate.metric); !isPattern && !gate.metric.empty() && !known)
        faults.add(pointer + "/metric", known.error().what, known.error().right, ErrorCode::UnknownName);
    gate.statistic = GateStatistic(choiceAt(json, "statistic", kStatistics, pointer, faults));
    gate.status =
        choiceAt(json, "status", { "gated", "guessed" }, pointer, faults) == 1 ? RowStatus::Guessed : RowStatus::Gated;
    if (json.contains("role"))
        gate.role = choiceAt(json, "role", { "test", "fit" }, pointer, faults) == 1 ? RowRole::Fit : RowRole::Test;
    const auto limit = numberAt(json, "limit", pointer, faults);
    if (!limit)
        faults.add(pointer + "/limit", "limit is missing", "a number, such as 0.06 for six percent");
    gate.limit = limit.value_or(0);
    if (const Json aim = json.value("aim", Json(false)); aim.is_boolean())
        gate.isAim = aim.get<bool>();
    else
        faults.add(pointer + "/aim", "aim is " + detail::brief(aim), "true or false");
    return gate;
}

} // namespace

ExpectedAll<std::vector<Gate>> parseGates(std::string_view json, const std::string &fileName)
{
    return parseList(json, fileName, "trainyard.validation-gates", "gates", &readGate);
}

const std::vector<Gate> &builtinGates()
{
    static const std::vector<Gate> gates = orAbort(parseGates(embeddedValidationFile("gates.json"), "gates.json"));
    return gates;
}

std::vector<GateOutcome> gateOutcomes(std::span<const Gate> gates, std::span<const ValidationResult> results)
{
    std::vector<GateOutcome> outcomes;
    for (const Gate &gate : gates) {
        if (std::ranges::find(results, gate.source, &ValidationResult::source) == results.end())
            continue;
        std::vector<const ValidationResult *> counted;
        for (const ValidationResult &result : results) {
            if (counts(gate, result))
                counted.push_back(&result);
        }
        GateOutcome outcome { .gate = gate, .n = int(counted.size()) };
        outcome.failed = int(std::ranges::count_if(counted, [](const auto *r) { return !r->predicted; }));
        outcome.reached = valueOf(errorStatistics(counted), gate.statistic);
        const bool isWithin = outcome.reached
            && (gate.statistic == GateStatistic::RankCorrelation ? *outcome.reached >= gate.limit
                                                                 : *outcome.reached <= gate.limit);
        outcome.isMet = isWithin && outcome.failed == 0;
        outcomes.push_back(std::move(outcome));
    }
    return outcomes;
}

const char *toString(GateStatistic statistic)
{
    return kStatistics[std::size_t(statistic)].c_str();
}

} // namespace trainyard
