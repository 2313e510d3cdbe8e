// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that the simulator recorded itself, with wrong clocks, noise, outliers, a straggler and a missing rank: what was
// put into them is found again.
#include "core/telemetry/align.h"
#include "tests/core/overlay/recorded_run.h"
#include "tests/core/overlay/sample_runs.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

namespace {

RecordedRunOptions plainOptions()
{
    RecordedRunOptions options;
    options.steps = 3;
    options.noise = options.outlierShare = options.endJitter = 0;
    options.clockOffset = options.clockDrift = 0;
    return options;
}

RecordedRunOptions roughOptions(unsigned seed, int world)
{
    RecordedRunOptions options;
    options.seed = seed;
    options.straggler = int(seed) % world;
    options.missing = { (options.straggler + 1 + int(seed) % (world - 1)) % world };
    return options;
}

/// ns by which an aligned moment is beside what the clock of the first recorded rank showed at its true time, at worst.
double worstMoment(const Recording &aligned, const RecordedRun &run)
{
    const TrueRank &reference = run.ranks[std::size_t(aligned.ranks.front().rank)];
    double worst = 0;
    const auto compare = [&](Moment moment, Moment truth) {
        worst = std::max(worst, std::abs(double(moment) - reference.shown(double(truth), run.middle)));
    };
    for (std::size_t r = 0; r < aligned.ranks.size(); ++r) {
        const RankRecording &own = aligned.ranks[r], &truth = run.onTrueClock.ranks[r];
        for (std::size_t s = 0; s < own.streams.size(); ++s)
            for (std::size_t i = 0; i < own.streams[s].spans.size(); ++i) {
                const RecordedSpans &a = own.streams[s].spans, &b = truth.streams[s].spans;
                compare(a.start[i], b.start[i]);
                compare(a.start[i] + a.duration[i], b.start[i] + b.duration[i]);
                if (!a.launchedAt.empty())
                    compare(a.launchedAt[i], b.launchedAt[i]);
            }
        for (std::size_t i = 0; i < own.collectives.size(); ++i)
            compare(own.collectives[i].start, truth.collectives[i].start);
        for (std::size_t i = 0; i < own.steps.size(); ++i) {
            compare(own.steps[i].start, truth.steps[i].start);
            compare(own.steps[i].end, truth.steps[i].end);
        }
    }
    return worst;
}

} // namespace

class GeneratedRunTest : public QObject {
    Q_OBJECT
private slots:
    /// Without noise the generator runs the plan: a step takes what the simulator says, beside launches and transfers
    /// that a plan counts as free. Who decides while it runs, decides a little differently.
    void withoutNoiseAStepTakesWhatThePlanSays()
    {
        for (const SmallSample &sample : smallSamples()) {
            const EvaluationPtr evaluation = evaluatedSample(sample);
            const RecordedRun run = recordRun(evaluation, plainOptions());
            const double planned = double(evaluation->timeline.duration) * 1e-9;
            const double apart = evaluation->plan->schedule == ScheduleKind::Atlas ? 0.05 : 0.002;
            for (const double seconds : run.stepSeconds)
                QVERIFY2(std::abs(seconds - planned) < apart * planned + 1e-3,
                    qPrintable(QStringLiteral("%1: %2 s, planned %3 s").arg(sample.name).arg(seconds).arg(planned)));
            QCOMPARE(int(run.recording.ranks.size()), run.map.worldSize());
            QVERIFY(run.recording == run.onTrueClock);
        }
    }

    void everyMomentIsAlignedWithinTenMicroseconds()
    {
        for (const SmallSample &sample : smallSamples()) {
            const EvaluationPtr evaluation = evaluatedSample(sample);
            for (unsigned seed = 1; seed <= 5; ++seed) {
                const RankMap map(*evaluation->plan, evaluation->layout);
                RecordedRun run = recordRun(evaluation, roughOptions(seed, map.worldSize()));
                const auto matched = matchCollectives(run.recording);
                const ClockAlignment alignment = alignClocks(run.recording, matched);
                for (const ClockFit &fit : alignment.ranks)
                    QVERIFY2(fit.refused.empty(), fit.refused.c_str());
                QVERIFY2(alignment.isWhole(), sample.name);
                applyAlignment(run.recording, alignment);
                const double worst = worstMoment(run.recording, run);
                QVERIFY2(worst < 10'000,
                    qPrintable(QStringLiteral("%1, seed %2: %3 ns").arg(sample.name).arg(seed).arg(worst)));
                QVERIFY(alignment.residual < 5'000);
            }
        }
    }
};

QTEST_APPLESS_MAIN(GeneratedRunTest)
#include "tst_generated_run.moc"
