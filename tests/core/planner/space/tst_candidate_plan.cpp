// SPDX-License-Identifier: GPL-3.0-or-later
// The reference is SearchSpace::plan(), which copies the base for each candidate.
#include "core/planner/space/candidate_plan.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <random>

using namespace trainyard;
using test::sharedSample;

namespace {

/// Candidates drawn by a seed; how many plans are not those of the space.
int countWrong(const SearchSpace &space, int draws)
{
    CandidatePlan plans(space);
    std::mt19937_64 random(22);
    int wrong = 0;
    for (int i = 0; i < draws; ++i) {
        Candidate candidate;
        for (const Axis &axis : space.axes())
            candidate.push_back(std::uint16_t(random() % axis.values.size()));
        wrong += *plans.of(candidate) != *space.plan(candidate);
    }
    return wrong;
}

} // namespace

class CandidatePlanTest : public QObject {
    Q_OBJECT
private slots:
    void isThePlanOfItsCandidateWhateverCameBefore_data()
    {
        QTest::addColumn<QString>("name");
        for (const char *name : { "gpt3-175b-1024-a100", "atlas-three-datacenters" })
            QTest::newRow(name) << name;
    }

    void isThePlanOfItsCandidateWhateverCameBefore()
    {
        QFETCH(QString, name);
        const auto space = makeSpace(sharedSample(qPrintable(name)), builtinCatalogue());
        QVERIFY(space);
        QVERIFY(space->axes().size() > 5);
        QCOMPARE(countWrong(*space, 500), 0);
    }

    void whatAnAxisSetsBesideItsKeysIsPutBackToo()
    {
        Axis axis { "tensor", { "parallelism.tensor" }, "", {}, 0 };
        axis.values.push_back({ "as it is", [](Plan &) {} });
        axis.values.push_back({ "8", [](Plan &plan) {
                                   plan.parallelism.tensor = 8;
                                   plan.notes = "set as well";
                                   plan.workload.microBatch = 7;
                               } });
        Axis other { "micro_batch", { "workload.micro_batch" }, "", {}, 0 };
        for (const int value : { 1, 2, 4 })
            other.values.push_back({ "", [value](Plan &plan) { plan.workload.microBatch = value; } });
        const SearchSpace space(sharedSample("gpt3-175b-1024-a100"), { axis, other });
        QCOMPARE(countWrong(space, 100), 0);
    }
};

TRAINYARD_GUILESS_TEST(CandidatePlanTest)
#include "tst_candidate_plan.moc"
