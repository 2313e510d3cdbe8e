// SPDX-License-Identifier: GPL-3.0-or-later
// Jitter of a link: one way takes (rtt + jitter) / 2, wherever a way or a round trip enters the time.
#include "tests/core/evaluation/evaluate/random_cluster.h"
#include "tests/support/test_program.h"

#include "core/facts/cluster/wan.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

namespace {

Plan withJitter(Plan plan, double milliseconds)
{
    for (WanLink &link : plan.cluster.wanLinks)
        link.jitterMs = milliseconds;
    return plan;
}

Plan withLongerRoundTrips(Plan plan, double milliseconds)
{
    for (WanLink &link : plan.cluster.wanLinks)
        link.rttMs += milliseconds;
    return plan;
}

std::optional<double> seconds(const Plan &plan)
{
    EvaluationWorkspace workspace;
    const auto result = evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace, {}, Depth::Score);
    if (!result || !(*result)->metrics.iterationTime)
        return std::nullopt;
    return (*result)->metrics.iterationTime;
}

} // namespace

class TstJitter : public QObject {
    Q_OBJECT

private slots:
    void aTcpWindowIsSentOnceInRoundTripAndJitter()
    {
        WanLink link = wanLink("a", "b", 30, 50);
        link.jitterMs = 10;
        link.tcpWindowMb = 2;
        WanStrategy one;
        one.tcpConnections = 1;
        // 2 MB in 30 + 10 ms: 50 MB/s.
        QCOMPARE(transportOf(link, one, builtinCatalogue()).rate.value, 50e6);
    }

    void oneWayTakesHalfOfRoundTripAndJitter()
    {
        // Two stages, one micro-batch: its activation crosses once forward and its gradient once backward, on a node
        // pair that no window holds back. Each way is later by jitter / 2, so the iteration by the whole jitter.
        Plan plan = atlasRow(2, 1, 1, 2, ScheduleKind::GPipe);
        const auto without = seconds(plan);
        const auto with = seconds(withJitter(plan, 30));
        QVERIFY(without && with);
        QVERIFY2(std::abs(*with - *without - 0.030) < 1e-6, qPrintable(QString::number(*with - *without, 'g', 9)));
    }

    void jitterIsAsMuchMoreRoundTrip()
    {
        int compared = 0;
        RandomClusters clusters(3);
        for (int i = 0; i < 150; ++i) {
            const Plan plan = clusters.next({ ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::Interleaved,
                ScheduleKind::ZbV, ScheduleKind::Atlas });
            const auto with = seconds(withJitter(plan, 25)), longer = seconds(withLongerRoundTrips(plan, 25));
            QCOMPARE(with.has_value(), longer.has_value());
            if (!with)
                continue;
            QCOMPARE(*with, *longer);
            ++compared;
        }
        QVERIFY2(compared > 60, qPrintable(QString::number(compared)));
    }

    void moreJitterTakesNoLessTimeWhereTheOrderIsFixed()
    {
        int compared = 0, slower = 0;
        RandomClusters clusters(11);
        for (int i = 0; i < 200; ++i) {
            Plan plan = clusters.next(
                { ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::BreadthFirst, ScheduleKind::Interleaved });
            std::optional<double> before;
            for (const double jitter : { 0.0, 1.0, 20.0, 300.0 }) {
                const auto now = seconds(withJitter(plan, jitter));
                if (before && now) {
                    QVERIFY2(*now >= *before * (1 - 1e-6),
                        qPrintable(
                            QString("plan %1, jitter %2: %3 after %4").arg(i).arg(jitter).arg(*now).arg(*before)));
                    slower += *now > *before * (1 + 1e-6);
                    ++compared;
                }
                before = now ? now : before;
            }
        }
        QVERIFY2(compared > 300 && slower > 100, qPrintable(QString("%1 of %2").arg(slower).arg(compared)));
    }
};

TRAINYARD_APPLESS_TEST(TstJitter)
#include "tst_jitter.moc"
