// SPDX-License-Identifier: GPL-3.0-or-later
// Ranges from held-out publications and whether they hold, on rows made up for each case.

#include "core/evaluation/validation/coverage.h"
#include "core/evaluation/validation/held_out.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <random>

using namespace trainyard;

namespace {

const EvidenceKey kA100 { "megatron-core", "a100-sxm-80gb", "Ampere", 16, false, Reach::Node };

EvidenceKey sharded(const std::string &stack)
{
    EvidenceKey key = kA100;
    key.stack = stack;
    key.shardsWeights = true;
    return key;
}

Plan planNamed(const std::string &release, int globalBatch)
{
    Plan plan;
    plan.workload.globalBatch = globalBatch;
    plan.stack.release = release;
    return plan;
}

/// A row whose measured time is exp(error) of the predicted second.
ValidationResult row(
    const std::string &publication, double error, const EvidenceKey &key = kA100, RowRole role = RowRole::Test)
{
    static int count = 0;
    ValidationResult r { .source = publication,
        .group = {},
        .id = std::to_string(++count),
        .metric = "iteration_time_s",
        .role = role,
        .published = std::exp(error),
        .predicted = 1.0,
        .problem = {},
        .note = {},
        .plan = std::make_shared<const Plan>(planNamed({}, count)),
        .evidence = { key } };
    r.publication = publication;
    return r;
}

/// Rows of one publication, evenly from `least` to `most`.
void add(std::vector<ValidationResult> &rows, const std::string &publication, double least, double most, int count,
    const EvidenceKey &key = kA100, RowRole role = RowRole::Test)
{
    for (int i = 0; i < count; ++i)
        rows.push_back(row(publication, least + (most - least) * i / std::max(1, count - 1), key, role));
}

TimeRange rangeOf(const std::vector<ValidationResult> &rows, ConfidenceLabel label = ConfidenceLabel::Calibrated,
    const EvidenceKey &plan = kA100)
{
    const auto range = HeldOutRanges(timedRows(rows), 0).range(label, plan);
    if (!range)
        qFatal("no range");
    return *range;
}

bool isAlike(const TimeRange &a, const TimeRange &b)
{
    return std::abs(a.low - b.low) < 1e-9 && std::abs(a.high - b.high) < 1e-9;
}

} // namespace

class TstHeldOut : public QObject {
    Q_OBJECT

private slots:
    void aRateCountsAsItsTimeAndOneFigureARow()
    {
        ValidationResult rate = row("p", 0);
        rate.metric = "tokens_per_s";
        rate.published = 100;
        rate.predicted = 125;
        ValidationResult time = rate;
        time.metric = "iteration_time_s";
        ValidationResult memory = row("p", 0);
        memory.metric = "memory.peak_bytes";
        const auto rows = timedRows(std::vector { rate, time, memory });
        QCOMPARE(rows.size(), 1u);
        // 100 tokens/s where 125 were predicted: the iteration took 125 / 100 of the predicted time
        QVERIFY(std::abs(rows[0].error - std::log(1.25)) < 1e-12);
    }

    void aRowHasTheLabelThatOtherPublicationsGiveIt()
    {
        std::vector<ValidationResult> rows;
        add(rows, "a", 0, 0.1, 3);
        add(rows, "b", 0, 0.1, 2);
        const auto countOf = [&](ConfidenceLabel label) {
            return HeldOutRanges(timedRows(rows), 0).rangesOf(label).at(0).rows;
        };
        QCOMPARE(countOf(ConfidenceLabel::Calibrated), 2); // b, by the three rows of a
        QCOMPARE(countOf(ConfidenceLabel::SameFamily), 3); // a, by the two of b
        EvidenceKey elsewhere = kA100;
        elsewhere.architecture = "Hopper";
        elsewhere.gpu = "h100-sxm-80gb";
        add(rows, "c", 0, 0.1, 4, elsewhere);
        QCOMPARE(countOf(ConfidenceLabel::Extrapolated), 4);
    }

    void aPublicationWeighsTheSameHoweverManyRowsItHas()
    {
        std::vector<ValidationResult> few, many;
        for (auto *rows : { &few, &many }) {
            add(*rows, "b", -0.2, 0.3, 101);
            add(*rows, "c", -0.1, 0.2, 101);
        }
        add(few, "a", -0.01, 0.01, 101);
        add(many, "a", -0.01, 0.01, 2001);
        const TimeRange x = rangeOf(few), y = rangeOf(many);
        QVERIFY2(std::abs(x.low - y.low) < 0.01 && std::abs(x.high - y.high) < 0.01,
            qPrintable(QStringLiteral("%1 %2, %3 %4").arg(x.low).arg(x.high).arg(y.low).arg(y.high)));
    }

    void rowsThatWereFittedToCountHalf()
    {
        // the wide publication pulls less where it is the fitted one
        std::vector<ValidationResult> wideIsFitted, narrowIsFitted;
        for (auto *rows : { &wideIsFitted, &narrowIsFitted }) {
            const bool isWide = rows == &wideIsFitted;
            add(*rows, "a", -0.1, 0.1, 100, kA100, isWide ? RowRole::Test : RowRole::Fit);
            add(*rows, "b", -0.1, 0.1, 100, kA100, isWide ? RowRole::Test : RowRole::Fit);
            add(*rows, "c", -0.5, 0.5, 100, kA100, isWide ? RowRole::Fit : RowRole::Test);
        }
        QVERIFY(rangeOf(wideIsFitted).high < rangeOf(narrowIsFitted).high);
    }

    void howAnotherStackShardsItsWeightsWidensNothing()
    {
        std::vector<ValidationResult> rows;
        add(rows, "a", -0.1, 0.1, 20);
        add(rows, "b", -0.1, 0.15, 20);
        add(rows, "c", -0.1, 0.2, 20, sharded("fsdp"));
        std::vector<ValidationResult> more = rows;
        add(more, "d", 0.8, 1, 20, sharded("deepspeed"));
        for (const ConfidenceLabel label :
            { ConfidenceLabel::Calibrated, ConfidenceLabel::SameFamily, ConfidenceLabel::Extrapolated }) {
            QVERIFY(isAlike(rangeOf(rows, label), rangeOf(more, label)));
            QVERIFY(isAlike(rangeOf(rows, label, sharded("fsdp")), rangeOf(more, label, sharded("fsdp"))));
            QVERIFY(rangeOf(more, label, sharded("deepspeed")).high > 0.8);
        }
    }

    void aRangeHoldsThePrediction()
    {
        std::vector<ValidationResult> rows;
        add(rows, "a", 0.2, 0.3, 20);
        add(rows, "b", 0.2, 0.3, 20);
        QCOMPARE(rangeOf(rows).low, 0.0);
        QVERIFY(rangeOf(rows).high >= 0.29);
    }

    /// Twelve publications with an error of their own and one of each row, a thousand times: nine in ten rows of a
    /// thirteenth lie inside, so the widening is neither too little nor too much for so few.
    void nineInTenRowsOfANewPublicationLieInside()
    {
        std::mt19937 random(7);
        std::normal_distribution<double> normal;
        double inside = 0;
        constexpr int kTrials = 300, kRows = 12;
        for (int trial = 0; trial < kTrials; ++trial) {
            std::vector<ValidationResult> rows;
            for (int p = 0; p < 12; ++p) {
                const double own = 0.1 * normal(random);
                for (int i = 0; i < kRows; ++i)
                    rows.push_back(row("p" + std::to_string(p), own + 0.07 * normal(random)));
            }
            const TimeRange range = rangeOf(rows);
            const double own = 0.1 * normal(random);
            for (int i = 0; i < kRows; ++i) {
                const double error = own + 0.07 * normal(random);
                inside += double(range.low <= error && error <= range.high) / (kTrials * kRows);
            }
        }
        QVERIFY2(inside > 0.87 && inside < 0.95, qPrintable(QString::number(inside)));
    }

    void theScoreIsTheWidthAndWhatLiesOutside()
    {
        // width 0.3; 2 / 0.1 times 0.05 outside, at either end
        QVERIFY(std::abs(intervalScore(0, { -0.1, 0.2 }) - 0.3) < 1e-12);
        QVERIFY(std::abs(intervalScore(0.25, { -0.1, 0.2 }) - (0.3 + 20 * 0.05)) < 1e-12);
        QVERIFY(std::abs(intervalScore(-0.15, { -0.1, 0.2 }) - (0.3 + 20 * 0.05)) < 1e-12);
    }

    void coverageIsCountedWithoutTheRowsThemselves()
    {
        // Three publications agree, the fourth lies far off: no range that was read without it holds it, though one
        // read with it might.
        std::vector<ValidationResult> rows;
        add(rows, "a", -0.1, 0.1, 21);
        add(rows, "b", -0.1, 0.1, 21);
        add(rows, "c", -0.1, 0.1, 21);
        add(rows, "d", 0.9, 1, 7);
        const auto coverage = heldOutCoverage(rows, rows);
        QCOMPARE(coverage.size(), 1u);
        QCOMPARE(coverage[0].label, ConfidenceLabel::Calibrated);
        QCOMPARE(coverage[0].all.rows, 70);
        QCOMPARE(coverage[0].all.publications, 4);
        QVERIFY(std::abs(coverage[0].all.inside - 0.9) < 1e-9); // 63 of 70
        QVERIFY(std::abs(coverage[0].all.insideAlike - 0.75) < 1e-9); // three of four
        // rows of one's own are judged by all others
        std::vector<ValidationResult> own;
        add(own, "mine", 0.05, 0.06, 4);
        const auto mine = heldOutCoverage(own, rows);
        QCOMPARE(mine.at(0).all.rows, 4);
        QCOMPARE(mine[0].all.inside, 1.0);
    }

    void rowsOfOnesOwnAreJudgedByWhatTheProgramGives()
    {
        const ConfidenceData data { { { kA100, 3 } },
            { { ConfidenceLabel::Calibrated, "", false, "", 3, 1, { -0.1, 0.2 } },
                { ConfidenceLabel::Extrapolated, "", false, "", 3, 1, { -0.5, 0.5 } } } };
        EvidenceKey elsewhere = kA100;
        elsewhere.architecture = elsewhere.gpu = "x";
        const std::vector rows { row("mine", std::log(1.19)), row("mine", std::log(1.21)),
            row("mine", std::log(1.4), elsewhere) };
        const auto coverage = coverageOfOwn(rows, data);
        QCOMPARE(coverage.size(), 2u);
        QCOMPARE(coverage[0].all.inside, 0.5); // +19 % of +20 %, and +21 %
        QCOMPARE(coverage[1].label, ConfidenceLabel::Extrapolated);
        QCOMPARE(coverage[1].all.inside, 1.0);
        // the inside one scores the width, ln 1.2 - ln 0.9; the other 20 times ln 1.21 - ln 1.2 more
        QVERIFY(std::abs(coverage[0].all.score - (std::log(1.2 / 0.9) + 10 * std::log(1.21 / 1.2))) < 1e-9);
    }

    void equalPlansUnderTwoReleasesAreRepeats()
    {
        // Predicted times differ by what is known of the releases: 1.01 and 0.99 of the measured ones remain, half of
        // it is 0.01.
        std::vector rows { row("s", std::log(1.01)), row("s", std::log(0.99)) };
        rows[0].plan = std::make_shared<const Plan>(planNamed("1.0", 64));
        rows[1].plan = std::make_shared<const Plan>(planNamed("2.0", 64));
        QVERIFY(std::abs(halfOfRepeats(rows) - (std::log(1.01) - std::log(0.99)) / 2) < 1e-12);
        QCOMPARE(halfOfRepeats(std::vector { row("s", 0.5), row("s", -0.5) }), 0.0); // two plans
    }

    void sourcesOfOnePaperOrRepositoryAreOnePublication()
    {
        RowSet paper { .source = "t1", .title = {}, .url = "https://arxiv.org/abs/2104.04473", .note = {}, .rows = {} };
        QCOMPARE(publicationOf(paper), paper.url);
        RowSet prequel { .source = "b",
            .title = {},
            .url = "https://github.com/bigscience-workshop/bigscience/blob/master/a.md",
            .note = {},
            .rows = {} };
        RowSet sequel = prequel;
        sequel.url = "https://github.com/bigscience-workshop/bigscience/blob/master/b.md";
        QCOMPARE(publicationOf(prequel), publicationOf(sequel));
        sequel.url = "https://github.com/bigscience-workshop/other";
        QVERIFY(publicationOf(prequel) != publicationOf(sequel));
        sequel.url.clear();
        QCOMPARE(publicationOf(sequel), std::string("b"));
    }
};

TRAINYARD_APPLESS_TEST(TstHeldOut)
#include "tst_held_out.moc"
