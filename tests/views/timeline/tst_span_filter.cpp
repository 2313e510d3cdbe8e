// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/sample_timelines.h"
#include "tests/support/test_program.h"
#include "views/timeline/span_filter.h"
#include "views/timeline/span_text.h"

#include <QTest>

using namespace trainyard;

namespace {
constexpr std::uint32_t bit(WorkKind kind)
{
    return 1u << int(kind);
}
} // namespace

class SpanFilterTest : public QObject {
    Q_OBJECT
private slots:
    void kindAndNumberAreRead()
    {
        const auto filter = parseSpanFilter(QStringLiteral("backward 12"));
        QVERIFY(filter);
        QCOMPARE(filter->kinds, bit(WorkKind::Backward) | bit(WorkKind::ForwardBackward)); // pairs have one too
        QCOMPARE(filter->microBatch, 11);
    }

    void stagesAndLengthsAreRead()
    {
        const auto filter = parseSpanFilter(QStringLiteral("stage 3 > 50 ms"));
        QVERIFY(filter);
        QCOMPARE(filter->stage, 2);
        QCOMPARE(filter->atLeast, Nanoseconds(50'000'000));
        QCOMPARE(filter->kinds, kAllKinds);
    }

    void aBeginningOfAWordIsEnough()
    {
        const auto filter = parseSpanFilter(QStringLiteral("wan"));
        QVERIFY(filter);
        QVERIFY(filter->hasKind(WorkKind::WanTransfer));
        QVERIFY(!filter->hasKind(WorkKind::Forward));
    }

    void twoKindsAtOnceArePairs()
    {
        const auto filter = parseSpanFilter(QStringLiteral("backward forward"));
        QVERIFY(filter);
        QCOMPARE(filter->kinds, bit(WorkKind::ForwardBackward));
    }

    void nonsenseIsNoFilter()
    {
        QVERIFY(!parseSpanFilter(QStringLiteral("quux")));
        QVERIFY(!parseSpanFilter(QStringLiteral("backward wan")));
        QVERIFY(!parseSpanFilter(QStringLiteral("?")));
    }

    void emptyTextMatchesEverything() { QVERIFY(parseSpanFilter(QStringLiteral("  "))->isNeutral()); }

    void matchesComeInOrderOfTimeAndWrap()
    {
        const auto evaluation = test::sampleEvaluation({ .datacenters = 1, .stages = 3, .microBatches = 4 });
        const Timeline &timeline = evaluation->timeline;
        const auto filter = *parseSpanFilter(QStringLiteral("forward 2"));
        QCOMPARE(countMatches(timeline, filter), 3u); // one on each stage
        const std::uint32_t first = nextMatch(timeline, filter, kNoSpan);
        std::uint32_t at = first;
        for (int stage = 0; stage < 3; ++stage) {
            QCOMPARE(timeline.tracks[timeline.trackOf[at]].stage, stage);
            at = nextMatch(timeline, filter, at);
        }
        QCOMPARE(at, first);
    }

    void aTitleNamesWorkAndPlace()
    {
        const auto evaluation =
            test::sampleEvaluation({ .datacenters = 2, .stages = 2, .microBatches = 2, .recompute = false });
        const Timeline &timeline = evaluation->timeline;
        QCOMPARE(
            spanTitle(*evaluation, timeline.tracks[1].first + 1), QStringLiteral("Backward · micro-batch 1 · stage 2"));
        QCOMPARE(spanTitle(*evaluation, timeline.tracks[2].first),
            QStringLiteral("WAN transfer · micro-batch 1 · Virginia → Iowa · stage 1 → 2"));
    }

    void aWaitNamesWhatWasAwaited()
    {
        // Stage 2 starts when the first forward (30 ms), the channel (22 ms) and the latency (15 ms) are over.
        const auto evaluation =
            test::sampleEvaluation({ .datacenters = 2, .stages = 2, .microBatches = 2, .recompute = false });
        const std::uint32_t first = evaluation->timeline.tracks[1].first;
        QCOMPARE(waitBefore(evaluation->timeline, first), Nanoseconds(67'000'000));
        QCOMPARE(waitText(*evaluation, first), QStringLiteral("waited 67.0 ms for WAN transfer 1 Virginia → Iowa"));
        QVERIFY(waitText(*evaluation, 0).isEmpty());
    }

    void theEmptyStateSaysWhy()
    {
        Evaluation evaluation;
        evaluation.problems.push_back({ Severity::Warning, "a warning", {}, {} });
        evaluation.problems.push_back({ Severity::Blocking, "12 stages need 96 GPUs, 64 are there", {}, {} });
        QCOMPARE(emptyReason(&evaluation), QStringLiteral("12 stages need 96 GPUs, 64 are there"));
        QVERIFY(emptyReason(nullptr).startsWith(QStringLiteral("Open a plan")));
        QCOMPARE(emptyReason(nullptr, QStringLiteral("no model is called x")),
            QStringLiteral("This plan cannot be evaluated: no model is called x. See Problems."));
    }
};

TRAINYARD_APPLESS_TEST(SpanFilterTest)
#include "tst_span_filter.moc"
