// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/decoder.h"
#include "core/live/store.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTest>

#include <algorithm>

using namespace trainyard;
using namespace trainyard::live;

namespace {

constexpr Moment kReceived = 1'760'000'000'000'000'000;

/// JSON with ' in the place of ".
std::string quoted(std::string text)
{
    std::ranges::replace(text, '\'', '"');
    return text;
}

/// One point of a metric, as an exporter of OpenTelemetry writes it in JSON.
std::string metric(const std::string &kind, const std::string &point, int temporality)
{
    return quoted("{'resourceMetrics':[{'resource':{'attributes':[{'key':'service.instance.id','value':{'stringValue':"
                  "'run-rank2'}}]},'scopeMetrics':[{'metrics':[{'name':'megatron.training.step_duration_ms','"
        + kind + "':{'aggregationTemporality':" + std::to_string(temporality) + ",'dataPoints':[" + point
        + "]}}]}]}]}");
}

std::string at(std::int64_t second)
{
    return std::to_string(kReceived + second * 1'000'000'000);
}

std::string histogram(std::int64_t second, double sum, int count)
{
    return "{'startTimeUnixNano':'" + at(0) + "','timeUnixNano':'" + at(second) + "','count':'" + std::to_string(count)
        + "','sum':" + std::to_string(sum) + "}";
}

double valueOf(const Expected<Batch> &batch)
{
    return batch && batch->part.series.size() == 1 && batch->part.series[0].value.size() == 1
        ? batch->part.series[0].value[0]
        : -1;
}

QByteArray seed(const char *name)
{
    QFile file(QStringLiteral(TRAINYARD_SOURCE_DIR "/tests/fuzz/seeds/otlp/") + name);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

class TestOtlpBody : public QObject {
    Q_OBJECT

private slots:
    void aHistogramTellsTheMeanSinceTheMessageBefore()
    {
        const OtlpHistoryPtr history = makeOtlpHistory();
        const auto told = [&](std::int64_t second, double sum, int count) {
            return valueOf(decodeOtlp(
                metric("histogram", histogram(second, sum, count), 2), true, "peer", kReceived, {}, history.get()));
        };
        QCOMPARE(told(10, 30'000, 10), 3.0); // ten steps of 3 s
        QCOMPARE(told(20, 80'000, 20), 5.0); // ten more, of 5 s
        // without it, the mean of all since the start
        QCOMPARE(valueOf(decodeOtlp(metric("histogram", histogram(20, 80'000, 20), 2), true, "peer", kReceived)), 4.0);
    }

    void aMessageThatIsCutOffIsNoMessage()
    {
        for (const char *whole : { "", "{}", R"({"resourceMetrics":[]})" })
            QVERIFY2(decodeOtlp(whole, true, "peer", kReceived).has_value(), whole);
        for (const char *cut : { "{", R"({"resourceMetrics":[{)", R"({"resourceMetrics":[])" })
            QVERIFY2(!decodeOtlp(cut, true, "peer", kReceived).has_value(), cut);
    }

    void deltasAddUpOverMessagesAndRetriesDoNotCountTwice()
    {
        const OtlpHistoryPtr history = makeOtlpHistory();
        const auto told = [&](std::int64_t second, int delta) {
            const std::string point = "{'startTimeUnixNano':'" + at(second - 10) + "','timeUnixNano':'" + at(second)
                + "','asInt':'" + std::to_string(delta) + "'}";
            return decodeOtlp(metric("sum", point, 1), true, "peer", kReceived, {}, history.get());
        };
        QCOMPARE(valueOf(told(10, 5'000)), 5.0); // ms to s
        QCOMPARE(valueOf(told(20, 2'000)), 7.0);
        const auto again = told(20, 2'000);
        QVERIFY(again && again->part.series.empty());
        QCOMPARE(valueOf(told(30, 1'000)), 8.0);
    }

    void bothEncodingsAreRead()
    {
        const auto json = decodeOtlp(seed("metrics.json").toStdString(), true, "peer", kReceived);
        const auto binary = decodeOtlp(seed("metrics.pb").toStdString(), false, "peer", kReceived);
        QVERIFY(json && binary);
        QVERIFY(!json->part.series.empty() && !binary->part.series.empty());
        const auto trace = decodeOtlp(seed("trace.pb").toStdString(), false, "peer", kReceived);
        QVERIFY(trace && trace->part.spanCount() > 0);
    }

    void aRequestThatTellsNothingIsARightOne()
    {
        QVERIFY(decodeOtlp("{}", true, "peer", kReceived));
        QVERIFY(decodeOtlp("", false, "peer", kReceived));
        QVERIFY(decodeOtlp("{\"resourceMetrics\":[]}", true, "peer", kReceived));
    }

    void whatIsNoOtlpIsRefusedWithWhatWouldBe()
    {
        for (const auto &[body, isJson] : { std::pair { "[1,2", true }, { "hello", true }, { "hello", false } }) {
            const auto refused = decodeOtlp(body, isJson, "peer", kReceived);
            QVERIFY(!refused);
            QVERIFY(refused.error().code == ErrorCode::BadSyntax && !refused.error().right.empty());
        }
        DecoderLimits limits;
        limits.bodyBytes = 10;
        QVERIFY(!decodeOtlp(std::string(11, ' '), true, "peer", kReceived, limits));
    }

    /// 400 KB that stand once in a message stood in every one of its series: 12 KB, packed, became 4.2 GiB.
    void aLongNameThatIsToldOnceIsNotHeldBySeries()
    {
        const auto message = [](const std::string &host, int series) {
            std::string text =
                "{'resourceMetrics':[{'resource':{'attributes':[{'key':'host.name','value':{'stringValue':'" + host
                + "'}}]},'scopeMetrics':[{'metrics':[";
            for (int i = 0; i < series; ++i)
                text += std::string(i > 0 ? "," : "") + "{'name':'m" + std::to_string(i)
                    + "','gauge':{'dataPoints':[{'timeUnixNano':'" + at(i) + "','asDouble':1}]}}";
            return quoted(text + "]}]}]}");
        };
        const auto isHeldOnce = [](const Recording &part) {
            return std::ranges::all_of(part.series, [&](const SampleSeries &one) {
                return one.where.size() > 900 && one.where.isOneWith(part.series.front().where);
            });
        };
        const auto batch = decodeOtlp(message(std::string(400'000, 'x'), 2'000), true, "peer", kReceived);
        QVERIFY(batch.has_value());
        QCOMPARE(batch->part.series.size(), std::size_t(2'000));
        QVERIFY(isHeldOnce(batch->part));
        // and by a session, of two senders that tell it: an own copy of each
        Store store;
        for (int sender = 0; sender < 2; ++sender) {
            auto more = decodeOtlp(message(std::string(400'000, 'x'), 2'000 + sender), true, "peer", kReceived);
            QVERIFY(more.has_value());
            more->source = static_cast<std::uint32_t>(sender);
            store.take(*std::move(more));
        }
        const Recording whole = store.whole();
        QCOMPARE(whole.series.size(), std::size_t(2'001));
        QVERIFY(isHeldOnce(whole));
        // two long names that differ in the middle alone stay two
        std::string one(3'000, 'x'), other = one;
        other[1'500] = 'y';
        const auto first = decodeOtlp(message(one, 1), true, "peer", kReceived);
        const auto second = decodeOtlp(message(other, 1), true, "peer", kReceived);
        QVERIFY(first && second);
        QVERIFY(first->part.series.at(0).where != second->part.series.at(0).where);
        QVERIFY(first->part.series.at(0).where.size() <= 1'000);
    }

    /// Each point of its own series with a place of 900 bytes, of which all but its end is told once: beyond the bound
    /// they are dropped and counted.
    void whatAMessageHoldsIsBoundedByItsBytes()
    {
        std::string text = "{'resourceMetrics':[{'resource':{'attributes':[{'key':'host.name','value':{'stringValue':'"
            + std::string(900, 'x') + "'}}]},'scopeMetrics':[{'metrics':[{'name':'m','gauge':{'dataPoints':[";
        constexpr int kSeries = 80'000;
        for (int i = 0; i < kSeries; ++i)
            text += std::string(i > 0 ? "," : "") + "{'timeUnixNano':'" + at(1)
                + "','asInt':1,'attributes':[{'key':'k','value':{'intValue':'" + std::to_string(i) + "'}}]}";
        const std::string body = quoted(text + "]}}]}]}]}");
        const auto batch = decodeOtlp(body, true, "peer", kReceived);
        QVERIFY(batch.has_value());
        std::size_t held = 0;
        for (const SampleSeries &one : batch->part.series)
            held += sizeof one + one.name.size() + one.unit.size() + one.where.size();
        QVERIFY(held <= (std::size_t(32) << 20) + 8 * body.size());
        std::int64_t dropped = 0;
        for (const Dropped &one : batch->part.sources.at(0).dropped)
            dropped += one.count;
        QCOMPARE(std::ssize(batch->part.series) + dropped, std::int64_t(kSeries));
        QVERIFY(dropped > 0);
    }
};

TRAINYARD_GUILESS_TEST(TestOtlpBody)
#include "tst_otlp_body.moc"
