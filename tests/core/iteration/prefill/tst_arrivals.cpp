// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/trace_file.h"
#include "tests/support/test_program.h"

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
        const std::vector<PrefillRequest> trace { { 0, 10 }, { kSecond, 20 }, { 3 * kSecond, 30 } };
        QCOMPARE(arrivals(filling(Arrivals::Trace, 99), 3 * kSecond, trace),
            (std::vector<PrefillRequest> { { 0, 10 }, { kSecond, 20 } }));
    }

    void ofTooManyAMillionIsSpreadOverTheIteration_data()
    {
        QTest::addColumn<int>("kind");
        QTest::newRow("poisson") << int(Arrivals::Poisson);
        QTest::newRow("constant") << int(Arrivals::Constant);
        QTest::newRow("bursty") << int(Arrivals::Bursty);
    }

    void ofTooManyAMillionIsSpreadOverTheIteration()
    {
        // rate min(r, 10^6/T); all r T of them count.
        QFETCH(int, kind);
        const BubbleFill fill = filling(Arrivals(kind), 1e9);
        const auto requests = arrivals(fill, 2 * kSecond, {});
        QVERIFY2(std::abs(double(requests.size()) - kMostPrefillRequests) < 0.03 * kMostPrefillRequests,
            qPrintable(QString::number(requests.size())));
        const auto late = std::ranges::count_if(requests, [](const PrefillRequest &r) { return r.arrival >= kSecond; });
        QVERIFY(std::abs(double(late) / double(requests.size()) - 0.5) < 0.03);
        QCOMPARE(requestsOfIteration(fill, 2 * kSecond, {}, requests.size()), std::int64_t(2e9));
    }

    void fewerCountAsTheyCome()
    {
        const BubbleFill fill = filling(Arrivals::Poisson, 50);
        const auto requests = arrivals(fill, 20 * kSecond, {});
        QCOMPARE(requestsOfIteration(fill, 20 * kSecond, {}, requests.size()), std::int64_t(requests.size()));
    }

    void aTraceIsNoExceptionFromTheLimit()
    {
        // 2.5 million inside the iteration and one after it: every 2.5th is placed.
        std::vector<PrefillRequest> trace;
        for (int i = 0; i < 2'500'000; ++i)
            trace.push_back({ i, 1 });
        trace.push_back({ kSecond, 1 });
        const BubbleFill fill = filling(Arrivals::Trace, 0);
        const auto requests = arrivals(fill, kSecond, trace);
        QVERIFY(std::abs(double(requests.size()) - kMostPrefillRequests) <= 1);
        QVERIFY(std::abs(double(requests[requests.size() / 2].arrival) - 1.25e6) < 10);
        QCOMPARE(requestsOfIteration(fill, kSecond, trace, requests.size()), std::int64_t(2'500'000));
        trace.resize(1000);
        QCOMPARE(arrivals(fill, kSecond, trace), trace);
    }

    void noRateBringsNoRequest() { QVERIFY(arrivals(filling(Arrivals::Poisson, 0), kSecond, {}).empty()); }

    void aTraceIsReadInOrderOfTime()
    {
        const auto trace = parseRequestTrace("time_s,prompt_tokens\r\n2.5,100\n\n0.25 , 7\n", "t.csv");
        QVERIFY(trace);
        QCOMPARE(*trace, (std::vector<PrefillRequest> { { kSecond / 4, 7 }, { 5 * kSecond / 2, 100 } }));
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

    void whatIsNoTextIsToldInOneLine()
    {
        std::string bytes = "\x7f"
                            "ELF";
        for (int i = 0; i < 2000; ++i)
            bytes += char(i % 251);
        const auto binary = parseRequestTrace(bytes, "t.csv");
        QVERIFY(!binary);
        QCOMPARE(binary.error().size(), std::size_t(1));
        QCOMPARE(binary.error().front().what, std::string("this is not text"));
        // Text in another encoding, and long lines: printable and short.
        const auto odd =
            parseRequestTrace("time_s,prompt_tokens\n\xe9t\xe9,5\n" + std::string(5000, 'x') + ",1\n", "t.csv");
        QCOMPARE(odd.error().size(), std::size_t(2));
        QCOMPARE(odd.error()[0].what, std::string("time_s is \"\\xe9t\\xe9\""));
        QVERIFY(odd.error()[1].what.size() < 80);
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

TRAINYARD_APPLESS_TEST(TestArrivals)
#include "tst_arrivals.moc"
