// SPDX-License-Identifier: GPL-3.0-or-later
// A meeting of four variants of three regions: what an edit costs the GUI thread until it is handed on and journalled
// (aim: 10 ms), and from one variant to the next until it is painted (aim: 33 ms). The edit of a plan of 4,096 GPUs in
// four variants (aim: 16 ms), with what the thread does until the answer is painted as a number beside it.
#include "tests/views/window/window_fixture.h"

#include "models/session/session_document.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>

using namespace trainyard;

namespace {

constexpr int kReplicas = 32; // of 128 GPUs

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

/// Four variants of Llama 3.1 405B on a quarter of its GPUs.
void editWithFourVariantsOf4096Gpus(benchmark::State &state)
{

    WindowFixture meeting(QStringLiteral("llama-3.1-405b-16384-h100"));
    const auto change = [&](auto edit) {
        Plan next = *meeting.document.plan();
        edit(next);
        meeting.document.apply(std::make_shared<const Plan>(std::move(next)), QStringLiteral("edit"));
    };
    change([](Plan &plan) {
        plan.cluster.datacenters[0].pools[0].nodes = 512;
        plan.parallelism.data = kReplicas;
        plan.workload.globalBatch /= 4;
    });
    meeting.settle();
    for (int more = 1; more < 4; ++more) {
        meeting.window.session().branch();
        change([more](Plan &plan) { plan.workload.globalBatch += more * kReplicas; });
        meeting.settle();
    }
    bool isMore = false;
    double painted = 0;
    for (auto _ : state) {
        isMore = !isMore;
        change([isMore](Plan &plan) { plan.workload.globalBatch += isMore ? kReplicas : -kReplicas; });
        state.PauseTiming();
        timespec from {}, to {};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        meeting.settle();
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        painted += double(to.tv_sec - from.tv_sec) * 1e3 + double(to.tv_nsec - from.tv_nsec) * 1e-6;
        state.ResumeTiming();
    }
    state.counters["gpus"] = double(meeting.bridge.evaluation()->metrics.gpusTotal);
    state.counters["until_painted_ms"] = painted / double(std::max<std::int64_t>(1, state.iterations()));
}
BENCHMARK(editWithFourVariantsOf4096Gpus)->Unit(benchmark::kMillisecond);

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
