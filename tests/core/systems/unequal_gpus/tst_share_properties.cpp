// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab_cluster.h"
#include "random_problem.h"
#include "tests/support/test_program.h"

#include "core/systems/unequal_gpus/shares.h"

#include <QtTest>

using namespace trainyard;

namespace {

using Timed = std::optional<std::pair<double, int>>; // of the layer, with the sum of micro-batches; none: nothing fits

Timed outcome(const ShareProblem &problem)
{
    const auto shares = fastShares(problem);
    return shares ? Timed(std::pair(shares->layerTime, shares->sumMicroBatch)) : Timed();
}

struct Share {
    int microBatch, microBatches;
    double state;
    auto operator<=>(const Share &) const = default;
};

/// What each rank of each kind gets, by the kind's name.
std::map<std::string, std::vector<Share>> byName(const ShareProblem &problem, const Shares &shares)
{
    std::map<std::string, std::vector<Share>> all;
    for (const RankShare &rank : shares.ranks) {
        auto &kind = all[problem.kinds[std::size_t(rank.kind)].name];
        kind.insert(kind.end(), std::size_t(rank.ranks), { rank.microBatch, rank.microBatches, rank.stateShare });
    }
    return all;
}

ShareProblem named(ShareProblem problem)
{
    for (std::size_t k = 0; k < problem.kinds.size(); ++k)
        problem.kinds[k].name = std::string(1, char('a' + k));
    return problem;
}

ShareProblem withThreeKinds(RandomProblems &random)
{
    ShareProblem problem = random.next();
    while (problem.kinds.size() < 2)
        problem = random.next();
    return named(problem);
}

} // namespace

class TestShareProperties : public QObject {
    Q_OBJECT

private slots:
    void aFasterGpuWithAsMuchMemoryNeverSlows()
    {
        RandomProblems random(21, { 5, 20, false, true });
        for (int i = 0; i < 400; ++i) {
            ShareProblem problem = withThreeKinds(random);
            const Timed before = outcome(problem);
            RankKind &kind = problem.kinds[std::size_t(random.whole(0, int(problem.kinds.size()) - 1))];
            const double factor = random.real(0.3, 1);
            for (auto *table : { &kind.forward, &kind.backward })
                for (double &seconds : *table)
                    seconds *= factor;
            const Timed after = outcome(problem);
            QCOMPARE(before.has_value(), after.has_value());
            if (before)
                QVERIFY(after->first <= before->first);
        }
    }
    void moreMemoryNeverSlows()
    {
        RandomProblems random(22, { 5, 20, false, true });
        for (int i = 0; i < 400; ++i) {
            ShareProblem problem = withThreeKinds(random);
            const Timed before = outcome(problem);
            problem.kinds.back().room *= random.real(1, 2);
            const Timed after = outcome(problem);
            if (before)
                QVERIFY(after && after->first <= before->first);
        }
    }
    void namesAndOrderOfKindsChangeNothing()
    {
        RandomProblems random(23, { 6, 24, false, true });
        for (int i = 0; i < 300; ++i) {
            const ShareProblem problem = withThreeKinds(random);
            ShareProblem shuffled = problem;
            std::ranges::reverse(shuffled.kinds);
            const auto one = fastShares(problem), other = fastShares(shuffled);
            QCOMPARE(one.has_value(), other.has_value());
            if (one) { // nor does it for any rank, since no two kinds are equal here
                const auto a = byName(problem, *one), b = byName(shuffled, *other);
                QCOMPARE(a.size(), b.size());
                for (const auto &[name, ranks] : a) {
                    QCOMPARE(ranks.size(), b.at(name).size());
                    for (std::size_t r = 0; r < ranks.size(); ++r) {
                        QCOMPARE(ranks[r].microBatch, b.at(name)[r].microBatch);
                        QCOMPARE(ranks[r].microBatches, b.at(name)[r].microBatches);
                        QVERIFY(std::abs(ranks[r].state - b.at(name)[r].state) < 1e-9);
                    }
                }
            }
        }
    }
    void equalPoolsSplitFromOneGetTheSamePlan()
    {
        RandomProblems random(24, { 8, 30, false, true });
        int split = 0;
        for (int i = 0; i < 400; ++i) {
            ShareProblem problem = named(random.next());
            const auto one = fastShares(problem);
            RankKind &first = problem.kinds.front();
            if (first.ranks < 2)
                continue;
            RankKind second = first;
            second.ranks = first.ranks / 2;
            first.ranks -= second.ranks;
            problem.kinds.push_back(second);
            const auto two = fastShares(problem);
            QCOMPARE(one.has_value(), two.has_value());
            if (!one)
                continue;
            ++split;
            QCOMPARE(one->layerTime, two->layerTime);
            QCOMPARE(one->sumMicroBatch, two->sumMicroBatch);
            const auto a = byName(problem, *two);
            auto b = byName(problem, *one);
            for (const auto &[name, ranks] : a)
                for (std::size_t r = 0; r < ranks.size(); ++r)
                    QVERIFY(ranks[r].microBatch == b[name][r].microBatch
                        && ranks[r].microBatches == b[name][r].microBatches);
        }
        QVERIFY(split > 100);
    }
    void aBatchTwiceAsLargeTakesAtMostTwiceAndTheFurtherMicroBatches()
    {
        // With l twice as large at the same m: F doubles, R doubles and adds δ, collectives stay. T ≤ 2 · T + δ.
        RandomProblems random(25, { 4, 16, false, false });
        for (int i = 0; i < 200; ++i) {
            ShareProblem problem = random.next();
            const Timed once = outcome(problem);
            problem.batch *= 2;
            const Timed twice = outcome(problem);
            if (once)
                QVERIFY(twice && twice->first <= 2 * once->first + problem.overhead + 1e-9);
        }
    }
    void aGpuThatOnlySlowsIsIdleWhereItMayBeAndBetterLeftOut()
    {
        // A P40 ten times as slow: its one sample takes 2 · 197.7 + 298.9 ms; the others do 64 faster.
        ShareProblem problem = lab::problem();
        RankKind &slow = problem.kinds.back();
        slow.forward = lineTable(156.37, 41.3, 128);
        slow.backward = lineTable(280.1, 18.8, 128);
        const auto working = fastShares(problem);
        problem.mayIdle = true;
        const auto idle = fastShares(problem), left = fastShares(without(problem, 2, 1));
        QVERIFY(working && idle && left);
        QCOMPARE(working->layerTime, 2 * (156.37 + 41.3) + 280.1 + 18.8);
        QCOMPARE(idle->ranks.back().samples(), 0);
        QVERIFY(std::ranges::none_of(left->ranks, [](const RankShare &r) { return r.kind == 2; }));
        QVERIFY(left->layerTime < working->layerTime);
        // Idle it keeps states, whose room the others have for larger micro-batches; without it they hold them.
        QVERIFY(idle->ranks.back().stateShare > 0.2);
        QVERIFY(idle->layerTime < left->layerTime);
        problem.stateBytes = lab::kGiB;
        QCOMPARE(fastShares(problem)->layerTime, fastShares(without(problem, 2, 1))->layerTime);
    }
};

TRAINYARD_APPLESS_TEST(TestShareProperties)
#include "tst_share_properties.moc"
