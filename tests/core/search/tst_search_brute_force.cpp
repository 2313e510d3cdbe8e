// SPDX-License-Identifier: GPL-3.0-or-later
// The planner against brute force: the best of every combination of small spaces, by each objective and under
// constraints, is what the search finds, and no answer breaks a constraint.
#include "core/space/rules.h"
#include "tests/core/search/brute_force.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr unsigned kProblems = 50;
constexpr std::uint64_t kMostPlans = 1'000;

bool areNear(double a, double b)
{
    return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

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
                const auto space = makeSpace(problem->plan, builtinCatalogue(), spaceOptionsOf(options));
                const auto found = search(problem->plan, builtinCatalogue(), options);
                QVERIFY2(found, found ? "" : toString(found.error().front()).c_str());
                QVERIFY2(found->isComplete, found->summary.c_str());
                simulated += found->simulated;
                // Without fewer replicas the search has fewer combinations: those with data as the plan has it.
                const Reference own = brute.all[problem->space.number(problem->space.baseCandidate())];
                const double free = own.isFeasible ? std::clamp(1 - own.fill, 0.0, 0.05) : 0.05;
                const double margin = options.constraints.memoryMargin.value_or(free);
                double best = std::numeric_limits<double>::infinity();
                Candidate bestOne;
                for (std::uint64_t i = 0; i < brute.all.size(); ++i) {
                    const Candidate candidate = problem->space.candidate(i);
                    const int data = problem->space.axis("data");
                    const bool isThere = data < 0 || found->space->axis("data") < 0
                        ? data < 0 || candidate[std::size_t(data)] == problem->space.axes()[std::size_t(data)].base
                        : std::ranges::find(found->space->axes()[std::size_t(found->space->axis("data"))].values,
                              problem->space.axes()[std::size_t(data)].values[candidate[std::size_t(data)]].text,
                              &AxisValue::text)
                            != found->space->axes()[std::size_t(found->space->axis("data"))].values.end();
                    if (!isThere || !brute.all[i].keeps(options.constraints, margin)
                        || brute.all[i].value(objective) >= best)
                        continue;
                    best = brute.all[i].value(objective);
                    bestOne = candidate;
                }
                const std::string *left =
                    bestOne.empty() ? nullptr : SpaceRules(problem->space, builtinCatalogue()).whyNot(bestOne);
                const std::string where = "seed " + std::to_string(seed) + ", " + toString(objective) + ": "
                    + found->summary + "; brute force " + std::to_string(best)
                    + (left ? ", which the rules leave out: " + *left : "");
                QCOMPARE(found->best.empty(), !std::isfinite(best));
                if (found->best.empty())
                    continue;
                ++feasible;
                const SearchRow &row = found->rows[found->best.front()];
                QVERIFY2(areNear(row.value, best), (where + ", found " + std::to_string(row.value)).c_str());
                EvaluationWorkspace workspace;
                QVERIFY2(referenceOf(found->plan(found->best.front()), workspace).keeps(options.constraints, margin),
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
