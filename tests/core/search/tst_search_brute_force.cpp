// SPDX-License-Identifier: GPL-3.0-or-later
// The planner against brute force: the best of every combination of small spaces, by each objective and under
// constraints, is what the search finds, and no answer breaks a constraint.
#include "tests/core/search/brute_force.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr unsigned kProblems = 50;
constexpr std::uint64_t kMostPlans = 1'000;

} // namespace

class TstSearchBruteForce : public QObject {
    Q_OBJECT

private slots:
    /// min over all candidates that keep the constraints of the objective's value = the answer's
    void theAnswerIsTheBestOfAllCombinations()
    {
        unsigned problems = 0, feasible = 0;
        std::uint64_t plans = 0, simulated = 0;
        for (unsigned seed = 1; problems < kProblems && seed < 2000; ++seed) {
            const auto problem = randomProblem(seed, kMostPlans);
            if (!problem)
                continue;
            const unsigned turn = problems++;
            const BruteForce brute(problem->space);
            plans += brute.all.size();
            for (const unsigned of : { turn, turn + 2 }) {
                const auto objective = static_cast<Objective>(of % 5);
                SearchOptions options { .objective = objective, .fixed = problem->fixed };
                options.constraints = constraintsFor(of, brute);
                const auto found = search(problem->plan, builtinCatalogue(), options);
                QVERIFY2(found, found ? "" : toString(found.error().front()).c_str());
                QVERIFY2(found->isComplete, found->summary.c_str());
                simulated += found->simulated;
                const Answer best = brute.best(*problem, objective, options.constraints);
                const std::string where = "seed " + std::to_string(seed) + ", " + toString(objective) + ": "
                    + found->summary + "; brute force " + std::to_string(best.value) + ": " + best.text;
                QVERIFY2(found->best.empty() == !std::isfinite(best.value), where.c_str());
                if (found->best.empty())
                    continue;
                ++feasible;
                const SearchRow &row = found->rows[found->best.front()];
                QVERIFY2(areNear(row.value, best.value), (where + ", found " + std::to_string(row.value)).c_str());
                EvaluationWorkspace workspace;
                QVERIFY2(referenceOf(found->plan(found->best.front()), workspace)
                             .keeps(options.constraints, brute.margin(*problem, options.constraints)),
                    where.c_str());
            }
        }
        QCOMPARE(problems, kProblems);
        QVERIFY(feasible > kProblems);
        qInfo("%llu plans, %llu simulated in %u searches", static_cast<unsigned long long>(plans),
            static_cast<unsigned long long>(simulated), 2 * problems);
    }
};

QTEST_GUILESS_MAIN(TstSearchBruteForce)
#include "tst_search_brute_force.moc"
