// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/plan_io.h"
#include "tests/support/test_program.h"

#include "tests/core/facts/plan/random_plan.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace trainyard;

namespace {

const std::string kSmall = R"({
  "format": "trainyard.plan", "version": 1,
  "cluster": { "datacenters": [ { "id": "a", "pools": [ { "id": "a-h100", "gpu": "h100-sxm-80gb", "nodes": 2 } ] },
                                { "id": "b", "pools": [] } ],
               "wan_links": [ { "between": ["a", "b"], "rtt_ms": 60 } ] },
  "workload": { "model": "llama-3-8b", "global_batch": 8 } })";

std::string replaced(const std::string &from, const std::string &to)
{
    std::string text = kSmall;
    text.replace(text.find(from), from.size(), to);
    return text;
}

Errors faultsOf(const std::string &text)
{
    const auto plan = parsePlan(text, "p.json");
    return plan ? Errors {} : plan.error();
}

bool has(const Errors &errors, const std::string &where, const std::string &rightPart = {})
{
    return std::ranges::any_of(
        errors, [&](const Error &e) { return e.where == where && e.right.find(rightPart) != std::string::npos; });
}

std::string all(const Errors &errors)
{
    std::string text;
    for (const Error &e : errors)
        text += toString(e) + "\n";
    return text;
}

} // namespace

class TstPlanIo : public QObject {
    Q_OBJECT

private slots:
    void whatIsAbsentHasTheDefaultsOfTheReference()
    {
        const auto plan = parsePlan(kSmall, "p.json", "/plans");
        QVERIFY2(plan, plan ? "" : all(plan.error()).c_str());
        QCOMPARE(plan->workload.microBatch, 1);
        QCOMPARE(plan->workload.precision, Precision::Bf16);
        QCOMPARE(plan->schedule, ScheduleKind::OneFOneB);
        QCOMPARE(plan->stack.name, std::string("megatron-core"));
        QVERIFY(!plan->parallelism.data);
        QCOMPARE(plan->cluster.datacenters[0].pools[0].gpusPerNode, 8);
        QCOMPARE(plan->cluster.wanLinks[0].nodePairGbps, 5.0);
        QCOMPARE(plan->cluster.wanLinks[0].tcpWindowMb, 1.5);
        QCOMPARE(plan->cluster.wanLinks[0].capacityGbps, 100.0);
        QVERIFY(!plan->cluster.wanLinks[0].usdPerGb);
        QCOMPARE(plan->baseDir, std::string("/plans"));
    }

    void aPlanSurvivesItsFile()
    {
        for (unsigned seed = 0; seed < 300; ++seed) {
            const Plan plan = test::RandomPlan(seed).plan();
            const std::string text = formatPlan(plan);
            const auto again = parsePlan(text, "p.json");
            QVERIFY2(again, (std::to_string(seed) + "\n" + (again ? "" : all(again.error())) + text).c_str());
            QVERIFY2(*again == plan, (std::to_string(seed) + "\n" + text + formatPlan(*again)).c_str());
            QCOMPARE(formatPlan(*again), text);
        }
    }

    void everyFaultIsReportedAtOnce()
    {
        std::string text = replaced("\"nodes\": 2", "\"nodes\": -3, \"gpus_per_node\": \"eight\"");
        text.replace(text.find("60"), 2, "\"60\"");
        text.replace(text.find("\"global_batch\": 8"), 17, "\"precision\": \"bf61\"");
        const Errors errors = faultsOf(text);
        QVERIFY2(has(errors, "p.json: /cluster/datacenters/0/pools/0/nodes", "a whole number from 0 to 1000000"),
            all(errors).c_str());
        QVERIFY(has(errors, "p.json: /cluster/datacenters/0/pools/0/gpus_per_node", "from 1"));
        QVERIFY(has(errors, "p.json: /cluster/wan_links/0/rtt_ms", "a number"));
        QVERIFY(has(errors, "p.json: /workload/precision", "nearest: bf16"));
        QVERIFY(has(errors, "p.json: /workload/global_batch"));
        QCOMPARE(errors.size(), 5U);
    }

    void aSyntaxErrorSaysLineAndColumn()
    {
        const Errors errors = faultsOf("{\n  \"name\": \"x\",\n  \"version\": 1,,\n}");
        QCOMPARE(errors.size(), 1U);
        QCOMPARE(errors[0].code, ErrorCode::BadSyntax);
        QCOMPARE(errors[0].where, std::string("p.json:3:16"));
    }

    void strangeInputIsRefusedWithoutHarm_data()
    {
        QTest::addColumn<QString>("text");
        const auto row = [](const char *name, const std::string &text) {
            QTest::newRow(name) << QString::fromStdString(text);
        };
        row("empty", "");
        row("blank", "  \n ");
        row("not an object", "[1, 2]");
        row("null", "null");
        row("a number", "17");
        row("no cluster", "{}");
        row("another format", R"({"format": "trainyard.validation"})");
        row("version as text", replaced("\"version\": 1", "\"version\": \"1\""));
        row("negative version", replaced("\"version\": 1", "\"version\": -1"));
        row("infinite", replaced("60", "1e999"));
        row("not a number", replaced("60", "NaN"));
        row("negative time", replaced("60", "-1"));
        row("more than an int", replaced("\"nodes\": 2", "\"nodes\": 99999999999999999999"));
        row("a fraction of a node", replaced("\"nodes\": 2", "\"nodes\": 2.5"));
        row("null nodes", replaced("\"nodes\": 2", "\"nodes\": null"));
        row("duplicate key", replaced("\"nodes\": 2", "\"nodes\": 2, \"nodes\": 3"));
        row("deep", std::string(100000, '['));
        row("deep in a plan",
            replaced("\"nodes\": 2", "\"nodes\": " + std::string(5000, '[') + std::string(5000, ']')));
        row("three ends", replaced("[\"a\", \"b\"]", "[\"a\", \"b\", \"c\"]"));
        row("cluster as list", R"({"cluster": [], "workload": 3})");
        row("bad GPU object", replaced("\"h100-sxm-80gb\"", "{\"memory_gib\": -1}"));
        row("profile of texts",
            replaced("\"format\"", "\"profile\": {\"forward_ms\": [\"a\"], \"backward_ms\": 0}, \"format\""));
    }

    void strangeInputIsRefusedWithoutHarm()
    {
        QFETCH(QString, text);
        const Errors errors = faultsOf(text.toStdString());
        QVERIFY(!errors.empty());
        for (const Error &e : errors) {
            QVERIFY2(e.where.starts_with("p.json"), e.where.c_str());
            QVERIFY(!e.what.empty());
        }
    }

    void damagedFilesNeverCrash()
    {
        std::mt19937 random(7);
        const std::string whole = formatPlan(test::RandomPlan(3).plan());
        for (int i = 0; i < 2000; ++i) {
            std::string text = whole;
            for (int n = 0; n <= i % 4; ++n)
                text[random() % text.size()] = static_cast<char>(random() % 256);
            if (i % 5 == 0)
                text.resize(random() % text.size());
            if (const auto plan = parsePlan(text, "p.json"); plan) {
                const auto again = parsePlan(formatPlan(*plan), "p.json");
                QVERIFY2(again, again ? "" : toString(again.error()[0]).c_str());
            }
        }
    }

    void anErrorNamesAnEscapedKey()
    {
        const Errors errors =
            faultsOf(replaced("\"format\"", "\"stack\": {\"base\": \"fsdp\", \"a/b~\": 1}, \"format\""));
        QVERIFY2(has(errors, "p.json: /stack/a~1b~0"), all(errors).c_str());
    }

    void unknownKeysAreWrittenBackWhereTheyWere()
    {
        std::string text = replaced("\"nodes\": 2", "\"nodes\": 2, \"rack\": {\"row\": [1, 2]}");
        text.replace(text.find("\"format\""), 0, "\"owner\": \"me\", ");
        const auto plan = parsePlan(text, "p.json");
        QVERIFY(plan);
        QCOMPARE(plan->cluster.datacenters[0].pools[0].extra.at("rack"), std::string(R"({"row":[1,2]})"));
        const auto again = parsePlan(formatPlan(*plan), "p.json");
        QVERIFY(again);
        QVERIFY(*again == *plan);
        QCOMPARE(again->extra.at("owner"), std::string("\"me\""));
    }

    void inlineObjectsKeepTheirValuesAndUnknownKeys()
    {
        std::string text = replaced("\"h100-sxm-80gb\"",
            R"({"name": "X1", "memory_gib": 48, "memory_gbytes_per_s": 900, "peak_tflops": {"bf16": 200}, "colour": "red"})");
        text.replace(text.find("\"llama-3-8b\""), 12,
            R"({"layers": 4, "hidden": 512, "heads": 8, "kv_heads": 8, "head_dim": 64, "ffn": 2048, "vocab": 1000, "origin": 7})");
        const auto plan = parsePlan(text, "p.json");
        QVERIFY2(plan, plan ? "" : all(plan.error()).c_str());
        QCOMPARE(plan->workload.inlineModel->layers, 4);
        QCOMPARE(plan->cluster.datacenters[0].pools[0].inlineGpu->name, std::string("X1"));
        const std::string written = formatPlan(*plan);
        QVERIFY(written.find("\"colour\": \"red\"") != std::string::npos);
        QVERIFY(written.find("\"origin\": 7") != std::string::npos);
        const auto again = parsePlan(written, "p.json");
        QVERIFY2(again, again ? "" : all(again.error()).c_str());
        QVERIFY(*again == *plan);
        QCOMPARE(formatPlan(*again), written);
    }

    void valuesOfSeveralShapesAreUnderstood()
    {
        const auto price = parsePlan(replaced("60", "60, \"usd_per_gb\": [0.01, 0.09]"), "p.json");
        QCOMPARE((*price->cluster.wanLinks[0].usdPerGb)[1], 0.09);
        const auto flat = parsePlan(replaced("60", "60, \"usd_per_gb\": 0.05"), "p.json");
        QCOMPARE((*flat->cluster.wanLinks[0].usdPerGb)[1], 0.05);
        const auto stack = parsePlan(
            replaced("\"format\"", "\"stack\": {\"base\": \"fsdp\", \"cuda_graphs\": true}, \"format\""), "p.json");
        QCOMPARE(stack->stack.overrides.at("cuda_graphs"), 1.0);
        const auto aged = parsePlan(
            replaced("\"format\"", "\"stack\": {\"base\": \"fsdp\", \"release\": \"26.10\"}, \"format\""), "p.json");
        QCOMPARE(aged->stack.release, std::string("26.10"));
        QCOMPARE(parsePlan(formatPlan(*aged), "p.json")->stack.release, std::string("26.10"));
        const auto ageless = parsePlan(
            replaced("\"format\"", "\"stack\": {\"base\": \"fsdp\", \"release\": null}, \"format\""), "p.json");
        QVERIFY(ageless->stack == (Stack { "fsdp", {} }));
        // 26.10 as a number is 26.1, another release
        QVERIFY(has(faultsOf(replaced("\"format\"", "\"stack\": {\"base\": \"fsdp\", \"release\": 26.10}, \"format\"")),
            "p.json: /stack/release", "as a text"));
        const auto profile =
            parsePlan(replaced("\"format\"",
                          "\"profile\": {\"forward_ms\": 2, \"backward_ms\": [4, 5], \"in_flight\": 3}, \"format\""),
                "p.json");
        QCOMPARE(profile->profile->forwardMs, PerStage { 2 });
        QCOMPARE(profile->profile->backwardMs, (PerStage { 4, 5 }));
        QCOMPARE(profile->profile->inFlight, std::vector<int> { 3 });
        const auto automatic =
            parsePlan(replaced("\"format\"", "\"parallelism\": {\"data\": \"auto\"}, \"format\""), "p.json");
        QVERIFY(!automatic->parallelism.data);
        QVERIFY(has(faultsOf(replaced("\"format\"", "\"parallelism\": {\"data\": \"all\"}, \"format\"")),
            "p.json: /parallelism/data", "auto, or a whole number"));
    }

    void everyOlderVersionOpensAsTheSamePlan()
    {
        const auto sample = [](int version) {
            return readPlan(std::string(TRAINYARD_SOURCE_DIR) + "/tests/data/plans/version_" + std::to_string(version)
                + ".trainyard.json");
        };
        const auto current = sample(Plan::kVersion);
        QVERIFY2(current, current ? "" : all(current.error()).c_str());
        for (int version = 0; version < Plan::kVersion; ++version) {
            const auto old = sample(version);
            QVERIFY2(old, old ? "" : all(old.error()).c_str());
            QVERIFY(*old == *current);
        }
    }

    void aNewerVersionIsRefused()
    {
        const Errors errors = faultsOf(replaced("\"version\": 1", "\"version\": 2"));
        QCOMPARE(errors.size(), 1U);
        QCOMPARE(errors[0].where, std::string("p.json: /version"));
        QVERIFY(errors[0].what.find("newer") != std::string::npos);
    }

    /// Documents that keep their order are searched key by key: a million keys in one object would take hours.
    void anObjectOfManyKeysIsRefused()
    {
        std::string keys;
        for (int i = 0; i < 1001; ++i)
            keys += "\"k" + std::to_string(i) + "\": 0, ";
        const auto plan = parsePlan(replaced("\"format\"", keys + "\"format\""), "p.json");
        QVERIFY(!plan);
        QCOMPARE(plan.error().front().code, ErrorCode::BadSyntax);
        QVERIFY(plan.error().front().what.find("1000 keys") != std::string::npos);
    }

    void manyFaultsAreTold100AtATime()
    {
        std::string twice;
        for (int i = 0; i < 300; ++i)
            twice += "\"twice\": 0, ";
        const auto plan = parsePlan(replaced("\"format\"", twice + "\"format\""), "p.json");
        QCOMPARE(plan.error().size(), std::size_t(100));
    }

    void aSettingThatNestsTooDeepToBeReadBackIsRefused()
    {
        const auto plan = parsePlan(kSmall, "p.json");
        const auto nested = [](int levels) {
            return std::string(std::size_t(levels), '[') + std::string(std::size_t(levels), ']');
        };
        // calibration.x is two levels down: 62 more can be read back, 63 cannot.
        const auto deepest = withKeySet(*plan, "calibration.x", nested(62));
        QVERIFY(deepest && parsePlan(formatPlan(*deepest), "p.json"));
        QVERIFY(!withKeySet(*plan, "calibration.x", nested(63)));
        QVERIFY(!withKeySet(*plan, "calibration.x", "\xff"));
    }

    void poolsWithoutAnIdGetOne()
    {
        const auto plan = parsePlan(replaced("\"id\": \"a-h100\", ", ""), "p.json");
        QVERIFY(plan);
        QCOMPARE(plan->cluster.datacenters[0].pools[0].id, std::string("a-h100-sxm-80gb"));
    }

    void aFileIsReplacedWholeOrNotAtAll()
    {
        QTemporaryDir folder;
        const std::string path = folder.filePath("x.trainyard.json").toStdString();
        Plan plan = test::RandomPlan(11).plan();
        plan.baseDir = folder.path().toStdString(); // seen from there, files keep their names
        QVERIFY(writePlan(test::RandomPlan(12).plan(), path));
        QVERIFY(writePlan(plan, path));
        auto again = readPlan(path);
        QVERIFY(again);
        QCOMPARE(again->baseDir, folder.path().toStdString());
        QVERIFY(*again == plan);
        QCOMPARE(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden).size(), 1);
        const auto failed = writePlan(plan, folder.filePath("absent/x.json").toStdString());
        QVERIFY(!failed);
        QCOMPARE(failed.error().code, ErrorCode::CannotWrite);
        QCOMPARE(readPlan(folder.filePath("none.json").toStdString()).error()[0].code, ErrorCode::CannotRead);
        QCOMPARE(readPlan(folder.path().toStdString()).error()[0].code, ErrorCode::CannotRead);
    }

    /// A name stands in every table, label and message: one of megabytes held the window up for half a minute.
    void longNamesAreRefusedWithTheirLengthAndLongNotesAreNot()
    {
        const auto with = [](const std::string &key, std::size_t bytes) {
            std::string text = kSmall;
            text.insert(text.find('{') + 1, '"' + key + "\":\"" + std::string(bytes, 'n') + "\",");
            return parsePlan(text, "p.json");
        };
        QVERIFY(with("name", 4'096).has_value());
        QVERIFY(with("notes", 100'000).has_value());
        const auto refused = with("name", 5'000'000);
        QVERIFY(!refused);
        QCOMPARE(refused.error()[0].what, std::string("name has 5000000 bytes"));
        QCOMPARE(refused.error()[0].right, std::string("a text of at most 4096"));
    }

    /// A window with 20,001 pools took half a minute and 10 GB, though it could not evaluate them.
    void tooManyPoolsAreRefusedWithTheirNumber()
    {
        const auto with = [](std::size_t pools) {
            std::string all;
            for (std::size_t i = 0; i < pools; ++i)
                all += std::string(i > 0 ? "," : "") + "{\"id\":\"p" + std::to_string(i)
                    + "\",\"gpu\":\"h100-sxm-80gb\",\"nodes\":1}";
            return parsePlan("{\"cluster\":{\"datacenters\":[{\"id\":\"a\",\"pools\":[" + all
                    + "]}]},\"workload\":{\"model\":\"llama-3-8b\",\"global_batch\":64}}",
                "p.json");
        };
        const auto most = with(4'096);
        QVERIFY2(most.has_value(), most ? "" : toString(most.error()[0]).c_str());
        const auto refused = with(20'001);
        QVERIFY(!refused);
        QCOMPARE(refused.error()[0].where, std::string("p.json: /cluster/datacenters"));
        QCOMPARE(refused.error()[0].what, std::string("the cluster has 20001 pools"));
    }
};

TRAINYARD_APPLESS_TEST(TstPlanIo)
#include "tst_plan_io.moc"
