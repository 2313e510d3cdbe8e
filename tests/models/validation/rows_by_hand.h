#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A few rows with round figures, evaluated and not, so that a test can state what must be shown.

#include "models/validation/validated_rows.h"

namespace trainyard::byhand {

inline Plan plan(int microBatch = 1)
{
    Plan p;
    Datacenter d;
    d.id = "a";
    Pool pool;
    pool.id = "a-h100";
    pool.gpu = "h100-sxm-80gb";
    pool.nodes = 1;
    d.pools = { pool };
    p.cluster.datacenters = { d };
    p.workload.model = "llama-3-8b";
    p.workload.globalBatch = 16;
    p.workload.microBatch = microBatch;
    p.parallelism.tensor = 8;
    return p;
}

inline ValidationRow row(const std::string &id, std::vector<PublishedFigure> published,
    RowStatus status = RowStatus::Gated, int microBatch = 1)
{
    ValidationRow r;
    r.id = id;
    r.status = status;
    r.plan = std::make_shared<const Plan>(plan(microBatch));
    r.published = std::move(published);
    return r;
}

/// Two sources that a run evaluates in an instant: times and memory of "alpha", one row of it with an unknown model;
/// one row of "beta" whose inputs are assumed.
inline std::vector<RowSet> sets()
{
    RowSet alpha { "alpha", "Alpha's table", "https://example.org/alpha", "Of one node.", {} };
    alpha.rows = { row("first", { { "iteration_time_s", 2.0 }, { "memory.peak_bytes", 4e10 } }),
        row("second", { { "iteration_time_s", 1.0 } }, RowStatus::Gated, 2),
        row("broken", { { "iteration_time_s", 3.0 } }) };
    Plan unknown = plan();
    unknown.workload.model = "no-such-model";
    alpha.rows[2].plan = std::make_shared<const Plan>(unknown);
    RowSet beta { "beta", "Beta's blog", {}, {},
        { row("guess", { { "iteration_time_s", 4.0 } }, RowStatus::Guessed) } };
    return { alpha, beta };
}

inline ValidationResult result(const std::string &source, const std::string &id, const std::string &metric,
    double published, std::optional<double> predicted)
{
    ValidationResult r;
    r.source = source;
    r.id = id;
    r.metric = metric;
    r.published = published;
    r.predicted = predicted;
    return r;
}

/// The same rows as if they had been evaluated: errors +10 %, −20 % and +5 % of alpha, none for the broken row, +50 %
/// of beta.
inline ValidatedRowsPtr rows(const std::vector<Gate> &gates = {})
{
    auto made = std::make_shared<ValidatedRows>();
    made->sets = sets();
    ValidationRun run;
    run.results = { result("alpha", "first", "iteration_time_s", 2, 2.2),
        result("alpha", "first", "memory.peak_bytes", 4e10, 4.2e10),
        result("alpha", "second", "iteration_time_s", 1, 0.8),
        result("alpha", "broken", "iteration_time_s", 3, std::nullopt),
        result("beta", "guess", "iteration_time_s", 4, 6) };
    run.results[3].problem = "no model is called no-such-model";
    run.results[4].status = RowStatus::Guessed;
    made->seconds = 1.5;
    made->validation = summarised(made->sets, std::move(run), gates);
    made->leftOut = { { "alpha", "third", "its inputs were not published" } };
    return made;
}

} // namespace trainyard::byhand
