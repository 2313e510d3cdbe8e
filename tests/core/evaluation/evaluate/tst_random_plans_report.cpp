// SPDX-License-Identifier: GPL-3.0-or-later
// JSON, table and report are three ways to read one evaluation: on random plans they tell the same numbers.
#include "tests/core/evaluation/evaluate/random_valid_plans.h"
#include "tests/support/test_program.h"

#include "core/evaluation/report/markdown_report.h"
#include "core/evaluation/report/metric_rows.h"
#include "core/evaluation/report/metrics_json.h"
#include "core/evaluation/report/metrics_table.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <set>

using namespace trainyard;
using namespace trainyard::test;

namespace {

using Json = nlohmann::json;

/// The value at a key with dots; empty where it is null or another reader's own.
Metric valueAt(const Json &json, const std::string &key)
{
    const Json *node = &json;
    for (std::size_t from = 0, to; from <= key.size(); from = to + 1) {
        to = std::min(key.find('.', from), key.size());
        const auto found = node->is_object() ? node->find(key.substr(from, to - from)) : node->end();
        if (found == node->end())
            return {};
        node = &*found;
    }
    return node->is_number() ? Metric(node->get<double>()) : Metric();
}

bool hasLineWith(const std::string &text, const std::string &label, const std::string &value)
{
    for (std::size_t at = text.find(label); at != std::string::npos; at = text.find(label, at + 1)) {
        const std::string line = text.substr(at, text.find('\n', at) - at);
        if (line.find(value) != std::string::npos)
            return true;
    }
    return false;
}

} // namespace

class TestRandomPlansReport : public QObject {
    Q_OBJECT

private slots:
    void jsonTableAndReportTellTheSameNumbers();
};

void TestRandomPlansReport::jsonTableAndReportTellTheSameNumbers()
{
    EvaluationWorkspace workspace;
    std::set<std::string> compared;
    for (unsigned seed = 0; seed < randomPlans(); seed += 2) {
        const auto evaluation = evaluate(randomValidPlan(seed), builtinCatalogue(), workspace, {}, Depth::Score);
        if (!evaluation)
            continue;
        const Json json = Json::parse(metricsJson(**evaluation));
        const std::string table = metricsTable(**evaluation),
                          report = markdownReport(std::vector { NamedEvaluation { "p", "", *evaluation } });
        std::vector<MetricRow> rows = metricRows(**evaluation);
        for (MetricRow &row : breakdownRows(**evaluation))
            rows.push_back(std::move(row));
        for (MetricRow row : rows) {
            const Metric inJson = valueAt(json, row.key);
            if (!inJson || (!row.value && *inJson == 0)) // nothing moves: the table leaves out what JSON says is 0
                continue;
            // The text made of the number that JSON holds is what the report shows, and the table where it has that
            // row.
            row.value = inJson;
            const std::string text = valueText(row),
                              context =
                                  " in plan " + std::to_string(seed) + ": " + row.key + " is " + text + " by JSON";
            QVERIFY2(hasLineWith(report, "| " + row.label + " |", " " + text + " |"),
                ("the report differs" + context + "\n" + report).c_str());
            if (table.find("\n" + row.label + "  ") != std::string::npos)
                QVERIFY2(
                    hasLineWith(table, "\n" + row.label + "  ", text) || hasLineWith(table, row.label + "  ", text),
                    ("the table differs" + context + "\n" + table).c_str());
            compared.insert(row.key);
        }
        QCOMPARE(json["problems"].size(), (*evaluation)->problems.size());
        QCOMPARE(json["feasible"].get<bool>(), (*evaluation)->feasible());
    }
    QVERIFY2(compared.size() > 30, std::to_string(compared.size()).c_str());
}

TRAINYARD_APPLESS_TEST(TestRandomPlansReport)
#include "tst_random_plans_report.moc"
