// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prefill/trace_file.h"

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <fstream>

using namespace trainyard;

namespace {

constexpr Nanoseconds kSecond = 1'000'000'000;

BubbleFill filling(Arrivals kind, double rate)
{
    BubbleFill fill;
    fill.enabled = true;
    fill.arrivals = kind;
    fill.requestsPerSecond = rate;
    return fill;
}

/// Variance over mean of the counts in windows of one second: 1 for Poisson.
double dispersion(const std::vector<PrefillRequest> &requests, int seconds)
{
    std::vector<double> counts(std::size_t(seconds), 0);
    for (const PrefillRequest &r : requests)
        ++counts[std::size_t(r.arrival / kSecond)];
    const double mean = double(requests.size()) / seconds;
    double sum = 0;
    for (const double c : counts)
        sum += (c - mean) * (c - mean);
    return sum / seconds / mean;
}

} // namespace

class TestArrivals : public QObject {
    Q_OBJECT

private slots:
    void poissonKeepsItsRateAndVariance()
    {
        // n requests in the mean, standard deviation sqrt(n); counts have variance = mean.
        const auto requests = arrivals(filling(Arrivals::Poisson, 50), 2000 * kSecond, {});
        QVERIFY(std::abs(double(requests.size()) - 1e5) < 4 * std::sqrt(1e5));
        QVERIFY(std::abs(dispersion(requests, 2000) - 1) < 0.15);
        QVERIFY(std::ranges::is_sorted(requests, {}, &PrefillRequest::arrival));
        QVERIFY(requests.front().arrival >= 0 && requests.back().arrival < 2000 * kSecond);
    }

    void constantRequestsAreEquallyFarApart()
    {
        const auto requests = arrivals(filling(Arrivals::Constant, 4), 10 * kSecond, {});
        QCOMPARE(requests.size(), std::size_t(40));
        for (std::size_t i = 0; i < requests.size(); ++i)
            QCOMPARE(requests[i].arrival, Nanoseconds(i) * kSecond / 4);
    }

    void burstsKeepTheMeanRateAndSpreadMore()
    {
        // A burst of B requests in the mean, of 20: variance of the count of bursts adds to that inside them.
        BubbleFill fill = filling(Arrivals::Bursty, 50);
        fill.burstiness = 5;
        const auto requests = arrivals(fill, 4000 * kSecond, {});
        const double deviation = std::sqrt(2e5 * 2 * kRequestsOfBurst);
        QVERIFY2(std::abs(double(requests.size()) - 2e5) < 4 * deviation, qPrintable(QString::number(requests.size())));
        QVERIFY(dispersion(requests, 4000) > 5);
        QVERIFY(std::ranges::is_sorted(requests, {}, &PrefillRequest::arrival));
    }

    void theSeedDecidesAndNothingElse()
    {
        BubbleFill fill = filling(Arrivals::Poisson, 10);
        const auto first = arrivals(fill, 100 * kSecond, {});
        QCOMPARE(arrivals(fill, 100 * kSecond, {}), first);
        fill.seed = 2;
        QVERIFY(arrivals(fill, 100 * kSecond, {}) != first);
    }

    void aTraceCountsFromTheStartOfTheIteration()
    {
        const std::vector<PrefillRequest> trace{{0, 10}, {kSecond, 20}, {3 * kSecond, 30}};
        QCOMPARE(arrivals(filling(Arrivals::Trace, 99), 3 * kSecond, trace), (std::vector<PrefillRequest>{{0, 10}, {kSecond, 20}}));
    }

    void noRateBringsNoRequest() { QVERIFY(arrivals(filling(Arrivals::Poisson, 0), kSecond, {}).empty()); }

    void aTraceIsReadInOrderOfTime()
    {
        const auto trace = parseRequestTrace("time_s,prompt_tokens\r\n2.5,100\n\n0.25 , 7\n", "t.csv");
        QVERIFY(trace);
        QCOMPARE(*trace, (std::vector<PrefillRequest>{{kSecond / 4, 7}, {5 * kSecond / 2, 100}}));
    }

    void everyFaultOfATraceIsNamedWithItsLine()
    {
        const auto trace = parseRequestTrace("time_s,prompt_tokens\n-1,5\n1,zero\n2\n3,0\nnan,4\n4,5\n", "t.csv");
        QVERIFY(!trace);
        QCOMPARE(trace.error().size(), std::size_t(5));
        for (int i = 0; i < 5; ++i)
            QCOMPARE(trace.error()[std::size_t(i)].where, "t.csv:" + std::to_string(i + 2));
        QVERIFY(trace.error()[1].what.find("zero") != std::string::npos);
        QCOMPARE(parseRequestTrace("a,b\n1,2\n", "t.csv").error().front().where, std::string("t.csv:1"));
        QVERIFY(!parseRequestTrace("", "t.csv"));
    }

    void aFileThatIsNotThereSaysSo()
    {
        const auto trace = readRequestTrace("/no/such/file.csv");
        QVERIFY(!trace);
        QCOMPARE(trace.error().front().code, ErrorCode::CannotRead);
        QTemporaryDir folder;
        const std::string path = folder.filePath("t.csv").toStdString();
        std::ofstream(path) << "time_s,prompt_tokens\n1,2\n";
        QCOMPARE(readRequestTrace(path)->size(), std::size_t(1));
    }
};

QTEST_APPLESS_MAIN(TestArrivals)
#include "tst_arrivals.moc"
