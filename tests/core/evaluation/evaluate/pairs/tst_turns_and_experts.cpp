// SPDX-License-Identifier: GPL-3.0-or-later
// Experts and unequal GPUs under pipelines that take turns on the WAN. Random plans of each pair: bytes are
// conserved, training is not delayed, or a reason says why not.
#include "tests/core/evaluation/evaluate/pairs/pair_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

class TestTurnsAndExperts : public QObject {
    Q_OBJECT
private slots:
    void theTwoGetAlong_data()
    {
        addPairs({ { "atlas with experts", System::Atlas, System::Experts },
            { "atlas with mixed gpus", System::Atlas, System::MixedGpus } });
    }
    void theTwoGetAlong() { checkPair(); }
};

TRAINYARD_APPLESS_TEST(TestTurnsAndExperts)
#include "tst_turns_and_experts.moc"
