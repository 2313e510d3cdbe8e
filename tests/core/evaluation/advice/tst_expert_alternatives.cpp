// SPDX-License-Identifier: GPL-3.0-or-later
// What there is to choose about experts: of models that have some, what makes sense for how a plan spreads them, and
// why the rest does not.
#include "core/evaluation/advice/alternatives.h"
#include "core/evaluation/advice/evaluate.h"
#include "core/facts/plan/key_list.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <map>
#include <set>

using namespace trainyard;

namespace {

const std::set<std::string> kGroups { "expert", "expert_tensor", "dispatch", "overlap_chunks", "pipeline_backward",
    "shared_expert_overlap", "expert_overlap", "capacity_factor", "moe_baseline" };

/// Mixtral 8x7B on two nodes of 8: tensor groups are nodes whose ranks all hold the same tokens, experts lie over both.
Plan overTwoNodes()
{
    Plan plan = test::oneSite(2, 1);
    plan.workload.model = "mixtral-8x7b";
    plan.workload.sequenceLength = 4096;
    plan.parallelism.sequenceParallel = false;
    plan.parallelism.expert = 2;
    plan.parallelism.expertTensor = 8;
    return plan;
}

struct Choices {
    std::vector<Alternative> list;
    explicit Choices(const Plan &plan)
        : list(strategyAlternatives(plan, builtinCatalogue()))
    {
    }
    [[nodiscard]] const Alternative *find(const std::string &id) const
    {
        const auto it = std::ranges::find(list, id, &Alternative::id);
        return it == list.end() ? nullptr : &*it;
    }
    [[nodiscard]] const Alternative &at(const std::string &id) const
    {
        const Alternative *found = find(id);
        if (!found)
            qFatal("no %s", id.c_str());
        return *found;
    }
    [[nodiscard]] bool has(const std::string &group) const
    {
        return std::ranges::find(list, group, &Alternative::group) != list.end();
    }
    [[nodiscard]] bool isBlockedBy(const std::string &id, const std::string &word) const
    {
        const Alternative &a = at(id);
        return !a.plan && a.blockedBecause.find(word) != std::string::npos;
    }
};

} // namespace

class ExpertAlternativesTest : public QObject {
    Q_OBJECT
private slots:
    void aModelWithoutExpertsHasNothingToChooseAboutThem()
    {
        const Choices dense(test::oneSite(2));
        for (const std::string &group : kGroups)
            QVERIFY2(!dense.has(group), group.c_str());
        QVERIFY(Choices(overTwoNodes()).has("dispatch"));
    }

    void everyGroupHasOneCurrentValueThatIsThePlan()
    {
        Plan odd = overTwoNodes(); // values of its own in every group
        odd.moe.forwardChunks = 3;
        odd.moe.capacityFactor = 1.1;
        odd.moe.dispatch = MoeDispatch::TrafficAware;
        odd.parallelism.expertTensor = 3;
        for (const Plan &plan : { overTwoNodes(), odd }) {
            std::map<std::string, int> current;
            for (const Alternative &a : Choices(plan).list) {
                QCOMPARE(a.plan == nullptr, !a.blockedBecause.empty());
                if (!kGroups.contains(a.group))
                    continue;
                current[a.group] += a.isCurrent;
                if (a.isCurrent)
                    QCOMPARE(*a.plan, plan);
            }
            QVERIFY(current.size() >= 7);
            for (const auto &[group, count] : current)
                QVERIFY2(count == 1, group.c_str());
        }
    }

    void allSevenWaysAreOfferedWhereEachMakesSense()
    {
        Plan plan = overTwoNodes();
        plan.workload.model = "mixtral-8x22b-g8t8"; // eight of 64 experts a token, eight experts a rank
        plan.parallelism.expert = 8;
        plan.parallelism.expertTensor = 2; // four of the ranks share a node
        const Choices choices(plan);
        int open = 0;
        for (const Alternative &a : choices.list)
            open += a.group == "dispatch" && a.plan;
        QCOMPARE(open, 7);
        Plan expected = plan;
        expected.moe.dispatch = MoeDispatch::TrafficAware;
        QCOMPARE(*choices.at("dispatch=traffic-aware").plan, expected);
        QCOMPARE(choices.at("dispatch=traffic-aware").sentence, std::string("Expert dispatch flat → traffic-aware"));
    }

    void tokensThatAreSplitAlreadyLeaveNothingToGain()
    {
        Plan plan = overTwoNodes();
        QVERIFY(Choices(plan).at("dispatch=traffic-aware").plan);
        plan.parallelism.sequenceParallel = true;
        const Choices split(plan);
        for (const char *id : { "dispatch=traffic-aware", "dispatch=tensor-sliced" })
            QVERIFY(split.isBlockedBy(id, "nothing to gain"));
        plan.parallelism.tensor = 1;
        plan.parallelism.sequenceParallel.reset();
        QVERIFY(Choices(plan).isBlockedBy("dispatch=traffic-aware", "tensor parallelism is 1"));
    }

    /// 8 x 1 x 2 ranks of a stage: groups of 2 x 3, or 8 x 4 of them, are not whole.
    void groupsThatDoNotDivideTheRanksAreBlocked()
    {
        Plan plan = overTwoNodes();
        plan.workload.model = "mixtral-8x22b";
        plan.parallelism.data = 2;
        plan.parallelism.expertTensor = 4;
        QVERIFY(Choices(plan).isBlockedBy("expert=8", "would need 32 GPUs"));
        QVERIFY(Choices(plan).at("expert=4").plan);
        plan.parallelism.data = 1;
        plan.parallelism.context = 1;
        QVERIFY(Choices(plan).isBlockedBy("expert=4", "do not divide the 8 ranks"));
        QVERIFY(Choices(plan).isBlockedBy("expert_tensor=8", "do not divide the 8 ranks"));
    }

    void overlappedPiecesOfABackwardNeedSlices()
    {
        Plan plan = overTwoNodes();
        plan.moe.dispatch = MoeDispatch::TensorSliced;
        QVERIFY(Choices(plan).at("pipeline_backward=true").plan);
        plan.parallelism.sequenceParallel = true;
        QVERIFY(Choices(plan).isBlockedBy("pipeline_backward=true", "nothing to gain"));
    }

    void whatTravelsNowhereHasNoWay()
    {
        Plan plan = overTwoNodes();
        plan.parallelism.expert = plan.parallelism.expertTensor = 1;
        const Choices alone(plan);
        for (const char *id : { "dispatch=dedup", "dispatch=all-gather", "overlap_chunks=4", "expert_overlap=1f1b" })
            QVERIFY2(alone.isBlockedBy(id, "no token travels"), id);
        QVERIFY(alone.at("dispatch=flat").isCurrent && alone.at("expert=2").plan);
    }

    void copiesAreSparedOnlyWhereThereAreSome()
    {
        Plan plan = overTwoNodes();
        plan.parallelism.expertTensor = 1;
        plan.parallelism.expert = 8; // one expert a rank, in one node
        QVERIFY(Choices(plan).isBlockedBy("dispatch=rank-dedup", "one expert"));
        QVERIFY(Choices(plan).isBlockedBy("dispatch=hierarchical", "share a node"));
        plan.parallelism.expertTensor = 8;
        plan.parallelism.expert = 2;
        QVERIFY(Choices(plan).isBlockedBy("dispatch=hierarchical", "one rank"));
        plan.workload.model = "llama-4-scout"; // one expert a token
        QVERIFY(Choices(plan).isBlockedBy("dispatch=dedup", "visits one expert"));
        QVERIFY(Choices(plan).isBlockedBy("dispatch=rank-dedup", "visits one expert"));
    }

    void piecesOfBothWaysReplaceThoseOfOne()
    {
        Plan plan = overTwoNodes();
        plan.moe.forwardChunks = 4;
        const Choices choices(plan);
        QVERIFY(choices.at("overlap_chunks=4+auto").isCurrent);
        QCOMPARE(choices.at("overlap_chunks=4+auto").label, std::string("4 forward, auto backward"));
        Plan eight = plan;
        eight.moe.overlapChunks = 8;
        eight.moe.forwardChunks.reset();
        QCOMPARE(*choices.at("overlap_chunks=8").plan, eight);
        QVERIFY(!choices.has("pipeline_backward")); // flat has no stages to overlap
        plan.moe.dispatch = MoeDispatch::TrafficAware;
        const Choices sliced(plan);
        QVERIFY(sliced.at("pipeline_backward=true").plan->moe.pipelineBackward);
    }

    void sharedExpertsAreBesideOnlyWhereTheModelHasThem()
    {
        Plan plan = overTwoNodes();
        QVERIFY(!Choices(plan).has("shared_expert_overlap"));
        plan.workload.model = "deepseek-v2-lite";
        QVERIFY(Choices(plan).at("shared_expert_overlap=true").plan->moe.sharedExpertOverlap);
        plan.moe.sharedExpertOverlap = true; // the two exclude each other
        QVERIFY(Choices(plan).isBlockedBy("expert_overlap=1f1b", "shared experts"));
        plan.moe.sharedExpertOverlap = false;
        plan.moe.expertOverlap = ExpertOverlap::OneFOneB;
        QVERIFY(Choices(plan).isBlockedBy("shared_expert_overlap=true", "micro-batch"));
    }

    void forwardsRunWithBackwardsOnlyInTurn()
    {
        Plan plan = overTwoNodes();
        QVERIFY(Choices(plan).at("expert_overlap=1f1b").plan); // one stage: any two micro-batches
        plan.memory.recompute = Recompute::Full;
        QVERIFY(Choices(plan).isBlockedBy("expert_overlap=1f1b", "full recomputation"));
        plan = overTwoNodes();
        plan.cluster.datacenters[0].pools[0].nodes = 8;
        plan.parallelism.pipeline = 4;
        QVERIFY(Choices(plan).isBlockedBy("expert_overlap=1f1b", "virtual stages"));
        plan.schedule = ScheduleKind::Interleaved;
        plan.parallelism.virtualPipeline = 2;
        QVERIFY(Choices(plan).at("expert_overlap=1f1b").plan);
        plan.schedule = ScheduleKind::GPipe;
        plan.parallelism.virtualPipeline = 1;
        QVERIFY(Choices(plan).isBlockedBy("expert_overlap=1f1b", "in turn"));
        plan.schedule = ScheduleKind::DualPipe;
        QVERIFY(Choices(plan).isBlockedBy("expert_overlap=1f1b", "already"));
    }

    /// Room for less than what comes drops visits, so that the model learns otherwise; dropless is the way back.
    void roomIsDroplessOrAMultipleOfTheMean()
    {
        Plan plan = overTwoNodes();
        const Choices choices(plan);
        QVERIFY(choices.at("capacity_factor=dropless").isCurrent);
        const Alternative &tight = choices.at("capacity_factor=1.25");
        QCOMPARE(tight.plan->moe.capacity(), std::optional(1.25));
        QVERIFY(changesTraining(plan, *tight.plan));
        QCOMPARE(*Choices(*tight.plan).at("capacity_factor=dropless").plan, plan);
        plan.moe.dropless = false; // without a factor: 1
        QVERIFY(Choices(plan).at("capacity_factor=1").isCurrent);
    }

    void degreesOfExpertsDivideWhatTheyMust()
    {
        const Choices choices(overTwoNodes());
        QVERIFY(choices.at("expert=1").plan);
        QVERIFY(choices.isBlockedBy("expert=4", "there are 16")); // 4 x 8
        QCOMPARE(choices.at("expert_tensor=4").plan->parallelism.expertTensor, 4);
        Plan plan = overTwoNodes();
        plan.parallelism.expert = 4; // of 16 GPUs, 4 are left for each expert
        plan.parallelism.expertTensor = 1;
        QVERIFY(Choices(plan).isBlockedBy("expert_tensor=8", "there are 16"));
        plan.parallelism.expert = 3;
        QVERIFY(Choices(plan).at("expert=3").isCurrent);
        plan = overTwoNodes();
        plan.workload.model = "gpt-oss-20b"; // experts 2,880 wide, which 64 divide and 128 do not
        plan.parallelism.expert = 1;
        plan.parallelism.expertTensor = 128;
        QVERIFY(Choices(plan).at("expert_tensor=128").isCurrent);
    }

    void measuredTimesFixHowTokensTravel()
    {
        Plan plan = overTwoNodes();
        plan.profile = MeasuredStageTimes { .forwardMs = { 10 }, .backwardMs = { 20 } };
        const Choices choices(plan);
        for (const char *id : { "dispatch=dedup", "expert_tensor=4", "capacity_factor=1", "moe_baseline=einsum" })
            QVERIFY2(choices.isBlockedBy(id, kMeasured), id);
    }

    void everyWayThatIsOfferedCanBeEvaluated()
    {
        EvaluationWorkspace workspace;
        for (const Alternative &a : Choices(overTwoNodes()).list) {
            if (!kGroups.contains(a.group) || !a.plan)
                continue;
            const auto evaluation = evaluate(a.plan, builtinCatalogue(), workspace, {}, Depth::Score);
            QVERIFY2(evaluation && (*evaluation)->metrics.iterationTime, a.id.c_str());
        }
    }
};

TRAINYARD_APPLESS_TEST(ExpertAlternativesTest)
#include "tst_expert_alternatives.moc"
