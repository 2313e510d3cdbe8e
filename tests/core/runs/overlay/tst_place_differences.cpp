// SPDX-License-Identifier: GPL-3.0-or-later
// Time by place and kind: of a plan and the run that its own task graph makes nothing differs; what was made longer in
// the run, and nothing else, is longer by as much.
#include "core/runs/overlay/place_differences.h"
#include "tests/core/runs/overlay/recorded_run.h"
#include "tests/core/runs/overlay/sample_runs.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <map>

using namespace trainyard;
using namespace trainyard::test;
using DifferenceKind::Compute;
using DifferenceKind::ExposedCommunication;

namespace {

RecordedRunOptions exactly()
{
    RecordedRunOptions options;
    options.steps = 3;
    options.noise = options.outlierShare = options.endJitter = 0;
    options.clockOffset = options.clockDrift = 0;
    return options;
}

EvaluationPtr stagesPlan()
{
    return evaluatedSample(smallSamples()[0]); // TP 2, PP 4, DP 2
}

RunPtr runOf(const EvaluationPtr &plan, const RecordedRunOptions &options)
{
    return makeRun(recordRun(plan, options).recording);
}

QByteArray textOf(const PlaceDifference &row)
{
    return QByteArray::fromStdString(row.place) + ' ' + nameOf(row.kind) + ": " + QByteArray::number(row.reference)
        + " s, " + QByteArray::number(row.measured) + " s";
}

/// The sum of the kinds of each place.
std::map<std::string, double> sumsOf(const std::vector<PlaceDifference> &rows, double PlaceDifference::*side)
{
    std::map<std::string, double> sums;
    for (const PlaceDifference &row : rows)
        sums[row.place] += row.*side;
    return sums;
}

std::vector<PlaceDifference> underPlanOf(const EvaluationPtr &plan, const RunPtr &run)
{
    return placeDifferences(*plan, *run, run->steps.front(), RankOrder::DataBeforePipeline);
}

} // namespace

class PlaceDifferencesTest : public QObject {
    Q_OBJECT
private slots:
    void thePlansOwnRunDiffersNowhere()
    {
        const EvaluationPtr plan = stagesPlan();
        const RunPtr run = runOf(plan, exactly());
        const auto rows = underPlanOf(plan, run);
        QCOMPARE(rows.size(), std::size_t(4 * 4)); // stages; compute, communication, bubble, host
        for (const PlaceDifference &row : rows) {
            QVERIFY2(row.isTold(), textOf(row));
            QVERIFY2(std::abs(row.difference()) < 1e-3 * run->steps.front().seconds, textOf(row));
            if (row.kind == Compute) // to the nanosecond of each kernel
                QVERIFY2(std::abs(row.difference()) < 1e-5 * row.reference, textOf(row));
        }
    }

    /// A stage that waits for a transfer which itself waits: bubble or communication, by who tells it; never computing.
    void overAWanComputingAndTheRestDifferNowhere()
    {
        const EvaluationPtr plan = evaluatedSample(smallSamples()[1]);
        const RunPtr run = runOf(plan, exactly());
        std::map<std::string, double> rest;
        for (const PlaceDifference &row : underPlanOf(plan, run))
            if (row.kind == Compute)
                QVERIFY2(std::abs(row.difference()) < 1e-5 * row.reference, textOf(row));
            else
                rest[row.place] += row.difference();
        QCOMPARE(rest.size(), std::size_t(3));
        for (const auto &[place, seconds] : rest)
            QVERIFY2(std::abs(seconds) < 1e-3 * run->steps.front().seconds, place.c_str());
    }

    void whatIsLongerInTheRunIsLongerByThatMuch()
    {
        const EvaluationPtr plan = stagesPlan();
        RecordedRunOptions slower = exactly();
        slower.computeFactor = 1.2;
        const RunPtr run = runOf(plan, slower);
        for (const PlaceDifference &row : underPlanOf(plan, run)) {
            if (row.kind == Compute)
                QVERIFY2(std::abs(row.difference() - 0.2 * row.reference) < 1e-5 * row.reference, textOf(row));
            if (row.kind == ExposedCommunication || row.kind == DifferenceKind::Host)
                QVERIFY2(std::abs(row.difference()) < 1e-3 * run->steps.front().seconds, textOf(row));
        }
        RecordedRunOptions exchanges = exactly();
        exchanges.tensorFactor = 1.2;
        const RunPtr other = runOf(plan, exchanges);
        const double inside = plan->metrics.breakdown->tensorParallel;
        QVERIFY(inside > 0);
        for (const PlaceDifference &row : kindDifferences(underPlanOf(plan, other))) {
            if (row.kind == Compute)
                QVERIFY2(std::abs(row.difference()) < 1e-5 * row.reference, textOf(row));
            if (row.kind == ExposedCommunication)
                QVERIFY2(std::abs(row.difference() - 0.2 * inside) < 0.02 * inside, textOf(row));
        }
    }

    void theKindsOfAPlaceAddUpToItsStep()
    {
        const EvaluationPtr plan = stagesPlan();
        const RunPtr run = runOf(plan, {});
        const auto rows = underPlanOf(plan, run);
        const RunStep &step = run->steps.front();
        const double shown = double(step.end - step.start) * 1e-9;
        for (const auto &[place, seconds] : sumsOf(rows, &PlaceDifference::reference))
            QVERIFY(std::abs(seconds - double(plan->timeline.duration) * 1e-9) < 1e-8);
        for (const auto &[place, seconds] : sumsOf(rows, &PlaceDifference::measured))
            QVERIFY(std::abs(seconds - shown) < 1e-8);
        double whole = 0;
        for (const PlaceDifference &row : kindDifferences(rows))
            whole += row.measured;
        QVERIFY(std::abs(whole - shown) < 1e-8);
    }

    void twoRunsAreComparedRankByRank()
    {
        const EvaluationPtr plan = stagesPlan();
        const RunPtr run = runOf(plan, exactly());
        for (const PlaceDifference &row : placeDifferences(*run, run->steps[0], *run, run->steps[0]))
            QCOMPARE(row.difference(), 0.0);
        RecordedRunOptions slower = exactly();
        slower.straggler = 5;
        slower.stragglerFactor = 1.2;
        const RunPtr other = runOf(plan, slower);
        int found = 0;
        for (const PlaceDifference &row : placeDifferences(*run, run->steps[0], *other, other->steps[0])) {
            if (row.kind != Compute)
                continue;
            // Others begin their next step while it still works on this one.
            const double expected = row.place == "rank 5" ? 0.2 * row.reference : 0;
            QVERIFY2(std::abs(row.difference() - expected) < 0.01 * row.reference, textOf(row));
            ++found;
        }
        QCOMPARE(found, int(run->recording->ranks.size()));
    }

    void aPlaceThatNobodyRecordedIsNotTold()
    {
        const EvaluationPtr plan = stagesPlan();
        RecordedRunOptions partly = exactly();
        const RankMap map(*plan->plan, plan->layout);
        const std::vector<int> gone = map.ranksOf(2, 0, map.replicas());
        partly.missing = { gone.begin(), gone.end() };
        const RunPtr run = runOf(plan, partly);
        int untold = 0;
        for (const PlaceDifference &row : underPlanOf(plan, run)) {
            QCOMPARE(row.isMeasuredTold, row.place != "stage 3");
            untold += row.isMeasuredTold ? 0 : 1;
        }
        QVERIFY(untold > 0);
        for (const PlaceDifference &row : kindDifferences(underPlanOf(plan, run)))
            QCOMPARE(row.gpus, map.worldSize() - int(gone.size()));
    }

    void whatShowsNoSpansIsNoRow()
    {
        Recording log;
        SampleSeries &times = log.series.emplace_back();
        times.name = SharedText("step_time");
        times.isByStep = true;
        times.at = { 1, 2, 3 };
        times.value = { 1.0, 1.0, 1.0 };
        const RunPtr run = makeRun(std::move(log));
        QVERIFY(!run->steps.empty());
        QVERIFY(underPlanOf(stagesPlan(), run).empty());
        QVERIFY(placeDifferences(*run, run->steps[0], *run, run->steps[0]).empty());
    }
};

TRAINYARD_APPLESS_TEST(PlaceDifferencesTest)
#include "tst_place_differences.moc"
