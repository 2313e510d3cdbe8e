// SPDX-License-Identifier: GPL-3.0-or-later
// Questions of a live run as plans: each can be evaluated and written down, or says why not; what was measured is in it
// as it was measured, and the answers are those of arithmetic.
#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/plan/validate.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/placement/as_placed.h"
#include "core/live/alarms/restart.h"
#include "core/live/alarms/what_if.h"
#include "core/live/alarms/what_if_plans.h"
#include "tests/core/live/alarms/watched_run.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace trainyard;
using namespace trainyard::test;
using namespace trainyard::watch;

namespace {

EvaluationPtr sampleAt(std::size_t index)
{
    static std::map<std::size_t, EvaluationPtr> known;
    EvaluationPtr &evaluation = known[index];
    if (!evaluation)
        evaluation = evaluatedSample(smallSamples()[index]);
    return evaluation;
}

/// Both ways of every link in use, as the plan says, with the first at another share.
std::vector<LinkRate> ratesAt(const Evaluation &evaluation, double share)
{
    RecordedRunOptions options = watchedOptions(1, 2);
    options.noise = options.outlierShare = options.endJitter = options.clockOffset = options.clockDrift = 0;
    const auto shared = std::make_shared<const Evaluation>(evaluation);
    const RunOverlayPtr overlay = overlaid(shared, options);
    std::vector<LinkRate> rates = linkRates(*overlay, overlay->run->steps[1]);
    for (LinkRate &rate : rates) {
        rate.bytesPerSecond = rate.planned;
        rate.latencySeconds = rate.plannedLatency;
        if (std::minmax(rate.from, rate.to) == std::minmax(rates.front().from, rates.front().to))
            rate.bytesPerSecond *= share;
    }
    return rates;
}

const WhatIf *find(const std::vector<WhatIf> &asked, WhatIfKind kind)
{
    const auto found = std::ranges::find(asked, kind, &WhatIf::kind);
    return found == asked.end() ? nullptr : &*found;
}

double secondsOf(const Plan &plan)
{
    return evaluated(plan)->metrics.iterationTime.value_or(0);
}

Evaluation timed(double seconds)
{
    Evaluation evaluation;
    evaluation.metrics.iterationTime = seconds;
    return evaluation;
}

} // namespace

class WhatIfTest : public QObject {
    Q_OBJECT
private slots:
    /// Every plan is valid, is read back from its file as it is, and evaluates; without a plan there is a reason.
    void everyPlanCanBeEvaluatedAndWrittenDown()
    {
        for (const std::size_t sample : { 0, 1, 2, 3 }) {
            const EvaluationPtr evaluation = sampleAt(sample);
            const auto asked = whatIfs(*evaluation, ratesAt(*evaluation, 0.61), {});
            QVERIFY(!asked.empty());
            QCOMPARE(asked.front().kind, WhatIfKind::AsItIs);
            for (const WhatIf &one : asked) {
                QVERIFY(one.question.starts_with("What if ") && one.question.ends_with("?") && !one.change.empty());
                if (!one.plan) {
                    QVERIFY(!one.why.empty());
                    continue;
                }
                QVERIFY2(validatePlan(*one.plan).empty(), one.question.c_str());
                const auto read = parsePlan(formatPlan(*one.plan), "plan");
                QVERIFY2(read.has_value(), one.question.c_str());
                QVERIFY2(formatPlan(*read) == formatPlan(*one.plan), one.question.c_str());
                const EvaluationPtr changed = evaluated(*one.plan);
                const WhatIfAnswer answer = answerOf(one, *evaluation, *changed);
                QVERIFY2(!answer.sentence.empty(), one.question.c_str());
                QVERIFY2(answer.secondsPerStep > 0 || answer.sentence.starts_with("It cannot run so: "),
                    answer.sentence.c_str());
            }
        }
    }

    /// measured = planned: the step takes as long as the plan's.
    void aLinkAsPlannedChangesNothing()
    {
        for (const std::size_t sample : { 1, 2, 3 }) {
            const EvaluationPtr evaluation = sampleAt(sample);
            for (const MeasuredLink &link : measuredLinks(ratesAt(*evaluation, 1))) {
                Plan plan = asPlaced(*evaluation->plan, evaluation->layout);
                setMeasured(plan, link, *evaluation);
                const double seconds = secondsOf(plan);
                QVERIFY2(std::abs(seconds / *evaluation->metrics.iterationTime - 1) < 1e-6,
                    qPrintable(QString("%1: %2 instead of %3")
                                   .arg(smallSamples()[sample].name)
                                   .arg(seconds)
                                   .arg(*evaluation->metrics.iterationTime)));
            }
        }
    }

    /// The less a link carries and the longer it takes, the longer the step.
    void aSlowerLinkIsNeverFaster()
    {
        for (const std::size_t sample : { 1, 2, 3 }) {
            const EvaluationPtr evaluation = sampleAt(sample);
            double before = 0;
            for (const double share : { 1.3, 1.0, 0.9, 0.61, 0.4, 0.2 }) {
                const auto asked = whatIfs(*evaluation, ratesAt(*evaluation, share), {});
                const double seconds = secondsOf(*asked.front().plan);
                QVERIFY(seconds >= before * (1 - 1e-9));
                before = seconds;
            }
            MeasuredLink link = measuredLinks(ratesAt(*evaluation, 1)).front();
            before = 0;
            for (const double latency : { 0.5, 1.0, 2.0, 5.0 }) {
                link.latencySeconds = latency * link.plannedLatency;
                Plan plan = asPlaced(*evaluation->plan, evaluation->layout);
                setMeasured(plan, link, *evaluation);
                const double seconds = secondsOf(plan);
                QVERIFY(seconds >= before * (1 - 1e-9));
                before = seconds;
            }
        }
    }

    /// The plan with the measured link says of it what was measured, and its step is longer by as much as the run's:
    /// run(61 %) - run(plan) = what-if - plan.
    void whatWasMeasuredIsWhatThePlanSays()
    {
        const EvaluationPtr evaluation = sampleAt(1);
        RecordedRunOptions options = watchedOptions(1, 3);
        options.noise = options.outlierShare = options.endJitter = options.clockOffset = options.clockDrift = 0;
        const RecordedRun plain = recordRun(evaluation, options);
        options.changes = { { .datacenter = 1, .otherDatacenter = 2, .transfers = 1 / 0.61 } };
        const RecordedRun slow = recordRun(evaluation, options);
        const RunOverlayPtr overlay = overlayRun(evaluation, makeRun(slow.recording), {});
        const auto rates = linkRates(*overlay, overlay->run->steps[1]);
        const auto asked = whatIfs(*evaluation, rates, {});
        const WhatIf *stays = find(asked, WhatIfKind::LinkStays);
        QVERIFY(stays && stays->plan);
        QVERIFY2(stays->question == "What if the link Ohio–Oregon stays like this?", stays->question.c_str());
        QVERIFY2(
            stays->change.find("Ohio–Oregon ") == 0 && stays->change.find(" Gbps per node pair") != stays->change.npos,
            stays->change.c_str());
        const EvaluationPtr changed = evaluated(*stays->plan);
        const double longer = slow.stepSeconds[1] - plain.stepSeconds[1];
        const double predicted = *changed->metrics.iterationTime - *evaluation->metrics.iterationTime;
        QVERIFY2(longer > 0 && std::abs(predicted / longer - 1) < 0.03,
            qPrintable(QString("%1 s predicted, %2 s recorded").arg(predicted).arg(longer)));
        const auto again = overlayRun(changed, makeRun(slow.recording), {});
        for (const LinkRate &rate : linkRates(*again, again->run->steps[1]))
            QVERIFY(std::abs(rate.share() - 1) < 0.01);
    }

    /// What is lost is not in the plan; what it has no part of is.
    void lossesAreLeftOut()
    {
        const EvaluationPtr evaluation = sampleAt(1);
        const Cluster &cluster = evaluation->plan->cluster;
        int links = 0, nodes = 0, datacenters = 0;
        for (const WhatIf &one : whatIfs(*evaluation, ratesAt(*evaluation, 0.61), {})) {
            if (one.kind == WhatIfKind::LinkLost) {
                ++links;
                QCOMPARE(one.plan->cluster.wanLinks.size(), cluster.wanLinks.size() - 1);
                const auto id = [&](int at) { return cluster.datacenters[std::size_t(at)].id; };
                QCOMPARE(one.plan->cluster.linkBetween(id(one.datacenter), id(one.otherDatacenter)), -1);
            } else if (one.kind == WhatIfKind::NodeLost) {
                ++nodes;
                QCOMPARE(one.plan->cluster.gpus(), cluster.gpus() - 8);
            } else if (one.kind == WhatIfKind::DatacenterLost) {
                ++datacenters;
                QCOMPARE(one.plan->cluster.datacenters.size(), cluster.datacenters.size() - 1);
            } else {
                continue;
            }
            QVERIFY(one.switchSeconds >= kStartSeconds);
            QVERIFY2(one.why.find("Restart assumed: ") == 0, one.why.c_str());
        }
        QVERIFY(links == 2 && nodes == 3 && datacenters == 3);
        // All there is: nothing is left.
        Plan single = oneSite(1, 1);
        const auto asked = whatIfs(*evaluated(single), {}, {});
        const WhatIf *lost = find(asked, WhatIfKind::NodeLost);
        QVERIFY(lost && !lost->plan && lost->why == "Nothing would be left to train on");
        QVERIFY(!find(asked, WhatIfKind::LinkLost) && !find(asked, WhatIfKind::DatacenterLost));
    }

    /// What alarms are about comes first, and what a plan cannot say is told.
    void alarmsComeFirst()
    {
        const EvaluationPtr evaluation = sampleAt(1);
        const std::vector<Alarm> alarms { { .kind = AlarmKind::SlowLink, .datacenter = 2, .otherDatacenter = 1 },
            { .kind = AlarmKind::Straggler, .ranks = { 5 } },
            { .kind = AlarmKind::Silent, .place = "rank 23", .ranks = { 23 } } };
        const auto rates = ratesAt(*evaluation, 1);
        const auto asked = whatIfs(*evaluation, rates, alarms);
        QCOMPARE(asked[1].kind, WhatIfKind::LinkStays);
        QCOMPARE(asked[1].datacenter, 1);
        QCOMPARE(asked[1].otherDatacenter, 2);
        QVERIFY2(asked[0].why.find("rank 5 is slower") != std::string::npos, asked[0].why.c_str());
        const RankMap map(*evaluation->plan, evaluation->layout);
        const RankPlace place = map.placeOf(23);
        const WhatIf *lost = find(asked, WhatIfKind::NodeLost);
        QCOMPARE(lost->datacenter, evaluation->layout.classes[0].locations[std::size_t(place.stage)].datacenter);
        const auto again = whatIfs(*evaluation, rates, alarms);
        QCOMPARE(again.size(), asked.size());
        for (std::size_t i = 0; i < asked.size(); ++i)
            QVERIFY(again[i].question == asked[i].question && again[i].why == asked[i].why
                && (again[i].plan == asked[i].plan || *again[i].plan == *asked[i].plan));
    }

    /// n (t - t') >= restart: 950 s over 0.5 s are 1,900 steps, which take 12.4 s each.
    void aMovePaysWhenItHasSavedItsRestart()
    {
        const WhatIf move { .kind = WhatIfKind::MoveNow, .switchSeconds = 950 };
        const WhatIfAnswer answer = answerOf(move, timed(12.4), timed(11.9));
        QCOMPARE(answer.paysAfterSteps, std::optional<std::int64_t>(1900));
        QVERIFY2(answer.sentence.starts_with("Moving pays after 1,900 steps (6.54 h)"), answer.sentence.c_str());
        QCOMPARE(answerOf(move, timed(12.4), timed(12.3)).paysAfterSteps, std::optional<std::int64_t>(9500));
        for (const double seconds : { 12.4, 12.5 }) {
            const WhatIfAnswer never = answerOf(move, timed(12.4), timed(seconds));
            QVERIFY(!never.paysAfterSteps && never.sentence.starts_with("Moving never pays"));
        }
        const WhatIfAnswer link = answerOf({ .kind = WhatIfKind::LinkStays }, timed(11.9), timed(12.4));
        QVERIFY(!link.paysAfterSteps);
        QVERIFY2(link.sentence == "The step takes 12.4 s instead of 11.9 s (+4.2 %)", link.sentence.c_str());
        Evaluation open = timed(11.9);
        open.model.doubts = { { "--zebra", "is 4, which no plan takes", -0.5, 1, false, true } };
        const WhatIfAnswer none = answerOf(move, timed(12.4), open);
        QCOMPARE(none.sentence, std::string("Not compared: --zebra: is 4, which no plan takes"));
        QVERIFY(!none.paysAfterSteps && none.secondsPerStep == 0);
        Evaluation broken = timed(0);
        broken.layout.unplaced = "no link joins a and b";
        QCOMPARE(answerOf(move, timed(1), broken).sentence, std::string("It cannot run so: no link joins a and b"));
    }

    /// bytes = 14 × parameters; seconds = bytes / all nodes together, on drives where all pools have some.
    void aRestartIsWhatItIsAssumedToBe()
    {
        Plan plan = oneSite(2, 2);
        const EvaluationPtr nics = evaluated(plan);
        const RestartCost overNics = restartCost(*nics);
        const double bytes = 14 * totalParameters(nics->model);
        QCOMPARE(overNics.bytes, bytes);
        QVERIFY(!overNics.isOnDrives && overNics.crossSeconds == 0);
        const double perNode = 8 * builtinCatalogue().gpu("h100-sxm-80gb")->fabricGbps * 1e9 / 8;
        QVERIFY(std::abs(overNics.saveSeconds / (bytes / (2 * perNode)) - 1) < 1e-9);
        Ssd drives;
        drives.writeGBps = 10;
        drives.readGBps = 20;
        plan.cluster.datacenters[0].pools[0].ssd = drives;
        const RestartCost onDrives = restartCost(*evaluated(plan));
        QVERIFY(onDrives.isOnDrives);
        QVERIFY(std::abs(onDrives.saveSeconds / (bytes / 20e9) - 1) < 1e-9);
        QVERIFY(std::abs(onDrives.loadSeconds / (bytes / 40e9) - 1) < 1e-9);
        QCOMPARE(onDrives.afterLoss(), onDrives.loadSeconds + kStartSeconds);
    }

    void aPlanThatIsNotPlacedIsNotAsked() { QVERIFY(whatIfs(Evaluation(), {}, {}).empty()); }
};

TRAINYARD_APPLESS_TEST(WhatIfTest)
#include "tst_what_if.moc"
