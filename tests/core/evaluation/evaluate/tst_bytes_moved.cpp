// SPDX-License-Identifier: GPL-3.0-or-later
// What spans say that they moved, added up over an iteration, against what the metrics count in other ways.
#include "core/evaluation/advice/evaluate.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QTest>

#include "tests/support/plans.h"

#include <algorithm>
#include <cmath>

using namespace trainyard;
using test::evaluatedSample;

namespace {

bool isNear(double a, double b)
{
    return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

} // namespace

class BytesMovedTest : public QObject {
    Q_OBJECT
private slots:
    void overAnIterationStoresAndLoadsAreWhatWasWrittenAndRead()
    {
        // Of the only stage: sum over stores = bytes per GPU, sum over loads = bytes read.
        const EvaluationPtr e = evaluatedSample("ssdtrain-bert-2xa100");
        QVERIFY(e && e->metrics.offload);
        double written = 0, read = 0;
        for (std::uint32_t span = 0; span < e->timeline.spanCount(); ++span) {
            written += e->timeline.kind[span] == WorkKind::OffloadStore ? e->timeline.bytesMoved(span) : 0;
            read += e->timeline.kind[span] == WorkKind::OffloadLoad ? e->timeline.bytesMoved(span) : 0;
        }
        QVERIFY(written > 0 && read > 0);
        QVERIFY2(isNear(written, e->metrics.offload->bytesPerGpu), qPrintable(QString::number(written)));
        QVERIFY2(isNear(read, e->metrics.offload->bytesRead), qPrintable(QString::number(read)));
    }

    void boundariesOfLayersAreWrittenAndReadBothWays()
    {
        // Layer by layer, inputs of all layers but the first wait in host memory, and so do their gradients:
        // 2 m (L - 1) b s h bytes of two a number, written and read.
        Plan plan = test::oneSite(1, 1);
        plan.cluster.datacenters[0].pools[0].host = Host { 1024, 30, {} };
        plan.workload.model = "gpt-3-1.3b";
        plan.workload.sequenceLength = 512;
        plan.workload.globalBatch = 16;
        plan.parallelism.tensor = 1;
        plan.parallelism.data = 8;
        plan.heterogeneity.accumulation = Accumulation::Layered;
        plan.heterogeneity.boundaryOffload = true;
        RankPin pin; // else one micro-batch of two, whose gradients go on at once
        pin.datacenter = "a";
        pin.microBatch = 1;
        pin.microBatches = 2;
        plan.heterogeneity.assign = { pin };
        const EvaluationPtr e = test::evaluated(plan);
        QVERIFY(e->metrics.offload);
        const double wanted = 2.0 * 2 * (e->model.layers - 1) * 512 * e->model.hidden * 2;
        double written = 0;
        for (std::uint32_t span = 0; span < e->timeline.spanCount(); ++span)
            written += e->timeline.kind[span] == WorkKind::OffloadStore ? e->timeline.bytesMoved(span) : 0;
        QVERIFY2(isNear(written, wanted), qPrintable(QString::number(written / wanted)));
        QVERIFY(isNear(e->metrics.offload->bytesPerGpu, wanted) && isNear(e->metrics.offload->bytesRead, wanted));
    }

    void everyMoveThatTakesTimeHasBytes()
    {
        const EvaluationPtr e = evaluatedSample("gpt3-offload-a100-40gb");
        QVERIFY(e);
        int moves = 0;
        for (const Track &track : e->timeline.tracks)
            for (std::uint32_t span = track.first;
                 (track.stream == Stream::Store || track.stream == Stream::Load) && span < track.last; ++span) {
                QCOMPARE(e->timeline.bytesMoved(span) > 0, e->timeline.end[span] > e->timeline.start[span]);
                ++moves;
            }
        QVERIFY(moves > 1000);
    }

    void transfersOfStageBoundariesAddUpToWhatTheirLinksCarry()
    {
        // Where no gradients cross it, bytes of a link = sum over its transfers of (pipelines drawn as one x bytes of
        // one).
        const EvaluationPtr e = evaluatedSample("atlas-three-datacenters");
        QVERIFY(e);
        std::vector<double> carried(e->plan->cluster.wanLinks.size());
        for (const Track &track : e->timeline.tracks)
            for (std::uint32_t span = track.first; track.stream == Stream::Wan && span < track.last; ++span)
                carried[std::size_t(track.wanLink)] +=
                    e->timeline.bytesMoved(span) * e->layout.classes[std::size_t(track.pipelineClass)].pipelines;
        double all = 0;
        for (const WanLinkUse &use : e->metrics.wanLinks) {
            QVERIFY2(isNear(carried[std::size_t(use.link)], use.totalBytes()),
                qPrintable(QString::number(carried[std::size_t(use.link)]) + u' ' + QString::number(use.totalBytes())));
            all += use.totalBytes();
        }
        QVERIFY(all > 0);
    }
};

TRAINYARD_APPLESS_TEST(BytesMovedTest)
#include "tst_bytes_moved.moc"
