// SPDX-License-Identifier: GPL-3.0-or-later
// How many micro-batches fit between forward and backward.
#include "core/memory/in_flight_room.h"

#include "core/cost/placements.h"
#include "tests/support/plans.h"

#include <QTest>

#include <memory>

using namespace trainyard;

namespace {

InFlightRoom roomOf(ScheduleKind schedule, Recompute recompute)
{
    Plan plan = test::oneSite(4);
    plan.schedule = schedule;
    plan.memory.recompute = recompute;
    auto workload = resolve(std::make_shared<const Plan>(plan), builtinCatalogue());
    workload->layout = place(*workload, PlacementMode::PipelineAcross);
    return inFlightRoom(*workload, 0.95);
}

} // namespace

class InFlightRoomTest : public QObject {
    Q_OBJECT
private slots:
    /// A micro-batch of which only layer inputs stay takes less room, so more of them fit: room / kept.
    void recomputationLeavesRoomForMore()
    {
        for (const ScheduleKind schedule : {ScheduleKind::Atlas, ScheduleKind::Varuna}) {
            const InFlightRoom none = roomOf(schedule, Recompute::None), full = roomOf(schedule, Recompute::Full);
            for (std::size_t stage = 0; stage < none.microBatches.size(); ++stage)
                QVERIFY(full.microBatches[stage] > 4 * none.microBatches[stage]);
        }
    }

    /// Where weight gradients are operations of their own, what they need stays for them whatever was recomputed.
    void whatWeightGradientsNeedCountsWhereTheyAreSplitOff()
    {
        const InFlightRoom split = roomOf(ScheduleKind::ZbH1, Recompute::Full), whole = roomOf(ScheduleKind::OneFOneB, Recompute::Full);
        for (std::size_t stage = 0; stage < split.microBatches.size(); ++stage)
            QVERIFY(split.microBatches[stage] < whole.microBatches[stage]);
    }
};

QTEST_APPLESS_MAIN(InFlightRoomTest)
#include "tst_in_flight_room.moc"
