// SPDX-License-Identifier: GPL-3.0-or-later
// Counts and the nouns that go with them; figures as tables and reports have them.
#include "models/text/format.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <limits>

using namespace trainyard;

class FormatTest : public QObject {
    Q_OBJECT

private slots:
    void oneIsSingularAndAllElseIsPlural()
    {
        const QString one = QStringLiteral("copy"), many = QStringLiteral("copies");
        QCOMPARE(countOf(0, one, many), QStringLiteral("0 copies"));
        QCOMPARE(countOf(1, one, many), QStringLiteral("1 copy"));
        QCOMPARE(countOf(2, one, many), QStringLiteral("2 copies"));
        QCOMPARE(countOf(1'048'576, one, many), QStringLiteral("1,048,576 copies"));
        QCOMPARE(gpusText(1), QStringLiteral("1 GPU"));
        QCOMPARE(gpusText(16'384), QStringLiteral("16,384 GPUs"));
    }

    /// The window says of a figure what a report says.
    void figuresAreThoseOfReports()
    {
        QCOMPARE(formatPercent(0.000412), QStringLiteral("0.0412 %"));
        QCOMPARE(formatBytes(2e15), QStringLiteral("2.00 PB"));
        QCOMPARE(formatUsd(-5), QStringLiteral("\u2212$5.00"));
        QCOMPARE(formatUsd(999'600), QStringLiteral("$1.00M"));
        QCOMPARE(formatSeconds(0), QStringLiteral("0 s"));
        QCOMPARE(formatSeconds(std::numeric_limits<double>::infinity()), QStringLiteral("\u2013"));
        QCOMPARE(formatGbps(40), QStringLiteral("40 Gbps"));
        QCOMPARE(formatChange(2, 1), QStringLiteral("\u221250.0 %"));
    }

    void bytesAreExplainedInBothUnits()
    {
        // 80 GiB = 80 · 2³⁰ = 85.9 · 10⁹ bytes
        QCOMPARE(explainBytes(80.0 * (1LL << 30)),
            QString::fromUtf8("85.9 GB is 80.0 GiB: 1 GB is 10⁹ bytes; 1 GiB, by which GPUs are named, is 2³⁰."));
    }
};

TRAINYARD_APPLESS_TEST(FormatTest)
#include "tst_format.moc"
