// SPDX-License-Identifier: GPL-3.0-or-later
// Spaces of a few axes of which every combination has a time of its own: the axes note their names in the plan, and the
// stage times are looked up by them. On one GPU and with m micro-batches an iteration takes m (forward + backward).
#include "core/evaluation/evaluate/run.h"
#include "core/planner/search/objective.h"
#include "core/planner/search/steps.h"
#include "tests/support/test_program.h"

#include "tests/core/planner/search/small_search.h"
#include "tests/support/plans.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

using namespace trainyard;

namespace {

constexpr double kInfeasible = -1, kRefused = -2;

/// By the set of axes that are as in the found plan: milliseconds of a forward pass, or one of those two.
using Table = std::map<std::string, double>;

Plan onOneGpu(double forwardMs)
{
    Plan plan;
    plan.cluster.datacenters = { test::site("a", 1, "a100-sxm-80gb", 1) };
    plan.workload.model = "gpt-3-1.3b";
    plan.workload.globalBatch = 8;
    plan.stack.name = "ideal";
    plan.profile = MeasuredStageTimes { .forwardMs = { forwardMs }, .backwardMs = { forwardMs } };
    return plan;
}

Axis axis(char name, const std::shared_ptr<const Table> &table)
{
    Axis made;
    made.id = made.label = std::string(1, name);
    made.values = { { "as it is", [](Plan &) {} }, { "changed", [name, table](Plan &plan) {
                                                        plan.notes += name;
                                                        const double ms = table->at(plan.notes);
                                                        plan.parallelism.tensor = ms == kInfeasible ? 4 : 1;
                                                        plan.workload.model = ms == kRefused ? "none" : "gpt-3-1.3b";
                                                        if (ms > 0)
                                                            plan.profile->forwardMs = plan.profile->backwardMs = { ms };
                                                    } } };
    return made;
}

/// The last row is the plan with all axes changed.
SearchResult searched(const Table &times, int axes)
{
    const auto table = std::make_shared<const Table>(times);
    std::vector<Axis> made;
    for (int i = 0; i < axes; ++i)
        made.push_back(axis(char('a' + i), table));
    SearchResult found;
    found.space =
        std::make_shared<const SearchSpace>(std::make_shared<const Plan>(onOneGpu(times.at(""))), std::move(made));
    found.rows.push_back({ .number = found.space->size() - 1 });
    return found;
}

std::vector<SearchStep> stepsOf(const SearchResult &found)
{
    EvaluationWorkspace workspace;
    auto steps = stepsBetween(found, found.rows.size() - 1, builtinCatalogue(), workspace);
    if (!steps)
        qWarning("%s", toString(steps.error().front()).c_str());
    return steps.value_or(std::vector<SearchStep> {});
}

/// What the plan of a step has that the one before had not: "b" or "ac".
std::string added(const std::string &before, const SearchStep &step)
{
    std::string result;
    std::ranges::set_difference(step.plan->notes, before, std::back_inserter(result));
    return result;
}

std::string together(const std::string &a, const std::string &b)
{
    std::string result;
    std::ranges::set_union(a, b, std::back_inserter(result));
    return result;
}

std::vector<std::string> subsetsOf(const std::string &all)
{
    std::vector<std::string> subsets;
    for (unsigned mask = 1; mask < 1U << all.size(); ++mask) {
        std::string &subset = subsets.emplace_back();
        for (std::size_t i = 0; i < all.size(); ++i)
            if (mask >> i & 1)
                subset += all[i];
    }
    return subsets;
}

std::string textOf(const std::vector<SearchStep> &steps)
{
    std::string text, before;
    for (const SearchStep &step : steps) {
        text += (text.empty() ? "" : " ") + added(before, step);
        before = step.plan->notes;
    }
    return text;
}

} // namespace

class TstSteps : public QObject {
    Q_OBJECT

private slots:
    void theChangeThatGainsMostComesFirst()
    {
        // b alone saves 40 %, a 10 %; after b, a saves (60 − 50) / 60
        const SearchResult found = searched({ { "", 100 }, { "a", 90 }, { "b", 60 }, { "ab", 50 } }, 2);
        const auto steps = stepsOf(found);
        QCOMPARE(textOf(steps), std::string("b a"));
        QVERIFY(std::abs(steps[0].gain - 0.4) < 1e-6 && std::abs(steps[1].gain - 1.0 / 6) < 1e-6);
        // an iteration of 8 micro-batches on one GPU: 8 (f + b)
        QVERIFY(std::abs(steps[0].seconds - 8 * 2 * 0.060) < 1e-9);
        QVERIFY(steps[1].isFeasible && steps[1].usdPerMillionTokens > 0);
        QCOMPARE(*steps[1].plan, *found.plan(0));
    }

    void changesThatOnlyWorkTogetherAreOneStep()
    {
        QCOMPARE(textOf(stepsOf(searched({ { "", 100 }, { "a", 120 }, { "b", kInfeasible }, { "ab", 50 } }, 2))),
            std::string("ab"));
        QCOMPARE(textOf(stepsOf(searched({ { "", 100 }, { "a", kRefused }, { "b", kRefused }, { "ab", 50 } }, 2))),
            std::string("ab"));
    }

    void aChangeWithoutEffectWaitsForThoseThatGain()
    {
        Table times { { "", 100 }, { "a", 100 }, { "b", kInfeasible }, { "c", kInfeasible }, { "ab", kInfeasible },
            { "ac", kInfeasible }, { "bc", 70 }, { "abc", 70 } };
        const auto steps = stepsOf(searched(times, 3));
        QCOMPARE(textOf(steps), std::string("bc a"));
        QCOMPARE(steps[1].gain, 0.0);
    }

    void ofThreeThatWorkTogetherNoneIsLeftOut()
    {
        Table times { { "", 100 }, { "abcd", 50 } };
        for (const std::string &subset : subsetsOf("abcd"))
            times.try_emplace(subset, kInfeasible);
        times["acd"] = 60;
        times["b"] = 100;
        QCOMPARE(textOf(stepsOf(searched(times, 4))), std::string("acd b"));
    }

    void aPlanThatDoesNotFitIsMendedFirst()
    {
        const SearchResult found = searched({ { "", 100 }, { "a", 80 }, { "b", 90 }, { "ab", 70 } }, 2);
        Plan tooLarge = *found.space->base();
        tooLarge.parallelism.data = 3; // on one GPU
        SearchResult from = found;
        std::vector<Axis> axes = found.space->axes();
        Axis data { .id = "data", .label = "Data" };
        data.values = { { "3", [](Plan &) {} }, { "1", [](Plan &plan) { plan.parallelism.data = 1; } } };
        axes.push_back(std::move(data));
        from.space = std::make_shared<const SearchSpace>(std::make_shared<const Plan>(tooLarge), std::move(axes));
        from.rows[0].number = from.space->size() - 1;
        const auto steps = stepsOf(from);
        QCOMPARE(steps.size(), std::size_t(3));
        QCOMPARE(*steps[0].plan->parallelism.data, 1);
        QCOMPARE(steps[0].gain, 0.0); // against a plan that has no time
        QVERIFY(steps[0].isFeasible);
        QVERIFY2(steps[0].sentences.front().contains("3 → 1"), steps[0].sentences.front().c_str());
        QCOMPARE(*steps.back().plan, *from.plan(0));
    }

    /// For random tables, against all subsets: each step is a smallest set that gains, of its size the one that gains
    /// most; every plan on the way is feasible; gains multiply up to the whole: Π (1 − gain) = value(end) /
    /// value(start).
    void theStatedRuleIsFollowed()
    {
        std::mt19937 random(22);
        std::uniform_real_distribution<> ms(51, 150), share(0, 1);
        int coupled = 0;
        for (int round = 0; round < 300; ++round) {
            const std::string all = std::string("abcd").substr(0, 2 + std::size_t(round % 3));
            Table times { { "", 100 } };
            for (const std::string &subset : subsetsOf(all)) {
                const double kind = share(random);
                times[subset] = kind < 0.25 ? kInfeasible : kind < 0.35 ? kRefused : ms(random);
            }
            times[all] = 50;
            const SearchResult found = searched(times, int(all.size()));
            const auto steps = stepsOf(found);
            QVERIFY(!steps.empty());
            std::string before;
            double product = 1;
            for (const SearchStep &step : steps) {
                const std::string set = added(before, step);
                const double now = times.at(before), then = times.at(together(before, set));
                QVERIFY(then > 0 && step.isFeasible);
                QVERIFY(std::abs(step.gain - (1 - then / now)) < 1e-6);
                QVERIFY(step.gain > 0);
                std::string left;
                std::ranges::set_difference(all, before, std::back_inserter(left));
                for (const std::string &other : subsetsOf(left)) {
                    const double its = times.at(together(before, other));
                    const bool isPart = std::ranges::includes(set, other);
                    if (its > 0 && its < now && (set.size() < 3 ? other.size() <= set.size() : isPart))
                        QVERIFY2(other.size() == set.size() && its >= then, (set + " before " + other).c_str());
                }
                product *= 1 - step.gain;
                coupled += set.size() > 1;
                before = step.plan->notes;
            }
            QVERIFY(std::abs(product - 50.0 / 100) < 1e-6);
            QCOMPARE(before, all);
            QCOMPARE(*steps.back().plan, *found.plan(0));
        }
        QVERIFY(coupled > 50); // the rule was put to use
    }

    /// Of plans that the search finds: the last plan is the found one, each can run, and Π (1 − gain) is what was
    /// gained.
    void theWayToWhatTheSearchFindsEndsThere()
    {
        Plan plan = test::oneSite(2, 2);
        plan.parallelism.tensor = 4;
        plan.workload.globalBatch = 32;
        for (const Objective objective : { Objective::Throughput, Objective::Cost }) {
            const auto found = search(std::make_shared<const Plan>(plan), builtinCatalogue(),
                { .objective = objective, .fixed = { "schedule", "memory", "moe", "wan", "stack" } });
            QVERIFY(found && !found->best.empty() && found->own);
            const SearchRow &best = found->rows[found->best.front()];
            EvaluationWorkspace workspace;
            const auto steps = stepsBetween(*found, found->best.front(), builtinCatalogue(), workspace);
            QVERIFY(steps && !steps->empty());
            double product = 1;
            for (const SearchStep &step : *steps) {
                QVERIFY(step.isFeasible && !step.sentences.empty());
                product *= 1 - step.gain;
            }
            QCOMPARE(*steps->back().plan, *found->plan(found->best.front()));
            QVERIFY(std::abs(product - best.value / found->rows[*found->own].value) < 1e-9);
            QVERIFY(product < 1);
        }
    }

    void thePlanItselfTakesNoSteps()
    {
        SearchResult found = searched({ { "", 100 }, { "a", 90 } }, 1);
        found.rows[0].number = 0;
        QVERIFY(stepsOf(found).empty());
    }

    void aWayThatIsStoppedIsAnError()
    {
        const SearchResult found = searched({ { "", 100 }, { "a", 90 } }, 1);
        EvaluationWorkspace workspace;
        std::stop_source stop;
        stop.request_stop();
        const auto steps = stepsBetween(found, 0, builtinCatalogue(), workspace, stop.get_token());
        QVERIFY(!steps);
        QCOMPARE(steps.error().front().code, ErrorCode::Cancelled);
    }

    void otherObjectivesGoByTheirOwnValue()
    {
        // Fewest USD: on one GPU its price by the hour times the time of a token
        SearchResult found = searched({ { "", 100 }, { "a", 90 }, { "b", 60 }, { "ab", 50 } }, 2);
        for (const Objective objective :
            { Objective::Throughput, Objective::Cost, Objective::Energy, Objective::Time }) {
            found.objective = objective;
            const auto steps = stepsOf(found);
            QCOMPARE(textOf(steps), std::string("b a"));
            EvaluationWorkspace workspace;
            const auto start = run(found.space->base(), Depth::Score, { builtinCatalogue(), workspace });
            const double before = objectiveValue(objective, *figuresOf(**start, builtinCatalogue()));
            QVERIFY(std::abs((1 - steps[0].gain) * (1 - steps[1].gain) - steps[1].value / before) < 1e-12);
        }
    }

    /// A plan on the way breaks the budget exactly where the GPUs that it uses cost more.
    void aStepThatBreaksTheBudgetSaysSo()
    {
        const double price = builtinCatalogue().gpu("h100-sxm-80gb")->usdPerHour;
        SearchOptions options = test::asked();
        options.constraints.mostUsdPerHour = 8.5 * price; // of 32
        const SearchResult result = test::found(test::small(), options);
        QVERIFY(!result.best.empty() && result.best.front() != *result.own);
        EvaluationWorkspace workspace;
        const auto steps = stepsBetween(result, result.best.front(), builtinCatalogue(), workspace);
        QVERIFY(steps && !steps->empty());
        QVERIFY(steps->back().breaks.empty());
        for (const SearchStep &step : *steps) {
            const auto evaluation = run(step.plan, Depth::Score, { builtinCatalogue(), workspace });
            const bool isOver = (*evaluation)->metrics.gpusUsed * price > *options.constraints.mostUsdPerHour;
            QVERIFY2(step.breaks.starts_with("it costs more per hour") == isOver, step.breaks.c_str());
        }
    }
};

TRAINYARD_GUILESS_TEST(TstSteps)
#include "tst_steps.moc"
