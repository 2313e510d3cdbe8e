// SPDX-License-Identifier: GPL-3.0-or-later
// Fewer or looser constraints, more datacenters and fewer fixed keys: the answer of a completed search is never worse,
// and a held limit is never exceeded.
#include "core/evaluation/evaluate/run.h"
#include "tests/core/planner/search/small_search.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

class TstRelaxed : public QObject {
    Q_OBJECT

private slots:
    void aHeldBudgetIsNeverExceeded()
    {
        const double all = found(small(), asked()).rows.front().usdPerHour;
        for (const double share : { 0.1, 0.3, 0.6, 1.1 }) {
            SearchOptions options = asked();
            options.constraints.mostUsdPerHour = share * all;
            const SearchResult result = found(small(), options);
            for (const std::size_t row : result.best) {
                QVERIFY(result.rows[row].usdPerHour <= share * all);
                EvaluationWorkspace workspace;
                const auto evaluation = run(result.plan(row), Depth::Score, { builtinCatalogue(), workspace });
                const double price = builtinCatalogue().gpu("h100-sxm-80gb")->usdPerHour;
                QVERIFY((*evaluation)->metrics.gpusUsed * price <= share * all * (1 + 1e-9));
            }
        }
    }

    void aLargerBudgetIsNeverWorse()
    {
        for (const Objective objective : kAll) {
            double before = std::numeric_limits<double>::infinity();
            for (const double budget : { 8.0, 20.0, 40.0, 80.0, 1000.0 }) {
                SearchOptions options = asked(objective);
                options.constraints.mostUsdPerHour = budget;
                const SearchResult result = found(small(), options);
                QVERIFY(result.isComplete);
                QVERIFY2(bestValue(result) <= before, toString(objective));
                before = bestValue(result);
            }
            QVERIFY(std::isfinite(before));
        }
    }

    /// Also by the objectives that ask for all GPUs: an answer within a looser limit, or none, is never worse.
    void aLimitRelaxedStepByStepIsNeverWorse()
    {
        using Relax = void (*)(Constraints &, int step); // of so many steps; after the last there is no limit
        constexpr int kSteps = 4;
        constexpr Relax kLimits[] = {
            [](Constraints &c, int step) { c.mostUsdPerHour = 10 << step; },
            [](Constraints &c, int step) { c.mostGpus = 4 << step; },
            [](Constraints &c, int step) { c.memoryMargin = 0.65 - 0.15 * step; },
            [](Constraints &c, int step) { c.leastTokensPerSecond = 160'000 - 40'000.0 * step; },
        };
        for (const Objective objective : { Objective::Throughput, Objective::Time })
            for (const Relax limit : kLimits) {
                double before = std::numeric_limits<double>::infinity();
                std::uint64_t size = 0;
                for (int step = 0; step <= kSteps; ++step) {
                    SearchOptions options = asked(objective);
                    if (step < kSteps)
                        limit(options.constraints, step);
                    const SearchResult result = found(small(), options);
                    QVERIFY(result.isComplete);
                    QVERIFY2(bestValue(result) <= before, result.summary.c_str());
                    before = bestValue(result);
                    QVERIFY(size == 0 || size == result.space->size()); // one space, whatever is asked for
                    size = result.space->size();
                }
                QVERIFY(std::isfinite(before));
            }
    }

    void oneConstraintLessIsNeverWorse()
    {
        for (const Objective objective : { Objective::Cost, Objective::Gpus }) {
            SearchOptions options = asked(objective);
            options.constraints = { .mostUsdPerHour = 60,
                .mostGpus = 24,
                .leastTokensPerSecond = 60'000,
                .mostDays = 100,
                .memoryMargin = 0.3 };
            const double bound = bestValue(found(small(), options));
            const auto without = [&](auto Constraints::*which) {
                SearchOptions fewer = options;
                (fewer.constraints.*which).reset();
                const SearchResult result = found(small(), fewer);
                return result.isComplete && bestValue(result) <= bound;
            };
            QVERIFY(without(&Constraints::mostUsdPerHour));
            QVERIFY(without(&Constraints::mostGpus));
            QVERIFY(without(&Constraints::leastTokensPerSecond));
            QVERIFY(without(&Constraints::mostDays));
            QVERIFY(without(&Constraints::memoryMargin));
        }
    }

    /// Replicas in each of the allowed ones are tried too, and one datacenter more never makes an answer worse.
    void oneDatacenterMoreIsNeverWorse()
    {
        Plan three = threeSites(2, 4);
        three.workload.trainingTokens = 1e11;
        const auto plan = std::make_shared<const Plan>(three);
        for (const Objective objective : { Objective::Throughput, Objective::Cost }) {
            SearchOptions options = asked(objective);
            for (const char *key : { "parallelism.zero_stage", "schedule", "parallelism.virtual_pipeline" })
                options.fixed.emplace_back(key);
            const auto value = [&](std::vector<std::string> allowed) {
                options.constraints.datacenters = std::move(allowed);
                const SearchResult result = found(plan, options);
                return result.isComplete ? bestValue(result) : std::numeric_limits<double>::quiet_NaN();
            };
            const double all = value({});
            QVERIFY(std::isfinite(all));
            for (const std::vector<std::string> &pair :
                { std::vector<std::string> { "a", "b" }, { "a", "c" }, { "b", "c" } }) {
                const double both = value(pair);
                QVERIFY(all <= both);
                QVERIFY(both <= value({ pair.front() }));
                QVERIFY(both <= value({ pair.back() }));
            }
        }
        // The modes among two have no GPU in the third, whatever they choose.
        const auto space = makeSpace(plan, builtinCatalogue(), { .datacenters = { "a", "b" } });
        const Axis &placement = space->axes()[std::size_t(space->axis("placement"))];
        int modes = 0;
        for (const AxisValue &value : placement.values) {
            Plan with = *plan;
            value.set(with);
            if (with.cluster == plan->cluster)
                continue;
            ++modes;
            QCOMPARE(with.cluster.datacenters[2].gpus(), 0);
            QCOMPARE(with.cluster.datacenters[1].gpus(), plan->cluster.datacenters[1].gpus());
        }
        QCOMPARE(modes, 3);
    }

    void aKeyLessFixedIsNeverWorse()
    {
        SearchOptions options = asked(Objective::Energy);
        for (const char *key : { "parallelism.tensor", "parallelism.pipeline", "schedule", "parallelism.zero_stage" })
            options.fixed.emplace_back(key);
        double before = bestValue(found(small(), options));
        while (options.fixed.size() > std::size(kFixed)) {
            options.fixed.pop_back();
            const SearchResult result = found(small(), options);
            QVERIFY(result.isComplete);
            QVERIFY(bestValue(result) <= before);
            before = bestValue(result);
        }
    }
};

TRAINYARD_GUILESS_TEST(TstRelaxed)
#include "tst_relaxed.moc"
