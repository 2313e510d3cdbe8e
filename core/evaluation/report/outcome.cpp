// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/outcome.h"

#include "core/evaluation/report/json_internal.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace trainyard {

namespace {

/// Sections and figures that say how, not what.
const std::set<std::string_view> kNoOutcome { "name", "problems", "confidence", "heterogeneity", "engine",
    "tcp_connections", "forward_chunks", "backward_chunks", "layers_kept", "layers_swapped", "layers_recomputed",
    "token_share" };

bool isEqualNumber(double a, double b)
{
    constexpr double kRounding = 1e-9;
    return std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b));
}

/// [path]: every number but 0, which says as little as a metric that is not there.
using Numbers = std::map<std::string, double>;

void addNumbers(const Json &json, const std::string &path, Numbers &numbers)
{
    if (json.is_object()) {
        for (const auto &[name, value] : json.items())
            if (!kNoOutcome.contains(name))
                addNumbers(value, path + '.' + name, numbers);
    } else if (json.is_array()) {
        for (std::size_t i = 0; i < json.size(); ++i)
            addNumbers(json[i], path + '.' + std::to_string(i), numbers);
    } else if (json.is_number() || json.is_boolean()) {
        if (const double number = json.is_boolean() ? json.get<bool>() : json.get<double>(); number != 0)
            numbers.emplace(path, number);
    }
}

Numbers numbersOf(const Evaluation &evaluation)
{
    Numbers numbers;
    addNumbers(metricsObject(evaluation), {}, numbers);
    if (evaluation.metrics.memory)
        numbers.emplace(".memory.host", double(evaluation.metrics.memory->host));
    return numbers;
}

/// Where the stages lie.
bool lieAlike(const Layout &before, const Layout &after)
{
    return std::ranges::equal(before.classes, after.classes, [](const PipelineClass &a, const PipelineClass &b) {
        return std::ranges::equal(a.locations, b.locations,
            [](StageLocation x, StageLocation y) { return x.datacenter == y.datacenter && x.pool == y.pool; });
    });
}

bool isEqualMetric(const Metric &a, const Metric &b)
{
    return a.has_value() == b.has_value() && (!a || isEqualNumber(*a, *b));
}

} // namespace

bool sameOutcome(const Evaluation &before, const Evaluation &after)
{
    if (before.feasibility != after.feasibility
        || !isEqualMetric(before.metrics.iterationTime, after.metrics.iterationTime)
        || !lieAlike(before.layout, after.layout))
        return false; // most plans differ here
    return std::ranges::equal(numbersOf(before), numbersOf(after),
        [](const auto &a, const auto &b) { return a.first == b.first && isEqualNumber(a.second, b.second); });
}

bool sameRange(const Evaluation &before, const Evaluation &after)
{
    const Confidence &a = before.metrics.confidence, &b = after.metrics.confidence;
    return a.label == b.label && isEqualMetric(a.iterationLow, b.iterationLow)
        && isEqualMetric(a.iterationHigh, b.iterationHigh);
}

} // namespace trainyard
