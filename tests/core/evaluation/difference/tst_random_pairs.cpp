// SPDX-License-Identifier: GPL-3.0-or-later
// What holds for the difference of any two plans: GPU time is kept, and the way back is the negative of the way there.
#include "core/evaluation/difference/timeline_difference.h"

#include "core/iteration/placement/degrees.h"
#include "tests/core/evaluation/difference/gpu_time_truth.h"
#include "tests/core/evaluation/evaluate/plan_checks.h"
#include "tests/core/evaluation/evaluate/random_valid_plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;

namespace {

/// The plan with one key changed; each keeps the shape, but for the last.
Plan edited(Plan plan, unsigned seed)
{
    switch (seed % 6) {
    case 0:
        plan.workload.sequenceLength *= 2;
        break;
    case 1:
        plan.memory.recompute = plan.memory.recompute == Recompute::Full ? Recompute::None : Recompute::Full;
        break;
    case 2:
        plan.wan.sharing = plan.wan.sharing == WanSharing::Temporal ? WanSharing::Spatial : WanSharing::Temporal;
        break;
    case 3:
        plan.schedule = plan.schedule == ScheduleKind::OneFOneB ? ScheduleKind::GPipe : ScheduleKind::OneFOneB;
        break;
    case 4:
        plan.parallelism.zeroStage = plan.parallelism.zeroStage == 0 ? 1 : 0;
        break;
    default:
        plan.workload.globalBatch *= 2;
    }
    return plan;
}

/// By what the two spans are, not by where the difference stands.
std::vector<SpanDifference> inOrder(std::vector<SpanDifference> spans)
{
    std::ranges::sort(spans, {}, [](const SpanDifference &s) { return std::tuple(s.before, s.after, s.firstReplica); });
    return spans;
}

std::vector<SpanDifference> reversed(std::vector<SpanDifference> spans)
{
    for (SpanDifference &span : spans) {
        std::swap(span.before, span.after);
        span.longer = -span.longer;
        span.shift = -span.shift;
    }
    return inOrder(std::move(spans));
}

std::map<std::tuple<std::string, Stream, WorkKind>, GpuNanoseconds> differencesByPlace(const TimelineDifference &found)
{
    std::map<std::tuple<std::string, Stream, WorkKind>, GpuNanoseconds> all;
    for (const GpuTimeDifference &row : found.gpuTime)
        all[{ row.place, row.stream, row.kind }] += row.difference();
    return all;
}

} // namespace

class TstRandomPairs : public QObject {
    Q_OBJECT

    test::Findings m_findings;
    int m_matched = 0, m_unmatched = 0;
    std::array<std::int64_t, kSpanChangeCount> m_changes {};

    /// Sum over places of (after - before) of each kind = its GPU time after - its GPU time before.
    void checkKept(unsigned seed, const Evaluation &before, const Evaluation &after, const TimelineDifference &found)
    {
        const auto timeBefore = test::gpuTimeOf(before), timeAfter = test::gpuTimeOf(after);
        const auto of = [](const std::map<WorkKind, std::int64_t> &times, WorkKind kind) {
            const auto at = times.find(kind);
            return at == times.end() ? 0 : at->second;
        };
        std::int64_t sum = 0;
        std::size_t kinds = 0;
        for (const KindDifference &kind : gpuTimeByKind(found)) {
            m_findings.expect(kind.before == of(timeBefore, kind.kind) && kind.after == of(timeAfter, kind.kind), seed,
                std::string("GPU time of a kind is kept: ") + toString(kind.kind));
            sum += kind.difference();
            kinds += timeBefore.contains(kind.kind) || timeAfter.contains(kind.kind);
        }
        auto all = timeBefore;
        all.insert(timeAfter.begin(), timeAfter.end());
        m_findings.expect(kinds == all.size(), seed, "every kind is compared");
        m_findings.expect(sum == test::sumOf(timeAfter) - test::sumOf(timeBefore), seed,
            "differences add up to that of all GPU time");
    }

    /// Of spans that stand for the same GPUs: what came, went, is longer and shorter is all that GPU time differs by.
    void checkSpans(unsigned seed, const Evaluation &before, const Evaluation &after, const TimelineDifference &found)
    {
        std::map<WorkKind, std::int64_t> change;
        for (const SpanDifference &span : found.spans) {
            const Timeline &timeline = span.before == kNoSpan ? after.timeline : before.timeline;
            const std::uint32_t at = span.before == kNoSpan ? span.after : span.before;
            const Track &track = timeline.tracks[timeline.trackOf[at]];
            const Evaluation &of = span.before == kNoSpan ? after : before;
            const std::int64_t pipelines = of.layout.classes[std::size_t(track.pipelineClass)].pipelines;
            change[timeline.kind[at]] += span.longer * span.replicas * (test::gpusOfTrack(of, track) / pipelines);
        }
        for (const KindDifference &kind : gpuTimeByKind(found))
            m_findings.expect(change[kind.kind] == kind.difference(), seed,
                std::string("spans explain all GPU time: ") + toString(kind.kind));
    }

private slots:
    void gpuTimeIsKeptAndTheWayBackIsTheNegative()
    {
        const int pairs = test::trials(300);
        EvaluationWorkspace workspace;
        const auto evaluated = [&](const PlanPtr &plan) {
            return evaluate(plan, builtinCatalogue(), workspace, {}, Depth::Spans);
        };
        int seen = 0;
        for (unsigned seed = 0; seen < pairs && seed < 20u * unsigned(pairs); ++seed) {
            const PlanPtr plan = test::randomValidPlan(seed);
            const auto before = evaluated(plan);
            // Of five pairs four differ in one key, one in everything.
            const auto after = evaluated(seed % 5 == 4 ? test::randomValidPlan(seed + 100'000)
                                                       : std::make_shared<const Plan>(edited(*plan, seed / 5)));
            if (!before || !after || (*before)->timeline.isEmpty() || (*after)->timeline.isEmpty())
                continue;
            ++seen;
            const TimelineDifference found = timelineDifference(**before, **after);
            const TimelineDifference back = timelineDifference(**after, **before);
            checkKept(seed, **before, **after, found);
            m_findings.expect(found.areMatched() == back.areMatched(), seed, "both ways are matched or neither");
            m_findings.expect(
                inOrder(found.spans) == reversed(back.spans), seed, "spans: the way back is the negative");
            auto negative = differencesByPlace(back);
            for (auto &[place, difference] : negative)
                difference = -difference;
            m_findings.expect(differencesByPlace(found) == negative, seed, "GPU time: the way back is the negative");
            found.areMatched() ? ++m_matched : ++m_unmatched;
            if (found.areMatched() && seed % 5 != 4)
                checkSpans(seed, **before, **after, found);
            for (const SpanDifference &span : found.spans)
                ++m_changes[std::size_t(span.change())];
        }
        qInfo("%d pairs matched, %d by place; %lld came, %lld went, %lld longer, %lld shorter, %lld shifted", m_matched,
            m_unmatched, static_cast<long long>(m_changes[0]), static_cast<long long>(m_changes[1]),
            static_cast<long long>(m_changes[2]), static_cast<long long>(m_changes[3]),
            static_cast<long long>(m_changes[4]));
        QVERIFY2(m_findings.text().empty(), m_findings.text().c_str());
        QCOMPARE(seen, pairs);
        QVERIFY2(m_matched > pairs / 4 && m_unmatched > pairs / 10, "both ways to compare must be worth the look");
        for (const std::int64_t changes : m_changes)
            QVERIFY(changes > 0);
    }
};

TRAINYARD_APPLESS_TEST(TstRandomPairs)
#include "tst_random_pairs.moc"
