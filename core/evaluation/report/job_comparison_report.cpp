// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/job_comparison_report.h"

#include "core/base/number_text.h"
#include "core/base/printable.h"
#include "core/base/text_table.h"
#include "core/evaluation/report/job_text.h"
#include "core/evaluation/report/json_internal.h"
#include "core/facts/plan/enum_names.h"
#include "core/facts/plan/job_schedulers.h"

#include <algorithm>

namespace trainyard {

namespace {

using enum TextTable::Align;

const JobMetrics *metricsOf(const JobVariant &variant)
{
    return variant.evaluation && variant.evaluation->metrics.jobs ? &*variant.evaluation->metrics.jobs : nullptr;
}

std::string timesText(const Metric &times)
{
    return times ? plainText(*times) + "\u00d7" : kNoFigure;
}

std::string timesText(const JobVariant *over, const JobVariant &of)
{
    return timesText(over ? speedUp(*over, of) : Metric());
}

std::string makespanText(const JobVariant &variant)
{
    const Metric makespan = variant.makespan();
    return makespan ? durationText(*makespan) : kNoFigure;
}

const JobVariant *variantOf(const std::vector<JobVariant> &variants, JobScheduler scheduler)
{
    const auto found = std::ranges::find_if(
        variants, [&](const JobVariant &v) { return v.plan && v.plan->jobScheduler == scheduler; });
    return found == variants.end() ? nullptr : &*found;
}

/// "  Pipeline: 3 of the jobs cannot run"; of a solver also what it proved. A line of its own, as it may be long.
std::string noteLine(const JobVariant &variant)
{
    std::string note = variant.note;
    if (variant.evaluation && variant.plan && isSolver(variant.plan->jobScheduler))
        for (const Problem &problem : variant.evaluation->problems)
            if (problem.where == "job_options.seconds")
                note += (note.empty() ? "" : "; ") + problem.text;
    return note.empty() ? note : "  " + variant.name + ": " + printable(note) + "\n";
}

std::string schedulerTable(const std::vector<JobVariant> &variants)
{
    const JobVariant *serial = variantOf(variants, JobScheduler::ModelParallel);
    const JobVariant *pipeline = variantOf(variants, JobScheduler::Pipeline);
    TextTable table({ Left, Right, Right, Right, Right, Right, Right },
        { "scheduler", "all done after", "over its bound", "GPUs compute", "over model parallel", "over pipeline",
            "price" });
    std::string notes;
    for (const JobVariant &variant : variants) {
        const JobMetrics *metrics = metricsOf(variant);
        table.add({ variant.name, makespanText(variant),
            timesText(metrics && metrics->makespan && metrics->bound && *metrics->bound > 0
                    ? Metric(*metrics->makespan / *metrics->bound)
                    : Metric()),
            metrics && metrics->gpuUtilization ? percentText(*metrics->gpuUtilization) : kNoFigure,
            timesText(serial, variant), timesText(pipeline, variant),
            metrics && metrics->usd ? usdText(*metrics->usd) : kNoFigure });
        notes += noteLine(variant);
    }
    return table.text() + (notes.empty() ? notes : "\n" + notes);
}

std::string limitsText(const Evaluation &own)
{
    const SpeedupLimits limits = speedupLimits(own);
    return "  Over model parallelism at most min(G, n) = min(" + std::to_string(limits.gpus) + ", "
        + std::to_string(limits.jobs) + ") = " + wholeText(limits.overModelParallel)
        + "\u00d7, where its transfers hide as well;\n  over a pipeline of " + std::to_string(limits.gpus)
        + " stages about (M + K \u2212 1) / M = " + plainText(limits.overPipeline)
        + "\u00d7, with micro-batches of one sequence.\n";
}

/// Each against the first, or each against the one before it.
std::string stepsTable(const char *title, const std::vector<JobVariant> &variants, bool inSteps)
{
    if (variants.empty())
        return {};
    std::string notes;
    std::vector<TextTable::Align> align { Left, Right, Right };
    std::vector<std::string> headings { title, "all done after", "speed-up" };
    if (inSteps) {
        align.push_back(Right);
        headings.emplace_back("of this step");
    }
    align.push_back(Right);
    headings.emplace_back("GPUs compute");
    TextTable table(align, headings);
    for (std::size_t i = 0; i < variants.size(); ++i) {
        const JobVariant &variant = variants[i];
        const JobMetrics *metrics = metricsOf(variant);
        std::vector<std::string> cells { variant.name, makespanText(variant), timesText(&variants.front(), variant) };
        if (inSteps)
            cells.push_back(i == 0 ? "" : timesText(&variants[i - 1], variant));
        cells.push_back(metrics && metrics->gpuUtilization ? percentText(*metrics->gpuUtilization) : kNoFigure);
        table.add(std::move(cells));
        notes += noteLine(variant);
    }
    return "\n" + table.text() + notes;
}

std::string oneMoreTable(const Evaluation &own, const std::vector<JobVariant> &variants)
{
    if (variants.empty())
        return {};
    std::string notes;
    const Metric base = own.metrics.jobs ? own.metrics.jobs->makespan : Metric();
    TextTable table({ Left, Right, Right, Right }, { "one GPU more", "all done after", "", "price" });
    for (const JobVariant &variant : variants) {
        const JobMetrics *metrics = metricsOf(variant);
        const Metric now = variant.makespan();
        table.add({ variant.name, makespanText(variant), base && now ? changeText(*base, *now) : kNoFigure,
            metrics && metrics->usd ? usdText(*metrics->usd) : kNoFigure });
        notes += noteLine(variant);
    }
    return "\n" + table.text() + notes;
}

Json variantObject(const JobVariant &variant)
{
    const JobMetrics *metrics = metricsOf(variant);
    const auto number = [&](Metric JobMetrics::*part) { return metrics ? finite(metrics->*part) : Json(nullptr); };
    return { { "name", variant.name },
        { "scheduler", variant.plan ? Json(toString(variant.plan->jobScheduler)) : Json(nullptr) },
        { "gpus", variant.plan ? Json(variant.plan->cluster.gpus()) : Json(nullptr) },
        { "note", variant.note.empty() ? Json(nullptr) : Json(variant.note) },
        { "makespan_s", finite(variant.makespan()) }, { "bound_s", number(&JobMetrics::bound) },
        { "gpu_utilization", number(&JobMetrics::gpuUtilization) }, { "usd", number(&JobMetrics::usd) },
        { "run", metrics ? Json(countsOf(*metrics).run) : Json(nullptr) } };
}

Json variantList(const std::vector<JobVariant> &variants)
{
    Json list = Json::array();
    for (const JobVariant &variant : variants)
        list.push_back(variantObject(variant));
    return list;
}

} // namespace

SpeedupLimits speedupLimits(const Evaluation &evaluation)
{
    SpeedupLimits limits;
    limits.gpus = evaluation.metrics.gpusTotal;
    if (!evaluation.metrics.jobs)
        return limits;
    const std::vector<JobResult> &results = evaluation.metrics.jobs->perJob;
    const std::vector<Job> jobs = allJobs(*evaluation.plan);
    double work = 0, longer = 0;
    for (std::size_t i = 0; i < std::min(jobs.size(), results.size()); ++i) {
        if (results[i].state != JobState::Runs)
            continue;
        ++limits.jobs;
        const double batch = jobs[i].batch;
        work += results[i].work;
        longer += results[i].work * (batch + limits.gpus - 1) / batch;
    }
    limits.overModelParallel = std::max(1, std::min(limits.gpus, limits.jobs));
    limits.overPipeline = work > 0 ? longer / work : 1;
    return limits;
}

std::string jobComparisonTable(const Evaluation &evaluation, const JobComparisons &compared)
{
    const std::string &name = evaluation.plan->name;
    return (name.empty() ? "" : printable(name) + "\n\n") + schedulerTable(compared.schedulers) + limitsText(evaluation)
        + stepsTable("what each part is worth", compared.ablation, true)
        + stepsTable("more and fewer GPUs", compared.scaling, false) + oneMoreTable(evaluation, compared.oneMore);
}

std::string jobComparisonJson(const Evaluation &evaluation, const JobComparisons &compared)
{
    const SpeedupLimits limits = speedupLimits(evaluation);
    return dumped({ { "name", evaluation.plan->name },
        { "limits",
            { { "gpus", limits.gpus }, { "jobs", limits.jobs },
                { "over_model_parallel", finite(limits.overModelParallel) },
                { "over_pipeline", finite(limits.overPipeline) } } },
        { "schedulers", variantList(compared.schedulers) }, { "ablation", variantList(compared.ablation) },
        { "scaling", variantList(compared.scaling) }, { "one_more_gpu", variantList(compared.oneMore) } });
}

} // namespace trainyard
