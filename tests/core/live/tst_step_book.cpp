// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/store/step_history.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>
#include <random>

using namespace trainyard;
using namespace trainyard::live;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000, kReorder = 30 * kSecond;

/// A second long, begun at that second.
RecordedStep step(std::int64_t number, std::int64_t second)
{
    return { number, second * kSecond, (second + 1) * kSecond };
}

std::vector<std::int64_t> numbersOf(const StepHistory &book)
{
    std::vector<std::int64_t> numbers;
    for (const RecordedStep &one : book.steps())
        numbers.push_back(one.number);
    return numbers;
}

} // namespace

class TestStepBook : public QObject {
    Q_OBJECT

private slots:
    void stepsComeInAnyOrderAndTwice()
    {
        std::mt19937_64 random(1);
        std::vector<RecordedStep> steps;
        for (int i = 0; i < 200; ++i)
            steps.push_back(step(i, 1'000 + i));
        std::vector<RecordedStep> told = steps;
        told.insert(told.end(), steps.begin(), steps.end());
        for (int trial = 0; trial < 20; ++trial) {
            std::ranges::shuffle(told, random);
            StepHistory book;
            int again = 0;
            for (const RecordedStep &one : told)
                again += book.add(one, kReorder).taken == StepHistory::Taken::Again;
            QCOMPARE(again, 200);
            QVERIFY(std::ranges::equal(book.steps(), steps));
            QCOMPARE(book.attempts(), std::int64_t(1));
        }
    }

    void aStepThatIsToldAgainLaterBeginsAnotherAttempt()
    {
        StepHistory book;
        for (int i = 1; i <= 10; ++i)
            book.add(step(i, 100 + i), kReorder);
        const auto answer = book.add(step(6, 300), kReorder); // from the checkpoint of step 5
        QVERIFY(answer.superseded.has_value());
        QCOMPARE(answer.superseded->first, 106 * kSecond);
        QCOMPARE(answer.superseded->second, 300 * kSecond);
        QCOMPARE(numbersOf(book), (std::vector<std::int64_t> { 1, 2, 3, 4, 5, 6 }));
        QCOMPARE(book.steps().back().start, 300 * kSecond);
        QCOMPARE(book.attempts(), std::int64_t(2));
        book.add(step(7, 301), kReorder);
        // what the first attempt told comes late
        QVERIFY(book.add(step(6, 106), kReorder).taken == StepHistory::Taken::Superseded);
        QCOMPARE(book.steps().back().number, std::int64_t(7));
    }

    void twoSourcesOfOneStepAreNoAttempts()
    {
        StepHistory book;
        book.add({ 4, 100 * kSecond, 101 * kSecond }, kReorder);
        QVERIFY(book.add({ 4, 100 * kSecond + 50, 101 * kSecond + 70 }, kReorder).taken == StepHistory::Taken::Again);
        QCOMPARE(book.attempts(), std::int64_t(1));
    }

    void aClockThatJumpsBackIsToldAndStepsGoOn()
    {
        StepHistory book;
        book.add(step(1, 10'000), kReorder);
        const auto answer = book.add(step(2, 6'400), kReorder); // an hour back
        QCOMPARE(answer.wentBack, 3'600 * kSecond);
        QVERIFY(book.add(step(3, 6'401), kReorder).wentBack == 0);
        QCOMPARE(numbersOf(book), (std::vector<std::int64_t> { 1, 2, 3 }));
        QCOMPARE(book.attempts(), std::int64_t(1));
        QCOMPARE(book.add(step(4, 6'391), kReorder).wentBack, std::int64_t(0)); // ten seconds are not worth a word
    }

    /// Each put all behind it one place further: 200,000 would move 0.5 TB.
    void stepsToldBackwardsTakeNoLongerThanForwards()
    {
        constexpr int kSteps = 200'000;
        StepHistory book;
        QElapsedTimer clock;
        clock.start();
        for (int i = kSteps; i > 0; --i)
            book.add(step(i, i), kReorder);
        QVERIFY2(clock.elapsed() < 10'000, "seconds for what takes a tenth of one");
        QCOMPARE(book.size(), std::size_t(kSteps));
        QCOMPARE(book.steps().size(), std::size_t(kSteps));
        QVERIFY(std::ranges::is_sorted(book.steps(), {}, &RecordedStep::number));
        QCOMPARE(book.attempts(), std::int64_t(1));
    }

    void theOldestGoFirst()
    {
        StepHistory book;
        for (int i = 1; i <= 10; ++i)
            book.add(step(i, i), kReorder);
        book.keepLatest(3);
        QCOMPARE(numbersOf(book), (std::vector<std::int64_t> { 8, 9, 10 }));
        QCOMPARE(book.from(9).size(), std::size_t(2));
    }
};

TRAINYARD_GUILESS_TEST(TestStepBook)
#include "tst_step_book.moc"
