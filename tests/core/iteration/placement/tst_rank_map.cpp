// SPDX-License-Identifier: GPL-3.0-or-later
// Which rank is which place: against the groups that Megatron-LM makes of the order of its degrees, and by counting.
#include "core/iteration/placement/rank_map.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <map>
#include <set>

using namespace trainyard;
using namespace trainyard::test;

namespace {

using Groups = std::set<std::vector<int>>;

/// Megatron-LM, megatron/core/parallel_state.py, generate_masked_orthogonal_rank_groups(): sizes in their order, of
/// which those that are masked are inside a group.
Groups groupsOf(const std::vector<int> &sizes, const std::vector<bool> &mask)
{
    int world = 1;
    for (const int size : sizes)
        world *= size;
    std::map<std::vector<int>, std::vector<int>> byOthers;
    for (int rank = 0; rank < world; ++rank) {
        std::vector<int> others;
        for (std::size_t i = 0, rest = std::size_t(rank); i < sizes.size(); rest /= std::size_t(sizes[i++]))
            if (!mask[i])
                others.push_back(int(rest % std::size_t(sizes[i])));
        byOthers[others].push_back(rank);
    }
    Groups groups;
    for (const auto &[others, ranks] : byOthers)
        groups.insert(ranks);
    return groups;
}

/// Ranks that differ in what the key leaves out.
template <class Key> Groups groupsBy(const RankMap &map, const Key &key)
{
    std::map<std::vector<int>, std::vector<int>> byKey;
    for (int rank = 0; rank < map.worldSize(); ++rank)
        byKey[key(map.placeOf(rank))].push_back(rank);
    Groups groups;
    for (const auto &[others, ranks] : byKey)
        groups.insert(ranks);
    return groups;
}

void isBijective(const RankMap &map)
{
    std::set<std::vector<int>> places;
    for (int rank = 0; rank < map.worldSize(); ++rank) {
        const RankPlace place = map.placeOf(rank);
        QCOMPARE(map.rankOf(place), rank);
        places.insert({ place.replica, place.stage, place.context, place.tensor });
    }
    QCOMPARE(places.size(), std::size_t(map.worldSize()));
    std::multiset<int> all;
    for (int stage = 0; stage < map.stages(); ++stage) {
        const std::vector<int> ranks = map.ranksOf(stage, 0, map.replicas());
        QVERIFY(std::ranges::is_sorted(ranks));
        for (const int rank : ranks)
            QCOMPARE(map.placeOf(rank).stage, stage);
        all.insert(ranks.begin(), ranks.end());
    }
    QCOMPARE(all.size(), std::size_t(map.worldSize()));
    QCOMPARE(std::set<int>(all.begin(), all.end()).size(), all.size());
}

} // namespace

class RankMapTest : public QObject {
    Q_OBJECT
private slots:
    /// The example of Megatron-LM's initialize_model_parallel(): 16 GPUs, tensor 2, pipeline 4.
    void megatronsSixteenGpus()
    {
        const RankMap map(2, 1, 2, 4);
        QCOMPARE(map.worldSize(), 16);
        const auto pipelines = groupsBy(map, [](RankPlace p) { return std::vector { p.tensor, p.replica }; });
        QVERIFY((pipelines == Groups { { 0, 4, 8, 12 }, { 1, 5, 9, 13 }, { 2, 6, 10, 14 }, { 3, 7, 11, 15 } }));
        const auto data = groupsBy(map, [](RankPlace p) { return std::vector { p.tensor, p.stage }; });
        QVERIFY(
            (data == Groups { { 0, 2 }, { 1, 3 }, { 4, 6 }, { 5, 7 }, { 8, 10 }, { 9, 11 }, { 12, 14 }, { 13, 15 } }));
    }

    void everyGroupIsMegatrons()
    {
        for (const int tensor : { 1, 2, 4 })
            for (const int context : { 1, 2, 3 })
                for (const int data : { 1, 2, 6 })
                    for (const int pipeline : { 1, 3, 4 })
                        for (const auto order : { RankOrder::DataBeforePipeline, RankOrder::PipelineBeforeData }) {
                            const RankMap map(tensor, context, data, pipeline, 1, order);
                            const bool isDataFirst = order == RankOrder::DataBeforePipeline;
                            const std::vector<int> sizes = isDataFirst
                                ? std::vector { tensor, context, data, pipeline }
                                : std::vector { tensor, context, pipeline, data };
                            const auto of = [&](bool t, bool c, bool d, bool p) {
                                return groupsOf(sizes,
                                    isDataFirst ? std::vector<bool> { t, c, d, p } : std::vector<bool> { t, c, p, d });
                            };
                            isBijective(map);
                            QCOMPARE(map.worldSize(), tensor * context * data * pipeline);
                            const auto by = [&](bool t, bool c, bool d, bool p) {
                                return groupsBy(map, [=](RankPlace x) {
                                    return std::vector { t ? -1 : x.tensor, c ? -1 : x.context, d ? -1 : x.replica,
                                        p ? -1 : x.stage };
                                });
                            };
                            for (int mask = 0; mask < 16; ++mask) {
                                const bool t = mask & 1, c = mask & 2, d = mask & 4, p = mask & 8;
                                QVERIFY(by(t, c, d, p) == of(t, c, d, p));
                            }
                        }
    }

    /// Megatron-LM numbers experts by a grid of their own (tp 1, ep, dp, pp) over the same ranks.
    void expertGroupsAreMegatrons()
    {
        for (const int tensor : { 1, 2 })
            for (const int context : { 1, 2 })
                for (const int data : { 2, 4 })
                    for (const int expert : { 1, 2, 4 }) {
                        const int inStage = tensor * context * data;
                        if (inStage % expert != 0)
                            continue;
                        const RankMap map(tensor, context, data, 3, expert);
                        const auto groups = groupsOf({ expert, inStage / expert, 3 }, { true, false, false });
                        for (const std::vector<int> &ranks : groups)
                            for (std::size_t i = 0; i < ranks.size(); ++i)
                                QCOMPARE(map.placeOf(ranks[i]).expert, int(i));
                        const auto likes = groupsOf({ expert, inStage / expert, 3 }, { false, true, true });
                        QVERIFY(groupsBy(map, [](RankPlace p) { return std::vector { p.expert }; }) == likes);
                    }
        // With pipeline before data Megatron-LM asks that experts divide tensor x context: (tp 1, ep, pp, dp)
        const RankMap map(2, 2, 3, 2, 4, RankOrder::PipelineBeforeData);
        QVERIFY(groupsBy(map, [](RankPlace p) { return std::vector { p.expert }; })
            == groupsOf({ 4, 2, 3 }, { false, true, true }));
    }

    void whatIsNotThereHasNoRank()
    {
        const RankMap map(2, 1, 3, 4);
        QCOMPARE(map.rankOf({ 3, 0, 0, 0, 0 }), -1);
        QCOMPARE(map.rankOf({ 0, 4, 0, 0, 0 }), -1);
        QCOMPARE(map.rankOf({ 0, 0, 2, 0, 0 }), -1);
        QCOMPARE(map.rankOf({ 0, 0, 0, 1, 0 }), -1);
        QCOMPARE(map.rankOf({ -1, 0, 0, 0, 0 }), -1);
        QVERIFY(map.ranksOf(4, 0, 3).empty());
        QCOMPARE(map.ranksOf(1, 1, 9), (std::vector { 8, 9, 10, 11 }));
        QCOMPARE(RankMap().worldSize(), 0);
        QVERIFY(RankMap().ranksOf(0, 0, 1).empty());
    }

    void aPlanHasAsManyRanksAsItUsesGpus()
    {
        for (const int pipeline : { 1, 2, 4 }) {
            const EvaluationPtr evaluation = evaluated(oneSite(8, pipeline));
            for (const auto order : { RankOrder::DataBeforePipeline, RankOrder::PipelineBeforeData }) {
                const RankMap map(*evaluation->plan, evaluation->layout, order);
                QCOMPARE(map.worldSize(), evaluation->layout.gpusUsed);
                QCOMPARE(map.replicas(), evaluation->layout.data);
                QCOMPARE(map.stages(), pipeline);
                isBijective(map);
            }
        }
        Layout unplaced;
        unplaced.unplaced = "nothing fits";
        QCOMPARE(RankMap(oneSite(8), unplaced).worldSize(), 0);
    }

    /// Ranks of a plan fill nodes in the order tensor, context, data, pipeline: in one datacenter the ranks of a
    /// stage's replicas lie on its GPUs in their order.
    void ranksFollowTheGpusOfALayout()
    {
        const EvaluationPtr evaluation = evaluated(oneSite(8, 4));
        const RankMap map(*evaluation->plan, evaluation->layout);
        for (const GpuRun &run : evaluation->layout.runs) {
            const std::vector<int> ranks = map.ranksOf(run.stage, run.firstPipeline, run.pipelines);
            QCOMPARE(int(ranks.size()), run.gpus);
            for (int i = 0; i < run.gpus; ++i)
                QCOMPARE(ranks[std::size_t(i)], ranks.front() + i);
        }
    }

    /// Replica 0 and 1 with tensor 2 on fast GPUs, replica 2 with tensor 1 in its second stage: counted one by one.
    void unequalTensorDegreesAreCounted()
    {
        Plan plan = oneSite(1, 2);
        plan.parallelism.tensor = 2;
        plan.parallelism.context = 2;
        plan.parallelism.expert = 2;
        Layout layout;
        layout.data = 3;
        PipelineClass two, one;
        two.pipelines = 2;
        two.locations = { { 0, 0, 0 }, { 0, 0, 2 } };
        one.firstPipeline = 2;
        one.locations = { { 0, 1, 4 }, { 0, 1, 1 } };
        layout.classes = { two, one };
        const int tensor[2][3] = { { 2, 2, 4 }, { 2, 2, 1 } };
        for (const auto order : { RankOrder::DataBeforePipeline, RankOrder::PipelineBeforeData }) {
            const RankMap map(plan, layout, order);
            QCOMPARE(map.worldSize(), 2 * (2 + 2 + 4 + 2 + 2 + 1));
            isBijective(map);
            int rank = 0, inStage[2] = { 0, 0 };
            for (int outer = 0; outer < (order == RankOrder::DataBeforePipeline ? 2 : 3); ++outer)
                for (int inner = 0; inner < (order == RankOrder::DataBeforePipeline ? 3 : 2); ++inner) {
                    const int stage = order == RankOrder::DataBeforePipeline ? outer : inner,
                              replica = order == RankOrder::DataBeforePipeline ? inner : outer;
                    for (int c = 0; c < 2; ++c)
                        for (int t = 0; t < tensor[stage][replica]; ++t) {
                            const RankPlace expected { replica, stage, t, c, inStage[stage]++ % 2 };
                            QVERIFY(map.placeOf(rank++) == expected);
                        }
                }
        }
    }
};

TRAINYARD_APPLESS_TEST(RankMapTest)
#include "tst_rank_map.moc"
