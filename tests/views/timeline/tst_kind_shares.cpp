// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/sample_timelines.h"
#include "tests/support/test_program.h"
#include "views/timeline/kind_shares.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace trainyard;

namespace {

/// Stage with F [0, 3) B [3, 9) and, behind, P [2, 12); all of 20 columns of 1 ns.
Timeline layered()
{
    Timeline t;
    const auto add = [&](WorkKind kind, Nanoseconds from, Nanoseconds to) {
        t.kind.push_back(kind);
        t.start.push_back(from);
        t.end.push_back(to);
        t.microBatch.push_back(0);
    };
    add(WorkKind::Forward, 0, 3);
    add(WorkKind::Backward, 3, 9);
    add(WorkKind::Prefill, 2, 12);
    t.duration = 20;
    return t;
}

} // namespace

class KindSharesTest : public QObject {
    Q_OBJECT
private slots:
    void aColumnHasEveryKindInProportion()
    {
        const Timeline t = layered();
        KindShares shares;
        shares.begin({ 0, 20 }, 2); // columns [0, 10) and [10, 20)
        shares.add(t, 0, 2, {}, false);
        shares.nextLayer();
        QVERIFY(std::abs(shares.share(0, WorkKind::Forward) - 0.3) < 1e-6); // 3 of 10
        QVERIFY(std::abs(shares.share(0, WorkKind::Backward) - 0.6) < 1e-6); // 6 of 10
        QCOMPARE(shares.share(1, WorkKind::Backward), 0.0);
    }

    void whatLiesBehindGetsWhatIsLeft()
    {
        const Timeline t = layered();
        KindShares shares;
        shares.begin({ 0, 20 }, 2);
        shares.add(t, 0, 2, {}, false);
        shares.nextLayer();
        shares.add(t, 2, 3, {}, false);
        shares.nextLayer();
        // 8 of 10 wanted, 1 of 10 free; then 2 of 10
        QVERIFY(std::abs(shares.share(0, WorkKind::Prefill) - 0.1) < 1e-6);
        QVERIFY(std::abs(shares.share(1, WorkKind::Prefill) - 0.2) < 1e-6);
    }

    void pixelsStackFromTheBottomAndLeaveIdleOnTop()
    {
        const Timeline t = layered();
        KindShares shares;
        shares.begin({ 0, 20 }, 2);
        shares.add(t, 0, 2, {}, false);
        shares.nextLayer();
        KindShares::Colors colors;
        colors.vivid[std::size_t(WorkKind::Forward)] = 1;
        colors.vivid[std::size_t(WorkKind::Backward)] = 2;
        std::vector<QRgb> pixels(10, 0);
        shares.fill(0, pixels, colors);
        QCOMPARE(pixels, (std::vector<QRgb> { 1, 1, 1, 2, 2, 2, 2, 2, 2, 0 }));
    }

    void aColumnWhereLittleRanIsNotIdle()
    {
        // P takes 10 of 100: 0.4 of four pixels, and shows as one.
        const Timeline t = layered();
        KindShares shares;
        shares.begin({ 0, 200 }, 2);
        shares.add(t, 2, 3, {}, false);
        shares.nextLayer();
        KindShares::Colors colors;
        colors.vivid[std::size_t(WorkKind::Prefill)] = 3;
        std::vector<QRgb> pixels(4, 0);
        shares.fill(0, pixels, colors);
        QCOMPARE(pixels, (std::vector<QRgb> { 3, 0, 0, 0 }));
        shares.fill(1, pixels = std::vector<QRgb>(4, 0), colors); // nothing ran in [100, 200)
        QCOMPARE(pixels, std::vector<QRgb>(4, 0));
    }

    void theSharesOfAllColumnsAreTheTimeOfTheKinds()
    {
        const EvaluationPtr e = test::sampleEvaluation({ .stages = 4, .microBatches = 700 });
        const Timeline &t = e->timeline;
        for (const int columns : { 7, 100, 640 }) {
            KindShares shares;
            shares.begin({ 0, t.duration }, columns);
            shares.add(t, t.tracks[1].first, t.tracks[1].last, {}, false);
            shares.nextLayer();
            for (const WorkKind kind :
                { WorkKind::Forward, WorkKind::Backward, WorkKind::Recompute, WorkKind::Optimizer }) {
                double sum = 0;
                for (int c = 0; c < columns; ++c)
                    sum += shares.share(c, kind);
                Nanoseconds time = 0;
                for (std::uint32_t s = t.tracks[1].first; s < t.tracks[1].last; ++s)
                    time += t.kind[s] == kind ? t.end[s] - t.start[s] : 0;
                // Σ shares · column = time of the kind
                QVERIFY(std::abs(sum * double(t.duration) / columns - double(time)) < 1e-4 * double(t.duration));
            }
        }
    }

    void whatAFilterFadesHasItsOwnColour()
    {
        const Timeline t = layered();
        SpanFilter filter;
        filter.kinds = kAllKinds & ~(1u << int(WorkKind::Forward));
        KindShares shares;
        shares.begin({ 0, 20 }, 2);
        shares.add(t, 0, 2, filter, false);
        shares.nextLayer();
        KindShares::Colors colors;
        std::ranges::fill(colors.vivid, 7);
        std::ranges::fill(colors.faded, 9);
        std::vector<QRgb> pixels(10, 0);
        shares.fill(0, pixels, colors);
        QCOMPARE(std::ranges::count(pixels, QRgb(7)), 6);
        QCOMPARE(std::ranges::count(pixels, QRgb(9)), 3);
    }
};

TRAINYARD_GUILESS_TEST(KindSharesTest)
#include "tst_kind_shares.moc"
