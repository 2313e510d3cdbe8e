// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/html_report.h"

#include "core/plan/plan_diff.h"
#include "core/report/bars_svg.h"
#include "core/report/gantt_svg.h"
#include "core/report/html_tables_internal.h"
#include "core/report/markup.h"
#include "core/report/metric_rows.h"
#include "core/report/number_text.h"
#include "core/report/report_style.h"

#include <algorithm>

namespace trainyard {

namespace {

using markup::escaped;

std::string subtitle(const Evaluation &evaluation)
{
    const Plan &plan = *evaluation.plan;
    const std::size_t datacenters = plan.cluster.datacenters.size();
    const std::string model = evaluation.model.name.empty() ? plan.workload.model : evaluation.model.name;
    return (model.empty() ? std::string("measured profile") : model) + " \u00b7 " + std::to_string(evaluation.metrics.gpusUsed) + " of "
        + std::to_string(evaluation.metrics.gpusTotal) + " GPUs \u00b7 " + std::to_string(datacenters)
        + (datacenters == 1 ? " datacenter" : " datacenters") + " \u00b7 sequences of " + std::to_string(plan.workload.sequenceLength)
        + ", " + std::to_string(plan.workload.globalBatch) + " an iteration";
}

std::string tile(const std::string &label, const std::string &value, const std::string &note = {})
{
    return "<div class=\"tile\"><div class=\"label\">" + escaped(label) + "</div><div class=\"value\">" + escaped(value)
        + "</div><div class=\"note\">" + escaped(note) + "</div></div>";
}

/// "of its node pair, 5 Gbps"; empty where no link carries anything.
std::string busiestLimit(const Evaluation &evaluation)
{
    const WanLinkUse *busiest = busiestLink(evaluation.metrics);
    return busiest && busiest->limit != WanLimit::None ? std::string("bound by ") + toString(busiest->limit) + ", " + plainText(busiest->limitGbps) + " Gbps" : std::string();
}

std::string tiles(const Evaluation &evaluation)
{
    std::map<std::string, MetricRow> rows;
    for (MetricRow &row : metricRows(evaluation))
        rows.emplace(row.key, row);
    const auto value = [&](const char *key) { return valueText(rows.at(key)); };
    const auto note = [&](const char *key, const char *words) { return rows.at(key).value ? value(key) + words : std::string(); };
    return "<div class=\"tiles\">" + tile("Iteration", value("iteration_time_s"), note("bubble_fraction", " bubble"))
        + tile("Tokens per second", value("tokens_per_s"), note("tokens_per_s_per_gpu", " per GPU"))
        + tile("MFU", value("mfu"), note("model_tflops_per_gpu", " TFLOP/s per GPU")) + tile("GPU utilization", value("gpu_utilization"))
        + tile("Fullest GPU", value("memory.device_bytes"), note("memory.capacity_bytes", " capacity"))
        + tile("Busiest WAN link", value("wan.busiest_usable_utilization"), busiestLimit(evaluation))
        + tile("Per million tokens", value("cost.usd_per_million_tokens"), note("cost.usd_total", " in all"))
        + tile("Time to train", value("cost.days_total"), note("cost.energy_mwh_total", "")) + "</div>";
}

std::string card(const std::string &title, const std::string &content)
{
    return content.empty() ? content : "<div class=\"card\"><h3>" + escaped(title) + "</h3>" + content + "</div>\n";
}

std::string confidence(const Confidence &confidence)
{
    if (confidence.label.empty())
        return {};
    std::string text = "<p><span class=\"badge muted\">" + escaped(confidence.label) + "</span> <span class=\"muted\">";
    if (confidence.iterationLow && confidence.iterationHigh)
        text += "an iteration is expected between " + escaped(secondsText(*confidence.iterationLow)) + " and " + escaped(secondsText(*confidence.iterationHigh));
    if (!confidence.note.empty())
        text += "; " + escaped(confidence.note);
    return text + "</span></p>";
}

std::string problems(const Evaluation &evaluation)
{
    std::string list;
    for (const Problem &problem : evaluation.problems) {
        const char *styleClass = problem.severity == Severity::Blocking ? "bad" : problem.severity == Severity::Warning ? "warning" : "muted";
        list += "<li><span class=\"" + std::string(styleClass) + "\">" + escaped(problem.text) + "</span>";
        for (const Fix &fix : problem.fixes)
            list += "<br><span class=\"muted\">could help: " + escaped(fix.label) + "</span>";
        list += "</li>";
    }
    for (const IdleGpus &idle : evaluation.layout.idle) {
        const Datacenter &where = evaluation.plan->cluster.datacenters.at(std::size_t(idle.datacenter));
        list += "<li class=\"muted\">" + std::to_string(idle.gpus) + " GPUs idle in " + escaped(where.label()) + ": " + escaped(idle.reason) + "</li>";
    }
    return list.empty() ? list : "<ul>" + list + "</ul>";
}

std::string differences(const NamedEvaluation &base, const NamedEvaluation &plan)
{
    std::string list;
    for (const std::string &sentence : describeDifferences(*base.evaluation->plan, *plan.evaluation->plan))
        list += "<li>" + escaped(sentence) + "</li>";
    return list.empty() ? "<p class=\"muted\">no difference</p>" : "<ul>" + list + "</ul>";
}

std::string section(const std::vector<NamedEvaluation> &plans, std::size_t index, Nanoseconds axis)
{
    const NamedEvaluation &plan = plans[index];
    const Evaluation &evaluation = *plan.evaluation;
    std::string html;
    if (plans.size() > 1)
        html += "<h2>" + escaped(plan.name) + "</h2><p class=\"muted\">" + escaped(subtitle(evaluation)) + "</p>\n";
    html += tiles(evaluation) + confidence(evaluation.metrics.confidence);
    if (!evaluation.feasible())
        html += "<p class=\"bad\"><span class=\"badge\">not feasible</span></p>";
    if (index > 0)
        html += card("What differs from " + plans.front().name, differences(plans.front(), plan));
    html += card("Problems", problems(evaluation));
    html += card("Where the iteration goes", breakdownBar(evaluation));
    html += card("Timeline of one iteration", ganttSvg(evaluation, axis) + workLegend(evaluation.timeline));
    html += card("Memory of one GPU of each stage", memoryBars(evaluation));
    html += card("Memory in figures", memoryTable(evaluation));
    html += card("WAN links", linkTable(evaluation));
    return html + card("Placement", placementTable(evaluation));
}

} // namespace

std::string htmlReport(const std::vector<NamedEvaluation> &plans)
{
    Nanoseconds axis = 0;
    for (const NamedEvaluation &plan : plans)
        axis = std::max(axis, plan.evaluation->timeline.duration);
    const std::string title = escaped(plans.front().name);
    std::string html = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + title
        + " \u2013 Trainyard</title>\n<meta name=\"viewport\" content=\"width=device-width\"><style>" + std::string(reportStyle())
        + "</style></head>\n<body><main>\n<h1>" + title + "</h1>\n";
    html += "<p class=\"muted\">" + escaped(subtitle(*plans.front().evaluation)) + "</p>\n";
    if (!plans.front().evaluation->plan->notes.empty())
        html += "<p>" + escaped(plans.front().evaluation->plan->notes) + "</p>\n";
    if (plans.size() > 1)
        html += card("Side by side", metricsTableHtml(plans));
    for (std::size_t p = 0; p < plans.size(); ++p)
        html += section(plans, p, axis);
    if (plans.size() == 1)
        html += card("All metrics", metricsTableHtml(plans));
    return html + "<p class=\"muted\">Written by Trainyard " TRAINYARD_VERSION ". Every metric is defined in docs/metrics.md.</p>\n</main></body></html>\n";
}

} // namespace trainyard
