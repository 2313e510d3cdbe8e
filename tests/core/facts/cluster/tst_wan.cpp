// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/cluster/wan.h"
#include "tests/support/test_program.h"

#include "core/facts/hardware/network_spec.h"
#include "core/iteration/placement/resolve.h"

#include <QTest>

#include "tests/support/plans.h"

using namespace trainyard;

class TstWan : public QObject {
    Q_OBJECT

private slots:
    // BW(n) = min(cap, n W / RTT), W = 1.5 MB. Rates of single connections: recalled from Atlas, arXiv 2411.14458.
    void oneConnectionReachesTheRatesThatWeRecall_data()
    {
        QTest::addColumn<double>("rttMs");
        QTest::addColumn<double>("mbps");
        QTest::newRow("10 ms") << 10.0 << 1220.0;
        QTest::newRow("20 ms") << 20.0 << 600.0;
        QTest::newRow("30 ms") << 30.0 << 396.0;
        QTest::newRow("40 ms") << 40.0 << 293.0;
    }

    void oneConnectionReachesTheRatesThatWeRecall()
    {
        QFETCH(double, rttMs);
        QFETCH(double, mbps);
        const double reached = tcpThroughput(1, milliseconds(rttMs), megabytes(1.5), gbitsPerSecond(5)).value * 8 / 1e6;
        QVERIFY2(std::abs(reached / mbps - 1) < 0.03, std::to_string(reached).c_str());
    }

    void seventeenConnectionsFillAPairAtFortyMilliseconds()
    {
        // ceil(5 Gbit/s * 0.04 s / 12 Mbit) = ceil(16.67)
        QCOMPARE(connectionsToFill(milliseconds(40), megabytes(1.5), gbitsPerSecond(5)), 17);
        QCOMPARE(tcpThroughput(17, milliseconds(40), megabytes(1.5), gbitsPerSecond(5)).value, 5e9 / 8);
        QVERIFY(tcpThroughput(16, milliseconds(40), megabytes(1.5), gbitsPerSecond(5)).value < 5e9 / 8);
    }

    void aWholeQuotientNeedsNoConnectionMore()
    {
        // 5 Gbit/s * 24 ms / 12 Mbit = 10 exactly; 6 Gbit/s * 0.3 s / 12 Mbit = 150
        QCOMPARE(connectionsToFill(milliseconds(24), megabytes(1.5), gbitsPerSecond(5)), 10);
        QCOMPARE(connectionsToFill(milliseconds(300), megabytes(1.5), gbitsPerSecond(6)), 150);
    }

    void asManyConnectionsAsFillThePairDoFillIt()
    {
        for (double rtt = 0; rtt < 400; rtt += 7.3) {
            const int n = connectionsToFill(milliseconds(rtt), megabytes(1.4), gbitsPerSecond(7));
            const auto reached = [&](double count) {
                return tcpThroughput(count, milliseconds(rtt), megabytes(1.4), gbitsPerSecond(7)).value;
            };
            QVERIFY(std::abs(reached(n) / (7e9 / 8) - 1) < 1e-9);
            if (n > 1)
                QVERIFY(reached(n - 1) < 7e9 / 8);
        }
    }

    void moreConnectionsAreNeverSlowerAndALongerWayNeverFaster()
    {
        for (int n = 1; n < 40; ++n) {
            for (double rtt = 1; rtt < 200; rtt *= 1.7) {
                const auto at = [](double count, double ms) {
                    return tcpThroughput(count, milliseconds(ms), megabytes(1.5), gbitsPerSecond(5)).value;
                };
                QVERIFY(at(n + 1, rtt) >= at(n, rtt));
                QVERIFY(at(n, rtt * 1.1) <= at(n, rtt));
            }
        }
    }

    void withoutAWayThereIsNoWindowLimit()
    {
        QCOMPARE(tcpThroughput(1, Seconds { 0 }, megabytes(1.5), gbitsPerSecond(5)).value, 5e9 / 8);
        QCOMPARE(connectionsToFill(Seconds { 0 }, megabytes(1.5), gbitsPerSecond(5)), 1);
    }

    void aLinkUsesItsOwnFigures()
    {
        WanLink link;
        link.rttMs = 60;
        link.nodePairGbps = 4;
        link.tcpWindowMb = 3;
        WanStrategy strategy;
        QCOMPARE(transportOf(link, strategy, builtinCatalogue()).connections, 10); // 4e9 * 0.06 / 24e6
        strategy.tcpConnections = 3;
        QCOMPARE(transportOf(link, strategy, builtinCatalogue()).connections, 3);
        QCOMPARE(transportOf(link, strategy, builtinCatalogue()).rate.value * 8, 3 * 24e6 / 0.06);
    }

    // n W / RTT with the cloud's window. AWS: iperf3 -P32 from Oregon; GCP: one stream (cirquit/hivemind-multi-cloud).
    void aCloudsWindowReachesWhatWasMeasuredThere_data()
    {
        QTest::addColumn<QString>("cloud");
        QTest::addColumn<int>("connections");
        QTest::addColumn<double>("rttMs");
        QTest::addColumn<double>("gbps");
        QTest::newRow("Tokyo") << "aws" << 32 << 96.0 << 3.71;
        QTest::newRow("Seoul") << "aws" << 32 << 124.0 << 2.82;
        QTest::newRow("London") << "aws" << 32 << 136.0 << 2.64;
        QTest::newRow("Sydney") << "aws" << 32 << 139.0 << 2.50;
        QTest::newRow("Frankfurt") << "aws" << 32 << 143.0 << 2.40;
        QTest::newRow("Singapore") << "aws" << 32 << 163.0 << 2.05;
        QTest::newRow("GCP 103 ms") << "gcp" << 1 << 103.0 << 0.21;
        QTest::newRow("GCP 157 ms") << "gcp" << 1 << 157.0 << 0.13;
        QTest::newRow("GCP 253 ms") << "gcp" << 1 << 253.0 << 0.08;
    }

    void aCloudsWindowReachesWhatWasMeasuredThere()
    {
        QFETCH(QString, cloud);
        QFETCH(int, connections);
        QFETCH(double, rttMs);
        QFETCH(double, gbps);
        WanLink link;
        link.rttMs = rttMs;
        link.cloud = cloud.toStdString();
        WanStrategy strategy;
        strategy.tcpConnections = connections;
        const double reached = transportOf(link, strategy, builtinCatalogue()).rate.value * 8e-9;
        QVERIFY2(std::abs(reached / gbps - 1) < 0.05, std::to_string(reached).c_str());
        if (cloud == "aws") { // the windows that the rows imply one by one
            const double implied = gbps * 1e9 / 8 * rttMs * 1e-3 / connections / 1e6;
            QVERIFY(implied > 1.30 && implied < 1.41);
        }
    }

    void nearbyRegionsAreBoundByTheProviderInstead()
    {
        // Virginia 67 ms 4.56 Gbps, Ohio 49 ms 4.52: 32 windows would be more than that.
        for (const auto &[rttMs, gbps] : { std::pair { 67.0, 4.56 }, std::pair { 49.0, 4.52 } }) {
            WanLink link;
            link.rttMs = rttMs;
            link.cloud = "aws";
            link.nodePairGbps = gbps;
            WanStrategy strategy;
            strategy.tcpConnections = 32;
            QCOMPARE(transportOf(link, strategy, builtinCatalogue()).rate.value, gbps * 1e9 / 8);
        }
    }

    void anUnknownCloudIsAnErrorThatNamesTheNearest()
    {
        Plan plan = test::threeSites(2);
        plan.cluster.wanLinks[1].cloud = "azur";
        const auto workload = resolve(std::make_shared<const Plan>(plan), builtinCatalogue());
        QVERIFY(!workload);
        QCOMPARE(workload.error().front().where, std::string("cluster.wan_links[1].cloud"));
        QCOMPARE(workload.error().front().right, std::string("\"azure\"?"));
    }

    // Mean window in segments, tables 1 (RTT 0.1 s) and 2 (RTT 0.01 s) of RFC 9438, C = 0.4.
    void lossesLeaveTheWindowOfTheRfc_data()
    {
        QTest::addColumn<double>("rttMs");
        QTest::addColumn<double>("loss");
        QTest::addColumn<double>("segments");
        QTest::newRow("100 ms, 1e-2") << 100.0 << 1e-2 << 12.0;
        QTest::newRow("100 ms, 1e-3") << 100.0 << 1e-3 << 38.0;
        QTest::newRow("100 ms, 1e-4") << 100.0 << 1e-4 << 187.0;
        QTest::newRow("100 ms, 1e-5") << 100.0 << 1e-5 << 1054.0;
        QTest::newRow("100 ms, 1e-6") << 100.0 << 1e-6 << 5926.0;
        QTest::newRow("100 ms, 1e-7") << 100.0 << 1e-7 << 33325.0;
        QTest::newRow("10 ms, 1e-4") << 10.0 << 1e-4 << 120.0;
        QTest::newRow("10 ms, 1e-6") << 10.0 << 1e-6 << 1200.0;
        QTest::newRow("10 ms, 1e-7") << 10.0 << 1e-7 << 5926.0;
    }

    void lossesLeaveTheWindowOfTheRfc()
    {
        QFETCH(double, rttMs);
        QFETCH(double, loss);
        QFETCH(double, segments);
        const double window = lossWindowSegments(loss, milliseconds(rttMs));
        QVERIFY2(std::abs(window / segments - 1) < 0.01, std::to_string(window).c_str());
    }

    void moreLossMoreRoundTripOrLessBandwidthIsNeverFaster()
    {
        for (const CongestionControl congestion : { CongestionControl::Cubic, CongestionControl::Bbr }) {
            for (const Auto<int> connections : { Auto<int> {}, Auto<int> { 8 } }) {
                WanStrategy strategy;
                strategy.congestion = congestion;
                strategy.tcpConnections = connections;
                const auto at = [&](double loss, double rttMs, double gbps) {
                    WanLink link;
                    link.lossRate = loss;
                    link.rttMs = rttMs;
                    link.nodePairGbps = gbps;
                    return transportOf(link, strategy, builtinCatalogue()).rate.value;
                };
                for (double loss = 1e-8; loss < 0.2; loss *= 3) {
                    for (double rtt = 1; rtt < 300; rtt *= 2.3) {
                        QVERIFY(at(loss, rtt, 5) <= at(loss / 3, rtt, 5) * (1 + 1e-9));
                        QVERIFY(at(loss, rtt * 1.3, 5) <= at(loss, rtt, 5) * (1 + 1e-9));
                        QVERIFY(at(loss, rtt, 6) >= at(loss, rtt, 5));
                    }
                }
                QVERIFY(at(0.21, 40, 5) <= at(0.19, 40, 5)); // beyond BBR's threshold it gives way too
            }
        }
    }

    void lossSlowsCubicDownAndNotBbr()
    {
        WanLink link;
        link.rttMs = 40;
        link.lossRate = 1e-3;
        WanStrategy strategy;
        strategy.tcpConnections = 17;
        // Reno-friendly: 1.2 / sqrt(p) = 38 segments of 1448 bytes a round trip, 17 times
        const Transport cubic = transportOf(link, strategy, builtinCatalogue());
        QVERIFY(cubic.lossBound);
        QVERIFY(std::abs(cubic.rate.value / (17 * 1.2 / std::sqrt(1e-3) * 1448 / 0.04 * 0.999) - 1) < 1e-9);
        strategy.congestion = CongestionControl::Bbr;
        const Transport bbr = transportOf(link, strategy, builtinCatalogue());
        QVERIFY(!bbr.lossBound);
        QCOMPARE(bbr.rate.value, 5e9 / 8 * 0.999);
    }

    void autoFillsThePairUnderLossToo()
    {
        WanLink link;
        link.rttMs = 40;
        link.lossRate = 1e-5;
        const Transport pair = transportOf(link, {}, builtinCatalogue());
        QVERIFY(pair.connections > 17);
        QVERIFY(std::abs(pair.rate.value / (5e9 / 8 * (1 - 1e-5)) - 1) < 1e-9);
        WanStrategy fewer;
        fewer.tcpConnections = pair.connections - 1;
        QVERIFY(transportOf(link, fewer, builtinCatalogue()).rate < pair.rate);
    }

    // n = min(ceil(cap RTT / W), most), rate = n W / RTT where that is short of the cap
    void autoOpensNoMoreThanTheLimitOfTheCatalogue()
    {
        const double most = builtinNetwork().wan.mostConnections;
        QVERIFY(!builtinNetwork().wan.source.empty());
        WanLink link;
        link.rttMs = 300;
        link.tcpWindowMb = 0.064;
        const Transport pair = transportOf(link, {}, builtinCatalogue());
        QCOMPARE(pair.toFill, 2930); // ceil(5e9 / 8 * 0.3 / 64e3) = ceil(2929.7)
        QCOMPARE(double(pair.connections), most);
        QVERIFY(std::abs(pair.rate.value / (most * 64e3 / 0.3) - 1) < 1e-12);
        WanStrategy asked;
        asked.tcpConnections = 2930; // a number is taken as it is
        QCOMPARE(transportOf(link, asked, builtinCatalogue()).rate.value, 5e9 / 8);
    }

    void theLimitIsTheSameUnderLoss()
    {
        // 0.1 % lost, 400 ms: W_loss = 1.0545 (0.4 / 0.001)^(3/4) segments = 136 kB, of which ceil(cap RTT / W) would
        // fill the pair
        WanLink link;
        link.rttMs = 400;
        link.lossRate = 1e-3;
        link.tcpWindowMb = 0.5;
        const Transport pair = transportOf(link, {}, builtinCatalogue());
        QVERIFY(pair.lossBound);
        QCOMPARE(pair.toFill, int(std::ceil(5e9 / 8 * 0.4 / pair.window.value)));
        QVERIFY(pair.toFill > 1000);
        QCOMPARE(double(pair.connections), builtinNetwork().wan.mostConnections);
    }

    // CUBIC: W_loss / RTT falls as RTT^-1/4 at most, so n W / RTT falls for any n that does not grow with the round
    // trip.
    void aLongerRoundTripNeverRaisesARateUnderAuto()
    {
        for (const CongestionControl congestion : { CongestionControl::Cubic, CongestionControl::Bbr })
            for (const double loss : { 0.0, 1e-6, 1e-4, 1e-3, 1e-2, 0.3 })
                for (const double window : { 0.064, 0.5, 1.5, 12.0 })
                    for (const double cap : { 0.5, 5.0, 100.0 }) {
                        WanStrategy strategy;
                        strategy.congestion = congestion;
                        double before = std::numeric_limits<double>::infinity();
                        for (double rtt = 0; rtt < 2000; rtt = 1.07 * rtt + 0.7) {
                            WanLink link;
                            link.rttMs = rtt;
                            link.lossRate = loss;
                            link.tcpWindowMb = window;
                            link.nodePairGbps = cap;
                            const double rate = transportOf(link, strategy, builtinCatalogue()).rate.value;
                            QVERIFY2(rate <= before * (1 + 1e-9),
                                qPrintable(
                                    QString("loss %1, %2 MB, %3 Gbps, %4 ms").arg(loss).arg(window).arg(cap).arg(rtt)));
                            before = rate;
                        }
                    }
    }

    void egressIsTheLinksElseTheRegionsElseTheDefault()
    {
        Plan plan;
        for (const char *id : { "aws-us-east-1", "us-east-2", "Tokyo lab", "somewhere" }) {
            Datacenter datacenter;
            datacenter.id = id;
            plan.cluster.datacenters.push_back(datacenter);
        }
        plan.cluster.datacenters[2].name = "AWS Tokyo";
        const auto add = [&](int a, int b) {
            WanLink link;
            link.between = { plan.cluster.datacenters[static_cast<std::size_t>(a)].id,
                plan.cluster.datacenters[static_cast<std::size_t>(b)].id };
            plan.cluster.wanLinks.push_back(link);
        };
        add(0, 1);
        add(0, 2);
        add(3, 2);
        add(0, 1);
        plan.cluster.wanLinks[3].usdPerGb = { 0.5, 0.6 };
        Catalogue catalogue;
        const auto region = [](const char *id, const char *name, double price) {
            Region r;
            r.id = id;
            r.name = name;
            r.provider = "aws";
            r.egressUsdPerGb = price;
            return r;
        };
        catalogue.regions = { region("aws-us-east-1", "AWS N. Virginia", 0.02),
            region("aws-us-east-2", "AWS Ohio", 0.02), region("aws-ap-northeast-1", "AWS Tokyo", 0.09) };
        catalogue.regionLinks = { { "aws-us-east-1", "aws-us-east-2", 13, 0.01, "" } };
        using Pair = std::array<double, 2>;
        QCOMPARE(egressUsdPerGb(plan, catalogue, 0), (Pair { 0.01, 0.01 }));
        QCOMPARE(egressUsdPerGb(plan, catalogue, 1), (Pair { 0.02, 0.09 }));
        QCOMPARE(egressUsdPerGb(plan, catalogue, 2), (Pair { 0.02, 0.09 }));
        QCOMPARE(egressUsdPerGb(plan, catalogue, 3), (Pair { 0.5, 0.6 }));
    }
};

TRAINYARD_APPLESS_TEST(TstWan)
#include "tst_wan.moc"
