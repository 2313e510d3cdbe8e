// SPDX-License-Identifier: GPL-3.0-or-later
// Many models with shards in host memory, with experts, and with prefill where they leave GPUs idle.
// Random plans of each pair: bytes are conserved, training is not delayed, or a reason says why not.
#include "tests/core/evaluation/evaluate/pairs/pair_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

class TestJobsAndMemory : public QObject {
    Q_OBJECT
private slots:
    void theTwoGetAlong_data()
    {
        addPairs({ { "prefill with jobs", System::Prefill, System::Jobs },
            { "offload with jobs", System::Offload, System::Jobs },
            { "experts with jobs", System::Experts, System::Jobs } });
    }
    void theTwoGetAlong() { checkPair(); }
};

TRAINYARD_APPLESS_TEST(TestJobsAndMemory)
#include "tst_jobs_and_memory.moc"
