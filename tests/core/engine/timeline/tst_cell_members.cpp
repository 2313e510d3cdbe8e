// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/cell_members.h"
#include "tests/support/test_program.h"
#include "tests/support/turns_timeline.h"

#include <QTest>

using namespace trainyard;

class CellMembersTest : public QObject {
    Q_OBJECT
private slots:
    void aTransferBelongsToThePipelineWhoseResultItCarries()
    {
        const Timeline timeline = test::turnsEvaluation().timeline;
        const Track &wan = timeline.tracks[4];
        QCOMPARE(int(wan.stream), int(Stream::Wan));
        std::vector<int> lanes;
        for (std::uint32_t s = wan.first; s < wan.last; ++s)
            lanes.push_back(sendingMember(timeline, s));
        QCOMPARE(lanes, (std::vector { 0, 1, 0, 1 })); // round-robin
        QCOMPARE(sendingMember(timeline, timeline.tracks[3].first), 1); // not a transfer: its own
    }

    void turnsAreSeveralPipelinesOnOneTrack()
    {
        Timeline timeline = test::turnsEvaluation().timeline;
        QVERIFY(hasTurns(timeline, timeline.tracks[4]));
        QVERIFY(!hasTurns(timeline, timeline.tracks[0]));
        for (std::uint32_t &origin : timeline.origin)
            origin = kNoSpan;
        QVERIFY(!hasTurns(timeline, timeline.tracks[4]));
        timeline.origin.clear(); // as of a timeline without WAN tracks
        QVERIFY(!hasTurns(timeline, timeline.tracks[4]));
    }
};

TRAINYARD_APPLESS_TEST(CellMembersTest)
#include "tst_cell_members.moc"
