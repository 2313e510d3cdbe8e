// SPDX-License-Identifier: GPL-3.0-or-later
// A meeting of four variants of three regions: what an edit costs the GUI thread until it is handed on and journalled
// (aim: 10 ms), and from one variant to the next until it is painted (aim: 33 ms).
#include "tests/views/window/window_fixture.h"

#include "models/session/session_document.h"

#include <benchmark/benchmark.h>

using namespace trainyard;

namespace {

struct FourVariants : WindowFixture {
    FourVariants()
    {
        for (int more = 1; more < 4; ++more) {
            window.session().branch();
            change(more);
            settle();
        }
    }
    void change(int by)
    {
        Plan next = *document.plan();
        next.cluster.wanLinks[0].rttMs += by;
        document.apply(std::make_shared<const Plan>(std::move(next)), QStringLiteral("edit"));
    }
};

void editWithFourVariants(benchmark::State &state)
{
    FourVariants meeting;
    int by = 1;
    for (auto _ : state) {
        meeting.change(by);
        by = -by;
        state.PauseTiming();
        meeting.settle();
        state.ResumeTiming();
    }
}
BENCHMARK(editWithFourVariants)->Unit(benchmark::kMillisecond);

void switchOfVariants(benchmark::State &state)
{
    FourVariants meeting;
    SessionDocument &session = meeting.window.session();
    for (auto _ : state) {
        session.showNext(1);
        const PlanPtr plan = meeting.document.plan();
        while (!meeting.bridge.evaluation() || meeting.bridge.evaluation()->plan != plan)
            QApplication::processEvents(QEventLoop::WaitForMoreEvents);
        QApplication::processEvents(); // paints what changed
    }
}
BENCHMARK(switchOfVariants)->Unit(benchmark::kMillisecond);

} // namespace
