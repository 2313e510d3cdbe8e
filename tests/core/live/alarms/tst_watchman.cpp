// SPDX-License-Identifier: GPL-3.0-or-later
// A run beside its plan: what is put into generated runs is found, at its place, once, with its step; nothing else is,
// and nothing at all in clean runs.
#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/plan/calibration.h"
#include "tests/core/live/alarms/watched_run.h"
#include "tests/support/test_program.h"
#include "tests/support/trials.h"

#include <QRegularExpression>
#include <QTest>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

using namespace trainyard;
using namespace trainyard::test;
using namespace trainyard::watch;

namespace {

constexpr int kSteps = 100, kChange = 50; // generated steps are numbered from 10 on
constexpr std::int64_t kFirst = 10 + kChange;

/// 24 ranks: three datacenters, 2 pipelines of 3 stages, tensor 4.
EvaluationPtr threeRegions()
{
    static const EvaluationPtr evaluation = evaluatedSample(smallSamples()[1]);
    return evaluation;
}

/// 8 ranks in two datacenters.
EvaluationPtr twoDatacenters()
{
    static const EvaluationPtr evaluation = evaluatedSample(smallSamples()[2]);
    return evaluation;
}

std::vector<Alarm> logAlarms(const std::vector<double> &seconds)
{
    Watchman watchman;
    watchman.look(*overlayRun(nullptr, makeRun(logOf(seconds)), {}), {}, 0);
    return watchman.alarms();
}

/// Steps from 1 on, and memory of rank 0 as a share of its GPU's.
Recording logWithMemory(int steps, double seconds, const std::function<double(int)> &share)
{
    Recording recording = logOf(std::vector(std::size_t(steps), seconds));
    SampleSeries memory { .name = "memory_allocated", .unit = "B", .rank = 0, .isByStep = true };
    for (int step = 1; step <= steps; ++step) {
        memory.at.push_back(step);
        memory.value.push_back(share(step) * double(threeRegions()->metrics.memory->capacity));
    }
    recording.series.push_back(std::move(memory));
    return recording;
}

SampleSeries memoryOf(int rank, const std::function<double(int)> &bytes, int steps = kSteps)
{
    SampleSeries series { .name = "memory_allocated", .unit = "B", .rank = rank, .isByStep = true };
    for (int i = 0; i < steps; ++i) {
        series.at.push_back(10 + i);
        series.value.push_back(bytes(i));
    }
    return series;
}

/// Without that steps as such take longer than the plan's range says, which whatever makes them longer may do.
std::vector<Alarm> causesOf(std::vector<Alarm> alarms)
{
    std::erase_if(alarms, [](const Alarm &alarm) { return alarm.kind == AlarmKind::StepTime; });
    return alarms;
}

} // namespace

class WatchmanTest : public QObject {
    Q_OBJECT
private slots:
    void cleanRunsGiveNoAlarm_data()
    {
        QTest::addColumn<int>("first");
        for (int first = 1; first <= 4000; first += 1000)
            QTest::addRow("seeds from %d", first) << first;
    }
    void cleanRunsGiveNoAlarm()
    {
        QFETCH(int, first);
        for (int seed = first; seed < first + trials(5); ++seed) {
            const auto alarms = alarmsOf(twoDatacenters(), watchedOptions(unsigned(seed), kSteps));
            QVERIFY2(alarms.empty(), textOf(alarms).constData());
        }
    }
    void cleanRunsOfLargerPlansGiveNone()
    {
        for (const std::size_t sample : { 0, 3 })
            for (unsigned seed = 1; seed <= unsigned(trials(1)); ++seed) {
                const auto alarms = alarmsOf(evaluatedSample(smallSamples()[sample]), watchedOptions(seed, kSteps));
                QVERIFY2(alarms.empty(), textOf(alarms).constData());
            }
    }

    /// From step 60 on a link carries 61 % of what the plan says: one alarm, of that link, with who waits for whom.
    void aSlowLinkIsToldWithWhoWaits()
    {
        for (unsigned seed = 1; seed <= 3; ++seed) {
            RecordedRunOptions options = watchedOptions(seed, kSteps);
            options.changes = { { .first = kChange, .datacenter = 1, .otherDatacenter = 2, .transfers = 1 / 0.61 } };
            const auto alarms = causesOf(alarmsOf(threeRegions(), options));
            QVERIFY2(alarms.size() == 1, textOf(alarms).constData());
            const Alarm &alarm = alarms.front();
            QCOMPARE(alarm.kind, AlarmKind::SlowLink);
            QCOMPARE(alarm.place, std::string("link ohio–oregon"));
            QVERIFY2(std::abs(alarm.share - 0.61) < 0.04, textOf(alarms).constData());
            QVERIFY2(std::abs(alarm.firstStep - kFirst) <= 2, textOf(alarms).constData());
            QCOMPARE(alarm.lastStep, std::int64_t(10 + kSteps - 1));
            QVERIFY(!alarm.isOver() && alarm.since > 0 && alarm.secondsPerStep > 0);
            QVERIFY((std::minmax(alarm.datacenter, alarm.otherDatacenter) == std::minmax(1, 2)));
            const QString sentence = QString::fromStdString(alarm.sentence);
            QVERIFY2(sentence.startsWith("Step ") && sentence.contains(" waits ") && sentence.contains(" more for ")
                    && sentence.contains(" since ") && sentence.contains("; link at ")
                    && sentence.endsWith(" % of plan"),
                alarm.sentence.c_str());
        }
    }

    void aLinkThatRecoversIsTakenBack()
    {
        RecordedRunOptions options = watchedOptions(5, kSteps);
        options.changes = {
            { .first = 40, .behind = 70, .datacenter = 1, .otherDatacenter = 2, .transfers = 1 / 0.61 }
        };
        const auto alarms = causesOf(alarmsOf(threeRegions(), options));
        QVERIFY2(alarms.size() == 1 && alarms[0].isOver(), textOf(alarms).constData());
        QVERIFY2(std::abs(alarms[0].firstStep - 50) <= 2 && std::abs(alarms[0].lastStep - 79) <= 2,
            textOf(alarms).constData());
        QVERIFY(alarms[0].until > alarms[0].since);
    }

    /// Slow from the start: nothing before it tells so but the plan.
    void aLinkThatNeverKeptToThePlanIsTold()
    {
        RecordedRunOptions options = watchedOptions(6, 30);
        options.changes = { { .datacenter = 0, .otherDatacenter = 1, .transfers = 2 } };
        const auto alarms = causesOf(alarmsOf(threeRegions(), options));
        QVERIFY2(alarms.size() == 1 && alarms[0].kind == AlarmKind::SlowLink, textOf(alarms).constData());
        QVERIFY2(std::abs(alarms[0].share - 0.5) < 0.04 && alarms[0].firstStep <= 12, textOf(alarms).constData());
        QVERIFY2(alarms[0].place.find("ohio") != std::string::npos, textOf(alarms).constData());
    }

    /// A rank computes 10 % longer from step 60 on, and is told with its place.
    void aRankThatSlowsDownIsTold()
    {
        for (const int rank : { 0, 5, 23 }) {
            RecordedRunOptions options = watchedOptions(unsigned(rank) + 1, kSteps);
            options.noise = 0.02;
            options.outlierShare = 0.002;
            options.changes = { { .first = kChange, .rank = rank, .computing = 1.1 } };
            const auto alarms = causesOf(alarmsOf(threeRegions(), options));
            QVERIFY2(alarms.size() == 1, textOf(alarms).constData());
            QCOMPARE(alarms[0].kind, AlarmKind::Straggler);
            QCOMPARE(alarms[0].ranks, std::vector { rank });
            QVERIFY2(std::abs(alarms[0].share - 1.1) < 0.03, textOf(alarms).constData());
            QVERIFY2(std::abs(alarms[0].firstStep - kFirst) <= 4, textOf(alarms).constData());
            QVERIFY2(alarms[0].sentence.find("computes 1") != std::string::npos, alarms[0].sentence.c_str());
        }
    }

    /// A log alone: three per cent more from step 51 on, told within eight steps, and taken back.
    void aLogAloneTellsItsStepTimes()
    {
        for (unsigned seed = 1; seed <= 20; ++seed) {
            auto alarms = logAlarms(loggedSteps(seed, 100, 0.03, 50, 100));
            QVERIFY2(alarms.size() == 1, textOf(alarms).constData());
            QCOMPARE(alarms[0].kind, AlarmKind::StepTime);
            QVERIFY2(std::abs(alarms[0].firstStep - 51) <= 1, textOf(alarms).constData());
            QVERIFY2(std::abs(alarms[0].secondsPerStep - 0.06) < 0.015, textOf(alarms).constData());
            const QString sentence = QString::fromStdString(alarms[0].sentence);
            const auto words =
                QRegularExpression("^Step 5\\d: steps take 2\\.0\\d s since \\d\\d:\\d\\d, \\d\\d\\.\\d ms "
                                   "\\([23] %\\) more than before$");
            QVERIFY2(words.match(sentence).hasMatch(), alarms[0].sentence.c_str());
            alarms = logAlarms(loggedSteps(seed, 58, 0.03, 50, 100));
            QCOMPARE(alarms.size(), std::size_t(1));
            alarms = logAlarms(loggedSteps(seed, 120, 0.03, 50, 80));
            QVERIFY2(alarms.size() == 1 && alarms[0].isOver() && std::abs(alarms[0].lastStep - 80) <= 1,
                textOf(alarms).constData());
            alarms = logAlarms(loggedSteps(seed, 200, 0, 0, 0));
            QVERIFY2(alarms.empty(), textOf(alarms).constData());
        }
    }

    /// Parts of a step add up to it, and stand beside the plan's.
    void figuresStandBesideThePlans()
    {
        RecordedRunOptions options = watchedOptions(1, 5);
        Watchman watchman;
        const RunOverlayPtr overlay = overlaid(threeRegions(), options);
        watchman.look(*overlay, {}, 0);
        QCOMPARE(watchman.steps().size(), std::size_t(5));
        for (const Watchman::StepFigures &one : watchman.steps()) {
            const double sum = one.compute + one.communication + one.waiting + one.bubble + one.host;
            QVERIFY(std::abs(sum / one.seconds - 1) < 1e-6);
            QVERIFY(std::isnan(one.peakBytes));
            // tokens/s = sequences × tokens of each / seconds
            const WorkloadSpec &work = threeRegions()->plan->workload;
            const double tokens = double(work.globalBatch) * work.sequenceLength / one.seconds;
            QVERIFY(std::abs(one.tokensPerSecond / tokens - 1) < 1e-9);
        }
        const Watchman::StepFigures &planned = watchman.predicted();
        QCOMPARE(planned.seconds, *threeRegions()->metrics.iterationTime);
        const double sum = planned.compute + planned.communication + planned.waiting + planned.bubble + planned.host;
        QVERIFY(std::abs(sum / planned.seconds - 1) < 1e-6);
        // Rates of one step, as anybody may ask for them: both ways of both links.
        QCOMPARE(linkRates(*overlay, overlay->run->steps[2]).size(), std::size_t(4));
    }

    /// 1 % of itself more each step, told with the rank; a level that is reached and kept is no growth.
    void memoryThatGrowsIsTold()
    {
        Recording recording = recordRun(twoDatacenters(), watchedOptions(4, kSteps)).recording;
        std::mt19937_64 random(1);
        std::normal_distribution<double> normal;
        recording.series = { memoryOf(3, [&](int i) { return 20e9 * (1 + 0.01 * std::max(0, i - kChange)); }),
            memoryOf(4, [&](int) { return 20e9 * (1 + 0.002 * normal(random)); }),
            memoryOf(5, [&](int i) { return i < 3 ? 5e9 * (i + 1) : 21e9; }) };
        Watchman watchman;
        watchman.look(*overlayRun(twoDatacenters(), makeRun(recording), {}), {}, 0);
        QVERIFY2(watchman.alarms().size() == 1, textOf(watchman.alarms()).constData());
        const Alarm &alarm = watchman.alarms()[0];
        QCOMPARE(alarm.kind, AlarmKind::Memory);
        QCOMPARE(alarm.ranks, std::vector { 3 });
        QVERIFY2(std::abs(alarm.firstStep - kFirst) <= 1, textOf(watchman.alarms()).constData());
        QVERIFY2(alarm.sentence.find("grows by 200 MB per step") != std::string::npos, alarm.sentence.c_str());
        QVERIFY(std::abs(watchman.steps().back().peakBytes - 20e9 * 1.49) < 1e6);
    }

    /// It grows by 1 GB each step up to 79 of 80 GB, and stays there: the growth is over, once, and the GPU is full;
    /// that is over as soon as it holds less again.
    void memoryAtItsLimitGrowsNoMoreAndIsFullUntilItIsNot()
    {
        const auto alarmsOf = [](const std::function<double(int)> &share) {
            Watchman watchman;
            for (int until = 1; until <= 60; ++until) // as it comes
                watchman.look(*overlayRun(threeRegions(), makeRun(logWithMemory(until, 2, share)), {}), {}, 0);
            return watchman.alarms();
        };
        const auto grown = [](int i) { return std::min(0.99, 0.5 + 0.0125 * i); }; // at its limit from step 40 on
        const auto full = alarmsOf(grown);
        QVERIFY2(full.size() == 2, textOf(full).constData());
        for (const Alarm &alarm : full) {
            QCOMPARE(alarm.kind, AlarmKind::Memory);
            const bool isGrowth = alarm.place.find("grows") != std::string::npos;
            QVERIFY2(alarm.isOver() == isGrowth, textOf(full).constData());
            QVERIFY2(!isGrowth || alarm.lastStep < 50, textOf(full).constData());
        }
        const auto freed = alarmsOf([&](int i) { return i < 52 ? grown(i) : 0.7; });
        QVERIFY2(freed.size() == 2, textOf(freed).constData());
        for (const Alarm &alarm : freed)
            QVERIFY2(alarm.isOver() && alarm.lastStep < 56, textOf(freed).constData());
    }

    /// A log tells 59 steps and then 39 to 44 again, 3 s each: those are the newest figures, and the memory of before
    /// fills no GPU any more.
    void aLogThatBeginsAgainIsWatchedFromThere()
    {
        Watchman watchman;
        const auto look = [&](int steps, double seconds, double share) {
            const Recording recording = logWithMemory(steps, seconds, [share](int) { return share; });
            watchman.look(*overlayRun(threeRegions(), makeRun(recording), {}), {}, 0);
        };
        look(59, 2, 0.99);
        QCOMPARE(watchman.steps().back().number, std::int64_t(59));
        const auto isFull = [](const Alarm &one) { return one.kind == AlarmKind::Memory && !one.isOver(); };
        QVERIFY2(std::ranges::any_of(watchman.alarms(), isFull), textOf(watchman.alarms()).constData());
        look(44, 3, 0.6);
        QCOMPARE(watchman.steps().back().number, std::int64_t(44));
        QCOMPARE(watchman.steps().back().seconds, 3.0);
        QVERIFY2(std::ranges::none_of(watchman.alarms(), isFull), textOf(watchman.alarms()).constData());
    }

    /// A plan that was calibrated to steps of 2 s, and steps that take 2.2 s for 40 steps: drift, with what was
    /// calibrated; while they keep to the calibration's own error nothing is told.
    void whatCalibrationTaughtIsHeldAgainstTheRun()
    {
        Plan plan = *threeRegions()->plan;
        CalibrationFactor factor;
        factor.what = CalibratedPart::Products;
        factor.gpu = "h100-sxm-80gb";
        factor.factor = 1.0;
        factor.errorAfter = 0.04;
        factor.samples = 100;
        plan.calibration["products-h100"] = formatCalibrationFactor(factor);
        const EvaluationPtr evaluation = evaluated(plan);
        RecordedRunOptions options = watchedOptions(1, 40);
        options.noise = 0.005;
        options.outlierShare = 0;
        const auto none = alarmsOf(evaluation, options);
        QVERIFY2(none.empty(), textOf(none).constData());
        options.computeFactor = 1.3;
        const auto alarms = alarmsOf(evaluation, options);
        QVERIFY2(alarms.size() == 1 && alarms[0].kind == AlarmKind::Drift, textOf(alarms).constData());
        QVERIFY2(alarms[0].sentence.find("where its own error is 4.00 %") != std::string::npos
                && alarms[0].sentence.find("most of it is computing") != std::string::npos
                && alarms[0].sentence.find("calibrated were products of h100-sxm-80gb") != std::string::npos,
            textOf(alarms).constData());
        // Without factors nothing was taught, and the same run is no drift.
        for (const Alarm &alarm : alarmsOf(threeRegions(), options))
            QVERIFY(alarm.kind != AlarmKind::Drift);
    }

    /// All ranks compute a tenth longer from step 60 on: no rank and no link, the steps themselves, once.
    void whatHasNoCauseIsToldAsLongerSteps()
    {
        RecordedRunOptions options = watchedOptions(2, kSteps);
        options.noise = 0.01;
        options.outlierShare = 0;
        options.changes = { { .first = kChange, .computing = 1.15 } };
        const auto alarms = alarmsOf(threeRegions(), options);
        QVERIFY2(alarms.size() == 1 && alarms[0].kind == AlarmKind::StepTime, textOf(alarms).constData());
        QVERIFY2(std::abs(alarms[0].firstStep - kFirst) <= 1, textOf(alarms).constData());
        QVERIFY2(alarms[0].sentence.find("steps take ") != std::string::npos, textOf(alarms).constData());
    }

    /// Transfers between two datacenters take twice as long. A plan whose link has half as much says so too, and the
    /// plan of before says again what it said; another name changes nothing.
    void anotherPlanJudgesTheStepsThatWereSeenAgain()
    {
        RecordedRunOptions options = watchedOptions(6, 30);
        options.changes = { { .first = 12, .datacenter = 0, .otherDatacenter = 1, .transfers = 2 } };
        const RunPtr run = makeRun(recordRun(threeRegions(), options).recording);
        const std::vector<Heard> heard { { 0, "h", 1, 39 } };
        Watchman watchman;
        const auto judgedBy = [&](const EvaluationPtr &plan) {
            watchman.look(*overlayRun(plan, run, {}), heard, 1);
            return watchman.alarms();
        };
        const std::vector<Alarm> first = judgedBy(threeRegions());
        QVERIFY2(
            first.size() == 1 && first[0].kind == AlarmKind::SlowLink && !first[0].isOver(), textOf(first).constData());
        Plan halved = *threeRegions()->plan, renamed = halved;
        for (WanLink &link : halved.cluster.wanLinks)
            link.capacityGbps /= 4, link.nodePairGbps /= 4;
        QVERIFY2(causesOf(judgedBy(evaluated(halved))).empty(), textOf(watchman.alarms()).constData());
        renamed.name = "another";
        for (const EvaluationPtr &plan : { threeRegions(), evaluated(renamed) }) {
            const std::vector<Alarm> again = causesOf(judgedBy(plan));
            QVERIFY2(again.size() == 1 && again[0].kind == AlarmKind::SlowLink, textOf(again).constData());
            QCOMPARE(again[0].firstStep, first[0].firstStep);
            QCOMPARE(again[0].since, first[0].since);
            QCOMPARE(again[0].sentence, first[0].sentence);
        }
        QCOMPARE(watchman.steps().size(), std::size_t(30));
    }
    /// Steps that came before there was a plan are held against it as well.
    void aPlanThatComesLaterJudgesAllSteps()
    {
        RecordedRunOptions options = watchedOptions(6, 30);
        options.changes = { { .datacenter = 0, .otherDatacenter = 1, .transfers = 2 } };
        const RunPtr run = makeRun(recordRun(threeRegions(), options).recording);
        Watchman watchman;
        watchman.look(*overlayRun(nullptr, run, {}), { { 0, "h", 1, 39 } }, 1);
        watchman.look(*overlayRun(threeRegions(), run, {}), { { 0, "h", 1, 39 } }, 2);
        const std::vector<Alarm> causes = causesOf(watchman.alarms());
        QVERIFY2(causes.size() == 1 && causes[0].kind == AlarmKind::SlowLink, textOf(causes).constData());
    }
    /// What began and ended before is told once, however often plans change.
    void whatIsOverStaysToldOnce()
    {
        RecordedRunOptions options = watchedOptions(6, 60);
        options.changes = { { .first = 12, .behind = 30, .datacenter = 0, .otherDatacenter = 1, .transfers = 2 } };
        const RunPtr run = makeRun(recordRun(threeRegions(), options).recording);
        Plan other = *threeRegions()->plan;
        other.name = "another";
        const EvaluationPtr renamed = evaluated(other);
        Watchman watchman;
        for (const EvaluationPtr &plan : { threeRegions(), renamed, threeRegions() }) {
            watchman.look(*overlayRun(plan, run, {}), {}, 0);
            const std::vector<Alarm> told = causesOf(watchman.alarms());
            QVERIFY2(told.size() == 1 && told[0].isOver(), textOf(told).constData());
        }
    }
};

TRAINYARD_APPLESS_TEST(WatchmanTest)
#include "tst_watchman.moc"
