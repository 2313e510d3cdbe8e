// SPDX-License-Identifier: GPL-3.0-or-later
// Unequal GPUs with prefill and with experts. Random plans of each pair: bytes are conserved, training is not
// delayed, or a reason says why not.
#include "tests/core/evaluation/evaluate/pairs/pair_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

class TestUnequalBubbles : public QObject {
    Q_OBJECT
private slots:
    void theTwoGetAlong_data()
    {
        addPairs({ { "prefill with mixed gpus", System::Prefill, System::MixedGpus },
            { "experts with mixed gpus", System::Experts, System::MixedGpus } });
    }
    void theTwoGetAlong() { checkPair(); }
};

TRAINYARD_APPLESS_TEST(TestUnequalBubbles)
#include "tst_unequal_bubbles.moc"
