// SPDX-License-Identifier: GPL-3.0-or-later
// Collectives over ranks: which belong together, and what bandwidth they tell.

#include "core/runs/telemetry/collectives.h"
#include "core/runs/telemetry/read_sources.h"
#include "tests/support/test_program.h"

#include "tests/core/runs/telemetry/kineto_job.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <map>

using namespace trainyard;

namespace {

struct Item {
    const char *operation;
    std::int64_t sequence;
    double bytes;
    std::int64_t duration;
};

Recording madeOf(const std::vector<std::vector<Item>> &ranks)
{
    Recording recording;
    NameTable name(recording.names);
    for (const auto &items : ranks) {
        RankRecording &rank = recording.ranks.emplace_back();
        rank.rank = static_cast<int>(recording.ranks.size()) - 1;
        Moment start = 0;
        for (const Item &item : items) {
            RecordedCollective &made = rank.collectives.emplace_back();
            made.operation = name(item.operation);
            made.sequence = item.sequence;
            made.bytes = item.bytes;
            made.start = start += 1000;
            made.duration = item.duration;
        }
    }
    return recording;
}

} // namespace

class TestCollectives : public QObject {
    Q_OBJECT
private slots:
    void megatronReaches195ByTheLeastAnd23ByTheMean()
    {
        // Of our own: four ranks, nine reductions of 32 MiB in 400 µs and three of 16 KiB in 20 µs, for which rank 3
        // lets the others wait 1200 µs. The bus carries 2 · 3 / 4 of the bytes, in the least of the times or in
        // their mean, 400 + 3 / 4 · 1200.
        testing::KinetoJob job { .ranks = 4, .layers = 12 };
        const testing::KinetoExchange large { .elements = 1 << 24, .microseconds = 400 };
        job.exchanges = { large, large, large, { .elements = 1 << 13, .microseconds = 20 } };
        job.late = [](int rank, int) { return rank == 3 ? 1200 : 0; };
        const QTemporaryDir folder;
        testing::writeKineto(job, folder.path().toStdString());
        const auto own = readSources({ folder.path().toStdString() }, {}, 2);
        QVERIFY(own.has_value() && own->ranks.size() == 4);
        const auto reduced = matchCollectives(*own);
        QCOMPARE(reduced.size(), std::size_t(12));
        for (const MatchedCollective &one : reduced)
            QCOMPARE(one.parts.size(), std::size_t(4));
        const auto reached = collectiveBandwidths(*own, reduced);
        QCOMPARE(reached.size(), std::size_t(2));
        QCOMPARE(reached[0].bytes, 16384.0);
        QCOMPARE(reached[0].count, std::size_t(3));
        QCOMPARE(reached[1].bytes, 33554432.0);
        QCOMPARE(reached[1].count, std::size_t(9));
        QCOMPARE(reached[1].leastSeconds, 400e-6);
        QCOMPARE(reached[1].busByLeast, 1.5 * 33554432 / 400e-6);
        QCOMPARE(reached[1].busByMean, 1.5 * 33554432 / 1300e-6);
        if (!testing::hasShared())
            return;
        const auto recording = readSources({ TRAINYARD_SHARED_DIR "/traces/megatron_tp8_a100_8rank" }, {}, 2);
        QVERIFY(recording.has_value());
        QCOMPARE(recording->ranks.size(), std::size_t(8));
        for (const RankRecording &rank : recording->ranks)
            QCOMPARE(rank.collectives.size(), std::size_t(84));
        const auto matched = matchCollectives(*recording);
        QCOMPARE(matched.size(), std::size_t(84));
        std::int64_t least = 0;
        for (const MatchedCollective &one : matched) {
            QCOMPARE(one.parts.size(), std::size_t(8));
            least += one.leastDuration;
        }
        QCOMPARE(least, std::int64_t(50'099'000));
        const auto bandwidths = collectiveBandwidths(*recording, matched);
        QCOMPARE(bandwidths.size(), std::size_t(2));
        QCOMPARE(bandwidths[0].bytes, 32768.0);
        QCOMPARE(bandwidths[0].count, std::size_t(3));
        QCOMPARE(bandwidths[1].bytes, 67108864.0); // 4 · 2048 · 4096 of two bytes
        QCOMPARE(bandwidths[1].count, std::size_t(81));
        QCOMPARE(bandwidths[1].operation, std::string("all_reduce"));
        QCOMPARE(bandwidths[1].leastSeconds, 603e-6);
        QVERIFY(std::abs(bandwidths[1].busByLeast / 1e9 - 194.8) < 0.05);
        QVERIFY(std::abs(bandwidths[1].busByMean / 1e9 - 23.8) < 0.05);
    }

    void dlrmHasEightOfEachRank()
    {
        // Of our own, as PyTorch before 2.4 told it: all-to-all of 2048 floats, whose kernel is named for bytes, and
        // all-reduce of 1000, by turns; sizes are those of the operators
        testing::KinetoJob job { .ranks = 4, .layers = 8, .kernel = "void embedding_bag_kernel<float>(int)" };
        job.exchanges = { { .kernel =
                                  "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
                              .elements = 2048,
                              .microseconds = 30,
                              .shapesOf = "c10d::alltoall_base_" },
            { .kernel = "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
                .elements = 1000,
                .microseconds = 50,
                .shapesOf = "c10d::allreduce_" } };
        const QTemporaryDir folder;
        testing::writeKineto(job, folder.path().toStdString());
        const auto own = readSources({ folder.path().toStdString() }, {}, 2);
        QVERIFY(own.has_value());
        std::map<std::string, std::pair<int, std::int64_t>> told; // how many, and ns by the least of each
        for (const MatchedCollective &one : matchCollectives(*own)) {
            QCOMPARE(one.bytes, own->names[one.operation] == "all_to_all" ? 2048.0 * 4 : 1000.0 * 4);
            auto &[count, least] = told[own->names[one.operation]];
            ++count;
            least += one.leastDuration;
        }
        QCOMPARE(told.size(), std::size_t(2));
        QVERIFY((told.at("all_to_all") == std::pair(4, std::int64_t(4 * 30'000))));
        QVERIFY((told.at("all_reduce") == std::pair(4, std::int64_t(4 * 50'000))));
        if (!testing::hasShared())
            return;
        const auto recording = readSources({ TRAINYARD_SHARED_DIR "/traces/dlrm_a100_8rank" }, {}, 2);
        QVERIFY(recording.has_value());
        const auto matched = matchCollectives(*recording);
        QCOMPARE(matched.size(), std::size_t(8));
        std::int64_t least = 0;
        for (const MatchedCollective &one : matched)
            least += one.leastDuration;
        QCOMPARE(least, std::int64_t(217'000));
        // c10d::alltoall_base_ of 6144 floats, whose kernel is named for bytes (SendRecv … int8_t)
        QVERIFY(std::ranges::any_of(matched, [&](const MatchedCollective &one) {
            return one.bytes == 6144 * 4 && recording->names[one.operation] == "all_to_all";
        }));
    }

    void aMissingOneDoesNotShiftTheOthers()
    {
        const Recording recording = madeOf({ { { "all_reduce", -1, 8, 10 }, { "all_gather", -1, 4, 20 },
                                                 { "all_reduce", -1, 16, 30 }, { "all_reduce", -1, 8, 40 } },
            { { "all_reduce", -1, 8, 11 }, { "all_reduce", -1, 16, 29 }, { "all_reduce", -1, 8, 41 } } });
        const auto matched = matchCollectives(recording);
        QCOMPARE(matched.size(), std::size_t(3));
        QCOMPARE(matched[1].bytes, 16.0);
        QCOMPARE(matched[1].leastDuration, 29);
        QCOMPARE(matched[1].meanDuration, 29.5);
    }

    void numbersOfACommunicatorDecide()
    {
        const Recording recording = madeOf({ { { "all_reduce", 5, 8, 10 }, { "all_reduce", 6, 8, 20 } },
            { { "all_reduce", 6, 8, 12 }, { "all_reduce", 7, 8, 5 } } });
        const auto matched = matchCollectives(recording);
        QCOMPARE(matched.size(), std::size_t(1));
        QCOMPARE(matched[0].leastDuration, 12);
    }

    /// Stage 0 sends activations and receives gradients; each side numbers its own operations, so that the numbers
    /// disagree and the order decides. A receiver waits 100 µs for what takes 10.
    void aSendIsMatchedWithItsReceive()
    {
        Recording recording = madeOf({ { { "send", 0, 8, 10 }, { "send", 1, 8, 10 }, { "recv", 2, 8, 100 },
                                           { "all_reduce", 3, 8, 40 }, { "recv", 4, 8, 100 } },
            { { "recv", 0, 8, 100 }, { "recv", 1, 8, 100 }, { "all_reduce", 3, 8, 41 }, { "send", 5, 8, 10 },
                { "send", 6, 8, 10 } } });
        recording.groups = { { "first to second", "", { 0, 1 } } };
        for (RankRecording &rank : recording.ranks)
            for (RecordedCollective &one : rank.collectives)
                one.group = 0;
        const auto matched = matchCollectives(recording);
        QCOMPARE(matched.size(), std::size_t(5));
        int sends = 0;
        for (const MatchedCollective &one : matched) {
            const bool isSend = recording.names[one.operation] == "send";
            sends += isSend;
            QCOMPARE(one.parts.size(), std::size_t(2));
            QCOMPARE(one.parts[0].rank, 0u);
            QCOMPARE(one.leastDuration, isSend ? 10 : 40);
            QCOMPARE(one.groupRanks, 2);
        }
        QCOMPARE(sends, 4);
        QCOMPARE(matched[0].parts[1].collective, 0u);
        QCOMPARE(matched[1].parts[1].collective, 1u);
        QCOMPARE(matched[2].parts[1].collective, 3u); // the first receive of gradients with the first send
        const auto bandwidths = collectiveBandwidths(recording, matched);
        QCOMPARE(bandwidths.back().operation, std::string("send"));
        QCOMPARE(bandwidths.back().leastSeconds, 10e-9);
        recording.groups[0].ranks = { 0, 1, 2 }; // who the other is nobody tells
        QCOMPARE(matchCollectives(recording).size(), std::size_t(1));
    }

    void numbersOfASendDecideWhereTheyAgree()
    {
        Recording recording = madeOf({ { { "send", 5, 8, 10 }, { "send", 6, 8, 20 }, { "send", 7, 8, 30 } },
            { { "recv", 6, 8, 19 }, { "recv", 7, 8, 29 }, { "recv", 8, 8, 39 } } });
        recording.groups = { { "first to second", "", { 0, 1 } } };
        for (RankRecording &rank : recording.ranks)
            for (RecordedCollective &one : rank.collectives)
                one.group = 0;
        const auto matched = matchCollectives(recording);
        QCOMPARE(matched.size(), std::size_t(2));
        QCOMPARE(matched[0].leastDuration, 19);
        QCOMPARE(matched[1].leastDuration, 29);
    }

    void aRankThatTwoFilesHaveCountsOnce()
    {
        Recording recording = madeOf(
            { { { "all_reduce", -1, 8, 10 } }, { { "all_reduce", -1, 8, 12 } }, { { "all_reduce", -1, 8, 1 } } });
        recording.ranks[2].rank = 1;
        const auto matched = matchCollectives(recording);
        QCOMPARE(matched.size(), std::size_t(1));
        QCOMPARE(matched[0].parts.size(), std::size_t(2));
        QCOMPARE(matched[0].leastDuration, 10);
    }

    void thousandsThatDifferAreMatchedInTime()
    {
        std::vector<std::vector<Item>> ranks(2);
        for (int i = 0; i < 20000; ++i) {
            if (i % 97 != 0)
                ranks[0].push_back({ "all_reduce", i, 8, 10 });
            if (i % 89 != 0)
                ranks[1].push_back({ "all_reduce", i, 8, 10 });
        }
        const auto matched = matchCollectives(madeOf(ranks));
        QCOMPARE(matched.size(), std::size_t(20000 - 207 - 225 + 3));
    }

    /// The summary of nccl-tests' PERFORMANCE.md (a0b82b2, 2026-07), as numbers of n = 1, 2, 4 and 8 ranks: AllReduce
    /// 2(n-1)/n; ReduceScatter, AllGather and AlltoAll (n-1)/n; Broadcast and Reduce 1. Gather and scatter, which it
    /// leaves out, have (n-1)/n in its sources, send and receive 1; a hypercube's bandwidth is counted of (n-1)/n.
    void busFactorsAreThoseOfNcclTests()
    {
        constexpr int kRanks[] = { 1, 2, 4, 8 };
        const std::vector<double> both { 0, 1, 1.5, 1.75 }, part { 0, 0.5, 0.75, 0.875 }, all { 1, 1, 1, 1 };
        const std::map<const char *, std::vector<double>> published { { "all_reduce", both },
            { "reduce_scatter", part }, { "all_gather", part }, { "all_to_all", part }, { "broadcast", all },
            { "reduce", all }, { "gather", part }, { "scatter", part }, { "hypercube", part }, { "send_recv", all },
            { "send", all }, { "recv", all } };
        for (const auto &[operation, factors] : published)
            for (std::size_t i = 0; i < factors.size(); ++i)
                QVERIFY2(busFactor(operation, kRanks[i]) == factors[i],
                    qPrintable(QStringLiteral("%1 of %2 ranks").arg(operation).arg(kRanks[i])));
    }

    void anUnknownOperationMovesItsMessageOnce()
    {
        for (const int ranks : { 1, 2, 8 })
            QCOMPARE(busFactor("coalesced", ranks), 1.0);
        QCOMPARE(busFactor("all_reduce", 0), 0.0);
    }
};

TRAINYARD_GUILESS_TEST(TestCollectives)
#include "tst_collectives.moc"
