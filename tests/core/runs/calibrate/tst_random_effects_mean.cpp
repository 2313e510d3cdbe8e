// SPDX-License-Identifier: GPL-3.0-or-later
// The mean of ranks whose errors are known, where they differ by no more than those and where they do.
#include "core/runs/calibrate/random_effects_mean.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <random>

using namespace trainyard;

namespace {

/// Of 2,000 draws of n ranks around 1 the share whose mean lies within 1.96 errors.
double covered(int ranks, double error, double between)
{
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    constexpr int kDraws = 2000;
    int inside = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
        std::vector<RankValue> values;
        for (int i = 0; i < ranks; ++i)
            values.push_back({ 1 + between * normal(random) + error * normal(random), error });
        const RankValue mean = randomEffectsMean(values);
        inside += std::abs(mean.value - 1) < 1.96 * mean.error;
    }
    return double(inside) / kDraws;
}

} // namespace

class PooledTest : public QObject {
    Q_OBJECT
private slots:
    /// Σ w x / Σ w with w = 1 / σ², error 1 / √Σ w, where all are the same.
    void equalOnesAreWeighedByTheirErrors()
    {
        const RankValue mean = randomEffectsMean({ { 2, 0.1 }, { 2, 0.2 } });
        QCOMPARE(mean.value, 2.0);
        QVERIFY(std::abs(mean.error - 1 / std::sqrt(100.0 + 25)) < 1e-12);
    }

    void withoutAnErrorItIsThePlainMean()
    {
        const RankValue mean = randomEffectsMean({ { 1, 0.1 }, { 3, 0 } });
        QCOMPARE(mean.value, 2.0);
        QCOMPARE(mean.error, 0.0);
        QCOMPARE(randomEffectsMean({}).error, 0.0);
    }

    /// By moments: Q = Σ (x - x̄)² / σ² = 200, τ² = (Q - 1) / (Σ w - Σ w² / Σ w) = 1.99, error √((τ² + σ²) / 2).
    void whatDiffersWidensTheError()
    {
        const RankValue mean = randomEffectsMean({ { 0, 0.1 }, { 2, 0.1 } });
        QCOMPARE(mean.value, 1.0);
        QVERIFY2(std::abs(mean.error - 1) < 1e-12, qPrintable(QString::number(mean.error)));
    }

    void errorsCoverTheTruthWhetherRanksDifferOrNot()
    {
        QVERIFY(std::abs(covered(16, 0.01, 0) - 0.95) <= 0.03);
        QVERIFY(std::abs(covered(16, 0.001, 0.02) - 0.95) <= 0.03);
    }
};

TRAINYARD_APPLESS_TEST(PooledTest)
#include "tst_random_effects_mean.moc"
