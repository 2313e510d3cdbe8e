// SPDX-License-Identifier: GPL-3.0-or-later
// What holds for every search: the same answer with any number of threads, never worse than the plan, constraints
// kept, the best kept when it is stopped, worlds judged together.
#include "core/facts/plan/plan_io.h"
#include "core/planner/search/objective.h"
#include "core/planner/search/search.h"
#include "tests/core/planner/search/small_search.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <atomic>
#include <cmath>
#include <filesystem>

using namespace trainyard;
using namespace trainyard::test;

class TstSearch : public QObject {
    Q_OBJECT

private slots:
    void theAnswerIsTheSameWithAnyNumberOfThreads()
    {
        for (const bool isWhole : { true, false }) {
            SearchOptions options = asked(Objective::Cost);
            options.mostEnumerated = isWhole ? options.mostEnumerated : 10;
            options.mostTasks = isWhole ? options.mostTasks : 1'000'000;
            options.threads = 1;
            const SearchResult one = found(small(), options);
            QCOMPARE(one.isComplete, isWhole);
            for (const std::size_t threads : { 2, 4 }) {
                options.threads = threads;
                const SearchResult more = found(small(), options);
                QCOMPARE(numbersOf(more), numbersOf(one));
                QCOMPARE(more.simulated, one.simulated);
                QCOMPARE(more.rows.size(), one.rows.size());
                QCOMPARE(more.summary, one.summary);
            }
        }
    }

    void theSeedDecidesWhatIsDrawn()
    {
        SearchOptions options = asked();
        options.mostEnumerated = 10;
        options.mostTasks = 500'000;
        const SearchResult one = found(small(), options), again = found(small(), options);
        QCOMPARE(numbersOf(again), numbersOf(one));
        const auto looked = [](const SearchResult &result) {
            std::vector<std::uint64_t> numbers;
            for (const SearchRow &row : result.rows)
                numbers.push_back(row.number);
            return numbers;
        };
        QVERIFY(looked(again) == looked(one));
        options.seed = 2;
        const SearchResult other = found(small(), options);
        QVERIFY(bestValue(other) > 0);
        QVERIFY(looked(other) != looked(one));
    }

    /// What evaluate() calls infeasible is never an answer; the plan asked about is among what was looked at.
    void everySampleGetsAPlanThatRunsAndIsNoWorse_data()
    {
        QTest::addColumn<QString>("path");
        for (const auto &entry : std::filesystem::directory_iterator(TRAINYARD_SOURCE_DIR "/samples"))
            if (entry.path().string().ends_with(".trainyard.json"))
                QTest::newRow(entry.path().filename().c_str()) << QString::fromStdString(entry.path());
    }
    void everySampleGetsAPlanThatRunsAndIsNoWorse()
    {
        QFETCH(QString, path);
        auto plan = readPlan(path.toStdString());
        QVERIFY(plan);
        SearchOptions options;
        options.mostTasks = 300'000;
        options.mostEnumerated = 200;
        options.threads = 2;
        const SearchResult result = found(std::make_shared<const Plan>(std::move(*plan)), options);
        const SearchRow &own = result.rows[*result.own];
        QCOMPARE(own.number, result.space->number(result.space->baseCandidate()));
        QVERIFY2(!result.best.empty(), result.summary.c_str());
        if (own.state == RowState::Feasible)
            QVERIFY(bestValue(result) <= own.value);
        EvaluationWorkspace workspace;
        for (const std::size_t row : result.best) {
            const auto evaluation = evaluate(result.plan(row), builtinCatalogue(), workspace, {}, Depth::Score);
            QVERIFY(evaluation && (*evaluation)->feasible());
            QVERIFY2(jobsLeftOut((*evaluation)->metrics).empty(), jobsLeftOut((*evaluation)->metrics).c_str());
        }
    }

    void rowsTellWhatBecameOfEachCandidate()
    {
        const SearchResult result = found(small(), asked());
        QVERIFY(result.isComplete);
        QCOMPARE(result.own, std::optional<std::size_t>(0));
        for (const SearchRow &row : result.rows) {
            QCOMPARE(row.reason.empty(), row.state == RowState::Feasible);
            if (row.state == RowState::Feasible)
                QVERIFY(row.seconds > 0 && row.usdPerMillionTokens > 0 && row.joulesPerToken > 0 && row.gpus > 0);
        }
        std::uint64_t leftOut = 0;
        for (const PruneCount &one : result.pruned) {
            QVERIFY(!one.reason.empty() && one.count > 0);
            leftOut += one.count;
        }
        const auto feasible = std::ranges::count(result.rows, RowState::Feasible, &SearchRow::state);
        QCOMPARE(leftOut + std::uint64_t(feasible), result.space->size()); // every combination is told of once
        // no row that ran is faster and cheaper than one on the front
        for (const SearchRow &front : result.rows)
            for (const SearchRow &other : result.rows)
                if (front.isOnFront && (other.state == RowState::Feasible || other.isExact))
                    QVERIFY(!(other.seconds < front.seconds && other.usdPerMillionTokens < front.usdPerMillionTokens));
        for (std::size_t i = 1; i < result.best.size(); ++i)
            QVERIFY(result.rows[result.best[i - 1]].value <= result.rows[result.best[i]].value);
    }

    /// What went eight at a time says of a plan what run() says of it alone, and that it is behind all that are told.
    void whatIsOutdoneExactlyIsWhatRunSays()
    {
        for (const Objective objective : { Objective::Throughput, Objective::Cost, Objective::Gpus }) {
            SearchOptions options = asked(objective);
            options.top = 3;
            const SearchResult result = found(small(), options);
            QVERIFY(result.isComplete);
            QVERIFY(result.wholly < result.simulated);
            EvaluationWorkspace workspace;
            int exact = 0, priced = 0;
            const int perNode = small()->cluster.datacenters[0].pools[0].gpusPerNode;
            for (const SearchRow &row : result.rows) {
                if (!row.isExact)
                    continue;
                QCOMPARE(row.state, RowState::Outdone);
                QVERIFY(row.value >= result.rows[result.best.back()].value);
                if (++exact > 20)
                    continue;
                const auto evaluation = run(result.space->plan(result.space->candidate(row.number)), Depth::Score,
                    { .catalogue = builtinCatalogue(), .workspace = workspace, .replicas = OpenReplicas::Most });
                QVERIFY(evaluation && (*evaluation)->feasible());
                const Metrics &metrics = (*evaluation)->metrics;
                QCOMPARE(row.seconds, *metrics.iterationTime);
                QCOMPARE(row.gpus, metrics.gpusUsed);
                const double price = builtinCatalogue().gpu("h100-sxm-80gb")->usdPerHour;
                // Of a part of a node all its GPUs are paid for, and who lies in which is not known of a time alone.
                const bool fillsNodes = metrics.gpusUsed % perNode == 0;
                QVERIFY2(
                    fillsNodes ? std::abs(row.usdPerHour / (metrics.gpusUsed * price) - 1) < 1e-9 : row.usdPerHour == 0,
                    qPrintable(QString("%1 $ an hour for %2 GPUs of %3 $")
                                   .arg(row.usdPerHour)
                                   .arg(metrics.gpusUsed)
                                   .arg(price)));
                priced += fillsNodes;
            }
            QVERIFY(exact > 0 && priced > 0);
        }
    }

    void aStopKeepsTheBest()
    {
        std::stop_source stop;
        int calls = 0;
        SearchOptions options;
        const auto result =
            search(small(), builtinCatalogue(), options, stop.get_token(), [&](const SearchProgress &now) {
                QVERIFY(now.space);
                if (++calls == 3)
                    stop.request_stop();
            });
        QVERIFY(result);
        QVERIFY(result->isStopped && !result->isComplete);
        QVERIFY(!result->best.empty());
        QVERIFY(bestValue(*result) <= result->rows[*result->own].value);
        QVERIFY(result->summary.find("stopped") != std::string::npos);
    }

    void aStopBeforeAnythingLeavesThePlan()
    {
        std::stop_source stop;
        stop.request_stop();
        const auto result = search(small(), builtinCatalogue(), asked(), stop.get_token());
        QVERIFY(result);
        QVERIFY(result->isStopped && !result->isComplete);
        QCOMPARE(result->best.size(), std::size_t(1));
        QCOMPARE(result->best.front(), *result->own);
    }

    void secondsEndIt()
    {
        SearchOptions options;
        options.seconds = 0.2;
        options.mostEnumerated = 10; // around good plans, which goes on as long as there is time
        const SearchResult result = found(small(), options);
        QVERIFY(result.isStopped && !result.best.empty());
    }

    /// A plan that all three datacenters take cannot run where one is lost; a worst case has to fit two.
    void aLostDatacenterIsPlannedFor()
    {
        Plan plan = threeSites(2, 6);
        plan.workload.trainingTokens = 1e11;
        SearchOptions options = asked();
        options.fixed = { "memory", "wan", "workload", "parallelism.context", "parallelism.sequence_parallel",
            "parallelism.zero_stage", "placement", "schedule", "parallelism.virtual_pipeline" };
        const auto shared = std::make_shared<const Plan>(plan);
        const SearchResult calm = found(shared, options);
        options.scenarios = { Scenario { .name = "b lost", .lostDatacenter = "b" } };
        const SearchResult worst = found(shared, options);
        QVERIFY(calm.isComplete && worst.isComplete);
        QVERIFY(!worst.best.empty());
        QVERIFY(bestValue(worst) >= bestValue(calm)); // max over worlds ≥ own world
        const PlanPtr best = worst.plan(worst.best.front());
        const auto there = inScenario(best, options.scenarios.front());
        QVERIFY(there);
        EvaluationWorkspace workspace;
        const auto evaluation = evaluate(*there, builtinCatalogue(), workspace, {}, Depth::Score);
        QVERIFY(evaluation && (*evaluation)->feasible());
        // value = max(1 / own rate, 1 / rate there)
        const double rate =
            std::min(worst.rows[worst.best.front()].tokensPerSecond, *(*evaluation)->metrics.tokensPerSecond);
        QVERIFY(std::abs(bestValue(worst) * rate - 1) < 1e-9);
        options.robustness = Robustness::Expectation;
        const SearchResult mean = found(shared, options);
        QVERIFY(
            mean.isComplete && bestValue(mean) >= bestValue(calm) && bestValue(mean) <= bestValue(worst) * (1 + 1e-9));
    }

    /// Constraints hold in every world: where the only datacenter that may be used is lost, nothing else stands in.
    void noWorldUsesDatacentersThatAreNotAllowed()
    {
        SearchOptions options = asked();
        options.fixed = { "memory", "wan", "workload", "parallelism.context", "parallelism.sequence_parallel",
            "parallelism.zero_stage", "schedule", "parallelism.virtual_pipeline" };
        options.constraints.datacenters = { "b" };
        const auto plan = std::make_shared<const Plan>(threeSites(2, 6));
        QVERIFY(!found(plan, options).best.empty());
        options.scenarios = { Scenario { .name = "b lost", .lostDatacenter = "b" } };
        QVERIFY(found(plan, options).best.empty());
    }

    void nothingFeasibleIsSaid()
    {
        SearchOptions options = asked();
        options.constraints.leastTokensPerSecond = 1e12;
        const SearchResult result = found(small(), options);
        QVERIFY(result.best.empty() && result.isComplete);
        QVERIFY2(
            result.summary.starts_with("no plan of this space keeps the constraints (proven)"), result.summary.c_str());
    }

    void whatContradictsItselfIsAnError()
    {
        SearchOptions options = asked(Objective::Time);
        Plan plan = *small();
        plan.workload.trainingTokens.reset();
        const auto time = search(std::make_shared<const Plan>(plan), builtinCatalogue(), options);
        QVERIFY(!time && time.error().front().where == "workload.training_tokens");
        options = asked();
        options.constraints.memoryMargin = 2;
        options.constraints.mostGpus = 0;
        const auto margin = search(small(), builtinCatalogue(), options);
        QVERIFY(!margin && margin.error().size() == 2);
        options = asked();
        options.fixed = { "parallelism.tenser" };
        const auto fixed = search(small(), builtinCatalogue(), options);
        QVERIFY(!fixed && fixed.error().front().code == ErrorCode::UnknownKey);
    }

    void onlyTheDatacentersAskedForAreUsed()
    {
        SearchOptions options = asked();
        options.constraints.datacenters = { "b" };
        const SearchResult result = found(std::make_shared<const Plan>(threeSites(2, 4)), options);
        QVERIFY2(!result.best.empty(), result.summary.c_str());
        EvaluationWorkspace workspace;
        const auto evaluation =
            evaluate(result.plan(result.best.front()), builtinCatalogue(), workspace, {}, Depth::Score);
        for (const GpuRun &run : (*evaluation)->layout.runs)
            QCOMPARE(run.datacenter, 1);
    }

    void jobsAreScheduledToEndSooner()
    {
        auto plan = readPlan(TRAINYARD_SOURCE_DIR "/samples/hydra-lab.trainyard.json");
        SearchOptions options;
        options.threads = 2;
        const SearchResult result = found(std::make_shared<const Plan>(std::move(*plan)), options);
        QVERIFY(result.isComplete && !result.best.empty());
        QVERIFY(bestValue(result) <= result.rows[*result.own].value);
    }
};

TRAINYARD_GUILESS_TEST(TstSearch)
#include "tst_search.moc"
