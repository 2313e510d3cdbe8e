// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/wan/wan_sites.h"
#include "tests/support/test_program.h"

#include "core/iteration/placement/place.h"

#include <QtTest>

#include "tests/support/plans.h"
#include "tests/support/workloads.h"

#include <algorithm>
#include <numeric>
#include <random>

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr Bytes kGradient { 2e9 };

/// A replica in each of `sites` datacenters, a share of all pairs linked at random.
Workload apart(int sites, double linked, unsigned seed)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution share(0.0, 1.0);
    Plan plan = oneSite(1, 1);
    plan.cluster.datacenters.clear();
    for (int d = 0; d < sites; ++d)
        plan.cluster.datacenters.push_back(site("dc" + std::to_string(d), 1));
    for (int a = 0; a < sites; ++a)
        for (int b = a + 1; b < sites; ++b)
            if (share(random) < linked)
                plan.cluster.wanLinks.push_back(wanLink("dc" + std::to_string(a), "dc" + std::to_string(b),
                    1 + 200 * share(random), 1 + 50 * share(random), 1 + 100 * share(random)));
    return { test::requested(std::move(plan)), {} };
}

std::vector<ReplicaSite> sitesOf(const Workload &workload)
{
    std::vector<ReplicaSite> sites;
    for (int d = 0; d < int(workload.plan->cluster.datacenters.size()); ++d)
        sites.push_back({ d, { d, 0 }, 1, 1 });
    return sites;
}

/// Ring: 2 (n-1)/n (gradient / slowest hop + latency of all); infinite where a hop has no link. Written anew from the
/// names.
double ringSeconds(const Workload &workload, const std::vector<int> &order)
{
    const Cluster &cluster = workload.plan->cluster;
    double slowest = 1e300, latency = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto &a = cluster.datacenters[std::size_t(order[i])].id,
                   &b = cluster.datacenters[std::size_t(order[(i + 1) % order.size()])].id;
        const int link = cluster.linkBetween(a, b);
        if (link < 0)
            return 1e300;
        slowest = std::min({ slowest, workload.transports[std::size_t(link)].rate.value,
            cluster.wanLinks[std::size_t(link)].capacityGbps * 1e9 / 8 });
        latency += cluster.wanLinks[std::size_t(link)].rttMs / 2e3;
    }
    const double n = double(order.size());
    return 2 * (n - 1) / n * (kGradient.value / slowest + latency);
}

double seconds(const Workload &workload, const SiteRoute &route)
{
    double slowest = 1e300;
    for (const WanPath &hop : route.hops)
        slowest = std::min({ slowest, hop.nodePair.value,
            workload.plan->cluster.wanLinks[std::size_t(hop.link)].capacityGbps * 1e9 / 8 });
    const double n = double(route.hops.size());
    return 2 * (n - 1) / n * (kGradient.value / slowest + route.latency().value);
}

} // namespace

class TestWanSites : public QObject {
    Q_OBJECT

private slots:
    void ofFewDatacentersTheBestRingIsFound();
    void ofManyTheRingIsBetterThanAnyOfAThousandOthers();
    void aRingIsFoundWhereMostPairsHaveNoLink();
    void aStarOfManyIsATree();
    void aTreeJoinsEveryDatacenterOverLinksOfItsOwn();
    void aWayThroughAThousandLooksAtLinksAndNotAtPairs();
};

void TestWanSites::ofFewDatacentersTheBestRingIsFound()
{
    for (unsigned seed = 0; seed < 20; ++seed) {
        const Workload workload = apart(6, 1, seed);
        std::vector<int> order(6);
        std::iota(order.begin(), order.end(), 0);
        double best = 1e300;
        do
            best = std::min(best, ringSeconds(workload, order));
        while (std::next_permutation(order.begin(), order.end()));
        const SiteRoute route = siteRoute(workload, sitesOf(workload), kGradient, false, 1);
        QVERIFY(route.isRing);
        QVERIFY(std::abs(seconds(workload, route) - best) < 1e-9 * best);
    }
}

void TestWanSites::ofManyTheRingIsBetterThanAnyOfAThousandOthers()
{
    for (const int sites : { 8, 15, 30 }) {
        const Workload workload = apart(sites, 1, unsigned(sites));
        const SiteRoute route = siteRoute(workload, sitesOf(workload), kGradient, false, 1);
        QVERIFY(route.isRing);
        QCOMPARE(route.hops.size(), std::size_t(sites));
        std::vector<int> order(static_cast<std::size_t>(sites));
        std::iota(order.begin(), order.end(), 0);
        std::mt19937 random(1);
        for (int i = 0; i < 1000; ++i) {
            QVERIFY2(seconds(workload, route) <= ringSeconds(workload, order) * (1 + 1e-9),
                (std::to_string(sites) + " datacenters: " + std::to_string(seconds(workload, route)) + ", and "
                    + std::to_string(ringSeconds(workload, order)))
                    .c_str());
            std::shuffle(order.begin(), order.end(), random);
        }
    }
}

void TestWanSites::aRingIsFoundWhereMostPairsHaveNoLink()
{
    // A ring of twelve in an order that no list of datacenters tells, and nothing else.
    Plan plan = oneSite(1, 1);
    plan.cluster.datacenters.clear();
    for (int d = 0; d < 12; ++d)
        plan.cluster.datacenters.push_back(site("dc" + std::to_string(d), 1));
    for (int i = 0; i < 12; ++i)
        plan.cluster.wanLinks.push_back(
            wanLink("dc" + std::to_string(i * 5 % 12), "dc" + std::to_string((i + 1) * 5 % 12)));
    const Workload workload(test::requested(plan), {});
    const SiteRoute route = siteRoute(workload, sitesOf(workload), kGradient, false, 1);
    QVERIFY(route.isRing);
    QCOMPARE(route.hops.size(), std::size_t(12));
}

void TestWanSites::aStarOfManyIsATree()
{
    Plan plan = oneSite(1, 1);
    plan.cluster.datacenters.clear();
    for (int d = 0; d < 9; ++d) {
        plan.cluster.datacenters.push_back(site("dc" + std::to_string(d), 1));
        if (d > 0)
            plan.cluster.wanLinks.push_back(wanLink("dc0", "dc" + std::to_string(d)));
    }
    const Workload workload(test::requested(plan), {});
    const SiteRoute route = siteRoute(workload, sitesOf(workload), kGradient, false, 1);
    QVERIFY(!route.isRing);
    QCOMPARE(route.hops.size(), std::size_t(8)); // each link once
}

void TestWanSites::aTreeJoinsEveryDatacenterOverLinksOfItsOwn()
{
    // Random trees, told in an order of their own: the links that a route takes are all there are.
    std::mt19937 random(5);
    for (int trial = 0; trial < 40; ++trial) {
        const int sites = 3 + int(random() % 120);
        Plan plan = oneSite(1, 1);
        plan.cluster.datacenters.clear();
        std::vector<int> order(std::size_t(sites), 0);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        for (int d = 0; d < sites; ++d) {
            plan.cluster.datacenters.push_back(site("dc" + std::to_string(d), 1));
            if (d > 0)
                plan.cluster.wanLinks.push_back(wanLink("dc" + std::to_string(order[std::size_t(d)]),
                    "dc" + std::to_string(order[random() % unsigned(d)])));
        }
        const Workload workload(test::requested(plan), {});
        const SiteRoute route = siteRoute(workload, sitesOf(workload), kGradient, false, 1);
        std::vector<int> taken(plan.cluster.wanLinks.size());
        for (const WanPath &hop : route.hops)
            ++taken.at(std::size_t(hop.link));
        QVERIFY(!route.isRing);
        QCOMPARE(std::ranges::count(taken, 1), sites - 1);
    }
}

void TestWanSites::aWayThroughAThousandLooksAtLinksAndNotAtPairs()
{
    constexpr int kSites = 1000, kOrders = 5040, kStarts = 16;
    for (const char *const shape : { "chain", "ring", "star" }) {
        Plan plan = oneSite(1, 1);
        plan.cluster.datacenters.clear();
        for (int d = 0; d < kSites; ++d) {
            plan.cluster.datacenters.push_back(site("dc" + std::to_string(d), 1));
            if (d > 0)
                plan.cluster.wanLinks.push_back(
                    wanLink("dc" + std::to_string(shape[0] == 's' ? 0 : d - 1), "dc" + std::to_string(d)));
        }
        if (shape[0] == 'r')
            plan.cluster.wanLinks.push_back(wanLink("dc0", "dc" + std::to_string(kSites - 1)));
        const Workload workload(test::requested(plan), {});
        const SiteRoute route = siteRoute(workload, sitesOf(workload), kGradient, false, 1);
        QCOMPARE(route.hops.size(), plan.cluster.wanLinks.size());
        QCOMPARE(route.isRing, shape[0] == 'r');
        // Both ways over each link and one order from each start, four ends of each stretch, the tree; pairs:
        // 1,000,000.
        const auto links = std::int64_t(plan.cluster.wanLinks.size());
        QVERIFY2(route.looked < kStarts * (2 * links + 2 * kSites) + 4 * kOrders + 4 * (links + kSites),
            qPrintable(QStringLiteral("%1: %2").arg(QLatin1String(shape)).arg(route.looked)));
    }
}

TRAINYARD_APPLESS_TEST(TestWanSites)
#include "tst_wan_sites.moc"
