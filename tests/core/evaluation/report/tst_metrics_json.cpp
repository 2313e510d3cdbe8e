// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/metrics_json.h"
#include "tests/core/evaluation/report/sample_evaluation.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

using namespace trainyard;
using nlohmann::json;

class TstMetricsJson : public QObject {
    Q_OBJECT

private slots:
    void everyMetricOfTheContractIsNamed()
    {
        const json j = json::parse(metricsJson(*test::sampleEvaluation()));
        for (const char *key : { "iteration_time_s", "tokens_per_s", "tokens_per_s_per_gpu", "model_tflops_per_gpu",
                 "mfu", "hfu", "gpus_used", "gpus_total", "feasible", "problems", "gpu_utilization",
                 "gpu_utilization_with_fill", "bubble_fraction", "breakdown_s", "memory", "wan", "cost", "bubble_fill",
                 "jobs", "offload", "confidence", "engine" })
            QVERIFY2(j.contains(key), key);
        for (const char *key : { "compute", "bubble", "tensor_parallel", "context_parallel", "expert_parallel", "wan",
                 "pipeline", "data_parallel", "offload_stall", "optimizer" })
            QVERIFY2(j["breakdown_s"].contains(key), key);
        for (const char *key : { "stage", "weights_bytes", "gradients_bytes", "optimizer_bytes", "activations_bytes",
                 "buffers_bytes", "reserved_bytes", "offloaded_bytes", "peak_bytes", "device_bytes" })
            QVERIFY2(j["memory"]["per_stage"][0].contains(key), key);

        for (const char *key : { "between", "bytes", "utilization", "tcp_connections", "node_pair_gbps" })
            QVERIFY2(j["wan"]["links"][0].contains(key), key);
        for (const char *key : { "usd_per_iteration", "usd_per_million_tokens", "usd_total", "egress_usd_total",
                 "days_total", "energy_mwh_total", "co2_t_total" })
            QVERIFY2(j["cost"].contains(key), key);
    }

    void everySetOfEqualGpusIsListed()
    {
        const auto evaluation = test::evaluated(test::oneSite(4));
        const json devices = json::parse(metricsJson(*evaluation))["memory"]["per_device"];
        QCOMPARE(devices.size(), evaluation->metrics.devices.size());
        for (const char *key : { "datacenter", "pool", "gpu", "stage", "ranks", "micro_batch", "micro_batches",
                 "state_share", "time_s", "wait_s", "peak_bytes", "device_bytes", "capacity_bytes" })
            QVERIFY2(devices[0].contains(key), key);
        QCOMPARE(devices[0]["gpu"].get<std::string>(), std::string("h100-sxm-80gb"));
        QCOMPARE(devices[0]["capacity_bytes"].get<std::int64_t>(), evaluation->metrics.memory->capacity);
    }

    void aMetricThatDoesNotApplyIsNull()
    {
        const json j = json::parse(metricsJson(*test::sampleEvaluation()));
        QVERIFY(j["tokens_per_s"].is_null());
        QVERIFY(j["gpu_utilization_with_fill"].is_null());
        QVERIFY(j["cost"]["usd_total"].is_null());
        QVERIFY(j["bubble_fill"].is_null());
        QVERIFY(j["memory"]["per_stage"][0]["offloaded_bytes"].is_null());
    }

    void whatWouldNarrowTheRangeIsSaid()
    {
        auto evaluation = test::sampleEvaluation();
        QVERIFY(json::parse(metricsJson(*evaluation))["confidence"]["note"].is_null());
        evaluation->metrics.confidence.note = "name it";
        QCOMPARE(
            json::parse(metricsJson(*evaluation))["confidence"]["note"].get<std::string>(), std::string("name it"));
    }

    void prefillInBubblesIsReported()
    {
        auto evaluation = test::sampleEvaluation();
        BubbleFillMetrics fill;
        fill.accepted = 7;
        fill.rejected = fill.rejectedAsLate = 3;
        fill.filledFraction = 0.25;
        fill.ttftP95Ms = 12.5;
        fill.waiting = 1.5;
        fill.saturationRequestsPerSecond = 40;
        fill.seed = 4;
        fill.isSettled = false;
        fill.served = { { "llama-3-8b", 7, 3, 12, 13 } };
        evaluation->metrics.bubbleFill = fill;
        const json j = json::parse(metricsJson(*evaluation))["bubble_fill"];
        for (const char *key :
            { "accepted", "rejected", "filled_fraction", "prefill_tokens_per_s", "ttft_ms", "training_delay_s" })
            QVERIFY2(j.contains(key), key);
        QCOMPARE(j["accepted"].get<int>(), 7);
        QCOMPARE(j["rejected_by"]["late"].get<int>(), 3);
        QCOMPARE(j["filled_fraction"].get<double>(), 0.25);
        QCOMPARE(j["waiting"].get<double>(), 1.5);
        QCOMPARE(j["saturation_requests_per_s"].get<double>(), 40.0);
        QCOMPARE(j["seed"].get<int>(), 4);
        QCOMPARE(j["settled"].get<bool>(), false);
        QCOMPARE(j["served"][0]["model"].get<std::string>(), std::string("llama-3-8b"));
        QVERIFY(j["decode_requests"].is_null());
        QCOMPARE(j["ttft_ms"]["p95"].get<double>(), 12.5);
        QVERIFY(j["ttft_ms"]["p99"].is_null());
        QCOMPARE(j["training_delay_s"].get<double>(), 0.0);
    }

    /// The top level is the fullest GPU: stage 1, with 86 and 88 GB of 80.
    void theTopLevelOfMemoryIsTheFullestGpu()
    {
        const json memory = json::parse(metricsJson(*test::sampleEvaluation()))["memory"];
        QCOMPARE(memory["peak_bytes"].get<double>(), 85e9);
        QCOMPARE(memory["reserved_bytes"].get<double>(), 86e9);
        QCOMPARE(memory["device_bytes"].get<double>(), 88e9);
        QCOMPARE(memory["capacity_bytes"].get<double>(), 80e9);
    }

    void withoutWanLinksThereIsNoWanMetric()
    {
        auto evaluation = test::sampleEvaluation();
        Plan plan = *evaluation->plan;
        plan.cluster.wanLinks.clear();
        evaluation->plan = std::make_shared<const Plan>(plan);
        evaluation->metrics.wanLinks.clear();
        QVERIFY(json::parse(metricsJson(*evaluation))["wan"].is_null());
    }

    void aLinkCountsBothDirections()
    {
        // 1 GB there and 2 GB back.
        const json j = json::parse(metricsJson(*test::sampleEvaluation()));
        QCOMPARE(j["wan"]["links"][0]["bytes"].get<double>(), 3e9);
        QCOMPARE(j["wan"]["links"][0]["between"].get<std::vector<std::string>>(),
            (std::vector<std::string> { "oslo", "bergen" }));
    }

    void aBlockingProblemMakesThePlanInfeasible()
    {
        const json j = json::parse(metricsJson(*test::sampleEvaluation()));
        QCOMPARE(j["problems"][0]["severity"].get<std::string>(), std::string("blocking"));
        QCOMPARE(j["memory"]["fits"].get<bool>(), false);
    }

    void noNumberIsEverInfinite()
    {
        auto evaluation = test::sampleEvaluation();
        evaluation->metrics.mfu = std::numeric_limits<double>::infinity();
        evaluation->metrics.iterationTime = std::nan("");
        evaluation->metrics.wanLinks[0].utilization = std::nan("");
        const json j = json::parse(metricsJson(*evaluation));
        QVERIFY(j["mfu"].is_null());
        QVERIFY(j["iteration_time_s"].is_null());
        QVERIFY(j["wan"]["links"][0]["utilization"].is_null());
    }

    void aNameThatIsNotUtf8StaysReadableJson()
    {
        auto evaluation = test::sampleEvaluation();
        Plan plan = *evaluation->plan;
        plan.name = "broken \xff name";
        evaluation->plan = std::make_shared<const Plan>(plan);
        QVERIFY(json::accept(metricsJson(*evaluation)));
    }
};

TRAINYARD_APPLESS_TEST(TstMetricsJson)
#include "tst_metrics_json.moc"
