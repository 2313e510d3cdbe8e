// SPDX-License-Identifier: GPL-3.0-or-later
// MoNTA's comparison: factors of bytes and of the all-to-all are the ranks that hold the same tokens, those of layer
// and iteration are less; every point is the layer of a plan that can be evaluated alone.
#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/advice/expert_comparison.h"
#include "core/facts/hardware/published_gains.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace trainyard;

namespace {

/// Two experts of which a token visits one, on two nodes of eight A800: tensor groups are nodes, all of whose ranks
/// hold the same tokens.
Plan twoNodes()
{
    Plan plan = test::oneSite(2, 1);
    plan.cluster.datacenters = { test::site("a", 2, "a800-sxm-80gb") };
    plan.cluster.datacenters[0].fabricGbpsPerGpu = 100;
    ModelSpec model = *builtinCatalogue().model("mixtral-8x7b");
    model.id = "two-experts";
    model.layers = 4;
    model.experts = 2;
    model.expertsPerToken = 1;
    plan.workload.model.clear();
    plan.workload.inlineModel = model;
    plan.workload.sequenceLength = 8192;
    plan.workload.globalBatch = 8;
    plan.parallelism.sequenceParallel = false;
    plan.parallelism.expert = 2;
    plan.parallelism.expertTensor = 8;
    return plan;
}

PlanPtr shared(Plan plan)
{
    return std::make_shared<const Plan>(std::move(plan));
}

struct Context {
    EvaluationWorkspace workspace;
    [[nodiscard]] RunContext operator()() { return { .catalogue = builtinCatalogue(), .workspace = workspace }; }
    [[nodiscard]] double iteration(const PlanPtr &plan)
    {
        const auto evaluation = evaluate(plan, builtinCatalogue(), workspace, {}, Depth::Score);
        return evaluation ? (*evaluation)->metrics.iterationTime.value_or(0) : 0;
    }
};

const ExpertComparison &compared()
{
    static const ExpertComparison comparison =
        expertComparison(shared(twoNodes()), builtinCatalogue(), RunPool::shared());
    return comparison;
}

bool isNear(double a, double b, double relative = 1e-9)
{
    return std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b));
}

} // namespace

class ExpertComparisonTest : public QObject {
    Q_OBJECT
private slots:
    /// Each of t ranks that hold the same tokens sends 1/t of them: bytes t times fewer. A start-up is not divided, so
    /// that the time of the exchange is at most t times less, and layer and iteration gain less than that.
    void onlyBytesAreAsManyTimesFewerAsRanksHoldTheSame()
    {
        const ExpertComparison &all = compared();
        QVERIFY2(all.nothing.empty(), all.nothing.c_str());
        QVERIFY(all.isComplete && all.now && all.group);
        const auto spared = sparedTraffic(*all.now);
        QVERIFY(spared);
        QVERIFY2(isNear(spared->bytes, 8), qPrintable(QString::number(spared->bytes)));
        QVERIFY2(
            spared->allToAll > 1 && spared->allToAll <= 8 * (1 + 1e-9), qPrintable(QString::number(spared->allToAll)));
        const StepTimes &deepSpeed = (*all.now)[0], &aware = (*all.now)[2];
        QVERIFY(deepSpeed.layer().value / aware.layer().value < spared->allToAll);
        QVERIFY(*all.iteration[0] / *all.iteration[2] < deepSpeed.layer().value / aware.layer().value);
    }

    void iterationsAreThoseOfThePlansEvaluatedAlone()
    {
        Context context;
        for (std::size_t step = 0; step < kExchangeSteps; ++step) {
            const PlanPtr plan = planWith(compared().plan, ExchangeStep(step));
            QVERIFY(compared().iteration[step]);
            QCOMPARE(*compared().iteration[step], context.iteration(plan));
        }
    }

    void everyCurveHasThePlanOnIt()
    {
        for (const ExpertCurve &curve : compared().curves) {
            QVERIFY(curve.points.size() >= 5);
            const auto own = std::ranges::find(curve.points, true, &ExpertPoint::isCurrent);
            QVERIFY(own != curve.points.end());
            QCOMPARE(own->x, curve.current);
            for (std::size_t step = 0; step < kExchangeSteps; ++step)
                QVERIFY(isNear(own->steps[step].layer().value, (*compared().now)[step].layer().value));
            QVERIFY(std::ranges::is_sorted(curve.points, {}, &ExpertPoint::x));
        }
        const auto at = [](ExpertAxis axis) { return compared().curves[std::size_t(axis)].current; };
        QCOMPARE(at(ExpertAxis::NicGbps), 100.0);
        QCOMPARE(at(ExpertAxis::NvlinkGBps), builtinCatalogue().gpu("a800-sxm-80gb")->linkGBps);
        QCOMPARE(at(ExpertAxis::TensorRanks), 8.0);
        QCOMPARE(at(ExpertAxis::SequenceLength), 8192.0);
    }

    void trafficAwareIsNeverSlowerThanDeepSpeedInTheLayer()
    {
        for (const ExpertCurve &curve : compared().curves)
            for (const ExpertPoint &point : curve.points)
                QVERIFY(point.steps[2].layer().value <= point.steps[0].layer().value * (1 + 1e-6));
    }

    void fasterNicsAndShorterSequencesTakeDeepSpeedLess()
    {
        const auto &nic = compared().curves[std::size_t(ExpertAxis::NicGbps)].points;
        for (std::size_t i = 1; i < nic.size(); ++i)
            QVERIFY(nic[i].steps[0].allToAll.value < nic[i - 1].steps[0].allToAll.value);
        const auto &tokens = compared().curves[std::size_t(ExpertAxis::SequenceLength)].points;
        for (std::size_t i = 1; i < tokens.size(); ++i)
            QVERIFY(isNear(
                tokens[i].steps[0].nicBytes / tokens[i - 1].steps[0].nicBytes, tokens[i].x / tokens[i - 1].x, 1e-6));
    }

    /// Of t ranks in a node: bytes t times fewer at each t. A group over two nodes gathers through NICs as well, and
    /// spares less than its ranks.
    void sparedBytesFollowTheTensorGroup()
    {
        for (const ExpertPoint &point : compared().curves[std::size_t(ExpertAxis::TensorRanks)].points) {
            const auto spared = sparedTraffic(point.steps);
            QVERIFY(spared);
            QVERIFY2(point.x <= 8 ? isNear(spared->bytes, point.x, 1e-6) : spared->bytes < point.x,
                qPrintable(QString::number(spared->bytes)));
        }
    }

    void thePublishedGainIsFoundWhereItIs()
    {
        Context context;
        const auto gainAt = [&](double gbps) {
            const PlanPtr there = planWith(compared().plan, builtinCatalogue(), ExpertAxis::NicGbps, 100, gbps);
            return 1
                - context.iteration(planWith(there, ExchangeStep::Overlapped))
                / context.iteration(planWith(there, ExchangeStep::DeepSpeed));
        };
        QVERIFY(compared().published);
        const PublishedGain &found = *compared().published;
        QCOMPARE(found.wanted, 0.13);
        QVERIFY(isNear(found.now, gainAt(100)));
        QVERIFY(found.gbps);
        QVERIFY(gainAt(*found.gbps) >= found.wanted);
        QVERIFY(gainAt(*found.gbps * 1.01) < found.wanted);
    }

    void aGainThatIsNeverReachedIsNotFound()
    {
        Context context;
        const PlanPtr plan = shared(twoNodes());
        const auto never = publishedGain(plan, 100, 0.95, context());
        QVERIFY(never && !never->gbps);
        QCOMPARE(never->lastGbps, 100 / kMostNicScale);
        QVERIFY(never->lastGain >= never->now && never->lastGain < 0.95);
        const auto always = publishedGain(plan, 100, -0.5, context());
        QVERIFY(always && !always->gbps && always->now > -0.5);
        QCOMPARE(always->lastGbps, 100 * kMostNicScale);
    }

    void whereNothingIsSentTwiceThereIsNothingToCompare()
    {
        const auto why = [](const Plan &plan) {
            const ExpertComparison all = expertComparison(shared(plan), builtinCatalogue(), RunPool::shared());
            return all.isComplete && !all.now ? QString::fromStdString(all.nothing) : QStringLiteral("compared");
        };
        Plan plan = twoNodes();
        plan.parallelism.sequenceParallel = true;
        QVERIFY2(why(plan).contains(QStringLiteral("nothing to gain")), qPrintable(why(plan)));
        plan = twoNodes();
        plan.parallelism.expert = plan.parallelism.expertTensor = 1;
        QVERIFY2(why(plan).contains(QStringLiteral("not spread")), qPrintable(why(plan)));
        QVERIFY(why(test::oneSite(2)).contains(QStringLiteral("no experts")));
        plan = twoNodes();
        plan.profile = MeasuredStageTimes { .forwardMs = { 10 }, .backwardMs = { 20 } };
        QVERIFY2(why(plan).contains(QStringLiteral("measured")), qPrintable(why(plan)));
    }

    void aStoppedComparisonTellsNothing()
    {
        std::stop_source stop;
        stop.request_stop();
        const ExpertComparison all =
            expertComparison(shared(twoNodes()), builtinCatalogue(), RunPool::shared(), stop.get_token());
        QVERIFY(!all.isComplete && !all.now && all.nothing.empty());
    }

    void theTableHasARowForEachPointAndExchange()
    {
        const QString csv = QString::fromStdString(tableOf(compared(), ','));
        const QStringList lines = csv.split(u'\n', Qt::SkipEmptyParts);
        std::size_t points = 0;
        for (const ExpertCurve &curve : compared().curves)
            points += curve.points.size();
        QCOMPARE(std::size_t(lines.size()), 1 + points * kExchangeSteps);
        for (const QString &line : lines)
            QCOMPARE(line.count(u','), lines.front().count(u','));
        QVERIFY(lines.contains(*std::ranges::find_if(lines, [](const QString &line) {
            return line.startsWith(QStringLiteral("nic_gbps,100,1,deepspeed,flat,1,1,"));
        })));
    }

    void whatIsPublishedNamesItsSource()
    {
        QCOMPARE(publishedExpertGains().allToAll, 8.0);
        QCOMPARE(publishedExpertGains().iteration, 0.13);
        QVERIFY(publishedExpertGains().source.find("2411.00662") != std::string::npos);
    }
};

TRAINYARD_GUILESS_TEST(ExpertComparisonTest)
#include "tst_expert_comparison.moc"
