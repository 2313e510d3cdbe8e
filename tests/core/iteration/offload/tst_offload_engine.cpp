// SPDX-License-Identifier: GPL-3.0-or-later
// What must hold of offloading whatever the numbers are, on random models, bandwidths and rules of prefetching.
#include "tests/core/iteration/offload/reference_case.h"
#include "tests/support/rewritten_graph.h"
#include "tests/support/test_program.h"

#include <random>

using namespace offload;
using test::rewritten;

class TstOffloadEngine : public QObject {
    Q_OBJECT

    static Case randomCase(std::mt19937 &random)
    {
        const auto whole = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
        Case c;
        c.hidden = 1024 * whole(2, 16);
        c.layers = whole(1, 8);
        c.microBatch = whole(1, 16);
        c.writeRate = whole(2, 40) * 1e9;
        c.readRate = whole(2, 40) * 1e9;
        c.microBatches = whole(1, 4);
        c.ahead = whole(1, 3);
        return c;
    }

    /// Spans of one kind, in order of start.
    static std::vector<std::uint32_t> spans(const Timeline &timeline, WorkKind kind)
    {
        std::vector<std::uint32_t> found;
        for (std::uint32_t i = 0; i < timeline.spanCount(); ++i)
            if (timeline.kind[i] == kind)
                found.push_back(i);
        return found;
    }

private slots:
    void whatIsWrittenIsReadOrForwarded()
    {
        // written = read + forwarded, and offered = written + dropped + the last module before its own backward
        std::mt19937 random(11);
        for (int trial = 0; trial < 300; ++trial) {
            const Case c = randomCase(random);
            const Run run = offload::run(c);
            const OffloadUse &use = run.live.use;
            QVERIFY(isNear(use.written, use.read + use.forwarded, 1e-6 * run.offered + 1e-9));
            QVERIFY(isNear(
                run.offered, use.written + use.dropped + run.lastModule * c.microBatches, 1e-6 * run.offered + 1e-9));
        }
    }

    void nothingIsUsedBeforeItIsThere()
    {
        // each load ends before some backward that waited for it starts: the n-th load of a micro-batch before the
        // backward of its module, which is the n-th from the end
        std::mt19937 random(12);
        for (int trial = 0; trial < 200; ++trial) {
            const Case c = randomCase(random);
            const Run run = offload::run(c);
            const Timeline &t = run.timeline;
            for (int mb = 0; mb < c.microBatches; ++mb) {
                std::vector<std::uint32_t> backwards, loads, stores, forwards;
                const auto ofMicroBatch = [&](WorkKind kind) {
                    std::vector<std::uint32_t> all = spans(t, kind);
                    std::erase_if(all, [&](std::uint32_t i) { return t.microBatch[i] != mb; });
                    return all;
                };
                backwards = ofMicroBatch(WorkKind::Backward);
                loads = ofMicroBatch(WorkKind::OffloadLoad);
                stores = ofMicroBatch(WorkKind::OffloadStore);
                forwards = ofMicroBatch(WorkKind::Forward);
                QCOMPARE(loads.size(), stores.size());
                const std::size_t n = loads.size();
                for (std::size_t i = 0; i < n; ++i) {
                    const std::size_t module = n - 1 - i;
                    QVERIFY(t.end[loads[i]] <= t.start[backwards[backwards.size() - 1 - module]]);
                    QVERIFY(t.start[stores[module]] >= t.end[forwards[module]]);
                    if (t.end[loads[i]] > t.start[loads[i]]) // really read: the store had ended
                        QVERIFY(t.end[stores[module]] <= t.start[loads[i]]
                            && t.end[stores[module]] > t.start[stores[module]]);
                }
            }
        }
    }

    void thePeakIsNeverAboveKeeping()
    {
        std::mt19937 random(13);
        for (int trial = 0; trial < 300; ++trial) {
            const Run run = offload::run(randomCase(random));
            QVERIFY(holdsLessAndNothingInTheEnd(run.live)); // everything comes back and is freed
        }
    }

    void withoutLimitOfBandwidthNothingStalls()
    {
        // a move takes one tick: an iteration is longer by one a module at most
        std::mt19937 random(14);
        for (int trial = 0; trial < 100; ++trial) {
            Case c = randomCase(random);
            c.writeRate = c.readRate = 1e30;
            Case keep = c;
            keep.offloads = false;
            const Run run = offload::run(c);
            QCOMPARE(firstKept(c), std::size_t(2 * c.layers));
            QVERIFY(run.timeline.duration - offload::run(keep).timeline.duration
                <= 2 * Nanoseconds(c.layers) * c.microBatches);
        }
    }

    void withoutBandwidthEverythingStays()
    {
        for (const double rate : { 0.0, 1.0 }) {
            Case c;
            c.writeRate = c.readRate = rate;
            QCOMPARE(firstModuleKept(modules(c), { rate, rate, 2, false }), std::size_t(0));
        }
        Case c, keep;
        c.writeRate = c.readRate = 1;
        keep.offloads = false;
        const Run run = offload::run(c), kept = offload::run(keep);
        QCOMPARE(run.timeline.duration, kept.timeline.duration);
        QCOMPARE(run.live.peak, kept.live.peak);
        QCOMPARE(run.live.use.written, 0.0);
    }

    void aSlowDriveStallsAndAForwardedTensorDoesNot()
    {
        // all must leave over a way that is too slow: the stores that do not begin in time are dropped, the rest is
        // waited for
        Case c;
        c.layers = 8;
        const std::vector<AmountModule> list = modules(c);
        QCOMPARE(firstModuleKept(list, 1.0), list.size());
        QCOMPARE(firstModuleKept(list, 0.0), std::size_t(0));
        const std::size_t half = firstModuleKept(list, 0.5);
        double bytes = 0, all = 0;
        for (std::size_t i = 0; i < list.size(); ++i) {
            all += list[i].bytes;
            bytes += i < half ? list[i].bytes : 0;
        }
        QVERIFY(bytes <= 0.5 * all && bytes + list[half].bytes > 0.5 * all);
    }

    void moreBandwidthNeverOffloadsLessByMoreThanAModule()
    {
        // The rule asks for a layer as a whole after its modules, so that it may take back the attention before an MLP.
        std::mt19937 random(15);
        for (int trial = 0; trial < 200; ++trial) {
            const Case c = randomCase(random);
            for (const bool isPipelined : { false, true }) {
                std::size_t before = 0;
                for (double rate = 1e9; rate < 1e12; rate *= 1.7) {
                    const std::size_t now = firstModuleKept(modules(c), { rate, rate, 2, isPipelined });
                    QVERIFY(now + 1 >= before);
                    before = std::max(before, now);
                }
                QCOMPARE(before, std::size_t(2 * c.layers));
            }
        }
    }

    void loadsHaveThePeriodLessTheForwardsBeforeThem()
    {
        // all leave in a pipeline where sum A <= R (1 + r - K/M) T_f
        const Case c;
        const std::vector<AmountModule> list = modules(c);
        double bytes = 0, forward = 0;
        for (const AmountModule &module : list) {
            bytes += module.bytes;
            forward += module.forward;
        }
        for (const double r : { 1.0, 2.0, 3.0 })
            for (const double share : { 0.0, 0.25, 1.0 }) {
                const double rate = bytes / ((1 + r - share) * forward);
                QCOMPARE(firstModuleKept(list, { 1e15, rate * (1 + 1e-9), r, true, share }), list.size());
                QVERIFY(firstModuleKept(list, { 1e15, rate * (1 - 1e-9), r, true, share }) < list.size());
            }
    }

    void stagesOnOneDriveDivideItsBandwidth()
    {
        // two pipelines of one GPU each store at the same time over a link that carries one: each move takes twice as
        // long
        Case c; // four layers, of which only the first module leaves: its store ends long before its load
        StageOffload bytes;
        const auto storeTime = [&](double capacity) {
            IterationCosts costs = costsOf(c, 1, bytes);
            costs.classes.push_back(costs.classes.front());
            costs.linkCapacity = { capacity };
            for (PipelineCosts &pipeline : costs.classes)
                pipeline.offload.paths.front().storeLinks = { 0 };
            SimulationWorkspace workspace;
            const Timeline t = *simulate(*buildPipelineGraph(costs), workspace);
            const std::uint32_t store = spans(t, WorkKind::OffloadStore).front();
            return t.end[store] - t.start[store];
        };
        const Nanoseconds alone = storeTime(2 * c.writeRate), shared = storeTime(c.writeRate);
        QVERIFY(std::abs(shared - 2 * alone) <= 2);
    }

    void updatingAGraphGivesWhatBuildingGives()
    {
        Case slow, fast;
        fast.writeRate = 30e9;
        StageOffload bytes;
        const TaskGraph graph = *buildPipelineGraph(costsOf(slow, 6, bytes));
        const auto same = rewritten(graph, costsOf(fast, 6, bytes));
        QVERIFY(same);
        SimulationWorkspace workspace;
        const Timeline updated = *simulate(*same, workspace),
                       built = *simulate(*buildPipelineGraph(costsOf(fast, 6, bytes)), workspace);
        QCOMPARE(updated.start, built.start);
        QCOMPARE(updated.end, built.end);
        QVERIFY(!rewritten(graph, costsOf(fast, 4, bytes)));
    }
};

TRAINYARD_APPLESS_TEST(TstOffloadEngine)
#include "tst_offload_engine.moc"
