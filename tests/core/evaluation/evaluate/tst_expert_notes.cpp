// SPDX-License-Identifier: GPL-3.0-or-later
// Keys of `moe` that change nothing in a plan say so, and loads that cannot be meant are refused.
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <functional>

using namespace trainyard;
using namespace trainyard::test;

namespace {

using Change = std::function<void(Plan &)>;

/// 128 experts over the eight ranks of a node; its model has no shared experts.
Plan inANode()
{
    Plan plan;
    plan.cluster.datacenters = { site("a", 2) };
    plan.workload.model = "qwen3-30b-a3b";
    plan.workload.sequenceLength = 4096;
    plan.workload.globalBatch = 64;
    plan.parallelism.expert = 8;
    return plan;
}

const Problem *noteOn(const Plan &plan, const std::string &where, const std::string &part)
{
    static EvaluationPtr evaluation;
    evaluation = evaluated(plan);
    for (const Problem &problem : evaluation->problems)
        if (problem.where == where && problem.text.find(part) != std::string::npos)
            return &problem;
    return nullptr;
}

} // namespace

class TestExpertNotes : public QObject {
    Q_OBJECT

private slots:
    void aKeyThatChangesNothingSaysWhy_data()
    {
        QTest::addColumn<QString>("where");
        QTest::addColumn<QString>("part");
        QTest::addColumn<int>("number");
        const struct {
            const char *name, *where, *part;
        } rows[] = {
            { "shared experts beside, without any", "moe.shared_expert_overlap", "has no shared experts" },
            { "shared experts beside another micro-batch", "moe.shared_expert_overlap", "Another micro-batch" },
            { "pairs under full recomputation", "moe.expert_overlap", "Full recomputation" },
            { "pairs on a schedule without any", "moe.expert_overlap", "No forward of schedule gpipe" },
            { "pieces where nothing travels", "moe.overlap_chunks", "no token travels" },
            { "a dispatch where nothing travels", "moe.dispatch", "no token travels" },
            { "pieces of both ways and of each", "moe.overlap_chunks", "state their own pieces" },
            { "overlapped pieces of a flat backward", "moe.pipeline_backward", "flat" },
            { "imbalance beside loads", "moe.imbalance", "loads of single experts" },
            { "dropless experts of limited room", "moe.dropless", "1.25 times the mean" },
            { "slices of split tokens", "moe.dispatch", "Sequence parallelism splits" },
            { "slices without a tensor group", "moe.dispatch", "No tensor group" },
            { "experts of a dense model", "moe", "has no experts" },
            { "more than all on one rank", "moe.imbalance", "at most 8 times the mean" },
            { "pairs on a schedule of pairs", "moe.expert_overlap", "already" },
            { "groups that do not divide the ranks", "parallelism.expert", "share the experts and send" },
        };
        int number = 0;
        for (const auto &row : rows)
            QTest::newRow(row.name) << QString::fromLatin1(row.where) << QString::fromLatin1(row.part) << number++;
    }

    void aKeyThatChangesNothingSaysWhy()
    {
        const Change changes[] = {
            [](Plan &p) { p.moe.sharedExpertOverlap = true; },
            [](Plan &p) {
                p.workload.model = "deepseek-v2-lite";
                p.moe.sharedExpertOverlap = true;
                p.moe.expertOverlap = ExpertOverlap::OneFOneB;
            },
            [](Plan &p) {
                p.moe.expertOverlap = ExpertOverlap::OneFOneB;
                p.memory.recompute = Recompute::Full;
            },
            [](Plan &p) {
                p.moe.expertOverlap = ExpertOverlap::OneFOneB;
                p.schedule = ScheduleKind::GPipe;
            },
            [](Plan &p) {
                p.parallelism.expert = 1;
                p.moe.overlapChunks = 4;
            },
            [](Plan &p) {
                p.parallelism.expert = 1;
                p.moe.dispatch = MoeDispatch::Dedup;
            },
            [](Plan &p) { p.moe.overlapChunks = p.moe.forwardChunks = p.moe.backwardChunks = 2; },
            [](Plan &p) { p.moe.pipelineBackward = true; },
            [](Plan &p) {
                p.moe.imbalance = 2;
                p.moe.expertLoads.assign(128, 1);
            },
            [](Plan &p) { p.moe.capacityFactor = 1.25; },
            [](Plan &p) {
                p.parallelism.tensor = 2;
                p.moe.dispatch = MoeDispatch::TensorSliced;
            },
            [](Plan &p) { p.moe.dispatch = MoeDispatch::TrafficAware; },
            [](Plan &p) {
                p.workload.model = "llama-3-8b";
                p.parallelism.expert = 1;
                p.moe.dispatch = MoeDispatch::Dedup;
            },
            [](Plan &p) { p.moe.imbalance = 9; },
            [](Plan &p) {
                p.parallelism.pipeline = 2;
                p.schedule = ScheduleKind::DualPipe;
                p.moe.expertOverlap = ExpertOverlap::OneFOneB;
            },
            [](Plan &p) { // 8 x 4 of 16 ranks
                p.parallelism.tensor = 4;
                p.parallelism.sequenceParallel = false;
            },
        };
        QFETCH(QString, where);
        QFETCH(QString, part);
        QFETCH(int, number);
        Plan plan = inANode();
        QVERIFY(!noteOn(plan, where.toStdString(), part.toStdString()));
        changes[number](plan);
        QVERIFY2(noteOn(plan, where.toStdString(), part.toStdString()), qPrintable(where + u' ' + part));
    }

    void nothingIsSaidOfDispatchesAndPiecesThatAreModelled()
    {
        Plan plan = inANode();
        plan.moe.dispatch = MoeDispatch::Hierarchical;
        plan.moe.overlapChunks = 2;
        QVERIFY(!noteOn(plan, "moe.dispatch", ""));
        QVERIFY(!noteOn(plan, "moe.overlap_chunks", ""));
    }

    /// Slices and their return are what pieces of a backward overlap in, asked for or chosen.
    void overlappedPiecesOfABackwardAreMeantWhereSlicesTravel()
    {
        Plan plan = inANode();
        plan.moe.pipelineBackward = true;
        QVERIFY(noteOn(plan, "moe.pipeline_backward", "flat"));
        for (const MoeDispatch sliced : { MoeDispatch::TensorSliced, MoeDispatch::TrafficAware }) {
            plan.moe.dispatch = sliced;
            QVERIFY(!noteOn(plan, "moe.pipeline_backward", ""));
        }
    }

    /// Nothing beside the exchange that could be slowed: the same iteration with one multiprocessor and with 100.
    void multiprocessorsOfAnExchangeMatterWhereSomethingComputesBeside()
    {
        Plan plan = inANode(), other = plan;
        plan.moe.communicationSms = 1;
        other.moe.communicationSms = 100;
        QVERIFY(noteOn(plan, "moe.communication_sms", "Nothing computes"));
        QCOMPARE(*evaluated(plan)->metrics.iterationTime, *evaluated(other)->metrics.iterationTime);
        plan.moe.overlapChunks = other.moe.overlapChunks = 4;
        QVERIFY(!noteOn(plan, "moe.communication_sms", ""));
        QVERIFY(*evaluated(plan)->metrics.iterationTime < *evaluated(other)->metrics.iterationTime);
    }

    /// Two stages of one chunk: each forward waits for the backward beside it, and the iteration gets longer.
    void pairsOfAPipelineWithoutVirtualStagesAreWarnedOf()
    {
        Plan plan = inANode();
        plan.parallelism.pipeline = 2;
        const double before = *evaluated(plan)->metrics.iterationTime;
        QVERIFY(!noteOn(plan, "moe.expert_overlap", ""));
        plan.moe.expertOverlap = ExpertOverlap::OneFOneB;
        QVERIFY(*evaluated(plan)->metrics.iterationTime > before);
        const Problem *warning = noteOn(plan, "moe.expert_overlap", "virtual stages");
        QVERIFY(warning && warning->severity == Severity::Warning);
        plan.schedule = ScheduleKind::Interleaved;
        plan.parallelism.virtualPipeline = 2;
        QVERIFY(!noteOn(plan, "moe.expert_overlap", "virtual stages"));
    }

    void loadsAreOneAnExpert()
    {
        Plan plan = inANode();
        plan.moe.expertLoads = { 1, 2, 3 };
        EvaluationWorkspace workspace;
        const auto refused = evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace);
        QVERIFY(!refused);
        QCOMPARE(refused.error().front().where, std::string("moe.load"));
        QVERIFY(refused.error().front().right.starts_with("128, one for each expert"));
        plan.moe.expertLoads.assign(128, 2);
        QVERIFY(evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace));
    }
};

TRAINYARD_APPLESS_TEST(TestExpertNotes)
#include "tst_expert_notes.moc"
