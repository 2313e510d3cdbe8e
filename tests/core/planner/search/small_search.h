#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A small search of a second or less, and what is read of its answer.

#include "core/planner/search/search.h"
#include "tests/support/plans.h"

#include <QtGlobal>

#include <array>
#include <limits>

namespace trainyard::test {

inline constexpr const char *kFixed[] = { "memory", "parallelism.context", "parallelism.sequence_parallel", "workload",
    "placement.layers", "wan" };

/// Llama 3 8B on 32 H100, tensor, pipeline, replicas, schedule, chunks and ZeRO open.
inline PlanPtr small(int nodes = 4)
{
    Plan plan = oneSite(nodes);
    plan.workload.trainingTokens = 1e11;
    return std::make_shared<const Plan>(std::move(plan));
}

inline SearchOptions asked(Objective objective = Objective::Throughput)
{
    SearchOptions options { .objective = objective };
    options.fixed.assign(std::begin(kFixed), std::end(kFixed));
    options.threads = 2;
    return options;
}

inline SearchResult found(const PlanPtr &plan, const SearchOptions &options, std::stop_token stop = {})
{
    auto result = search(plan, builtinCatalogue(), options, std::move(stop));
    if (!result)
        qFatal("%s", toString(result.error().front()).c_str());
    return std::move(*result);
}

inline double bestValue(const SearchResult &result)
{
    return result.best.empty() ? std::numeric_limits<double>::infinity() : result.rows[result.best.front()].value;
}

inline std::vector<std::uint64_t> numbersOf(const SearchResult &result)
{
    std::vector<std::uint64_t> numbers;
    for (const std::size_t row : result.best)
        numbers.push_back(result.rows[row].number);
    return numbers;
}

inline constexpr std::array kAll { Objective::Throughput, Objective::Cost, Objective::Energy, Objective::Time,
    Objective::Gpus };

} // namespace trainyard::test
