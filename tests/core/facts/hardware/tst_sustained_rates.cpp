// SPDX-License-Identifier: GPL-3.0-or-later
// Rates that a GPU sustains: by architecture, by the cube root of its power limit, never above a kernel's alone.
#include "core/facts/catalogue/catalogue.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>

using namespace trainyard;

namespace {

const std::vector<ArchitectureRates> kKnown { { "Hopper", 700, 1000, { 0.8, 0.7, 0.6, 1.1, 0.75, 1.2 }, "" },
    { "", 0, 0, { 0.9, 0.9, 0.9, 1, 0.9, 1 }, "" } };

GpuSpec gpu(const char *architecture, double watts, double tflops = 1000)
{
    GpuSpec spec;
    spec.architecture = architecture;
    spec.tdpWatts = watts;
    spec.peakTflops[std::size_t(Precision::Bf16)] = tflops;
    return spec;
}

} // namespace

class TestSustainedRates : public QObject {
    Q_OBJECT

private slots:
    void atTheFittedPowerLimitTheyAreTheFittedOnes();
    void theClockGoesWithTheCubeRootOfThePowerLimit();
    void noKernelRunsFasterThanAlone();
    void anArchitectureThatIsNotNamedTakesTheCommonOnes();
    void productsTakeTheRateOfTheirFormat();
    void theCatalogueSlowsHopperMoreThanAmpere();
};

void TestSustainedRates::atTheFittedPowerLimitTheyAreTheFittedOnes()
{
    QCOMPARE(sustainedRates(kKnown, gpu("Hopper", 700)), kKnown.front().rates);
    QCOMPARE(sustainedRates(kKnown, gpu("Hopper", 0)), kKnown.front().rates); // an inline GPU that does not say
    QCOMPARE(sustainedRates({}, gpu("Hopper", 700)), SustainedRates {});
}

/// P ~ f V² and V ~ f, so f ~ P^(1/3); what is no clock (grouped kernels against dense ones, the host) stays.
void TestSustainedRates::theClockGoesWithTheCubeRootOfThePowerLimit()
{
    const SustainedRates full = kKnown.front().rates, low = sustainedRates(kKnown, gpu("Hopper", 350));
    const double clock = std::cbrt(0.5);
    QVERIFY(std::abs(low.half - full.half * clock) < 1e-12);
    QVERIFY(std::abs(low.eight - full.eight * clock) < 1e-12);
    QVERIFY(std::abs(low.attention - full.attention * clock) < 1e-12);
    QCOMPARE(sustainedRates(kKnown, gpu("Hopper", 350, 500)).half, full.half); // half a chip at half the power
    QCOMPARE(low.grouped, full.grouped);
    QCOMPARE(low.host, full.host);
}

void TestSustainedRates::noKernelRunsFasterThanAlone()
{
    const SustainedRates cool = sustainedRates(kKnown, gpu("Hopper", 5000));
    QCOMPARE(cool.half, 1.0);
    QCOMPARE(cool.four, 1.0);
}

void TestSustainedRates::anArchitectureThatIsNotNamedTakesTheCommonOnes()
{
    QCOMPARE(sustainedRates(kKnown, gpu("CDNA 3", 750)), kKnown.back().rates);
}

void TestSustainedRates::productsTakeTheRateOfTheirFormat()
{
    const SustainedRates &rates = kKnown.front().rates;
    QCOMPARE(rates.ofProducts(Precision::Tf32), rates.half);
    QCOMPARE(rates.ofProducts(Precision::Bf16), rates.half);
    QCOMPARE(rates.ofProducts(Precision::Mxfp8), rates.eight);
    QCOMPARE(rates.ofProducts(Precision::Nvfp4), rates.four);
}

void TestSustainedRates::theCatalogueSlowsHopperMoreThanAmpere()
{
    const Catalogue &catalogue = builtinCatalogue();
    const auto half = [&](const char *id) { return sustainedRates(catalogue.sustained, *catalogue.gpu(id)).half; };
    QVERIFY(half("h100-sxm-80gb") < half("a100-sxm-80gb"));
    QVERIFY(half("h100-sxm-96gb") < half("h100-sxm-80gb")); // 500 W
    QVERIFY(half("h100-pcie-80gb") < half("h100-sxm-96gb")); // 350 W
    QCOMPARE(half("v100-sxm-32gb"), half("a100-sxm-80gb")); // Ampere's, as its kernels
}

TRAINYARD_APPLESS_TEST(TestSustainedRates)
#include "tst_sustained_rates.moc"
