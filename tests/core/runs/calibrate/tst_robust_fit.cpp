// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/calibrate/robust_fit.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <random>

using namespace trainyard;

namespace {

/// 5 % log-normal noise, and one in a hundred five times as long.
class Noise {
public:
    explicit Noise(unsigned seed)
        : m_random(seed)
    {
    }
    double operator()(double seconds)
    {
        const double wild = m_uniform(m_random) < 0.01 ? 5 : 1;
        return seconds * std::exp(m_normal(m_random)) * wild;
    }
    double uniform() { return m_uniform(m_random); }

private:
    std::mt19937 m_random;
    std::normal_distribution<double> m_normal { 0, 0.05 };
    std::uniform_real_distribution<double> m_uniform { 0, 1 };
};

bool near(double value, double expected, double share)
{
    return std::abs(value - expected) <= share * std::abs(expected);
}

} // namespace

class RobustFitTest : public QObject {
    Q_OBJECT
private slots:
    /// y = 3 a - 2 b + 7: without noise it comes back to rounding.
    void exactSamplesGiveTheirCoefficientsBack()
    {
        std::vector<double> rows, y;
        for (int i = 0; i < 20; ++i) {
            const double a = i, b = i * i % 7;
            rows.insert(rows.end(), { a, b, 1 });
            y.push_back(3 * a - 2 * b + 7);
        }
        const auto fit = robustFit(rows, y, 3);
        QVERIFY(fit);
        QVERIFY(near(fit->coefficients[0], 3, 1e-9) && near(fit->coefficients[1], -2, 1e-9)
            && near(fit->coefficients[2], 7, 1e-9));
        QVERIFY(fit->standardErrors[0] < 1e-6 && fit->r2 > 1 - 1e-9);
    }

    /// Where nothing is wild, biweights cost 5 % of efficiency: both answers lie within a fraction of their error.
    void withoutOutliersItIsNearLeastSquares()
    {
        std::vector<double> rows, y;
        double xy = 0, xx = 0;
        for (int i = 1; i <= 400; ++i) {
            const double x = i, value = 2 * x + std::sin(i * 12.9898) * 3;
            rows.push_back(x);
            y.push_back(value);
            xy += x * value, xx += x * x;
        }
        const auto fit = robustFit(rows, y, 1);
        QVERIFY(fit);
        QVERIFY(std::abs(fit->coefficients[0] - xy / xx) < fit->standardErrors[0]);
    }

    void aThirdOfWildSamplesDoesNotMoveIt()
    {
        std::vector<double> rows, y;
        for (int i = 0; i < 90; ++i) {
            rows.insert(rows.end(), { 1, double(i) });
            y.push_back(5 + 2.0 * i + (i % 3 == 0 ? 1000 : std::sin(i) * 0.01));
        }
        const auto fit = robustFit(rows, y, 2);
        QVERIFY(fit);
        QCOMPARE(fit->outliers, 30);
        QVERIFY(near(fit->coefficients[1], 2, 1e-3) && near(fit->coefficients[0], 5, 1e-2));
    }

    void whatCannotBeToldApartIsRefused()
    {
        const std::vector<double> twins { 1, 2, 2, 4, 3, 6, 4, 8 }, y { 1, 2, 3, 4 };
        QVERIFY(!robustFit(twins, y, 2));
        QVERIFY(!robustFit(std::vector<double> { 1, 2 }, std::vector<double> { 1, 2 }, 1 + 1));
        QVERIFY(!robustFit(std::vector<double> { 1, NAN, 1 }, std::vector<double> { 1, 2, 3 }, 1));
    }

    /// Whoever has asked for an end gets no half iterated line.
    void aStoppedFitIsNone()
    {
        std::stop_source stop;
        const std::vector<double> rows { 1, 2, 3, 4 }, y { 1, 2, 3, 4.1 };
        QVERIFY(robustFit(rows, y, 1, {}, stop.get_token()) && fitRatio(rows, y, stop.get_token()));
        stop.request_stop();
        for (const auto &code : { robustFit(rows, y, 1, {}, stop.get_token()).error().code,
                 fitRatio(rows, y, stop.get_token()).error().code })
            QCOMPARE(code, ErrorCode::Cancelled);
    }

    /// t = α + n / B, 1 KiB to 1 GiB: within 2 %, and the truth lies within 1.96 standard errors 95 ± 3 % of the time.
    void latencyAndBandwidthComeBackAndTheirErrorsAreHonest()
    {
        constexpr double latency = 20e-6, bandwidth = 45e9;
        int latencyCovered = 0, bandwidthCovered = 0;
        constexpr int kDraws = 600;
        for (int draw = 0; draw < kDraws; ++draw) {
            Noise noise { unsigned(draw) };
            std::vector<double> bytes, seconds;
            for (int i = 0; i < 210; ++i) {
                bytes.push_back(std::exp2(10 + i % 21));
                seconds.push_back(noise(latency + bytes.back() / bandwidth));
            }
            const auto line = fitAlphaBeta(bytes, seconds);
            QVERIFY(line);
            QVERIFY2(near(line->latency, latency, 0.03) && near(line->bytesPerSecond, bandwidth, 0.03),
                qPrintable(QString("%1 us, %2 GB/s").arg(line->latency * 1e6).arg(line->bytesPerSecond / 1e9)));
            latencyCovered += std::abs(line->latency - latency) < 1.96 * line->latencyError;
            bandwidthCovered += std::abs(line->bytesPerSecond - bandwidth) < 1.96 * line->bandwidthError;
        }
        const auto isHonest = [&](int covered) { return std::abs(double(covered) / kDraws - 0.95) <= 0.03; };
        QVERIFY2(isHonest(latencyCovered), qPrintable(QString::number(latencyCovered)));
        QVERIFY2(isHonest(bandwidthCovered), qPrintable(QString::number(bandwidthCovered)));
    }

    void sizesThatAreAlikeTellNoBandwidth()
    {
        const std::vector<double> bytes(8, 4096), seconds { 1e-5, 1.1e-5, 1e-5, 0.9e-5, 1e-5, 1e-5, 1.05e-5, 0.95e-5 };
        const auto line = fitAlphaBeta(bytes, seconds);
        QVERIFY(line);
        QCOMPARE(line->bytesPerSecond, 0.0);
        QVERIFY(near(line->latency, 1e-5, 0.02));
    }

    /// A line through 0 has no negative latency: what noise makes negative is taken as none.
    void latencyIsNeverNegative()
    {
        for (unsigned seed = 0; seed < 200; ++seed) {
            Noise noise(seed);
            std::vector<double> bytes, seconds;
            for (int i = 0; i < 40; ++i) {
                bytes.push_back(1e8 * (1 + i));
                seconds.push_back(noise(bytes.back() / 1e10));
            }
            const auto line = fitAlphaBeta(bytes, seconds);
            QVERIFY(line && line->latency >= 0 && near(line->bytesPerSecond, 1e10, 0.1));
        }
    }

    void aRatioAndItsErrorAreHonest()
    {
        int covered = 0;
        constexpr int kDraws = 1000;
        for (int draw = 0; draw < kDraws; ++draw) {
            Noise noise { unsigned(draw) + 7000 };
            std::vector<double> modelled, measured;
            for (int i = 0; i < 120; ++i) {
                modelled.push_back(1e-4 * (1 + noise.uniform()));
                measured.push_back(noise(1.13 * modelled.back()));
            }
            const auto ratio = fitRatio(modelled, measured);
            QVERIFY(ratio && near(ratio->factor, 1.13, 0.02));
            covered += std::abs(ratio->factor - 1.13) < 1.96 * ratio->standardError;
        }
        QVERIFY2(std::abs(double(covered) / kDraws - 0.95) <= 0.03, qPrintable(QString::number(covered)));
    }
};

TRAINYARD_APPLESS_TEST(RobustFitTest)
#include "tst_robust_fit.moc"
