#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Every switch of a plan, with every other value that it may take: as the window's strategies list them, as the search
// chooses among them, and as --set reaches them key by key. Equal plans are listed once. Plans need not be able to run.

#include "core/evaluation/advice/alternatives.h"
#include "core/facts/plan/job_schedulers.h"
#include "core/facts/plan/key_list.h"
#include "core/facts/plan/plan_io.h"
#include "core/planner/space/space.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace trainyard::test {

struct PlanSwitch {
    /// "memory.recompute=full", "strategy recompute=full", "search recompute full"
    std::string name;
    PlanPtr plan;
};

/// Values that a key may take besides its own, as JSON: every choice, the other flag, half and twice a number.
inline std::vector<std::string> otherValues(const Plan &plan, const KeyRow &row)
{
    std::vector<std::string> values;
    if (row.kind == KeyKind::Flag)
        return { "true", "false" };
    if (row.kind == KeyKind::Choice)
        return row.choices;
    if (row.kind != KeyKind::Number && row.kind != KeyKind::Whole)
        return {};
    if (row.isAutomatic)
        values.push_back("\"auto\"");
    if (row.mayBeMissing)
        values.push_back("null");
    const std::optional<double> now = row.read ? row.value(plan) : std::nullopt; // none: a number of its own kind
    const auto add = [&](double number) {
        const double least = row.key.isAboveMin ? row.key.min * 1.0001 : row.key.min;
        number = std::clamp(row.kind == KeyKind::Whole ? std::round(number) : number, least, row.key.max);
        values.push_back(row.kind == KeyKind::Whole ? std::to_string(std::int64_t(number)) : std::to_string(number));
    };
    add(now.value_or(4) * 2);
    add(now.value_or(4) / 2);
    return values;
}

/// Switches of `sections` ("memory", "schedule") by their keys.
inline void addKeySwitches(std::vector<PlanSwitch> &switches, const Plan &plan, const std::set<std::string> &sections)
{
    for (const KeyRow &row : planKeys()) {
        if (row.path.find('[') != std::string::npos || !sections.contains(row.path.substr(0, row.path.find('.'))))
            continue;
        for (const std::string &value : otherValues(plan, row))
            if (auto next = withKeySet(plan, row.path, value))
                switches.push_back({ row.path + "=" + value, std::make_shared<const Plan>(std::move(*next)) });
    }
}

inline std::vector<PlanSwitch> planSwitches(const PlanPtr &plan, const std::set<std::string> &sections)
{
    std::vector<PlanSwitch> switches;
    for (const Alternative &one : strategyAlternatives(*plan, builtinCatalogue()))
        if (one.plan && !one.isCurrent)
            switches.push_back({ "strategy " + one.id, one.plan });
    if (const auto space = makeSpace(plan, builtinCatalogue(), { .mayTrainOtherwise = true }))
        for (std::size_t axis = 0; axis < space->axes().size(); ++axis)
            for (std::size_t value = 0; value < space->axes()[axis].values.size(); ++value) {
                Candidate candidate = space->baseCandidate();
                candidate[axis] = std::uint16_t(value);
                switches.push_back({ "search " + space->axes()[axis].id + " " + space->axes()[axis].values[value].text,
                    space->plan(candidate) });
            }
    addKeySwitches(switches, *plan, sections);
    std::set<std::string> seen { formatPlan(*plan) };
    std::erase_if(switches, [&](const PlanSwitch &one) {
        return (hasJobs(*one.plan) && isSolver(one.plan->jobScheduler)) || !seen.insert(formatPlan(*one.plan)).second;
    });
    return switches;
}

} // namespace trainyard::test
