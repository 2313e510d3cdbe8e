// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/run.h"
#include "core/facts/plan/plan_io.h"
#include "core/facts/plan/validate.h"
#include "core/planner/search/scenario.h"
#include "tests/support/test_program.h"

#include "tests/support/plans.h"

#include <QTest>

#include <algorithm>
#include <numeric>

using namespace trainyard;

namespace {

/// Sites a, b and c-d (an id with a dash) of 4, 2 and 1 nodes, all linked.
Plan threeSites()
{
    Plan plan = test::oneSite(4);
    plan.cluster.datacenters.push_back(test::site("b", 2));
    plan.cluster.datacenters.push_back(test::site("c-d", 1));
    plan.cluster.datacenters[1].name = "Ohio";
    plan.cluster.wanLinks = { { .between = { "a", "b" }, .rttMs = 40, .capacityGbps = 80, .nodePairGbps = 6 },
        { .between = { "b", "c-d" }, .rttMs = 20, .capacityGbps = 33.3 }, { .between = { "c-d", "a" }, .rttMs = 30 } };
    return plan;
}

const Catalogue &catalogue()
{
    return builtinCatalogue();
}

Scenario parsed(const Plan &plan, std::string_view text)
{
    auto scenario = parseScenario(plan, catalogue(), text);
    if (!scenario)
        qWarning("%s", toString(scenario.error().front()).c_str());
    return scenario.value_or(Scenario {});
}

Error fault(const Plan &plan, std::string_view text)
{
    const auto scenario = parseScenario(plan, catalogue(), text);
    return scenario ? Error {} : scenario.error().front();
}

Plan in(const Plan &plan, std::string_view text)
{
    const auto changed = inScenario(std::make_shared<const Plan>(plan), parsed(plan, text));
    if (!changed)
        qWarning("%s", toString(changed.error().front()).c_str());
    return changed ? **changed : Plan {};
}

Error faultIn(const Plan &plan, const Scenario &scenario)
{
    const auto changed = inScenario(std::make_shared<const Plan>(plan), scenario);
    return changed ? Error {} : changed.error().front();
}

double usdPerMillionTokens(const Plan &plan)
{
    EvaluationWorkspace workspace;
    const auto evaluation = run(std::make_shared<const Plan>(plan), Depth::Score, { catalogue(), workspace });
    return evaluation ? (*evaluation)->metrics.cost.usdPerMillionTokens.value_or(-1) : -1;
}

} // namespace

class TstScenario : public QObject {
    Q_OBJECT

private slots:
    void aLinkAtHalfHasHalfOfBothRatesAndNothingElseChanges()
    {
        const Plan plan = threeSites();
        for (const char *text : { "half:a-b", "half:b-a", " half:a-b " }) {
            Plan expected = plan;
            expected.cluster.wanLinks[0].capacityGbps = 80.0 / 2;
            expected.cluster.wanLinks[0].nodePairGbps = 6.0 / 2;
            QCOMPARE(in(plan, text), expected);
        }
        QCOMPARE(parsed(plan, "half:a-b").name, std::string("a–Ohio at half"));
        QCOMPARE(parsed(plan, "half:a-b").weight, 1.0);
    }

    void idsMayHaveDashesAndRatesKeepAllTheirDigits()
    {
        const Plan plan = threeSites();
        // 33.3 / 2 is no short number in binary: it comes back to the last bit
        QCOMPARE(in(plan, "half:b-c-d").cluster.wanLinks[1].capacityGbps, 33.3 / 2);
        QCOMPARE(in(plan, "half:a-c-d").cluster.wanLinks[2].capacityGbps, 50.0);
    }

    void whatWasMeasuredOfALinkIsHalvedToo()
    {
        Plan plan = threeSites();
        plan.cluster.datacenters.erase(plan.cluster.datacenters.begin() + 2);
        plan.cluster.wanLinks.resize(1);
        plan.parallelism.pipeline = 2;
        plan.placement.mode = PlacementMode::PipelineAcross;
        plan.placement.stages = { { .datacenter = "a", .stages = 1 }, { .datacenter = "b", .stages = 1 } };
        plan.calibration["m"] = R"({"what": "wan", "between": ["b", "a"], "gbytes_per_s": 0.5})";
        const auto pairRate = [](const Plan &p) {
            EvaluationWorkspace workspace;
            const auto evaluation = run(std::make_shared<const Plan>(p), Depth::Score, { catalogue(), workspace });
            return evaluation && !(*evaluation)->metrics.wanLinks.empty()
                ? (*evaluation)->metrics.wanLinks.front().nodePairGbps
                : 0.0;
        };
        // as measured: 0.5 GB/s = 4 Gbit/s; at half: 2
        QCOMPARE(pairRate(plan), 4.0);
        QCOMPARE(pairRate(in(plan, "half:a-b")), 2.0);
    }

    void aLostDatacenterTakesItsGpusAndLinksAndLeavesTheOthers()
    {
        const Plan plan = threeSites();
        for (const Datacenter &lost : plan.cluster.datacenters) {
            const Plan left = in(plan, "lost:" + lost.id);
            // GPUs that remain = all − those of the lost one; links that remain = those that do not end there
            QCOMPARE(left.cluster.gpus(), plan.cluster.gpus() - lost.gpus());
            QCOMPARE(left.cluster.indexOf(lost.id), -1);
            QCOMPARE(left.cluster.wanLinks.size(), std::size_t(1));
            QVERIFY(
                std::ranges::find(left.cluster.wanLinks[0].between, lost.id) == left.cluster.wanLinks[0].between.end());
            QVERIFY(validatePlan(left).empty());
        }
        QCOMPARE(parsed(plan, "lost:b").name, std::string("Ohio lost"));
    }

    void pinsThatNameALostDatacenterGo()
    {
        Plan plan = threeSites();
        plan.parallelism.pipeline = 4;
        plan.placement.stages = { { .datacenter = "a", .stages = 3 }, { .datacenter = "b", .stages = 1 } };
        plan.heterogeneity.assign = { { .datacenter = "a", .microBatch = 1 }, { .datacenter = "b", .microBatch = 2 } };
        const Plan withoutB = in(plan, "lost:b");
        QVERIFY(withoutB.placement.stages.empty()); // 3 alone would not be the 4 of the pipeline
        QCOMPARE(withoutB.heterogeneity.assign.size(), std::size_t(1));
        QCOMPARE(withoutB.heterogeneity.assign[0].datacenter, std::string("a"));
        const Plan withoutC = in(plan, "lost:c-d");
        QCOMPARE(withoutC.placement, plan.placement);
        QCOMPARE(withoutC.heterogeneity, plan.heterogeneity);
    }

    void pinnedGpusOfJobsKeepTheirGpus()
    {
        Plan plan = threeSites(); // a: GPUs 0–31, b: 32–47, c-d: 48–55
        plan.jobs = { { .name = "x", .model = "gpt-3-1.3b", .pinnedGpus = { 0, 32, 47, 48, 55 } } };
        QCOMPARE(in(plan, "lost:b").jobs[0].pinnedGpus, std::vector<int>({ 0, 32, 39 }));
        QCOMPARE(in(plan, "lost:c-d").jobs[0].pinnedGpus, std::vector<int>({ 0, 32, 47 }));
    }

    void nothingLeftToTrainOnIsAnError()
    {
        const Plan plan = test::oneSite(2);
        const Error error = faultIn(plan, parsed(plan, "lost:a"));
        QCOMPARE(error.code, ErrorCode::BadValue);
        QVERIFY2(error.what.contains("nothing left"), error.what.c_str());
    }

    void pricesRiseAndFallWithTheCostOfATokenWhereNothingIsSent()
    {
        Plan plan = test::oneSite(4);
        plan.cluster.datacenters[0].usdPerKwh = 0.1;
        plan.cluster.datacenters[0].pools[0].ssd = Ssd { .writeGBps = 3, .readGBps = 6, .usd = 1000 };
        const double own = usdPerMillionTokens(plan);
        QVERIFY(own > 0);
        // no egress: $/token is linear in what GPUs cost: +30 % is 1.3 ×, −30 % is 0.7 ×
        QVERIFY(std::abs(usdPerMillionTokens(in(plan, "prices+30%")) / own - 1.3) < 1e-12);
        QVERIFY(std::abs(usdPerMillionTokens(in(plan, "prices-30%")) / own - 0.7) < 1e-12);
        const Plan dearer = in(plan, "prices+12.5%");
        QCOMPARE(*dearer.cluster.datacenters[0].usdPerKwh, 0.1 * 1.125);
        QCOMPARE(dearer.cluster.datacenters[0].pools[0].ssd->usd, 1000 * 1.125);
        QCOMPARE(parsed(plan, "prices-30%").name, std::string("prices −30 %"));
    }

    void aPriceOfZeroStaysAndNoPriceIsAnError()
    {
        Plan plan = test::oneSite(4);
        plan.cluster.datacenters[0].pools[0].usdPerGpuHour = 0;
        QVERIFY(fault(plan, "prices+30%").what.contains("price"));
        plan.cluster.datacenters[0].usdPerKwh = 0.2;
        QCOMPARE(*in(plan, "prices+30%").cluster.datacenters[0].pools[0].usdPerGpuHour, 0.0);
        QCOMPARE(*in(plan, "prices+30%").cluster.datacenters[0].usdPerKwh, 0.2 * 1.3);
    }

    void slowIsTheUpperEndOfTheRangeOfConfidence()
    {
        const Plan plan = threeSites();
        EvaluationWorkspace workspace;
        const auto evaluation = run(std::make_shared<const Plan>(plan), Depth::Score, { catalogue(), workspace });
        QVERIFY(evaluation && (*evaluation)->metrics.confidence.iterationHigh);
        const Metrics &metrics = (*evaluation)->metrics;
        // iteration × factor = the upper end
        const Scenario slow = parsed(plan, "slow");
        QVERIFY(
            std::abs(*metrics.iterationTime * timeFactorOf(slow, metrics) - *metrics.confidence.iterationHigh) < 1e-9);
        QVERIFY(timeFactorOf(slow, metrics) > 1);
        QCOMPARE(timeFactorOf(parsed(plan, "prices+30%"), metrics), 1.0);
        QCOMPARE(in(plan, "slow"), plan);
    }

    void keysAreSetAsTheCommandLineSetsThem()
    {
        const Plan plan = threeSites();
        const Plan changed = in(plan,
            R"(workload.global_batch=128, cluster.wan_links[1].usd_per_gb=[0.01,0.02] ,name="a, b",memory.recompute=full)");
        QCOMPARE(changed.workload.globalBatch, 128);
        QCOMPARE(*changed.cluster.wanLinks[1].usdPerGb, (std::array { 0.01, 0.02 }));
        QCOMPARE(changed.name, std::string("a, b"));
        QCOMPARE(changed.memory.recompute, Recompute::Full);
        const Scenario one = parsed(plan, "workload.micro_batch=2");
        QCOMPARE(one.settings.size(), std::size_t(1));
        QVERIFY2(one.name.contains("1 → 2"), one.name.c_str());
    }

    /// A candidate may have its pools in another order, or without some of them.
    void pricesFollowTheirPoolsWhereverTheyStand()
    {
        Plan plan = threeSites();
        Pool other = plan.cluster.datacenters[0].pools[0];
        other.id = "other";
        plan.cluster.datacenters[0].pools[0].usdPerGpuHour = 2;
        other.usdPerGpuHour = 5;
        plan.cluster.datacenters[0].pools.push_back(other);
        const Scenario dearer = parsed(plan, "prices+30%");
        Plan turned = plan;
        std::swap(turned.cluster.datacenters[0].pools[0], turned.cluster.datacenters[0].pools[1]);
        const auto there = inScenario(std::make_shared<const Plan>(turned), dearer);
        QVERIFY(there);
        // price there = 1.3 x price, of each
        const std::vector<Pool> &pools = (*there)->cluster.datacenters[0].pools;
        QCOMPARE(pools[0].id, other.id);
        QCOMPARE(*pools[0].usdPerGpuHour, 1.3 * 5);
        QCOMPARE(*pools[1].usdPerGpuHour, 1.3 * 2);
    }

    void valuesMayBeObjectsWithCommasAndEqualsSigns()
    {
        const Plan plan = threeSites();
        const Plan changed = in(plan,
            R"(placement.stages=[{"datacenter":"a","stages":1},{"datacenter":"b","stages":1}],parallelism.pipeline=2,notes=x=y)");
        QCOMPARE(changed.placement.stages.size(), std::size_t(2));
        QCOMPARE(changed.parallelism.pipeline, 2);
        QCOMPARE(changed.notes, std::string("x=y"));
    }

    void aWeightMayBeSaid()
    {
        const Plan plan = threeSites();
        QCOMPARE(parsed(plan, "lost:b,weight=0.05").weight, 0.05);
        QCOMPARE(parsed(plan, "lost:b,weight=0.05").lostDatacenter, std::string("b"));
        QCOMPARE(parsed(plan, "workload.global_batch=128, weight=3").weight, 3.0);
        for (const char *text : { "lost:b,weight=0", "lost:b,weight=-1", "lost:b,weight=x", "lost:b,weight=nan" })
            QVERIFY2(fault(plan, text).what.contains("weight"), text);
    }

    void errorsNameWhatIsNearest_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("part"); // of what or right
        QTest::newRow("key") << "workload.global_bach=2"
                             << "workload.global_batch";
        QTest::newRow("second key") << "workload.global_batch=2,memry.recompute=full"
                                    << "memory";
        QTest::newRow("value") << "memory.recompute=fulll"
                               << "full";
        QTest::newRow("index") << "cluster.wan_links[7].rtt_ms=2"
                               << "0 to 2";
        QTest::newRow("datacenter") << "lost:c_d"
                                    << "lost:c-d";
        QTest::newRow("link") << "half:a-bb"
                              << "half:a-b";
        QTest::newRow("name") << "slwo"
                              << "slow";
        QTest::newRow("prices") << "prices+30"
                                << "prices+30%";
        QTest::newRow("all for nothing") << "prices-100%"
                                         << "less than a hundred";
        QTest::newRow("empty") << ""
                               << "KEY=VALUE";
        QTest::newRow("empty setting") << "workload.global_batch=2,,name=x"
                                       << "empty setting";
        QTest::newRow("no key") << "=2"
                                << "no setting";
        QTest::newRow("open bracket") << "cluster.wan_links[0].usd_per_gb=[1,2"
                                      << "not closed";
        QTest::newRow("closing bracket") << "name=]"
                                         << "nothing opened";
        QTest::newRow("open quote") << "name=\"x"
                                    << "quote";
        QTest::newRow("format") << "format=x"
                                << "cannot be set";
        QTest::newRow("contradiction") << "parallelism.context=3"
                                       << "divisor";
    }

    void errorsNameWhatIsNearest()
    {
        QFETCH(QString, text);
        QFETCH(QString, part);
        const Error error = fault(threeSites(), text.toStdString());
        const QString said = QString::fromStdString(error.what + " " + error.right);
        QVERIFY2(said.contains(part), qPrintable(said));
        QVERIFY(!error.right.empty());
    }

    void everyNamedScenarioIsParsedBackAndValid()
    {
        const Plan plan = threeSites();
        const auto named = namedScenarios(plan, catalogue());
        // 3 links, 3 datacenters, prices twice, slow
        QCOMPARE(named.size(), std::size_t(3 + 3 + 2 + 1));
        for (const NamedScenario &one : named) {
            const Scenario again = parsed(plan, one.text);
            QCOMPARE(again.name, one.scenario.name);
            QCOMPARE(again.settings, one.scenario.settings);
            QVERIFY(again.prices == one.scenario.prices);
            QCOMPARE(again.lostDatacenter, one.scenario.lostDatacenter);
            QCOMPARE(again.isSlowEnd, one.scenario.isSlowEnd);
            QVERIFY(validatePlan(in(plan, one.text)).empty());
        }
        QCOMPARE(namedScenarios(test::oneSite(4), catalogue()).size(), std::size_t(3)); // nothing to lose
    }

    void anotherCandidateMeetsTheSameWorld()
    {
        const Plan plan = threeSites();
        const Scenario half = parsed(plan, "half:a-b");
        Plan other = plan;
        other.parallelism.tensor = 4;
        const auto changed = inScenario(std::make_shared<const Plan>(other), half);
        QVERIFY(changed.has_value());
        QCOMPARE((*changed)->parallelism.tensor, 4);
        QCOMPARE((*changed)->cluster.wanLinks[0].capacityGbps, 40.0);
    }

    void aPlanThatContradictsItselfInAScenarioIsRefused()
    {
        const Plan plan = threeSites();
        Plan pinned = plan;
        pinned.parallelism.pipeline = 4;
        pinned.placement.stages = { { .datacenter = "a", .stages = 4 } };
        // parsed for a plan without pins, met by one with 4 stages pinned
        const Error error = faultIn(pinned, parsed(plan, "parallelism.pipeline=2"));
        QCOMPARE(error.where, std::string("placement.stages"));
        QVERIFY(!faultIn(plan, { .lostDatacenter = "nowhere" }).what.empty());
    }
};

TRAINYARD_GUILESS_TEST(TstScenario)
#include "tst_scenario.moc"
