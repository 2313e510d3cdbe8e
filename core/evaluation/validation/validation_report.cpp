// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/validation/validation_report.h"

#include "core/base/csv_text.h"
#include "core/base/number_text.h"
#include "core/base/words.h"

#include <cmath>

namespace trainyard {

namespace {

std::string number(double value)
{
    return formatted("%.6g", value);
}
std::string twoDigits(double value)
{
    return (value < 0 ? "\u2212" : "") + formatted("%.2f", std::abs(value));
}

} // namespace

Validation summarised(
    std::span<const RowSet> sets, ValidationRun run, std::span<const Gate> gates, std::vector<LabelCoverage> coverage)
{
    Validation validation;
    validation.coverage = std::move(coverage);
    validation.sources = summarise(sets, run.results);
    validation.gates = gateOutcomes(gates, run.results);
    validation.run = std::move(run);
    return validation;
}

std::string validationCsv(const Validation &validation)
{
    std::string text = "source,group,id,metric,published,predicted,error,status,role,problem,note\n";
    for (const ValidationResult &r : validation.run.results) {
        text += csvField(r.source) + "," + csvField(r.group) + "," + csvField(r.id) + "," + csvField(r.metric) + ","
            + number(r.published) + "," + (r.predicted ? number(*r.predicted) : "") + ","
            + (r.predicted ? number(*r.error()) : "") + "," + toString(r.status) + "," + toString(r.role) + ","
            + csvField(r.problem) + "," + csvField(r.note) + "\n";
    }
    return text;
}

std::string metricLabel(const std::string &metric)
{
    const std::size_t plus = metric.find('+');
    if (plus == std::string::npos)
        return metric;
    const std::size_t dot = metric.rfind('.', plus);
    const std::string shared = dot == std::string::npos ? std::string() : metric.substr(0, dot + 1);
    std::string label = metric.substr(0, plus);
    for (std::size_t at = plus; at != std::string::npos;) {
        const std::size_t next = metric.find('+', at + 1);
        std::string part = metric.substr(at + 1, next == std::string::npos ? next : next - at - 1);
        if (!shared.empty() && part.starts_with(shared))
            part.erase(0, shared.size());
        label += " + " + part;
        at = next;
    }
    return label;
}

std::string fitText(const FitJudgement &fit)
{
    if (fit.ran == 0)
        return {};
    return wholeText(fit.judgedTooLarge) + " of " + wholeText(fit.ran) + (fit.ran == 1 ? " run" : " runs")
        + " that ran " + (fit.judgedTooLarge == 1 ? "is" : "are") + " judged not to fit in memory";
}

FitJudgement fitOfAll(std::span<const SourceSummary> sources)
{
    FitJudgement all;
    for (const SourceSummary &source : sources) {
        all.ran += source.fit.ran;
        all.judgedTooLarge += source.fit.judgedTooLarge;
    }
    return all;
}

std::string metricText(const std::string &metric, double value)
{
    if (metric.ends_with("_bytes"))
        return bytesText(value);
    if (metric.ends_with("_s") && !metric.ends_with("per_s"))
        return secondsText(value);
    if (metric.find("_s.") != std::string::npos) // breakdown_s.bubble
        return secondsText(value);
    if (metric == "mfu" || metric == "hfu" || metric.ends_with("_fraction") || metric.ends_with("utilization"))
        return percentText(value);
    return value >= 1e4 ? wholeText(value) : plainText(value);
}

std::string errorText(const std::optional<double> &error)
{
    return error ? changeText(1, 1 + *error) : "\u2013";
}

std::string rankText(const std::optional<double> &rank)
{
    return rank ? twoDigits(*rank) : "\u2013";
}

std::string limitText(const Gate &gate)
{
    return gate.statistic == GateStatistic::RankCorrelation ? "\u2265 " + twoDigits(gate.limit)
                                                            : "\u2264 " + percentText(gate.limit);
}

std::string reachedText(const GateOutcome &outcome)
{
    if (outcome.gate.statistic == GateStatistic::RankCorrelation)
        return rankText(outcome.reached);
    return outcome.reached ? percentText(*outcome.reached) : "\u2013";
}

std::string verdictText(const GateOutcome &outcome)
{
    std::string text = outcome.n == 0 ? "no rows" : outcome.isMet ? "met" : "missed";
    if (outcome.failed > 0)
        text += ", " + counted(outcome.failed, "row") + " failed";
    if (outcome.gate.status == RowStatus::Guessed)
        text += " (inputs assumed)";
    return text + (outcome.gate.isAim ? " (aim)" : "");
}

std::string gateText(const Gate &gate)
{
    return gate.title + (gate.role ? std::string(", ") + toString(*gate.role) + " rows" : "");
}

std::string coverageIntroduction()
{
    return "Ranges of the confidence label: nine in ten rows should lie inside, each publication held back while its "
           "label and range are read from the others.\n"
           "Score: the width in ln of time and 20 times what lies outside; lower is better. Alike: every publication "
           "weighs the same.";
}

std::vector<CoverageLine> coverageLines(std::span<const LabelCoverage> coverage)
{
    std::vector<CoverageLine> lines;
    for (const LabelCoverage &label : coverage) {
        const std::pair<const char *, const Coverage *> counts[] = { { "all", &label.all }, { "test", &label.test },
            { "guessed", &label.guessed } };
        for (const auto &[rows, count] : counts) {
            if (count->rows > 0)
                lines.push_back({ toString(label.label), rows, count });
        }
    }
    return lines;
}

} // namespace trainyard
