// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/catalogue.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace trainyard;

class GpuSpecTest : public QObject {
    Q_OBJECT

private slots:
    void aChipWithoutAUnitUsesTheNextWiderOne();
    void aChipWithAUnitUsesIt();
};

void GpuSpecTest::aChipWithoutAUnitUsesTheNextWiderOne()
{
    const Catalogue &catalogue = builtinCatalogue();
    const GpuSpec &v100 = *catalogue.gpu("v100-sxm-16gb");
    QCOMPARE(v100.peakFlops(Precision::Bf16), v100.peakFlops(Precision::Fp16)); // Volta has no bf16
    QCOMPARE(v100.peakFlops(Precision::Tf32), v100.peakFlops(Precision::Fp32));
    const GpuSpec &p40 = *catalogue.gpu("p40-24gb");
    QCOMPARE(p40.peakFlops(Precision::Fp16), p40.peakFlops(Precision::Fp32)); // Pascal P40: fp16 is slower than fp32
    const GpuSpec &h100 = *catalogue.gpu("h100-sxm-80gb");
    QCOMPARE(h100.peakFlops(Precision::Nvfp4), h100.peakFlops(Precision::Fp8));
    QCOMPARE(h100.peakFlops(Precision::Mxfp8), h100.peakFlops(Precision::Fp8));
}

void GpuSpecTest::aChipWithAUnitUsesIt()
{
    const GpuSpec &a100 = *builtinCatalogue().gpu("a100-sxm-80gb");
    QCOMPARE(a100.peakFlops(Precision::Fp32), 19.5e12);
    QCOMPARE(a100.peakFlops(Precision::Tf32), 156e12);
    QCOMPARE(a100.peakFlops(Precision::Bf16), 312e12);
    const GpuSpec &b200 = *builtinCatalogue().gpu("b200-sxm-180gb");
    QCOMPARE(b200.peakFlops(Precision::Nvfp4), 2 * b200.peakFlops(Precision::Fp8));
}

TRAINYARD_APPLESS_TEST(GpuSpecTest)
#include "tst_gpu_spec.moc"
