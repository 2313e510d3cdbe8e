// SPDX-License-Identifier: GPL-3.0-or-later
// The scatter of the planner with 20,000 candidates at the size that it has at 1440×900: a frame in which some came,
// one under a moving pointer, one of a zoom, which draws all anew. 60 frames a second are 16.7 ms each.
#include "core/planner/search/search_front.h"
#include "views/planner/search_scatter.h"

#include <QApplication>
#include <QImage>
#include <QPainter>

#include <benchmark/benchmark.h>

using namespace trainyard;

namespace {

constexpr std::size_t kRows = 20'000;

std::vector<SearchRow> cloud()
{
    std::vector<SearchRow> rows(kRows);
    std::uint32_t seed = 7;
    const auto draw = [&seed] {
        seed = seed * 1664525 + 1013904223;
        return double(seed >> 8) / double(1 << 24);
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].number = i;
        rows[i].state = RowState(1 + i % 4);
        rows[i].seconds = 10 + 30 * draw() * draw();
        rows[i].usdPerMillionTokens = 1 + 3 * draw() * draw();
    }
    return rows;
}

struct Shown {
    std::vector<SearchRow> rows = cloud();
    SearchScatter scatter;
    QImage screen { QSize(760, 420), QImage::Format_ARGB32_Premultiplied };
    Shown()
    {
        scatter.resize(screen.size());
        scatter.show();
        scatter.setRows(rows, true);
        scatter.setMarks(0, 3, frontOf(rows, {}));
        paint();
    }
    void paint() { scatter.render(&screen); }
};

void growingScatter(benchmark::State &state)
{
    Shown shown;
    std::vector<SearchRow> some(shown.rows.begin(), shown.rows.begin() + 200);
    for (auto _ : state) {
        if (some.size() >= kRows) {
            state.PauseTiming();
            some.resize(200);
            state.ResumeTiming();
        }
        some.insert(some.end(), shown.rows.begin(), shown.rows.begin() + 400); // of a thirtieth of a second
        shown.scatter.setRows(some, false);
        shown.scatter.setMarks(0, 3, frontOf(some, {}));
        shown.paint();
    }
}
BENCHMARK(growingScatter)->Unit(benchmark::kMillisecond);

void hoveredScatter(benchmark::State &state)
{
    Shown shown;
    int x = 100;
    for (auto _ : state) {
        x = x > 600 ? 100 : x + 7;
        benchmark::DoNotOptimize(shown.scatter.nearest({ double(x), 200 }));
        shown.paint();
    }
}
BENCHMARK(hoveredScatter)->Unit(benchmark::kMillisecond);

void zoomedScatter(benchmark::State &state)
{
    Shown shown;
    for (auto _ : state) {
        shown.scatter.showAll(); // a frame of its own: all points are put anew
        shown.paint();
    }
}
BENCHMARK(zoomedScatter)->Unit(benchmark::kMillisecond);

} // namespace
