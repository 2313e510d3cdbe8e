// SPDX-License-Identifier: GPL-3.0-or-later
// From an edit to the screen, all of it: document, evaluation on the worker, every panel, repaint of the window. On the
// three-region sample and on one of 16,384 GPUs, with the strategies' background work at rest, as during a drag.
#include "tests/views/window/window_fixture.h"

#include <benchmark/benchmark.h>

using namespace trainyard;

namespace {

/// Switches between the sample and a change of it; ends when the window shows the answer and has painted it.
void editToScreen(benchmark::State &state, void (*change)(Plan &), const char *sample = "llama-3-70b-three-regions")
{
    WindowFixture window { QString::fromLatin1(sample) };
    const PlanPtr before = window.document.plan();
    Plan next = *before;
    change(next);
    const PlanPtr after = std::make_shared<const Plan>(std::move(next));
    bool other = false;
    for (auto _ : state) {
        other = !other;
        const PlanPtr &plan = other ? after : before;
        window.document.apply(plan, QStringLiteral("edit"), QStringLiteral("benchmark"));
        while (!window.bridge.evaluation() || window.bridge.evaluation()->plan != plan)
            QApplication::processEvents(QEventLoop::WaitForMoreEvents);
        QApplication::processEvents(); // paints what changed and flushes, as on screen
    }
}

BENCHMARK_CAPTURE(editToScreen, roundTrip, [](Plan &p) {
    p.cluster.wanLinks[0].rttMs += 5;
})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(editToScreen, connections, [](Plan &p) { p.wan.tcpConnections = 4; })->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(editToScreen, sharing, [](Plan &p) {
    p.wan.sharing = WanSharing::Temporal;
})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(editToScreen, bubbleFill, [](Plan &p) {
    p.bubbleFill.enabled = true;
    p.bubbleFill.model = "llama-3-8b";
    p.bubbleFill.stages = 8;
    p.bubbleFill.requestsPerSecond = 40;
})->Unit(benchmark::kMillisecond);

BENCHMARK_CAPTURE(
    editToScreen, sixteenThousandGpus, [](Plan &p) { p.workload.globalBatch *= 2; }, "llama-3.1-405b-16384-h100")
    ->Unit(benchmark::kMillisecond);

} // namespace
