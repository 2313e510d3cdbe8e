// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/number_text.h"
#include "core/base/text_table.h"
#include "core/evaluation/validation/sailor_points.h"
#include "core/evaluation/validation/validation_report.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

using Align = TextTable::Align;
constexpr std::size_t kFurthestOff = 12;

void addStatistics(TextTable &table, const std::string &source, const std::string &metric, const std::string &rows,
    const ErrorStatistics &s)
{
    table.add({ source, metricLabel(metric), rows, std::to_string(s.n), percentText(s.meanAbs),
        percentText(s.medianAbs), percentText(s.maxAbs), errorText(s.bias), rankText(s.rankCorrelation) });
}

std::string summaryTable(const std::vector<SourceSummary> &sources)
{
    TextTable table({ Align::Left, Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right,
                        Align::Right, Align::Right },
        { "Source", "Metric", "Rows", "n", "mean", "median", "max", "bias", "rank" });
    for (const SourceSummary &source : sources) {
        for (const MetricSummary &metric : source.metrics) {
            const bool isMixed = metric.fit.n > 0 && metric.test.n > 0;
            if (metric.gated.n > 0)
                addStatistics(table, source.source, metric.metric,
                    isMixed                ? "all"
                        : metric.fit.n > 0 ? "fit"
                                           : "test",
                    metric.gated);
            if (isMixed) {
                addStatistics(table, source.source, metric.metric, "fit", metric.fit);
                addStatistics(table, source.source, metric.metric, "test", metric.test);
            }
            if (metric.guessed.n > 0)
                addStatistics(table, source.source, metric.metric, "guessed", metric.guessed);
            if (metric.failed > 0)
                table.add({ source.source, metricLabel(metric.metric), "failed", std::to_string(metric.failed) });
        }
    }
    return table.text();
}

std::string gateTable(const std::vector<GateOutcome> &gates)
{
    TextTable table({ Align::Left, Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Left },
        { "Gate", "Metric", "Statistic", "n", "limit", "reached", "" });
    for (const GateOutcome &outcome : gates) {
        const Gate &gate = outcome.gate;
        table.add({ gateText(gate), metricLabel(gate.metric), toString(gate.statistic), std::to_string(outcome.n),
            limitText(gate), reachedText(outcome), verdictText(outcome) });
    }
    return table.text();
}

std::string coverageTable(const std::vector<LabelCoverage> &coverage)
{
    TextTable table({ Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
                        Align::Right },
        { "Label", "Rows", "n", "publications", "inside", "alike", "score", "alike" });
    for (const CoverageLine &line : coverageLines(coverage)) {
        const Coverage &c = *line.coverage;
        table.add({ line.label, line.rows, std::to_string(c.rows), std::to_string(c.publications),
            percentText(c.inside), percentText(c.insideAlike), plainText(c.score), plainText(c.scoreAlike) });
    }
    return table.text();
}

/// Every source with a run that the model holds for too large, and the sum.
std::string fitLines(const std::vector<SourceSummary> &sources)
{
    const FitJudgement all = fitOfAll(sources);
    const std::string sum = fitText(all);
    if (sum.empty())
        return {};
    std::string text = "\n" + sum + (all.judgedTooLarge > 0 ? ":\n" : ".\n");
    for (const SourceSummary &source : sources) {
        if (source.fit.judgedTooLarge > 0)
            text += "  " + source.source + ": " + std::to_string(source.fit.judgedTooLarge) + " of "
                + std::to_string(source.fit.ran) + "\n";
    }
    return text;
}

std::string rowTable(const std::vector<const ValidationResult *> &rows)
{
    TextTable table({ Align::Left, Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Left },
        { "Source", "Row", "Metric", "published", "predicted", "error", "" });
    for (const ValidationResult *r : rows) {
        std::string remark = r->status == RowStatus::Guessed ? "guessed" : "";
        if (!r->problem.empty())
            remark += (remark.empty() ? "" : "; ") + r->problem;
        table.add({ r->source, r->id, metricLabel(r->metric), metricText(r->metric, r->published),
            r->predicted ? metricText(r->metric, *r->predicted) : "\u2013", errorText(r->error()), remark });
    }
    return table.text();
}

/// Gated rows with the largest errors, and those without a prediction before them.
std::vector<const ValidationResult *> furthestOff(const std::vector<ValidationResult> &results)
{
    std::vector<const ValidationResult *> rows;
    for (const ValidationResult &result : results) {
        if (result.status == RowStatus::Gated)
            rows.push_back(&result);
    }
    std::ranges::stable_sort(rows, std::greater(),
        [](const ValidationResult *r) { return r->predicted ? std::abs(*r->error()) : INFINITY; });
    rows.resize(std::min(rows.size(), kFurthestOff));
    return rows;
}

/// Sailor's own formula on its runs, where they are among the rows.
std::string sailorLine(const std::vector<ValidationResult> &results)
{
    const SailorErrors means = sailorErrors(compareWithSailor(results), false);
    if (means.ours == 0)
        return {};
    return "\nSailor's own closed form on " + std::to_string(means.n) + " of its runs on GH200 is off by "
        + percentText(means.formTime) + " of the time and " + percentText(means.formMemory) + " of the memory; ours by "
        + percentText(means.ourTime) + " and " + percentText(means.ourMemory) + ".\n";
}

} // namespace

std::string validationTable(const Validation &validation, bool listsEveryRow)
{
    const std::vector<ValidationResult> &results = validation.run.results;
    if (results.empty())
        return "No rows.\n";
    std::string text = "Errors are predicted / published \u2212 1; mean, median and max of their size. Rank: "
                       "correlation of the orders.\n\n"
        + summaryTable(validation.sources) + fitLines(validation.sources);
    if (!validation.gates.empty())
        text += "\n" + gateTable(validation.gates);
    if (!validation.coverage.empty())
        text += "\n" + coverageIntroduction() + "\n\n" + coverageTable(validation.coverage);
    if (listsEveryRow) {
        std::vector<const ValidationResult *> all;
        for (const ValidationResult &result : results)
            all.push_back(&result);
        return text + "\n" + rowTable(all) + sailorLine(results);
    }
    return text + "\nFurthest off (--source NAME lists all rows of a source):\n\n" + rowTable(furthestOff(results));
}

} // namespace trainyard
