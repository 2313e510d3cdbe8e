// SPDX-License-Identifier: GPL-3.0-or-later
// Which validated rows become evidence and ranges of the confidence label.

#include "tests/support/test_program.h"
#include "tools/fits/confidence_fit.h"

#include <QTest>

#include <cmath>

using namespace trainyard;

namespace {

/// A row of one publication, whose measured time is exp(error) of the predicted second.
ValidationResult row(const char *id, double error, RowStatus status)
{
    ValidationResult r { .source = "p",
        .group = {},
        .id = id,
        .metric = "iteration_time_s",
        .status = status,
        .published = std::exp(error),
        .predicted = 1.0,
        .problem = {},
        .note = {},
        .plan = std::make_shared<const Plan>(),
        .evidence = { { "megatron-core", "a100-sxm-80gb", "Ampere", 16, false, Reach::Node } } };
    r.publication = "p";
    return r;
}

} // namespace

class TstConfidenceFit : public QObject {
    Q_OBJECT

private slots:
    void rowsWithAssumedInputsAreNoEvidence()
    {
        const std::vector rows { row("a", 0, RowStatus::Gated), row("b", 0, RowStatus::Gated),
            row("c", 5, RowStatus::Guessed) };
        const ConfidenceData data = confidenceData(rows);
        QCOMPARE(data.evidence.size(), 1u);
        QCOMPARE(data.evidence[0].rows, 2); // of three
        QVERIFY(data.ranges.at(0).range.high < 1); // the third lies e^5 - 1 above
    }
};

TRAINYARD_GUILESS_TEST(TstConfidenceFit)
#include "tst_confidence_fit.moc"
