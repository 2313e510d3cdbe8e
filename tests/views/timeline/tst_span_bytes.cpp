// SPDX-License-Identifier: GPL-3.0-or-later
// What one store or load of activation offload moves: away(t) = kept(t) - with(t), a store adds its bytes at its end, a load
// takes them off at its start. Over an iteration they add up to what the metrics say was written and read.
#include "core/evaluate/evaluate.h"
#include "core/plan/plan_io.h"
#include "views/timeline/span_bytes.h"
#include "views/timeline/span_text.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;

namespace {

EvaluationPtr evaluated(const char *sample)
{
    const auto plan = readPlan(std::string(TRAINYARD_SOURCE_DIR "/samples/") + sample + ".trainyard.json");
    if (!plan)
        return nullptr;
    EvaluationWorkspace workspace;
    const auto evaluation = evaluate(std::make_shared<const Plan>(*plan), builtinCatalogue(), workspace);
    return evaluation ? *evaluation : nullptr;
}

/// Stage 1 stores 300 bytes in [10, 20) and 200 in [20, 40), loads 200 in [50, 60) and 300 in [60, 90).
Evaluation handmade()
{
    Evaluation e;
    Plan plan;
    plan.memory.activationOffload = ActivationOffload::Ssd;
    e.plan = std::make_shared<const Plan>(plan);
    const auto track = [&](Stream stream) {
        Track made;
        made.stream = stream;
        made.first = made.last = std::uint32_t(e.timeline.start.size());
        e.timeline.tracks.push_back(made);
    };
    const auto span = [&](WorkKind kind, Nanoseconds from, Nanoseconds to) {
        e.timeline.kind.push_back(kind);
        e.timeline.start.push_back(from);
        e.timeline.end.push_back(to);
        e.timeline.microBatch.push_back(0);
        e.timeline.chunk.push_back(0);
        e.timeline.cause.push_back(kNoSpan);
        e.timeline.trackOf.push_back(std::uint32_t(e.timeline.tracks.size() - 1));
        e.timeline.tracks.back().last = std::uint32_t(e.timeline.start.size());
    };
    track(Stream::Store);
    span(WorkKind::OffloadStore, 10, 20);
    span(WorkKind::OffloadStore, 20, 40);
    track(Stream::Load);
    span(WorkKind::OffloadLoad, 50, 60);
    span(WorkKind::OffloadLoad, 60, 90);
    e.timeline.duration = 100;
    e.memoryCurvesKept = {{{0, 1000}, {5, 1500}, {95, 1000}}};
    e.memoryCurves = {{{0, 1000}, {5, 1500}, {20, 1200}, {40, 1000}, {50, 1200}, {60, 1500}, {95, 1000}}};
    return e;
}

} // namespace

class SpanBytesTest : public QObject {
    Q_OBJECT
private slots:
    void eachMoveIsReadOffTheCurves()
    {
        const Evaluation e = handmade();
        QCOMPARE(bytesMoved(e, 0), std::optional<std::int64_t>(300));
        QCOMPARE(bytesMoved(e, 1), std::optional<std::int64_t>(200));
        QCOMPARE(bytesMoved(e, 2), std::optional<std::int64_t>(200));
        QCOMPARE(bytesMoved(e, 3), std::optional<std::int64_t>(300));
    }

    void theCardTellsBytesRateAndTwoDifferentMoments()
    {
        Evaluation e = handmade();
        const QStringList facts = spanFacts(e, 1, false);
        QVERIFY2(facts.contains(QStringLiteral("200 B, 10.0 GB/s")), qPrintable(facts.join(u'\n')));   // 200 B in 20 ns
        e.timeline.start[1] = 20'011'800'000;
        e.timeline.end[1] = 20'013'060'000;    // 1.26 ms late in a long iteration
        QVERIFY2(spanFacts(e, 1, false).front().startsWith(QStringLiteral("1.26 ms, from 20.0118 s to 20.0131 s")), qPrintable(spanFacts(e, 1, false).front()));
        e.timeline.start[1] = 0;
        e.timeline.end[1] = 250'000'000;
        QVERIFY2(spanFacts(e, 1, false).front().startsWith(QStringLiteral("250 ms, from 0 ms to 250 ms")), qPrintable(spanFacts(e, 1, false).front()));
    }

    void workThatMovesNothingHasNoBytes()
    {
        Evaluation e = handmade();
        e.timeline.kind[0] = WorkKind::Forward;
        e.timeline.end[3] = e.timeline.start[3];   // taken before it had left
        QVERIFY(!bytesMoved(e, 0));
        QVERIFY(!bytesMoved(e, 3));
        e.memoryCurvesKept.clear();
        QVERIFY(!bytesMoved(e, 1));
    }

    void overAnIterationTheyAreWhatWasWrittenAndRead()
    {
        const EvaluationPtr e = evaluated("ssdtrain-bert-2xa100");
        QVERIFY(e && e->metrics.offload);
        double written = 0, read = 0;
        for (std::uint32_t span = 0; span < e->timeline.spanCount(); ++span) {
            const double bytes = double(bytesMoved(*e, span).value_or(0));
            written += e->timeline.kind[span] == WorkKind::OffloadStore ? bytes : 0;
            read += e->timeline.kind[span] == WorkKind::OffloadLoad ? bytes : 0;
        }
        QVERIFY2(std::abs(written - e->metrics.offload->bytesPerGpu) < 1e-6 * written, qPrintable(QString::number(written)));
        QVERIFY2(std::abs(read - e->metrics.offload->bytesRead) < 1e-6 * read, qPrintable(QString::number(read)));
    }

    void aLongPipelineTellsTheBytesOfEveryMove()
    {
        const EvaluationPtr e = evaluated("gpt3-offload-a100-40gb");
        QVERIFY(e);
        const auto track = std::ranges::find_if(e->timeline.tracks, [](const Track &t) { return t.stream == Stream::Store && t.stage == 3; });
        QVERIFY(track != e->timeline.tracks.end());
        for (std::uint32_t span = track->first; span < std::min(track->first + 200, track->last); ++span)
            if (e->timeline.start[span] != e->timeline.end[span])
                QVERIFY(bytesMoved(*e, span));
    }
};

QTEST_GUILESS_MAIN(SpanBytesTest)
#include "tst_span_bytes.moc"
