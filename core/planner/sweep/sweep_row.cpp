// SPDX-License-Identifier: GPL-3.0-or-later
// One row: the plan, as deep as its time, cost and problems, and the figures of it that a file of rows has.
#include "core/base/printable.h"
#include "core/planner/sweep/row_plans.h"

#include <algorithm>
#include <exception>

namespace trainyard {

namespace {

struct Column {
    const char *name; // of docs/metrics.md
    Metric (*of)(const Metrics &);
};

Metric usdPerHour(const Metrics &m)
{
    return m.cost.usdPerIteration && m.iterationTime && *m.iterationTime > 0
        ? Metric(*m.cost.usdPerIteration * 3600 / *m.iterationTime)
        : Metric();
}

/// Of one GPU of the fullest stage.
Metric deviceBytes(const Metrics &m)
{
    if (!m.memory)
        return {};
    const auto stage = std::ranges::find(m.memory->perStage, m.memory->fullestStage, &StageMemory::stage);
    return stage == m.memory->perStage.end() ? Metric() : Metric(double(stage->device));
}

Metric memoryFill(const Metrics &m)
{
    const Metric device = deviceBytes(m);
    return device && m.memory->capacity > 0 ? Metric(*device / double(m.memory->capacity)) : Metric();
}

constexpr Column kColumns[] = {
    { "iteration_time_s", [](const Metrics &m) { return m.iterationTime; } },
    { "tokens_per_s", [](const Metrics &m) { return m.tokensPerSecond; } },
    { "tokens_per_s_per_gpu", [](const Metrics &m) { return m.tokensPerSecondPerGpu; } },
    { "model_tflops_per_gpu", [](const Metrics &m) { return m.modelTflopsPerGpu; } },
    { "mfu", [](const Metrics &m) { return m.mfu; } },
    { "hfu", [](const Metrics &m) { return m.hfu; } },
    { "gpu_utilization", [](const Metrics &m) { return m.gpuUtilization; } },
    { "gpu_utilization_with_fill", [](const Metrics &m) { return m.gpuUtilizationWithFill; } },
    { "bubble_fraction", [](const Metrics &m) { return m.bubbleFraction; } },
    { "gpus_used", [](const Metrics &m) { return Metric(m.gpusUsed); } },
    { "gpus_total", [](const Metrics &m) { return Metric(m.gpusTotal); } },
    { "memory.peak_bytes", [](const Metrics &m) { return m.memory ? Metric(double(m.memory->peak)) : Metric(); } },
    { "memory.device_bytes", &deviceBytes },
    { "memory.capacity_bytes",
        [](const Metrics &m) { return m.memory ? Metric(double(m.memory->capacity)) : Metric(); } },
    { "memory.fill", &memoryFill },
    { "cost.usd_per_iteration", [](const Metrics &m) { return m.cost.usdPerIteration; } },
    { "cost.usd_per_million_tokens", [](const Metrics &m) { return m.cost.usdPerMillionTokens; } },
    { "cost.usd_per_hour", &usdPerHour },
    { "cost.usd_total", [](const Metrics &m) { return m.cost.usdTotal; } },
    { "cost.days_total", [](const Metrics &m) { return m.cost.daysTotal; } },
    { "cost.energy_mwh_total", [](const Metrics &m) { return m.cost.energyMwhTotal; } },
    { "cost.co2_t_total", [](const Metrics &m) { return m.cost.co2TonsTotal; } },
    { "wan.bytes_per_iteration",
        [](const Metrics &m) { return m.wanLinks.empty() ? Metric() : Metric(m.wanBytesPerIteration); } },
    { "bubble_fill.filled_fraction",
        [](const Metrics &m) { return m.bubbleFill ? Metric(m.bubbleFill->filledFraction) : Metric(); } },
    { "bubble_fill.prefill_tokens_per_s",
        [](const Metrics &m) { return m.bubbleFill ? Metric(m.bubbleFill->prefillTokensPerSecond) : Metric(); } },
    { "jobs.makespan_s", [](const Metrics &m) { return m.jobs ? m.jobs->makespan : Metric(); } },
    { "jobs.usd", [](const Metrics &m) { return m.jobs ? m.jobs->usd : Metric(); } },
};

/// Why a plan that was evaluated cannot run.
std::string reasonOf(const Evaluation &evaluation)
{
    const auto blocking = std::ranges::find(evaluation.problems, Severity::Blocking, &Problem::severity);
    return blocking == evaluation.problems.end() ? "it cannot run" : printable(blocking->text);
}

SweepRow refused(SweepRow row, const Errors &errors)
{
    row.state = "refused";
    row.reason = errors.empty() ? "it is refused" : printable(toString(errors.front()));
    for (const Column &column : kColumns)
        row.metrics.emplace_back(column.name, Metric());
    return row;
}

} // namespace

struct SweepRows::Private {
    RowPlans plans;
    const Catalogue &catalogue;
    EvaluationWorkspace workspace;
};

SweepRows::SweepRows(SweepSpec spec, const Catalogue &catalogue, std::shared_ptr<GraphCache> graphs)
    : m_private(new Private {
        RowPlans(std::move(spec)), catalogue, graphs ? EvaluationWorkspace(std::move(graphs)) : EvaluationWorkspace() })
{
}
SweepRows::~SweepRows() = default;
SweepRows::SweepRows(SweepRows &&) noexcept = default;

const std::vector<std::string> &sweepMetricNames()
{
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const Column &column : kColumns)
            all.emplace_back(column.name);
        return all;
    }();
    return names;
}

ExpectedAll<PlanPtr> SweepRows::plan(std::uint64_t number)
{
    return m_private->plans.plan(m_private->plans.spec().choices(number));
}

std::optional<SweepRow> SweepRows::row(std::uint64_t number, const std::stop_token &stop)
{
    SweepRow row { number, m_private->plans.spec().values(number), "feasible", {}, {} };
    ExpectedAll<EvaluationPtr> evaluated;
    try {
        const auto planned = plan(number);
        if (!planned)
            return refused(std::move(row), planned.error());
        evaluated = run(*planned, Depth::Score,
            { .catalogue = m_private->catalogue, .workspace = m_private->workspace, .stop = stop });
    } catch (const std::exception &failure) { // memory, say: a row that cannot be worked out stops no other
        evaluated = std::unexpected(Errors { { ErrorCode::Internal, {}, failure.what(), {} } });
    }
    if (!evaluated) {
        if (stop.stop_requested())
            return std::nullopt;
        return refused(std::move(row), evaluated.error());
    }
    if (!(*evaluated)->feasible()) {
        row.state = "infeasible";
        row.reason = reasonOf(**evaluated);
    } else if (const auto unranked = whyUnranked((*evaluated)->model.doubts)) {
        return refused(std::move(row), { *unranked });
    }
    row.metrics.reserve(std::size(kColumns));
    for (const Column &column : kColumns)
        row.metrics.emplace_back(column.name, column.of((*evaluated)->metrics));
    return row;
}

} // namespace trainyard
