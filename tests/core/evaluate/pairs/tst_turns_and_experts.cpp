// SPDX-License-Identifier: GPL-3.0-or-later
// Experts and unequal GPUs under pipelines that take turns on the WAN. Five hundred random plans a pair: bytes are
// conserved, training is not delayed, or a reason says why not.
#include "tests/core/evaluate/pairs/pair_trial.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

class TestTurnsAndExperts : public QObject {
    Q_OBJECT
private slots:
    void theTwoGetAlong_data()
    {
        QTest::addColumn<int>("a");
        QTest::addColumn<int>("b");
        QTest::newRow("atlas with experts") << int(System::Atlas) << int(System::Experts);
        QTest::newRow("atlas with mixed gpus") << int(System::Atlas) << int(System::MixedGpus);
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

QTEST_APPLESS_MAIN(TestTurnsAndExperts)
#include "tst_turns_and_experts.moc"
