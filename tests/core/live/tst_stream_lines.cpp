// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/stream_lines.h"
#include "core/runs/telemetry/read_sources.h"
#include "tests/core/live/decoding.h"
#include "tests/core/runs/telemetry/random_recording.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <random>

using namespace trainyard;
using namespace trainyard::live;
using namespace trainyard::live::testing;

namespace {

/// What a stream tells of a recording, as Joined has it: moments as Unix times, each stream's spans with all columns.
class AsTold {
public:
    static Recording of(const Recording &recording)
    {
        Joined joined;
        Batch batch;
        batch.part = recording;
        for (SampleSeries &series : batch.part.series)
            series.source = kNoIndex;
        joined.add(batch);
        return tidy(joined.whole);
    }
    /// Places of equal names do not matter, nor does the order of what has one moment.
    static Recording tidy(Recording r)
    {
        std::vector<std::string> names = r.names;
        std::ranges::sort(names);
        names.erase(std::ranges::unique(names).begin(), names.end());
        const auto number = [&](std::uint32_t &name) {
            name = static_cast<std::uint32_t>(std::ranges::lower_bound(names, r.names[name]) - names.begin());
        };
        std::vector<CommunicatorGroup> groups = r.groups;
        const auto less = [](const CommunicatorGroup &a, const CommunicatorGroup &b) { return a.name < b.name; };
        std::ranges::sort(groups, less);
        for (RankRecording &rank : r.ranks) {
            rank.source = kNoIndex;
            for (RecordedCollective &one : rank.collectives) {
                number(one.operation);
                if (one.group != kNoIndex)
                    one.group = static_cast<std::uint32_t>(
                        std::ranges::lower_bound(groups, r.groups[one.group], less) - groups.begin());
            }
            for (RecordedStream &stream : rank.streams)
                for (std::uint32_t &name : stream.spans.name)
                    number(name);
            tidyStreams(rank);
            std::ranges::sort(
                rank.steps, {}, [](const RecordedStep &s) { return std::tuple(s.number, s.start, s.end); });
        }
        for (SampleSeries &series : r.series)
            tidySamples(series);
        std::erase_if(r.series, [](const SampleSeries &one) { return one.at.empty(); });
        std::ranges::sort(r.series, {},
            [](const SampleSeries &one) { return std::tuple(one.name, one.unit, one.rank, one.where, one.isByStep); });
        std::ranges::sort(r.ranks, {}, [](const RankRecording &one) { return std::tuple(one.rank, one.host); });
        r.names = names;
        r.groups = groups;
        return r;
    }

private:
    static void tidyStreams(RankRecording &rank)
    {
        std::vector<std::uint32_t> order(rank.streams.size()), place(rank.streams.size());
        std::iota(order.begin(), order.end(), 0u);
        std::ranges::sort(order, {}, [&](std::uint32_t s) {
            const RecordedStream &one = rank.streams[s];
            return std::tuple(one.spans.size() == 0, one.label, one.isGpu, one.device, one.stream);
        });
        std::vector<RecordedStream> streams;
        std::vector<std::vector<std::uint32_t>> spanPlaces(rank.streams.size());
        for (const std::uint32_t s : order) {
            place[s] = static_cast<std::uint32_t>(streams.size());
            RecordedStream &made = streams.emplace_back(rank.streams[s]);
            const RecordedSpans from = made.spans;
            std::vector<std::uint32_t> by(from.size());
            std::iota(by.begin(), by.end(), 0u);
            std::ranges::sort(by, {}, [&](std::uint32_t i) {
                return std::tuple(from.start[i], -from.duration[i], from.name[i], from.work[i], from.launchedAt[i]);
            });
            spanPlaces[s].resize(by.size());
            for (std::uint32_t i = 0; i < by.size(); ++i) {
                spanPlaces[s][by[i]] = i;
                made.spans.start[i] = from.start[by[i]];
                made.spans.duration[i] = from.duration[by[i]];
                made.spans.name[i] = from.name[by[i]];
                made.spans.work[i] = from.work[by[i]];
                made.spans.launchedAt[i] = from.launchedAt[by[i]];
            }
        }
        std::erase_if(streams, [](const RecordedStream &one) { return one.spans.size() == 0; });
        for (RecordedCollective &one : rank.collectives)
            if (one.stream != kNoIndex) {
                one.span = spanPlaces[one.stream][one.span];
                one.stream = place[one.stream];
            }
        std::ranges::sort(rank.collectives, {}, [](const RecordedCollective &c) {
            return std::tuple(c.start, c.duration, c.operation, c.group, c.sequence, c.bytes, c.stream, c.span);
        });
        rank.streams = std::move(streams);
    }
    static void tidySamples(SampleSeries &series)
    {
        series.source = kNoIndex;
        std::vector<std::pair<Moment, double>> points;
        for (std::size_t i = 0; i < series.at.size(); ++i) // NaN as no number that anybody draws
            points.emplace_back(series.at[i], std::isnan(series.value[i]) ? -77.125 : series.value[i]);
        std::ranges::sort(points);
        for (std::size_t i = 0; i < points.size(); ++i)
            std::tie(series.at[i], series.value[i]) = points[i];
    }
};

std::string linesOf(const Recording &recording, std::size_t most = 256)
{
    std::string lines;
    writeLines(
        recording, "", [&](TimedLine &&line) { return lines += line.text, true; }, most);
    return lines;
}

Recording toldAgain(const Recording &recording, std::size_t most = 256)
{
    const DecoderPtr decoder = makeLinesDecoder("peer");
    const auto all = decoded(*decoder, linesOf(recording, most));
    if (!all || !all->dropped.empty() || !all->notes.empty())
        return {};
    return AsTold::tidy(all->whole);
}

/// What a stream cannot tell is taken out of it: bytes that are no UTF-8, times before 1970, links from a collective to
/// a span that is not its own, two lists of one name.
Recording streamable(Recording r)
{
    const auto text = [](std::string &value) {
        std::erase_if(value, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
    };
    r.zero = 1'700'000'000'000'000'000;
    text(r.name);
    for (std::size_t i = 0; i < r.names.size(); ++i)
        text(r.names[i]);
    for (std::size_t i = 0; i < r.groups.size(); ++i) {
        text(r.groups[i].description);
        r.groups[i].name = "group" + std::to_string(i);
    }
    std::map<std::string, std::string> arguments;
    for (const auto &told : r.arguments) {
        std::string name = told.first, value = told.second;
        text(name), text(value);
        arguments[name] = value;
    }
    r.arguments = arguments;
    for (std::size_t s = 0; s < r.series.size(); ++s) {
        std::string unit = r.series[s].unit.text(), where = r.series[s].where.text();
        text(unit), text(where);
        r.series[s].unit = SharedText(unit);
        r.series[s].where = SharedText(where);
        r.series[s].name = SharedText("series" + std::to_string(s));
    }
    for (std::size_t i = 0; i < r.ranks.size(); ++i) {
        RankRecording &rank = r.ranks[i];
        rank.rank = i == 0 ? -1 : int(i);
        text(rank.host), text(rank.gpu);
        for (RecordedStep &step : rank.steps)
            if (step.end < step.start)
                std::swap(step.start, step.end);
        for (std::size_t s = 0; s < rank.streams.size(); ++s) {
            rank.streams[s].label = "stream" + std::to_string(s);
            RecordedSpans &spans = rank.streams[s].spans;
            spans.launch.clear();
            spans.shape.clear(); // which lines do not tell
            if (spans.launchedAt.empty())
                spans.launchedAt.assign(spans.size(), kNoMoment);
        }
        std::map<std::pair<std::uint32_t, std::uint32_t>, int> used;
        for (RecordedCollective &one : rank.collectives) {
            one.bytes = std::abs(one.bytes);
            if (one.stream == kNoIndex || one.span == kNoIndex || used[{ one.stream, one.span }]++ > 0)
                one.stream = one.span = kNoIndex;
            else
                one.start = rank.streams[one.stream].spans.start[one.span],
                one.duration = rank.streams[one.stream].spans.duration[one.span];
        }
    }
    return r;
}

} // namespace

class TestStreamLines : public QObject {
    Q_OBJECT

private slots:
    void theRunOfTheSamplesIsToldAndReadBack()
    {
        const auto run = readSource(TRAINYARD_SOURCE_DIR "/samples/moe-2x70b-16-a800-run.trainyard-recording", {});
        QVERIFY(run);
        const Recording expected = AsTold::of(*run);
        QVERIFY(run->spanCount() > 1'000);
        for (const std::size_t most : { 1, 256 }) {
            const Recording again = toldAgain(*run, most);
            QCOMPARE(again.ranks.size(), expected.ranks.size());
            for (std::size_t i = 0; i < again.ranks.size(); ++i) {
                QVERIFY(again.ranks[i].steps == expected.ranks[i].steps);
                QVERIFY(again.ranks[i].collectives == expected.ranks[i].collectives);
                QVERIFY(again.ranks[i].streams == expected.ranks[i].streams);
            }
            QVERIFY(again.groups == expected.groups);
            QVERIFY(again.series == expected.series);
            QCOMPARE(again.arguments, run->arguments);
        }
    }

    void anyRecordingIsToldAndReadBack()
    {
        for (std::uint64_t seed = 1; seed <= 300; ++seed) {
            const Recording r = streamable(trainyard::testing::RandomRecording(seed)());
            const Recording expected = AsTold::of(r), again = toldAgain(r, seed % 2 ? 256 : 3);
            QVERIFY2(again.groups == expected.groups && again.series == expected.series
                    && again.arguments == expected.arguments,
                std::to_string(seed).c_str());
            QCOMPARE(again.ranks.size(), expected.ranks.size());
            for (std::size_t i = 0; i < again.ranks.size(); ++i) {
                QVERIFY(again.ranks[i].steps == expected.ranks[i].steps);
                QVERIFY2(again.ranks[i].streams == expected.ranks[i].streams, std::to_string(seed).c_str());
                QVERIFY2(again.ranks[i].collectives == expected.ranks[i].collectives, std::to_string(seed).c_str());
                QCOMPARE(again.ranks[i].worldSize, expected.ranks[i].worldSize);
                QCOMPARE(again.ranks[i].gpu, expected.ranks[i].gpu);
            }
        }
    }

    void textsOfStrangersStayJson()
    {
        for (std::uint64_t seed = 1; seed <= 100; ++seed) {
            Recording r = trainyard::testing::RandomRecording(seed)();
            r.zero = 1'700'000'000'000'000'000;
            writeLines(r, "to\"ken", [&](TimedLine &&line) {
                if (line.text.back() != '\n' || line.text.find('\n') + 1 != line.text.size()
                    || !nlohmann::json::accept(line.text))
                    qFatal("%s", line.text.c_str());
                return true;
            });
        }
    }

    void linesComeInOrderOfTheirMomentsAfterTheHello()
    {
        const auto run = readSource(TRAINYARD_SOURCE_DIR "/samples/moe-2x70b-16-a800-run.trainyard-recording", {});
        QVERIFY(run);
        Moment before = 0;
        int hellos = 0, others = 0;
        writeLines(*run, "secret", [&](TimedLine &&line) {
            const auto json = nlohmann::json::parse(line.text);
            const bool isHello = json["event"] == "hello";
            if (isHello && hellos == 0 && json.value("token", "") != "secret")
                qFatal("the first hello shows no token");
            if (isHello && others > 0)
                qFatal("a hello after events");
            (isHello ? hellos : others) += 1;
            if (line.at < before)
                qFatal("out of order");
            // what a line tells has ended when it is sent
            if (json.contains("end_ns") && json["end_ns"].get<Moment>() > line.at)
                qFatal("told before it ended");
            before = line.at;
            return true;
        });
        QCOMPARE(hellos, 1 + int(run->ranks.size()));
    }

    void writingStopsWhenNobodyWantsMore()
    {
        const auto run = readSource(TRAINYARD_SOURCE_DIR "/samples/moe-2x70b-16-a800-run.trainyard-recording", {});
        QVERIFY(run);
        int lines = 0;
        writeLines(*run, "", [&](TimedLine &&) { return ++lines < 20; });
        QCOMPARE(lines, 20);
    }

    void theSchemaIsJsonAndNamesEveryEvent()
    {
        const auto schema = nlohmann::json::parse(streamSchema());
        std::vector<std::string> names;
        for (const auto &one : schema["oneOf"])
            names.push_back(one["properties"]["event"]["enum"][0]);
        QCOMPARE(names,
            (std::vector<std::string> {
                "hello", "arguments", "group", "step", "span", "collective", "sample", "end" }));
    }
};

TRAINYARD_GUILESS_TEST(TestStreamLines)
#include "tst_stream_lines.moc"
