// SPDX-License-Identifier: GPL-3.0-or-later
// Repaint of the timeline at 1920×1000: whole iteration, a tenth and a thousandth of it, the hover over the kept image,
// and what a new evaluation costs the GUI thread.
#include "tests/support/job_evaluation.h"
#include "tests/support/sample_run.h"
#include "tests/support/sample_timelines.h"
#include "views/timeline/timeline_view.h"

#include <QApplication>
#include <QMouseEvent>

#include <benchmark/benchmark.h>

#include <map>

using namespace trainyard;
using test::RunShape;

namespace {

EvaluationPtr sample(std::int64_t spans)
{
    static std::map<std::int64_t, EvaluationPtr> made;
    EvaluationPtr &evaluation = made[spans];
    if (!evaluation)
        evaluation = test::sampleOfSize(std::size_t(spans));
    return evaluation;
}

struct Screen {
    explicit Screen(std::int64_t spans)
    {
        view.resize(1920, 1000);
        view.setEvaluation(sample(spans));
        view.show();
        QApplication::processEvents();
    }
    TimelineView view;
};

/// The chart anew: range(0) spans, 1/range(1) of the iteration in view. The range moves by a nanosecond each time.
void repaint(benchmark::State &state)
{
    Screen screen(state.range(0));
    const TimeInterval whole = screen.view.state().whole;
    const Nanoseconds length = whole.length() / state.range(1);
    const Nanoseconds begin = state.range(1) == 1 ? 0 : whole.length() / 2;
    Nanoseconds nudge = 0;
    for (auto _ : state) {
        nudge ^= 1;
        screen.view.setVisibleRange(begin + nudge, begin + length - (state.range(1) == 1 ? 0 : nudge));
        QApplication::processEvents(); // paints what changed and flushes, as on screen
    }
    state.counters["spans"] = double(screen.view.state().timeline()->spanCount());
}
BENCHMARK(repaint)
    ->ArgsProduct({ { 10'000, 100'000, 1'000'000, 5'000'000 }, { 1, 10, 1000 } })
    ->Unit(benchmark::kMillisecond);

/// The same of a plan with range(0) jobs on eight GPUs, in the colours of the jobs; range(1): one of them stands out.
void repaintJobs(benchmark::State &state)
{
    TimelineView view;
    view.resize(1920, 1000);
    view.setEvaluation(test::jobEvaluation(
        { .jobs = int(state.range(0)), .gpus = 8, .minibatches = int(2400 / state.range(0)), .shards = 4 }));
    view.show();
    QApplication::processEvents();
    if (state.range(1) != 0)
        view.selectJob(0);
    const TimeInterval whole = view.state().whole;
    Nanoseconds nudge = 0;
    for (auto _ : state) {
        nudge ^= 1;
        view.setVisibleRange(nudge, whole.end);
        QApplication::processEvents();
    }
    state.counters["spans"] = double(view.state().timeline()->spanCount());
}
BENCHMARK(repaintJobs)->ArgsProduct({ { 12, 50, 300 }, { 0, 1 } })->Unit(benchmark::kMillisecond);

/// A plan of 10,000 spans over a run of range(0) measured ones, 1/range(1) of the iteration in view.
void repaintMeasured(benchmark::State &state)
{
    Screen screen(10'000);
    screen.view.setOverlay(test::sampleRun(sample(10'000), { .kernels = int(state.range(0) / 10'000) }));
    const TimeInterval whole = screen.view.state().whole;
    const Nanoseconds length = whole.length() / state.range(1);
    Nanoseconds nudge = 0;
    for (auto _ : state) {
        nudge ^= 1;
        screen.view.setVisibleRange(nudge, length - (state.range(1) == 1 ? 0 : 1 - nudge));
        QApplication::processEvents();
    }
    state.counters["spans"] = double(screen.view.state().measured->timeline.spanCount());
}
BENCHMARK(repaintMeasured)->ArgsProduct({ { 100'000, 1'000'000 }, { 1, 10, 1000 } })->Unit(benchmark::kMillisecond);

/// A run comes: its spans are taken without their overlaps, once.
void newOverlay(benchmark::State &state)
{
    Screen screen(10'000);
    const RunOverlayPtr overlay = test::sampleRun(sample(10'000), { .kernels = int(state.range(0) / 10'000) });
    for (auto _ : state) {
        screen.view.setOverlay(nullptr);
        screen.view.setOverlay(overlay);
    }
}
BENCHMARK(newOverlay)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

/// A run goes on: its next state comes with lanes that were made beside the GUI thread, and is painted.
void nextLiveState(benchmark::State &state)
{
    Screen screen(10'000);
    const RunShape shape { .kernels = int(state.range(0) / 10'000) };
    const RunOverlayPtr overlays[] = { test::sampleRun(sample(10'000), shape), test::sampleRun(sample(10'000), shape) };
    const MeasuredLanesPtr lanes[] = { lanesUnderPlan(overlays[0]), lanesUnderPlan(overlays[1]) };
    int at = 0;
    for (auto _ : state) {
        at ^= 1;
        screen.view.setOverlay(overlays[at], lanes[at]);
        QApplication::processEvents();
    }
}
BENCHMARK(nextLiveState)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

/// The mouse moves from bar to bar: only the overlay is painted.
void hover(benchmark::State &state)
{
    Screen screen(state.range(0));
    int x = 400;
    for (auto _ : state) {
        x = x == 400 ? 700 : 400;
        QMouseEvent move(
            QEvent::MouseMove, QPointF(x, 300), QPointF(x, 300), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
        QApplication::sendEvent(screen.view.canvas(), &move);
        QApplication::processEvents();
    }
}
BENCHMARK(hover)->Arg(10'000)->Arg(5'000'000)->Unit(benchmark::kMillisecond);

/// A click on a part of Why and one that ends it: its pieces are looked for, and the chart and its minimap painted
/// twice.
void pointAtAPartOfWhy(benchmark::State &state)
{
    Screen screen(state.range(0));
    const BreakdownPart part = state.range(1) == 0 ? &Breakdown::compute : &Breakdown::bubble;
    for (auto _ : state) {
        screen.view.focusOn({ part });
        QApplication::processEvents();
        screen.view.focusOn({});
        QApplication::processEvents();
    }
}
BENCHMARK(pointAtAPartOfWhy)->ArgsProduct({ { 10'000, 5'000'000 }, { 0, 1 } })->Unit(benchmark::kMillisecond);

/// A new evaluation arrives, as at every step of a drag, and is painted with its minimap.
void newEvaluation(benchmark::State &state)
{
    Screen screen(state.range(0));
    const EvaluationPtr evaluation = sample(state.range(0));
    for (auto _ : state) {
        screen.view.setEvaluation(evaluation);
        QApplication::processEvents();
    }
}
BENCHMARK(newEvaluation)->Arg(10'000)->Arg(100'000)->Arg(1'000'000)->Arg(5'000'000)->Unit(benchmark::kMillisecond);

} // namespace
