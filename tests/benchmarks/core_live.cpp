// SPDX-License-Identifier: GPL-3.0-or-later
// A live stream on its way: lines decoded and taken, one event a line and as columns; a snapshot of the latest steps.
#include "core/live/decoder.h"
#include "core/live/store.h"
#include "core/live/stream_lines.h"

#include <benchmark/benchmark.h>

namespace {

using namespace trainyard;
using namespace trainyard::live;

constexpr Moment kBegin = 1'760'000'000'000'000'000;
constexpr std::int64_t kStep = 1'000'000'000;

/// Steps with their spans on two streams, a collective each tenth span.
Recording madeRun(int ranks, int steps, int spans)
{
    Recording made;
    made.zero = kBegin;
    for (int i = 0; i < 40; ++i)
        made.names.push_back("sm90_xmma_gemm_bf16bf16_bf16f32_tn_n_tilesize" + std::to_string(i));
    made.groups.push_back({ "dp_0", "data", {} });
    for (int r = 0; r < ranks; ++r)
        made.groups[0].ranks.push_back(r);
    for (int r = 0; r < ranks; ++r) {
        RankRecording &rank = made.ranks.emplace_back(r);
        rank.streams.resize(2);
        rank.streams[0].label = "compute";
        rank.streams[1].label = "comm";
        for (int step = 0; step < steps; ++step) {
            rank.steps.push_back({ step, step * kStep, (step + 1) * kStep - 1'000 });
            for (int i = 0; i < spans; ++i) {
                const bool isComm = i % 10 == 9;
                RecordedSpans &to = rank.streams[isComm ? 1 : 0].spans;
                const Moment start = step * kStep + std::int64_t(i) * (kStep / (spans + 1));
                if (isComm)
                    rank.collectives.push_back({ .group = 0,
                        .operation = 3,
                        .sequence = i,
                        .bytes = 1e6,
                        .start = start,
                        .duration = 1'000,
                        .stream = 1,
                        .span = std::uint32_t(to.size()) });
                to.start.push_back(start);
                to.duration.push_back(1'000);
                to.name.push_back(std::uint32_t(i % 40));
                to.work.push_back(isComm ? RecordedWork::Communication : RecordedWork::Compute);
            }
        }
    }
    return made;
}

std::string linesOf(const Recording &recording, std::size_t most)
{
    std::string lines;
    writeLines(
        recording, "", [&](TimedLine &&line) { return lines += line.text, true; }, most);
    return lines;
}

/// In blocks, as sockets give them.
void feed(Decoder &decoder, std::string_view lines, const BatchOut &out)
{
    for (std::size_t at = 0; at < lines.size(); at += 65'536)
        (void)decoder.take(lines.substr(at, 65'536), kBegin, out);
}

void decodeAndTake(benchmark::State &state, const std::string &lines)
{
    std::int64_t events = 0;
    for (auto _ : state) {
        Store store;
        const DecoderPtr decoder = makeLinesDecoder("peer");
        feed(*decoder, lines, [&](Batch &&batch) { store.take(std::move(batch)); });
        events += store.counts().events;
    }
    state.SetItemsProcessed(events);
    state.SetBytesProcessed(std::int64_t(state.iterations()) * std::int64_t(lines.size()));
}

void liveEventsOneALine(benchmark::State &state)
{
    decodeAndTake(state, linesOf(madeRun(4, 10, 2'000), 1));
}
BENCHMARK(liveEventsOneALine)->Unit(benchmark::kMillisecond);

void liveEventsAsColumns(benchmark::State &state)
{
    decodeAndTake(state, linesOf(madeRun(4, 10, 2'000), 256));
}
BENCHMARK(liveEventsAsColumns)->Unit(benchmark::kMillisecond);

Recording samples(int series, int count)
{
    Recording made;
    made.zero = kBegin;
    for (int s = 0; s < series; ++s) {
        SampleSeries &one =
            made.series.emplace_back(SampleSeries { "power", "W", s, SharedText("n0/gpu" + std::to_string(s)) });
        for (int i = 0; i < count; ++i) {
            one.at.push_back(i * 1'000'000LL);
            one.value.push_back(600 + (i * 7919 % 1000) / 10.0);
        }
    }
    return made;
}

void liveSamplesAsColumns(benchmark::State &state)
{
    decodeAndTake(state, linesOf(samples(8, 25'000), 256));
}
BENCHMARK(liveSamplesAsColumns)->Unit(benchmark::kMillisecond);

void liveSamplesOneALine(benchmark::State &state)
{
    decodeAndTake(state, linesOf(samples(8, 5'000), 1));
}
BENCHMARK(liveSamplesOneALine)->Unit(benchmark::kMillisecond);

/// 8 steps of 16 ranks, 5,000 spans each.
void liveSnapshotOfEightSteps(benchmark::State &state)
{
    Store store;
    const DecoderPtr decoder = makeLinesDecoder("peer");
    feed(*decoder, linesOf(madeRun(16, 10, 5'000), 256), [&](Batch &&batch) { store.take(std::move(batch)); });
    std::size_t spans = 0;
    for (auto _ : state) {
        const auto snapshot = store.snapshot({ .steps = 8 });
        spans += snapshot->recording->spanCount();
    }
    state.SetItemsProcessed(std::int64_t(spans));
}
BENCHMARK(liveSnapshotOfEightSteps)->Unit(benchmark::kMillisecond);

} // namespace
