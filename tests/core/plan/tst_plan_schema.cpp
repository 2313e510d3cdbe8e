// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/plan_io.h"

#include "tests/core/plan/random_plan.h"

#include <nlohmann/json.hpp>

#include <QFile>
#include <QTest>

#include <set>

using namespace trainyard;
using Json = nlohmann::json;

namespace {

/// Paths of all keys: "cluster.datacenters[].id".
void addSchemaPaths(const Json &schema, const std::string &path, std::set<std::string> &paths)
{
    for (const char *several : { "anyOf" }) {
        if (schema.contains(several)) {
            for (const Json &one : schema[several])
                addSchemaPaths(one, path, paths);
        }
    }
    if (schema.contains("items"))
        addSchemaPaths(schema["items"], path + "[]", paths);
    if (!schema.contains("properties"))
        return;
    for (const auto &[name, inner] : schema["properties"].items()) {
        const std::string child = path.empty() ? name : path + "." + name;
        paths.insert(child);
        addSchemaPaths(inner, child, paths);
    }
}

void addPaths(const Json &value, const std::string &path, std::set<std::string> &paths)
{
    if (value.is_array()) {
        for (const Json &item : value)
            addPaths(item, path + "[]", paths);
    } else if (value.is_object()) {
        for (const auto &[name, inner] : value.items()) {
            const std::string child = path.empty() ? name : path + "." + name;
            paths.insert(child);
            addPaths(inner, child, paths);
        }
    }
}

bool isInside(const std::string &path, const std::string &part) { return path.find(part) != std::string::npos; }

/// Just enough of draft-07 for our own schemas.
bool accepts(const Json &schema, const Json &value)
{
    if (schema.contains("anyOf")) {
        const auto &several = schema["anyOf"];
        if (std::none_of(several.begin(), several.end(), [&](const Json &one) { return accepts(one, value); }))
            return false;
    }
    if (schema.contains("const") && schema["const"] != value)
        return false;
    if (schema.contains("enum") && std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
        return false;
    if (schema.contains("type")) {
        const auto isType = [&](const std::string &type) {
            return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) || (type == "string" && value.is_string())
                || (type == "number" && value.is_number()) || (type == "integer" && value.is_number_integer())
                || (type == "boolean" && value.is_boolean()) || (type == "null" && value.is_null());
        };
        const Json types = schema["type"].is_array() ? schema["type"] : Json::array({ schema["type"] });
        if (std::none_of(types.begin(), types.end(), [&](const Json &type) { return isType(type.get<std::string>()); }))
            return false;
    }
    if (value.is_number()) {
        if ((schema.contains("minimum") && value < schema["minimum"]) || (schema.contains("maximum") && value > schema["maximum"])
            || (schema.contains("exclusiveMinimum") && value <= schema["exclusiveMinimum"]))
            return false;
    }
    if (value.is_array() && schema.contains("items")
        && std::any_of(value.begin(), value.end(), [&](const Json &item) { return !accepts(schema["items"], item); }))
        return false;
    if (!value.is_object())
        return true;
    if (schema.contains("required")) {
        for (const Json &key : schema["required"]) {
            if (!value.contains(key.get<std::string>()))
                return false;
        }
    }
    if (schema.contains("properties")) {
        for (const auto &[key, inner] : schema["properties"].items()) {
            if (value.contains(key) && !accepts(inner, value[key]))
                return false;
        }
    }
    return true;
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
        for (const std::string &path : written) {
            if (isInside(path, "x_") || isInside(path, "calibration."))
                continue;   // kept unknown keys, open object
            QVERIFY2(m_schemaPaths.contains(path), path.c_str());
        }
        for (const std::string &path : m_schemaPaths) {
            // fields of inline objects and stacks come from the catalogue, and have tests there
            if (isInside(path, ".gpu.") || isInside(path, "workload.model.") || isInside(path, "stack."))
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
        for (const char *path : { "iteration_time_s", "mfu", "breakdown_s.offload_stall", "memory.per_stage[].device_bytes",
                 "wan.links[].node_pair_gbps", "cost.egress_usd_total", "bubble_fill.ttft_ms.p95", "jobs.per_job[].gpus",
                 "offload.ssd_lifetime_years", "confidence.label", "engine.spans", "problems[].text" })
            QVERIFY2(paths.contains(path), path);
    }

private:
    Json m_schema;
    std::set<std::string> m_schemaPaths;
};

QTEST_APPLESS_MAIN(TstPlanSchema)
#include "tst_plan_schema.moc"
