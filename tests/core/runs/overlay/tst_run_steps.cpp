// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/run_steps.h"
#include "tests/support/test_program.h"

#include "core/runs/overlay/span_index.h"
#include "tests/core/runs/overlay/small_runs.h"

#include <QTest>

#include <cmath>
#include <random>

using namespace trainyard;
using namespace trainyard::test;
using enum RecordedWork;

namespace {

double microseconds(double seconds)
{
    return std::round(seconds * 1e9) / 1e3;
}

TimeShares sharesAt(const RunPtr &run, std::size_t step = 0, std::size_t rank = 0)
{
    const auto shares = sharesOf(*run, run->steps.at(step));
    return rank < shares.size() ? shares[rank].shares : TimeShares();
}

/// What the header says, for each microsecond by itself.
class Brute {
public:
    explicit Brute(const Run &run, const RankRecording &rank, const RunStep &step)
    {
        const auto us = [](Moment m) { return m / kMicrosecond; };
        for (Moment t = us(step.start); t < us(step.end); ++t) {
            bool computes = false, moves = false, waits = false;
            for (const RecordedStream &stream : rank.streams)
                for (std::size_t i = 0; i < stream.spans.size(); ++i) {
                    const Moment start = us(stream.spans.start[i]), end = start + us(stream.spans.duration[i]);
                    if (t < start || t >= end)
                        continue;
                    Moment least = end - start;
                    for (const MatchedCollective &one : run.collectives)
                        for (const MatchedCollective::Part &part : one.parts) {
                            const RecordedCollective &own =
                                run.recording->ranks[part.rank].collectives[part.collective];
                            if (&run.recording->ranks[part.rank] == &rank && &rank.streams[own.stream] == &stream
                                && own.span == i)
                                least = us(one.leastDuration);
                        }
                    computes |= stream.spans.work[i] == Compute;
                    moves |=
                        stream.spans.work[i] == Copy || (stream.spans.work[i] == Communication && t >= end - least);
                    waits |= stream.spans.work[i] == Communication && t < end - least;
                }
            ++(computes ? compute : moves ? communication : waits ? stragglers : idle);
        }
    }
    std::int64_t compute = 0, communication = 0, stragglers = 0, idle = 0;
};

} // namespace

class TestRunSteps : public QObject {
    Q_OBJECT
private slots:
    void aStepIsTakenApartAsItsSpansSay()
    {
        // Launches at 50, 290, 640. Head: host to 50, then 50 us in which the GPU waits although it has its order.
        SmallRecording made;
        made.stages(2);
        made.rank(0)
            .step(3, 0, 1000)
            .span(Compute, 100, 400, 50)
            .collective("all_reduce", 300, 600, 1e6, 24, 290)
            .span(Copy, 650, 700, 640);
        const TimeShares shares = sharesAt(made.run());
        QCOMPARE(microseconds(shares.compute), 300.0);
        QCOMPARE(microseconds(shares.communication), 200.0 + 50.0); // exposed part of the all-reduce; the copy
        QCOMPARE(microseconds(shares.stragglers), 0.0); // one rank alone
        QCOMPARE(microseconds(shares.host), 50.0 + 40.0);
        QCOMPARE(microseconds(shares.bubble), 50.0 + 10.0 + 300.0); // nobody tells what runs after 700
        QCOMPARE(microseconds(shares.total()), 1000.0);
    }

    void waitingForTheLastRankIsApartFromMovingData()
    {
        // Of 100 and 20 us the shorter is the transfer: rank 0 waits 100 - 20
        SmallRecording made;
        made.rank(0, 2).step(1, 0, 200).span(Compute, 0, 100, 0).collective("all_reduce", 100, 200, 1e6, 24, 0);
        made.rank(1, 2).step(1, 0, 200).span(Compute, 0, 180, 0).collective("all_reduce", 180, 200, 1e6, 24, 0);
        const RunPtr run = made.run();
        QCOMPARE(microseconds(sharesAt(run, 0, 0).stragglers), 80.0);
        QCOMPARE(microseconds(sharesAt(run, 0, 0).communication), 20.0);
        QCOMPARE(microseconds(sharesAt(run, 0, 1).stragglers), 0.0);
        QCOMPARE(microseconds(sharesAt(run, 0, 1).communication), 20.0);
    }

    void waitingInReceivesIsABubble()
    {
        // Of receives of one size the shortest moves data all the time
        SmallRecording made;
        made.rank(0).step(1, 0, 200).collective("recv", 0, 10).collective("recv", 20, 70).collective("recv", 80, 170);
        const RunPtr run = made.run();
        const TimeShares shares = sharesAt(run);
        QCOMPARE(run->stages, 2);
        QCOMPARE(microseconds(shares.communication), 3 * 10.0);
        QCOMPARE(microseconds(shares.bubble), 40.0 + 80.0 + (200.0 - 150.0)); // and gaps whose launch nobody tells
    }

    void gapsOfUnknownLaunchAreTheHostsWithoutStages()
    {
        SmallRecording one, two;
        one.stages(1).rank(0).step(1, 0, 100).span(Compute, 40, 100);
        two.stages(2).rank(0).step(1, 0, 100).span(Compute, 40, 100);
        QCOMPARE(microseconds(sharesAt(one.run()).host), 40.0);
        QCOMPARE(microseconds(sharesAt(two.run()).bubble), 40.0);
        SmallRecording launched; // what was launched waits for nothing but its GPU
        launched.stages(1).rank(0).step(1, 0, 100).span(Compute, 40, 100, 10);
        QCOMPARE(microseconds(sharesAt(launched.run()).host), 40.0);
        // A plan tells the stages of a run that does not; never of one that does
        SmallRecording untold;
        untold.rank(0).step(1, 0, 100).span(Compute, 40, 100);
        const RunPtr run = untold.run(), told = one.run();
        QCOMPARE(microseconds(sharesOf(*run, run->steps[0], 4)[0].shares.bubble), 40.0);
        QCOMPARE(microseconds(sharesOf(*told, told->steps[0], 4)[0].shares.bubble), 0.0);
    }

    void theWalkEqualsEveryMicrosecondByItself()
    {
        std::mt19937 random(5);
        for (int round = 0; round < 60; ++round) {
            SmallRecording made;
            for (int rank = 0; rank < 2; ++rank) {
                auto one = made.rank(rank, 2).step(1, 50, 950);
                for (int stream = 0; stream < 3; ++stream)
                    for (Moment at = random() % 100; at < 950;) {
                        const Moment end = at + 1 + random() % 90;
                        if (stream == 2)
                            one.collective("all_reduce", at, end, 1e6, 24 + stream);
                        else
                            one.span(random() % 4 == 0 ? Copy : Compute, at, end, -1, stream);
                        at += 1 + random() % (stream == 1 ? 40 : 150); // spans of a stream may overlap
                    }
            }
            // By hand: aligned clocks would lie between two microseconds
            Run run;
            run.recording = std::make_shared<const Recording>(made.m_recording);
            run.collectives = matchCollectives(*run.recording);
            run.spans = std::make_shared<const SpanIndex>(*run.recording, run.collectives);
            RunStep &step = run.steps.emplace_back();
            step.start = 50 * kMicrosecond;
            step.end = 950 * kMicrosecond;
            step.ranks = { { 0, step.start, step.end }, { 1, step.start, step.end } };
            QCOMPARE(sharesOf(run, step).size(), std::size_t(2));
            for (const RankStep &one : sharesOf(run, step)) {
                const Brute brute(run, run.recording->ranks[one.rank], step);
                QCOMPARE(microseconds(one.shares.compute), double(brute.compute));
                QCOMPARE(microseconds(one.shares.communication), double(brute.communication));
                QCOMPARE(microseconds(one.shares.stragglers), double(brute.stragglers));
                QCOMPARE(microseconds(one.shares.bubble + one.shares.host), double(brute.idle));
            }
        }
    }

    void boundariesOnTheGpuLieBehindTheWorkLaunchedBeforeThem()
    {
        // The host runs ahead: it begins step 2 at 100, while the GPU is at step 1 until 180
        SmallRecording made;
        made.rank(0).step(1, 0, 100).step(2, 100, 200).span(Compute, 20, 180, 10).span(Compute, 185, 330, 110);
        const RunPtr run = made.run();
        QCOMPARE(run->steps.size(), std::size_t(2));
        QCOMPARE(run->steps[0].start, Moment(0));
        QCOMPARE(run->steps[0].end, 180 * kMicrosecond);
        QCOMPARE(run->steps[1].start, 180 * kMicrosecond); // steps follow each other without overlap
        QCOMPARE(run->steps[1].end, 330 * kMicrosecond);
    }

    /// Four steps of 1000 us on each of two ranks, of which the second is half a step behind: the period is 1000 us.
    void stepsThatLieOverEachOtherHaveTheirPeriod()
    {
        SmallRecording made;
        for (int rank = 0; rank < 2; ++rank) {
            auto own = made.rank(rank, 2);
            for (int step = 0; step < 4; ++step) {
                const Moment begin = 1000 * step + 500 * rank;
                own.step(step, begin, begin + 1000).span(Compute, begin + 10, begin + 910, begin);
            }
        }
        const RunPtr run = made.run();
        QCOMPARE(run->steps.size(), std::size_t(4));
        for (const RunStep &step : run->steps) {
            QVERIFY(step.overlaps);
            QVERIFY(std::abs(step.seconds - 1000e-6) < 25e-6);
            double sum = 0;
            for (const RankStep &one : sharesOf(*run, step, 1))
                sum += one.shares.total();
            QVERIFY(std::abs(sum / 2 - step.seconds) < 1e-9);
        }
    }

    void withoutStepsAllOfARecordingIsOne()
    {
        SmallRecording made;
        made.rank(0).span(Compute, 100, 300);
        const RunPtr run = made.run();
        QCOMPARE(run->steps.size(), std::size_t(1));
        QCOMPARE(run->steps[0].number, std::int64_t(0));
        QCOMPARE(microseconds(run->steps[0].seconds), 200.0);
        QVERIFY(hasNote(run->notes, "one step, number 0"));
        QCOMPARE(makeRun({})->typicalStep, -1);
    }

    void stepsWithoutWorkAreLeftOut()
    {
        SmallRecording made;
        made.rank(0).step(1, 0, 100).step(2, 100, 110).span(Compute, 0, 90, 0);
        const RunPtr run = made.run();
        QCOMPARE(run->steps.size(), std::size_t(1));
        QVERIFY(hasNote(run->notes, "left out: 2"));
    }

    void aRunThatNobodyWaitsForIsNotMade()
    {
        SmallRecording made;
        for (int rank = 0; rank < 2; ++rank)
            made.rank(rank, 2).step(1, 0, 100).collective("all_reduce", 0, 90, 1e6, 24, 0);
        std::stop_source source;
        source.request_stop();
        const RunPtr run = makeRun(made.m_recording, source.get_token());
        QVERIFY(run->collectives.empty() && run->steps.empty() && run->alignment.ranks.empty());
        QVERIFY(run->recording && run->spans);
        QCOMPARE(made.run()->collectives.size(), std::size_t(1));
    }

    void ofAttemptsTheLastCounts()
    {
        SmallRecording made; // rank 0 recorded step 5 twice, in two files
        made.rank(0).step(5, 0, 100).span(Compute, 0, 100, 0);
        made.rank(0).step(5, 900, 1100).span(Compute, 900, 1100, 900);
        const RunPtr run = made.run();
        QCOMPARE(run->steps.size(), std::size_t(1));
        QCOMPARE(microseconds(run->steps[0].seconds), 200.0);
        QCOMPARE(run->steps[0].ranks.size(), std::size_t(1));
        QVERIFY(hasNote(run->notes, "Step 5 was recorded more than once"));
    }

    void manyRepeatedStepsAreOneNote()
    {
        SmallRecording made; // 20 steps in two files, a while apart
        for (const Moment from : { 0, 100000 }) {
            auto rank = made.rank(0);
            for (int i = 0; i < 20; ++i)
                rank.step(i, from + i * 100, from + i * 100 + 100)
                    .span(Compute, from + i * 100, from + i * 100 + 90, from + i * 100);
        }
        const RunPtr run = made.run();
        QCOMPARE(run->steps.size(), std::size_t(20));
        QCOMPARE(std::ranges::count_if(
                     run->notes, [](const std::string &note) { return note.find("last attempt") != note.npos; }),
            std::ptrdiff_t(1));
        QVERIFY(hasNote(run->notes, "Steps 0 to 19 were recorded more than once"));
    }

    void aRankThatRunsNothingInAStepLeavesItToTheOthers()
    {
        // Rank 1 launches nothing in step 2, and its GPU is at step 1's work until 250: its window of step 2 is empty
        SmallRecording made;
        made.rank(0, 2).step(1, 0, 100).step(2, 100, 200).span(Compute, 0, 90, 0).span(Compute, 110, 190, 110);
        made.rank(1, 2).step(1, 0, 100).step(2, 100, 200).span(Compute, 0, 250, 0);
        const RunPtr run = made.run();
        QCOMPARE(run->steps.size(), std::size_t(2));
        QCOMPARE(run->steps[1].ranks.size(), std::size_t(1));
        QCOMPARE(run->steps[1].ranks[0].rank, 0u);
        QVERIFY(run->steps[1].end > run->steps[1].start);
        QVERIFY(!hasNote(run->notes, "more than once"));
    }

    void warmUpAndOutliersDoNotCount()
    {
        SmallRecording made;
        made.series(samples::kStepTime, 1, { 9, 4, 1, 1.1, 1, 3, 0.9, 1 });
        const RunPtr run = made.run();
        QVERIFY(run->steps[0].isWarmUp && run->steps[1].isWarmUp && !run->steps[2].isWarmUp);
        QVERIFY(run->steps[5].isOutlier && !run->steps[4].isOutlier);
        QCOMPARE(run->medianSeconds, 1.0); // of 1, 1.1, 1, 0.9, 1
        QCOMPARE(run->steps[std::size_t(run->typicalStep)].seconds, 1.0);
    }

    void aLogThatBeginsInTheMiddleHasNoWarmUp()
    {
        SmallRecording middle, first, single, slow;
        middle.series(samples::kStepTime, 43, { 5.44, 5.62, 5.63 });
        QVERIFY(!middle.run()->steps[0].isWarmUp);
        QCOMPARE(middle.run()->medianSeconds, 5.62);
        first.series(samples::kStepTime, 1, { 5.44, 5.62, 5.63 });
        QVERIFY(first.run()->steps[0].isWarmUp);
        slow.series(samples::kStepTime, 43, { 30, 5.62, 5.63, 5.6 }); // starts again from a checkpoint
        QVERIFY(slow.run()->steps[0].isWarmUp && !slow.run()->steps[1].isWarmUp);
        single.series(samples::kStepTime, 1, { 9 });
        QVERIFY(hasNote(single.run()->notes, "warm-up is in it"));
    }

    void aGapOfDaysBeginsAnotherAttempt()
    {
        // Steps 4 and 14 are 83 days apart: (83 × 86400 s) / 10 is no step time
        SmallRecording made;
        made.overTime(samples::kStepEnded, { 0, 83 * 86400.0, 83 * 86400.0 + 1, 83 * 86400.0 + 2 }, { 4, 14, 15, 16 });
        const RunPtr run = made.run();
        QCOMPARE(run->steps.size(), std::size_t(2));
        QCOMPARE(run->steps[0].number, std::int64_t(15));
        QCOMPARE(run->medianSeconds, 1.0);
        QVERIFY(hasNote(run->notes, "silent for 83 days"));
    }

    void collectivesWithoutTransfersMeanOneStageWhateverThePlan()
    {
        SmallRecording made; // idle from 90 to 200, launched at 80: a bubble, if there were stages
        made.rank(0)
            .step(1, 0, 210)
            .span(Compute, 0, 50, 0)
            .collective("all_reduce", 50, 90, 1e6, 24, 40)
            .span(Compute, 200, 210, 80);
        const RunPtr run = made.run();
        const TimeShares alone = sharesAt(run), under8 = sharesOf(*run, run->steps[0], 8)[0].shares;
        QCOMPARE(under8.bubble, 0.0);
        QCOMPARE(under8.host, alone.host);
    }

    void aRestartIsToldAndWarmsUpAgain()
    {
        SmallRecording made; // steps 1 to 4, then again from 3 on, a minute later
        made.series(samples::kStepTime, 1, { 2, 2, 5, 2, 2 });
        made.overTime(samples::kStepEnded, { 2, 4, 6, 8, 70, 72, 74 }, { 1, 2, 3, 4, 3, 4, 5 });
        const RunPtr run = made.run();
        QVERIFY(hasNote(run->notes, "after step 4 came step 3 again"));
        QVERIFY(run->steps[2].isWarmUp && !run->steps[3].isWarmUp && !run->steps[4].isWarmUp);
    }

    void logAndProfilerAreJoinedByTheEndsOfSteps()
    {
        // Steps of different lengths; the log counts 100 more, and its clock is two hours and 0.2 s ahead
        SmallRecording made;
        auto rank = made.rank(0);
        std::vector<double> ended, numbers, seconds;
        double at = 0;
        for (int i = 0; i < 12; ++i) {
            const double length = 1 + 0.1 * (i * i % 7);
            if (i >= 4 && i < 8) {
                rank.step(i, Moment(at * 1e6), Moment((at + length) * 1e6));
                rank.span(Compute, Moment(at * 1e6), Moment((at + length) * 1e6), Moment(at * 1e6));
            }
            at += length;
            ended.push_back(at + 7200.2);
            numbers.push_back(100 + i);
            seconds.push_back(length);
        }
        made.overTime(samples::kStepEnded, ended, numbers).series(samples::kStepTime, 100, seconds);
        const RunPtr run = made.run();
        QCOMPARE(run->steps.size(), std::size_t(12));
        QVERIFY(run->steps[4].hasSpans() && run->steps[4].isOfLog && !run->steps[3].hasSpans());
        QCOMPARE(run->steps[4].number, std::int64_t(104));
        QVERIFY(run->logOffset && std::abs(double(*run->logOffset) * 1e-9 - 7200.2) < 1e-3);
        QVERIFY(hasNote(run->notes, "profiler's + 100"));
        QVERIFY(run->steps[std::size_t(run->typicalStep)].hasSpans());
    }

    void numbersThatMeanDifferentStepsAreNotJoined()
    {
        SmallRecording made; // the log's step 5 takes 2 s, the profiler's 100 us
        made.rank(0).step(5, 0, 100).span(Compute, 0, 100, 0);
        made.series(samples::kStepTime, 4, { 2, 2, 2 });
        const RunPtr run = made.run();
        QCOMPARE(run->steps.size(), std::size_t(1));
        QVERIFY(!run->steps[0].isOfLog && hasNote(run->notes, "not joined"));
        SmallRecording alike;
        alike.rank(0).step(5, 0, 100).span(Compute, 0, 100, 0);
        alike.series(samples::kStepTime, 4, { 1e-4, 1.1e-4, 1e-4 });
        QCOMPARE(alike.run()->steps.size(), std::size_t(3));
        QVERIFY(alike.run()->steps[1].isOfLog && alike.run()->steps[1].hasSpans());
    }

    void ranksOfAClockFarOffAreLaidOverTheOthers()
    {
        SmallRecording made; // an hour apart, and no collective joins them
        made.rank(0).step(1, 0, 100).span(Compute, 0, 100, 0);
        const Moment hour = Moment(3600) * 1000 * 1000;
        made.rank(1).step(1, hour, hour + 90).span(Compute, hour, hour + 90, hour);
        const RunPtr run = made.run();
        QCOMPARE(microseconds(run->steps[0].seconds), 100.0);
        QCOMPARE(sharesOf(*run, run->steps[0]).size(), std::size_t(2));
        QCOMPARE(microseconds(sharesAt(run, 0, 1).compute), 90.0);
        QVERIFY(hasNote(run->notes, "laid over"));
    }
};

TRAINYARD_GUILESS_TEST(TestRunSteps)
#include "tst_run_steps.moc"
