// SPDX-License-Identifier: GPL-3.0-or-later
// Files of rows: what they say, and what is told to who writes one with a mistake.

#include "core/evaluation/validation/rows.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <string>

using namespace trainyard;

namespace {

const std::string kPlan = R"({
  "cluster": {"datacenters": [{"id": "a", "pools": [{"id": "a-a100", "gpu": "a100-sxm-80gb", "nodes": 1}]}]},
  "workload": {"model": "gpt-3-1.3b", "global_batch": 8}})";

/// A file with `rows`, each a piece of JSON, and `more` members.
std::string fileWith(const std::string &rows, const std::string &more = {})
{
    return R"({"format": "trainyard.validation", "version": 1, "source": "mine", )" + more + R"("rows": [)" + rows
        + "]}";
}

std::string rowWith(const std::string &more, const std::string &plan = kPlan)
{
    return R"({"id": "r", "plan": )" + plan + (more.empty() ? "" : ", " + more) + "}";
}

const std::string kPublished = R"("published": {"iteration_time_s": 1.5})";

/// The only fault of a file, as the command line prints it.
std::string faultOf(const std::string &file)
{
    const auto rows = parseRows(file, "f.json");
    if (rows)
        return "no fault";
    std::string text;
    for (const Error &error : rows.error())
        text += (text.empty() ? "" : "\n") + toString(error);
    return text;
}

} // namespace

#define COMPARE_TEXT(actual, expected) QCOMPARE(QString::fromStdString(actual), QString::fromUtf8(expected))

class TstRows : public QObject {
    Q_OBJECT

private slots:
    void aRowIsAPlanAndWhatWasMeasured()
    {
        const auto set = parseRows(fileWith(rowWith(kPublished + R"(, "note": "n", "group": "g")")), "f.json");
        QVERIFY(set);
        COMPARE_TEXT(set->source, "mine");
        QCOMPARE(set->rows.size(), 1u);
        const ValidationRow &row = set->rows.front();
        COMPARE_TEXT(row.id, "r");
        COMPARE_TEXT(row.group, "g");
        COMPARE_TEXT(row.note, "n");
        COMPARE_TEXT(row.plan->workload.model, "gpt-3-1.3b");
        COMPARE_TEXT(row.published.at(0).metric, "iteration_time_s");
        QCOMPARE(row.published.at(0).value, 1.5);
        QVERIFY(row.status == RowStatus::Gated);
        QVERIFY(row.role == RowRole::Test);
    }

    void theRoleOfAFileHoldsForRowsThatSayNothing()
    {
        const std::string fit = R"("role": "fit", )";
        const auto set = parseRows(
            fileWith(rowWith(kPublished) + "," + R"({"id": "s", "role": "test", "status": "guessed", "plan": )" + kPlan
                    + "," + kPublished + "}",
                fit),
            "f.json");
        QVERIFY(set);
        QVERIFY(set->rows[0].role == RowRole::Fit);
        QVERIFY(set->rows[1].role == RowRole::Test);
        QVERIFY(set->rows[1].status == RowStatus::Guessed);
    }

    void aRowsPlanIsMergedOverTheBase()
    {
        const std::string base =
            R"("base": {"cluster": {"datacenters": [{"id": "a", "pools": [{"id": "p", "gpu": "a100-sxm-80gb", "nodes": 1}]}]},
            "workload": {"model": "gpt-3-1.3b", "global_batch": 8, "sequence_length": 1024}, "memory": {"recompute": "full"}}, )";
        // RFC 7396: members replace members, null takes one away, lists are replaced whole.
        const auto set = parseRows(
            fileWith(rowWith(kPublished, R"({"workload": {"global_batch": 16}, "memory": null})"), base), "f.json");
        QVERIFY2(set, faultOf(fileWith(rowWith(kPublished, "{}"), base)).c_str());
        const Plan &plan = *set->rows[0].plan;
        QCOMPARE(plan.workload.globalBatch, 16);
        QCOMPARE(plan.workload.sequenceLength, 1024);
        QVERIFY(plan.memory.recompute == Recompute::None);
    }

    void aFileWithoutRowsIsNoFault()
    {
        const auto set = parseRows(fileWith(""), "f.json");
        QVERIFY(set);
        QVERIFY(set->rows.empty());
    }

    void whatIsWrongIsSaidWithItsPlace_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("fault");
        const auto add = [](const char *name, const std::string &file, const char *fault) {
            QTest::newRow(name) << QString::fromStdString(file) << QString::fromUtf8(fault);
        };
        add("empty", "", "f.json:1:1: not valid JSON");
        add("no JSON", "{\n \"format\": ", "f.json:2:");
        add("a list", "[]", "f.json: the file holds a list of 0; expected an object");
        add("another format", R"({"format": "trainyard.plan", "version": 1})",
            R"(f.json: /format: format is "trainyard.plan"; expected "trainyard.validation")");
        add("no format", "{}", R"(f.json: /format: format is missing; expected "trainyard.validation")");
        add("a later version", R"({"format": "trainyard.validation", "version": 2})",
            "f.json: /version: version is 2; expected 1");
        add("no source", R"({"format": "trainyard.validation", "version": 1, "rows": []})",
            "f.json: /source: source is missing; expected a text");
        add("no rows", R"({"format": "trainyard.validation", "version": 1, "source": "s"})",
            "f.json: /rows: rows is missing; expected a list of rows");
        add("rows no list", R"({"format": "trainyard.validation", "version": 1, "source": "s", "rows": 3})",
            "f.json: /rows: rows is 3; expected a list of rows");
        add("a row no object", fileWith("7"), "f.json: /rows/0: 7 is no object");
        add("no id", fileWith(R"({"plan": )" + kPlan + "," + kPublished + "}"), "f.json: /rows/0/id: id is missing");
        add("equal ids", fileWith(rowWith(kPublished) + "," + rowWith(kPublished)),
            "f.json: /rows/1/id: two rows have the id \"r\"");
        add("a misspelt key", fileWith(rowWith(kPublished + R"(, "statsu": "gated")")),
            "f.json: /rows/0/statsu: unknown key statsu; expected status");
        add("a misspelt file key", fileWith("", R"("titel": "t", )"),
            "f.json: /titel: unknown key titel; expected title");
        add("an unknown status", fileWith(rowWith(kPublished + R"(, "status": "good")")),
            "f.json: /rows/0/status: status is \"good\"; expected gated or guessed");
        add("an unknown role", fileWith(rowWith(kPublished + R"(, "role": 1)")),
            "f.json: /rows/0/role: role is 1; expected test or fit");
        add("nothing measured", fileWith(rowWith("")), "f.json: /rows/0/published: published is missing");
        add("an empty measurement", fileWith(rowWith(R"("published": {})")),
            "f.json: /rows/0/published: published is empty");
        add("an unknown metric", fileWith(rowWith(R"("published": {"iteration_times": 2})")),
            "f.json: /rows/0/published/iteration_times: no metric is called iteration_times; expected a metric of "
            "docs/metrics.md, perhaps iteration_time_s");
        add("a metric that is no number", fileWith(rowWith(R"("published": {"feasible": 1})")),
            "no metric is called feasible");
        add("a list without index", fileWith(rowWith(R"("published": {"memory.per_stage[].peak_bytes": 1})")),
            "perhaps memory.per_stage[0].peak_bytes");
        add("a measurement as text", fileWith(rowWith(R"("published": {"mfu": "0.4"})")),
            "f.json: /rows/0/published/mfu: mfu is \"0.4\"; expected a number above 0");
        add("a measurement of nothing", fileWith(rowWith(R"("published": {"mfu": 0})")),
            "mfu is 0; expected a number above 0");
        add("no plan", fileWith(R"({"id": "r",)" + kPublished + "}"), "f.json: /rows/0/plan: plan is missing");
        add("a plan as text", fileWith(rowWith(kPublished, "\"p\"")), "f.json: /rows/0/plan: plan is \"p\"");
        add("a misspelt plan key",
            fileWith(rowWith(kPublished,
                R"({"cluster": {"datacenters": []}, "parallelism": {"tensr": 8}, "workload": {"model": "gpt-3-1.3b", "global_batch": 8}})")),
            "f.json: /rows/0/plan/parallelism/tensr: a plan has no key tensr here; expected tensor");
        add("a wrong plan value",
            fileWith(rowWith(kPublished,
                R"({"cluster": {"datacenters": []}, "schedule": "2f2b", "workload": {"model": "gpt-3-1.3b", "global_batch": 8}})")),
            "f.json: /rows/0/plan/schedule: ");
        add("a wrong base value", fileWith(rowWith(kPublished), R"("base": {"schedule": "2f2b"}, )"),
            "f.json: /base/schedule: ");
        add("a misspelt key of the base", fileWith(rowWith(kPublished), R"("base": {"shedule": "1f1b"}, )"),
            "f.json: /base/shedule: a plan has no key shedule here; expected schedule");
        add("a key given twice",
            R"({"format": "trainyard.validation", "version": 1, "source": "s", "rows": [], "rows": []})",
            "f.json: /rows: this key is given twice");
    }
    void whatIsWrongIsSaidWithItsPlace()
    {
        QFETCH(const QString, file);
        QFETCH(const QString, fault);
        const QString found = QString::fromStdString(faultOf(file.toStdString()));
        QVERIFY2(found.contains(fault), qPrintable(found));
        QVERIFY2(!found.contains(QLatin1Char('\n')), qPrintable(found)); // one mistake, one line
    }

    void aFaultOfTheBaseIsSaidOnceForAllRows()
    {
        const std::string file =
            fileWith(rowWith(kPublished) + R"(, {"id": "s", "plan": )" + kPlan + "," + kPublished + "}",
                R"("base": {"schedule": "2f2b"}, )");
        const auto rows = parseRows(file, "f.json");
        QVERIFY(!rows);
        QCOMPARE(rows.error().size(), 1u);
    }

    void measurementsMayBeOfOneStageOrASum()
    {
        const auto set = parseRows(
            fileWith(rowWith(
                R"("published": {"memory.per_stage[3].peak_bytes": 1e9, "breakdown_s.optimizer+breakdown_s.data_parallel": 0.1})")),
            "f.json");
        QVERIFY(set);
        QCOMPARE(set->rows[0].published.size(), 2u);
    }

    void theBuiltInRowsAreThere()
    {
        QVERIFY(!builtinRows().empty());
        for (const RowSet &set : builtinRows()) {
            QVERIFY2(!set.rows.empty(), set.source.c_str());
            QVERIFY2(!set.title.empty() && !set.url.empty(), (set.source + " says not where it is from").c_str());
        }
    }

    void aFileThatIsNotThereIsNamed()
    {
        const auto rows = readRows("/nowhere/rows.json");
        QVERIFY(!rows);
        COMPARE_TEXT(rows.error().front().where, "/nowhere/rows.json");
        QVERIFY(readRows("/").error().front().what.find("folder") != std::string::npos);
    }
};

TRAINYARD_APPLESS_TEST(TstRows)
#include "tst_rows.moc"
