// SPDX-License-Identifier: GPL-3.0-or-later
// Many models over several datacenters, and on unequal GPUs. Random plans of each pair: bytes are conserved,
// training is not delayed, or a reason says why not.
#include "tests/core/evaluation/evaluate/pairs/pair_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

class TestJobsAcross : public QObject {
    Q_OBJECT
private slots:
    void theTwoGetAlong_data()
    {
        addPairs({ { "atlas with jobs", System::Atlas, System::Jobs },
            { "mixed gpus with jobs", System::MixedGpus, System::Jobs } });
    }
    void theTwoGetAlong() { checkPair(); }
};

TRAINYARD_APPLESS_TEST(TestJobsAcross)
#include "tst_jobs_across.moc"
