// SPDX-License-Identifier: GPL-3.0-or-later
// The optimizer step off the GPU as rows of the timeline: what the engine makes of them is what the formulas say.
#include "core/iteration/iteration_costs/step_rows.h"
#include "tests/support/test_program.h"

#include "core/iteration/graph/pipeline_graph.h"
#include "tests/core/iteration/graph/pipelines.h"

#include <QTest>

#include <cmath>
#include <random>

using namespace trainyard;

namespace {

constexpr double kGroup = 1e8;

StateRates randomRates(std::mt19937 &random)
{
    const auto between = [&](double low, double high) {
        return low * std::pow(high / low, std::uniform_real_distribution<>(0, 1)(random));
    };
    const BytesPerSecond link = gbytesPerSecond(between(2, 100));
    const double cpu = between(2e8, 2e10);
    return { link, gbytesPerSecond(between(2, 100)), cpu, 5 * cpu, between(1e9, 1e11),
        gbytesPerSecond(between(0.5, 40)), gbytesPerSecond(between(0.5, 40)) };
}

/// One stage that computes for a second and then steps off the GPU.
IterationCosts oneStage(const OffloadedStep &step, bool hasRows = true)
{
    IterationCosts costs = pipelines::even(
        pipelines::program(ScheduleKind::OneFOneB, 1, 1), { pipelines::kSecond, pipelines::kSecond, 0 });
    PipelineCosts &pipeline = costs.classes.front();
    pipeline.syncAndStep[0].optimizer = toNanoseconds(step.time);
    if (hasRows)
        pipeline.states.steps = { stepRows(step) };
    return costs;
}

constexpr Nanoseconds kBegin = 2 * pipelines::kSecond;

/// From the step's begin to the end of its last task.
Nanoseconds lengthOfRows(const Timeline &timeline)
{
    Nanoseconds end = kBegin;
    for (const Track &track : timeline.tracks)
        for (std::uint32_t span = track.first; isOfStates(track.stream) && span < track.last; ++span)
            end = std::max(end, timeline.end[span]);
    return end - kBegin;
}

double secondsOf(const Timeline &timeline, WorkKind kind)
{
    Nanoseconds sum = 0;
    for (std::uint32_t span = 0; span < timeline.spanCount(); ++span)
        sum += timeline.kind[span] == kind ? timeline.end[span] - timeline.start[span] : 0;
    return toSeconds(sum).value;
}

/// Parts are rounded down to ticks.
bool isAbout(double of, double wanted, const OffloadedStep &step)
{
    return std::abs(of - wanted) <= 2e-9 * (2 * step.groups + 8) + 1e-9 * wanted;
}

const int kGroupCounts[] = { 1, 2, 3, 7, 64, 255, 256, 257, 3000 };

StepGroups groupsOf(int count)
{
    return { kGroup * count, kGroup, true };
}

template <class Check> void forRandomRates(Check check)
{
    std::mt19937 random(7);
    for (const int count : kGroupCounts)
        for (int i = 0; i < 40; ++i)
            check(groupsOf(count), randomRates(random));
}

} // namespace

class StepRowsTest : public QObject {
    Q_OBJECT
private slots:
    /// n equal groups through three streams: t = max_i t_i + (sum_i t_i - max_i t_i) / n. Where all groups are drawn as
    /// one, the ends of streams are not told apart: no longer than that, and no shorter than the longest stream.
    void theHostStepLastsAsTheFormulaSays()
    {
        forRandomRates([](const StepGroups &groups, const StateRates &rates) {
            const OffloadedStep step = hostStep(groups, {}, rates);
            const Nanoseconds length = lengthOfRows(pipelines::run(oneStage(step)));
            QVERIFY(length <= toNanoseconds(step.time));
            if (step.groups <= kMostDrawnGroups)
                QVERIFY2(isAbout(toSeconds(length).value, step.time.value, step),
                    qPrintable(QString("%1 groups").arg(step.groups)));
            QVERIFY(toSeconds(length).value >= std::max({ step.toHost, step.cpu, step.toGpu }).value - 1e-8);
        });
    }

    /// Reads and writes of a group take turns with those of others; what comes before and after them fits into the
    /// formula's period.
    void theDriveStepNeverOutlastsItsFormula()
    {
        forRandomRates([](const StepGroups &groups, const StateRates &rates) {
            for (const double gradient : { 0.0, 2.0 }) {
                const StateBytes bytes { gradient, 2, 12, gradient > 0 ? 0.0 : 4.0 };
                const OffloadedStep step = driveStep(groups, bytes, rates);
                const Nanoseconds length = lengthOfRows(pipelines::run(oneStage(step)));
                QVERIFY(length <= toNanoseconds(step.time));
                // The longest stream works through.
                const double longest =
                    std::max({ (step.read + step.write).value, step.cpu.value, step.toHost.value, step.toGpu.value });
                QVERIFY(toSeconds(length).value >= longest * (1 - 1e-6));
            }
        });
    }

    /// Cycles of equal length: t = max(cpu, GPU, link).
    void theInterleavedStepLastsAsTheFormulaSays()
    {
        forRandomRates([](StepGroups groups, const StateRates &rates) {
            for (const bool inTurns : { false, true }) {
                groups.copiesTakeTurns = inTurns;
                const OffloadedStep step = interleavedStep(groups, {}, rates);
                const Timeline timeline = pipelines::run(oneStage(step));
                const Nanoseconds length = lengthOfRows(timeline);
                QVERIFY(length <= toNanoseconds(step.time));
                QVERIFY(isAbout(toSeconds(length).value, step.time.value, step));
                if (inTurns)
                    QVERIFY(!copiesOverlap(timeline));
            }
        });
    }

    /// Time on a row times its rate is what the step moves.
    void rowsCarryTheBytesOfTheStep()
    {
        forRandomRates([](const StepGroups &groups, const StateRates &rates) {
            const StateBytes bytes { 2, 2, 12, 0 };
            const auto carries = [](const Timeline &t, WorkKind kind, BytesPerSecond rate, double wanted,
                                     const OffloadedStep &step) {
                return isAbout(secondsOf(t, kind), wanted / rate.value, step);
            };
            const OffloadedStep host = hostStep(groups, bytes, rates);
            Timeline t = pipelines::run(oneStage(host));
            QVERIFY(carries(t, WorkKind::GradientsToHost, rates.toHost, host.sent.value, host));
            QVERIFY(carries(t, WorkKind::WeightsToGpu, rates.toGpu, host.fetched.value, host));
            const OffloadedStep drive = driveStep(groups, bytes, rates);
            t = pipelines::run(oneStage(drive));
            QVERIFY(carries(t, WorkKind::DriveRead, rates.read, drive.readBack.value, drive));
            QVERIFY(carries(t, WorkKind::DriveWrite, rates.write, drive.written.value, drive));
            const StateBytes left { 0, 2, 12, 0 }; // gradients went during backward
            const OffloadedStep mixed = interleavedStep(groups, left, rates);
            t = pipelines::run(oneStage(mixed));
            QVERIFY(carries(t, WorkKind::StatesToHost, rates.toHost, mixed.sent.value, mixed));
            const double in = secondsOf(t, WorkKind::StatesToGpu) + secondsOf(t, WorkKind::WeightsToGpu);
            QVERIFY(isAbout(in, mixed.fetched.value / rates.toGpu.value, mixed));
        });
    }

    /// No group is updated before its gradients and states are there, written or returned before it is updated.
    void everyGroupGoesThroughInOrder()
    {
        std::mt19937 random(11);
        for (const int count : { 1, 2, 3, 30 }) {
            for (int i = 0; i < 30; ++i) {
                const Timeline t = pipelines::run(
                    oneStage(driveStep(groupsOf(count), StateBytes { 2, 2, 12, 0 }, randomRates(random))));
                const auto out = spansOf(t, WorkKind::GradientsToHost), read = spansOf(t, WorkKind::DriveRead),
                           cpu = spansOf(t, WorkKind::CpuOptimizer), in = spansOf(t, WorkKind::WeightsToGpu),
                           write = spansOf(t, WorkKind::DriveWrite);
                QCOMPARE(cpu.size(), std::size_t(count));
                Nanoseconds written = 0;
                const Nanoseconds each = t.end[write.back()] - t.start[write.back()];
                for (std::size_t k = 0; k < cpu.size(); ++k) {
                    QVERIFY(t.start[read[k]] >= t.end[out[k]] && t.start[cpu[k]] >= t.end[read[k]]
                        && t.start[in[k]] >= t.end[cpu[k]]);
                    QVERIFY(k == 0 || t.start[read[k]] >= t.end[read[k - 1]]);
                }
                for (const std::uint32_t span :
                    write) { // what is being written belongs to a group that has been updated
                    QVERIFY(t.start[span] >= t.end[cpu[std::size_t(written / std::max<Nanoseconds>(1, each))]]);
                    written += t.end[span] - t.start[span];
                }
            }
        }
    }

    /// Spans of the stage's own row, and the iteration, do not know of the rows.
    void nothingWaitsForTheRows()
    {
        forRandomRates([](const StepGroups &groups, const StateRates &rates) {
            for (const OffloadedStep &step :
                { hostStep(groups, {}, rates), driveStep(groups, {}, rates), interleavedStep(groups, {}, rates) }) {
                const Timeline with = pipelines::run(oneStage(step)), without = pipelines::run(oneStage(step, false));
                QVERIFY(with.spanCount() > without.spanCount());
                QCOMPARE(with.duration, without.duration);
                for (std::uint32_t span = 0; span < without.spanCount(); ++span)
                    QVERIFY(with.start[span] == without.start[span] && with.end[span] == without.end[span]);
            }
        });
    }

    void anInfiniteStepHasNoRows()
    {
        StateRates none;
        QVERIFY(stepRows(hostStep(groupsOf(3), {}, none)).rows.empty());
        QVERIFY(stepRows({}).rows.empty());
    }

private:
    static std::vector<std::uint32_t> spansOf(const Timeline &timeline, WorkKind kind)
    {
        std::vector<std::uint32_t> spans;
        for (std::uint32_t span = 0; span < timeline.spanCount(); ++span)
            if (timeline.kind[span] == kind)
                spans.push_back(span);
        return spans;
    }

    static bool copiesOverlap(const Timeline &timeline)
    {
        for (const std::uint32_t out : spansOf(timeline, WorkKind::StatesToHost))
            for (std::uint32_t in = 0; in < timeline.spanCount(); ++in)
                if ((timeline.kind[in] == WorkKind::StatesToGpu || timeline.kind[in] == WorkKind::WeightsToGpu)
                    && timeline.start[in] < timeline.end[out] && timeline.start[out] < timeline.end[in])
                    return true;
        return false;
    }
};

TRAINYARD_APPLESS_TEST(StepRowsTest)
#include "tst_step_rows.moc"
