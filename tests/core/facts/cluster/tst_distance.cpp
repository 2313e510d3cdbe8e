// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/cluster/distance.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace trainyard;

namespace {

Datacenter at(const char *id, double latitude, double longitude)
{
    Datacenter d;
    d.id = id;
    d.latitude = latitude;
    d.longitude = longitude;
    return d;
}

WanLink link(const char *a, const char *b, double rttMs)
{
    WanLink l;
    l.between = { a, b };
    l.rttMs = rttMs;
    return l;
}

/// Three in a line along the equator, ten degrees apart, and one whose place is not known.
Cluster alongTheEquator()
{
    Cluster cluster;
    cluster.datacenters = { at("west", 0, 0), at("middle", 0, 10), at("east", 0, 20), Datacenter {} };
    cluster.datacenters[3].id = "somewhere";
    cluster.wanLinks = { link("west", "middle", 60), link("east", "middle", 61), link("west", "east", 62),
        link("middle", "somewhere", 63) };
    return cluster;
}

const double kFiveDegreesMs = 2 * 5 * 111.1949 * 1.3 / 199.861639;

double tenths(double ms)
{
    return std::round(ms * 10) / 10;
}

} // namespace

class DistanceTest : public QObject {
    Q_OBJECT
private slots:
    void aDegreeOfTheEquatorIsThe360thPartOfItsLength()
    {
        // 2 pi 6371 / 360 = 111.195 km; a quarter of the way round is 90 of them
        QVERIFY(std::abs(greatCircleKm({ 0, 0 }, { 0, 1 }) - 111.195) < 1e-3);
        QVERIFY(std::abs(greatCircleKm({ 0, 0 }, { 90, 0 }) - 90 * 111.195) < 0.1);
        QVERIFY(std::abs(greatCircleKm({ 40, -100 }, { 40, -100 })) < 1e-9);
    }

    void aRoundTripIsAConstantPlusLightInFibre()
    {
        // 8 ms + 2 d 1.3 / (2/3 * 299.792458 km/ms): at 3000 km, 8 + 39.03
        QVERIFY(std::abs(roundTripMs(0) - 8) < 1e-12);
        QVERIFY(std::abs(roundTripMs(3000) - (8 + 7800 / 199.861639)) < 1e-6);
    }

    void theRuleMeetsThePublishedRoundTrips()
    {
        // The error that docs/model.md states: 36 pairs, mean 10.6 %, median 8.6 %, largest 42.7 % (UK South to
        // Japan East), bias -2.5 %.
        const Catalogue &catalogue = builtinCatalogue();
        std::vector<double> errors;
        double bias = 0;
        for (const RegionLink &measured : catalogue.regionLinks) {
            const Region *a = catalogue.region(measured.from), *b = catalogue.region(measured.to);
            const double predicted =
                roundTripMs(greatCircleKm({ a->latitude, a->longitude }, { b->latitude, b->longitude }));
            errors.push_back(std::abs(predicted / measured.rttMs - 1));
            bias += (predicted / measured.rttMs - 1) / double(catalogue.regionLinks.size());
        }
        std::ranges::sort(errors);
        double mean = 0;
        for (const double e : errors)
            mean += e / double(errors.size());
        QCOMPARE(errors.size(), std::size_t(36));
        QVERIFY2(std::abs(mean - 0.106) < 0.001, qPrintable(QString::number(mean)));
        QVERIFY(std::abs((errors[17] + errors[18]) / 2 - 0.086) < 0.001);
        QVERIFY(std::abs(errors.back() - 0.427) < 0.001);
        QVERIFY(std::abs(bias + 0.025) < 0.001);
    }

    void movingKilometresCoversThatDistance()
    {
        for (const Place from : { Place { 0, 0 }, Place { 48, 11 }, Place { -33, 151 } }) {
            QVERIFY(std::abs(greatCircleKm(from, movedBy(from, { 0, 200 }, 0)) - 200) < 1e-6);
            QVERIFY(std::abs(greatCircleKm(from, movedBy(from, { 200, 0 }, from.latitude)) - 200)
                < 0.2); // a parallel is not a great circle
        }
        QCOMPARE(movedBy({ 80, 0 }, { 0, 5000 }, 0).latitude, 85.0);
    }

    void anOffsetIsWhatMovedBySteps()
    {
        // over the date line, on a map true at 40 degrees
        const Place from { -10, 179 }, to = movedBy(from, { 300, -40 }, 40);
        QVERIFY(to.longitude < 0);
        const Offset back = offsetBetween(from, to, 40);
        QVERIFY(std::abs(back.eastKm - 300) < 1e-6 && std::abs(back.northKm + 40) < 1e-6);
    }

    void aMovedDatacenterTakesTheRoundTripsOfItsOwnLinksWithIt()
    {
        // stated + (rule at the new distance - rule at the old): 5 degrees of the equator are 2 * 5 * 111.19 * 1.3 /
        // 199.86 ms
        const auto next = withDatacenterAt(alongTheEquator(), 1, { 0, 5 });
        QVERIFY(next.has_value());
        QCOMPARE(next->wanLinks[0].rttMs, tenths(60 - kFiveDegreesMs));
        QCOMPARE(next->wanLinks[1].rttMs, tenths(61 + kFiveDegreesMs));
        QCOMPARE(next->wanLinks[2].rttMs, 62.0); // not its link: as measured
        QCOMPARE(next->wanLinks[3].rttMs, 63.0); // to a place that is not known: as measured
        QCOMPARE(*next->datacenters[1].longitude, 5.0);
    }

    void aStatedRoundTripChangesByTheDifferenceOnly()
    {
        Cluster cluster = alongTheEquator();
        cluster.wanLinks[0].rttMs = 406.9;
        const auto near = withDatacenterAt(cluster, 1, { 0, 9.9 });
        QCOMPARE(near->wanLinks[0].rttMs, tenths(406.9 - kFiveDegreesMs / 50));
        const auto back = withDatacenterAt(*near, 1, { 0, 10 });
        QCOMPARE(back->wanLinks[0].rttMs, 406.9);
        QCOMPARE(withDatacenterAt(cluster, 1, { 0, 10 })->wanLinks[0].rttMs, 406.9); // a step of nothing
    }

    void aRoundTripOfTheRuleFollowsTheRule()
    {
        Cluster cluster = alongTheEquator();
        cluster.wanLinks[0].rttMs = tenths(8 + 2 * kFiveDegreesMs);
        QCOMPARE(withDatacenterAt(cluster, 1, { 0, 5 })->wanLinks[0].rttMs, tenths(8 + kFiveDegreesMs));
        cluster.datacenters[1].latitude.reset(); // no place before: nothing to take a difference from
        cluster.wanLinks[0].rttMs = 60;
        QCOMPARE(withDatacenterAt(cluster, 1, { 0, 5 })->wanLinks[0].rttMs, tenths(8 + kFiveDegreesMs));
    }

    void noRoundTripFallsBelowTheRulesConstant()
    {
        Cluster cluster = alongTheEquator();
        cluster.wanLinks[0].rttMs = 12; // the rule says 22.5 over these 10 degrees
        QCOMPARE(withDatacenterAt(cluster, 1, { 0, 0 })->wanLinks[0].rttMs, 8.0);
        cluster.wanLinks[0].rttMs = 3; // stated below it
        QCOMPARE(withDatacenterAt(cluster, 1, { 0, 0 })->wanLinks[0].rttMs, 3.0);
        QCOMPARE(withDatacenterAt(cluster, 1, { 0, 15 })->wanLinks[0].rttMs, tenths(3 + kFiveDegreesMs));
    }

    void withoutALinkToAKnownPlaceThereIsNothingToFollow()
    {
        Cluster cluster = alongTheEquator();
        QVERIFY(!withDatacenterAt(cluster, 7, { 0, 5 })); // no such datacenter
        cluster.datacenters[1].latitude.reset();
        QVERIFY(!withDatacenterAt(cluster, 3, { 0, 5 })); // its only link leads to a place that is not known
        cluster.wanLinks.clear();
        QVERIFY(!withDatacenterAt(cluster, 0, { 0, 5 }));
    }
};

TRAINYARD_GUILESS_TEST(DistanceTest)
#include "tst_distance.moc"
