// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/report_parts.h"

#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/evaluation/report/bars_svg.h"
#include "core/evaluation/report/expert_text.h"
#include "core/evaluation/report/gantt_svg.h"
#include "core/evaluation/report/html_tables_internal.h"
#include "core/evaluation/report/job_bars.h"
#include "core/evaluation/report/job_text.h"
#include "core/evaluation/report/map_svg.h"
#include "core/evaluation/report/markup.h"
#include "core/evaluation/report/metric_rows.h"
#include "core/facts/plan/enum_names.h"
#include "core/facts/plan/job_schedulers.h"

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

using markup::escaped;

std::string problemList(const Evaluation &evaluation)
{
    std::string list;
    for (const Problem &problem : evaluation.problems) {
        const char *styleClass = problem.severity == Severity::Blocking ? "bad"
            : problem.severity == Severity::Warning                     ? "warning"
                                                                        : "muted";
        list += "<li><span class=\"" + std::string(styleClass) + "\">" + escaped(problem.text) + "</span>";
        for (const Fix &fix : problem.fixes)
            list += "<br><span class=\"muted\">could help: " + escaped(fix.label) + "</span>";
        list += "</li>";
    }
    for (const IdleGpus &idle : evaluation.layout.idle) {
        const Datacenter &where = evaluation.plan->cluster.datacenters.at(std::size_t(idle.datacenter));
        list += "<li class=\"muted\">" + counted(idle.gpus, "GPU") + " idle in " + escaped(where.label()) + ": "
            + escaped(idle.reason) + "</li>";
    }
    return list.empty() ? list : "<ul>" + list + "</ul>";
}

std::string expertList(const Evaluation &evaluation)
{
    std::string list;
    for (const std::string &sentence : expertSentences(evaluation))
        list += "<li>" + escaped(sentence) + "</li>";
    return list.empty() ? list : "<ul>" + list + "</ul>";
}

} // namespace

std::string reportSubtitle(const Evaluation &evaluation)
{
    const Plan &plan = *evaluation.plan;
    if (const auto &jobs = evaluation.metrics.jobs)
        return counted((long long)(jobs->perJob.size()), "job") + " \u00b7 "
            + counted(evaluation.metrics.gpusTotal, "GPU") + " \u00b7 "
            + counted((long long)(plan.cluster.datacenters.size()), "datacenter") + " \u00b7 " + schedulerText(plan);
    const std::string model = evaluation.model.name.empty() ? plan.workload.model : evaluation.model.name;
    return (model.empty() ? std::string("measured stage times") : model) + " \u00b7 "
        + std::to_string(evaluation.metrics.gpusUsed) + " of " + counted(evaluation.metrics.gpusTotal, "GPU")
        + " \u00b7 " + counted((long long)(plan.cluster.datacenters.size()), "datacenter") + " \u00b7 "
        + counted(plan.workload.globalBatch, "sequence") + " of " + counted(plan.workload.sequenceLength, "token")
        + " per iteration";
}

namespace {

/// "bound by node pair, 5 Gbps"; empty where no link carries anything.
std::string busiestLimit(const Evaluation &evaluation)
{
    const WanLinkUse *busiest = busiestLink(evaluation.metrics);
    return busiest && busiest->limit != WanLimit::None
        ? std::string("bound by ") + toString(busiest->limit) + ", " + gbpsText(busiest->limitGbps)
        : std::string();
}

} // namespace

std::string linkName(const Cluster &cluster, const WanLink &link)
{
    const auto label = [&](const std::string &id) {
        const int at = cluster.indexOf(id);
        return at < 0 ? id : cluster.datacenters[std::size_t(at)].label();
    };
    return label(link.between[0]) + " \u2013 " + label(link.between[1]);
}

std::vector<ReportSetting> reportSettings(const Evaluation &evaluation)
{
    const Plan &plan = *evaluation.plan;
    if (evaluation.metrics.jobs)
        return {};
    const Parallelism &p = plan.parallelism;
    std::string degrees = "TP " + std::to_string(p.tensor) + " \u00b7 PP " + std::to_string(p.pipeline);
    const auto add = [&degrees](const char *axis, int degree) {
        if (degree > 1)
            degrees += std::string(" \u00b7 ") + axis + " " + std::to_string(degree);
    };
    if (evaluation.layout.data > 0) // as it came about, also where the plan says auto
        degrees += " \u00b7 DP " + std::to_string(evaluation.layout.data);
    add("CP", p.context);
    add("EP", p.expert);
    add("ETP", p.expertTensor);
    add("virtual stages", p.virtualPipeline);
    std::vector<ReportSetting> settings { { "Parallelism", degrees },
        { "ZeRO", "stage " + std::to_string(p.zeroStage) }, { "Schedule", labelOf(plan.schedule) },
        { "Micro-batch",
            counted(plan.workload.microBatch, "sequence") + ", " + labelOf(plan.workload.precision) + ", "
                + labelOf(plan.workload.optimizer) },
        { "Recomputation", labelOf(plan.memory.recompute) },
        { "Stack", plan.stack.name + (plan.stack.release.empty() ? "" : " " + plan.stack.release) } };
    if (plan.cluster.datacenters.size() > 1)
        settings.push_back({ "Across datacenters", labelOf(evaluation.layout.mode) });
    return settings;
}

std::vector<ReportTile> reportTiles(const Evaluation &evaluation)
{
    const bool isOfJobs = evaluation.metrics.jobs.has_value();
    std::map<std::string, MetricRow> rows;
    for (MetricRow &row : metricRows(evaluation, isOfJobs))
        rows.emplace(row.key, row);
    const auto value = [&](const char *key) { return valueText(rows.at(key)); };
    const auto note = [&](const char *key, const char *words) {
        return rows.at(key).value ? value(key) + words : std::string();
    };
    if (isOfJobs)
        return { { "All jobs done after", value("jobs.makespan_s"), note("jobs.makespan_over_bound", " the bound") },
            { "All work over all GPUs", value("jobs.bound_shared_s"),
                isByShards(evaluation.plan->jobScheduler) ? "no schedule by shards is shorter"
                                                          : "no schedule of its kind is shorter" },
            { "Compute of the longest job", value("jobs.bound_longest_s"), "nor than this" },
            { "GPUs compute", value("jobs.gpu_utilization"), note("gpus_total", " GPUs") },
            { "Jobs", value("jobs.count"), countsText(countsOf(*evaluation.metrics.jobs)) },
            { "Fullest host", value("jobs.host_peak_bytes"), {} },
            { "Moved to GPUs", value("jobs.loaded_bytes"), note("jobs.stored_bytes", " back") },
            { "Price of it all", value("jobs.usd"), {} } };
    return { { "Iteration", value("iteration_time_s"), note("bubble_fraction", " bubble") },
        { "Tokens per second", value("tokens_per_s"), note("tokens_per_s_per_gpu", " per GPU") },
        { "MFU", value("mfu"), note("model_tflops_per_gpu", " TFLOP/s per GPU") },
        { "GPU utilization", value("gpu_utilization"), {} },
        { "Fullest GPU", value("memory.device_bytes"), note("memory.capacity_bytes", " capacity") },
        { "Busiest WAN link", value("wan.busiest_usable_utilization"), busiestLimit(evaluation) },
        { "Per million tokens", value("cost.usd_per_million_tokens"), note("cost.usd_total", " in all") },
        { "Time to train", value("cost.days_total"), note("cost.energy_mwh_total", "") } };
}

std::string confidenceSentence(const Confidence &confidence)
{
    std::string text;
    if (confidence.iterationLow && confidence.iterationHigh)
        text = "an iteration is expected between " + secondsText(*confidence.iterationLow) + " and "
            + secondsText(*confidence.iterationHigh);
    return confidence.note.empty() ? text : text + (text.empty() ? "" : "; ") + confidence.note;
}

namespace {

std::string jobLegend(const JobMetrics &jobs)
{
    constexpr std::size_t kMost = 2 * markup::kJobLooks;
    std::string html;
    for (std::size_t i = 0; i < std::min(jobs.perJob.size(), kMost); ++i)
        html += "<span><svg viewBox=\"0 0 11 11\">" + markup::rect(0, 0, 11, 11, markup::jobClass(int(i))) + "</svg>"
            + escaped(jobs.perJob[i].name) + "</span>";
    return html.empty() ? html : "<div class=\"legend\">" + html + "</div>";
}

std::vector<ReportCard> jobCards(const Evaluation &evaluation, Nanoseconds axis)
{
    constexpr std::size_t kMostRows = 200;
    const JobMetrics &jobs = *evaluation.metrics.jobs;
    const std::string gantt = ganttSvg(evaluation, axis);
    std::vector<ReportCard> cards { { "Problems", problemList(evaluation) }, { "Jobs", jobBars(evaluation, axis) },
        { "Timeline of the GPUs", gantt.empty() ? gantt : gantt + jobLegend(jobs) },
        { "Jobs in figures", jobTable(jobs, kMostRows) },
        { "Host memory", hostMemoryCurves(evaluation, axis) + hostTable(evaluation) },
        { "Memory of GPUs", gpuTable(evaluation) }, { "WAN links", linkTable(evaluation) } };
    std::erase_if(cards, [](const ReportCard &card) { return card.html.empty(); });
    return cards;
}

} // namespace

std::vector<ReportCard> reportCards(
    const Evaluation &evaluation, Nanoseconds axis, const std::vector<PartEffect> &parts)
{
    if (evaluation.metrics.jobs)
        return jobCards(evaluation, axis);
    std::vector<ReportCard> cards { { "Problems", problemList(evaluation) }, { "Settings", settingsTable(evaluation) },
        { "Datacenters and links", mapSvg(evaluation) }, { "Where the iteration goes", breakdownBar(evaluation) },
        { "What a better part would buy", usefulPartsTable(evaluation, parts) },
        { "Timeline of one iteration", ganttSvg(evaluation, axis) + workLegend(evaluation.timeline) },
        { "Memory of one GPU of each stage", memoryBars(evaluation) }, { "Memory in figures", memoryTable(evaluation) },
        { "WAN links", linkTable(evaluation) }, { "Experts", expertList(evaluation) },
        { "Placement", placementTable(evaluation) } };
    std::erase_if(cards, [](const ReportCard &card) { return card.html.empty(); });
    return cards;
}

} // namespace trainyard
