// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/catalogue.h"
#include "core/iteration/cost/kernels/gemm.h"
#include "tests/core/iteration/cost/kernel_equations.h"
#include "tests/support/catalogued.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

using namespace trainyard;
using kernel_equations::kernelFile;
using test::gpu;

class GemmTest : public QObject {
    Q_OBJECT

private slots:
    void measuredKernelsAreMetAsTheCatalogueSays_data();
    void measuredKernelsAreMetAsTheCatalogueSays();
    void aLargerProductIsNeverMuchFaster();
    void aPartlyFilledWaveTakesAsLongAsAFullOne();
    void castsCostTrafficOnlyWhereAFormatIsNarrower();
    void efficiencyStaysBelowThePeak();
    void aTinyProductTakesTheLaunchFloor();
    void aThinProductIsBoundByMemory();
    void narrowerNumbersAreFaster();
    void sisterChipsScaleWithTheirSpecification();
    void everyGpuSaysHowFarItsCurveIsToBeTrusted();
};

namespace {

double seconds(const GpuSpec &spec, GemmShape shape, Precision precision = Precision::Bf16)
{
    return gemmTime(spec, precision, shape).value;
}

/// Median error of the rows that the fit did not see; rows are m, n, k and milliseconds.
double heldOutError(const nlohmann::json &rows, const GpuSpec &spec, Precision precision)
{
    std::vector<double> errors;
    for (std::size_t i = 4; i < rows.size(); i += 5) {
        const GemmShape shape { rows[i][0], rows[i][1], rows[i][2] };
        const double time = seconds(spec, shape, precision) + castTime(spec, precision, shape.m * shape.k).value;
        errors.push_back(std::abs(time / (rows[i][3].get<double>() * 1e-3) - 1));
    }
    std::ranges::nth_element(errors, errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2));
    return errors[errors.size() / 2];
}

/// By the equations, off by what is known.
nlohmann::json ownRows(const nlohmann::json &curve, const GpuSpec &spec, Precision precision)
{
    nlohmann::json rows = nlohmann::json::array();
    for (std::size_t i = 0; i < kernel_equations::kRows; ++i) {
        const double m = std::pow(2, 4 + i * 7 % 10) + double(i % 3), n = 128 * double(1 + i * 11 % 64),
                     k = 256 * double(1 + i * 13 % 40);
        const double time = kernel_equations::product(curve, spec, precision, m, n, k)
            + kernel_equations::cast(curve, spec, precision, m * k);
        rows.push_back({ m, n, k, time * (1 + kernel_equations::off(i)) * 1e3 });
    }
    return rows;
}

} // namespace

void GemmTest::measuredKernelsAreMetAsTheCatalogueSays_data()
{
    QTest::addColumn<QString>("family");
    QTest::addColumn<QString>("format");
    QTest::addColumn<double>("limit");
    // Median error of the rows that the fit did not see: 5 %, and where measurements of neighbouring shapes scatter
    // more, that.
    const std::map<std::string, double> wider = { { "a100_sxm bf16", 0.055 }, { "h100_sxm fp8_block", 0.057 },
        { "b200_sxm bf16", 0.063 }, { "b300_sxm bf16", 0.06 }, { "gb200 bf16", 0.055 }, { "l40s bf16", 0.085 },
        { "l40s fp8", 0.08 }, { "l40s fp8_block", 0.055 }, { "rtx_pro_6000_server fp8_block", 0.085 },
        { "rtx_pro_6000_server nvfp4", 0.063 } };
    for (const auto &[family, entry] : kernelFile()["families"].items()) {
        if (!entry.contains("residuals"))
            continue;
        for (const auto &[format, errors] : entry["residuals"]["gemm"].items()) {
            const std::string name = family + " " + format;
            QTest::newRow(name.c_str()) << QString::fromStdString(family) << QString::fromStdString(format)
                                        << (wider.contains(name) ? wider.at(name) : 0.05);
        }
    }
}

void GemmTest::measuredKernelsAreMetAsTheCatalogueSays()
{
    QFETCH(QString, family);
    QFETCH(QString, format);
    QFETCH(double, limit);
    const auto entry = kernelFile()["families"][family.toStdString()];
    const double claimed = entry["residuals"]["gemm"][format.toStdString()]["median_abs_error_held_out"];
    QVERIFY2(claimed <= limit, qPrintable(QString::number(claimed)));

    const std::map<QString, std::pair<const char *, Precision>> tables = { { "bf16", { "bfloat16", Precision::Bf16 } },
        { "fp8", { "fp8", Precision::Fp8 } }, { "fp8_block", { "fp8_block", Precision::Mxfp8 } },
        { "nvfp4", { "nvfp4", Precision::Nvfp4 } } };
    const auto [table, precision] = tables.at(format);
    const GpuSpec &spec = gpu(entry["relative_to"].get<std::string>().c_str());
    const double own = heldOutError(
                     ownRows(entry["curves"]["gemm"][format.toStdString()], spec, precision), spec, precision),
                 expected = kernel_equations::kMedianOff / (1 + kernel_equations::kMedianOff);
    QVERIFY2(std::abs(own - expected) < 1e-9, qPrintable(QString::number(own)));

    std::ifstream file(TRAINYARD_SHARED_DIR "/validation/fit/kernel_gemm.json");
    if (!file)
        return;
    const auto data = nlohmann::json::parse(file);
    const double measured = heldOutError(data["gpus"][family.toStdString()]["dtypes"][table], spec, precision);
    QVERIFY2(std::abs(measured - claimed) < 1e-3, qPrintable(QString::number(measured)));
}

void GemmTest::aLargerProductIsNeverMuchFaster()
{
    // A size that fills its tiles better may be faster than a smaller one, but not by much.
    for (const GpuSpec &spec : builtinCatalogue().gpus) {
        for (double m = 16; m < 1e5; m *= 1.7) {
            for (double n = 16; n < 1e5; n *= 2.3) {
                for (double k = 16; k < 1e5; k *= 3.1) {
                    const double base = seconds(spec, { m, n, k });
                    QVERIFY(seconds(spec, { 1.3 * m, n, k }) >= 0.99 * base);
                    QVERIFY(seconds(spec, { m, 1.3 * n, k }) >= 0.99 * base);
                    QVERIFY(seconds(spec, { m, n, 1.3 * k }) >= 0.9 * base); // a longer k may be split
                }
            }
        }
    }
}

void GemmTest::aPartlyFilledWaveTakesAsLongAsAFullOne()
{
    // 108 multiprocessors, no overlap of waves, no loss, only whole tiles: 108 tiles of 256 x 128 are one wave, 109 two
    GpuSpec spec = gpu("a100-sxm-80gb");
    spec.gemm = GemmCurve {};
    spec.gemm.waveOverlap = 0;
    spec.gemm.tileLoss = 1e4;
    spec.gemm.launchUs = 0;
    spec.gemm.memoryFraction = 1e3;
    const double one = seconds(spec, { 256 * 108, 128, 8192 }), two = seconds(spec, { 256 * 109, 128, 8192 });
    QVERIFY(two > 1.9 * one && two < 2.01 * one);
}

void GemmTest::castsCostTrafficOnlyWhereAFormatIsNarrower()
{
    const GpuSpec &h100 = gpu("h100-sxm-80gb");
    QCOMPARE(castTime(h100, Precision::Bf16, 1e8).value, 0.0);
    QCOMPARE(castTime(gpu("a100-sxm-80gb"), Precision::Fp8, 1e8).value, 0.0); // computes in 16 bits
    // read 2 bytes and write 1 of each element, at no more than the memory's rate
    QVERIFY(castTime(h100, Precision::Fp8, 1e9).value >= 3e9 / (2 * h100.memoryGBps * 1e9));
}

void GemmTest::efficiencyStaysBelowThePeak()
{
    for (const GpuSpec &spec : builtinCatalogue().gpus) {
        const double best = 2 * std::pow(16384, 3)
            / (spec.peakFlops(Precision::Bf16) * seconds(spec, { 16384, 16384, 16384 })); // 2mnk / (t peak)
        QVERIFY2(best > 0.4 && best < 1, spec.id.c_str());
    }
}

void GemmTest::aTinyProductTakesTheLaunchFloor()
{
    const GpuSpec &a100 = gpu("a100-sxm-80gb");
    const double floor = a100.gemm.launchUs * 1e-6;
    QVERIFY(seconds(a100, { 16, 16, 16 }) >= floor);
    QVERIFY(seconds(a100, { 16, 16, 16 }) < 1.5 * floor);
}

void GemmTest::aThinProductIsBoundByMemory()
{
    // 64 x 64 results from a very long k: 4·64·k bytes against 2·64·64·k FLOPs
    const GpuSpec &h200 = gpu("h200-sxm-141gb");
    const double m = 64, n = 65536, k = 65536;
    const double memory = 2 * (m * k + n * k + m * n) / (h200.memoryGBps * 1e9 * h200.gemm.memoryFraction);
    QVERIFY(seconds(h200, { m, n, k }) > memory);
    QVERIFY(seconds(h200, { m, n, k }) < 1.15 * memory + h200.gemm.launchUs * 1e-6);
}

void GemmTest::narrowerNumbersAreFaster()
{
    const GemmShape shape { 8192, 8192, 8192 };
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
    const GemmShape shape { 8192, 8192, 8192 };
    const double ratio = seconds(gpu("h100-pcie-80gb"), shape) / seconds(gpu("h100-sxm-80gb"), shape);
    QVERIFY(std::abs(ratio - 989.4 / 756) < 0.03);
}

void GemmTest::everyGpuSaysHowFarItsCurveIsToBeTrusted()
{
    QVERIFY(gpu("h100-sxm-80gb").gemm.evidence == KernelEvidence::Measured);
    QVERIFY(gpu("a100-pcie-80gb").gemm.evidence == KernelEvidence::SameFamily);
    QVERIFY(gpu("mi300x-192gb").gemm.evidence == KernelEvidence::SpecSheet);
}

TRAINYARD_APPLESS_TEST(GemmTest)
#include "tst_gemm.moc"
