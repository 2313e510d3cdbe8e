// SPDX-License-Identifier: GPL-3.0-or-later
// Loads of one backward against closed forms and against what must hold whatever the numbers are.
#include "core/iteration/offload/prefetch.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <random>

using namespace trainyard;

namespace {

constexpr double kGb = 1e9;

/// n equal layers of two modules each, of which the first `away` layers left; group: the layer, counted from the last.
std::vector<ReturningModule> layers(int n, int away, double gigabytes, double seconds)
{
    std::vector<ReturningModule> modules;
    for (int layer = 0; layer < n; ++layer)
        for (int half = 0; half < 2; ++half)
            modules.push_back({ Bytes { layer < away ? gigabytes / 2 * kGb : 0 }, Seconds { seconds / 2 }, n - layer });
    return modules;
}

} // namespace

class PrefetchTest : public QObject {
    Q_OBJECT
private slots:
    /// Layers that load within the backward of the layer before them wait for nothing, the first apart, which has the
    /// hand-over.
    void aLayerThatLoadsWithinTheOneBeforeItDoesNotWait()
    {
        const auto modules = layers(8, 6, 1, 0.2);
        QCOMPARE(loadStall(modules, { gbytesPerSecond(5.1), 1, Seconds { 1 } }).value, 0.0);
        QVERIFY(loadStall(modules, { gbytesPerSecond(4), 1, Seconds { 1 } }).value > 0);
    }

    /// Far ahead only the whole counts: the first away layer is due after the layers that stayed, the last one t_B - t
    /// later.
    void lookingFurtherAheadUsesTheTimeOfWhatStayed()
    {
        const auto modules = layers(8, 4, 1, 0.2); // 4 GB; 0.8 s until the first is due, 1.4 s until the last
        const LoadWay near { gbytesPerSecond(3), 1, Seconds { 0.01 } }, far { gbytesPerSecond(3), 8, Seconds { 0.01 } };
        QVERIFY(loadStall(modules, near).value > 0.1);
        QCOMPARE(loadStall(modules, far).value, 0.0);
        // 4 GB at 2 GB/s end 2 s after the hand-over began, the last layer's second half is due after 1.5 s
        const double stall = loadStall(modules, { gbytesPerSecond(2), 8, Seconds { 0.01 } }).value;
        QVERIFY(std::abs(stall - (2.0 - 0.01 - 1.5)) < 1e-9);
    }

    /// Nothing away, or no time to load: no wait. Never longer with a faster link or a further look, never below zero.
    void itFallsWithBandwidthAndLookAhead()
    {
        QCOMPARE(loadStall(layers(8, 0, 1, 0.2), { gbytesPerSecond(1), 1, {} }).value, 0.0);
        std::mt19937 random(7);
        for (int round = 0; round < 500; ++round) {
            std::vector<ReturningModule> modules;
            const int n = 2 + int(random() % 12);
            for (int i = 0; i < n; ++i)
                modules.push_back({ Bytes { random() % 3 == 0 ? 0 : double(random() % 1000) * 1e6 },
                    Seconds { double(1 + random() % 200) * 1e-3 }, (n - i) / 2 });
            double last = 1e300;
            for (const double rate : { 0.5, 1.0, 2.0, 8.0, 1e6 }) {
                double nearer = 1e300;
                for (const int ahead : { 1, 2, 4, 100 }) {
                    const double stall = loadStall(modules, { gbytesPerSecond(rate), ahead, Seconds { 0.005 } }).value;
                    QVERIFY(stall >= 0 && stall <= nearer + 1e-12);
                    nearer = stall;
                }
                QVERIFY(nearer <= last + 1e-12);
                last = nearer;
            }
            QVERIFY(last < 1e-6);
        }
    }
};

TRAINYARD_APPLESS_TEST(PrefetchTest)
#include "tst_prefetch.moc"
