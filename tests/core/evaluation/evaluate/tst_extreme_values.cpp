// SPDX-License-Identifier: GPL-3.0-or-later
// Every number of some plans at values far from any that was meant: each is an answer that adds up, or a refusal that
// names a key.
#include "core/evaluation/report/metrics_json.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include "tests/support/plans.h"

#include <nlohmann/json.hpp>

#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

namespace {

using Json = nlohmann::json;

constexpr const char *kExtremes[] = { "0", "1e-300", "1e-8", "1000", "2147483647", "1e12", "1e18", "1.7e308" };

/// Dotted keys of all numbers of a document.
void collect(const Json &node, const std::string &path, std::vector<std::string> &keys)
{
    if (node.is_number() && path != "version")
        keys.push_back(path);
    else if (node.is_array())
        for (std::size_t i = 0; i < node.size(); ++i)
            collect(node[i], path + "[" + std::to_string(i) + "]", keys);
    else if (node.is_object())
        for (const auto &[key, value] : node.items())
            collect(value, path.empty() ? key : path + "." + key, keys);
}

/// With what a plan may leave out, so that those keys have numbers too.
Plan spelledOut(const char *sample)
{
    Plan plan = test::samplePlan(sample);
    for (Datacenter &site : plan.cluster.datacenters) {
        site.fabricGbpsPerGpu = 200;
        site.usdPerKwh = 0.1;
        for (Pool &pool : site.pools) {
            pool.usdPerGpuHour = 2;
            pool.ssd = Ssd { 6, 12, 7, 1000, 2, 2, 2, {} };
            pool.host = Host { 2048, 25, {} };
        }
    }
    plan.workload.trainingTokens = 1e12;
    plan.stack.overrides = { { "iteration_overhead_ms", 1 }, { "host_us_per_kernel", 4 }, { "context_bytes", 1e9 },
        { "fragmentation", 1.05 } };
    return plan;
}

bool isInfinite(const Json &node)
{
    if (node.is_structured())
        return std::any_of(node.begin(), node.end(), [](const Json &child) { return isInfinite(child); });
    return node.is_number() && !std::isfinite(node.get<double>());
}

} // namespace

class TestExtremeValues : public QObject {
    Q_OBJECT

private slots:
    void everyNumberAtItsExtremesIsAnsweredOrRefused_data();
    void everyNumberAtItsExtremesIsAnsweredOrRefused();
};

void TestExtremeValues::everyNumberAtItsExtremesIsAnsweredOrRefused_data()
{
    QTest::addColumn<QString>("sample");
    QTest::addColumn<QString>("setting");
    QTest::newRow("measured stages over two datacenters, temporal") << "atlas-headline"
                                                                    << "";
    QTest::newRow("measured stages, list schedule") << "atlas-headline"
                                                    << "schedule=zb-v";
    QTest::newRow("activations on drives") << "ssdtrain-bert-2xa100"
                                           << "";
    QTest::newRow("optimizer on drives") << "ssdtrain-bert-2xa100"
                                         << "memory.optimizer_offload=ssd";
    QTest::newRow("replicas in three regions") << "llama-3-70b-three-regions"
                                               << "placement.mode=data-across";
    QTest::newRow("a pipeline over three regions") << "llama-3-70b-three-regions"
                                                   << "";
}

void TestExtremeValues::everyNumberAtItsExtremesIsAnsweredOrRefused()
{
    QFETCH(QString, sample);
    QFETCH(QString, setting);
    Plan plan = spelledOut(sample.toUtf8().constData());
    if (const QStringList parts = setting.split('='); parts.size() == 2)
        plan = withKeySet(plan, parts[0].toStdString(), parts[1].toStdString()).value();
    std::vector<std::string> keys;
    collect(Json::parse(formatPlan(plan)), {}, keys);
    QVERIFY(keys.size() > 25);
    EvaluationWorkspace workspace;
    int answered = 0, refused = 0;
    for (const std::string &key : keys) {
        for (const char *value : kExtremes) {
            auto changed = withKeySet(plan, key, value);
            if (!changed)
                continue; // outside its own range
            changed->bubbleFill.enabled =
                plan.bubbleFill.enabled && key.starts_with("bubble_fill."); // a million requests take a second
            const std::string what = key + "=" + value;
            const auto evaluation =
                evaluate(std::make_shared<const Plan>(*changed), builtinCatalogue(), workspace, {}, Depth::Spans);
            if (!evaluation) {
                ++refused;
                for (const Error &error : evaluation.error())
                    QVERIFY2(error.code != ErrorCode::Internal && !error.where.empty(),
                        (what + ": " + toString(error)).c_str());
                continue;
            }
            ++answered;
            const Metrics &m = (*evaluation)->metrics;
            if (!m.iterationTime) {
                QVERIFY2(!(*evaluation)->feasible(), what.c_str());
                continue;
            }
            // Between a tick and the longest that a timeline holds; its parts at least 0, and their sum the whole.
            QVERIFY2(*m.iterationTime > 0 && *m.iterationTime <= 1.01e9,
                (what + ": " + std::to_string(*m.iterationTime) + " s").c_str());
            QVERIFY2(std::abs(m.breakdown->total() - *m.iterationTime) <= 1e-4 * *m.iterationTime, what.c_str());
            for (double Breakdown::*part : kBreakdownParts)
                QVERIFY2((*m.breakdown).*part >= -1e-9 * *m.iterationTime, what.c_str());
            for (const StageMemory &stage : m.memory ? m.memory->perStage : std::vector<StageMemory> {})
                QVERIFY2(stage.weights >= 0 && stage.activations >= 0 && stage.buffers >= 0 && stage.peak >= 0
                        && stage.device >= stage.peak,
                    what.c_str());
            QVERIFY2(!isInfinite(Json::parse(metricsJson(**evaluation))), what.c_str());
        }
    }
    QVERIFY2(answered > 60 && refused > 5,
        (std::to_string(answered) + " answered, " + std::to_string(refused) + " refused").c_str());
}

TRAINYARD_APPLESS_TEST(TestExtremeValues)
#include "tst_extreme_values.moc"
