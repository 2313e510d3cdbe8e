// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/markdown_report.h"

#include "core/base/markdown_text.h"
#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/evaluation/evaluate/comparable.h"
#include "core/evaluation/report/expert_text.h"
#include "core/evaluation/report/job_text.h"
#include "core/evaluation/report/markup.h"
#include "core/evaluation/report/metric_rows.h"
#include "core/evaluation/report/report_parts.h"
#include "core/facts/plan/plan_diff.h"

#include <algorithm>

namespace trainyard {

namespace {

using markup::markdownText;

void addMetrics(std::string &text, const std::vector<NamedEvaluation> &plans)
{
    text += "| |";
    for (const NamedEvaluation &plan : plans)
        text += " " + markdownText(plan.heading()) + " |";
    text += "\n|---|";
    for (std::size_t p = 0; p < plans.size(); ++p)
        text += "---:|";
    text += "\n";
    const bool withJobs = haveJobs(plans);
    std::vector<std::vector<MetricRow>> rows;
    for (const NamedEvaluation &plan : plans) {
        rows.push_back(metricRows(*plan.evaluation, withJobs));
        for (MetricRow &row : breakdownRows(*plan.evaluation))
            rows.back().push_back(std::move(row));
    }
    for (std::size_t r = 0; r < rows.front().size(); ++r) {
        const auto isThere = [r](const auto &column) { return r < column.size() && column[r].value; };
        if (withJobs && std::ranges::none_of(rows, isThere)) // of an iteration
            continue;
        text += "| " + rows.front()[r].label + " |";
        for (const auto &column : rows)
            text += " " + (r < column.size() ? valueText(column[r]) : std::string("\u2013")) + " |";
        text += "\n";
    }
}

void addMemory(std::string &text, const Evaluation &evaluation)
{
    if (!evaluation.metrics.memory || evaluation.metrics.jobs)
        return;
    text += "\n### Memory of one GPU of each stage\n\n| stage | weights | gradients | optimizer | activations | "
            "buffers | on device | capacity | |\n"
            "|---:|---:|---:|---:|---:|---:|---:|---:|---|\n";
    for (const StageMemory &s : evaluation.metrics.memory->perStage) {
        text += "| " + std::to_string(s.stage + 1);
        for (const std::int64_t bytes :
            { s.weights, s.gradients, s.optimizer, s.activations, s.buffers, s.device, s.capacity })
            text += " | " + bytesText(double(bytes));
        text += s.fits() ? " | |\n" : " | does not fit |\n";
    }
}

void addRow(std::string &text, const std::vector<std::string> &cells)
{
    for (const std::string &cell : cells)
        text += "| " + markdownText(cell) + " ";
    text += "|\n";
}

void addJobs(std::string &text, const Evaluation &evaluation)
{
    constexpr std::size_t kMostJobs = 100;
    if (!evaluation.metrics.jobs)
        return;
    const JobMetrics &jobs = *evaluation.metrics.jobs;
    const std::vector<std::size_t> shown = jobsToShow(jobs, kMostJobs);
    text +=
        "\n### Jobs\n\n" + markdownText(schedulerText(*evaluation.plan) + ": " + countsText(countsOf(jobs))) + ".\n\n";
    addRow(text, jobHeadings());
    text += "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n";
    for (const std::size_t i : shown)
        addRow(text, jobCells(jobs.perJob[i]));
    if (shown.size() < jobs.perJob.size())
        text += "\nand " + wholeText(double(jobs.perJob.size() - shown.size())) + " more\n";
    if (evaluation.metrics.memory) {
        text += "\n### Memory of GPUs\n\n";
        addRow(text, gpuHeadings());
        text += "|---:|---:|---:|---:|---|\n";
        for (const std::vector<std::string> &cells : gpuRows(*evaluation.metrics.memory, kMostJobs))
            addRow(text, cells);
    }
    if (const std::string rate = copyRateText(*evaluation.plan); !rate.empty())
        text += "\n" + rate + ".\n";
    if (jobs.hosts.empty())
        return;
    text += "\n### Host memory\n\n";
    addRow(text, hostHeadings());
    text += "|---|---:|---:|---:|\n";
    for (const HostUse &host : jobs.hosts)
        addRow(text, hostCells(*evaluation.plan, host));
}

void addLinks(std::string &text, const Evaluation &evaluation)
{
    if (evaluation.metrics.wanLinks.empty())
        return;
    text += "\n### WAN links\n\n| link | per iteration | use | bound by | connections |\n|---|---:|---:|---|---:|\n";
    for (const WanLinkUse &use : evaluation.metrics.wanLinks) {
        const Cluster &cluster = evaluation.plan->cluster;
        text += "| " + markdownText(linkName(cluster, cluster.wanLinks.at(std::size_t(use.link)))) + " | "
            + bytesText(use.totalBytes()) + " | " + percentText(use.usableUtilization) + " | " + toString(use.limit)
            + " | " + (use.tcpConnections > 0 ? std::to_string(use.tcpConnections) : "\u2013") + " |\n";
    }
}

void addExpertSentences(std::string &text, const Evaluation &evaluation)
{
    const std::vector<std::string> sentences = expertSentences(evaluation);
    if (!sentences.empty())
        text += "\n### Experts\n\n";
    for (const std::string &sentence : sentences)
        text += "- " + markdownText(sentence) + "\n";
}

} // namespace

std::string markdownReport(const std::vector<NamedEvaluation> &plans)
{
    std::string text = "# " + markdownText(plans.front().name) + "\n\n";
    addMetrics(text, plans);
    for (std::size_t p = 0; p < plans.size(); ++p) {
        const Evaluation &evaluation = *plans[p].evaluation;
        text += "\n## " + markdownText(plans[p].name) + "\n\n";
        text += evaluation.feasible() ? "Feasible." : "**Not feasible.**";
        if (!evaluation.metrics.confidence.label.empty())
            text += " Confidence: " + evaluation.metrics.confidence.label
                + (evaluation.metrics.confidence.note.empty() ? "" : "; " + evaluation.metrics.confidence.note) + ".";
        text += "\n";
        if (p > 0) {
            text += "\nDifferences from " + markdownText(plans.front().name) + ":\n\n";
            for (const std::string &sentence : describeDifferences(*plans.front().evaluation->plan, *evaluation.plan))
                text += "- " + markdownText(sentence) + "\n";
        }
        if (!evaluation.problems.empty())
            text += "\n### Problems\n\n";
        for (const Problem &problem : evaluation.problems)
            text += std::string("- ")
                + (problem.severity == Severity::Blocking ? "**" + markdownText(problem.text) + "**"
                                                          : markdownText(problem.text))
                + "\n";
        if (const auto settings = reportSettings(evaluation); !settings.empty()) {
            text += "\n### Settings\n\n";
            for (const ReportSetting &setting : settings)
                text += "- " + setting.name + ": " + markdownText(setting.value) + "\n";
        }
        if (const std::string why = whyNotCompared(evaluation); !why.empty())
            text += "\n### What a better part would buy\n\n" + markdownText(asSentence(why)) + "\n";
        else if (!plans[p].parts.empty())
            text +=
                "\n### What a better part would buy\n\n| part | iteration | change | because |\n|---|---:|---:|---|\n";
        for (const PartEffect &part : plans[p].parts)
            addRow(text,
                { part.label, secondsText(part.iterationTime),
                    changeText(evaluation.metrics.iterationTime.value_or(0), part.iterationTime), part.because });
        addJobs(text, evaluation);
        addMemory(text, evaluation);
        addLinks(text, evaluation);
        addExpertSentences(text, evaluation);
    }
    return text;
}

} // namespace trainyard
