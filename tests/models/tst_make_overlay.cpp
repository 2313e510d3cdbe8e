// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/make_overlay.h"
#include "tests/support/test_program.h"

#include "tests/core/runs/overlay/small_runs.h"
#include "tests/support/plans.h"

#include <QTest>

#include <set>

using namespace trainyard;
using namespace trainyard::test;

namespace {

RunPtr runOf(int world)
{
    SmallRecording made;
    auto rank = made.rank(0, world);
    for (int step = 0; step < 3; ++step)
        rank.step(step, step * 100, step * 100 + 100)
            .span(RecordedWork::Compute, step * 100, step * 100 + 90, step * 100);
    made.series(samples::kGlobalBatch, 0, { 8, 8, 8 });
    return made.run();
}

} // namespace

class MakeOverlayTest : public QObject {
    Q_OBJECT
private slots:
    /// Rows are the plan's, figures the comparison's: both have something to say of themselves.
    void twoRunsOverAPlanKeepTheNotesOfBoth()
    {
        OverlayAsked asked { evaluated(oneSite(4)), runOf(8), runOf(16), {}, {}, true };
        const MadeOverlay made = makeOverlayOf(asked);
        const std::vector<std::string> &notes = made.overlay->notes;
        QVERIFY(hasNote(notes, "the one that it is compared with 16"));
        QVERIFY(hasNote(notes, "The run has 8 ranks, the plan 32: rows of ranks 8 to 31 stay empty"));
        QVERIFY(hasNote(notes, "computed from its step times"));
        QCOMPARE(std::set<std::string>(notes.begin(), notes.end()).size(), notes.size()); // each once
        QVERIFY(made.referenceCurves && !made.referenceCurves->empty());
        asked.before = made.parts;
        asked.options.step = 1;
        const MadeOverlay next = makeOverlayOf(asked);
        QCOMPARE(next.overlay->notes, notes);
    }
};

TRAINYARD_GUILESS_TEST(MakeOverlayTest)
#include "tst_make_overlay.moc"
