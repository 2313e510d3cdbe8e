// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/comparison.h"

#include "core/base/csv_text.h"
#include "core/base/number_text.h"
#include "core/base/printable.h"
#include "core/base/text_table.h"
#include "core/evaluation/evaluate/comparable.h"
#include "core/evaluation/report/json_internal.h"
#include "core/evaluation/report/metric_rows.h"
#include "core/facts/plan/plan_diff.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace trainyard {

namespace {

/// `withSums`: under every metric's name, of which people read the parts.
std::vector<MetricRow> allRows(const Evaluation &evaluation, bool withJobs, bool withSums = true)
{
    std::vector<MetricRow> rows = metricRows(evaluation, withJobs);
    std::vector<MetricRow> seconds = breakdownRows(evaluation);
    if (seconds.empty()) {
        // The columns of a CSV file must not depend on what the first plan has.
        static const Evaluation sample = [] {
            Evaluation e;
            e.metrics.breakdown.emplace();
            return e;
        }();
        seconds = breakdownRows(sample);
        for (MetricRow &row : seconds)
            row.value.reset();
    }
    rows.insert(rows.end(), seconds.begin(), seconds.end());
    if (withSums) {
        const auto &parts = evaluation.metrics.breakdown;
        rows.push_back({ "breakdown_s.optimizer", "optimizer and overhead", MetricUnit::Time, Better::Lower,
            parts ? Metric(parts->optimizer + parts->overhead) : Metric() });
    }
    return rows;
}

constexpr std::size_t kMostComparedJobs = 40;

/// When each job ends, of all plans that have one of its name.
std::string jobEnds(const std::vector<NamedEvaluation> &plans)
{
    std::vector<TextTable::Align> align { TextTable::Align::Left };
    std::vector<std::string> headings { "job ends after" }, names;
    std::map<std::string, std::vector<Metric>> ends; // [plan]
    for (std::size_t p = 0; p < plans.size(); ++p) {
        align.push_back(TextTable::Align::Right);
        headings.push_back(plans[p].heading());
        if (!plans[p].evaluation->metrics.jobs)
            continue;
        for (const JobResult &job : plans[p].evaluation->metrics.jobs->perJob) {
            const auto [at, isNew] = ends.try_emplace(job.name, plans.size());
            at->second[p] = job.end;
            if (isNew)
                names.push_back(job.name);
        }
    }
    TextTable table(align, headings);
    for (std::size_t i = 0; i < std::min(names.size(), kMostComparedJobs); ++i) {
        std::vector<std::string> cells { names[i] };
        for (const Metric &end : ends.at(names[i]))
            cells.push_back(end ? durationText(*end) : "\u2013");
        table.add(cells);
    }
    const std::string more = names.size() > kMostComparedJobs
        ? "\u2026 and " + wholeText(double(names.size() - kMostComparedJobs)) + " more\n"
        : "";
    return "\n" + table.text() + more;
}

std::string exactText(const Metric &value)
{
    if (!value || !std::isfinite(*value))
        return {};
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, *value).ptr;
    return { text, end };
}

/// Whether numbers of the two may be set against each other: nothing that is not understood is compared.
bool areComparable(const NamedEvaluation &a, const NamedEvaluation &b)
{
    return whyNotCompared(*a.evaluation, *b.evaluation).empty();
}

} // namespace

bool haveJobs(const std::vector<NamedEvaluation> &plans)
{
    return std::ranges::any_of(plans, [](const NamedEvaluation &plan) { return hasJobs(*plan.evaluation->plan); });
}

std::string comparisonTable(const std::vector<NamedEvaluation> &plans)
{
    std::vector<TextTable::Align> align { TextTable::Align::Left };
    std::vector<std::string> headings { "" };
    for (std::size_t p = 0; p < plans.size(); ++p) {
        align.push_back(TextTable::Align::Right);
        headings.push_back(plans[p].heading());
        if (p > 0) {
            align.push_back(TextTable::Align::Right);
            headings.emplace_back("");
        }
    }
    TextTable table(align, headings);
    const bool withJobs = haveJobs(plans);
    std::vector<std::vector<MetricRow>> rows;
    for (const NamedEvaluation &plan : plans)
        rows.push_back(allRows(*plan.evaluation, withJobs, false));
    for (std::size_t r = 0; r < rows.front().size(); ++r) {
        bool isWorthALine = false;
        std::vector<std::string> cells { rows.front()[r].label };
        for (std::size_t p = 0; p < plans.size(); ++p) {
            const MetricRow &row = rows[p][r];
            const Metric &base = rows.front()[r].value;
            isWorthALine |= row.value.value_or(0) != 0;
            cells.push_back(valueText(row));
            if (p > 0)
                cells.push_back(
                    row.value && base && areComparable(plans.front(), plans[p]) ? changeText(*base, *row.value) : "");
        }
        if (isWorthALine)
            table.add(cells);
    }
    std::string text = table.text() + (withJobs ? jobEnds(plans) : "");
    for (std::size_t p = 1; p < plans.size(); ++p) {
        text += "\n" + printable(plans[p].name) + " differs from " + printable(plans.front().name) + ":\n";
        for (const std::string &sentence :
            describeDifferences(*plans.front().evaluation->plan, *plans[p].evaluation->plan))
            text += "  " + printable(sentence) + "\n";
    }
    for (const NamedEvaluation &plan : plans) {
        if (!plan.evaluation->feasible())
            text += "\n" + printable(plan.name) + " is not feasible.\n";
        if (const auto unranked = whyUnranked(plan.evaluation->model.doubts))
            text += "\n" + printable(plan.name) + " is not compared: " + printable(unranked->what) + ".\n";
    }
    return text;
}

std::string comparisonJson(const std::vector<NamedEvaluation> &plans)
{
    Json list = Json::array();
    const bool withJobs = haveJobs(plans);
    const std::vector<MetricRow> base = allRows(*plans.front().evaluation, withJobs);
    for (const NamedEvaluation &plan : plans) {
        Json change = Json::object();
        const std::vector<MetricRow> rows = allRows(*plan.evaluation, withJobs);
        for (std::size_t r = 0; r < rows.size(); ++r) {
            const bool isComparable =
                areComparable(plans.front(), plan) && rows[r].value && base[r].value && *base[r].value != 0;
            change[rows[r].key] = isComparable ? finite(*rows[r].value / *base[r].value - 1) : Json(nullptr);
        }
        list.push_back({ { "name", plan.name }, { "source", plan.source },
            { "differences", describeDifferences(*plans.front().evaluation->plan, *plan.evaluation->plan) },
            { "metrics", metricsObject(*plan.evaluation) }, { "change", change } });
    }
    return dumped({ { "plans", list } });
}

std::string comparisonCsv(const std::vector<NamedEvaluation> &plans)
{
    const bool withJobs = haveJobs(plans);
    std::string text = "name,source,feasible";
    for (const MetricRow &row : allRows(*plans.front().evaluation, withJobs))
        text += "," + row.key;
    text += "\n";
    for (const NamedEvaluation &plan : plans) {
        text += csvField(plan.name) + "," + csvField(plan.source) + (plan.evaluation->feasible() ? ",true" : ",false");
        for (const MetricRow &row : allRows(*plan.evaluation, withJobs))
            text += "," + exactText(row.value);
        text += "\n";
    }
    return text;
}

} // namespace trainyard
