// SPDX-License-Identifier: GPL-3.0-or-later
// Links between zones that somebody measured: which plans get their figures, and which keep their own.

#include "core/facts/cluster/zone_links.h"
#include "tests/support/test_program.h"
#include "tests/support/workloads.h"

#include "core/facts/cluster/wan.h"
#include "core/facts/plan/plan_io.h"
#include "core/iteration/placement/resolve.h"

#include <QTest>

#include <cmath>

#include <nlohmann/json.hpp>

using namespace trainyard;
using Json = nlohmann::json;

namespace {

/// Two zones with one pool each and a link of which nothing is said but its round trip and `link`.
Json zones(const Json &link = Json(Json::value_t::object), const char *from = "us-central1-a",
    const char *to = "us-west1-b", const char *gpu = "a100-sxm-40gb", const char *other = "a100-sxm-40gb")
{
    const auto datacenter = [](const char *id, const char *kind) {
        return Json { { "id", id },
            { "pools", Json::array({ { { "gpu", kind }, { "nodes", 2 }, { "gpus_per_node", 4 } } }) } };
    };
    Json wan { { "between", { from, to } }, { "rtt_ms", 35 } };
    wan.update(link);
    return { { "cluster",
                 { { "datacenters", { datacenter(from, gpu), datacenter(to, other) } }, { "wan_links", { wan } } } },
        { "workload", { { "model", "gpt-3-1.3b" }, { "global_batch", 8 } } },
        { "parallelism", { { "tensor", 4 }, { "pipeline", 4 } } } };
}

Plan read(const Json &plan)
{
    auto parsed = parsePlan(plan.dump(), "zones");
    if (!parsed)
        qFatal("%s", toString(parsed.error()[0]).c_str());
    return *parsed;
}

Workload resolved(const Json &plan)
{
    return { test::requested(read(plan)), {} };
}

double quadratic(double c0, double c1, double c2, double megabytes)
{
    const double q = std::log2(megabytes);
    return c0 * q * q + c1 * q + c2;
}

} // namespace

class TstZoneLinks : public QObject {
    Q_OBJECT

private slots:
    void aPairReachesWhatTheSlowerDirectionOfItsMachinesDoes()
    {
        // us-central1-a to us-west1-b and back, machines of four A100, 8 MB: q = 3.
        const Plan plan = read(zones());
        const auto pair = zonePairRate(plan.cluster, plan.cluster.wanLinks[0], megabytes(8));
        QVERIFY(pair);
        const double there = quadratic(-0.000408921434, 0.0561611616, 0.375973842, 8),
                     back = quadratic(0.00195967743, 0.0501114549, 0.305683826, 8);
        QVERIFY(back < there);
        QVERIFY(std::abs(pair->rate.value / 1e9 - back) < 1e-8);
        QVERIFY(pair->slowest->from == "us-west1-b");
    }

    void unequalMachinesMeetAtTheSlower()
    {
        const Plan mixed =
            read(zones(Json::object(), "us-central1-a", "us-central1-b", "a100-sxm-40gb", "v100-sxm-16gb"));
        const Plan slow =
            read(zones(Json::object(), "us-central1-a", "us-central1-b", "v100-sxm-16gb", "v100-sxm-16gb"));
        const auto rate = [](const Plan &plan) {
            return zonePairRate(plan.cluster, plan.cluster.wanLinks[0], megabytes(32))->rate.value;
        };
        QCOMPARE(rate(mixed), rate(slow));
    }

    void aLinkThatStatesNothingTakesWhatWasMeasured()
    {
        // 2 b s h = 2 * 1 * 2048 * 2048 bytes cross a boundary of GPT-3 1.3B.
        const Workload workload = resolved(zones());
        QVERIFY(workload.plan->cluster.wanLinks[0].cloud == "gcp-zones");
        QCOMPARE(workload.crossingBytes().value, 2.0 * 2048 * 2048);
        QVERIFY(workload.transports[0].isMeasured);
        const double gbps = 8 * quadratic(0.00195967743, 0.0501114549, 0.305683826, 2.0 * 2048 * 2048 / 1e6);
        QVERIFY(std::abs(workload.transports[0].capGbps - gbps) < 1e-6);
        QVERIFY(std::abs(workload.transports[0].rate.value * 8e-9 - gbps) < 1e-6); // connections fill the pair
        const auto price = egressUsdPerGb(*workload.plan, builtinCatalogue(), 0);
        QCOMPARE(price, (std::array { 0.02, 0.02 }));
    }

    void replicasApartAskForTheirGradients()
    {
        Json plan = zones();
        plan["parallelism"] = { { "tensor", 4 }, { "pipeline", 1 } };
        const Workload workload = resolved(plan);
        QVERIFY(workload.crossingBytes().value > 1e9); // 1.3e9 parameters over a tensor group of four
        QVERIFY(workload.transports[0].capGbps > resolved(zones()).transports[0].capGbps);
    }

    void whatALinkStatesHolds_data()
    {
        QTest::addColumn<QString>("link");
        QTest::newRow("a node pair") << QStringLiteral(R"({"node_pair_gbps": 5})");
        QTest::newRow("another provider") << QStringLiteral(R"({"cloud": "gcp"})");
    }

    void whatALinkStatesHolds()
    {
        QFETCH(QString, link);
        const Workload workload = resolved(zones(Json::parse(link.toStdString())));
        QVERIFY(!workload.transports[0].isMeasured);
        QCOMPARE(workload.transports[0].capGbps, 5.0);
    }

    void aStatedPriceHolds()
    {
        const Plan plan = read(zones({ { "usd_per_gb", 0.5 } }));
        QCOMPARE(egressUsdPerGb(plan, builtinCatalogue(), 0), (std::array { 0.5, 0.5 }));
    }

    void aZoneIsOneToTheLetter_data()
    {
        QTest::addColumn<QString>("zone");
        for (const char *zone : { "US-central1-a", "gcp-us-central1-a", "us-central1", "us-central1-d" })
            QTest::newRow(zone) << QString::fromLatin1(zone);
    }

    void aZoneIsOneToTheLetter()
    {
        QFETCH(QString, zone);
        const Workload workload = resolved(zones(Json::object(), zone.toStdString().c_str()));
        QVERIFY(workload.plan->cluster.wanLinks[0].cloud.empty());
        QCOMPARE(workload.transports[0].capGbps, 5.0);
    }

    void aZoneMayBeTheNameOfADatacenter()
    {
        Json plan = zones(Json::object(), "iowa", "oregon");
        plan["cluster"]["datacenters"][0]["name"] = "us-central1-a";
        plan["cluster"]["datacenters"][1]["name"] = "us-west1-b";
        QVERIFY(resolved(plan).transports[0].isMeasured);
    }

    void machinesThatNobodyMeasuredKeepTheLinksFigure()
    {
        const Workload workload = resolved(zones(
            { { "cloud", "gcp-zones" }, { "node_pair_gbps", 7 } }, "us-central1-a", "us-west1-b", "h100-sxm-80gb"));
        QVERIFY(!workload.transports[0].isMeasured);
        QCOMPARE(workload.transports[0].capGbps, 7.0);
    }

    void whatWasWrittenReadsTheSame()
    {
        const Plan plan = read(zones());
        const auto again = parsePlan(formatPlan(plan), "again");
        QVERIFY(again && *again == plan);
    }

    void everyPairOfZonesHasALinkAndAPriceBothWays()
    {
        const ZoneNetwork *network = builtinZoneNetwork("gcp-zones");
        QVERIFY(network && builtinCatalogue().cloud("gcp-zones"));
        QCOMPARE(network->zones.size(), 5u);
        for (const std::string &from : network->zones) {
            for (const std::string &to : network->zones) {
                QVERIFY(network->usdPerGb(from, to));
                QCOMPARE(*network->usdPerGb(from, to), from == to ? 0 : *network->usdPerGb(to, from));
                for (const ZoneMachine &machine : network->machines) {
                    QVERIFY(builtinCatalogue().gpu(machine.gpu));
                    const ZoneLink *link = network->link(from, to, machine.id);
                    QVERIFY2(link, (from + " " + to + " " + machine.id).c_str());
                    for (double bytes = 1e6; bytes < 2e9; bytes *= 2)
                        QVERIFY(bandwidth(link->curve, Bytes { bytes }).value > 1e8);
                }
            }
        }
        QVERIFY(!builtinZoneNetwork("gcp"));
    }
};

TRAINYARD_APPLESS_TEST(TstZoneLinks)
#include "tst_zone_links.moc"
