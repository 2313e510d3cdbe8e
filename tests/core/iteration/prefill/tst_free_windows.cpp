// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/groups.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <set>

using namespace trainyard;

namespace {

using Work = std::vector<FreeWindow>; // spans of a compute stream

void addTrack(Timeline &timeline, Stream stream, int pipelineClass, int stage, const Work &work)
{
    Track track {
        .stream = stream, .pipelineClass = pipelineClass, .stage = stage, .first = std::uint32_t(timeline.spanCount())
    };
    for (const FreeWindow &span : work) {
        timeline.start.push_back(span.start);
        timeline.end.push_back(span.end);
        timeline.kind.push_back(WorkKind::Forward);
    }
    track.last = std::uint32_t(timeline.spanCount());
    timeline.tracks.push_back(track);
}

Layout layoutOf(const std::vector<int> &pipelines, const std::vector<StageLocation> &locations)
{
    Layout layout;
    for (const int count : pipelines)
        layout.classes.push_back({ 0, count, 1, locations });
    return layout;
}

} // namespace

class TestFreeWindows : public QObject {
    Q_OBJECT

private slots:
    void idleTimeAndWorkAddUpToTheIteration()
    {
        Timeline timeline;
        addTrack(timeline, Stream::Compute, 0, 0, { { 0, 10 }, { 10, 15 }, { 40, 60 } });
        addTrack(timeline, Stream::Compute, 0, 1, { { 20, 30 }, { 50, 90 } });
        addTrack(timeline, Stream::Collective, 0, 1, { { 0, 100 } }); // not the compute stream
        timeline.duration = 100;
        const FreeWindows free = freeWindows(timeline, layoutOf({ 3 }, { { 0, 0 }, { 1, 0 } }), 4);
        QCOMPARE(free.period, Nanoseconds(100));
        QCOMPARE(free.locations.size(), std::size_t(2));
        QCOMPARE(free.locations[0].windows, (Work { { 15, 40 }, { 60, 100 } }));
        QCOMPARE(free.locations[0].idle, Nanoseconds(100 - 35));
        QCOMPARE(free.locations[0].gpus, 12);
        QCOMPARE(free.locations[1].location.datacenter, 1);
    }

    void aGapAtTheEndGoesOnInTheNextIteration()
    {
        Timeline timeline;
        addTrack(timeline, Stream::Compute, 0, 0, { { 20, 30 }, { 50, 90 } });
        timeline.duration = 100;
        const FreeWindows free = freeWindows(timeline, layoutOf({ 1 }, { { 0, 0 } }), 1);
        QCOMPARE(free.locations[0].windows, (Work { { 30, 50 }, { 90, 120 } }));
        QCOMPARE(free.locations[0].idle, Nanoseconds(50));
    }

    void whereNothingComesAfterwardsAGapEndsAtTheEnd()
    {
        Timeline timeline;
        addTrack(timeline, Stream::Compute, 0, 0, { { 20, 30 }, { 50, 90 } });
        addTrack(timeline, Stream::Compute, 0, 1, {}); // a GPU that no job uses
        timeline.duration = 100;
        const FreeWindows free =
            freeWindows(timeline, layoutOf({ 1 }, { { 0, 0 }, { 0, 0 } }), 1, 1, Afterwards::Nothing);
        QCOMPARE(free.locations[0].windows, (Work { { 0, 20 }, { 30, 50 }, { 90, 100 } }));
        QCOMPARE(free.locations[0].idle, Nanoseconds(50));
        QCOMPARE(free.locations[1].windows, (Work { { 0, 100 } }));
    }

    void workWithoutDurationInterruptsNothing()
    {
        Timeline timeline;
        addTrack(timeline, Stream::Compute, 0, 0, { { 0, 10 }, { 50, 50 }, { 90, 100 } });
        timeline.duration = 100;
        QCOMPARE(freeWindows(timeline, layoutOf({ 1 }, { { 0, 0 } }), 1).locations[0].windows, (Work { { 10, 90 } }));
    }

    void theGuardIsKeptBeforeTraining()
    {
        QCOMPARE(usable({ { 0, 10 }, { 20, 23 }, { 90, 120 } }, 3), (Work { { 0, 7 }, { 90, 117 } }));
    }

    void groupsAreOfGpusWithEqualBubbles()
    {
        // Two classes with equal time-lines and one without: 2 x 3 + 2 x 2 GPUs on stage 0 are alike.
        Timeline timeline;
        for (int c = 0; c < 3; ++c) {
            addTrack(timeline, Stream::Compute, c, 0, { { 0, 10 + (c == 2) }, { 50, 100 } });
            addTrack(timeline, Stream::Compute, c, 1, { { 10, 50 } });
        }
        timeline.duration = 100;
        const FreeWindows free = freeWindows(timeline, layoutOf({ 3, 2, 1 }, { { 0, 0 }, { 0, 0 } }), 2);
        const auto groups = formGroups(free, 5, false);
        QCOMPARE(groups.size(), std::size_t(4)); // 10 alike on stage 0, 12 on stage 1; the class of its own has 2
        for (const InferenceGroup &group : groups) {
            QCOMPARE(group.members.size(), std::size_t(5));
            for (const GroupMember &member : group.members)
                QCOMPARE(free.locations[std::size_t(member.location)].windows,
                    free.locations[std::size_t(group.members[0].location)].windows);
        }
    }

    void chainingTakesWhatIsLeftAndNoGpuTwice()
    {
        Timeline timeline;
        for (int s = 0; s < 4; ++s)
            addTrack(timeline, Stream::Compute, 0, s, { { 10 * s, 10 * s + 50 } });
        timeline.duration = 100;
        const FreeWindows free = freeWindows(timeline, layoutOf({ 3 }, { { 0, 0 }, { 0, 0 }, { 0, 0 }, { 1, 0 } }), 1);
        QCOMPARE(formGroups(free, 2, false).size(), std::size_t(4));
        const auto groups = formGroups(free, 2, true);
        QCOMPARE(groups.size(), std::size_t(5)); // three GPUs are left in one datacenter, one in the other
        std::set<std::pair<int, int>> used;
        for (const InferenceGroup &group : groups)
            for (const GroupMember &member : group.members) {
                QVERIFY(used.insert({ member.location, member.gpu }).second);
                QCOMPARE(free.locations[std::size_t(member.location)].location.datacenter,
                    free.locations[std::size_t(group.members[0].location)].location.datacenter);
            }
        QVERIFY(!groups.back().isAligned);
        QVERIFY(free.locations[std::size_t(groups.back().members[0].location)].stage
            < free.locations[std::size_t(groups.back().members[1].location)].stage);
    }

    void noGroupSpansTwoDatacentersOrIsTooSmall()
    {
        Timeline timeline;
        addTrack(timeline, Stream::Compute, 0, 0, { { 0, 50 } });
        timeline.duration = 100;
        const FreeWindows free = freeWindows(timeline, layoutOf({ 3 }, { { 0, 0 } }), 1);
        QVERIFY(formGroups(free, 4, true).empty());
    }
};

TRAINYARD_APPLESS_TEST(TestFreeWindows)
#include "tst_free_windows.moc"
