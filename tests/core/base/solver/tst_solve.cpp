// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/solver/milp.h"
#include "tests/core/base/solver/programmes.h"
#include "tests/support/test_program.h"
#include "tests/support/trials.h"

#include <QTest>

#include <array>
#include <numeric>

using namespace trainyard;
using namespace trainyard::test;

class TestSolve : public QObject {
    Q_OBJECT
private slots:
    void knapsacksAreAsFullAsTryingAllSaysTheyCanBe()
    {
        std::mt19937 random(18);
        for (int i = 0; i < trials(100); ++i) {
            const Milp problem = knapsack(random, draw(random, 3, 12));
            const auto answer = solve(problem, {});
            QVERIFY2(answer, answer ? "" : toString(answer.error()).c_str());
            // cost = min over all subsets that the sack holds
            QCOMPARE(answer->cost, *cheapest(problem));
            QVERIFY(answer->isOptimal && holds(problem, answer->values));
            QCOMPARE(costOf(problem, answer->values), answer->cost);
            QCOMPARE(answer->bound, answer->cost);
        }
    }

    void wholeColumnsBetweenAnyBoundsUnderAnyRowsAreAsCheapAsTryingAllSays()
    {
        std::mt19937 random(7);
        int impossible = 0;
        for (int i = 0; i < trials(100); ++i) {
            const Milp problem = smallBox(random);
            const auto best = cheapest(problem);
            const auto answer = solve(problem, {});
            impossible += !best;
            QCOMPARE(answer.has_value(), best.has_value());
            if (best)
                QCOMPARE(answer->cost, *best);
            else
                QCOMPARE(answer.error().code, ErrorCode::BadValue);
        }
        QVERIFY(impossible > trials(100) / 20 && impossible < trials(100) * 3 / 4); // both are tried
    }

    void peopleGetTheTasksThatAreCheapestTogether()
    {
        constexpr int n = 6;
        std::mt19937 random(5);
        for (int round = 0; round < 10; ++round) {
            std::array<std::array<int, n>, n> cost {};
            Milp problem;
            for (auto &row : cost)
                for (int &each : row)
                    problem.column(each = draw(random, 1, 99), 0, 1, true);
            for (std::uint32_t i = 0; i < n; ++i) { // each has one, and each is somebody's
                std::vector<Milp::Term> mine, whose;
                for (std::uint32_t j = 0; j < n; ++j) {
                    mine.push_back({ i * n + j, 1 });
                    whose.push_back({ j * n + i, 1 });
                }
                problem.row(mine, 1, 1);
                problem.row(whose, 1, 1);
            }
            std::array<int, n> order {};
            std::iota(order.begin(), order.end(), 0);
            int best = 1000000;
            do {
                int sum = 0;
                for (int i = 0; i < n; ++i)
                    sum += cost[i][order[i]];
                best = std::min(best, sum);
            } while (std::next_permutation(order.begin(), order.end()));
            QCOMPARE(solve(problem, {})->cost, double(best));
        }
    }

    void columnsThatNeedNotBeWholeLieWhereTheirRowsMeet()
    {
        // x free, y >= -4: min x + y with x + 2y >= 3 and 3x - y >= 2 has both at their sides: x = 1, y = 1
        Milp problem;
        const auto x = problem.column(1, -Milp::kInfinity, Milp::kInfinity, false);
        const auto y = problem.column(1, -4, Milp::kInfinity, false);
        problem.row({ { x, 1 }, { y, 2 } }, 3, Milp::kInfinity);
        problem.row({ { x, 3 }, { y, -1 } }, 2, Milp::kInfinity);
        const auto answer = solve(problem, {});
        QVERIFY(answer && answer->isOptimal);
        QVERIFY(std::abs(answer->values[x] - 1) < 1e-6 && std::abs(answer->values[y] - 1) < 1e-6);
    }

    void aColumnWithAnUpperBoundAloneGoesBelowZero()
    {
        Milp problem; // max z <= -2.5, whole: -3; and w down to where its row has its lower side
        const auto z = problem.column(-1, -Milp::kInfinity, -2.5, true);
        const auto w = problem.column(1, -Milp::kInfinity, Milp::kInfinity, false);
        problem.row({ { w, 2 } }, -7, 7);
        const auto answer = solve(problem, {});
        QCOMPARE(answer->values[z], -3.0);
        QCOMPARE(answer->values[w], -3.5);
    }

    void numbersReachTheSolverAsTheyAre()
    {
        Milp problem; // 0.1 x = 12345.678901 exactly at x = 123456.78901; eight digits come back
        const auto x = problem.column(1, 0, Milp::kInfinity, false);
        problem.row({ { x, 0.1 } }, 12345.678901, Milp::kInfinity);
        QVERIFY(std::abs(solve(problem, {})->values[x] - 123456.78901) < 0.001);
    }

    void whatHasNoRowsOrNoColumnsHasAnAnswerToo()
    {
        Milp problem;
        QVERIFY(solve(problem, {})->isOptimal);
        problem.column(2, -3, 5, true);
        QCOMPARE(solve(problem, {})->values, std::vector<double> { -3 });
        problem.row({}, -1, 1);
        QCOMPARE(solve(problem, {})->values, std::vector<double> { -3 });
        problem.row({}, 1, 2); // 0 >= 1
        QCOMPARE(solve(problem, {}).error().code, ErrorCode::BadValue);
    }

    void rowsThatNothingMeetsAreSaidToBeSo()
    {
        Milp problem; // 2x + 2y = 3, whole
        const auto x = problem.column(1, 0, 10, true), y = problem.column(1, 0, 10, true);
        problem.row({ { x, 2 }, { y, 2 } }, 3, 3);
        const auto answer = solve(problem, {});
        QCOMPARE(answer.error().code, ErrorCode::BadValue);
        QVERIFY(answer.error().what.find("no values meet") != std::string::npos);
    }

    void aCostWithoutABottomIsSaidToBeSo()
    {
        for (const bool isWhole : { false, true }) {
            Milp problem;
            const auto x = problem.column(-1, 0, Milp::kInfinity, isWhole);
            problem.row({ { x, 1 } }, 1, Milp::kInfinity);
            const auto answer = solve(problem, {});
            QCOMPARE(answer.error().code, ErrorCode::BadValue);
            QVERIFY(answer.error().what.find("bottom") != std::string::npos);
        }
    }

    void whatIsNoProgrammeIsRefused()
    {
        Milp problem;
        problem.column(1, 0, 1, true);
        problem.row({ { 7, 1 } }, 0, 1);
        QCOMPARE(solve(problem, {}).error().code, ErrorCode::Internal);
        Milp other;
        other.column(std::nan(""), 0, 1, true);
        QCOMPARE(solve(other, {}).error().code, ErrorCode::Internal);
    }
};

TRAINYARD_APPLESS_TEST(TestSolve)
#include "tst_solve.moc"
