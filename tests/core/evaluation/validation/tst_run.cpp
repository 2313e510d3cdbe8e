// SPDX-License-Identifier: GPL-3.0-or-later
// Rows run: predictions beside measurements, rows that cannot be evaluated, and stopping.

#include "core/evaluation/validation/run.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

using namespace trainyard;

namespace {

/// Eight micro-batches of 10 ms forward and 20 ms backward on one stage: 8 * 30 ms and nothing else.
std::string file(const std::string &rows)
{
    return R"({"format": "trainyard.validation", "version": 1, "source": "mine", "base": {
      "cluster": {"datacenters": [{"id": "a", "pools": [{"id": "p", "gpu": "a100-sxm-80gb", "nodes": 1, "gpus_per_node": 1}]}]},
      "workload": {"model": "gpt-3-1.3b", "sequence_length": 2048, "global_batch": 8},
      "profile": {"forward_ms": 10, "backward_ms": 20, "activation_mb": 1}}, "rows": [)"
        + rows + "]}";
}

std::string row(const std::string &id, int globalBatch, const std::string &published)
{
    return "{\"id\": \"" + id + "\", \"plan\": {\"workload\": {\"global_batch\": " + std::to_string(globalBatch)
        + "}}, \"published\": {" + published + "}}";
}

const std::string kOneSecond = "\"iteration_time_s\": 1";

ValidationRun runOf(const std::string &rows, const RunOptions &options = {})
{
    const auto set = parseRows(file(rows), "f.json");
    if (!set)
        qFatal("%s", toString(set.error().front()).c_str());
    return runRows(std::span(&*set, 1), builtinCatalogue(), options);
}

} // namespace

class TstRun : public QObject {
    Q_OBJECT

private slots:
    void aPredictionStandsBesideTheMeasurement()
    {
        const ValidationRun run = runOf(
            R"({"id": "r", "plan": {}, "note": "n", "published": {"iteration_time_s": 0.2, "tokens_per_s": 65536}})");
        QVERIFY(run.isComplete);
        QCOMPARE(run.results.size(), 2u);
        const ValidationResult &time = run.results[0];
        QVERIFY(std::abs(*time.predicted - 0.24) < 1e-9);
        QVERIFY(std::abs(*time.error() - 0.2) < 1e-6); // 0.24 / 0.2 - 1
        QCOMPARE(QString::fromStdString(time.note), QStringLiteral("n"));
        // 8 * 2048 tokens in 0.24 s
        QVERIFY(std::abs(*run.results[1].predicted - 16384 / 0.24) < 1e-3);
    }

    void oneStageAndSumsAreLookedUp()
    {
        const ValidationRun run = runOf(
            R"({"id": "r", "plan": {"profile": null}, "published": {"memory.peak_bytes": 1, "memory.per_stage[0].peak_bytes": 1,
            "memory.per_stage[0].weights_bytes": 1, "memory.per_stage[0].gradients_bytes": 1,
            "memory.per_stage[0].weights_bytes+memory.per_stage[0].gradients_bytes": 1, "memory.per_stage[1].peak_bytes": 1}})");
        QCOMPARE(run.results.size(), 6u);
        QCOMPARE(*run.results[0].predicted, *run.results[1].predicted);
        QCOMPARE(*run.results[4].predicted, *run.results[2].predicted + *run.results[3].predicted);
        QVERIFY(!run.results[5].predicted); // there is one stage only
        QVERIFY(!run.results[5].problem.empty());
    }

    void aRowThatCannotBeEvaluatedSaysWhy()
    {
        const ValidationRun run =
            runOf(R"({"id": "unknown", "plan": {"workload": {"model": "gpt-99"}}, "published": {"mfu": 0.4}},
            {"id": "unseated", "plan": {"parallelism": {"tensor": 8}, "profile": null}, "published": {"mfu": 0.4}},
            {"id": "fine", "plan": {}, "published": {"iteration_time_s": 0.24}})");
        QCOMPARE(run.results.size(), 3u);
        QVERIFY(!run.results[0].predicted);
        QVERIFY(run.results[0].problem.find("gpt-99") != std::string::npos);
        QVERIFY(!run.results[1].predicted);
        QVERIFY(!run.results[1].problem.empty());
        QVERIFY(run.results[2].predicted && run.results[2].problem.empty());
    }

    void resultsKeepTheOrderOfTheRowsOnAnyNumberOfThreads()
    {
        std::string rows;
        for (int i = 0; i < 40; ++i)
            rows += (i > 0 ? "," : "") + row(std::to_string(i), 1 + i, kOneSecond);
        for (const int threads : { 1, 2, 5 }) {
            std::size_t last = 0;
            const ValidationRun run =
                runOf(rows, { .threads = threads, .progress = [&](std::size_t done, std::size_t all) {
                                 QCOMPARE(done, last + 1);
                                 QCOMPARE(all, 40u);
                                 last = done;
                             } });
            QCOMPARE(last, 40u);
            for (int i = 0; i < 40; ++i) {
                QCOMPARE(run.results[std::size_t(i)].id, std::to_string(i));
                QVERIFY(std::abs(*run.results[std::size_t(i)].predicted - 0.03 * (1 + i)) < 1e-9);
            }
        }
    }

    void aStoppedRunKeepsWhatIsDone()
    {
        std::stop_source stop;
        const ValidationRun run = runOf(row("a", 8, kOneSecond) + "," + row("b", 8, kOneSecond),
            { .threads = 1, .stop = stop.get_token(), .progress = [&](std::size_t, std::size_t) {
                 stop.request_stop();
             } });
        QVERIFY(!run.isComplete);
        QCOMPARE(run.results.size(), 1u);
        QCOMPARE(run.results[0].id, std::string("a"));
    }

    void noRowsAreACompleteRun()
    {
        const ValidationRun run = runOf("");
        QVERIFY(run.isComplete);
        QVERIFY(run.results.empty());
    }
};

TRAINYARD_APPLESS_TEST(TstRun)
#include "tst_run.moc"
