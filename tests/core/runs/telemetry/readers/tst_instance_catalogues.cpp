// SPDX-License-Identifier: GPL-3.0-or-later
// What clouds rent and for how much: catalogues of SkyPilot with columns in any order, instance types of AWS.
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::trial;

class TestInstanceCatalogues : public QObject {
    Q_OBJECT

private slots:
    void columnsStandInAnyOrder()
    {
        const Recording r = read("vms.csv",
            "Region,Price,AvailabilityZone,InstanceType,vCPUs,AcceleratorName,SpotPrice,AcceleratorCount,GpuInfo\r\n"
            "east,98.32,east-1,p5,192,H100,40.5,8,\"{'Gpus': [{'Name': 'H100', 'Count': 8}]}\"\r\n"
            "east,1.5,east-1,m5,96,,0.5,,\r\n"
            "west,2,w,odd,4,,0,1.0,\"{\"\"Gpus\"\": [{\"\"Name\"\": \"\"L4, the\"\"}]}\"\r\n"
            "west,,w,none,4,T4,,1,\r\n"
            "west,3,w,cut");
        QCOMPARE(r.prices.size(), std::size_t(2));
        QVERIFY(r.prices[0].instance == "p5" && r.prices[0].region == "east" && r.prices[0].zone == "east-1");
        QVERIFY(r.prices[0].usdPerHour == 98.32 && r.prices[0].spotUsdPerHour == 40.5 && r.prices[0].gpus == 8);
        QVERIFY(r.prices[1].gpu == "L4, the" && std::isnan(r.prices[1].spotUsdPerHour));
        QCOMPARE(droppedOf(r, "instances without a GPU"), std::int64_t(1));
        QCOMPARE(droppedOf(r, "rows without a price"), std::int64_t(1));
        QVERIFY(r.sources[0].isTruncated && hasNote(r, "Spot prices of 0"));
    }

    void anInstanceTypeHasItsGpusMemoryAndNetwork()
    {
        const Recording r = read("types.json", R"({"InstanceTypes": [
            {"InstanceType": "p5.48xlarge", "MemoryInfo": {"SizeInMiB": 2097152},
             "NetworkInfo": {"NetworkPerformance": "3200 Gigabit", "NetworkCards": [
                {"NetworkCardIndex": 0, "BaselineBandwidthInGbps": 100.0, "PeakBandwidthInGbps": 100.0},
                {"NetworkCardIndex": 1, "BaselineBandwidthInGbps": 100.0, "PeakBandwidthInGbps": 100.0}],
                "EfaInfo": {"MaximumEfaInterfaces": 2}},
             "GpuInfo": {"Gpus": [{"Name": "H100", "Manufacturer": "NVIDIA", "Count": 8, "MemoryInfo": {"SizeInMiB": 81920}}]}},
            {"InstanceType": "old", "NetworkInfo": {"NetworkPerformance": "Up to 25 Gigabit", "NetworkCards": [{}]},
             "GpuInfo": {"Gpus": [{"Name": "T4", "Count": 1}]}},
            {"InstanceType": "m5.large", "MemoryInfo": {"SizeInMiB": 8192}}]})");
        QCOMPARE(r.sources[0].kind, SourceKind::InstanceTypes);
        QCOMPARE(r.nodes.size(), std::size_t(2));
        QVERIFY(r.nodes[0].gpu == "NVIDIA H100" && r.nodes[0].gpus == 8 && r.nodes[0].nics == 2);
        QCOMPARE(r.nodes[0].nicBytesPerSecond, 12.5e9);
        QCOMPARE(r.nodes[0].hostMemoryBytes, 2097152.0 * 1048576);
        QCOMPARE(r.nodes[0].count, 0); // a type is no machine
        QCOMPARE(r.nodes[1].nics * r.nodes[1].nicBytesPerSecond, 25e9 / 8);
        QCOMPARE(droppedOf(r, "instance types without a GPU"), std::int64_t(1));
        QVERIFY(hasNote(r, "8 GPUs NVIDIA H100 with 80 GiB, 200 Gbit/s over 2 EFA interfaces"));
    }

    void capturedPricesAreThose()
    {
        const Recording own = readOwn("cloud/prices.csv");
        QCOMPARE(own.prices.size(), std::size_t(3));
        QVERIFY(own.prices[0].usdPerHour == 32.5 && own.prices[1].usdPerHour == 10.25);
        QVERIFY(own.prices[1].gpu == "A100-80GB" && own.prices[1].gpus == 4 && own.prices[0].region == "north (1)");
        QVERIFY(own.prices[2].gpu == "L4" && own.prices[2].gpus == 2 && std::isnan(own.prices[2].spotUsdPerHour));
        if (!isThere("cloud/skypilot_catalog_rows.csv"))
            return;
        const Recording r = readShared("cloud/skypilot_catalog_rows.csv");
        QCOMPARE(r.prices.size(), std::size_t(3));
        QVERIFY(r.prices[0].usdPerHour == 47.60 && r.prices[1].usdPerHour == 25.44 && r.prices[2].usdPerHour == 0.59);
        QVERIFY(r.prices[1].gpu == "A100-80GB" && r.prices[1].gpus == 8 && r.prices[0].region == "East Coast (NY2)");
        QVERIFY(r.prices[2].gpu == "T4" && std::isnan(r.prices[2].spotUsdPerHour));
    }
};

TRAINYARD_APPLESS_TEST(TestInstanceCatalogues)
#include "tst_instance_catalogues.moc"
