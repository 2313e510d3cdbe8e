// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that the simulator recorded itself, with wrong clocks, noise, outliers, a straggler and a missing rank: what was
// put into them is found again.
#include "core/runs/overlay/run_overlay.h"
#include "core/runs/telemetry/align.h"
#include "tests/core/runs/overlay/recorded_run.h"
#include "tests/core/runs/overlay/sample_runs.h"
#include "tests/support/test_program.h"

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

/// All of it at once. The missing rank is of another stage than the straggler, where there is one.
RecordedRunOptions roughOptions(unsigned seed, const RankMap &map)
{
    RecordedRunOptions options;
    options.seed = seed;
    const int world = map.worldSize();
    options.straggler = int(seed * 5) % world;
    for (int i = 1; i < world && options.missing.empty(); ++i) {
        const int other = (options.straggler + i * 3 + int(seed)) % world;
        if (other != options.straggler
            && (map.stages() == 1 || map.placeOf(other).stage != map.placeOf(options.straggler).stage))
            options.missing = { other };
    }
    return options;
}

/// Whether the stage of the rank has another one like it.
bool hasLikes(const RankMap &map, int rank)
{
    return map.ranksOf(map.placeOf(rank).stage, 0, map.replicas()).size() > 1;
}

QByteArray sentencesOf(const Suspects &suspects)
{
    QByteArray text;
    for (const Straggler &one : suspects.stragglers)
        text += QByteArray::fromStdString(one.sentence) + "\n";
    for (const SlowLink &one : suspects.links)
        text += QByteArray::fromStdString(one.sentence) + "\n";
    return text;
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
            const double first = run.stepSeconds.front(); // of others some ranks begin while others end the one before
            QVERIFY2(std::abs(first - planned) < apart * planned + 1e-3,
                qPrintable(QStringLiteral("%1: %2 s, planned %3 s").arg(sample.name).arg(first).arg(planned)));
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
                RecordedRun run = recordRun(evaluation, roughOptions(seed, map));
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

    /// Stragglers by name, missing ranks in their rows, and parts that add up, all from what the recording alone tells.
    void whatWasPutInIsFoundAgain()
    {
        for (const SmallSample &sample : smallSamples()) {
            const EvaluationPtr evaluation = evaluatedSample(sample);
            const RankMap map(*evaluation->plan, evaluation->layout);
            for (unsigned seed = 1; seed <= 3; ++seed) {
                const RecordedRunOptions options = roughOptions(seed, map);
                const QByteArray what = QStringLiteral("%1, seed %2").arg(sample.name).arg(seed).toUtf8();
                const RecordedRun made = recordRun(evaluation, options);
                const RunPtr run = makeRun(made.recording);
                QVERIFY2(worstMoment(*run->recording, made) < 10'000, what);
                QCOMPARE(int(run->steps.size()), options.steps);
                const RunOverlayPtr overlay = overlayRun(evaluation, run, {});
                QVERIFY2(overlay && overlay->step >= 0, what);
                const DifferenceTable &table = overlay->differences;
                double sum = 0;
                for (const DifferenceRow &row : table.rows)
                    sum += row.difference();
                const RunStep &step = run->steps[std::size_t(overlay->step)];
                const double shown = double(step.end - step.start) * 1e-9, planned = *evaluation->metrics.iterationTime;
                QVERIFY2(std::abs(sum - (shown - planned)) < 1e-6,
                    (what + ": " + QByteArray::number(sum) + ", " + QByteArray::number(shown - planned)).constData());
                const double took = made.stepSeconds[std::size_t(overlay->step)];
                QVERIFY2(std::abs(table.measuredSeconds - took) < 0.01 * took,
                    (what + QStringLiteral(": %1 s, took %2").arg(table.measuredSeconds).arg(took).toUtf8())
                        .constData());
                const int missing = *options.missing.begin();
                QVERIFY2(overlay->missingRanks == std::vector { missing }, what);
                int rows = 0;
                for (const MeasuredRow &row : overlay->rows) {
                    QCOMPARE(std::ranges::find(row.missing, missing) != row.missing.end(),
                        std::ranges::find(row.ranks, missing) != row.ranks.end());
                    rows += std::ranges::find(row.ranks, missing) != row.ranks.end();
                    QVERIFY2(row.shown != missing && (row.missing != row.ranks || row.size() == 0), what);
                }
                QVERIFY2(rows > 0, what);
                if (!hasLikes(map, options.straggler))
                    continue;
                const auto &stragglers = overlay->suspects.stragglers;
                const QByteArray told =
                    what + ", rank " + QByteArray::number(options.straggler) + ": " + sentencesOf(overlay->suspects);
                QVERIFY2(stragglers.size() == 1 && stragglers.front().rank == options.straggler, told);
                QVERIFY2(std::abs(stragglers.front().computeRatio - options.stragglerFactor) < 0.05, told);
            }
        }
    }

    void nobodyIsNamedInCleanRuns()
    {
        for (const std::size_t sample : { 0, 1, 3 }) {
            const EvaluationPtr evaluation = evaluatedSample(smallSamples()[sample]);
            const RankMap map(*evaluation->plan, evaluation->layout);
            for (unsigned seed = 1; seed <= (sample == 0 ? 10u : 20u); ++seed) {
                RecordedRunOptions options;
                options.seed = seed;
                const Suspects suspects = findSuspects(*makeRun(recordRun(evaluation, options).recording), map);
                QVERIFY2(suspects.stragglers.empty() && suspects.links.empty(), sentencesOf(suspects).constData());
            }
        }
    }

    /// Transfers of one pipeline between regions take three times as long, gradients of one stage ten times.
    void aSlowLinkIsNamed()
    {
        const EvaluationPtr evaluation = evaluatedSample(smallSamples()[1]);
        const RankMap map(*evaluation->plan, evaluation->layout);
        RecordedRunOptions options;
        options.slowBoundary = { 1, 0, 3 };
        const Suspects suspects = findSuspects(*makeRun(recordRun(evaluation, options).recording), map);
        if (suspects.links.empty())
            QFAIL("no link is named");
        const SlowLink &link = suspects.links.front();
        QVERIFY2(link.between.find("stages 1 and 2, pipeline 2") != std::string::npos, link.sentence.c_str());
        QVERIFY2(std::abs(link.expected / link.busBytesPerSecond - 3) < 0.3, link.sentence.c_str());

        const EvaluationPtr other = evaluatedSample(smallSamples()[0]);
        RecordedRunOptions slow;
        slow.slowGroup = { 2, 10 };
        const Suspects found =
            findSuspects(*makeRun(recordRun(other, slow).recording), RankMap(*other->plan, other->layout));
        QVERIFY(!found.links.empty());
        QVERIFY2(
            found.links.front().between.find("data 2.") != std::string::npos, found.links.front().sentence.c_str());
        QVERIFY(found.stragglers.empty());
    }
};

TRAINYARD_APPLESS_TEST(GeneratedRunTest)
#include "tst_generated_run.moc"
