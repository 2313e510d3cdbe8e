// SPDX-License-Identifier: GPL-3.0-or-later
// From what the sheet for a new plan asks for to the plan.
#include "models/new_plan.h"
#include "models/new_plan_search.h"
#include "tests/support/test_program.h"

#include "core/evaluation/advice/evaluate.h"
#include "core/facts/plan/validate.h"

#include <QSignalSpy>
#include <QTest>

using namespace trainyard;

namespace {

NewPlan twoRegions()
{
    NewPlan given;
    given.sites = { { "aws-us-east-1", "AWS N. Virginia", "h100-sxm-80gb", 4, 8 },
        { "aws-us-west-2", "AWS Oregon", "h100-sxm-80gb", 2, 8 } };
    given.model = "llama-3-8b";
    given.globalBatch = 128;
    return given;
}

} // namespace

class NewPlanTest : public QObject {
    Q_OBJECT
private slots:
    void regionsBecomeDatacentersWithTheirPlace()
    {
        const Plan plan = planOf(twoRegions(), builtinCatalogue());
        QCOMPARE(plan.cluster.datacenters.size(), std::size_t(2));
        // 4 · 8 + 2 · 8 GPUs
        QCOMPARE(plan.cluster.gpus(), 48);
        QVERIFY(plan.cluster.datacenters[0].latitude && plan.cluster.datacenters[0].longitude);
        QCOMPARE(plan.name, builtinCatalogue().model("llama-3-8b")->name + " on AWS N. Virginia and AWS Oregon");
    }
    void aRegionWithoutAPriceOfElectricityGivesNone()
    {
        Catalogue catalogue = builtinCatalogue();
        for (Region &region : catalogue.regions)
            region.usdPerKwh = 0;
        QVERIFY(!planOf(twoRegions(), catalogue).cluster.datacenters[0].usdPerKwh);
    }
    void publishedRoundTripsJoinTheRegions()
    {
        // The catalogue has aws-us-east-1 – aws-us-west-2 as a measured pair.
        const Catalogue &catalogue = builtinCatalogue();
        const auto known = std::ranges::find_if(catalogue.regionLinks,
            [](const RegionLink &l) { return l.from == "aws-us-east-1" && l.to == "aws-us-west-2"; });
        QVERIFY(known != catalogue.regionLinks.end());
        const auto links = linksOf(twoRegions(), catalogue);
        QCOMPARE(links.size(), std::size_t(1));
        QCOMPARE(links[0].link.rttMs, known->rttMs);
        QCOMPARE(links[0].link.cloud, std::string("aws"));
        QVERIFY(links[0].source.startsWith("Round trip published: "));
        QVERIFY(!links[0].source.contains("rtt_ms"));
    }
    void everyPairOfSitesIsLinked()
    {
        NewPlan given = twoRegions();
        given.sites.push_back({ "", "Our lab", "a100-sxm-80gb", 1, 4 });
        given.sites.push_back({ "", "Our lab", "a100-sxm-80gb", 1, 4 });
        // n (n − 1) / 2 links; equal names get ids of their own.
        const Plan plan = planOf(given, builtinCatalogue());
        QCOMPARE(plan.cluster.wanLinks.size(), std::size_t(6));
        QCOMPARE(plan.cluster.datacenters[2].id, std::string("our-lab"));
        QCOMPARE(plan.cluster.datacenters[3].id, std::string("our-lab-2"));
        QVERIFY(validatePlan(plan).empty());
        // Nothing is known of a lab's place: the round trip is assumed, and said to be.
        const auto links = linksOf(given, builtinCatalogue());
        QCOMPARE(links.back().link.rttMs, kAssumedRttMs);
        QVERIFY(links.back().source.contains("assumed"));
    }
    void typedFiguresComeBeforeSuggestedOnes()
    {
        NewPlan given = twoRegions();
        given.links[{ 0, 1 }] = { 12.5, 400 };
        const WanLink link = linksOf(given, builtinCatalogue()).front().link;
        QCOMPARE(link.rttMs, 12.5);
        QCOMPARE(link.capacityGbps, 400.0);
    }
    void aTypedRoundTripGoesWithThePlaceThatItWasTypedFor()
    {
        NewPlan given = twoRegions();
        given.sites.push_back({ "aws-eu-west-1", "AWS Ireland", "h100-sxm-80gb", 2, 8 });
        given.links[{ 0, 1 }] = { 12.5, 400 };
        given.links[{ 0, 2 }] = { 80, {} };
        const std::vector<NewSite> before = given.sites;
        given.sites[1].region = "aws-eu-central-1";
        forgetMoved(given, before);
        const auto links = linksOf(given, builtinCatalogue());
        // Of the two places that are joined now; what the link can carry is no matter of its ends.
        QVERIFY(links[0].link.rttMs > 50);
        QVERIFY(links[0].source.startsWith("Round trip published: "));
        QCOMPARE(links[0].link.capacityGbps, 400.0);
        QCOMPARE(links[1].link.rttMs, 80.0);
    }
    void roundTripsAreThoseOfTheGivenCatalogue()
    {
        Catalogue catalogue = builtinCatalogue();
        for (RegionLink &link : catalogue.regionLinks)
            link.rttMs = 321;
        QCOMPARE(linksOf(twoRegions(), catalogue).front().link.rttMs, 321.0);
    }
    void tooManyGpusAreToldAndNotCountedOver()
    {
        NewPlan given = twoRegions();
        given.sites.push_back(given.sites[0]);
        for (NewSite &site : given.sites) {
            site.nodes = 1'000'000;
            site.gpusPerNode = 1024;
        }
        // 3 · 10⁶ · 1024, more than 31 bits hold
        QCOMPARE(gpusOf(given), qint64(3'072'000'000));
        QCOMPARE(missingIn(given, builtinCatalogue()),
            QStringLiteral("3,072,000,000 GPUs are too many: a plan has 10,000,000 at most."));
        for (NewSite &site : given.sites)
            site.nodes = 1000;
        QVERIFY(missingIn(given, builtinCatalogue()).isEmpty());
    }
    void whatIsMissingIsSaid()
    {
        NewPlan given = twoRegions();
        QVERIFY(missingIn(given, builtinCatalogue()).isEmpty());
        given.model = "no-such-model";
        QCOMPARE(missingIn(given, builtinCatalogue()), QStringLiteral("Choose a model."));
        given.sites[0].gpu = "";
        QVERIFY(missingIn(given, builtinCatalogue()).contains("AWS N. Virginia"));
        given.sites[0].region = "";
        given.sites[0].name = " ";
        QVERIFY(missingIn(given, builtinCatalogue()).contains("name a site"));
        given.sites.clear();
        QCOMPARE(missingIn(given, builtinCatalogue()), QStringLiteral("Add a region."));
    }
    void theNewestGpusComeFirst()
    {
        const auto gpus = newestGpus(builtinCatalogue());
        QCOMPARE(gpus.size(), builtinCatalogue().gpus.size());
        const auto at = [&](std::string_view id) { return std::ranges::find(gpus, id, &GpuSpec::id) - gpus.begin(); };
        QVERIFY(at("b300-sxm-270gb") < at("b200-sxm-180gb"));
        QVERIFY(at("b200-sxm-180gb") < at("h100-sxm-80gb"));
        QVERIFY(at("h100-sxm-80gb") < at("a100-sxm-80gb"));
        QVERIFY(at("a100-sxm-80gb") < at("v100-sxm-32gb"));
    }
    void theSearchFindsAPlanThatFitsAndIsNoSlowerThanTheFirst()
    {
        NewPlan given = twoRegions();
        given.model = "llama-3-70b"; // needs tensor or pipeline parallelism
        const auto first = std::make_shared<const Plan>(planOf(given, builtinCatalogue()));
        NewPlanSearch search(builtinCatalogue());
        search.setPlan(first);
        QTRY_VERIFY_WITH_TIMEOUT(search.answer().isComplete, 60000);
        QVERIFY(search.answer().best);
        QVERIFY(search.answer().best->feasible());
        EvaluationWorkspace workspace;
        const auto asked = evaluate(first, builtinCatalogue(), workspace);
        QVERIFY(asked);
        if ((*asked)->feasible())
            QVERIFY(search.answer().best->metrics.iterationTime.value() <= (*asked)->metrics.iterationTime.value());
        // Only how it is trained differs: cluster and workload are what was asked for.
        QVERIFY(search.answer().best->plan->cluster == first->cluster);
        QVERIFY(search.answer().best->plan->workload == first->workload);
    }
    void anAnswerOfAnOlderPlanNeverComes()
    {
        NewPlanSearch search(builtinCatalogue());
        NewPlan given = twoRegions();
        search.setPlan(std::make_shared<const Plan>(planOf(given, builtinCatalogue())));
        given.globalBatch = 64;
        const auto second = std::make_shared<const Plan>(planOf(given, builtinCatalogue()));
        search.setPlan(second);
        QTRY_VERIFY_WITH_TIMEOUT(search.answer().isComplete, 60000);
        QCOMPARE(search.answer().asked, second);
        QCOMPARE(search.answer().best->plan->workload.globalBatch, 64);
    }
};

TRAINYARD_GUILESS_TEST(NewPlanTest)
#include "tst_new_plan.moc"
