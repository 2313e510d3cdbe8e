// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/catalogue/catalogue.h"
#include "core/cost/gemm.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>

using namespace trainyard;

class GemmTest : public QObject
{
    Q_OBJECT

private slots:
    void measuredKernelsAreMetWithinEightPercent_data();
    void measuredKernelsAreMetWithinEightPercent();
    void timeNeverFallsWhenAnyDimensionGrows();
    void timeHasNoKinks();
    void efficiencyStaysBelowThePeak();
    void aTinyProductTakesTheLaunchFloor();
    void aThinProductIsBoundByMemory();
    void narrowerNumbersAreFaster();
    void sisterChipsScaleWithTheirSpecification();
    void everyGpuSaysHowFarItsCurveIsToBeTrusted();
};

namespace {

const GpuSpec &gpu(const char *id)
{
    const GpuSpec *found = builtinCatalogue().gpu(id);
    if (!found)
        qFatal("no GPU %s", id);
    return *found;
}

double seconds(const GpuSpec &spec, GemmShape shape, Precision precision = Precision::Bf16)
{
    return gemmTime(spec, precision, shape).value;
}

double median(std::vector<double> values)
{
    std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
    return values[values.size() / 2];
}

} // namespace

void GemmTest::measuredKernelsAreMetWithinEightPercent_data()
{
    QTest::addColumn<QString>("id");
    QTest::newRow("a100_sxm") << "a100-sxm-80gb";
    QTest::newRow("h100_sxm") << "h100-sxm-80gb";
    QTest::newRow("h200_sxm") << "h200-sxm-141gb";
    QTest::newRow("b200_sxm") << "b200-sxm-180gb";
    QTest::newRow("gb200") << "gb200-186gb";
}

void GemmTest::measuredKernelsAreMetWithinEightPercent()
{
    QFETCH(QString, id);
    std::ifstream file(TRAINYARD_SHARED_DIR "/validation/fit/aiconfigurator_gemm_bf16.json");
    if (!file)
        QSKIP("the folder of published measurements is absent");
    const auto data = nlohmann::json::parse(file);
    std::vector<double> heldOut, large;
    const auto &rows = data["gpus"][QTest::currentDataTag()]["rows"];
    for (std::size_t i = 4; i < rows.size(); i += 5) {    // the rows that the fit did not see
        const GemmShape shape{rows[i][0], rows[i][1], rows[i][2]};
        const double error = std::abs(seconds(gpu(id.toLatin1()), shape) / (rows[i][3].get<double>() * 1e-3) - 1);
        heldOut.push_back(error);
        if (2 * shape.m * shape.n * shape.k > 16e9)
            large.push_back(error);
    }
    QVERIFY2(median(heldOut) <= 0.08, qPrintable(QString::number(median(heldOut))));
    QVERIFY2(median(large) <= 0.06, qPrintable(QString::number(median(large))));
}

void GemmTest::timeNeverFallsWhenAnyDimensionGrows()
{
    for (const GpuSpec &spec : builtinCatalogue().gpus) {
        for (double m = 16; m < 1e5; m *= 1.7) {
            for (double n = 16; n < 1e5; n *= 2.3) {
                for (double k = 16; k < 1e5; k *= 3.1) {
                    const double base = seconds(spec, {m, n, k});
                    QVERIFY(seconds(spec, {1.01 * m, n, k}) > base);
                    QVERIFY(seconds(spec, {m, 1.01 * n, k}) > base);
                    QVERIFY(seconds(spec, {m, n, 1.01 * k}) > base);
                }
            }
        }
    }
}

void GemmTest::timeHasNoKinks()
{
    // Slope from the left equals slope from the right: f(x+e) - 2 f(x) + f(x-e) vanishes beside f(x+e) - f(x-e)
    const GpuSpec &h100 = gpu("h100-sxm-80gb");
    for (double m = 32; m < 20000; m *= 1.03) {
        const double step = 1e-4 * m;
        const double low = seconds(h100, {m - step, 4096, 4096}), mid = seconds(h100, {m, 4096, 4096}),
                     high = seconds(h100, {m + step, 4096, 4096});
        QVERIFY(std::abs(high - 2 * mid + low) < 1e-2 * (high - low));
    }
}

void GemmTest::efficiencyStaysBelowThePeak()
{
    for (const GpuSpec &spec : builtinCatalogue().gpus) {
        const double best = gemmEfficiency(spec, Precision::Bf16, {16384, 16384, 16384});
        QVERIFY2(best > 0.4 && best < 1, spec.id.c_str());
    }
}

void GemmTest::aTinyProductTakesTheLaunchFloor()
{
    const GpuSpec &a100 = gpu("a100-sxm-80gb");
    const double floor = a100.gemm.launchUs * 1e-6;
    QVERIFY(seconds(a100, {16, 16, 16}) >= floor);
    QVERIFY(seconds(a100, {16, 16, 16}) < 1.1 * floor);
}

void GemmTest::aThinProductIsBoundByMemory()
{
    // 64 x 64 results from a very long k: 4·64·k bytes against 2·64·64·k FLOPs
    const GpuSpec &h200 = gpu("h200-sxm-141gb");
    const double m = 64, n = 65536, k = 65536;
    const double memory = 2 * (m * k + n * k + m * n) / (h200.memoryGBps * 1e9 * h200.gemm.memoryFraction);
    QVERIFY(seconds(h200, {m, n, k}) > memory);
    QVERIFY(seconds(h200, {m, n, k}) < 1.15 * memory + h200.gemm.launchUs * 1e-6);
}

void GemmTest::narrowerNumbersAreFaster()
{
    const GemmShape shape{8192, 8192, 8192};
    const GpuSpec &b200 = gpu("b200-sxm-180gb");
    QVERIFY(seconds(b200, shape, Precision::Nvfp4) < seconds(b200, shape, Precision::Fp8));
    QVERIFY(seconds(b200, shape, Precision::Fp8) < seconds(b200, shape, Precision::Bf16));
    QVERIFY(seconds(b200, shape, Precision::Bf16) < seconds(b200, shape, Precision::Fp32));
    // a chip without 8-bit units computes in 16 bits: no faster than its matrix units allow
    const GpuSpec &a100 = gpu("a100-sxm-80gb");
    QVERIFY(seconds(a100, shape, Precision::Fp8) > 0.95 * seconds(a100, shape, Precision::Bf16));
}

void GemmTest::sisterChipsScaleWithTheirSpecification()
{
    const GemmShape shape{8192, 8192, 8192};
    const double ratio = seconds(gpu("h100-pcie-80gb"), shape) / seconds(gpu("h100-sxm-80gb"), shape);
    QVERIFY(std::abs(ratio - 989.4 / 756) < 0.03);
}

void GemmTest::everyGpuSaysHowFarItsCurveIsToBeTrusted()
{
    QVERIFY(gpu("h100-sxm-80gb").gemm.evidence == KernelEvidence::Measured);
    QVERIFY(gpu("a100-pcie-80gb").gemm.evidence == KernelEvidence::SameFamily);
    QVERIFY(gpu("mi300x-192gb").gemm.evidence == KernelEvidence::SpecSheet);
}

QTEST_APPLESS_MAIN(GemmTest)
#include "tst_gemm.moc"
