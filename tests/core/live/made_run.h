#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A small run of four ranks on two hosts, as a recording.

#include "core/runs/telemetry/recording.h"

namespace trainyard::live::tests {

/// Steps of `seconds` on each of four ranks, with spans, collectives and samples.
inline Recording madeRun(int steps, double seconds)
{
    constexpr Moment second = 1'000'000'000;
    Recording run;
    run.name = "a run";
    run.zero = 1'700'000'000 * second;
    RecordedSource &source = run.sources.emplace_back();
    source.file = "made.json";
    source.kind = SourceKind::KinetoTrace;
    run.names = { "gemm", "all_reduce", "all_reduce_kernel" };
    run.groups = { { "dp", "data parallel", { 0, 1, 2, 3 } } };
    run.arguments = { { "world_size", "4" } };
    const auto length = static_cast<Moment>(seconds * second);
    for (int r = 0; r < 4; ++r) {
        RankRecording &rank = run.ranks.emplace_back();
        rank.rank = r;
        rank.worldSize = 4;
        rank.source = 0;
        rank.host = "n" + std::to_string(r / 2);
        RecordedStream &stream = rank.streams.emplace_back();
        stream.stream = 7;
        for (int s = 0; s < steps; ++s) {
            const Moment begin = s * length + r * 1'000;
            rank.steps.push_back({ s + 1, begin, begin + length - 10'000 });
            for (int i = 0; i < 3; ++i) {
                stream.spans.start.push_back(begin + i * length / 4);
                stream.spans.duration.push_back(length / 5);
                stream.spans.name.push_back(i == 2 ? 2u : 0u);
                stream.spans.work.push_back(i == 2 ? RecordedWork::Communication : RecordedWork::Compute);
            }
            rank.collectives.push_back({ 0, 1, s, 1e6, stream.spans.start.back(), length / 5, 0,
                static_cast<std::uint32_t>(stream.spans.size() - 1) });
        }
    }
    SampleSeries loss { "loss", "1", -1, "", true, {}, {}, 0 }, power { "power", "W", -1, "n0/gpu0", false, {}, {}, 0 };
    for (int s = 0; s < steps; ++s) {
        loss.at.push_back(s + 1);
        loss.value.push_back(3.0 / (s + 1));
        power.at.push_back(s * length + length / 2);
        power.value.push_back(500 + s);
    }
    run.series = { loss, power };
    return run;
}

} // namespace trainyard::live::tests
