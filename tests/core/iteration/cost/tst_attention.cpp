// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/catalogue.h"
#include "core/iteration/cost/kernels/attention.h"
#include "tests/core/iteration/cost/kernel_equations.h"
#include "tests/support/catalogued.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>

using namespace trainyard;
using kernel_equations::kernelFile;
using test::gpu;

class AttentionTest : public QObject {
    Q_OBJECT

private slots:
    void measuredKernelsAreMetAsTheCatalogueSays_data();
    void measuredKernelsAreMetAsTheCatalogueSays();
    void aCausalMaskHalvesLongSequences();
    void timeGrowsWithEveryArgument();
    void backwardTakesFiveProductsForTwo();
    void fewerKeyHeadsAreNeverSlower();
    void narrowProductsLeaveAttentionInSixteenBits();
};

namespace {

AttentionShape square(double sequence, double heads = 32, double head = 128)
{
    return { 1, heads, heads, sequence, sequence, head, head, true };
}

/// Median error of the rows that the fit did not see; rows are batch, sequence, heads, key heads (0: as many), width of
/// a head and milliseconds.
double heldOutError(const nlohmann::json &rows, const GpuSpec &spec)
{
    std::vector<double> errors;
    for (std::size_t i = 4; i < rows.size(); i += 5) {
        const double heads = rows[i][2], keyHeads = rows[i][3], sequence = rows[i][1], head = rows[i][4];
        const AttentionShape shape { rows[i][0], heads, keyHeads > 0 ? keyHeads : heads, sequence, sequence, head, head,
            true };
        errors.push_back(
            std::abs(attentionForward(spec, Precision::Bf16, shape).value / (rows[i][5].get<double>() * 1e-3) - 1));
    }
    std::ranges::sort(errors);
    return errors[errors.size() / 2];
}

/// By the equations, off by what is known.
nlohmann::json ownRows(const nlohmann::json &curve, const GpuSpec &spec)
{
    nlohmann::json rows = nlohmann::json::array();
    for (std::size_t i = 0; i < kernel_equations::kRows; ++i) {
        const double batch = double(1 + i % 4), sequence = std::pow(2, 7 + i * 3 % 8), heads = 8 * double(1 + i % 5),
                     keyHeads = i % 2 == 0 ? 0 : 4, head = 64 + 32 * double(i * 5 % 7);
        const double time =
            kernel_equations::attention(curve, spec, batch, heads, keyHeads > 0 ? keyHeads : heads, sequence, head);
        rows.push_back({ batch, sequence, heads, keyHeads, head, time * (1 + kernel_equations::off(i)) * 1e3 });
    }
    return rows;
}

} // namespace

void AttentionTest::measuredKernelsAreMetAsTheCatalogueSays_data()
{
    QTest::addColumn<QString>("gpu");
    QTest::addColumn<double>("claimed");
    for (const auto &[family, entry] : kernelFile()["families"].items()) {
        if (entry.contains("residuals"))
            QTest::newRow(family.c_str())
                << QString::fromStdString(entry["relative_to"])
                << entry["residuals"]["attention"]["bf16"]["median_abs_error_held_out"].get<double>();
    }
}

void AttentionTest::measuredKernelsAreMetAsTheCatalogueSays()
{
    QFETCH(QString, gpu);
    QFETCH(double, claimed);
    QVERIFY2(claimed <= 0.05, qPrintable(QString::number(claimed)));
    const GpuSpec &spec = ::gpu(gpu.toStdString());
    const auto &curve = kernelFile()["families"][QTest::currentDataTag()]["curves"]["attention"]["bf16"];
    const double own = heldOutError(ownRows(curve, spec), spec),
                 expected = kernel_equations::kMedianOff / (1 + kernel_equations::kMedianOff);
    QVERIFY2(std::abs(own - expected) < 1e-9, qPrintable(QString::number(own)));
    std::ifstream file(TRAINYARD_SHARED_DIR "/validation/fit/kernel_attention_prefill.json");
    if (!file)
        return;
    const auto data = nlohmann::json::parse(file);
    const double measured = heldOutError(data["gpus"][QTest::currentDataTag()]["dtypes"]["bfloat16"], spec);
    QVERIFY2(std::abs(measured - claimed) < 1e-3, qPrintable(QString::number(measured)));
}

void AttentionTest::aCausalMaskHalvesLongSequences()
{
    for (const char *id : { "a100-sxm-80gb", "h100-sxm-80gb", "b200-sxm-180gb" }) {
        AttentionShape shape = square(65536);
        const double causal = attentionForward(gpu(id), Precision::Bf16, shape).value;
        shape.causal = false;
        const double full = attentionForward(gpu(id), Precision::Bf16, shape).value;
        QVERIFY2(full / causal > 1.9 && full / causal < 2.1, id);
    }
}

void AttentionTest::timeGrowsWithEveryArgument()
{
    for (const GpuSpec &spec : builtinCatalogue().gpus) {
        double before = 0;
        for (double sequence = 128; sequence < 2e5; sequence *= 1.5) {
            const double now = attentionForward(spec, Precision::Bf16, square(sequence)).value;
            QVERIFY2(now > before, spec.id.c_str());
            QVERIFY(attentionForward(spec, Precision::Bf16, square(sequence, 64)).value > now);
            QVERIFY(attentionForward(spec, Precision::Bf16, square(sequence, 32, 160)).value > now);
            before = now;
        }
    }
}

void AttentionTest::backwardTakesFiveProductsForTwo()
{
    // 2.5 times the FLOPs at 0.86 of the rate
    const GpuSpec &h100 = gpu("h100-sxm-80gb");
    const double ratio = attentionBackward(h100, Precision::Bf16, square(32768)).value
        / attentionForward(h100, Precision::Bf16, square(32768)).value;
    QVERIFY2(ratio > 2.5 && ratio < 2.5 / 0.85, qPrintable(QString::number(ratio)));
}

void AttentionTest::fewerKeyHeadsAreNeverSlower()
{
    for (const GpuSpec &spec : builtinCatalogue().gpus) {
        AttentionShape grouped = square(4096);
        grouped.kvHeads = 8;
        QVERIFY(attentionForward(spec, Precision::Bf16, grouped).value
            < attentionForward(spec, Precision::Bf16, square(4096)).value);
    }
}

void AttentionTest::narrowProductsLeaveAttentionInSixteenBits()
{
    const GpuSpec &b200 = gpu("b200-sxm-180gb");
    QCOMPARE(attentionForward(b200, Precision::Nvfp4, square(8192)).value,
        attentionForward(b200, Precision::Bf16, square(8192)).value);
}

TRAINYARD_APPLESS_TEST(AttentionTest)
#include "tst_attention.moc"
