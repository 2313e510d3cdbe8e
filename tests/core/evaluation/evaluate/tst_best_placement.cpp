// SPDX-License-Identifier: GPL-3.0-or-later
// What `wan.cell: auto` leaves to the engine: how many pipelines make a cell. Each number that a plan may state is an
// independent reference: auto is as fast as the best of them.
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace trainyard;
using namespace trainyard::test;

namespace {

EvaluationPtr scored(const Plan &plan)
{
    EvaluationWorkspace workspace;
    const auto answer = evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace, {}, Depth::Score);
    return answer ? *answer : nullptr;
}

/// Of a plan that can run.
Metric secondsOf(const Plan &plan)
{
    const EvaluationPtr answer = scored(plan);
    return answer && answer->feasible() ? answer->metrics.iterationTime : Metric {};
}

Plan headline(double nodePairGbps, ScheduleKind schedule)
{
    Plan plan = atlasRow(4, 4, 16, 2, schedule);
    plan.wan.sharing = WanSharing::Temporal;
    plan.cluster.wanLinks[0].nodePairGbps = nodePairGbps;
    return plan;
}

} // namespace

class TestBestPlacement : public QObject {
    Q_OBJECT

private slots:
    void autoCellsAreAsFastAsTheBestSize();
    void aFasterLinkNeverSlowsAutoCells();
};

void TestBestPlacement::autoCellsAreAsFastAsTheBestSize()
{
    for (const ScheduleKind schedule : { ScheduleKind::OneFOneB, ScheduleKind::GPipe, ScheduleKind::Atlas })
        for (const double rate : { 2.0, 5.0, 10.0, 20.0, 40.0 }) {
            Plan plan = headline(rate, schedule);
            const double open = *secondsOf(plan);
            for (const int cell : { 1, 2, 4, 8, 16 }) {
                plan.wan.cell = cell;
                QVERIFY2(open <= *secondsOf(plan) * (1 + 1e-9),
                    qPrintable(QStringLiteral("%1 Gbps, cells of %2: %3 against %4")
                                   .arg(rate)
                                   .arg(cell)
                                   .arg(open)
                                   .arg(*secondsOf(plan))));
            }
        }
}

/// Where C falls below one, cells of one pipeline were taken, and a hop took longer than before.
void TestBestPlacement::aFasterLinkNeverSlowsAutoCells()
{
    for (const ScheduleKind schedule : { ScheduleKind::OneFOneB, ScheduleKind::GPipe }) {
        double before = std::numeric_limits<double>::infinity();
        for (double rate = 1; rate < 200; rate *= 1.3) {
            const double now = *secondsOf(headline(rate, schedule));
            QVERIFY2(now <= before * (1 + 1e-6),
                qPrintable(QStringLiteral("%1 Gbps: %2 -> %3").arg(rate).arg(before).arg(now)));
            before = now;
        }
    }
}

TRAINYARD_APPLESS_TEST(TestBestPlacement)
#include "tst_best_placement.moc"
