// SPDX-License-Identifier: GPL-3.0-or-later
// What the evaluation says of shapes off the tensor cores' grid, and of sharding that a stack does not offer.
#include "core/evaluation/memory_fit/fit.h"
#include "core/evaluation/memory_fit/memory_savings.h"
#include "core/facts/plan/plan_io.h"
#include "core/iteration/placement/resolve_model.h"
#include "tests/support/classic_model.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace trainyard;
using namespace trainyard::test;

namespace {

Plan classic(int hidden, int heads)
{
    Plan plan = oneSite(1, 1);
    plan.workload.model.clear();
    plan.workload.inlineModel = classicModel(hidden, heads);
    plan.workload.sequenceLength = 2048;
    plan.stack.name = "megatron-lm-2021";
    return plan;
}

int notesOn(const Plan &plan)
{
    const EvaluationPtr evaluation = evaluated(plan);
    return int(std::ranges::count_if(evaluation->problems,
        [](const Problem &p) { return p.text.find("do not divide into 16 bytes") != std::string::npos; }));
}

std::vector<std::string> rungIds(const Plan &plan)
{
    const auto model = resolveModel(plan.workload, plan.baseDir, builtinCatalogue());
    std::vector<std::string> ids;
    for (const MemorySaving &saving : memorySavings(plan, *model, *builtinCatalogue().stack(plan.stack.name)))
        ids.push_back(saving.id);
    return ids;
}

} // namespace

class TestShapeNotes : public QObject {
    Q_OBJECT

private slots:
    void everySampleIsOnTheGrid();
    void headsAndRowsOfScoresAreNamedWhereAttentionIsUnfused();
    void shardsOfTheMlpAreNamed();
    void whatIsProposedIsOnTheGridOfTheFormat();
    void ladderOffersOnlyWhatTheStackHas();
    void fittingAPlanThatItsStackRefusesBeginsWithWhatItTakes();
};

void TestShapeNotes::everySampleIsOnTheGrid()
{
    for (const char *sample :
        { "gpt3-175b-1024-a100", "llama-3.1-405b-16384-h100", "megatron-1t-3072-a100", "llama-3-70b-three-regions" }) {
        const auto plan = readPlan(std::string(TRAINYARD_SOURCE_DIR "/samples/") + sample + ".trainyard.json");
        QVERIFY(plan.has_value());
        QCOMPARE(notesOn(*plan), 0);
    }
}

void TestShapeNotes::headsAndRowsOfScoresAreNamedWhereAttentionIsUnfused()
{
    QCOMPARE(notesOn(classic(14592, 96)), 0); // 152
    Plan heads = classic(14400, 96); // 150
    QCOMPARE(notesOn(heads), 1);
    heads.stack.name = "megatron-core"; // fused kernels pad
    QCOMPARE(notesOn(heads), 0);
    Plan rows = classic(14592, 96);
    rows.workload.sequenceLength = 2047;
    QCOMPARE(notesOn(rows), 1);
}

void TestShapeNotes::shardsOfTheMlpAreNamed()
{
    Plan plan = classic(8192, 64);
    plan.workload.inlineModel->ffn = 8 * 4092; // 4,092 on each of eight ranks: pieces of 8 bytes
    QCOMPARE(notesOn(plan), 1);
}

void TestShapeNotes::whatIsProposedIsOnTheGridOfTheFormat()
{
    // 16 bytes are 16 elements of 8 bits: 4,088 = 8 x 511 does for 16 bits, and the next that does for 8 is 4,096
    Plan plan = classic(8192, 64);
    plan.workload.inlineModel->ffn = 8 * 4088;
    QCOMPARE(notesOn(plan), 0);
    plan.cluster.datacenters.front().pools.front().gpu = "h100-sxm-80gb";
    plan.workload.precision = Precision::Fp8;
    const EvaluationPtr evaluation = evaluated(plan);
    const auto note = std::ranges::find_if(
        evaluation->problems, [](const Problem &p) { return p.text.find("Shards of the MLP") != std::string::npos; });
    QVERIFY(note != evaluation->problems.end());
    QVERIFY2(note->text.ends_with(" 4096 would"), note->text.c_str());
}

void TestShapeNotes::ladderOffersOnlyWhatTheStackHas()
{
    const auto offers = [](Plan plan, const char *stack, const char *id) {
        plan.stack.name = stack;
        return std::ranges::count(rungIds(plan), id) > 0;
    };
    Plan piped = oneSite(8), flat = oneSite(8, 1), interleaved = piped;
    interleaved.parallelism.virtualPipeline = 4;
    interleaved.schedule = ScheduleKind::Interleaved;
    for (const char *stack : { "megatron-core", "deepspeed" }) {
        QVERIFY(!offers(interleaved, stack, "zero-2"));
        QVERIFY(offers(flat, stack, "zero-2"));
    }
    QVERIFY(offers(interleaved, "fsdp", "zero-2"));
    QVERIFY(!offers(piped, "fsdp", "zero-2")); // one chunk a stage: gradients stay whole
}

void TestShapeNotes::fittingAPlanThatItsStackRefusesBeginsWithWhatItTakes()
{
    Plan plan = oneSite(8);
    plan.stack.name = "deepspeed";
    plan.parallelism.zeroStage = 3;
    QVERIFY(!evaluated(plan)->feasible());
    const Fitting fitting = fitMemory(std::make_shared<const Plan>(plan), builtinCatalogue());
    QVERIFY(fitting.fits);
    QCOMPARE(fitting.plan->parallelism.zeroStage, 1);
    QVERIFY(evaluated(*fitting.plan)->feasible());
}

TRAINYARD_APPLESS_TEST(TestShapeNotes)
#include "tst_shape_notes.moc"
