// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/markdown_text.h"
#include "core/base/number_text.h"
#include "core/evaluation/validation/sailor_points.h"
#include "core/evaluation/validation/validation_report.h"

#include <algorithm>

namespace trainyard {

namespace {

using markup::markdownText;

/// A source with more rows than this is shown by group.
constexpr int kMostRows = 200;

std::string line(std::initializer_list<std::string> cells)
{
    std::string text = "|";
    for (const std::string &cell : cells)
        text += " " + cell + " |";
    return text + "\n";
}

std::string statisticsLine(
    const std::string &first, const std::string &metric, const std::string &rows, const ErrorStatistics &s)
{
    return line({ first, "`" + metricLabel(metric) + "`", rows, std::to_string(s.n), percentText(s.meanAbs),
        percentText(s.medianAbs), percentText(s.maxAbs), errorText(s.bias), rankText(s.rankCorrelation) });
}

const char *const kStatisticsHead =
    "metric | rows | n | mean | median | max | bias | rank |\n|---|---|---|---:|---:|---:|---:|---:|---:|\n";

void addSummaryLines(std::string &text, const std::string &first, const SourceSummary &source)
{
    for (const MetricSummary &metric : source.metrics) {
        const bool isMixed = metric.fit.n > 0 && metric.test.n > 0;
        if (metric.fit.n > 0)
            text += statisticsLine(first, metric.metric, "fit", metric.fit);
        if (metric.test.n > 0)
            text += statisticsLine(first, metric.metric, "test", metric.test);
        if (isMixed)
            text += statisticsLine(first, metric.metric, "all", metric.gated);
        if (metric.guessed.n > 0)
            text += statisticsLine(first, metric.metric, "guessed", metric.guessed);
        if (metric.failed > 0)
            text += line({ first, "`" + metricLabel(metric.metric) + "`", "failed", std::to_string(metric.failed), "",
                "", "", "", "" });
    }
}

void addGates(std::string &text, const std::vector<GateOutcome> &gates)
{
    text += "## Gates\n\n| rows of | metric | statistic | n | limit | reached | |\n|---|---|---|---:|---:|---:|---|\n";
    for (const GateOutcome &outcome : gates) {
        const Gate &gate = outcome.gate;
        std::string statistic = toString(gate.statistic);
        std::ranges::replace(statistic, '_', ' ');
        text += line({ markdownText(gateText(gate)), "`" + metricLabel(gate.metric) + "`", statistic,
            std::to_string(outcome.n), limitText(gate), reachedText(outcome),
            outcome.isMet ? verdictText(outcome) : "**" + verdictText(outcome) + "**" });
    }
}

void addCoverage(std::string &text, const std::vector<LabelCoverage> &coverage)
{
    if (coverage.empty())
        return;
    text += "\n## Ranges\n\n" + coverageIntroduction()
        + " How they are made: [model.md](model.md#confidence).\n\n"
          "| label | rows | n | publications | inside | alike | score | alike "
          "|\n|---|---|---:|---:|---:|---:|---:|---:|\n";
    for (const CoverageLine &shown : coverageLines(coverage)) {
        const Coverage &c = *shown.coverage;
        text += line({ shown.label, shown.rows, std::to_string(c.rows), std::to_string(c.publications),
            percentText(c.inside), percentText(c.insideAlike), plainText(c.score), plainText(c.scoreAlike) });
    }
}

void addFit(std::string &text, const std::vector<SourceSummary> &sources)
{
    const std::string sum = fitText(fitOfAll(sources));
    if (sum.empty())
        return;
    text += "\n## Runs judged not to fit\n\nA run whose time was published did fit in memory. " + sum
        + ". Memory is counted from above where a source does not say what it recomputes, offloads or keeps in fewer "
          "bits.\n\n"
          "| source | ran | judged not to fit |\n|---|---:|---:|\n";
    for (const SourceSummary &source : sources) {
        if (source.fit.ran > 0)
            text +=
                line({ "`" + source.source + "`", wholeText(source.fit.ran), wholeText(source.fit.judgedTooLarge) });
    }
}

void addRows(std::string &text, const std::vector<ValidationResult> &results, const SourceSummary &source)
{
    const auto isOwn = [&](const ValidationResult &r) { return r.source == source.source; };
    const bool hasRoles =
        std::ranges::any_of(source.metrics, [](const MetricSummary &m) { return m.fit.n > 0 && m.test.n > 0; });
    text += "\n| row | metric | published | predicted | error | |\n|---|---|---:|---:|---:|---|\n";
    for (const ValidationResult &r : results) {
        if (!isOwn(r))
            continue;
        std::string remark = r.status == RowStatus::Guessed ? "guessed" : hasRoles ? toString(r.role) : "";
        for (const std::string &more : { r.problem, r.note }) {
            if (!more.empty())
                remark += (remark.empty() ? "" : "; ") + markdownText(more);
        }
        text += line({ markdownText(r.id), "`" + metricLabel(r.metric) + "`", metricText(r.metric, r.published),
            r.predicted ? metricText(r.metric, *r.predicted) : "\u2013", errorText(r.error()), remark });
    }
}

void addSource(std::string &text, const Validation &validation, const SourceSummary &source)
{
    text += "\n## " + markdownText(source.title.empty() ? source.source : source.title) + "\n\n";
    text += "`" + source.source + "`, " + wholeText(source.rows) + " rows"
        + (source.url.empty() ? "" : ", <" + source.url + ">") + ".";
    text += (source.note.empty() ? "" : " " + markdownText(source.note)) + "\n";
    if (source.rows <= kMostRows) {
        addRows(text, validation.run.results, source);
        if (source.source == kSailorSource)
            text += sailorMarkdown(compareWithSailor(validation.run.results));
        return;
    }
    text += std::string("\n| group | ") + kStatisticsHead;
    for (const SourceSummary &group : summariseGroups(validation.run.results, source.source))
        addSummaryLines(text, markdownText(group.group), group);
}

void addLeftOut(std::string &text, std::span<const LeftOutRow> leftOut)
{
    if (leftOut.empty())
        return;
    text += "\n## Rows left out\n\n| source | row | why |\n|---|---|---|\n";
    for (const LeftOutRow &row : leftOut)
        text += line({ "`" + row.source + "`", markdownText(row.id), markdownText(row.reason) });
}

} // namespace

std::string validationMarkdown(const Validation &validation, std::span<const LeftOutRow> leftOut)
{
    std::string text = R"(# Validation

Published measurements against the model, row by row. This page is written by `scripts/validation`; do not edit it.
`trainyard-cli validate` prints the same from the program, `--source NAME` every row of a source, `--rows FILE` rows of
your own (their form: end of this page). Where the figures come from, how each source counts
and what was assumed: [validation-sources.md](validation-sources.md).

Errors are predicted / published − 1; mean, median and max are of their size, bias is the mean with sign, rank is Spearman's
correlation of the orders. *fit*: hardware or stack parameters were fitted to these rows, so they prove less; *test*: never
fitted on. *guessed*: an input was not published and had to be assumed; such rows count for no gate
unless it says so.

)";
    addGates(text, validation.gates);
    text += "\n## Sources\n\n| source | ";
    text += kStatisticsHead;
    for (const SourceSummary &source : validation.sources)
        addSummaryLines(text, "`" + source.source + "`", source);
    addCoverage(text, validation.coverage);
    addFit(text, validation.sources);
    for (const SourceSummary &source : validation.sources)
        addSource(text, validation, source);
    addLeftOut(text, leftOut);
    return text + R"(
## Rows of your own

```json
{
  "format": "trainyard.validation", "version": 1, "source": "our cluster",
  "base": { "cluster": { … }, "stack": "megatron-core" },
  "rows": [ { "id": "run 12", "plan": { "workload": { … }, "parallelism": { "tensor": 8 } },
              "published": { "iteration_time_s": 1.42, "memory.per_stage[0].peak_bytes": 5.1e10 }, "note": "" } ]
}
```

A row is a plan ([plan-file.md](plan-file.md)) and what was measured for it, by the names of [metrics.md](metrics.md); sums are
written `a+b`. The plan is merged over `base` (RFC 7396: members replace members, `null` removes one, lists are replaced
whole). Also of the file: `title`, `url`, `note`, `role` (`test`, or `fit` where parameters were fitted to the rows). Also
of a row: `role`, `group` (summarised together), `status` (`gated`, or `guessed` where an input had to be assumed).

In JSON every source has `fit_in_memory` `{ran, judged_too_large}` and every row `fits`; `coverage` is the table of ranges
(`inside` and `interval_score`, and both with every publication alike). Rows of your own are judged by the ranges of all built-in ones. `validate` ends with 2 where no row is left to
compare, with 1 where not one has a prediction.
)";
}

} // namespace trainyard
