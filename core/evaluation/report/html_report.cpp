// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/html_report.h"
#include "core/base/version.h"

#include "core/evaluation/report/html_tables_internal.h"
#include "core/evaluation/report/markup.h"
#include "core/evaluation/report/report_parts.h"
#include "core/evaluation/report/report_style.h"
#include "core/facts/plan/embedded_plan.h"
#include "core/facts/plan/plan_diff.h"

#include <algorithm>

namespace trainyard {

namespace {

using markup::escaped;

std::string tiles(const Evaluation &evaluation)
{
    std::string html;
    for (const ReportTile &tile : reportTiles(evaluation))
        html += "<div class=\"tile\"><div class=\"label\">" + escaped(tile.label) + "</div><div class=\"value\">"
            + escaped(tile.value) + "</div><div class=\"note\">" + escaped(tile.note) + "</div></div>";
    return "<div class=\"tiles\">" + html + "</div>";
}

std::string card(const std::string &title, const std::string &content)
{
    return content.empty() ? content : "<div class=\"card\"><h3>" + escaped(title) + "</h3>" + content + "</div>\n";
}

std::string confidence(const Evaluation &evaluation)
{
    const Confidence &of = evaluation.metrics.confidence;
    if (of.label.empty())
        return {};
    return "<p><span class=\"badge muted\">" + escaped(of.label) + "</span> <span class=\"muted\">"
        + escaped(confidenceSentence(of)) + "</span></p>";
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
        html +=
            "<h2>" + escaped(plan.name) + "</h2><p class=\"muted\">" + escaped(reportSubtitle(evaluation)) + "</p>\n";
    html += tiles(evaluation) + confidence(evaluation);
    if (!evaluation.feasible())
        html += "<p class=\"bad\"><span class=\"badge\">not feasible</span></p>";
    if (index > 0)
        html += card("What differs from " + plans.front().name, differences(plans.front(), plan));
    for (const ReportCard &part : reportCards(evaluation, axis, plan.parts))
        html += card(part.title, part.html);
    return html;
}

} // namespace

std::string htmlReport(const std::vector<NamedEvaluation> &plans)
{
    Nanoseconds axis = 0;
    for (const NamedEvaluation &plan : plans)
        axis = std::max(axis, plan.evaluation->timeline.duration);
    const std::string title = escaped(plans.front().name);
    std::string html = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + title
        + " \u2013 Trainyard</title>\n<meta name=\"viewport\" content=\"width=device-width\"><style>"
        + std::string(reportStyle()) + (haveJobs(plans) ? std::string(jobStyle()) : "")
        + "</style></head>\n<body><main>\n<h1>" + title + "</h1>\n";
    html += "<p class=\"muted\">" + escaped(reportSubtitle(*plans.front().evaluation)) + "</p>\n";
    if (!plans.front().evaluation->plan->notes.empty())
        html += "<p>" + escaped(plans.front().evaluation->plan->notes) + "</p>\n";
    if (plans.size() > 1)
        html += card("Side by side", metricsTableHtml(plans));
    for (std::size_t p = 0; p < plans.size(); ++p)
        html += section(plans, p, axis);
    if (plans.size() == 1)
        html += card("All metrics", metricsTableHtml(plans));
    html += "<p class=\"muted\">Written by Trainyard " + std::string(productVersion())
        + ", which opens this page as the plan that it is about. Every metric is defined in docs/metrics.md.</p>\n";
    const Evaluation &first = *plans.front().evaluation;
    return html + "</main>\n" + planElement(withModelInside(*first.plan, first.model)) + "</body></html>\n";
}

} // namespace trainyard
