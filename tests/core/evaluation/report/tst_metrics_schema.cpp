// SPDX-License-Identifier: GPL-3.0-or-later
// The schema of the metrics says what `evaluate --format json` writes: every key, of the type that it has, and no
// other.
#include "core/evaluation/report/metrics_json.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/json_schema.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QDirIterator>
#include <QRegularExpression>
#include <QSet>
#include <QTest>

using namespace trainyard;
using test::Json;

namespace {

const std::string kJobs = "a plan with jobs";

std::vector<Plan> samples()
{
    std::vector<Plan> plans;
    for (QDirIterator files(
             QStringLiteral(TRAINYARD_SOURCE_DIR "/samples"), { QStringLiteral("*.trainyard.json") }, QDir::Files);
         files.hasNext();)
        plans.push_back(readPlan(files.next().toStdString()).value_or(Plan {}));
    return plans;
}

/// What no sample has: GPUs without a stage, emissions, a policy that chooses layers, experts of a release that is not
/// named.
std::vector<Plan> besideTheSamples()
{
    Plan idle = test::oneSite(5);
    idle.cluster.datacenters[0].kgCo2PerKwh = 0.4;
    idle.cluster.datacenters[0].usdPerKwh = 0.1;
    idle.workload.trainingTokens = 1e9;
    Plan memo = test::oneSite(4);
    memo.memory.activationOffload = ActivationOffload::Host;
    memo.memory.offloadPolicy = OffloadPolicy::Memo;
    Plan experts = test::oneSite(8);
    experts.workload.model = "mixtral-8x7b";
    experts.parallelism.expert = 8;
    Plan jobs = readPlan(TRAINYARD_SOURCE_DIR "/samples/hydra-lab.trainyard.json").value_or(Plan {});
    jobs.jobs = { { "late", "gpt-3-1.3b" }, { "too large", "gpt-3-175b" } }; // on 16 GB
    jobs.jobs[0].deadlineS = 1e-3;
    Plan filled = readPlan(TRAINYARD_SOURCE_DIR "/samples/atlas-headline.trainyard.json").value_or(Plan {});
    filled.name = "decoded apart";
    filled.bubbleFill.decode.gpus = 64;
    ServedModel served;
    served.model = "gpt-3-1.3b";
    served.requestsPerSecond = 20;
    filled.bubbleFill.served.push_back(served);
    return { std::move(filled), std::move(idle), std::move(memo), std::move(experts), std::move(jobs),
        test::oneSite(1) };
}

/// Keys that have a value somewhere; a null says only that the key exists.
void addFilled(const Json &value, const std::string &path, std::set<std::string> &paths)
{
    if (!value.is_null() && !path.empty() && !path.ends_with("[]"))
        paths.insert(path);
    if (value.is_array()) {
        for (const Json &item : value)
            addFilled(item, path + "[]", paths);
    } else if (value.is_object()) {
        for (const auto &[name, inner] : value.items())
            addFilled(inner, path.empty() ? name : path + "." + name, paths);
    }
}

} // namespace

class TstMetricsSchema : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        m_schema = Json::parse(metricsSchema());
        test::addSchemaPaths(m_schema, "", m_named);
        for (const std::vector<Plan> &plans : { samples(), besideTheSamples() })
            for (const Plan &plan : plans)
                m_documents.emplace_back(
                    hasJobs(plan) ? kJobs : plan.name, Json::parse(metricsJson(*test::evaluated(plan))));
        QVERIFY(m_documents.size() >= 12);
    }

    void whatEverySampleWritesIsInTheSchema()
    {
        for (const auto &[name, document] : m_documents) {
            std::set<std::string> written;
            test::addPaths(document, "", written);
            for (const std::string &path : written)
                QVERIFY2(m_named.contains(path), (name + " writes " + path).c_str());
        }
    }

    void whatTheSchemaNamesIsWrittenByEveryPlanToWhichItApplies()
    {
        std::set<std::string> filled;
        for (const auto &[name, document] : m_documents) {
            addFilled(document, "", filled);
            // A key at the top is there whether or not it applies.
            for (const auto &[key, schema] : m_schema["properties"].items())
                QVERIFY2(document.contains(key), (name + " lacks " + key).c_str());
        }
        for (const std::string &path : m_named)
            QVERIFY2(filled.contains(path), path.c_str());
    }

    void whatIsWrittenIsOfTheTypeThatTheSchemaNames()
    {
        for (const auto &[name, document] : m_documents)
            QVERIFY2(test::accepts(m_schema, document), name.c_str());
    }

    void jobsAreNullWhereThereAreNone()
    {
        int withJobs = 0;
        for (const auto &[name, document] : m_documents) {
            QCOMPARE(document["jobs"].is_null(), name != kJobs);
            withJobs += name == kJobs;
        }
        QVERIFY(withJobs >= 2);
    }

    void everyKeyHasADescription()
    {
        for (const auto &[name, schema] : m_schema["properties"].items())
            QVERIFY2(schema.contains("description") || schema.contains("items") || schema.contains("properties"),
                name.c_str());
    }

    void theReferencePageNamesEveryMetric()
    {
        QFile file(QStringLiteral(TRAINYARD_SOURCE_DIR "/docs/metrics.md"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QString page = QString::fromUtf8(file.readAll());
        QSet<QString> named; // words of what stands between backticks
        static const QRegularExpression code(QStringLiteral("`([^`\n]+)`")), word(QStringLiteral("\\w+"));
        for (auto spans = code.globalMatch(page); spans.hasNext();) {
            const QString span = spans.next().captured(1);
            for (auto words = word.globalMatch(span); words.hasNext();)
                named.insert(words.next().captured());
        }
        for (const std::string &path : m_named) {
            const std::string name = path.substr(path.rfind('.') + 1); // npos + 1 is 0: a name at the top
            QVERIFY2(named.contains(QString::fromStdString(name)), path.c_str());
        }
    }

private:
    Json m_schema;
    std::set<std::string> m_named;
    std::vector<std::pair<std::string, Json>> m_documents;
};

TRAINYARD_APPLESS_TEST(TstMetricsSchema)
#include "tst_metrics_schema.moc"
