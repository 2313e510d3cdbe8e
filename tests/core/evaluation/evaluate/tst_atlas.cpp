// SPDX-License-Identifier: GPL-3.0-or-later
// Atlas: published rows of the specification, a second simulator, and what must hold whatever the numbers are.
#include "core/facts/cluster/wan.h"
#include "tests/core/evaluation/evaluate/atlas_reference.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <map>
#include <random>

using namespace trainyard;
using namespace trainyard::test;

namespace {

Plan temporal(Plan plan)
{
    plan.wan.sharing = WanSharing::Temporal;
    return plan;
}

double iteration(Plan plan)
{
    return *evaluated(std::move(plan))->metrics.iterationTime;
}

struct RandomCase {
    Plan plan;
    AtlasCase reference;
};

/// Incommensurable durations, so that no tie decides.
RandomCase randomCase(std::mt19937 &random)
{
    const auto whole = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
    const auto real = [&](double from, double to) { return std::uniform_real_distribution<double>(from, to)(random); };
    const int sites = whole(1, 3), each = whole(sites == 1 ? 2 : 1, 4), m = whole(1, 24), c = whole(1, 5);
    RandomCase made { atlasRow(sites * each, m, c, sites, ScheduleKind::Atlas), {} };
    Plan &plan = made.plan;
    AtlasCase &reference = made.reference;
    MeasuredStageTimes &profile = *plan.profile;
    profile.forwardMs = { real(200, 2000) };
    profile.backwardMs = { profile.forwardMs[0] * real(1.5, 2.5) };
    profile.recomputeMs = { profile.forwardMs[0] * real(0.8, 1.2) };
    const double share = profile.forwardMs[0] / 1e3 * real(0.3, 6); // seconds of an activation on one node pair
    profile.activationMb = share * 5e9 / 8 / 1e6;
    const double rtt = real(1, 900);
    for (WanLink &link : plan.cluster.wanLinks)
        link.rttMs = rtt;
    plan.wan.cell = c;
    reference.temporal = whole(0, 1) == 1;
    plan.wan.sharing = reference.temporal ? WanSharing::Temporal : WanSharing::Spatial;
    reference.stages = plan.parallelism.pipeline;
    reference.microBatches = m;
    reference.pipelines = c;
    for (int s = 1; s < sites; ++s)
        reference.wanAfter.insert(s * each - 1);
    if (whole(0, 1) == 1)
        for (int i = 0; i < reference.stages; ++i)
            reference.inFlight.push_back(whole(1, m));
    profile.inFlight = reference.inFlight;
    const auto ns = [](double ms) { return std::int64_t(toNanoseconds(milliseconds(ms))); };
    reference.forward = ns(profile.forwardMs[0]);
    reference.backward = ns(profile.backwardMs[0]);
    reference.recompute = ns(profile.recomputeMs[0]);
    reference.latency = ns(rtt / 2);
    reference.serialization =
        std::int64_t(toNanoseconds(Seconds { profile.activationMb * 1e6 / (5e9 / 8 * (reference.temporal ? c : 1)) }));
    return made;
}

} // namespace

class TestAtlas : public QObject {
    Q_OBJECT

private slots:
    void rowsOfTheSpecification_data()
    {
        QTest::addColumn<int>("stages");
        QTest::addColumn<int>("microBatches");
        QTest::addColumn<int>("ratio");
        QTest::addColumn<int>("sites");
        QTest::addColumn<double>("seconds");
        QTest::newRow("6,4,2,3") << 6 << 4 << 2 << 3 << 37.30;
        QTest::newRow("6,4,4,3") << 6 << 4 << 4 << 3 << 43.36;
        QTest::newRow("6,16,2,3") << 6 << 16 << 2 << 3 << 86.09;
        QTest::newRow("6,16,4,3") << 6 << 16 << 4 << 3 << 100.60;
        QTest::newRow("12,60,2,3") << 12 << 60 << 2 << 3 << 283.20;
        QTest::newRow("12,60,4,3") << 12 << 60 << 4 << 3 << 317.30;
        QTest::newRow("4,4,4,2") << 4 << 4 << 4 << 2 << 34.86;
    }
    // Atlas specification, section 4, column "atlas temporal": agreement to the printed digits.
    void rowsOfTheSpecification()
    {
        QFETCH(int, stages);
        QFETCH(int, microBatches);
        QFETCH(int, ratio);
        QFETCH(int, sites);
        QFETCH(double, seconds);
        const auto evaluation = evaluated(temporal(atlasRow(stages, microBatches, ratio, sites, ScheduleKind::Atlas)));
        QCOMPARE(evaluation->layout.cell.reached, ratio); // auto: C rounded
        QVERIFY2(std::abs(*evaluation->metrics.iterationTime - seconds) <= 0.0051,
            qPrintable(QString::number(*evaluation->metrics.iterationTime)));
    }

    // Two simulators that share no code agree to the rounding of nanoseconds, spatial and temporal, with and without
    // limits.
    void agreesWithTheSecondSimulator()
    {
        std::mt19937 random(7);
        for (int i = 0; i < 150; ++i) {
            const RandomCase made = randomCase(random);
            const double expected = double(AtlasReference(made.reference).iteration()) / 1e9;
            const double got = iteration(made.plan);
            QVERIFY2(std::abs(got - expected) < 1e-6,
                qPrintable(QStringLiteral("case %1: %2 s, expected %3 s")
                               .arg(i)
                               .arg(got, 0, 'g', 12)
                               .arg(expected, 0, 'g', 12)));
        }
    }

    // bytes on each link = 2 M A pipelines, whatever the schedule and the sharing.
    void everyLinkCarriesEachActivationAndGradientOnce()
    {
        for (const ScheduleKind schedule :
            { ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::Varuna, ScheduleKind::Atlas })
            for (const WanSharing sharing : { WanSharing::Spatial, WanSharing::Temporal }) {
                Plan plan = atlasRow(6, 5, 4, 3, schedule);
                plan.wan.sharing = sharing;
                const double each = 2 * 5 * 4 * plan.profile->activationMb * 1e6;
                const auto evaluation = evaluated(plan);
                for (const WanLinkUse &use : evaluation->metrics.wanLinks)
                    QCOMPARE(use.totalBytes(), each);
            }
    }

    // Without a WAN there is nothing to share.
    void withoutAWanSharingChangesNothing()
    {
        const Plan plan = atlasRow(4, 8, 4, 1, ScheduleKind::Atlas);
        QCOMPARE(iteration(temporal(plan)), iteration(plan));
        QCOMPARE(evaluated(temporal(plan))->layout.classes.size(), std::size_t { 1 });
    }

    // Fixed orders: T is a maximum of sums of durations, so a faster or nearer link never makes it longer.
    void fixedOrdersAreMonotone()
    {
        for (const ScheduleKind schedule : { ScheduleKind::GPipe, ScheduleKind::OneFOneB }) {
            double before = 0;
            for (const double gbps : { 0.5, 1.0, 2.0, 5.0, 7.0, 20.0 }) {
                Plan plan = atlasRow(6, 7, 3, 3, schedule);
                for (WanLink &link : plan.cluster.wanLinks)
                    link.nodePairGbps = gbps;
                const double now = iteration(plan);
                QVERIFY(before == 0 || now <= before);
                before = now;
            }
            before = 0;
            for (const double rtt : { 900.0, 300.0, 40.0, 1.0, 0.0 }) {
                Plan plan = atlasRow(6, 7, 3, 3, schedule);
                for (WanLink &link : plan.cluster.wanLinks)
                    link.rttMs = rtt;
                const double now = iteration(plan);
                QVERIFY(before == 0 || now <= before);
                before = now;
            }
            before = 0;
            for (const int connections : { 1, 2, 4, 8, 17, 64 }) {
                Plan plan = atlasRow(6, 7, 3, 3, schedule);
                for (WanLink &link : plan.cluster.wanLinks)
                    link.rttMs = 40, link.tcpWindowMb = 1.5;
                plan.wan.tcpConnections = connections;
                const double now = iteration(plan);
                QVERIFY(before == 0 || now <= before);
                before = now;
            }
        }
    }

    // Greedy schedules have anomalies (Graham 1969): a faster link may make one slower. They are counted and bounded.
    void reversalsOfTheGreedyScheduleAreFewAndSmall()
    {
        std::mt19937 random(11);
        int reversals = 0;
        double worst = 0;
        constexpr int kCases = 300;
        for (int i = 0; i < kCases; ++i) {
            Plan plan = randomCase(random).plan;
            const double slow = iteration(plan);
            for (WanLink &link : plan.cluster.wanLinks)
                link.nodePairGbps *= 1.1;
            const double change = iteration(plan) / slow - 1;
            reversals += change > 1e-9;
            worst = std::max(worst, change);
        }
        qInfo("%d of %d cases slower with links a tenth faster, by %.2f %% at most", reversals, kCases, 100 * worst);
        QVERIFY(reversals <= kCases / 10);
        QVERIFY(worst < 0.10);
    }

    // A cell's channel serves one pipeline at a time, and each for A / (D B).
    void pipelinesOfACellTakeTurns()
    {
        const Plan plan = temporal(atlasRow(6, 4, 4, 3, ScheduleKind::Atlas));
        const auto evaluation = evaluated(plan);
        const Timeline &timeline = evaluation->timeline;
        const Nanoseconds serialization = toNanoseconds(Seconds { plan.profile->activationMb * 1e6 / (4 * 5e9 / 8) });
        int channels = 0;
        for (const Track &track : timeline.tracks) {
            if (track.stream != Stream::Wan)
                continue;
            ++channels;
            QCOMPARE(track.last - track.first, 16u); // 4 pipelines x 4 micro-batches
            std::map<int, int> turns; // lane -> transfers
            for (std::uint32_t span = track.first; span < track.last; ++span) {
                QCOMPARE(timeline.end[span] - timeline.start[span], serialization);
                QVERIFY(span == track.first || timeline.start[span] >= timeline.end[span - 1]);
                ++turns[timeline.tracks[timeline.trackOf[timeline.origin[span]]].pipelineClass];
            }
            QCOMPARE(turns.size(), std::size_t { 4 });
            for (const auto &[lane, count] : turns)
                QCOMPARE(count, 4);
        }
        QCOMPARE(channels, 4); // two boundaries, two directions
    }

    // One pipeline after the other: each drains before the next gets a turn that it waits for, so lane 0 ends no later
    // than under round robin, and the last lane's wait is longer.
    void drainFirstServesTheFirstPipelineFirst()
    {
        Plan plan = temporal(atlasRow(6, 16, 4, 3, ScheduleKind::Atlas));
        plan.wan.cell = 4;
        const auto firstForwardsOnTheLastStage = [](const Evaluation &evaluation, int lane) {
            for (const Track &track : evaluation.timeline.tracks)
                if (track.stream == Stream::Compute && track.pipelineClass == lane && track.stage == 5)
                    return evaluation.timeline.start[track.first];
            return Nanoseconds { -1 };
        };
        const auto turns = evaluated(plan);
        plan.wan.turns = TurnOrder::DrainFirst;
        const auto drained = evaluated(plan);
        QVERIFY(firstForwardsOnTheLastStage(*drained, 3) > firstForwardsOnTheLastStage(*turns, 3));
        QCOMPARE(drained->metrics.wanBytesPerIteration, turns->metrics.wanBytesPerIteration);
    }

    // With a model, the owner scatters (D - 1) / D of the activation over its fabric before, and the receivers gather
    // after.
    void scatterAndGatherTakeTheirTime()
    {
        Plan plan = threeSites(8);
        plan.schedule = ScheduleKind::Atlas;
        plan.parallelism.data = 4;
        for (WanLink &link : plan.cluster.wanLinks)
            link.nodePairGbps = 1;
        plan.wan.cell = 4;
        const auto evaluation = evaluated(temporal(plan));
        QCOMPARE(evaluation->layout.cell.reached, 4);
        const Timeline &timeline = evaluation->timeline;
        const double pieces = 2.0 * 8192 * 4096 * 3 / 4 / 8; // bytes a GPU of the tensor group
        const double leastSeconds = pieces / (400e9 / 8); // over a NIC of 400 Gbps at its nominal rate
        int scatters = 0, gathers = 0;
        for (const Track &track : timeline.tracks) {
            if (track.stream != Stream::Copy)
                continue;
            for (std::uint32_t span = track.first; span < track.last; ++span) {
                QVERIFY(toSeconds(timeline.end[span] - timeline.start[span]).value >= leastSeconds);
                (track.stage == track.toStage ? gathers : scatters) += 1;
            }
        }
        const int transfers = 4 * 16 * 2 * 2; // pipelines, micro-batches, boundaries, directions
        QCOMPARE(scatters, transfers);
        QCOMPARE(gathers, transfers);
        Plan nearer = plan;
        for (Datacenter &datacenter : nearer.cluster.datacenters)
            datacenter.fabricGbpsPerGpu = 3200;
        QVERIFY(iteration(temporal(nearer)) < *evaluation->metrics.iterationTime);
    }

    // Forwards without their backward never exceed K, on any stage.
    void inFlightLimitsHold()
    {
        Plan plan = temporal(atlasRow(6, 16, 2, 3, ScheduleKind::Atlas));
        plan.profile->inFlight = { 5, 4, 7, 2, 3, 1 };
        const auto evaluation = evaluated(plan);
        const Timeline &timeline = evaluation->timeline;
        for (const Track &track : timeline.tracks) {
            int inFlight = 0;
            for (std::uint32_t span = track.first; track.stream == Stream::Compute && span < track.last; ++span) {
                inFlight += (timeline.kind[span] == WorkKind::Forward) - (timeline.kind[span] == WorkKind::Backward);
                QVERIFY(inFlight <= plan.profile->inFlight[std::size_t(track.stage)]);
            }
        }
    }

    // The work of a stage does not depend on the order: M (tf + tr + tb), the last without tr.
    void everyMicroBatchIsComputedOnce()
    {
        const auto evaluation = evaluated(temporal(atlasRow(6, 16, 4, 3, ScheduleKind::Atlas)));
        const Timeline &timeline = evaluation->timeline;
        for (const Track &track : timeline.tracks) {
            if (track.stream != Stream::Compute)
                continue;
            Nanoseconds busy = 0;
            for (std::uint32_t span = track.first; span < track.last; ++span)
                busy += timeline.end[span] - timeline.start[span];
            QCOMPARE(busy, 16 * toNanoseconds(milliseconds(1000 + 2037.1 + (track.stage < 5 ? 1019.3 : 0))));
        }
    }

    void breakdownAddsUp()
    {
        const auto evaluation = evaluated(temporal(atlasRow(6, 16, 4, 3, ScheduleKind::Atlas)));
        QVERIFY(std::abs(evaluation->metrics.breakdown->total() - *evaluation->metrics.iterationTime) < 1e-6);
        QVERIFY(evaluation->metrics.breakdown->wan > 0);
    }

    // A hop takes s / D instead of s, so turns do not slow the schedules down whose order they follow.
    void turnsFollowTheOrderOfEverySchedule_data()
    {
        QTest::addColumn<int>("schedule");
        for (const ScheduleKind kind :
            { ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::Interleaved, ScheduleKind::BreadthFirst,
                ScheduleKind::ZbH1, ScheduleKind::Varuna, ScheduleKind::TeraPipe, ScheduleKind::Hanayo })
            QTest::addRow("schedule %d", int(kind)) << int(kind);
    }
    void turnsFollowTheOrderOfEverySchedule()
    {
        QFETCH(int, schedule);
        const auto kind = ScheduleKind(schedule);
        Plan plan = atlasRow(6, 12, 4, 3, kind);
        plan.parallelism.virtualPipeline =
            kind == ScheduleKind::Interleaved || kind == ScheduleKind::BreadthFirst ? 2 : 1;
        const double spatial = iteration(plan), turns = iteration(temporal(plan));
        QVERIFY2(
            turns <= spatial * 1.05, qPrintable(QStringLiteral("%1 s by turns, %2 s apart").arg(turns).arg(spatial)));
    }

    // Turns also serve the fixed orders: a hop takes s / D instead of s, so GPipe is not slower than with own pairs.
    void gpipeGainsFromTurns()
    {
        const Plan plan = atlasRow(6, 4, 4, 3, ScheduleKind::GPipe);
        QVERIFY(iteration(temporal(plan)) < iteration(plan));
    }
};

TRAINYARD_APPLESS_TEST(TestAtlas)
#include "tst_atlas.moc"
