// SPDX-License-Identifier: GPL-3.0-or-later
// A recording cut along its time adds up to the whole, however it is cut.
#include "core/live/recording_slices.h"
#include "tests/support/test_program.h"

#include "tests/core/live/told_events.h"
#include "tests/core/runs/telemetry/random_recording.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::live;
using namespace trainyard::live::tests;

class TestRecordingSlices : public QObject {
    Q_OBJECT

private slots:
    void slicesAddUpToTheWhole()
    {
        std::mt19937_64 random(21);
        for (int i = 0; i < 200; ++i) {
            const Recording whole = trainyard::testing::RandomRecording(std::uint64_t(i))();
            RecordingSlices slices(whole);
            ToldEvents sum;
            std::map<std::string, std::string> arguments;
            std::size_t benchmarks = 0;
            Moment until = slices.begin();
            const bool isQuick = random() % 2 == 0;
            while (!slices.isOver()) {
                until = isQuick
                    ? std::numeric_limits<Moment>::max()
                    : std::max(slices.due(), until + std::max<Moment>(1, (slices.end() - slices.begin()) / 7));
                const Recording part = slices.next(until, 1 + random() % 50);
                sum.add(part, whole.zero);
                arguments.insert(part.arguments.begin(), part.arguments.end());
                benchmarks += part.benchmarks.size();
            }
            QVERIFY2(sum == eventsOf(whole, whole.zero), std::to_string(i).c_str());
            QVERIFY(arguments == whole.arguments);
            QCOMPARE(benchmarks, whole.benchmarks.size());
            slices.rewind();
            QVERIFY(!slices.isOver());
        }
    }

    void nothingIsToldBeforeItEnded()
    {
        Recording whole;
        whole.ranks.resize(1);
        whole.names = { "gemm" };
        RecordedStream &stream = whole.ranks[0].streams.emplace_back();
        stream.spans.start = { 0, 10, 20 };
        stream.spans.duration = { 100, 5, 30 }; // ends at 100, 15, 50
        stream.spans.name = { 0, 0, 0 };
        stream.spans.work.assign(3, RecordedWork::Compute);
        RecordingSlices slices(whole);
        QCOMPARE(slices.begin(), 0);
        QCOMPARE(slices.end(), 100);
        const auto spansUntil = [&](Moment until) { return slices.next(until, 100).spanCount(); };
        QCOMPARE(spansUntil(14), std::size_t(0));
        QCOMPARE(slices.due(), 15);
        QCOMPARE(spansUntil(15), std::size_t(1));
        QCOMPARE(spansUntil(99), std::size_t(1));
        QCOMPARE(spansUntil(100), std::size_t(1));
        QVERIFY(slices.isOver());
    }

    void aCollectiveStaysWithTheSpanThatShowsIt()
    {
        Recording whole;
        whole.names = { "nccl", "all_reduce" };
        whole.groups = { { "dp", "", { 0, 1 } } };
        RankRecording &rank = whole.ranks.emplace_back();
        RecordedStream &stream = rank.streams.emplace_back();
        for (int i = 0; i < 10; ++i) {
            stream.spans.start.push_back(i * 10);
            stream.spans.duration.push_back(10);
            stream.spans.name.push_back(0);
            stream.spans.work.push_back(RecordedWork::Communication);
            rank.collectives.push_back({ 0, 1, i, 8, i * 10, 10, 0, std::uint32_t(i) });
        }
        RecordingSlices slices(whole);
        int seen = 0;
        while (!slices.isOver()) {
            const Recording part = slices.next(slices.due(), 1);
            for (const RecordedCollective &own : part.ranks.at(0).collectives) {
                QCOMPARE(own.stream, 0u);
                QCOMPARE(part.ranks[0].streams.at(0).spans.start.at(own.span), own.start);
                QCOMPARE(part.groups.at(own.group).name, std::string("dp"));
                QCOMPARE(part.names.at(own.operation), std::string("all_reduce"));
                ++seen;
            }
        }
        QCOMPARE(seen, 10);
    }

    void stepsWithoutMomentsFollowTheOneBeforeByTheirTimes()
    {
        // step 2 ends at 0, step 4 after 2 × 1.5 s, step 5 after 0.5 s
        Recording whole;
        whole.series.push_back({ "step_time", "s", -1, "", true, { 2, 4, 5 }, { 9, 1.5, 0.5 }, kNoIndex });
        whole.series.push_back({ "loss", "1", -1, "", true, { 2, 4, 5 }, { 3, 2, 1 }, kNoIndex });
        auto ends = stepEnds(whole);
        QCOMPARE(ends.at(4) - ends.at(2), 3'000'000'000);
        QCOMPARE(ends.at(5) - ends.at(4), 500'000'000);
        // a moment that a log tells comes first, one that a rank tells before that
        whole.series.push_back({ "step_ended", "1", -1, "", false, { 70, 80 }, { 4, 5 }, kNoIndex });
        whole.ranks.resize(1);
        whole.ranks[0].steps = { { 5, 60, 90 } };
        ends = stepEnds(whole);
        QCOMPARE(ends.at(4), 70);
        QCOMPARE(ends.at(5), 90);
    }
};

TRAINYARD_APPLESS_TEST(TestRecordingSlices)
#include "tst_recording_slices.moc"
