// SPDX-License-Identifier: GPL-3.0-or-later
// Prefill and activations off the GPU under pipelines that take turns on the WAN. Random plans of each pair:
// bytes are conserved, training is not delayed, or a reason says why not.
#include "tests/core/evaluation/evaluate/pairs/pair_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

class TestTurnsAndBubbles : public QObject {
    Q_OBJECT
private slots:
    void theTwoGetAlong_data()
    {
        addPairs({ { "atlas with prefill", System::Atlas, System::Prefill },
            { "atlas with offload", System::Atlas, System::Offload } });
    }
    void theTwoGetAlong() { checkPair(); }
};

TRAINYARD_APPLESS_TEST(TestTurnsAndBubbles)
#include "tst_turns_and_bubbles.moc"
