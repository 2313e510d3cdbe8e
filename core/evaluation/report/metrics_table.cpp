// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/metrics_table.h"

#include "core/base/number_text.h"
#include "core/base/printable.h"
#include "core/base/text_table.h"
#include "core/base/words.h"
#include "core/evaluation/report/expert_text.h"
#include "core/evaluation/report/job_text.h"
#include "core/evaluation/report/metric_rows.h"

#include <algorithm>
#include <set>

namespace trainyard {

namespace {

using Align = TextTable::Align;

constexpr std::size_t kMostStages = 12, kMostJobRows = 60, kMostHostRows = 16;

std::string metricsPart(const Evaluation &evaluation)
{
    TextTable table({ Align::Left, Align::Right });
    for (const MetricRow &row : metricRows(evaluation, evaluation.metrics.jobs.has_value())) {
        if (row.value)
            table.add({ row.label, valueText(row) });
    }
    return table.text();
}

std::string jobPart(const Evaluation &evaluation)
{
    if (!evaluation.metrics.jobs)
        return {};
    const JobMetrics &jobs = *evaluation.metrics.jobs;
    TextTable table({ Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
                        Align::Right, Align::Right, Align::Left },
        jobHeadings());
    const std::vector<std::size_t> shown = jobsToShow(jobs, kMostJobRows);
    std::set<std::string> said;
    for (const std::size_t i : shown) {
        JobResult job = jobs.perJob[i];
        if (!job.why.empty() && !said.insert(job.why).second)
            job.why = "as above";
        table.add(jobCells(job));
    }
    std::string text = "\n" + schedulerText(*evaluation.plan) + ": " + countsText(countsOf(jobs)) + "\n" + table.text();
    if (shown.size() < jobs.perJob.size())
        text += "\u2026 and " + wholeText(double(jobs.perJob.size() - shown.size())) + " more\n";
    if (const std::string rate = copyRateText(*evaluation.plan); !rate.empty())
        text += "\n" + rate + "\n";
    if (jobs.hosts.empty())
        return text;
    TextTable hosts({ Align::Left, Align::Right, Align::Right, Align::Right }, hostHeadings());
    for (std::size_t i = 0; i < std::min(jobs.hosts.size(), kMostHostRows); ++i)
        hosts.add(hostCells(*evaluation.plan, jobs.hosts[i]));
    text += "\n" + hosts.text();
    if (jobs.hosts.size() > kMostHostRows)
        text += "\u2026 and " + wholeText(double(jobs.hosts.size() - kMostHostRows)) + " more\n";
    return text;
}

std::string breakdownPart(const Evaluation &evaluation)
{
    const std::vector<MetricRow> rows = breakdownRows(evaluation);
    const double total = evaluation.metrics.iterationTime.value_or(0);
    if (rows.empty() || total <= 0)
        return {};
    TextTable table({ Align::Left, Align::Right, Align::Right });
    for (const MetricRow &row : rows) {
        if (*row.value > 0)
            table.add({ "  " + row.label, valueText(row), percentText(*row.value / total) });
    }
    return "\nWhere the iteration goes (slowest pipeline, mean of its stages)\n" + table.text();
}

std::string gpuPart(const Evaluation &evaluation)
{
    if (!evaluation.metrics.memory)
        return {};
    TextTable table({ Align::Right, Align::Right, Align::Right, Align::Right, Align::Left }, gpuHeadings());
    for (const std::vector<std::string> &cells : gpuRows(*evaluation.metrics.memory, kMostHostRows))
        table.add(cells);
    return "\n" + table.text();
}

std::string memoryPart(const Evaluation &evaluation)
{
    if (evaluation.metrics.jobs)
        return gpuPart(evaluation);
    if (!evaluation.metrics.memory)
        return {};
    TextTable table({ Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
                        Align::Right, Align::Left },
        { "stage", "weights", "gradients", "optimizer", "activations", "buffers", "on device", "capacity", "" });
    const MemoryMetrics &memory = *evaluation.metrics.memory;
    const std::size_t stages = memory.perStage.size();
    bool isGap = false;
    for (std::size_t i = 0; i < stages; ++i) {
        const StageMemory &s = memory.perStage[i];
        // A deep pipeline shows its ends and what stands out; all stages are in the JSON.
        if (stages > kMostStages && i >= 3 && i + 3 < stages && s.stage != memory.fullestStage && s.fits()) {
            if (!isGap)
                table.add({ "\u2026" });
            isGap = true;
            continue;
        }
        isGap = false;
        table.add({ std::to_string(s.stage + 1), bytesText(double(s.weights)), bytesText(double(s.gradients)),
            bytesText(double(s.optimizer)), bytesText(double(s.activations)), bytesText(double(s.buffers)),
            bytesText(double(s.device)), bytesText(double(s.capacity)), s.fits() ? "" : "does not fit" });
    }
    return "\nMemory of one GPU of each stage\n" + table.text();
}

std::string wanPart(const Evaluation &evaluation)
{
    if (evaluation.metrics.wanLinks.empty())
        return {};
    TextTable table({ Align::Left, Align::Right, Align::Right, Align::Left, Align::Right, Align::Right },
        { "WAN link", "per iteration", "use", "bound by", "connections", "per node pair" });
    for (const WanLinkUse &use : evaluation.metrics.wanLinks) {
        const WanLink &link = evaluation.plan->cluster.wanLinks.at(std::size_t(use.link));
        const bool isUsed = use.tcpConnections > 0;
        table.add({ link.between[0] + " \u2013 " + link.between[1], bytesText(use.totalBytes()),
            percentText(use.usableUtilization), toString(use.limit),
            isUsed ? std::to_string(use.tcpConnections) : "\u2013", isUsed ? gbpsText(use.nodePairGbps) : "\u2013" });
    }
    return "\n" + table.text();
}

std::string expertPart(const Evaluation &evaluation)
{
    std::string text;
    for (const std::string &sentence : expertSentences(evaluation))
        text += "  " + sentence + "\n";
    return text.empty() ? text : "\nExperts\n" + text;
}

std::string idlePart(const Evaluation &evaluation)
{
    std::string text;
    for (const IdleGpus &idle : evaluation.layout.idle) {
        text += "  " + counted(idle.gpus, "GPU") + " in "
            + printable(
                evaluation.plan->cluster.datacenters.at(std::size_t(idle.datacenter)).label() + ": " + idle.reason)
            + "\n";
    }
    return text.empty() ? text : "\nIdle\n" + text;
}

std::string problemsPart(const Evaluation &evaluation)
{
    std::string text;
    for (const Problem &problem : evaluation.problems) {
        const char *mark = problem.severity == Severity::Blocking ? "  \u2715 "
            : problem.severity == Severity::Warning               ? "  ! "
                                                                  : "  \u00b7 ";
        text += mark + printable(problem.text) + "\n";
        for (const Fix &fix : problem.fixes)
            text += "      could help: " + printable(fix.label) + "\n";
    }
    return text.empty() ? text : "\nProblems\n" + text;
}

std::string confidencePart(const Confidence &confidence)
{
    if (confidence.label.empty())
        return {};
    std::string text = "\nConfidence: " + confidence.label;
    if (confidence.iterationLow && confidence.iterationHigh)
        text += ", iteration between " + secondsText(*confidence.iterationLow) + " and "
            + secondsText(*confidence.iterationHigh);
    if (!confidence.note.empty())
        text += "; " + printable(confidence.note);
    return text + "\n";
}

} // namespace

std::string metricsTable(const Evaluation &evaluation)
{
    const std::string name = evaluation.plan->name.empty() ? std::string() : printable(evaluation.plan->name) + "\n\n";
    return name + metricsPart(evaluation) + jobPart(evaluation) + breakdownPart(evaluation) + memoryPart(evaluation)
        + wanPart(evaluation) + expertPart(evaluation) + idlePart(evaluation) + problemsPart(evaluation)
        + confidencePart(evaluation.metrics.confidence)
        + (evaluation.feasible() ? "" : "\nThis plan is not feasible.\n");
}

} // namespace trainyard
