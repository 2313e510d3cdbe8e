#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The plans among samples/, by their names without the ending. One that cannot be read ends the test.

#include "core/evaluation/advice/evaluate.h"
#include "core/facts/plan/plan_io.h"

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

namespace trainyard::test {

inline std::string samplePath(const std::string &name)
{
    return TRAINYARD_SOURCE_DIR "/samples/" + name + ".trainyard.json";
}

inline Plan samplePlan(const std::string &name)
{
    auto plan = readPlan(samplePath(name));
    if (!plan) {
        std::cerr << toString(plan.error().front()) << std::endl;
        std::abort();
    }
    return std::move(*plan);
}

inline PlanPtr sharedSample(const std::string &name)
{
    return std::make_shared<const Plan>(samplePlan(name));
}

inline EvaluationPtr evaluatedSample(const std::string &name)
{
    EvaluationWorkspace workspace;
    return evaluate(sharedSample(name), builtinCatalogue(), workspace).value();
}

} // namespace trainyard::test
