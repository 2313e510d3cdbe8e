// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/html_tables_internal.h"

#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/evaluation/evaluate/comparable.h"
#include "core/evaluation/report/job_text.h"
#include "core/evaluation/report/markup.h"
#include "core/evaluation/report/metric_rows.h"
#include "core/evaluation/report/report_parts.h"
#include "core/facts/cluster/pool_gpu.h"

#include <algorithm>
#include <array>
#include <span>

namespace trainyard {

namespace {

using markup::escaped;

std::string cell(const std::string &text, const char *styleClass = "")
{
    return *styleClass ? "<td class=\"" + std::string(styleClass) + "\">" + escaped(text) + "</td>"
                       : "<td>" + escaped(text) + "</td>";
}

std::string headings(std::initializer_list<const char *> names)
{
    std::string html = "<tr>";
    for (const char *name : names)
        html += "<th>" + escaped(name) + "</th>";
    return html + "</tr>";
}

const char *judged(const MetricRow &row, const Metric &base)
{
    if (!row.value || !base || row.better == Better::Neither || changeText(*base, *row.value) == changeText(1, 1))
        return "change muted";
    return (*row.value < *base) == (row.better == Better::Lower) ? "change good" : "change bad";
}

std::vector<MetricRow> rowsOf(const Evaluation &evaluation, bool withJobs)
{
    std::vector<MetricRow> rows = metricRows(evaluation, withJobs);
    for (MetricRow &row : breakdownRows(evaluation)) {
        row.label = "time: " + row.label;
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace

std::string metricsTableHtml(const std::vector<NamedEvaluation> &plans)
{
    const bool withJobs = haveJobs(plans);
    std::vector<std::vector<MetricRow>> columns;
    std::size_t longest = 0;
    std::string html = "<table><tr><th></th>";
    std::vector<bool> isCompared;
    for (const NamedEvaluation &plan : plans) {
        isCompared.push_back(whyNotCompared(*plans.front().evaluation, *plan.evaluation).empty());
        columns.push_back(rowsOf(*plan.evaluation, withJobs));
        longest = columns.back().size() > columns[longest].size() ? columns.size() - 1 : longest;
        html += "<th" + std::string(columns.size() > 1 ? " colspan=\"2\"" : "") + ">" + escaped(plan.name)
            + (plan.evaluation->feasible() ? "" : "<br><span class=\"bad\">not feasible</span>") + "</th>";
    }
    html += "</tr>";
    for (auto &column : columns)
        column.resize(columns[longest].size()); // a plan that cannot be placed has no breakdown
    for (std::size_t r = 0; r < columns.front().size(); ++r) {
        std::string line = "<tr>" + cell(columns[longest][r].label);
        bool isWorthALine = false;
        for (std::size_t p = 0; p < columns.size(); ++p) {
            const MetricRow &row = columns[p][r];
            const Metric &base = columns.front()[r].value;
            isWorthALine |= row.value.value_or(0) != 0;
            line += cell(valueText(row));
            if (p > 0)
                line += isCompared[p] ? cell(row.value && base ? changeText(*base, *row.value) : "", judged(row, base))
                                      : cell("", "change muted");
        }
        if (isWorthALine)
            html += line + "</tr>";
    }
    return html + "</table>";
}

std::string settingsTable(const Evaluation &evaluation)
{
    std::string rows;
    for (const ReportSetting &setting : reportSettings(evaluation))
        rows += "<tr>" + cell(setting.name) + cell(setting.value) + "</tr>";
    return rows.empty() ? rows : "<table>" + rows + "</table>";
}

std::string usefulPartsTable(const Evaluation &evaluation, const std::vector<PartEffect> &parts)
{
    constexpr std::size_t kMost = 12;
    if (const std::string why = whyNotCompared(evaluation); !why.empty())
        return "<p>" + escaped(asSentence(why)) + "</p>";
    if (parts.empty())
        return {};
    const double now = evaluation.metrics.iterationTime.value_or(0);
    std::string html = "<table>" + headings({ "part", "iteration", "change", "because" });
    for (const PartEffect &part : std::span(parts).first(std::min(parts.size(), kMost)))
        html += "<tr>" + cell(part.label, "left wide") + cell(secondsText(part.iterationTime))
            + cell(changeText(now, part.iterationTime), "good") + cell(part.because, "wide") + "</tr>";
    html += "</table>";
    return parts.size() > kMost
        ? html + "<p class=\"muted\">and " + wholeText(double(parts.size() - kMost)) + " more</p>"
        : html;
}

std::string memoryTable(const Evaluation &evaluation)
{
    if (!evaluation.metrics.memory)
        return {};
    std::string html = "<table>"
        + headings({ "stage", "weights", "gradients", "optimizer", "activations", "buffers", "peak", "reserved",
            "on device", "capacity", "micro-batches in flight", "" });
    for (const StageMemory &s : evaluation.metrics.memory->perStage) {
        html += "<tr>" + cell(std::to_string(s.stage + 1));
        for (const std::int64_t bytes :
            { s.weights, s.gradients, s.optimizer, s.activations, s.buffers, s.peak, s.reserved, s.device, s.capacity })
            html += cell(bytesText(double(bytes)));
        html += cell(plainText(s.inFlight)) + (s.fits() ? cell("fits", "good") : cell("does not fit", "bad")) + "</tr>";
    }
    return html + "</table>";
}

namespace {

std::string rowsTable(const std::vector<std::string> &names, const std::vector<std::vector<std::string>> &rows)
{
    std::string html = "<table><tr>";
    for (const std::string &name : names)
        html += "<th" + std::string(name.empty() ? " class=\"left\"" : "") + ">" + escaped(name) + "</th>";
    html += "</tr>";
    for (const std::vector<std::string> &row : rows) {
        html += "<tr>";
        for (std::size_t i = 0; i < row.size(); ++i)
            html += cell(row[i], names[i].empty() ? "left wide" : "");
        html += "</tr>";
    }
    return html + "</table>";
}

} // namespace

std::string jobTable(const JobMetrics &jobs, std::size_t most)
{
    std::vector<std::vector<std::string>> rows;
    for (const std::size_t i : jobsToShow(jobs, most))
        rows.push_back(jobCells(jobs.perJob[i]));
    if (rows.empty())
        return {};
    const std::size_t left = jobs.perJob.size() - rows.size();
    return rowsTable(jobHeadings(), rows)
        + (left > 0 ? "<p class=\"muted\">and " + escaped(wholeText(double(left))) + " more</p>" : "");
}

std::string gpuTable(const Evaluation &evaluation)
{
    constexpr std::size_t kMost = 64;
    return evaluation.metrics.memory ? rowsTable(gpuHeadings(), gpuRows(*evaluation.metrics.memory, kMost))
                                     : std::string();
}

std::string hostTable(const Evaluation &evaluation)
{
    std::vector<std::vector<std::string>> rows;
    for (const HostUse &host : evaluation.metrics.jobs->hosts)
        rows.push_back(hostCells(*evaluation.plan, host));
    return rows.empty() ? std::string() : rowsTable(hostHeadings(), rows);
}

std::string linkTable(const Evaluation &evaluation)
{
    if (evaluation.metrics.wanLinks.empty())
        return {};
    std::string html = "<table>"
        + headings({ "link", "round trip", "capacity", "per iteration, there", "back", "use", "bound by",
            "connections per node pair", "per node pair" });
    for (const WanLinkUse &use : evaluation.metrics.wanLinks) {
        const WanLink &link = evaluation.plan->cluster.wanLinks.at(std::size_t(use.link));
        const bool isUsed = use.tcpConnections > 0;
        html += "<tr>" + cell(linkName(evaluation.plan->cluster, link)) + cell(plainText(link.rttMs) + " ms")
            + cell(gbpsText(link.capacityGbps)) + cell(bytesText(use.bytes[0])) + cell(bytesText(use.bytes[1]))
            + cell(percentText(use.usableUtilization)) + cell(toString(use.limit))
            + cell(isUsed ? std::to_string(use.tcpConnections) : "\u2013")
            + cell(isUsed ? gbpsText(use.nodePairGbps) : "\u2013") + "</tr>";
    }
    return html + "</table>";
}

std::string placementTable(const Evaluation &evaluation)
{
    const Layout &layout = evaluation.layout;
    if (layout.classes.empty())
        return layout.unplaced.empty() ? std::string() : "<p class=\"bad\">" + escaped(layout.unplaced) + "</p>";
    std::string html =
        "<table>" + headings({ "stages", "datacenter", "GPU", "pipelines", "micro-batches per pipeline", "layers" });
    for (const PipelineClass &c : layout.classes) {
        for (std::size_t s = 0; s < c.locations.size();) {
            std::size_t end = s + 1;
            while (end < c.locations.size() && c.locations[end] == c.locations[s])
                ++end;
            int layers = 0;
            for (std::size_t i = s; i < end && i < layout.chunks.size(); ++i) {
                for (const StageChunk &chunk : layout.chunks[i])
                    layers += chunk.layers;
            }
            const Datacenter &where = evaluation.plan->cluster.datacenters.at(std::size_t(c.locations[s].datacenter));
            const Pool &pool = where.pools.at(std::size_t(c.locations[s].pool));
            const std::string range =
                end - s == 1 ? std::to_string(end) : std::to_string(s + 1) + "\u2013" + std::to_string(end);
            html += "<tr>" + cell(range) + cell(where.label()) + cell(gpuNameOf(pool))
                + cell(std::to_string(c.pipelines)) + cell(std::to_string(c.microBatches))
                + cell(std::to_string(layers)) + "</tr>";
            s = end;
        }
    }
    return html + "</table>";
}

std::string workLegend(const Timeline &timeline)
{
    std::array<bool, kWorkKindCount> isThere {};
    for (const WorkKind kind : timeline.kind)
        isThere[std::size_t(kind)] = true;
    std::string html;
    for (std::size_t k = 0; k < kWorkKindCount; ++k) {
        if (isThere[k]) {
            html += "<span><svg viewBox=\"0 0 11 11\">" + markup::rect(0, 0, 11, 11, markup::workClass(WorkKind(k)))
                + "</svg>" + escaped(toString(WorkKind(k))) + "</span>";
        }
    }
    return html.empty() ? html : "<div class=\"legend\">" + html + "</div>";
}

} // namespace trainyard
