// SPDX-License-Identifier: GPL-3.0-or-later
// OTLP messages as JSON and as protobuf: own messages of Megatron-LM's shape, and the captured examples.
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cstring>

using namespace trainyard;
using namespace trainyard::trial;

namespace {

/// JSON written with single quotes.
std::string json(std::string text)
{
    std::ranges::replace(text, '\'', '"');
    return text;
}

std::string resource(const std::string &content)
{
    return json("{'resource':{'attributes':[{'key':'service.instance.id','value':{'stringValue':'run7-rank3'}},")
        + json("{'key':'dl.tensor_parallel.size','value':{'intValue':'8'}}]},") + content + "}";
}

std::string metric(const std::string &name, const std::string &data)
{
    return json("{'resourceMetrics':[")
        + resource(json("'scopeMetrics':[{'metrics':[{'name':'") + name + json("','unit':'x',") + data + "}]}]")
        + "]}\n";
}

std::string point(const std::string &start, const std::string &time, const std::string &rest)
{
    return json("{'startTimeUnixNano':'") + start + json("','timeUnixNano':'") + time + json("',") + rest + "}";
}

/// A length-delimited field.
std::string field(int number, const std::string &bytes)
{
    return std::string(1, static_cast<char>(number << 3 | 2)) + std::string(1, static_cast<char>(bytes.size())) + bytes;
}

std::string fixed(int number, std::uint64_t value)
{
    std::string bytes(1, static_cast<char>(number << 3 | 1));
    bytes.resize(9);
    std::memcpy(bytes.data() + 1, &value, 8);
    return bytes;
}

} // namespace

class TestOtlp : public QObject {
    Q_OBJECT

private slots:
    void stepTimesAreMeansOfCumulativeHistogramsPointByPoint()
    {
        const std::string data = json("'histogram':{'aggregationTemporality':2,'dataPoints':[")
            + point("1000", "2000", json("'count':'2','sum':2000")) + ","
            + point("1000", "3000", json("'count':'3','sum':3500")) + ","
            + point("1000", "3000", json("'count':'3','sum':3500")) + ","
            + point("9000", "9500", json("'count':'1','sum':800")) + "]}";
        const Recording r = read("otlp.json", metric("megatron.training.step_duration_ms", data));
        QCOMPARE(r.series.size(), std::size_t(1));
        QCOMPARE(r.series[0].name, std::string("step_time"));
        QCOMPARE(r.series[0].rank, 3);
        QCOMPARE(r.series[0].value, (std::vector<double> { 1.0, 1.5, 0.8 })); // after the restart it begins anew
        QCOMPARE(droppedOf(r, "points sent again"), std::int64_t(1));
        QCOMPARE(r.arguments.at("dl.tensor_parallel.size"), std::string("8"));
    }

    void deltasAreSummedAndCumulativeSumsGoOnOverARestart()
    {
        const std::string delta = json("'sum':{'aggregationTemporality':1,'dataPoints':[")
            + point("1", "30", json("'asInt':'4'")) + "," + point("1", "20", json("'asInt':'3'")) + ","
            + point("1", "40", json("'flags':1")) + "]}";
        const Recording sums = read("otlp.json", metric("a", delta));
        QCOMPARE(sums.series.at(0).value.at(0), 3.0);
        QCOMPARE(sums.series[0].value.at(1), 7.0);
        QVERIFY(std::isnan(sums.series[0].value.at(2)));
        const std::string total = json("'sum':{'aggregationTemporality':2,'dataPoints':[")
            + point("1", "20", json("'asDouble':5")) + "," + point("25", "30", json("'asDouble':2")) + "]}";
        QCOMPARE(read("otlp.json", metric("a", total)).series.at(0).value, (std::vector<double> { 5, 7 }));
    }

    void spansOfAStepStandInTheirRank()
    {
        const auto span = [](const char *name, const char *start, const char *end) {
            return json("{'name':'") + name + json("','startTimeUnixNano':'") + start + json("','endTimeUnixNano':'")
                + end + json("','attributes':[{'key':'iteration','value':{'intValue':'12'}}]}");
        };
        const Recording r = read("spans.jsonl",
            json("{'resourceSpans':[")
                + resource(json("'scopeSpans':[{'scope':{'name':'megatron'},'spans':[")
                    + span("p2p.send_forward", "300", "400") + "," + span("megatron.train_step", "100", "900") + ","
                    + span("microbatch.forward", "100", "300") + "]}]")
                + "]}\n");
        QCOMPARE(r.ranks.size(), std::size_t(1));
        QCOMPARE(r.ranks[0].rank, 3);
        const RecordedSpans &spans = r.ranks[0].streams.at(0).spans;
        QCOMPARE(spans.size(), std::size_t(3));
        QCOMPARE(r.names[spans.name[0]], std::string("megatron.train_step")); // of equal starts the longer first
        QVERIFY(spans.work[1] == RecordedWork::Compute && spans.work[2] == RecordedWork::Communication);
        QVERIFY(r.ranks[0].steps.at(0).number == 12 && r.ranks[0].steps[0].end == 800 && r.zero == 100);
    }

    void tracesAndLogsAsProtobufAreToldFromMetrics()
    {
        const std::string trace = field(1, std::string(16, 'T')) + field(2, std::string(8, 'S')) + field(5, "step")
            + fixed(7, 1000) + fixed(8, 5000);
        const std::string attributes = field(1, field(1, field(1, "service.name") + field(2, field(1, "job"))));
        Recording r = read("trace.pb", field(1, attributes + field(2, field(2, trace))));
        QCOMPARE(r.sources[0].kind, SourceKind::OtlpProtobuf);
        QCOMPARE(r.ranks.at(0).streams.at(0).spans.duration.at(0), std::int64_t(4000));
        r = read("log.pb", field(1, attributes + field(2, field(2, fixed(1, 7000) + field(5, field(1, "hello"))))));
        QVERIFY(r.names.at(0) == "hello" && r.zero == 7000);
    }

    void capturedMessagesAreTheSameInBothEncodings()
    {
        {
            const Recording plain = readOwn("otlp/metrics.json"), packed = readOwn("otlp/metrics.pb");
            QCOMPARE(plain.series.size(), std::size_t(4));
            QVERIFY(plain.series == packed.series && plain.zero == packed.zero);
            QCOMPARE(plain.zero, std::int64_t(1770000000250000000));
            QCOMPARE(plain.series[0].value.at(0), 7.0);
            QCOMPARE(plain.series[1].value.at(0), 12.5);
            QCOMPARE(plain.series[2].value.at(0), 1.5); // the mean of 4 values that add up to 6
            QCOMPARE(plain.series[3].value.at(0), 4.5); // of 4 that add up to 18
            const Recording trace = readOwn("otlp/trace.json");
            QCOMPARE(trace.zero, std::int64_t(1770000000000000000));
            QCOMPARE(trace.ranks.at(0).streams.at(0).spans.duration.at(0), std::int64_t(2500000000));
            const Recording log = readOwn("otlp/logs.json");
            QVERIFY(log.zero == 1770000000250000000 && log.names.at(0) == "A line of the lab");
        }
        if (!isThere("otlp/metrics.pb"))
            return;
        const Recording plain = readShared("otlp/metrics.json"), packed = readShared("otlp/metrics.pb");
        QCOMPARE(plain.series.size(), std::size_t(4));
        QVERIFY(plain.series == packed.series && plain.zero == packed.zero);
        QCOMPARE(plain.zero, std::int64_t(1544712660300000000));
        QCOMPARE(plain.series[0].value.at(0), 5.0);
        QCOMPARE(plain.series[1].value.at(0), 10.0);
        QCOMPARE(plain.series[2].value.at(0), 1.0); // the mean of 2 values that add up to 2
        QVERIFY(isNear(plain.series[3].value.at(0), 10.0 / 3));
        const Recording trace = readShared("otlp/trace.json");
        QCOMPARE(trace.zero, std::int64_t(1544712660000000000));
        QCOMPARE(trace.ranks.at(0).streams.at(0).spans.duration.at(0), std::int64_t(1000000000));
        const Recording log = readShared("otlp/logs.json");
        QVERIFY(log.zero == 1544712660300000000 && log.names.at(0) == "Example log record");
    }
};

TRAINYARD_APPLESS_TEST(TestOtlp)
#include "tst_otlp.moc"
