// SPDX-License-Identifier: GPL-3.0-or-later
// What leaves the GPU beside experts and on unequal GPUs. Random plans of each pair: bytes are conserved,
// training is not delayed, or a reason says why not.
#include "tests/core/evaluation/evaluate/pairs/pair_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

class TestOffloadAndExperts : public QObject {
    Q_OBJECT
private slots:
    void theTwoGetAlong_data()
    {
        addPairs({ { "offload with experts", System::Offload, System::Experts },
            { "offload with mixed gpus", System::Offload, System::MixedGpus } });
    }
    void theTwoGetAlong() { checkPair(); }
};

TRAINYARD_APPLESS_TEST(TestOffloadAndExperts)
#include "tst_offload_and_experts.moc"
