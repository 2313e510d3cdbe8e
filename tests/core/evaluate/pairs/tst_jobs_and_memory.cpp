// SPDX-License-Identifier: GPL-3.0-or-later
// Many models with shards in host memory, with experts, and with prefill where they leave GPUs idle. Five hundred
// random plans a pair: bytes are conserved, training is not delayed, or a reason says why not.
#include "tests/core/evaluate/pairs/pair_trial.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

class TestJobsAndMemory : public QObject {
    Q_OBJECT
private slots:
    void theTwoGetAlong_data()
    {
        QTest::addColumn<int>("a");
        QTest::addColumn<int>("b");
        QTest::newRow("prefill with jobs") << int(System::Prefill) << int(System::Jobs);
        QTest::newRow("offload with jobs") << int(System::Offload) << int(System::Jobs);
        QTest::newRow("experts with jobs") << int(System::Experts) << int(System::Jobs);
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

QTEST_APPLESS_MAIN(TestJobsAndMemory)
#include "tst_jobs_and_memory.moc"
