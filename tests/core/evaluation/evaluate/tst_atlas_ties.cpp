// SPDX-License-Identifier: GPL-3.0-or-later
// Ties at a cell's channels: equal round trips, equal turns and stage times of a few nanoseconds, so that transfers
// become ready at the very instants at which channels are free again.
#include "tests/core/evaluation/evaluate/atlas_reference.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <map>
#include <random>

using namespace trainyard;
using namespace trainyard::test;

namespace {

using Turns = std::map<AtlasReference::ChannelKey, std::vector<AtlasReference::Turn>>;

/// One cell whose pipelines share every channel.
AtlasCase tiedCase(std::mt19937 &random)
{
    const auto whole = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
    AtlasCase made;
    const int sites = whole(2, 3), each = whole(1, 4);
    made.stages = sites * each;
    for (int s = 1; s < sites; ++s)
        made.wanAfter.insert(s * each - 1);
    made.microBatches = whole(4, 24);
    made.pipelines = whole(3, 6);
    made.forward = whole(1, 3);
    made.backward = whole(2, 6);
    made.recompute = whole(1, 3);
    made.latency = whole(0, 4);
    made.serialization = whole(1, 2);
    for (int i = 0, limited = whole(0, 1); limited == 1 && i < made.stages; ++i)
        made.inFlight.push_back(whole(1, made.microBatches));
    made.temporal = true;
    return made;
}

/// The same as a plan: milliseconds and megabytes that come out as whole nanoseconds.
Plan planOf(const AtlasCase &of)
{
    const int sites = static_cast<int>(of.wanAfter.size()) + 1;
    Plan plan = atlasRow(of.stages, of.microBatches, of.pipelines, sites, ScheduleKind::Atlas);
    const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-6; };
    MeasuredStageTimes &profile = *plan.profile;
    profile.forwardMs = { ms(of.forward) };
    profile.backwardMs = { ms(of.backward) };
    profile.weightGradMs = { ms(of.backward / 2) }; // both parts whole
    profile.recomputeMs = { ms(of.recompute) };
    profile.inFlight = of.inFlight;
    profile.activationMb =
        static_cast<double>(of.serialization * of.pipelines) * 5 / 8 * 1e-6; // over as many pairs of 5 Gbps
    for (WanLink &link : plan.cluster.wanLinks)
        link.rttMs = ms(2 * of.latency);
    plan.wan.cell = of.pipelines;
    plan.wan.sharing = WanSharing::Temporal;
    return plan;
}

Turns turnsOf(const Timeline &timeline)
{
    Turns turns;
    for (const Track &track : timeline.tracks)
        for (std::uint32_t span = track.first; track.stream == Stream::Wan && span < track.last; ++span) {
            const Track &sender = timeline.tracks[timeline.trackOf[timeline.origin[span]]];
            turns[{ 0, std::min(track.stage, track.toStage), track.toStage < track.stage }].push_back(
                { timeline.start[span], timeline.microBatch[span], sender.pipelineClass });
        }
    return turns;
}

QString sentence(int number, const AtlasCase &of)
{
    return QStringLiteral("case %1: %2 stages, %3 boundaries, %4 micro-batches, %5 pipelines, forward %6, backward %7, "
                          "recomputation %8, latency %9")
               .arg(number)
               .arg(of.stages)
               .arg(of.wanAfter.size())
               .arg(of.microBatches)
               .arg(of.pipelines)
               .arg(of.forward)
               .arg(of.backward)
               .arg(of.recompute)
               .arg(of.latency)
        + QStringLiteral(", turn %1, %2").arg(of.serialization).arg(of.inFlight.empty() ? "unlimited" : "limited");
}

constexpr int kCases = 150;

} // namespace

class TestAtlasTies : public QObject {
    Q_OBJECT

private slots:
    // Section 2.5: completions; freed stages choose from what was there before; arrivals; stages still free; then the
    // channels: lowest micro-batch, then lowest pipeline. Durations are whole nanoseconds, so both simulators agree
    // exactly: in every turn of every channel, and in the length of the iteration.
    void everyTurnIsThatOfTheSpecificationToTheNanosecond()
    {
        std::mt19937 random(23);
        for (int i = 0; i < kCases; ++i) {
            const AtlasCase of = tiedCase(random);
            AtlasReference reference(of);
            const std::int64_t expected = reference.iteration();
            const EvaluationPtr got = evaluated(planOf(of));
            QVERIFY2(got->timeline.duration == expected,
                qPrintable(sentence(i, of)
                    + QStringLiteral(": %1 ns, expected %2").arg(got->timeline.duration).arg(expected)));
            QVERIFY2(turnsOf(got->timeline) == reference.turns(), qPrintable(sentence(i, of)));
        }
    }

    // What the rule is about: the same cases with channels that choose before an instant's arrivals. Were no turn
    // different, the cases above would show nothing.
    void tiesDecideInManyOfTheseCases()
    {
        std::mt19937 random(23);
        int turns = 0, times = 0;
        double worst = 0, best = 0, sum = 0;
        for (int i = 0; i < kCases; ++i) {
            AtlasCase of = tiedCase(random);
            AtlasReference ruled(of);
            const auto expected = static_cast<double>(ruled.iteration());
            of.hasty = true;
            AtlasReference hasty(of);
            const double change = static_cast<double>(hasty.iteration()) / expected - 1;
            turns += hasty.turns() != ruled.turns();
            times += change != 0;
            sum += change;
            worst = std::max(worst, change);
            best = std::min(best, change);
        }
        qInfo("channels that choose too early: other turns in %d of %d cases, another iteration in %d, from %.1f %% to "
              "%+.1f %%, %+.2f %% in the mean",
            turns, kCases, times, 100 * best, 100 * worst, 100 * sum / kCases);
        QVERIFY(turns > kCases / 4);
        QVERIFY(worst > 0.02);
    }
};

TRAINYARD_APPLESS_TEST(TestAtlasTies)
#include "tst_atlas_ties.moc"
