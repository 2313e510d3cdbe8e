// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/metrics_json.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/test_program.h"

#include "tests/core/facts/plan/random_plan.h"
#include "tests/support/json_schema.h"

#include <QFile>
#include <QTest>

using namespace trainyard;
using test::Json, test::accepts, test::addPaths, test::addSchemaPaths;

namespace {

bool isInside(const std::string &path, const std::string &part)
{
    return path.find(part) != std::string::npos;
}

} // namespace

class TstPlanSchema : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        m_schema = Json::parse(planSchema());
        addSchemaPaths(m_schema, "", m_schemaPaths);
    }

    void itIsDraftSeven() { QVERIFY(m_schema["$schema"] == "http://json-schema.org/draft-07/schema#"); }

    void everyKeyThatIsWrittenIsInTheSchemaAndTheOtherWayRound()
    {
        std::set<std::string> written;
        for (unsigned seed = 0; seed < 60; ++seed)
            addPaths(Json::parse(formatPlan(test::RandomPlan(seed).plan())), "", written);
        for (const std::string &plain : std::set(written)) { // names that are keys
            const std::string gpu = "layer_profiles.gpu-";
            if (plain.starts_with(gpu)) {
                written.erase(plain);
                written.insert("layer_profiles.<gpu id>" + plain.substr(gpu.size() + 1));
            }
        }
        for (const std::string &path : written) {
            if (isInside(path, "x_") || isInside(path, "calibration.") || isInside(path, "ward_ms."))
                continue; // kept unknown keys, open objects
            QVERIFY2(m_schemaPaths.contains(path), path.c_str());
        }
        for (const std::string &path : m_schemaPaths) {
            // fields of inline objects and stacks come from the catalogue, and have tests there
            if (isInside(path, ".gpu.") || isInside(path, "workload.model.") || isInside(path, "stack.")
                || isInside(path, "calibration."))
                continue;
            QVERIFY2(written.contains(path), path.c_str());
        }
    }

    void whatIsWrittenIsValid()
    {
        for (unsigned seed = 0; seed < 60; ++seed) {
            const std::string text = formatPlan(test::RandomPlan(seed).plan());
            QVERIFY2(accepts(m_schema, Json::parse(text)), text.c_str());
        }
        QVERIFY(!accepts(m_schema, Json::parse(R"({"cluster": {"datacenters": []}})")));
        QVERIFY(!accepts(m_schema, Json::parse(R"({"cluster": {"datacenters": []}, "workload": {"micro_batch": 0}})")));
    }

    void everyKeyHasADescription()
    {
        for (const auto &[name, schema] : m_schema["properties"].items())
            QVERIFY2(schema.contains("description"), name.c_str());
    }

    void theReferencePageNamesEveryKeyAndEveryChoice()
    {
        QFile file(QStringLiteral(TRAINYARD_SOURCE_DIR "/docs/plan-file.md"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const std::string page = file.readAll().toStdString();
        for (const std::string &path : m_schemaPaths) {
            if (isInside(path, ".gpu.") || isInside(path, "workload.model.") || isInside(path, "stack."))
                continue;
            const std::string name = path.substr(path.rfind('.') == std::string::npos ? 0 : path.rfind('.') + 1);
            QVERIFY2(isInside(page, "`" + name + "`"), name.c_str());
        }
        for (const Json &name : m_schema["properties"]["schedule"]["enum"])
            QVERIFY2(isInside(page, "`" + name.get<std::string>() + "`"), name.get<std::string>().c_str());
    }

    void theMetricsSchemaNamesTheMetricsOfTheReference()
    {
        std::set<std::string> paths;
        addSchemaPaths(Json::parse(metricsSchema()), "", paths);
        for (const char *path :
            { "iteration_time_s", "mfu", "breakdown_s.offload_stall", "memory.per_stage[].device_bytes",
                "wan.links[].node_pair_gbps", "cost.egress_usd_total", "bubble_fill.ttft_ms.p95", "jobs.per_job[].gpus",
                "offload.ssd_lifetime_years", "confidence.label", "engine.spans", "problems[].text" })
            QVERIFY2(paths.contains(path), path);
    }

private:
    Json m_schema;
    std::set<std::string> m_schemaPaths;
};

TRAINYARD_APPLESS_TEST(TstPlanSchema)
#include "tst_plan_schema.moc"
