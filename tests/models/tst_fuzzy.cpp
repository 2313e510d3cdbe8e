// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/text/fuzzy.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;

class FuzzyTest : public QObject {
    Q_OBJECT
private slots:
    void lettersMustOccurInOrder()
    {
        QVERIFY(fuzzyScore("pab", "Pin as baseline"));
        QVERIFY(!fuzzyScore("bap x", "Pin as baseline"));
        QVERIFY(!fuzzyScore("zz", "Zoom in"));
        QVERIFY(!fuzzyScore("a", ""));
    }
    void anEmptyPatternMatchesEverythingAlike() { QCOMPARE(*fuzzyScore("", "Undo"), *fuzzyScore("", "Redo")); }
    void wordBeginningsBeatLettersInsideWords()
    {
        QVERIFY(*fuzzyScore("zi", "Zoom in") > *fuzzyScore("zi", "Blitzing"));
    }
    void lettersThatFollowEachOtherBeatScatteredOnes()
    {
        QVERIFY(*fuzzyScore("oom", "Zoom in") > *fuzzyScore("oom", "fonto forms"));
    }
    void caseAndSpacesOfThePatternDoNotCount()
    {
        QCOMPARE(*fuzzyScore("ZOOM in", "Zoom in"), *fuzzyScore("zoomin", "Zoom in"));
    }
};

TRAINYARD_APPLESS_TEST(FuzzyTest)
#include "tst_fuzzy.moc"
