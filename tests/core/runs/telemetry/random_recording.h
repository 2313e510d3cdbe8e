#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings drawn at random, with everything that a Recording may hold, and whether two are the same down to samples
// that are no number.

#include "core/runs/telemetry/recording.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace trainyard::testing {

/// Of NaN as of equal: a recording with samples that are none is never equal to itself.
inline void makeNumbers(Recording &recording)
{
    const auto make = [](double &value) { value = std::isnan(value) ? 0.125 : value; };
    for (SampleSeries &series : recording.series)
        for (double &value : series.value)
            make(value);
    for (RecordedPrice &price : recording.prices) {
        make(price.usdPerHour);
        make(price.spotUsdPerHour);
    }
}

inline bool isSame(Recording a, Recording b)
{
    for (std::size_t i = 0; i < std::min(a.series.size(), b.series.size()); ++i)
        for (std::size_t j = 0; j < std::min(a.series[i].value.size(), b.series[i].value.size()); ++j)
            if (std::isnan(a.series[i].value[j]) != std::isnan(b.series[i].value[j]))
                return false;
    makeNumbers(a);
    makeNumbers(b);
    return a == b;
}

class RandomRecording {
public:
    explicit RandomRecording(std::uint64_t seed)
        : m_random(seed)
    {
    }

    Recording operator()()
    {
        Recording r;
        r.name = text();
        r.zero = one(2) ? 1'700'000'000'000'000'000 + below(1'000'000'000) : 0;
        r.alignedAt = moment();
        fill(r.sources, 4, [&](RecordedSource &source) {
            source = { text(), SourceKind(below(int(SourceKind::Plan) + 1)), below(1 << 30), below(9999), one(2),
                text() };
            fill(source.dropped, 2, [&](Dropped &dropped) { dropped = { text(), below(99) }; });
            fill(source.notes, 2, [&](std::string &note) { note = text(); });
        });
        fill(r.names, 20, [&](std::string &name) { name = text(); });
        r.names.push_back("gemm");
        fill(r.groups, 3, [&](CommunicatorGroup &group) {
            group = { text(), text(), {} };
            fill(group.ranks, 8, [&](int &rank) { rank = int(below(64)); });
        });
        for (std::int64_t i = below(4); i > 0; --i)
            r.arguments[text()] = text();
        fill(r.models, 2, [&](RecordedModel &m) { m = { text(), text(), source(r) }; });
        fill(r.nodes, 2, [&](RecordedNodes &n) {
            n = { { text() }, int(below(99)), text(), int(below(9)), int(below(9)), real(), real(), one(2), real(),
                source(r), real(), int(below(200)) };
        });
        fill(r.switches, 2, [&](RecordedSwitch &s) { s = { text(), { text(), text() }, real(), one(2), source(r) }; });
        fill(r.prices, 2, [&](RecordedPrice &p) {
            p = { text(), text(), text(), text(), real(), real(), one(2) ? std::nan("") : real(), source(r) };
        });
        fill(r.benchmarks, 3, [&](BenchmarkPoint &p) {
            p = { text(), int(below(9)), int(below(9)), 1, real(), real(), real(), real(), real(), one(2), source(r) };
        });
        fill(r.kernels, 3, [&](KernelPoint &p) {
            p = { text(), text(), real(), real(), real(), real(), real(), real(), real(), one(2), one(2), real(),
                real(), real(), real(), text(), source(r) };
        });
        fill(r.series, 4, [&](SampleSeries &s) {
            s = { SharedText(text()), SharedText(text()), int(below(5)) - 1, SharedText(text()), one(2), {}, {},
                source(r) };
            fill(s.at, 30, [&](Moment &at) { at = moment(); });
            std::ranges::sort(s.at);
            for (std::size_t i = 0; i < s.at.size(); ++i)
                s.value.push_back(one(5) ? std::nan("") : one(9) ? -std::numeric_limits<double>::infinity() : real());
        });
        fill(r.ranks, 4, [&](RankRecording &rank) { drawRank(r, rank); });
        fill(r.argumentsOf, 2, [&](SourceArguments &told) { told = { source(r), { { text(), text() } } }; });
        return r;
    }

private:
    void drawRank(const Recording &r, RankRecording &rank)
    {
        rank.rank = int(below(9)) - 1;
        rank.worldSize = int(below(99));
        rank.source = source(r);
        rank.host = text();
        rank.gpu = text();
        rank.timeBase = moment();
        rank.clockOffset = one(2) ? std::fmod(real(), 1e12) : 0;
        rank.clockDrift = one(2) ? std::fmod(real() * 1e-9, 1) : 0;
        fill(rank.steps, 3, [&](RecordedStep &step) { step = { below(9), moment(), moment() }; });
        fill(rank.streams, 4, [&](RecordedStream &stream) {
            stream = { one(2), below(9), below(999), text(), one(3), {} };
            drawSpans(r, stream.spans);
        });
        fill(rank.collectives, 9, [&](RecordedCollective &c) {
            c = { one(2) || r.groups.empty() ? kNoIndex : std::uint32_t(below(std::int64_t(r.groups.size()))), name(r),
                one(2) ? -1 : below(999), real(), moment(), below(1 << 30) };
            if (rank.streams.empty() || one(3))
                return;
            c.stream = std::uint32_t(below(std::int64_t(rank.streams.size())));
            if (const std::size_t size = rank.streams[c.stream].spans.size(); size > 0)
                c.span = std::uint32_t(below(std::int64_t(size)));
        });
        std::ranges::stable_sort(rank.collectives, {}, &RecordedCollective::start);
    }

    void drawSpans(const Recording &r, RecordedSpans &spans)
    {
        const bool hasLaunches = one(2), hasCalls = one(2), hasShapes = one(2);
        Moment start = moment();
        for (std::int64_t i = below(200); i > 0; --i) {
            spans.start.push_back(start += below(100'000));
            spans.duration.push_back(below(one(9) ? 1'000'000'000'000 : 90'000));
            spans.name.push_back(name(r));
            spans.work.push_back(RecordedWork(below(int(RecordedWork::Other) + 1)));
            if (hasLaunches)
                spans.launch.push_back(one(5) ? 0xffffffffu : std::uint32_t(below(1 << 20)));
            if (hasCalls)
                spans.launchedAt.push_back(one(3) ? kNoMoment : start - below(50'000) + below(10'000));
            if (hasShapes)
                spans.shape.push_back(one(3) ? kNoIndex : name(r));
        }
    }

    template <class T, class Draw> void fill(std::vector<T> &values, std::int64_t most, const Draw &draw)
    {
        for (std::int64_t i = below(most + 1); i > 0; --i)
            draw(values.emplace_back());
    }
    std::int64_t below(std::int64_t most) { return std::int64_t(m_random() % std::uint64_t(most)); }
    bool one(std::int64_t in) { return below(in) == 0; }
    Moment moment() { return below(2'000'000'000'000) - 1'000'000'000'000; }
    double real()
    {
        return one(4) ? double(below(1 << 20)) : std::ldexp(double(m_random()) - 9e18, int(below(80)) - 90);
    }
    std::uint32_t name(const Recording &r) { return std::uint32_t(below(std::int64_t(r.names.size()))); }
    std::uint32_t source(const Recording &r)
    {
        return r.sources.empty() || one(3) ? kNoIndex : std::uint32_t(below(std::int64_t(r.sources.size())));
    }
    /// With all that texts of strangers have: quotes, control characters, other scripts, bytes that are no UTF-8.
    std::string text()
    {
        static constexpr std::string_view kPieces[] = { "all_reduce", "\"", "\\", "\n", std::string_view("\0", 1),
            "\x7f", "µ", "计", "🚂", "\xff", "\xc3", "\xed\xa0\x80", "\xee\xbe\x80", "\xee\xbf\xbf", "/", "\x1b[31m",
            "\xf4\x90\x80\x80" };
        std::string made;
        for (std::int64_t i = below(5); i > 0; --i)
            made += kPieces[std::size_t(below(std::int64_t(std::size(kPieces))))];
        return made;
    }

    std::mt19937_64 m_random;
};

} // namespace trainyard::testing
