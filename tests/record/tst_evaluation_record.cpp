// SPDX-License-Identifier: GPL-3.0-or-later
// The tool that says whether a change changed an answer: it finds what differs, and nothing where only numbers of spans
// do.
#include "tests/record/comparison.h"
#include "tests/record/reading.h"
#include "tests/record/recorded_plans.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <set>
#include <sstream>

using namespace trainyard;
using namespace trainyard::record;

namespace {

/// Three datacenters: rows of every stage and of both directions of two links.
EvaluationPtr threeDatacenters()
{
    return test::evaluated(test::threeSites(6));
}

PlanRecord recorded(const Evaluation &evaluation)
{
    return recordOf("plan", evaluation);
}

Comparison difference(const Evaluation &before, const Evaluation &after)
{
    return compared({ recorded(before) }, { recorded(after) });
}

QString onlyDifference(const Comparison &comparison)
{
    const bool isOne = comparison.plans.size() == 1 && comparison.plans.front().what.size() == 1;
    return isOne ? QString::fromStdString(comparison.plans.front().what.front())
                 : QStringLiteral("%1 plans differ").arg(comparison.plans.size());
}

template <class Value> void reorder(std::vector<Value> &values, const std::vector<std::uint32_t> &order)
{
    if (values.empty())
        return;
    std::vector<Value> next;
    for (const std::uint32_t old : order)
        next.push_back(values[old]);
    values = std::move(next);
}

/// The same spans in the same rows, both numbered from the last to the first.
Timeline numberedBackwards(Timeline timeline)
{
    std::ranges::reverse(timeline.tracks);
    std::vector<std::uint32_t> order;
    for (Track &track : timeline.tracks) {
        const auto first = std::uint32_t(order.size());
        for (std::uint32_t s = track.last; s-- > track.first;)
            order.push_back(s);
        track.first = first;
        track.last = std::uint32_t(order.size());
    }
    reorder(timeline.start, order);
    reorder(timeline.end, order);
    reorder(timeline.kind, order);
    reorder(timeline.microBatch, order);
    reorder(timeline.chunk, order);
    reorder(timeline.cause, order);
    reorder(timeline.origin, order);
    std::vector<std::uint32_t> next(order.size());
    for (std::uint32_t s = 0; s < order.size(); ++s)
        next[order[s]] = s;
    for (std::vector<std::uint32_t> *spans : { &timeline.cause, &timeline.origin })
        for (std::uint32_t &span : *spans)
            span = span == kNoSpan ? kNoSpan : next[span];
    for (std::uint32_t t = 0; t < timeline.tracks.size(); ++t)
        for (std::uint32_t s = timeline.tracks[t].first; s < timeline.tracks[t].last; ++s)
            timeline.trackOf[s] = t;
    return timeline;
}

std::string written(const Record &record)
{
    std::ostringstream out;
    writeRecord(out, record);
    return out.str();
}

} // namespace

class TstEvaluationRecord : public QObject {
    Q_OBJECT

private slots:
    void twoRunsOfOnePlanAgree()
    {
        for (unsigned number = 0; number < 400; number += 7) {
            EvaluationWorkspace one, other;
            const PlanRecord before = recordOf("plan", randomPlan(number), one);
            QVERIFY2(before == recordOf("plan", randomPlan(number), other), qPrintable(QString::number(number)));
        }
    }

    void aRecordIsReadAsItWasWritten()
    {
        EvaluationWorkspace workspace;
        Record record;
        for (unsigned number = 0; number < 40; ++number)
            record.push_back(recordOf("random/" + std::to_string(number), randomPlan(number), workspace));
        std::istringstream in(written(record));
        const auto read = readRecord(in);
        QVERIFY(read.has_value());
        QVERIFY(*read == record);
        QVERIFY(compared(record, *read).agrees());
    }

    void whatIsNoRecordIsRefusedWithItsLine_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("where");
        QTest::newRow("nothing") << ""
                                 << "line 1";
        QTest::newRow("another file") << "{}\n"
                                      << "line 1";
        QTest::newRow("a figure of no plan") << "evaluation record 1\nn\tmfu\nf\t0\t1\n"
                                             << "line 3";
        QTest::newRow("a figure of no name") << "evaluation record 1\np\tplan\t1\t2\nf\t0\t1\n"
                                             << "line 3";
        QTest::newRow("a figure that is none") << "evaluation record 1\np\tplan\t1\t2\nn\tmfu\nf\t0\tmuch\n"
                                               << "line 4";
        QTest::newRow("half a row") << "evaluation record 1\np\tplan\t1\t2\nn\trow\nr\t0\t1\t2\n"
                                    << "line 4";
    }

    void whatIsNoRecordIsRefusedWithItsLine()
    {
        QFETCH(QString, text);
        QFETCH(QString, where);
        std::istringstream in(text.toStdString());
        const auto read = readRecord(in);
        QVERIFY(!read.has_value());
        QCOMPARE(QString::fromStdString(read.error().where), where);
    }

    void aChangedNanosecondIsFound()
    {
        const EvaluationPtr evaluation = threeDatacenters();
        for (const std::size_t span :
            { std::size_t(0), evaluation->timeline.spanCount() / 2, evaluation->timeline.spanCount() - 1 }) {
            Evaluation later = *evaluation;
            ++later.timeline.end[span]; // of n spans one ends 1 ns later: 1/n ns in the mean
            const QString found = onlyDifference(difference(*evaluation, later));
            QVERIFY2(found.startsWith(QLatin1String("row ")) && found.contains(QLatin1String("starts moved by 0 ns")),
                qPrintable(found));
        }
    }

    void swappedMicroBatchesAreFound()
    {
        const EvaluationPtr evaluation = threeDatacenters();
        Evaluation other = *evaluation;
        std::swap(other.timeline.microBatch[0], other.timeline.microBatch[1]);
        QVERIFY(evaluation->timeline.microBatch[0] != evaluation->timeline.microBatch[1]);
        QVERIFY(
            onlyDifference(difference(*evaluation, other)).startsWith(QLatin1String("row compute of class 0 stage 0")));
    }

    void aSpanThatIsGoneIsFound()
    {
        const EvaluationPtr evaluation = threeDatacenters();
        Evaluation other = *evaluation;
        Track &row = other.timeline.tracks.front();
        --row.last; // n spans become n - 1
        const QString expected =
            QStringLiteral("%1 spans became %2").arg(row.last - row.first + 1).arg(row.last - row.first);
        QVERIFY2(onlyDifference(difference(*evaluation, other)).contains(expected), qPrintable(expected));
    }

    void otherNumbersOfSpansAndRowsAreNoDifference()
    {
        const EvaluationPtr evaluation = threeDatacenters();
        Evaluation renumbered = *evaluation;
        renumbered.timeline = numberedBackwards(evaluation->timeline);
        QVERIFY(renumbered.timeline.start != evaluation->timeline.start);
        const Comparison comparison = difference(*evaluation, renumbered);
        QVERIFY(comparison.agrees());
        QCOMPARE(comparison.otherCauses, std::size_t(0));
        QCOMPARE(comparison.otherOrders, std::size_t(1)); // said, and no difference
    }

    void anotherCauseIsCountedAndADifferenceWhereAskedFor()
    {
        const EvaluationPtr evaluation = threeDatacenters();
        Evaluation other = *evaluation;
        const std::size_t caused = std::size_t(std::ranges::find_if(other.timeline.cause, [](std::uint32_t cause) {
            return cause != kNoSpan;
        }) - other.timeline.cause.begin());
        other.timeline.cause[caused] = kNoSpan;
        const Comparison lenient = difference(*evaluation, other);
        QVERIFY(lenient.agrees());
        QCOMPARE(lenient.otherCauses, std::size_t(1));
        QVERIFY(!compared({ recorded(*evaluation) }, { recorded(other) }, { .ofCauses = false }).agrees());
    }

    void aTransferThatCarriesAnotherResultIsFound()
    {
        const EvaluationPtr evaluation = threeDatacenters();
        Evaluation other = *evaluation;
        const auto carries =
            std::ranges::find_if(other.timeline.origin, [](std::uint32_t origin) { return origin != kNoSpan; });
        QVERIFY(carries != other.timeline.origin.end());
        ++*carries;
        QVERIFY(onlyDifference(difference(*evaluation, other))
                    .endsWith(QLatin1String("transfers carry what other spans made")));
    }

    void aRowWithoutSpansIsNoDifference()
    {
        const EvaluationPtr evaluation = threeDatacenters();
        Evaluation other = *evaluation;
        other.timeline.tracks.push_back({ .stream = Stream::Store, .stage = 3 });
        QVERIFY(difference(*evaluation, other).agrees());
    }

    void aChangedByteIsFound()
    {
        // 1 byte of 1,000,000 is 1e-6 of it, above 1e-9; of 80e9 it is 1.25e-11: rounded, and said to be.
        Evaluation before = *threeDatacenters();
        before.memoryCurves = { { { 0, 1'000'000 }, { 5, 2'000'000 }, { 9, 1'000'000 } } };
        Evaluation after = before;
        ++after.memoryCurves[0][1].bytes;
        QVERIFY(onlyDifference(difference(before, after))
                    .startsWith(QLatin1String("memory of stage 0: other bytes at the same 3 points")));

        before.memoryCurves = after.memoryCurves = { { { 0, 80'000'000'000 }, { 5, 81'000'000'000 } } };
        ++after.memoryCurves[0][1].bytes;
        const Comparison rounded = difference(before, after);
        QVERIFY(rounded.agrees());
        QCOMPARE(rounded.roundedCurves, std::size_t(1));
    }

    void twoPointsThatChangeAgainstEachOtherAreFound()
    {
        Evaluation before = *threeDatacenters();
        before.memoryCurves = { { { 0, 100 }, { 1, 200 }, { 2, 300 }, { 3, 100 } } };
        Evaluation after = before; // the sum of the bytes stays
        after.memoryCurves[0][1].bytes += 50;
        after.memoryCurves[0][2].bytes -= 50;
        QVERIFY(!difference(before, after).agrees());
    }

    void aCurveIsAFunctionOfTime()
    {
        // A point that changes nothing, and the steps within an instant, are the walk's affair; the peak within it is
        // not.
        Evaluation before = *threeDatacenters();
        before.memoryCurves = { { { 0, 100 }, { 1, 200 }, { 4, 150 } } };
        Evaluation after = before;
        after.memoryCurves = { { { 0, 100 }, { 1, 170 }, { 1, 200 }, { 3, 200 }, { 4, 150 } } };
        QVERIFY(difference(before, after).agrees());
        after.memoryCurves = { { { 0, 100 }, { 1, 300 }, { 1, 200 }, { 4, 150 } } };
        QVERIFY(!difference(before, after).agrees());
        after.memoryCurves = { { { 0, 100 }, { 2, 200 }, { 4, 150 } } };
        QVERIFY(onlyDifference(difference(before, after)).contains(QLatin1String("at other times")));
    }

    void figuresAreComparedToTheTolerance()
    {
        const EvaluationPtr evaluation = threeDatacenters();
        Evaluation other = *evaluation;
        *other.metrics.iterationTime *= 1 + 1e-11;
        QVERIFY(difference(*evaluation, other).agrees());
        *other.metrics.iterationTime *= 1 + 1e-8;
        QVERIFY(onlyDifference(difference(*evaluation, other)).startsWith(QLatin1String("iteration_time_s: ")));
    }

    void aFigureThatNoLongerAppliesIsFound()
    {
        const EvaluationPtr evaluation = threeDatacenters();
        Evaluation other = *evaluation;
        other.metrics.mfu.reset();
        QVERIFY(onlyDifference(difference(*evaluation, other)).endsWith(QLatin1String("is gone")));
    }

    void timesOfTheEvaluationItselfAreNoDifference()
    {
        const EvaluationPtr evaluation = threeDatacenters();
        Evaluation other = *evaluation;
        other.metrics.evaluateMs += 100;
        other.metrics.simulateMs += 100;
        QVERIFY(difference(*evaluation, other).agrees());
    }

    void recordsWithoutACommonPlanDoNotAgree()
    {
        const PlanRecord record = recorded(*threeDatacenters());
        PlanRecord other = record;
        other.name = "another";
        const Comparison comparison = compared({ record }, { other });
        QVERIFY(!comparison.agrees());
        QVERIFY(comparison.missing == std::vector<std::string> { "plan" }
            && comparison.added == std::vector<std::string> { "another" });
    }

    void everyFeatureOccursInAHundredRandomPlans()
    {
        Coverage coverage;
        EvaluationWorkspace workspace;
        for (unsigned number = 0; number < kRandomPlans; ++number)
            if (const auto evaluation = evaluate(randomPlan(number), builtinCatalogue(), workspace, {}, Depth::Spans))
                coverage.add(**evaluation);
        QVERIFY(coverage.counts().size() > 50);
        for (const auto &[feature, count] : coverage.counts())
            QVERIFY2(count >= 100,
                qPrintable(QStringLiteral("%1 in %2 plans").arg(QString::fromStdString(feature)).arg(count)));
    }

    void samplesAndPublishedRunsAreRecordedToo()
    {
        const std::vector<NamedPlan> plans = recordedPlans(TRAINYARD_SOURCE_DIR, 10);
        const auto count = [&](const std::string &beginning) {
            return std::ranges::count_if(
                plans, [&](const NamedPlan &plan) { return plan.name.starts_with(beginning) && plan.make(); });
        };
        QVERIFY(count("sample/") >= 9);
        QVERIFY(count("row/") >= 1900);
        QCOMPARE(count("random/"), 10);
        std::set<std::string> names;
        for (const NamedPlan &plan : plans)
            names.insert(plan.name);
        QCOMPARE(names.size(), plans.size());
    }
};

TRAINYARD_APPLESS_TEST(TstEvaluationRecord)
#include "tst_evaluation_record.moc"
