// SPDX-License-Identifier: GPL-3.0-or-later
// Cutting a row of pieces: the greedy rule against every possible cut, even cuts against what they promise.

#include "core/iteration/job_shards/partition.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <numeric>
#include <random>

using namespace trainyard;

namespace {

/// The fewest shards of which each fits, over all 2^(n-1) cuts; 0 where there is no such cut.
int fewestOfAll(int pieces, const std::function<bool(Pieces)> &fits)
{
    int fewest = 0;
    for (int cuts = 0; cuts < 1 << (pieces - 1); ++cuts) {
        int shards = 0, first = 0;
        bool doFit = true;
        for (int piece = 0; piece < pieces; ++piece)
            if (piece == pieces - 1 || (cuts >> piece & 1)) {
                doFit = doFit && fits({ first, piece + 1 });
                first = piece + 1;
                ++shards;
            }
        if (doFit && (fewest == 0 || shards < fewest))
            fewest = shards;
    }
    return fewest;
}

void checkCovers(const std::vector<Pieces> &shards, int pieces)
{
    int next = 0;
    for (const Pieces &shard : shards) {
        QCOMPARE(shard.first, next);
        QVERIFY(shard.count() > 0);
        next = shard.last;
    }
    QCOMPARE(next, pieces);
}

} // namespace

class TstPartition : public QObject {
    Q_OBJECT

private slots:
    /// Two limits, as running bytes and what travels have: fewest(greedy) = min over all cuts.
    void noCutHasFewerShardsThanTheGreedyOne()
    {
        std::mt19937 random(7);
        int cut = 0, refused = 0;
        for (int round = 0; round < 400; ++round) {
            const int pieces = 1 + int(random() % 10);
            std::vector<int> a, b;
            for (int i = 0; i < pieces; ++i) {
                a.push_back(int(random() % 20));
                b.push_back(int(random() % 20));
            }
            const int mostA = 10 + int(random() % 50), mostB = 10 + int(random() % 50);
            const auto sum = [](const std::vector<int> &of, Pieces p) {
                return std::accumulate(of.begin() + p.first, of.begin() + p.last, 0);
            };
            const auto fits = [&](Pieces p) { return sum(a, p) <= mostA && sum(b, p) <= mostB; };
            const Partition greedy = greedyPartition(pieces, fits);
            QCOMPARE(int(greedy.shards.size()), fewestOfAll(pieces, fits));
            if (greedy.shards.empty()) {
                QVERIFY(!fits({ greedy.tooLarge, greedy.tooLarge + 1 }));
                ++refused;
                continue;
            }
            QCOMPARE(greedy.tooLarge, -1);
            checkCovers(greedy.shards, pieces);
            QVERIFY(std::ranges::all_of(greedy.shards, fits));
            cut += greedy.shards.size() > 1;
        }
        QVERIFY(cut > 50 && refused > 5);
    }

    /// No shard is heavier than a fair share of the pieces left and one piece more.
    void evenShardsAreAboutEvenAndAllThere()
    {
        std::mt19937 random(8);
        for (int round = 0; round < 400; ++round) {
            std::vector<double> weights(1 + random() % 40);
            for (double &weight : weights)
                weight = 1 + double(random() % 9);
            const int count = 1 + int(random() % weights.size());
            const std::vector<Pieces> shards = evenPartition(weights, count);
            QCOMPARE(int(shards.size()), count);
            checkCovers(shards, int(weights.size()));
            const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
            for (const Pieces &shard : shards) {
                const double own = std::accumulate(weights.begin() + shard.first, weights.begin() + shard.last, 0.0);
                QVERIFY(own <= 2 * all / count + 9);
            }
        }
        QCOMPARE(evenPartition({ 1, 1, 1, 1 }, 2), (std::vector<Pieces> { { 0, 2 }, { 2, 4 } }));
        QCOMPARE(evenPartition({ 9, 1, 1, 1 }, 3), (std::vector<Pieces> { { 0, 1 }, { 1, 3 }, { 3, 4 } }));
    }
};

TRAINYARD_APPLESS_TEST(TstPartition)
#include "tst_partition.moc"
