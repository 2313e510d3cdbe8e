// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/live_script.h"

#include "tests/fuzz/live_checks.h"
#include "tests/fuzz/seeds.h"

#include <limits>
#include <random>

namespace trainyard::fuzz {

namespace {

constexpr Moment kBegin = 1'760'000'000'000'000'000;

class Script {
public:
    explicit Script(const std::string &bytes)
        : m_bytes(bytes)
    {
        begin();
    }

    Outcome run()
    {
        std::string fault;
        while (m_at < m_bytes.size() && fault.empty()) {
            switch (next() % 12) {
            case 0:
            case 1:
                step();
                break;
            case 2:
            case 3:
            case 4:
                span();
                break;
            case 5:
                collective();
                break;
            case 6:
            case 7:
                sample();
                break;
            case 8:
                m_clock += std::int64_t(next()) * 1'000'000'000;
                break;
            case 9:
            case 10:
                give();
                break;
            default:
                give();
                fault = look();
                break;
            }
        }
        give();
        if (fault.empty())
            fault = m_store.fault({ .steps = 1'000 }, m_bytes.size() % 8 == 0);
        return { true, fault };
    }

private:
    std::uint8_t next() { return m_at < m_bytes.size() ? static_cast<std::uint8_t>(m_bytes[m_at++]) : 0; }

    /// Near the clock; one in sixteen anywhere.
    Moment time()
    {
        const std::uint8_t kind = next();
        if (kind % 16 != 15)
            return m_clock + kind * 10'000'000LL - kBegin;
        constexpr Moment kOdd[] = { std::numeric_limits<Moment>::min(), std::numeric_limits<Moment>::max(), 0, -kBegin,
            -kBegin - 1, std::int64_t(1) << 61, -(std::int64_t(1) << 61), 2'240'000'000'000'000'000 };
        return kOdd[next() % std::size(kOdd)];
    }
    std::int64_t duration()
    {
        const std::uint8_t kind = next();
        constexpr std::int64_t kOdd[] = { -1, 0, std::numeric_limits<std::int64_t>::max(), std::int64_t(1) << 60 };
        return kind % 16 != 15 ? kind * 1'000'000LL : kOdd[next() % std::size(kOdd)];
    }
    std::int64_t number()
    {
        const std::uint8_t kind = next();
        constexpr std::int64_t kOdd[] = { -1, std::int64_t(1) << 53, -(std::int64_t(1) << 53), 1'000'000'000 };
        return kind % 32 != 31 ? kind % 32 : kOdd[next() % std::size(kOdd)];
    }
    std::uint32_t name()
    {
        m_batch.part.names.push_back("name " + std::to_string(next()));
        return static_cast<std::uint32_t>(m_batch.part.names.size() - 1);
    }

    RankRecording &rank()
    {
        const std::uint8_t which = next();
        const int number = int(which % 20) - 1;
        for (RankRecording &one : m_batch.part.ranks)
            if (one.rank == number)
                return one;
        RankRecording &made = m_batch.part.ranks.emplace_back(number);
        made.host = which % 3 ? "a" : "b";
        made.worldSize = which;
        return made;
    }

    void step()
    {
        const std::int64_t of = number();
        const Moment start = time();
        Moment end = 0;
        if (__builtin_add_overflow(start, duration(), &end))
            end = start;
        rank().steps.push_back({ of, start, end });
    }

    std::uint32_t addSpan(RankRecording &to, std::uint32_t stream)
    {
        while (to.streams.size() <= stream)
            to.streams.emplace_back().label = "stream " + std::to_string(to.streams.size());
        RecordedSpans &spans = to.streams[stream].spans;
        spans.start.push_back(time());
        spans.duration.push_back(duration());
        spans.name.push_back(name());
        spans.work.push_back(RecordedWork(next() % 8));
        spans.launchedAt.push_back(next() % 4 ? kNoMoment : time());
        return static_cast<std::uint32_t>(spans.size() - 1);
    }
    void span() { addSpan(rank(), next() % 3); }

    void collective()
    {
        RankRecording &to = rank();
        RecordedCollective made { .operation = name(), .sequence = number(), .bytes = double(next()) };
        const std::uint8_t kind = next();
        if (kind % 2) {
            m_batch.part.groups.push_back({ "group " + std::to_string(next() % 16), "", { int(next() % 4) } });
            made.group = static_cast<std::uint32_t>(m_batch.part.groups.size() - 1);
        }
        made.start = time();
        made.duration = duration();
        if (kind % 3) {
            made.stream = next() % 3;
            made.span = addSpan(to, made.stream);
            if (kind % 5) {
                made.start = to.streams[made.stream].spans.start.back();
                made.duration = to.streams[made.stream].spans.duration.back();
            }
        }
        if (kind == 255)
            made.bytes = std::numeric_limits<double>::infinity();
        to.collectives.push_back(made);
    }

    void sample()
    {
        const std::uint8_t which = next();
        SampleSeries &series = m_batch.part.series.emplace_back(
            SampleSeries { SharedText("series " + std::to_string(which % 16)), "1", int(which % 3) - 1 });
        series.isByStep = which % 2;
        for (int i = which / 16; i >= 0; --i) {
            series.at.push_back(series.isByStep ? number() : time());
            const std::uint8_t value = next();
            series.value.push_back(value == 255 ? std::numeric_limits<double>::quiet_NaN()
                    : value == 254              ? -std::numeric_limits<double>::infinity()
                                                : double(value));
        }
    }

    void begin()
    {
        m_batch = {};
        m_batch.source = next() % 4;
        m_batch.received = m_clock;
        m_batch.part.zero = next() % 32 ? kBegin : 0;
        m_batch.part.sources.push_back({ .file = "peer " + std::to_string(next() % 3) });
        if (next() % 16 == 0)
            m_batch.part.arguments["key " + std::to_string(next() % 4)] = "value " + std::to_string(next());
    }
    void give()
    {
        m_store.take(std::move(m_batch));
        begin();
    }

    std::string look()
    {
        live::SnapshotAsked asked { .steps = int(next() % 6) - 1 };
        if (next() % 2)
            asked.until = number();
        if (next() % 64 == 0)
            return m_store.fault(asked, true);
        return m_store.fault(asked, false);
    }

    const std::string &m_bytes;
    std::size_t m_at = 0;
    Moment m_clock = kBegin;
    live::Batch m_batch;
    CheckedStore m_store;
};

} // namespace

Outcome toldByScript(const std::string &input)
{
    return Script(input).run();
}

std::vector<std::string> scriptSeeds(const std::string &folder)
{
    std::vector<std::string> scripts = readerSeeds(folder, "live-store");
    std::mt19937_64 random(1);
    for (const std::size_t size : { 50, 100, 200, 200, 400, 400, 1'000, 1'000 }) {
        std::string &script = scripts.emplace_back();
        for (std::size_t i = 0; i < size; ++i)
            script.push_back(static_cast<char>(random()));
    }
    return scripts;
}

} // namespace trainyard::fuzz
