// SPDX-License-Identifier: GPL-3.0-or-later
// The critical path of measured steps whose longest chain is known: by hand, and by the closed form of layers that end
// in a reduction over all ranks.
#include "core/runs/profile/measured_path.h"
#include "tests/core/runs/overlay/small_runs.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <numeric>
#include <random>

using namespace trainyard;
using trainyard::test::SmallRecording;
using enum RecordedWork;

namespace {

constexpr std::int64_t kMicro = 1000;

MeasuredPath pathOf(const Run &run, int step = 0)
{
    return measuredPath(run, run.steps[std::size_t(step)]);
}

std::int64_t of(const MeasuredPath &path, PathKind kind)
{
    return path.nanoseconds[std::size_t(kind)] / kMicro;
}

bool addsUp(const MeasuredPath &path)
{
    Moment at = path.start;
    for (const PathPiece &piece : path.pieces) {
        if (piece.start != at || piece.end <= piece.start)
            return false;
        at = piece.end;
    }
    return at == path.end
        && std::accumulate(path.nanoseconds.begin(), path.nanoseconds.end(), std::int64_t(0)) == path.end - path.start;
}

} // namespace

class TestMeasuredPath : public QObject {
    Q_OBJECT
private slots:
    /// Rank 1 computes 30 µs before the reduction, for which rank 0 waits from 10 on; then rank 0 computes longer, its
    /// host waits for it, runs 8 µs by itself and launches a copy.
    void itGoesThroughLaunchesStreamsAndRanks()
    {
        SmallRecording small;
        small.rank(0, 2)
            .span(Compute, 0, 10, 0)
            .span(Wait, 20, 62, -1, 7, "Stream Synchronize")
            .span(Compute, 41, 60, 5)
            .span(Copy, 75, 80, 70)
            .collective("all_reduce", 10, 40, 1e6, 24, 2, { 0, 1 });
        small.rank(1, 2)
            .span(Compute, 0, 30, 0)
            .span(Compute, 41, 50, 5)
            .collective("all_reduce", 30, 40, 1e6, 24, 2, { 0, 1 });
        const RunPtr run = small.run();
        QCOMPARE(run->collectives.size(), std::size_t(1));
        const MeasuredPath path = pathOf(*run);
        QVERIFY(addsUp(path));
        QCOMPARE(path.end - path.start, 80 * kMicro);
        QCOMPARE(of(path, PathKind::Copy), std::int64_t(5));
        QCOMPARE(of(path, PathKind::Launch), std::int64_t(5)); // 70 to 75
        QCOMPARE(of(path, PathKind::Host), std::int64_t(10)); // 60 to 70
        QCOMPARE(of(path, PathKind::Compute), std::int64_t(19 + 30));
        QCOMPARE(of(path, PathKind::Gap), std::int64_t(1));
        QCOMPARE(of(path, PathKind::Communication), std::int64_t(10)); // since rank 1 came
        QCOMPARE(path.rankChanges, std::int64_t(1));
        QCOMPARE(path.pieces.front().rank, 1u);
        QCOMPARE(path.pieces.back().rank, 0u);
        const std::vector<PathShare> shares = sharesOfPath(*run->recording, path);
        QCOMPARE(shares.front().kind, PathKind::Compute);
        QCOMPARE(shares.front().count, std::int64_t(2));
        QVERIFY(std::abs(shares.front().seconds - 49e-6) < 1e-12);
    }

    /// Without a synchronisation the host launched it by itself, since the step began.
    void aHostThatWaitsForNothingIsThePath()
    {
        SmallRecording small;
        small.rank(0).span(Compute, 0, 10, 0).span(Compute, 50, 60, 47);
        const MeasuredPath path = pathOf(*small.run());
        QVERIFY(addsUp(path));
        QCOMPARE(of(path, PathKind::Compute), std::int64_t(10));
        QCOMPARE(of(path, PathKind::Launch), std::int64_t(3));
        QCOMPARE(of(path, PathKind::Host), std::int64_t(47));
    }

    /// The GPU was done before the host asked: it waited for nothing.
    void aSynchronisationThatFoundTheGpuDoneIsNoWait()
    {
        SmallRecording small;
        small.rank(0).span(Compute, 0, 10, 0).span(Wait, 20, 21, -1, 7, "Stream Synchronize").span(Compute, 50, 60, 47);
        QCOMPARE(of(pathOf(*small.run()), PathKind::Host), std::int64_t(47));
    }

    void workOfAnotherStreamIsWaitedFor()
    {
        SmallRecording small;
        small.rank(0).span(Compute, 0, 10, 0).span(Compute, 32, 40, 1).span(Copy, 3, 30, 1, 20);
        const MeasuredPath path = pathOf(*small.run());
        QVERIFY(addsUp(path));
        QCOMPARE(of(path, PathKind::Copy), std::int64_t(27));
        QCOMPARE(of(path, PathKind::Gap), std::int64_t(2));
        QCOMPARE(of(path, PathKind::Compute), std::int64_t(8));
        QCOMPARE(of(path, PathKind::Launch), std::int64_t(2)); // of the copy, from 1
        QCOMPARE(of(path, PathKind::Host), std::int64_t(1));
    }

    /// Of layers in which every rank computes and then all reduce, the step is the sum over the layers of the slowest
    /// rank and the reduction, and the path has just these.
    void layersWaitForTheirSlowestRank()
    {
        std::mt19937 random(3);
        for (int trial = 0; trial < 20; ++trial) {
            constexpr int kRanks = 4, kLayers = 12;
            SmallRecording small;
            std::vector<SmallRecording::Rank> ranks;
            small.m_recording.ranks.reserve(kRanks);
            for (int r = 0; r < kRanks; ++r)
                ranks.push_back(small.rank(r, kRanks));
            Moment now = 0;
            std::int64_t compute = 0, reduced = 0, changes = 0;
            int before = -1;
            for (int layer = 0; layer < kLayers; ++layer) {
                std::array<Moment, kRanks> own {};
                for (Moment &one : own)
                    one = 10 + Moment(random() % 1000) * 4; // of equal ones the first is as good
                for (int r = 0; r < kRanks; ++r)
                    own[std::size_t(r)] += r; // none are
                const auto slowest = std::ranges::max_element(own);
                const Moment transfer = 5 + Moment(random() % 20);
                for (int r = 0; r < kRanks; ++r) {
                    const Moment entered = now + own[std::size_t(r)];
                    ranks[std::size_t(r)]
                        .span(Compute, now, entered, 0)
                        .collective("all_reduce", entered, now + *slowest + transfer, 1e6, 24, 0, { 0, 1, 2, 3 });
                }
                const int at = int(slowest - own.begin());
                changes += before >= 0 && at != before;
                before = at;
                now += *slowest + transfer;
                compute += *slowest;
                reduced += transfer;
            }
            const RunPtr run = small.run();
            QCOMPARE(run->collectives.size(), std::size_t(kLayers));
            const MeasuredPath path = pathOf(*run);
            QVERIFY(addsUp(path));
            QCOMPARE(path.end - path.start, now * kMicro);
            QCOMPARE(of(path, PathKind::Compute), compute);
            QCOMPARE(of(path, PathKind::Communication), reduced);
            QCOMPARE(path.rankChanges, changes);
        }
    }

    void randomStepsAddUp()
    {
        std::mt19937 random(13);
        for (int trial = 0; trial < 100; ++trial) {
            SmallRecording small;
            small.m_recording.ranks.reserve(2);
            for (int r = 0; r < 2; ++r) {
                const auto rank = small.rank(r, 2);
                rank.rank().streams.reserve(3);
                Moment at = 0;
                for (int i = 0; i < 40; ++i) {
                    at += Moment(random() % 8);
                    const Moment launched =
                        random() % 5 == 0 ? -1 : std::max<Moment>(0, at + 2 - Moment(random() % 12));
                    const int stream = 7 + int(random() % 3);
                    rank.span(random() % 6 == 0 ? Wait : Compute, at, at + Moment(random() % 9), launched, stream,
                        random() % 2 ? "Event Sync" : "gemm");
                }
                rank.collective("all_reduce", at + 1 + Moment(random() % 5), at + 20, 1e6, 24, -1, { 0, 1 });
            }
            const RunPtr run = small.run();
            const MeasuredPath path = pathOf(*run);
            QVERIFY(addsUp(path));
            QCOMPARE(path.end, run->steps[0].end);
        }
    }

    void aStepWithoutSpansHasNone()
    {
        SmallRecording small;
        small.rank(0).span(Compute, 0, 10, 0);
        const RunPtr run = small.run();
        QVERIFY(measuredPath(*run, RunStep {}).pieces.empty());
    }
};

TRAINYARD_APPLESS_TEST(TestMeasuredPath)
#include "tst_measured_path.moc"
