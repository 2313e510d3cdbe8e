// SPDX-License-Identifier: GPL-3.0-or-later
// The layer loop against its closed form. With L layers, F and R of the replica that takes longest for the l forwards
// and the l backwards with recomputation of a layer, G and S a layer's gather and reduction:
//   prefetching  G + (L − 1) · max(G, F) + (2F' + …) : see the tests, each of which states its own sum.
#include "core/engine/schedule/traits.h"
#include "tests/core/iteration/graph/pipelines.h"
#include "tests/support/test_program.h"

using namespace pipelines;

namespace {

struct Loop {
    int layers = 4, microBatches = 2;
    Nanoseconds forward = 10, backward = 20, gather = 0, reduce = 0, store = 0, load = 0;
    bool prefetches = true;
};

/// One replica. Its layers are recomputed; the last one is not, since its forward is at hand.
PipelineCosts replica(const Loop &loop)
{
    Plan plan;
    plan.heterogeneity.accumulation = Accumulation::Layered;
    auto program = makeProgram(traitsOf(plan), { 1, loop.microBatches, loop.layers, {} });
    if (!program)
        qFatal("%s", toString(program.error()).c_str());
    PipelineCosts costs = even(std::move(*program), { loop.forward, loop.backward, 0 }).classes.front();
    for (OpTimes &op : costs.ops) {
        op.recompute = loop.forward;
        op.backward += op.recompute;
        op.inputGrad += op.recompute;
    }
    costs.layers.gather.assign(std::size_t(loop.layers), loop.gather);
    costs.layers.reduce.assign(std::size_t(loop.layers), loop.reduce);
    costs.layers.prefetches = loop.prefetches;
    costs.layers.store = loop.store;
    costs.layers.load = loop.load;
    costs.layers.boundaryBytes = 1;
    return costs;
}

Nanoseconds duration(const std::vector<Loop> &loops)
{
    IterationCosts costs;
    for (const Loop &loop : loops)
        costs.classes.push_back(replica(loop));
    return run(costs).duration;
}

} // namespace

class TstLayerLoop : public QObject {
    Q_OBJECT

private slots:
    void withoutCollectivesItIsTheWorkOfTheLayers()
    {
        // L · l · (F + B) + (L − 1) · l · F: the last layer is not recomputed.
        QCOMPARE(duration({ {} }), Nanoseconds(4 * 2 * (10 + 20) + 3 * 2 * 10));
        QCOMPARE(duration({ { .layers = 1, .microBatches = 3 } }), Nanoseconds(3 * (10 + 20)));
    }

    void collectivesHideBehindTheLayerBefore()
    {
        // All that shows is the first gather and the last reduction: a layer's forwards take 20, its backwards 60.
        const Nanoseconds work = 4 * 2 * 30 + 3 * 2 * 10;
        QCOMPARE(duration({ { .gather = 20, .reduce = 40 } }), 20 + work + 40);
        // G + S = 61: each of the last three backward layers waits 1 more for the gather of its own weights, which
        // waits for the reduction of the layer before, but the first of them, before which nothing is reduced.
        QCOMPARE(duration({ { .gather = 20, .reduce = 41 } }), 20 + work + 41 + 2);
    }

    void slowCollectivesAreAllThatCounts()
    {
        // One row: 2L − 1 gathers and L reductions, and the work that nothing can hide: the last layer's in the
        // middle, the first layer's at the end are shorter than a gather.
        const Nanoseconds gather = 1000, reduce = 2000;
        const Nanoseconds took = duration({ { .gather = gather, .reduce = reduce } });
        QVERIFY(took >= 7 * gather + 4 * reduce);
        QVERIFY(took <= 7 * gather + 4 * reduce + 4 * 60);
    }

    void withoutPrefetchingEveryCollectiveShows()
    {
        // 2L − 1 gathers show, and L reductions, behind which the next gather stands in line.
        const Nanoseconds work = 4 * 2 * 30 + 3 * 2 * 10;
        QCOMPARE(duration({ { .gather = 20, .reduce = 40, .prefetches = false } }), 7 * 20 + 4 * 40 + work);
    }

    void numbersOfCollectivesDoNotDependOnTheMicroBatches()
    {
        for (const int microBatches : { 1, 2, 8 }) {
            IterationCosts costs;
            costs.classes.push_back(replica({ .microBatches = microBatches, .gather = 5, .reduce = 7 }));
            const Timeline timeline = run(costs);
            int gathers = 0, reductions = 0;
            for (const WorkKind kind : timeline.kind) {
                gathers += kind == WorkKind::ParameterGather;
                reductions += kind == WorkKind::GradientReduce;
            }
            QCOMPARE(gathers, 7);
            QCOMPARE(reductions, 4);
        }
    }

    void everyLayerWaitsForTheSlowestReplica()
    {
        // One is slower forward, one backward: with barriers at every collective the iteration is the sum of maxima to
        // within the layer by which prefetching lets one run ahead, and never below the slower one alone.
        const Loop a { .forward = 30, .backward = 20, .gather = 1, .reduce = 1 },
            b { .forward = 10, .backward = 50, .gather = 1, .reduce = 1 };
        const Nanoseconds both = duration({ a, b });
        QVERIFY(both >= std::max(duration({ a }), duration({ b })));
        QVERIFY(both > std::max(duration({ a }), duration({ b })));
        const Nanoseconds maxima =
            1 + 3 * 60 + 2 * std::max(30 + 20, 10 + 50) + 3 * 2 * std::max(30 + 30 + 20 - 30, 10 + 50) + 1;
        QVERIFY2(both <= maxima + 2 * 60, qPrintable(QString::number(both)));
        QCOMPARE(duration({ a, a }), duration({ a }));
        QCOMPARE(duration({ a, b }), duration({ b, a }));
    }

    void boundariesThatAreFastEnoughCostNothing()
    {
        // Forward: a store in the shadow of a forward (10). Backward: an input and a gradient in, in that of the
        // operation before, which is a backward of the last layer at least (20); a gradient out in that of the next.
        const Nanoseconds work = duration({ {} });
        QCOMPARE(duration({ { .store = 10, .load = 10 } }), work);
        QVERIFY(duration({ { .store = 200, .load = 1 } }) > work);
        QVERIFY(duration({ { .store = 1, .load = 200 } }) > work);
    }

    void slowBoundariesStallAsTheirRowIsLong()
    {
        // Loads of 200: in 3 layers of 2 micro-batches an input and a gradient each, one after the other.
        const Nanoseconds took = duration({ { .store = 1, .load = 200 } });
        QVERIFY(took >= 3 * 2 * 2 * 200);
        QVERIFY(took <= 3 * 2 * 2 * 200 + duration({ {} }));
    }

    void everyBoundaryThatLeavesReturns()
    {
        IterationCosts costs;
        costs.classes.push_back(replica({ .microBatches = 3, .store = 2, .load = 3 }));
        const Timeline timeline = run(costs);
        int stores = 0, loads = 0;
        for (const WorkKind kind : timeline.kind) {
            stores += kind == WorkKind::OffloadStore;
            loads += kind == WorkKind::OffloadLoad;
        }
        // Inputs of three layers and gradients of three, of three micro-batches.
        QCOMPARE(stores, 2 * 3 * 3);
        QCOMPARE(loads, stores);
    }

    void classesOfOtherLayersAreRefused()
    {
        IterationCosts costs;
        costs.classes = { replica({}), replica({ .layers = 5 }) };
        QVERIFY(!buildPipelineGraph(costs));
        costs.classes = { replica({}) };
        costs.classes.front().layers.reduce.pop_back();
        QVERIFY(!buildPipelineGraph(costs));
    }
};

TRAINYARD_GUILESS_TEST(TstLayerLoop)
#include "tst_layer_loop.moc"
