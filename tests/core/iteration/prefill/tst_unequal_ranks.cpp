// SPDX-License-Identifier: GPL-3.0-or-later
// Prefill beside training on unequal GPUs: the fast ones wait for the slow ones, and that is where it runs.
#include "core/iteration/prefill/free_windows.h"
#include "tests/support/mixed_plans.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>

using namespace trainyard;
using namespace trainyard::test;

namespace {

Plan served(Plan plan)
{
    plan.bubbleFill.enabled = true;
    plan.bubbleFill.model = "gpt-3-1.3b";
    plan.bubbleFill.requestsPerSecond = 200;
    plan.bubbleFill.promptTokens = 256;
    return plan;
}

const Track &computeOf(const Timeline &timeline, int pipelineClass, int stage)
{
    return *std::ranges::find_if(timeline.tracks, [&](const Track &t) {
        return t.stream == Stream::Compute && t.pipelineClass == pipelineClass && t.stage == stage;
    });
}

bool isFast(const Evaluation &evaluation, int pipelineClass, int stage)
{
    const auto &locations = evaluation.layout.classes[std::size_t(pipelineClass)].locations;
    return locations[std::size_t(stage)].pool == 0;
}

} // namespace

class TestUnequalRanks : public QObject {
    Q_OBJECT

private slots:
    void noSpanOfTrainingMoves_data()
    {
        QTest::addColumn<int>("kind");
        QTest::newRow("replicas, even") << 0;
        QTest::newRow("replicas, by speed") << 1;
        QTest::newRow("stages") << 2;
    }
    void noSpanOfTrainingMoves()
    {
        QFETCH(int, kind);
        const Plan plan = kind == 2 ? mixedStages() : kind == 1 ? balanced(mixedReplicas()) : mixedReplicas();
        const auto alone = evaluated(plan), with = evaluated(served(plan));
        const Timeline &a = with->timeline, &b = alone->timeline;
        QVERIFY(kind == 1 || with->metrics.bubbleFill->accepted > 0);
        QCOMPARE(a.duration, b.duration);
        for (std::size_t i = 0; i < b.spanCount(); ++i) {
            QCOMPARE(a.start[i], b.start[i]);
            QCOMPARE(a.end[i], b.end[i]);
        }
        QCOMPARE(with->layout.classes, alone->layout.classes);
    }

    // idle = iteration - work of the set's own row, and each prefill lies in a gap of its own set.
    void windowsAreThoseOfTheSetsOwnRow()
    {
        const auto evaluation = evaluated(served(mixedReplicas()));
        const Timeline &timeline = evaluation->timeline;
        const FreeWindows free = freeWindows(timeline, evaluation->layout, 1);
        Nanoseconds fast = 0, slow = 0;
        for (const AdmissionWindows &set : free.locations) {
            Nanoseconds work = 0;
            const Track &row = computeOf(timeline, set.pipelineClass, set.stage);
            for (std::uint32_t span = row.first; span < row.last; ++span)
                work += timeline.end[span] - timeline.start[span];
            QCOMPARE(set.idle, timeline.duration - work);
            QCOMPARE(set.gpus, 4);
            (isFast(*evaluation, set.pipelineClass, set.stage) ? fast : slow) = set.idle;
        }
        QVERIFY(fast > 2 * slow);
        int tracks = 0;
        for (const Track &track : timeline.tracks) {
            if (track.stream != Stream::Prefill)
                continue;
            ++tracks;
            QVERIFY(isFast(*evaluation, track.pipelineClass, track.stage));
            const Track &row = computeOf(timeline, track.pipelineClass, track.stage);
            for (std::uint32_t span = track.first; span < track.last; ++span)
                for (std::uint32_t work = row.first; work < row.last; ++work)
                    QVERIFY(timeline.end[span] <= timeline.start[work] || timeline.start[span] >= timeline.end[work]
                        || timeline.start[work] == timeline.end[work]);
        }
        QVERIFY(tracks > 0);
    }
};

TRAINYARD_APPLESS_TEST(TestUnequalRanks)
#include "tst_unequal_ranks.moc"
