// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cluster/wan.h"

#include <QTest>

using namespace trainyard;

class TstWan : public QObject {
    Q_OBJECT

private slots:
    // BW(n) = min(cap, n W / RTT), W = 1.5 MB. Measured single connections: Atlas, arXiv 2411.14458.
    void oneConnectionReachesWhatWasMeasured_data()
    {
        QTest::addColumn<double>("rttMs");
        QTest::addColumn<double>("mbps");
        QTest::newRow("10 ms") << 10.0 << 1220.0;
        QTest::newRow("20 ms") << 20.0 << 600.0;
        QTest::newRow("30 ms") << 30.0 << 396.0;
        QTest::newRow("40 ms") << 40.0 << 293.0;
    }

    void oneConnectionReachesWhatWasMeasured()
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
            const auto reached = [&](double count) { return tcpThroughput(count, milliseconds(rtt), megabytes(1.4), gbitsPerSecond(7)).value; };
            QVERIFY(std::abs(reached(n) / (7e9 / 8) - 1) < 1e-9);
            if (n > 1)
                QVERIFY(reached(n - 1) < 7e9 / 8);
        }
    }

    void moreConnectionsAreNeverSlowerAndALongerWayNeverFaster()
    {
        for (int n = 1; n < 40; ++n) {
            for (double rtt = 1; rtt < 200; rtt *= 1.7) {
                const auto at = [](double count, double ms) { return tcpThroughput(count, milliseconds(ms), megabytes(1.5), gbitsPerSecond(5)).value; };
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
        QCOMPARE(tcpConnections(link, {}), 10);   // 4e9 * 0.06 / 24e6
        QCOMPARE(tcpConnections(link, 3), 3);
        QCOMPARE(nodePairThroughput(link, 3).value * 8, 3 * 24e6 / 0.06);
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
            link.between = { plan.cluster.datacenters[static_cast<std::size_t>(a)].id, plan.cluster.datacenters[static_cast<std::size_t>(b)].id };
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
        catalogue.regions = { region("aws-us-east-1", "AWS N. Virginia", 0.02), region("aws-us-east-2", "AWS Ohio", 0.02),
            region("aws-ap-northeast-1", "AWS Tokyo", 0.09) };
        catalogue.regionLinks = { { "aws-us-east-1", "aws-us-east-2", 13, 0.01, "" } };
        using Pair = std::array<double, 2>;
        QCOMPARE(egressUsdPerGb(plan, catalogue, 0), (Pair { 0.01, 0.01 }));
        QCOMPARE(egressUsdPerGb(plan, catalogue, 1), (Pair { 0.02, 0.09 }));
        QCOMPARE(egressUsdPerGb(plan, catalogue, 2), (Pair { 0.02, 0.09 }));
        QCOMPARE(egressUsdPerGb(plan, catalogue, 3), (Pair { 0.5, 0.6 }));
    }
};

QTEST_APPLESS_MAIN(TstWan)
#include "tst_wan.moc"
