// SPDX-License-Identifier: GPL-3.0-or-later
// Who shares the experts of a layer and where they lie, against lists of ranks: both views of the same ranks reshaped
// as Megatron Core does, and the GPU of every rank written down.
#include "core/iteration/placement/expert_spread.h"
#include "tests/support/test_program.h"

#include "core/iteration/layouts/placements.h"
#include "core/iteration/placement/ranks.h"
#include "core/iteration/placement/stage_ranks.h"
#include "tests/support/plans.h"
#include "tests/support/workloads.h"

#include <QTest>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Coordinates of a rank in an array of that shape, innermost last.
std::vector<int> coordinates(int rank, const std::vector<int> &shape)
{
    std::vector<int> at(shape.size());
    for (std::size_t i = shape.size(); i-- > 0;) {
        at[i] = rank % shape[i];
        rank /= shape[i];
    }
    return at;
}

/// Ranks 0 .. W-1 that agree in all coordinates but the one, as sets.
std::set<std::set<int>> groups(const std::vector<int> &shape, std::size_t along)
{
    int world = 1;
    for (const int size : shape)
        world *= size;
    std::map<std::vector<int>, std::set<int>> found;
    for (int rank = 0; rank < world; ++rank) {
        std::vector<int> at = coordinates(rank, shape);
        at[along] = 0;
        found[at].insert(rank);
    }
    std::set<std::set<int>> all;
    for (auto &[at, ranks] : found)
        all.insert(ranks);
    return all;
}

Degrees degreesFor(int tensor, int context, int expert, int expertTensor, bool sequenceParallel)
{
    Degrees degrees;
    degrees.tensor = tensor;
    degrees.context = context;
    degrees.expert = expert;
    degrees.expertTensor = expertTensor;
    degrees.isSequenceParallel = sequenceParallel;
    return degrees;
}

/// Mixtral with sequence parallelism over three datacenters of nodes of any size.
Plan spreadPlan(std::mt19937 &random)
{
    const auto oneOf = [&](std::initializer_list<int> values) {
        return *(values.begin() + std::ptrdiff_t(random() % values.size()));
    };
    Plan plan;
    plan.cluster.datacenters = { site("a", 1), site("b", 1), site("c", 1) };
    for (Datacenter &datacenter : plan.cluster.datacenters) {
        datacenter.pools[0].nodes = 1 + int(random() % 6);
        datacenter.pools[0].gpusPerNode = oneOf({ 4, 6, 8 });
    }
    plan.cluster.wanLinks = { wanLink("a", "b"), wanLink("b", "c"), wanLink("a", "c") };
    plan.workload.model = "mixtral-8x7b";
    plan.workload.sequenceLength = 4096;
    plan.workload.globalBatch = 960;
    plan.parallelism.tensor = oneOf({ 1, 2, 4 });
    plan.parallelism.sequenceParallel = random() % 3 > 0;
    plan.parallelism.context = oneOf({ 1, 1, 2 });
    plan.parallelism.pipeline = oneOf({ 1, 2 });
    plan.parallelism.expert = oneOf({ 2, 4, 8 });
    plan.parallelism.expertTensor = oneOf({ 1, 1, 2 });
    plan.placement.mode = PlacementMode::DataAcross;
    return plan;
}

/// Of every rank of a stage, its datacenter, pool and GPU, by the runs of the layout alone.
struct Spot {
    int datacenter = 0, gpu = 0, node = 0;
};

std::vector<Spot> spotsOf(const Workload &workload, int stage)
{
    std::vector<Spot> spots;
    int most = 0;
    for (const GpuRun &run : workload.layout.runs)
        most = std::max(most, run.firstPipeline);
    for (int pipeline = 0; pipeline <= most; ++pipeline)
        for (const GpuRun &run : workload.layout.runs)
            for (int gpu = 0; run.stage == stage && run.firstPipeline == pipeline && gpu < run.gpus; ++gpu) {
                const int at = run.firstGpu + gpu;
                spots.push_back({ run.datacenter, at, at / workload.pool({ run.datacenter, run.pool }).gpusPerNode });
            }
    return spots;
}

} // namespace

class TestExpertSpread : public QObject {
    Q_OBJECT

private slots:
    /// With the pipeline outermost both reshapes agree on it, whatever the degrees: a stage's ranks are in a row.
    void groupsAreThoseOfBothReshapes()
    {
        int worlds = 0;
        for (const int tensor : { 1, 2, 4 })
            for (const int context : { 1, 2 })
                for (const int data : { 1, 2, 3, 4 })
                    for (const int expertTensor : { 1, 2, 4 })
                        for (const int expert : { 1, 2, 3, 4, 6, 8 }) {
                            const int ranks = tensor * context * data, pipeline = 2;
                            if (ranks % (expert * expertTensor) != 0)
                                continue;
                            ++worlds;
                            const int expertData = ranks / (expert * expertTensor);
                            const ExpertGrid grid =
                                expertGrid(degreesFor(tensor, context, expert, expertTensor, true), ranks);
                            const std::vector<int> shape { pipeline, expertData, expert, expertTensor };
                            QCOMPARE(groups({ pipeline, data, context, tensor }, 0), groups(shape, 0));
                            std::set<std::set<int>> ours, replicas;
                            for (int stage = 0; stage < pipeline; ++stage) {
                                for (int block = 0; block < ranks / grid.block(); ++block)
                                    for (int lane = 0; lane < grid.stride; ++lane) {
                                        std::set<int> group;
                                        for (int part = 0; part < expert; ++part)
                                            group.insert(stage * ranks + grid.rankOf(block, lane, part));
                                        ours.insert(group);
                                    }
                                for (int rank = 0; rank < ranks; ++rank) {
                                    std::set<int> alike;
                                    for (int other = 0; other < ranks; ++other)
                                        if (grid.areReplicas(rank, other))
                                            alike.insert(stage * ranks + other);
                                    replicas.insert(alike);
                                    QCOMPARE(
                                        grid.rankOf(grid.blockOf(rank), grid.laneOf(rank), grid.coordinateOf(rank)),
                                        rank);
                                }
                            }
                            QCOMPARE(ours, groups(shape, 2)); // EP
                            QCOMPARE(replicas, groups(shape, 1)); // EDP
                        }
        QVERIFY(worlds > 100);
    }

    /// With data outermost, reshape(DP, PP, CP, TP), the two views have the same pipelines where TP CP = ETP EP or
    /// there is one stage; there a stage's ranks in order of data rank are dealt as above.
    void theOtherOrderAgreesWhereBothViewsHaveTheSamePipelines()
    {
        int same = 0;
        for (const int tensor : { 1, 2, 4 })
            for (const int data : { 1, 2, 4 })
                for (const int expertTensor : { 1, 2 })
                    for (const int expert : { 1, 2, 4, 8 })
                        for (const int pipeline : { 1, 2, 3 }) {
                            const int ranks = tensor * data;
                            if (ranks % (expert * expertTensor) != 0)
                                continue;
                            const std::vector<int> attention { data, pipeline, 1, tensor },
                                moe { ranks / (expert * expertTensor), pipeline, expert, expertTensor };
                            const bool agree = groups(attention, 1) == groups(moe, 1);
                            QCOMPARE(agree, pipeline == 1 || tensor == expert * expertTensor);
                            if (!agree)
                                continue;
                            ++same;
                            const ExpertGrid grid =
                                expertGrid(degreesFor(tensor, 1, expert, expertTensor, true), ranks);
                            std::set<std::set<int>> ours;
                            for (int stage = 0; stage < pipeline; ++stage) {
                                std::vector<int> ofStage; // world ranks of the stage
                                for (int rank = 0; rank < ranks * pipeline; ++rank)
                                    if (coordinates(rank, attention)[1] == stage)
                                        ofStage.push_back(rank);
                                for (int first = 0; first < ranks; first += grid.block())
                                    for (int lane = 0; lane < grid.stride; ++lane) {
                                        std::set<int> group;
                                        for (int part = 0; part < expert; ++part)
                                            group.insert(ofStage[std::size_t(first + part * grid.stride + lane)]);
                                        ours.insert(group);
                                    }
                            }
                            QCOMPARE(ours, groups(moe, 2));
                        }
        QVERIFY(same > 20);
    }

    /// W = 8, TP = 2, EP = 4, experts whole: {0,2,4,6} and {1,3,5,7}.
    void withoutSequenceParallelismEqualPlacesOfTensorGroupsShareTheExperts()
    {
        const ExpertGrid grid = expertGrid(degreesFor(2, 1, 4, 1, false), 8);
        for (int lane = 0; lane < 2; ++lane)
            for (int part = 0; part < 4; ++part)
                QCOMPARE(grid.rankOf(0, lane, part), 2 * part + lane);
        QVERIFY(grid.areReplicas(0, 1));
        QVERIFY(!grid.areReplicas(0, 2));
        QCOMPARE(expertGrid(degreesFor(8, 1, 2, 1, false), 8).stride, 1); // one tensor group: there is no other
        QCOMPARE(expertGrid(degreesFor(8, 1, 2, 8, false), 16).stride, 8);
    }

    /// Of every group the datacenter and the node of each rank; the worst group of a class decides.
    void nodesAndDatacentersAreThoseOfTheRanks()
    {
        std::mt19937 random(5);
        int across = 0, overNodes = 0, inNode = 0;
        for (int trial = 0; trial < 600; ++trial) {
            const Plan plan = spreadPlan(random);
            const Workload workload = test::placedWorkload(plan, PlacementMode::DataAcross);
            const Layout &layout = workload.layout;
            const Degrees &d = workload.degrees;
            if (layout.data == 0 || d.gpusOfStage() * layout.data % d.expertRanks() != 0)
                continue;
            for (int stage = 0; stage < d.pipeline; ++stage) {
                const std::vector<Spot> spots = spotsOf(workload, stage);
                const StageRanks ranks(layout, stage);
                QCOMPARE(ranks.count(), int(spots.size()));
                for (int rank = 0; rank < ranks.count(); ++rank) {
                    QCOMPARE(ranks.place(rank).at.datacenter, spots[std::size_t(rank)].datacenter);
                    QCOMPARE(ranks.place(rank).gpu, spots[std::size_t(rank)].gpu);
                }
                const ExpertGrid grid = expertGrid(d, int(spots.size()));
                for (const PipelineClass &pipelines : layout.classes) {
                    const int own = pipelines.locations[std::size_t(stage)].datacenter;
                    const ExpertSpread spread = expertSpread(workload, pipelines, stage);
                    QCOMPARE(spread.ranks, d.expert);
                    QCOMPARE(spread.sites.front(), own);
                    // The least number of ranks here, and among such groups of ranks in one node.
                    int here = d.expert + 1, together = 0;
                    for (int first = 0; first < int(spots.size()); ++first) {
                        if (grid.coordinateOf(first) != 0)
                            continue;
                        std::map<int, int> sites;
                        std::map<int, int> nodes; // of `own`
                        for (int part = 0; part < d.expert; ++part) {
                            const Spot &spot =
                                spots[std::size_t(grid.rankOf(grid.blockOf(first), grid.laneOf(first), part))];
                            ++sites[spot.datacenter];
                            if (spot.datacenter == own)
                                ++nodes[spot.node];
                        }
                        if (nodes.empty())
                            continue;
                        const int least = std::ranges::min_element(nodes, {}, [](auto &n) { return n.second; })->second;
                        if (sites[own] < here || (sites[own] == here && least < together)) {
                            here = sites[own];
                            together = least;
                        }
                    }
                    QCOMPARE(spread.here(), here);
                    QCOMPARE(spread.together, together);
                    int sum = 0;
                    for (const int ofSite : spread.perSite)
                        sum += ofSite;
                    QCOMPARE(sum, d.expert);
                    QCOMPARE(spread.isAcross(), here < d.expert);
                    (spread.isAcross() ? across : together < d.expert ? overNodes : inNode) += 1;
                    const Levels levels = rankSet(workload, pipelines, stage).levels(GroupKind::Expert);
                    QCOMPARE(levels.ranks, spread.ranks);
                    QCOMPARE(levels.together, spread.together);
                }
            }
        }
        QVERIFY2(across > 50 && overNodes > 50 && inNode > 50,
            qPrintable(
                QStringLiteral("%1 across, %2 over nodes, %3 in a node").arg(across).arg(overNodes).arg(inNode)));
    }

    /// Replicas of an expert: of all parts that ranks of a datacenter hold, the one with most of them there.
    void replicasOfAnExpertAreThoseOfTheRanks()
    {
        std::mt19937 random(6);
        int apart = 0, partly = 0;
        for (int trial = 0; trial < 400; ++trial) {
            const Plan plan = spreadPlan(random);
            const Workload workload = test::placedWorkload(plan, PlacementMode::DataAcross);
            const Degrees &d = workload.degrees;
            if (workload.layout.data == 0 || d.gpusOfStage() * workload.layout.data % d.expertRanks() != 0)
                continue;
            const std::vector<Spot> spots = spotsOf(workload, 0);
            const ExpertGrid grid = expertGrid(d, int(spots.size()));
            int parts = 0, heldApart = 0;
            std::vector<bool> isKnown(spots.size());
            for (int rank = 0; rank < int(spots.size()); ++rank) {
                if (isKnown[std::size_t(rank)])
                    continue;
                std::map<int, int> sites;
                for (int other = rank; other < int(spots.size()); ++other)
                    if (grid.areReplicas(rank, other)) {
                        isKnown[std::size_t(other)] = true;
                        ++sites[spots[std::size_t(other)].datacenter];
                    }
                ++parts;
                heldApart += sites.size() > 1;
            }
            QCOMPARE(expertsHeldApart(workload, 0), double(heldApart) / parts);
            (heldApart == parts ? apart : partly) += 1;
        }
        QVERIFY2(apart > 20 && partly > 20, qPrintable(QStringLiteral("%1, %2").arg(apart).arg(partly)));
    }

    /// Sixty-four of eight in a node: eight nodes each, wherever the group begins.
    void aGroupOverEightNodesHasEightRanksInEach()
    {
        Plan plan;
        plan.cluster.datacenters = { site("a", 64) };
        plan.workload.model = "deepseek-v3";
        plan.workload.globalBatch = 1024;
        plan.parallelism.pipeline = 4;
        plan.parallelism.expert = 64;
        const Workload workload = test::placedWorkload(plan, PlacementMode::PipelineAcross);
        for (int stage = 0; stage < 4; ++stage) {
            const ExpertSpread spread = expertSpread(workload, workload.layout.classes.front(), stage);
            QCOMPARE(spread.ranks, 64);
            QCOMPARE(spread.together, 8);
            QVERIFY(!spread.isAcross());
        }
    }
};

TRAINYARD_APPLESS_TEST(TestExpertSpread)
#include "tst_expert_spread.moc"
