// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/offload/activation_policies.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;

namespace {

/// A GPT layer of MEMO's accounting: 16 bsh elements of 2 bytes; input and attention output 1 each.
MemoLayer gptLayer(double sequence, double hidden, double flops)
{
    const double bsh = sequence * hidden;
    const double work = 24 * sequence * hidden * hidden + 4 * sequence * sequence * hidden;
    return { Bytes { 2 * bsh }, Bytes { 2 * bsh }, Bytes { 28 * bsh }, Seconds { work / flops } };
}

std::vector<Block> equalBlocks(int count, double bytes = 1e9, double forward = 0.05)
{
    return std::vector<Block>(std::size_t(count),
        Block { Bytes { bytes }, Bytes { bytes / 16 }, Seconds { forward }, Seconds { 2 * forward } });
}

double total(const std::vector<Block> &blocks)
{
    double seconds = 0;
    for (const Block &b : blocks)
        seconds += (b.forward + b.backward).value;
    return seconds;
}

} // namespace

class ActivationPoliciesTest : public QObject {
    Q_OBJECT
private slots:
    /// Skeletal activations grow with s, the forward with s^2: alpha rises with the sequence until everything leaves.
    void memoSwapsMoreOfALongerSequence()
    {
        double last = -1;
        for (const double sequence : { 16e3, 64e3, 192e3, 576e3, 2e6 }) {
            const double alpha =
                memoTokenShare(gptLayer(sequence, 4096, 150e12), 32, gbytesPerSecond(16), Bytes { 1e15 });
            QVERIFY(alpha >= last);
            QVERIFY(alpha >= 0 && alpha <= 1);
            last = alpha;
        }
        QCOMPARE(last, 1.0);
    }

    /// Everything is hidden from the length on where 32 b s h / B = (24 s h^2 + 4 s^2 h) / F, so s = 8 F / B - 6 h.
    void memoHidesEverythingFromTheLengthThatItsFormGives()
    {
        const double flops = 156e12, link = 12e9, hidden = 4096;
        const double crossing = 8 * flops / link - 6 * hidden;
        QVERIFY(crossing > 1e4);
        QVERIFY(
            memoTokenShare(gptLayer(0.99 * crossing, hidden, flops), 32, BytesPerSecond { link }, Bytes { 1e15 }) < 1);
        QCOMPARE(
            memoTokenShare(gptLayer(1.01 * crossing, hidden, flops), 32, BytesPerSecond { link }, Bytes { 1e15 }), 1.0);
    }

    /// (n - 2) (S_in + S_attn + alpha S_oth) <= M_host.
    void memoStaysWithinHostMemory()
    {
        const MemoLayer layer = gptLayer(512e3, 4096, 150e12);
        const Bytes host { 2e11 };
        const double alpha = memoTokenShare(layer, 32, gbytesPerSecond(64), host);
        QVERIFY(alpha < 1);
        QVERIFY(
            30 * (layer.input + layer.attention + alpha * layer.others).value <= host.value * 1.000001 || alpha == 0);
    }

    void withRoomForAllNothingMoves()
    {
        const auto blocks = equalBlocks(8);
        const BlockLimits limits { Bytes { 9e9 }, gbytesPerSecond(20), gbytesPerSecond(20) };
        for (const BlockPlan &plan : { karma(blocks, limits), proTrain(blocks, limits) }) {
            QVERIFY(std::ranges::all_of(plan.fates, [](BlockFate f) { return f == BlockFate::Keep; }));
            QCOMPARE(plan.time.value, total(blocks));
            QCOMPARE(plan.swapped.value, 0.0);
        }
    }

    /// An infinitely fast link hides every swap: no stall, no recomputation.
    void aFastLinkSwapsWithoutWaiting()
    {
        const auto blocks = equalBlocks(8);
        const BlockPlan plan = karma(blocks, { Bytes { 4e9 }, gbytesPerSecond(1e6), gbytesPerSecond(1e6) });
        QVERIFY(plan.stall.value < 1e-4);
        QCOMPARE(plan.recomputed.value, 0.0);
        QVERIFY(plan.peak <= Bytes { 4e9 });
    }

    /// t_recompute < exposed swap-in: a slow link makes blocks recompute instead.
    void aSlowLinkRecomputes()
    {
        const auto blocks = equalBlocks(8);
        const BlockLimits limits { Bytes { 4e9 }, gbytesPerSecond(1), gbytesPerSecond(1) };
        const BlockPlan plan = karma(blocks, limits);
        QVERIFY(plan.recomputed.value > 0);
        std::vector<BlockFate> swaps = plan.fates;
        std::ranges::replace(swaps, BlockFate::Recompute, BlockFate::Swap);
        QVERIFY(plan.time < playBlocks(blocks, swaps, limits).time);
    }

    /// ProTrain searches all of (n_swap, n_checkpoint): no such pair inside the room is faster. KARMA's order (swaps
    /// may follow recomputations) is a rule, not a search; both stay within the room where any pair does.
    void proTrainIsTheFastestOfItsForm()
    {
        const auto blocks = equalBlocks(6);
        for (const double room : { 1.5e9, 2.5e9, 3.5e9, 5e9 }) {
            for (const double rate : { 2.0, 10.0, 30.0 }) {
                const BlockLimits limits { Bytes { room }, gbytesPerSecond(rate), gbytesPerSecond(rate) };
                const BlockPlan chosen = proTrain(blocks, limits);
                bool anyFits = false;
                for (int swap = 0; swap <= 6; ++swap) {
                    for (int again = 0; swap + again <= 6; ++again) {
                        std::vector<BlockFate> fates(6, BlockFate::Keep);
                        for (int i = 0; i < swap + again; ++i)
                            fates[std::size_t(i)] = i < swap ? BlockFate::Swap : BlockFate::Recompute;
                        const BlockPlan other = playBlocks(blocks, fates, limits);
                        anyFits |= other.peak <= limits.room;
                        QVERIFY(other.peak > limits.room || chosen.time <= other.time);
                    }
                }
                QVERIFY(!anyFits || chosen.peak <= limits.room);
            }
        }
    }

    /// The fates that are tried do not depend on the link, and the time of each falls with it: so does that of the
    /// fastest. More room only adds to them.
    void timeFallsWithTheLinkAndWithRoom()
    {
        for (const bool isKarma : { true, false }) {
            const auto timeOf = [&](double room, double rate, double waiting) {
                BlockLimits limits { Bytes { room }, gbytesPerSecond(rate), gbytesPerSecond(rate) };
                limits.waiting = waiting;
                const BlockPlan plan = isKarma ? karma(equalBlocks(9), limits) : proTrain(equalBlocks(9), limits);
                return plan.peak <= limits.room ? plan.time.value : 1e18;
            };
            for (const double waiting : { 0.0, 3.0 }) {
                for (double room = 1.5e9; room < 40e9; room *= 1.3) {
                    double last = 1e19;
                    for (const double rate : { 0.0, 0.5, 2.0, 5.0, 8.0, 11.0, 15.0, 20.0, 40.0, 200.0 }) {
                        const double time = timeOf(room, rate, waiting);
                        QVERIFY(time <= last * (1 + 1e-12) || last > 1e17);
                        QVERIFY(time <= timeOf(room / 1.3, rate, waiting) * (1 + 1e-12));
                        last = time;
                    }
                }
            }
        }
    }

    /// Nothing can be swapped: what has no room is recomputed, and the peak is inputs and one block.
    void withoutALinkBlocksAreComputedAgain()
    {
        for (const BlockPlan &plan :
            { karma(equalBlocks(8), { Bytes { 4e9 }, {}, {} }), proTrain(equalBlocks(8), { Bytes { 4e9 }, {}, {} }) }) {
            QCOMPARE(std::ranges::count(plan.fates, BlockFate::Swap), std::ptrdiff_t(0));
            QVERIFY(plan.recomputed.value > 0 && plan.stall.value == 0);
            QVERIFY(plan.peak <= Bytes { 4e9 });
        }
    }

    /// peak = waiting sum kept + max(kept before + moving + A + beside, kept + moving + turn), and one block more that
    /// moves for the others.
    void microBatchesInFlightShareTheRoom()
    {
        const auto blocks = equalBlocks(4);
        const std::vector<BlockFate> fates { BlockFate::Swap, BlockFate::Recompute, BlockFate::Keep, BlockFate::Keep };
        BlockLimits limits { Bytes { 1e12 }, gbytesPerSecond(20), gbytesPerSecond(20) };
        const double kept = 2e9 + 1e9 / 16;
        QCOMPARE(playBlocks(blocks, fates, limits).peak.value, 1e9 + kept);
        limits.waiting = 3;
        QCOMPARE(playBlocks(blocks, fates, limits).peak.value, 1e9 + kept + 3 * kept + 1e9);
        limits.workspace = Bytes { 3e8 };
        QCOMPARE(playBlocks(blocks, fates, limits).peak.value, 1e9 + kept + 3 * kept + 1e9 + 3e8);
        limits.turn = Bytes { 8e8 };
        QCOMPARE(playBlocks(blocks, fates, limits).peak.value, 1e9 + kept + 3 * kept + 1e9 + 8e8);
    }

    /// Time is never below the blocks' own, and grows where the link slows down.
    void timeFallsWithBandwidth()
    {
        const auto blocks = equalBlocks(8);
        std::vector<BlockFate> fates(8, BlockFate::Swap);
        fates[7] = BlockFate::Keep;
        double last = 1e18;
        for (const double rate : { 0.5, 2.0, 8.0, 32.0, 1e6 }) {
            const BlockPlan plan =
                playBlocks(blocks, fates, { Bytes { 1e12 }, gbytesPerSecond(rate), gbytesPerSecond(rate) });
            QVERIFY(plan.time.value <= last);
            QVERIFY(plan.time.value >= total(blocks) - 1e-12);
            QCOMPARE(plan.swapped.value, 7e9);
            last = plan.time.value;
        }
    }
};

TRAINYARD_APPLESS_TEST(ActivationPoliciesTest)
#include "tst_activation_policies.moc"
