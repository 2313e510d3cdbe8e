// SPDX-License-Identifier: GPL-3.0-or-later
// Prefill beside what leaves the GPU and beside experts. Random plans of each pair: bytes are conserved,
// training is not delayed, or a reason says why not.
#include "tests/core/evaluation/evaluate/pairs/pair_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

class TestBubblesAndOffload : public QObject {
    Q_OBJECT
private slots:
    void theTwoGetAlong_data()
    {
        addPairs({ { "prefill with offload", System::Prefill, System::Offload },
            { "prefill with experts", System::Prefill, System::Experts } });
    }
    void theTwoGetAlong() { checkPair(); }
};

TRAINYARD_APPLESS_TEST(TestBubblesAndOffload)
#include "tst_bubbles_and_offload.moc"
