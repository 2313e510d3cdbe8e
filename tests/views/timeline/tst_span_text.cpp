// SPDX-License-Identifier: GPL-3.0-or-later
// What the card says of a move of activations: bytes, rate, and moments that can be told apart.
#include "tests/support/test_program.h"
#include "views/timeline/span_text.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;

namespace {

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
    const auto span = [&](WorkKind kind, Nanoseconds from, Nanoseconds to, double bytes) {
        e.timeline.kind.push_back(kind);
        e.timeline.taskClass.push_back(std::uint32_t(e.timeline.classes.size()));
        e.timeline.classes.push_back({ .kind = kind, .bytes = bytes });
        e.timeline.start.push_back(from);
        e.timeline.end.push_back(to);
        e.timeline.microBatch.push_back(0);
        e.timeline.chunk.push_back(0);
        e.timeline.cause.push_back(kNoSpan);
        e.timeline.trackOf.push_back(std::uint32_t(e.timeline.tracks.size() - 1));
        e.timeline.tracks.back().last = std::uint32_t(e.timeline.start.size());
    };
    track(Stream::Store);
    span(WorkKind::OffloadStore, 10, 20, 300);
    span(WorkKind::OffloadStore, 20, 40, 200);
    track(Stream::Load);
    span(WorkKind::OffloadLoad, 50, 60, 200);
    span(WorkKind::OffloadLoad, 60, 90, 300);
    e.timeline.duration = 100;
    return e;
}

bool tellsBytes(const Evaluation &e, std::uint32_t span)
{
    return std::ranges::any_of(
        spanFacts(e, span, false), [](const QString &fact) { return fact.contains(QStringLiteral("B/s")); });
}

} // namespace

class SpanTextTest : public QObject {
    Q_OBJECT
private slots:
    void theCardTellsBytesRateAndTwoDifferentMoments()
    {
        Evaluation e = handmade();
        const QStringList facts = spanFacts(e, 1, false);
        QVERIFY2(facts.contains(QStringLiteral("200 B, 10.0 GB/s")), qPrintable(facts.join(u'\n'))); // 200 B in 20 ns
        e.timeline.start[1] = 20'011'800'000;
        e.timeline.end[1] = 20'013'060'000; // 1.26 ms late in a long iteration
        QVERIFY2(spanFacts(e, 1, false).front().startsWith(QStringLiteral("1.26 ms, from 20.0118 s to 20.0131 s")),
            qPrintable(spanFacts(e, 1, false).front()));
        e.timeline.start[1] = 0;
        e.timeline.end[1] = 250'000'000;
        QVERIFY2(spanFacts(e, 1, false).front().startsWith(QStringLiteral("250 ms, from 0 ms to 250 ms")),
            qPrintable(spanFacts(e, 1, false).front()));
    }

    void ofAMoveThatWasStoppedTheCardTellsWhatItMoved()
    {
        // a third of 300 bytes in 10 ns
        Evaluation e = handmade();
        e.timeline.moved = { 1.0 / 3, 1, 1, 1 };
        e.timeline.isVoid = { 1, 0, 0, 1 };
        QVERIFY2(spanFacts(e, 0, false).contains(QStringLiteral("100 B, 10.0 GB/s")),
            qPrintable(spanFacts(e, 0, false).join(u'\n')));
    }

    void workThatMovesNothingHasNoBytes()
    {
        Evaluation e = handmade();
        QVERIFY(tellsBytes(e, 0) && tellsBytes(e, 3));
        e.timeline.end[3] = e.timeline.start[3]; // taken before it had left
        e.timeline.isVoid = { 0, 0, 0, 1 };
        QVERIFY(!tellsBytes(e, 3));
        e.timeline.classes[0].bytes = 0;
        QVERIFY(!tellsBytes(e, 0));
        e.timeline.taskClass.clear(); // of a timeline that names no classes
        QVERIFY(!tellsBytes(e, 1));
    }
};

TRAINYARD_GUILESS_TEST(SpanTextTest)
#include "tst_span_text.moc"
