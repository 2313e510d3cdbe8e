// SPDX-License-Identifier: GPL-3.0-or-later
// How far the host runs ahead: queues that can be counted by hand, and Little's law on random ones.
#include "core/runs/profile/launch_queue.h"
#include "tests/core/runs/overlay/small_runs.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <random>

using namespace trainyard;
using trainyard::test::SmallRecording;
using enum RecordedWork;

namespace {

constexpr std::int64_t kMicro = 1000;

/// Launched at 0, 2, 4 and 30 µs, started at 5, 10, 20 and 31: so many wait over the microseconds.
SmallRecording fourLaunches()
{
    SmallRecording small;
    small.rank(0).span(Compute, 5, 10, 0).span(Compute, 10, 20, 2).span(Compute, 20, 21, 4).span(Compute, 31, 33, 30);
    return small;
}

std::int64_t waitingIn(int microsecond)
{
    return microsecond < 2 ? 1
        : microsecond < 4  ? 2
        : microsecond < 5  ? 3
        : microsecond < 10 ? 2
        : microsecond < 20 ? 1
        : microsecond < 30 ? 0
                           : 1;
}

} // namespace

class TestLaunchQueue : public QObject {
    Q_OBJECT
private slots:
    void aQueueIsCountedOverTime()
    {
        const SmallRecording small = fourLaunches();
        const std::vector<RankQueue> ranks = launchQueues(small.m_recording, 31);
        QCOMPARE(ranks.size(), std::size_t(1));
        const LaunchQueue &queue = ranks[0].streams[0];
        QCOMPARE(queue.launched, std::int64_t(4));
        QCOMPARE(queue.start, Moment(0));
        QCOMPARE(queue.end, 31 * kMicro);
        QCOMPARE(queue.most, std::int64_t(3));
        QCOMPARE(queue.empty, 10 * kMicro);
        QCOMPARE(queue.shareEmpty(), 10.0 / 31);
        QCOMPARE(queue.mean(), (5 + 8 + 16 + 1) / 31.0); // waiting of each, over the time
        QCOMPARE(queue.buckets.size(), std::size_t(31));
        for (int i = 0; i < 31; ++i) {
            QCOMPARE(queue.buckets[std::size_t(i)].mean, double(waitingIn(i)));
            QCOMPARE(queue.buckets[std::size_t(i)].most, waitingIn(i));
        }
    }

    void bucketsHoldTheMeanAndTheMostOfTheirTime()
    {
        // Of [0, 31) µs in two parts: to 15.5 µs wait 2 + 4 + 3 + 10 + 5.5, then 4.5 + 1
        const SmallRecording small = fourLaunches();
        const std::vector<QueueBucket> buckets = launchQueues(small.m_recording, 2)[0].whole.buckets;
        QCOMPARE(buckets.size(), std::size_t(2));
        QCOMPARE(buckets[0].end, Moment(15'500));
        QCOMPARE(buckets[1].start, Moment(15'500));
        QCOMPARE(buckets[0].mean, 24.5 / 15.5);
        QCOMPARE(buckets[1].mean, 5.5 / 15.5);
        QCOMPARE(buckets[0].most, std::int64_t(3));
        QCOMPARE(buckets[1].most, std::int64_t(1));
    }

    void streamsOfARankWaitTogether()
    {
        SmallRecording small = fourLaunches();
        small.m_recording.ranks[0].streams.reserve(2);
        SmallRecording::Rank { small, 0 }.span(Communication, 6, 9, 1, 24);
        const RankQueue rank = launchQueues(small.m_recording)[0];
        QCOMPARE(rank.streams.size(), std::size_t(2));
        QCOMPARE(rank.whole.launched, std::int64_t(5));
        QCOMPARE(rank.whole.most, std::int64_t(4)); // from 4 to 5
        QCOMPARE(rank.whole.waited, rank.streams[0].waited + rank.streams[1].waited);
    }

    void whatNobodyLaunchedIsInNoQueue()
    {
        SmallRecording small;
        small.rank(0).span(Compute, 5, 6, 1).span(Compute, 8, 9);
        const RankQueue some = launchQueues(small.m_recording)[0];
        QCOMPARE(some.whole.launched, std::int64_t(1));
        QCOMPARE(some.whole.untold, std::int64_t(1));
        SmallRecording none;
        none.rank(0).span(Compute, 5, 6);
        QCOMPARE(launchQueues(none.m_recording)[0].reason, std::string("no call that launched its kernels is in it"));
    }

    /// Little's law: the mean length over the time is what all wait, summed. A clock that has the launch behind its
    /// start makes nothing wait for less than nothing.
    void whatWaitsAddsUpInRandomQueues()
    {
        std::mt19937 random(11);
        for (int trial = 0; trial < 200; ++trial) {
            SmallRecording small;
            const auto rank = small.rank(0);
            Moment start = 20;
            double waited = 0;
            for (int i = 0; i < 40; ++i) {
                start += random() % 6;
                const Moment launched = start + 2 - Moment(random() % 20);
                rank.span(Compute, start, start + 1, launched, random() % 2 ? 7 : 24);
                waited += double(std::max<Moment>(0, start - launched)) * kMicro;
            }
            const RankQueue told = launchQueues(small.m_recording, 1 + int(random() % 50))[0];
            QCOMPARE(told.whole.waited, waited);
            QCOMPARE(told.whole.launched, std::int64_t(40));
            double inBuckets = 0;
            Moment end = told.whole.start;
            std::int64_t most = 0;
            for (const QueueBucket &bucket : told.whole.buckets) {
                QCOMPARE(bucket.start, end);
                end = bucket.end;
                inBuckets += bucket.mean * double(bucket.end - bucket.start);
                most = std::max(most, bucket.most);
            }
            QCOMPARE(end, told.whole.end);
            QVERIFY(std::abs(inBuckets - waited) < 1e-6 * waited + 1e-3);
            QCOMPARE(most, told.whole.most);
        }
    }
};

TRAINYARD_APPLESS_TEST(TestLaunchQueue)
#include "tst_launch_queue.moc"
