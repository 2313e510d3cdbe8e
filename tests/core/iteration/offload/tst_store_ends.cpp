// SPDX-License-Identifier: GPL-3.0-or-later
// A store whose tensor is needed while it runs ends there: nobody will read what it would still write, and nothing
// waits for it.
#include "tests/core/iteration/offload/paper_plans.h"
#include "tests/core/iteration/offload/pipeline_case.h"
#include "tests/support/test_program.h"

using namespace offload;
using test::evaluated;

class TstStoreEnds : public QObject {
    Q_OBJECT

    static Nanoseconds lastEnd(const Timeline &t, auto isWanted)
    {
        Nanoseconds last = 0;
        for (std::uint32_t span = 0; span < t.spanCount(); ++span)
            if (isWanted(t.kind[span]))
                last = std::max(last, t.end[span]);
        return last;
    }
    static bool isStore(WorkKind kind) { return kind == WorkKind::OffloadStore; }
    static bool isOther(WorkKind kind) { return kind != WorkKind::OffloadStore; }

private slots:
    void noStoreOutlivesTheLastBackward()
    {
        std::mt19937 random(41);
        int early = 0;
        for (const ScheduleKind schedule : { ScheduleKind::OneFOneB, ScheduleKind::GPipe, ScheduleKind::ZbH1,
                 ScheduleKind::Atlas, ScheduleKind::DualPipe })
            for (int trial = 0; trial < 100; ++trial) {
                PipelineCase c = randomPipeline(random, schedule);
                c.store *= 20;
                const Timeline t = offload::run(c).timeline;
                QVERIFY(lastEnd(t, isStore) <= lastEnd(t, isOther));
                early += t.moved.empty() ? 0 : 1;
            }
        QVERIFY(early > 100);
    }

    void whatItHadWrittenIsItsShareOfTheTime()
    {
        // one module of 100 bytes of the first micro-batch (the second turns at once and keeps its own): its store
        // takes ten forwards and is needed before; what it wrote until then is in vain, the rest is never written
        PipelineCase c;
        c.schedule = ScheduleKind::GPipe;
        c.devices = c.modules = c.leaving = 1;
        c.microBatches = 2; // the first micro-batch's backward comes after the second's
        c.store = 10 * c.forward;
        const PipelineRun run = offload::run(c);
        const OffloadUse &use = run.live.front().front().use;
        QCOMPARE(use.read, 0.0);
        QCOMPARE(use.written, use.forwarded);
        QCOMPARE(use.written + use.dropped, kModuleBytes);
        const auto store = std::ranges::find(run.timeline.kind, WorkKind::OffloadStore) - run.timeline.kind.begin();
        const double share =
            double(run.timeline.end[std::size_t(store)] - run.timeline.start[std::size_t(store)]) / double(c.store);
        QVERIFY(share > 0 && share < 1);
        QCOMPARE(run.timeline.moved[std::size_t(store)], share);
        QCOMPARE(use.written, share * kModuleBytes);
    }

    void theQueueIsFreeForTheNextStoreAtOnce()
    {
        // where a store ended early and another waited, that one begins at the same tick; stores that run to their end
        // keep it waiting
        int atOnce = 0, early = 0;
        std::mt19937 random(42);
        for (int trial = 0; trial < 100; ++trial) {
            PipelineCase c = randomPipeline(random, ScheduleKind::OneFOneB);
            c.store *= 4;
            c.ahead = 1;
            const Timeline t = offload::run(c).timeline;
            for (const Track &track : t.tracks)
                for (std::uint32_t span = track.first; track.stream == Stream::Store && span + 1 < track.last; ++span) {
                    if (t.moved.empty() || t.moved[span] == 1)
                        continue;
                    ++early;
                    const auto next = std::find_if(t.start.begin() + span + 1, t.start.begin() + track.last,
                        [&](const Nanoseconds &start) { return t.end[std::size_t(&start - t.start.data())] > start; });
                    atOnce += next != t.start.begin() + track.last && *next == t.end[span] ? 1 : 0;
                    QVERIFY(next == t.start.begin() + track.last || *next >= t.end[span]);
                }
        }
        QVERIFY2(early > 50 && atOnce > early / 10, qPrintable(QStringLiteral("%1 of %2").arg(atOnce).arg(early)));
    }

    void aDriveThatIsTooSlowCostsNoTime()
    {
        // all must leave at 0.25 GB/s a GPU: nothing gets out, and the iteration is that of keeping; no bubble, no wait
        Plan keep = paperPlan({ "BERT", 12288, 3, 32 }),
             slow = paperPlan({ "BERT", 12288, 3, 32 }, ActivationOffload::Ssd);
        slow.memory.offloadFraction = 1;
        slow.cluster.datacenters.front().pools.front().ssd->writeGBps = 0.5;
        const auto kept = evaluated(keep), offload = evaluated(slow);
        QCOMPARE(*offload->metrics.iterationTime, *kept->metrics.iterationTime);
        QCOMPARE(offload->metrics.breakdown->bubble, kept->metrics.breakdown->bubble);
        QCOMPARE(offload->metrics.offload->stall, 0.0);
        QCOMPARE(offload->metrics.offload->bytesRead, 0.0);
        QVERIFY(offload->metrics.offload->bytesPerGpu > 0);
        QVERIFY(std::abs(offload->metrics.offload->bytesPerGpu - 0.25e9 * *kept->metrics.iterationTime)
            < 0.5 * 0.25e9 * *kept->metrics.iterationTime);
    }

    void waitingForALoadIsBookedAsAStall()
    {
        // all must leave, written fast and read slowly: the iteration is longer by what backward waits for, to the tick
        const auto kept = evaluated(paperPlan({ "BERT", 12288, 3, 32 }));
        Plan slow = paperPlan({ "BERT", 12288, 3, 32 }, ActivationOffload::Ssd);
        slow.memory.offloadFraction = 1;
        slow.cluster.datacenters.front().pools.front().ssd->readGBps = 4;
        const auto offload = evaluated(slow);
        const double longer = *offload->metrics.iterationTime - *kept->metrics.iterationTime;
        QVERIFY(longer > 0.5);
        QVERIFY2(std::abs(offload->metrics.offload->stall - longer) < 1e-6,
            qPrintable(QStringLiteral("%1 s of %2").arg(offload->metrics.offload->stall).arg(longer)));
    }
};

TRAINYARD_APPLESS_TEST(TstStoreEnds)
#include "tst_store_ends.moc"
