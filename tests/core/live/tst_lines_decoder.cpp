// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/stream_lines.h"
#include "tests/core/live/decoding.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <random>

using namespace trainyard;
using namespace trainyard::live;
using namespace trainyard::live::testing;

namespace {

const std::string kHello =
    R"({"event":"hello","format":"trainyard.stream","version":1,"run":"tiny","rank":3,"world_size":8,"host":"n0","gpu":"H100"}
)";

Expected<Joined> told(const std::string &lines, const std::vector<std::size_t> &cuts = {}, DecoderLimits limits = {})
{
    const DecoderPtr decoder = makeLinesDecoder("peer", limits);
    return decoded(*decoder, lines, cuts);
}

} // namespace

class TestLinesDecoder : public QObject {
    Q_OBJECT

private slots:
    void everyEventOfTheDocumentIsRead()
    {
        const auto all = told(kHello
            + R"({"event":"arguments","values":{"tensor_model_parallel_size":"4","lr":1e-4,"bf16":true,"l":[1, 2]}}
{"event":"group","name":"dp_0","ranks":[0,4,8,12]}
{"event":"step","number":1240,"start_ns":1760000000000000001,"end_ns":1760000000900000001}
{"event":"span","stream":"compute","work":"compute","name":"forward","start_ns":1760000000000000003,"duration_ns":7}
{"event":"spans","stream":"compute","work":"compute","name":["forward","backward"],"start_ns":[1760000000000000011,1760000000000000013],"duration_ns":[5,6]}
{"event":"collective","group":"dp_0","operation":"all_reduce","bytes":1048576,"sequence":7,"start_ns":1760000000000000017,"duration_ns":19}
{"event":"sample","name":"loss","unit":"1","value":2.31,"step":1240}
{"event":"samples","name":"power","unit":"W","where":"n0/gpu3","at_ns":[1760000000000000021,1760000000000000023],"value":[650,NaN]}
{"event":"end"}
)");
        QVERIFY2(all, all ? "" : toString(all.error()).c_str());
        const Recording &r = all->whole;
        QCOMPARE(r.name, "tiny");
        QCOMPARE(r.arguments.at("lr"), "1e-4");
        QCOMPARE(r.arguments.at("bf16"), "true");
        QCOMPARE(r.arguments.at("tensor_model_parallel_size"), "4");
        QCOMPARE(r.ranks.size(), std::size_t(1));
        QCOMPARE(r.ranks[0].rank, 3);
        QCOMPARE(r.ranks[0].worldSize, 8);
        QCOMPARE(r.ranks[0].gpu, "H100");
        // a nanosecond is not lost to a double, whose next number is 256 away
        QCOMPARE(r.ranks[0].steps[0].start, Moment(1'760'000'000'000'000'001));
        const RecordedSpans &spans = r.ranks[0].streams[0].spans;
        QCOMPARE(spans.start,
            (std::vector<Moment> { 1'760'000'000'000'000'003, 1'760'000'000'000'000'011, 1'760'000'000'000'000'013 }));
        QCOMPARE(spans.duration, (std::vector<std::int64_t> { 7, 5, 6 }));
        QCOMPARE(r.names[spans.name[2]], "backward");
        QVERIFY(spans.work[1] == RecordedWork::Compute);
        const RecordedCollective &one = r.ranks[0].collectives[0];
        QCOMPARE(r.groups[one.group].ranks, (std::vector<int> { 0, 4, 8, 12 }));
        QCOMPARE(one.sequence, std::int64_t(7));
        QCOMPARE(one.bytes, 1048576.0);
        QVERIFY(r.series[0].isByStep && r.series[0].at[0] == 1240 && r.series[0].value[0] == 2.31);
        QCOMPARE(r.series[1].where, "n0/gpu3");
        QVERIFY(std::isnan(r.series[1].value[1]));
        QVERIFY(all->dropped.empty() && all->notes.empty());
        QCOMPARE(all->taken, std::int64_t(1 + 1 + 2 + 1 + 1 + 2));
    }

    void howeverBytesAreCutTheyTellTheSame()
    {
        const std::string lines = kHello
            + "{\"event\":\"span\",\"stream\":\"c\",\"name\":\"\xc3\xa4\\n\",\"start_ns\":5,\"duration_ns\":1}\r\n\r\n"
              "{\"event\":\"sample\",\"name\":\"loss\",\"value\":-Infinity,\"step\":1}\n"
              "not JSON\n"
              "{\"event\":\"samples\",\"name\":\"loss\",\"value\":[1,2],\"step\":[2,3]}";
        const auto whole = told(lines);
        QVERIFY(whole);
        for (std::size_t first = 0; first <= lines.size(); ++first) {
            const auto cut = told(lines, { first });
            QVERIFY(cut && cut->whole == whole->whole && cut->dropped == whole->dropped);
        }
        std::vector<std::size_t> each(lines.size());
        std::iota(each.begin(), each.end(), std::size_t(0));
        const auto bytewise = told(lines, each);
        QVERIFY(bytewise && bytewise->whole == whole->whole && bytewise->dropped == whole->dropped);
        QCOMPARE(whole->bytes, std::int64_t(lines.size()));
    }

    void linesThatAreBadAreCountedAndTheFirstIsNamed()
    {
        const auto all = told(kHello
            + "{\"event\":\"span\",\"start_ns\":1}\n"
              "{\"event\":\"span\",\"start_ns\":1,\n" // torn
              "{\"event\":\"spans\",\"start_ns\":[1,2],\"duration_ns\":[1]}\n"
              "{\"event\":\"span\",\"start_ns\":1.5}\n"
              "{\"event\":\"span\",\"start_ns\":1}{\"event\":\"span\",\"start_ns\":1}\n"
              "{\"event\":\"wonder\",\"future\":[{}]}\n"
              "{\"event\":\"span\",\"start_ns\":-5}\n"
              "{\"event\":\"span\",\"start_ns\":9223372036854775807}\n"
              "{\"event\":\"span\",\"start_ns\":\"77\",\"color\":{\"deep\":[1,{\"a\":null}]}}\n");
        QVERIFY(all);
        QCOMPARE(all->dropped.at("lines that cannot be read"), std::int64_t(4));
        QCOMPARE(all->dropped.at("events of a kind that this version does not know"), std::int64_t(1));
        QCOMPARE(all->dropped.at("events at times that cannot be"), std::int64_t(2));
        QCOMPARE(all->notes.size(), std::size_t(1));
        QVERIFY2(all->notes[0].starts_with("Line 3 "), all->notes[0].c_str());
        QCOMPARE(all->whole.ranks[0].streams[0].spans.start, (std::vector<Moment> { 1, 77 }));
    }

    void emptyColumnsTellNothing()
    {
        const auto all = told(kHello
            + "{\"event\":\"group\",\"name\":[],\"ranks\":[1]}\n"
              "{\"event\":\"spans\",\"name\":[],\"start_ns\":[]}\n{\"event\":\"steps\",\"number\":[]}\n"
              "{\"event\":\"samples\",\"name\":\"a\",\"value\":[]}\n{\"event\":\"collectives\",\"operation\":[]}\n");
        QVERIFY(all && all->dropped.empty());
        QCOMPARE(all->taken, std::int64_t(0));
    }

    void noiseOfTerminalsAndDisksIsReadThrough()
    {
        const std::string zeros(4'096, '\0'); // a file system that lost a block writes them
        const auto all =
            told("\xef\xbb\xbf" + kHello + zeros + "{\"event\":\"sample\",\"name\":\"a\",\"value\":1,\"step\":1}\r\n"
                + "{\"event\":\"sample\",\"na" + std::string("\0", 1) + "me\":\"a\",\"value\":2,\"step\":2}\n"
                + "{\"event\":\"sample\",\"name\":\"\xff\xfe\",\"value\":3,\"step\":3}\n");
        QVERIFY2(all, all ? "" : toString(all.error()).c_str());
        QVERIFY(all->dropped.empty());
        QCOMPARE(all->whole.series.size(), std::size_t(2));
        QCOMPARE(all->whole.series[0].value, (std::vector<double> { 1, 2 }));
        QCOMPARE(all->whole.series[1].name, "\xef\xbf\xbd\xef\xbf\xbd");
    }

    void aLineOverTheLimitIsDroppedUpToItsEnd()
    {
        DecoderLimits limits;
        limits.lineBytes = 1'000;
        const std::string longLine = "{\"event\":\"span\",\"name\":\"" + std::string(100'000, 'x') + "\"}\n";
        const std::string after = "{\"event\":\"sample\",\"name\":\"a\",\"value\":1,\"step\":1}\n";
        for (const std::size_t piece : { 1'000'000, 700, 1 }) {
            std::vector<std::size_t> cuts;
            const std::string lines = kHello + longLine + after;
            for (std::size_t at = piece; at < lines.size(); at += piece)
                cuts.push_back(at);
            const auto all = told(lines, cuts, limits);
            QVERIFY(all);
            QCOMPARE(all->dropped.at("lines longer than 1000 bytes"), std::int64_t(1));
            QCOMPARE(all->whole.series.size(), std::size_t(1));
        }
    }

    void whoSpeaksSomethingElseIsTurnedAway()
    {
        for (const std::string &other : { std::string("GET / HTTP/1.1\r\n\r\n"), std::string("\x16\x03\x01\x02", 4),
                 std::string("{\"hello\":1}\n"), std::string("{broken\n") }) {
            const auto all = told(other);
            QVERIFY(!all);
            QVERIFY(all.error().code == ErrorCode::BadSyntax);
            QVERIFY(all.error().right.find("hello") != std::string::npos);
        }
        const auto newer = told("{\"event\":\"hello\",\"format\":\"trainyard.stream\",\"version\":2}\n");
        QVERIFY(!newer && newer.error().what.find("version 2") != std::string::npos);
    }

    void oneConnectionSpeaksForManyRanks()
    {
        const auto all = told(R"({"event":"hello","format":"trainyard.stream","version":1}
{"event":"hello","format":"trainyard.stream","version":1,"rank":0,"host":"a"}
{"event":"hello","format":"trainyard.stream","version":1,"rank":1,"host":"b"}
{"event":"step","rank":1,"number":1,"start_ns":1,"end_ns":2}
{"event":"step","rank":0,"number":1,"start_ns":1,"end_ns":2}
{"event":"step","rank":1,"host":"c","number":1,"start_ns":1,"end_ns":2}
{"event":"sample","name":"loss","value":1,"step":1}
)");
        QVERIFY(all);
        QCOMPARE(all->whole.ranks.size(), std::size_t(3)); // two hosts claim rank 1
        QCOMPARE(all->whole.ranks[0].host, "a");
        QCOMPARE(all->whole.ranks[2].host, "c");
        QCOMPARE(all->whole.series[0].rank, -1);
    }

    void aPeerCannotMakeUsKeepMoreThanTheLimits()
    {
        DecoderLimits limits;
        limits.names = limits.ranks = limits.groups = 10;
        limits.batchEvents = 16;
        std::string lines = kHello;
        for (int i = 0; i < 100; ++i) {
            const std::string n = std::to_string(i);
            lines += "{\"event\":\"span\",\"name\":\"n" + n + "\",\"start_ns\":1}\n";
            lines += "{\"event\":\"step\",\"rank\":" + n + ",\"number\":1,\"start_ns\":1,\"end_ns\":2}\n";
            lines += "{\"event\":\"collective\",\"operation\":\"x\",\"group\":\"g" + n + "\",\"start_ns\":1}\n";
            lines += "{\"event\":\"sample\",\"name\":\"s" + n + "\",\"value\":1,\"step\":1}\n";
        }
        const auto all = told(lines, {}, limits);
        QVERIFY(all);
        QVERIFY(all->whole.names.size() <= 12);
        QCOMPARE(all->whole.series.size(), std::size_t(10));
        QVERIFY(all->whole.ranks.size() <= 10);
        QVERIFY(all->batches > 10);
        QCOMPARE(all->dropped.at("samples of more series than a connection may name"), std::int64_t(90));
    }

    void bytesLostOnTheirWayCostALineAndAreTold()
    {
        const DecoderPtr decoder = makeLinesDecoder("peer");
        Joined joined;
        const BatchOut out = [&](Batch &&batch) { joined.add(batch); };
        decoder->skip(1'000);
        QVERIFY(decoder->take(
            "on_ns\":5}\n{\"event\":\"sample\",\"name\":\"a\",\"value\":1,\"step\":1}\n", kReceived, out));
        QCOMPARE(joined.dropped.at("bytes that were lost on their way"), std::int64_t(1'000));
        QCOMPARE(joined.whole.series.size(), std::size_t(1));
    }

    void aSampleWithoutATimeHasThatOfItsArrival()
    {
        const auto all = told(kHello + "{\"event\":\"sample\",\"name\":\"queue\",\"unit\":\"1\",\"value\":4}\n");
        QVERIFY(all);
        QCOMPARE(all->whole.series[0].at[0], kReceived);
    }
};

TRAINYARD_GUILESS_TEST(TestLinesDecoder)
#include "tst_lines_decoder.moc"
