// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/runs/overlay/run_writer.h"

#include <algorithm>
#include <cmath>

namespace trainyard::test {

namespace {

constexpr Moment kUnixZero = 1'750'000'000'000'000'000;
constexpr std::int64_t kStreamNumbers[kRunStreams] { 7, 13, 17, 21, 25, 29 };

std::string padded(int number)
{
    const std::string digits = std::to_string(number);
    return std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits;
}

} // namespace

RunWriter::RunWriter(int worldSize, const RecordedRunOptions &options)
    : m_options(options)
    , m_nameOf(m_recording.names)
    , m_ranks(std::size_t(worldSize))
    , m_random(options.seed * 7919 + 1)
{
    m_recording.name = "run";
    m_recording.zero = kUnixZero;
}

std::uint32_t RunWriter::group(const std::string &name, const std::vector<int> &ranks)
{
    const auto [known, isNew] = m_groups.try_emplace(name, static_cast<std::uint32_t>(m_recording.groups.size()));
    if (isNew) {
        m_recording.groups.push_back({ name, name.substr(0, name.find(' ')), ranks });
        std::ranges::sort(m_recording.groups.back().ranks);
    }
    return known->second;
}

void RunWriter::span(
    int rank, RunStream stream, const char *name, RecordedWork work, double start, double end, bool isLate)
{
    Rank &of = m_ranks[std::size_t(rank)];
    const double ahead = std::uniform_real_distribution<double>(2e5, 3e6)(m_random);
    const double launched =
        isLate ? start - 4000 : std::max(std::min(start - ahead, of.computed - 2000), of.begun + 1000);
    const Moment from = std::llround(start);
    of.spans[int(stream)].push_back(
        { from, std::max<Moment>(1, std::llround(end) - from), m_nameOf(name), work, std::llround(launched) });
    if (stream == RunStream::Compute)
        of.computed = end;
}

double RunWriter::collective(int rank, std::uint32_t group, const char *operation, const char *kernel, double bytes,
    RunStream stream, double start, double end)
{
    const double ended = end + m_options.endJitter * std::normal_distribution<double>()(m_random);
    span(rank, stream, kernel, RecordedWork::Communication, start, ended);
    Rank &of = m_ranks[std::size_t(rank)];
    Span &drawn = of.spans[int(stream)].back();
    drawn.collective = static_cast<std::uint32_t>(of.collectives.size());
    RecordedCollective &one = of.collectives.emplace_back();
    one.group = group;
    one.operation = m_nameOf(operation);
    one.sequence = m_options.numbersCollectives ? 1000 + of.sequence[group]++ : -1;
    one.bytes = bytes;
    one.start = drawn.start;
    one.duration = drawn.duration;
    one.stream = static_cast<std::uint32_t>(stream);
    return ended;
}

void RunWriter::step(int rank, int number, double start, double end)
{
    m_ranks[std::size_t(rank)].steps.push_back({ number, std::llround(start), std::llround(end) });
}

void RunWriter::finishRank(int rank, RankRecording &made)
{
    Rank &of = m_ranks[std::size_t(rank)];
    made.collectives = std::move(of.collectives);
    made.steps = std::move(of.steps);
    std::vector<std::uint32_t> streamAt(kRunStreams, kNoIndex);
    for (int i = 0; i < kRunStreams; ++i) {
        std::vector<Span> &spans = of.spans[i];
        if (spans.empty())
            continue;
        std::ranges::stable_sort(spans, [](const Span &a, const Span &b) {
            return std::pair(a.start, -a.duration) < std::pair(b.start, -b.duration);
        });
        streamAt[std::size_t(i)] = static_cast<std::uint32_t>(made.streams.size());
        RecordedStream &stream = made.streams.emplace_back();
        stream.device = rank % 8;
        stream.stream = kStreamNumbers[i];
        for (const Span &span : spans) {
            if (span.collective != kNoIndex)
                made.collectives[span.collective].span = static_cast<std::uint32_t>(stream.spans.size());
            stream.spans.start.push_back(span.start);
            stream.spans.duration.push_back(span.duration);
            stream.spans.name.push_back(span.name);
            stream.spans.work.push_back(span.work);
            stream.spans.launch.push_back(static_cast<std::uint32_t>(stream.spans.size()));
            stream.spans.launchedAt.push_back(span.launched);
        }
    }
    for (RecordedCollective &one : made.collectives)
        one.stream = streamAt[one.stream];
    std::ranges::stable_sort(made.collectives, {}, &RecordedCollective::start);
    RecordedStream &host = made.streams.emplace_back();
    host.isGpu = false;
    host.stream = 1;
    for (const RecordedStep &step : made.steps) {
        host.spans.start.push_back(step.start);
        host.spans.duration.push_back(step.end - step.start);
        host.spans.name.push_back(m_nameOf("ProfilerStep#" + std::to_string(step.number)));
        host.spans.work.push_back(RecordedWork::Annotation);
    }
}

Recording RunWriter::take()
{
    for (int rank = 0; rank < int(m_ranks.size()); ++rank) {
        if (m_options.missing.contains(rank))
            continue;
        RankRecording &made = m_recording.ranks.emplace_back();
        made.rank = rank;
        made.worldSize = int(m_ranks.size());
        made.source = static_cast<std::uint32_t>(m_recording.sources.size());
        made.host = "node" + padded(rank / 8);
        RecordedSource &source = m_recording.sources.emplace_back();
        source.file = "rank" + padded(rank) + ".json";
        source.kind = SourceKind::KinetoTrace;
        finishRank(rank, made);
    }
    return std::move(m_recording);
}

Recording onOwnClocks(Recording recording, const std::vector<TrueRank> &ranks, double middle)
{
    for (RankRecording &rank : recording.ranks) {
        const TrueRank &own = ranks[std::size_t(rank.rank)];
        const auto shown = [&](Moment moment) { return Moment(std::llround(own.shown(double(moment), middle))); };
        const auto move = [&](Moment &start, std::int64_t &duration) {
            const Moment end = shown(start + duration);
            start = shown(start);
            duration = end - start;
        };
        for (RecordedStream &stream : rank.streams) {
            for (std::size_t i = 0; i < stream.spans.size(); ++i)
                move(stream.spans.start[i], stream.spans.duration[i]);
            for (Moment &launched : stream.spans.launchedAt)
                launched = shown(launched);
        }
        for (RecordedCollective &one : rank.collectives)
            move(one.start, one.duration);
        for (RecordedStep &step : rank.steps) {
            step.start = shown(step.start);
            step.end = shown(step.end);
        }
    }
    return recording;
}

} // namespace trainyard::test
