#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A file of rows that a sweep over a few keys wrote: of one site of H100s, with rows of every state.

#include "core/facts/plan/plan_io.h"
#include "core/planner/sweep/run_sweep.h"

#include "tests/support/plans.h"

namespace trainyard::test {

/// 4 × 3 × 2 × 3 rows: a number, another, a choice, and a text of which one value is no model.
inline SweepSpec sweptSpec()
{
    Plan plan = oneSite(4);
    plan.name = "Swept site";
    return { std::make_shared<const Plan>(*parsePlan(formatPlan(plan), "plan")),
        { *parseVary("parallelism.tensor=1..8:*2"), *parseVary("parallelism.pipeline=1,2,4"),
            *parseVary("memory.recompute=none,full"), *parseVary("workload.model=llama-3-8b,nobody,gpt-3-1.3b") } };
}

inline bool writeSweep(const std::string &path, const SweepSpec &spec = sweptSpec())
{
    const SweepFormat format = sweepFormatOf(path).value_or(SweepFormat::Csv);
    auto file = SweepFile::open(path, spec, format, SweepFile::Start::New);
    return file && runSweep(spec, format, builtinCatalogue(), *file, 2, {}).has_value();
}

} // namespace trainyard::test
