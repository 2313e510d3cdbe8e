// SPDX-License-Identifier: GPL-3.0-or-later
// Prefill and activations off the GPU under pipelines that take turns on the WAN. Five hundred random plans a pair:
// bytes are conserved, training is not delayed, or a reason says why not.
#include "tests/core/evaluate/pairs/pair_trial.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

class TestTurnsAndBubbles : public QObject {
    Q_OBJECT
private slots:
    void theTwoGetAlong_data()
    {
        QTest::addColumn<int>("a");
        QTest::addColumn<int>("b");
        QTest::newRow("atlas with prefill") << int(System::Atlas) << int(System::Prefill);
        QTest::newRow("atlas with offload") << int(System::Atlas) << int(System::Offload);
    }
    void theTwoGetAlong()
    {
        QFETCH(int, a);
        QFETCH(int, b);
        PairTrial trial { System(a), System(b) };
        trial.run(plansOfPair(), firstSeedOfPair());
        qInfo("%s", trial.counts().text().c_str());
        QVERIFY2(trial.findings().empty(), trial.findings().c_str());
        QVERIFY2(2 * trial.counts().together > trial.counts().plans, "most plans must have both at work");
    }
};

QTEST_APPLESS_MAIN(TestTurnsAndBubbles)
#include "tst_turns_and_bubbles.moc"
