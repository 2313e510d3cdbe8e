#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A run that is made up, told in batches cut and ordered at random, and what a recording holds as a list of sentences
// that does not depend on the order of its tables.

#include "core/live/store.h"

#include <algorithm>
#include <random>

namespace trainyard::live::testing {

inline constexpr Moment kBegin = 1'760'000'000'000'000'000;
inline constexpr std::int64_t kStep = 2'000'000'000; // ns

struct RunShape {
    int ranks = 3, steps = 6, spans = 20; // spans of each step and stream
    int firstStep = 100;
};

/// Events of a rank's step, as a batch of their own.
inline Batch stepBatch(const RunShape &shape, int rank, int step, std::mt19937_64 &random)
{
    Batch batch { .source = 1, .received = kBegin + step * kStep };
    Recording &part = batch.part;
    part.zero = kBegin + std::int64_t(random() % 1'000'000);
    part.sources.push_back({ .file = "peer " + std::to_string(rank), .kind = SourceKind::Recording });
    part.names = { "forward", "backward", "all_reduce", "step " + std::to_string(step) };
    std::ranges::shuffle(part.names, random);
    const auto name = [&](std::string_view wanted) {
        return static_cast<std::uint32_t>(std::ranges::find(part.names, wanted) - part.names.begin());
    };
    part.groups.push_back({ "dp", "", { 0, 1, 2 } });
    const Moment begin = kBegin + (step - shape.firstStep) * kStep - part.zero + rank * 1'000;
    RankRecording &one = part.ranks.emplace_back(rank);
    one.host = "n" + std::to_string(rank / 2);
    one.worldSize = shape.ranks;
    one.source = 0;
    one.steps.push_back({ step, begin, begin + kStep - 5'000 });
    for (const char *label : { "compute", "comm" }) {
        RecordedStream &stream = one.streams.emplace_back();
        stream.label = label;
        for (int i = 0; i < shape.spans; ++i) {
            stream.spans.start.push_back(begin + i * (kStep / (shape.spans + 1)));
            stream.spans.duration.push_back(1'000 + std::int64_t(i) * 10);
            const bool isComm = stream.label == "comm";
            stream.spans.name.push_back(name(isComm ? "all_reduce" : i % 2 ? "forward" : "backward"));
            stream.spans.work.push_back(isComm ? RecordedWork::Communication : RecordedWork::Compute);
            if (isComm)
                one.collectives.push_back({ .group = 0,
                    .operation = name("all_reduce"),
                    .sequence = i,
                    .bytes = 1e6,
                    .start = stream.spans.start.back(),
                    .duration = stream.spans.duration.back(),
                    .stream = 1,
                    .span = std::uint32_t(i) });
        }
    }
    part.series.push_back({ "loss", "1", rank, "", true, { step }, { 10.0 / step }, 0 });
    SampleSeries &power =
        part.series.emplace_back(SampleSeries { "power", "W", -1, SharedText("n" + std::to_string(rank)) });
    for (int i = 0; i < 10; ++i) {
        power.at.push_back(begin + i * (kStep / 10));
        power.value.push_back(600 + i);
    }
    return batch;
}

inline std::vector<Batch> batchesOf(const RunShape &shape, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    std::vector<Batch> batches;
    for (int step = shape.firstStep; step < shape.firstStep + shape.steps; ++step)
        for (int rank = 0; rank < shape.ranks; ++rank)
            batches.push_back(stepBatch(shape, rank, step, random));
    return batches;
}

inline std::int64_t eventsOf(const Batch &batch)
{
    std::size_t events = batch.part.spanCount();
    for (const RankRecording &rank : batch.part.ranks)
        events += rank.steps.size() + rank.collectives.size();
    for (const SampleSeries &series : batch.part.series)
        events += series.at.size();
    return std::int64_t(events);
}

/// The batch in pieces: each event into one of them, chosen at random.
inline std::vector<Batch> cut(const Batch &batch, std::size_t pieces, std::mt19937_64 &random)
{
    std::vector<Batch> cuts(pieces, batch);
    for (Batch &one : cuts) {
        for (RankRecording &rank : one.part.ranks) {
            rank.steps.clear();
            rank.collectives.clear();
            for (RecordedStream &stream : rank.streams)
                stream.spans = {};
        }
        for (SampleSeries &series : one.part.series)
            series.at.clear(), series.value.clear();
    }
    const auto any = [&]() -> Recording & { return cuts[random() % pieces].part; };
    for (std::size_t r = 0; r < batch.part.ranks.size(); ++r) {
        const RankRecording &rank = batch.part.ranks[r];
        for (const RecordedStep &step : rank.steps)
            any().ranks[r].steps.push_back(step);
        std::vector<std::vector<std::pair<Recording *, std::uint32_t>>> places(rank.streams.size());
        for (std::size_t s = 0; s < rank.streams.size(); ++s) {
            const RecordedSpans &spans = rank.streams[s].spans;
            for (std::size_t i = 0; i < spans.size(); ++i) {
                Recording &to = any();
                RecordedSpans &made = to.ranks[r].streams[s].spans;
                places[s].emplace_back(&to, std::uint32_t(made.size()));
                made.start.push_back(spans.start[i]);
                made.duration.push_back(spans.duration[i]);
                made.name.push_back(spans.name[i]);
                made.work.push_back(spans.work[i]);
            }
        }
        for (RecordedCollective one : rank.collectives) { // goes where its span goes
            const auto [to, span] = places[one.stream][one.span];
            one.span = span;
            to->ranks[r].collectives.push_back(one);
        }
    }
    for (std::size_t s = 0; s < batch.part.series.size(); ++s)
        for (std::size_t i = 0; i < batch.part.series[s].at.size(); ++i) {
            SampleSeries &to = any().series[s];
            to.at.push_back(batch.part.series[s].at[i]);
            to.value.push_back(batch.part.series[s].value[i]);
        }
    return cuts;
}

/// Everything that it says, sorted.
inline std::vector<std::string> sentencesOf(const Recording &r)
{
    std::vector<std::string> said;
    const auto at = [&](Moment moment) { return std::to_string(moment + r.zero); };
    for (const RankRecording &rank : r.ranks) {
        const std::string who = std::to_string(rank.rank) + "@" + rank.host + " ";
        for (const RecordedStep &step : rank.steps)
            said.push_back(who + "step " + std::to_string(step.number) + " " + at(step.start) + " " + at(step.end));
        for (const RecordedStream &stream : rank.streams)
            for (std::size_t i = 0; i < stream.spans.size(); ++i)
                said.push_back(who + stream.label + " " + r.names[stream.spans.name[i]] + " "
                    + std::to_string(int(stream.spans.work[i])) + " " + at(stream.spans.start[i]) + " "
                    + std::to_string(stream.spans.duration[i]));
        for (const RecordedCollective &one : rank.collectives) {
            std::string text = who + r.names[one.operation] + " " + at(one.start) + " " + std::to_string(one.duration)
                + " " + std::to_string(one.sequence) + " " + std::to_string(one.bytes);
            if (one.group != kNoIndex)
                text += " " + r.groups[one.group].name + "x" + std::to_string(r.groups[one.group].ranks.size());
            if (one.stream != kNoIndex && one.span != kNoIndex) {
                const RecordedStream &stream = rank.streams[one.stream];
                text += " on " + stream.label + " " + r.names[stream.spans.name[one.span]] + " "
                    + at(stream.spans.start[one.span]);
            }
            said.push_back(text);
        }
    }
    for (const SampleSeries &series : r.series)
        for (std::size_t i = 0; i < series.at.size(); ++i)
            said.push_back(series.name.text() + " " + series.where.text() + " " + std::to_string(series.rank) + " "
                + (series.isByStep ? std::to_string(series.at[i]) : at(series.at[i])) + " "
                + std::to_string(series.value[i]));
    std::ranges::sort(said);
    return said;
}

} // namespace trainyard::live::testing
