// SPDX-License-Identifier: GPL-3.0-or-later
// Servers that answer what no Prometheus does, that refuse for a while, whose clock is another: the source goes on,
// says what is wrong, and loses nothing.
#include "asked_prometheus.h"
#include "tests/core/live/net/listening.h"
#include "tests/support/test_program.h"

#include <QRegularExpression>
#include <QtTest>

#include <atomic>
#include <functional>

using namespace trainyard;
using namespace trainyard::live;

namespace {

/// An API that answers as a test says.
class Api {
public:
    using Answer = std::function<net::ServerAnswer(const std::string &target)>;
    explicit Api(Answer answer)
        : m_answer(std::move(answer))
    {
        m_at.onRequest = [this](net::ServerRequest &&request, const std::function<void(net::ServerAnswer)> &done) {
            ++asked;
            done(m_answer(request.target));
        };
    }
    [[nodiscard]] Address address() const
    {
        return { .type = SourceType::Prometheus, .host = "127.0.0.1", .port = m_at.port };
    }
    std::atomic<int> asked = 0;

private:
    Answer m_answer;
    testing::Listening m_at; // ends first
};

bool isList(const std::string &target)
{
    return target.find("/label/") != target.npos;
}

net::ServerAnswer json(const std::string &body, int status = 200)
{
    return { status, { { "content-type", "application/json" } }, body };
}

/// What stands behind "time=" of a target, seconds.
double timeOf(const std::string &target)
{
    const std::size_t at = target.find("&time=");
    return at == target.npos ? 0 : std::strtod(target.c_str() + at + 6, nullptr);
}

std::string matrix(double at)
{
    return R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"up","instance":"n0:1"},"values":[[)"
        + std::to_string(at)
        + R"(,"1"]]},{"metric":{"__name__":"DCGM_FI_DEV_GPU_TEMP","gpu":"0","Hostname":"n0"},"values":[[)"
        + std::to_string(at) + R"(,"61"]]}]}})";
}

constexpr const char *kNames = R"({"status":"success","data":["up","DCGM_FI_DEV_GPU_TEMP"]})";

} // namespace

class PrometheusFaultsTest : public QObject {
    Q_OBJECT
private slots:
    void garbageIsTriedAgainWithAReason_data()
    {
        QTest::addColumn<QByteArray>("body");
        QTest::newRow("a status that is no text") << QByteArray(R"({"status":1,"data":[]})");
        QTest::newRow("no JSON") << QByteArray("\x01\x02\xff");
        QTest::newRow("nothing") << QByteArray();
        QTest::newRow("deep") << QByteArray(100'000, '[');
        QTest::newRow("a page") << QByteArray("<html><title>Sign in</title></html>");
    }
    void garbageIsTriedAgainWithAReason()
    {
        QFETCH(QByteArray, body);
        Api api([&](const std::string &) { return json(body.toStdString()); });
        Live live(api.address());
        WAIT(live.sink.is(SourceState::BackingOff) && live.sink.told().contains("API"), live);
        const int before = api.asked;
        live.with([](Source &source) { source.retryNow(); });
        WAIT(api.asked > before, live);
    }

    void tryingAgainByHandNeverAsksTwiceAtOnce()
    {
        std::atomic<int> now = 0, most = 0;
        Api api([&](const std::string &target) {
            most = std::max<int>(most, ++now);
            --now;
            return json(isList(target) ? kNames : matrix(timeOf(target)));
        });
        Live live(api.address());
        for (int i = 0; i < 200; ++i)
            live.with([](Source &source) { source.retryNow(); });
        WAIT(live.samples() > 3, live);
        QCOMPARE(int(most), 1);
        QVERIFY(!live.sink.told().contains("another request"));
    }

    void aQueryThatFailsOnceIsAskedAgain()
    {
        std::atomic<bool> fails = true;
        Api api([&](const std::string &target) {
            return fails ? json(R"({"status":"error","errorType":"execution","error":"too many samples"})", 422)
                         : json(matrix(timeOf(target)));
        });
        SourceSettings settings;
        settings.queries = { "DCGM_FI_DEV_GPU_TEMP" };
        Live live(api.address(), settings);
        WAIT(live.sink.told().contains("too many samples"), live);
        fails = false;
        WAIT(live.samples() > 1, live);
    }

    /// Its exporter is gone for five minutes, comes back, goes again: the age of the newest sample is told while it is
    /// old and not beside a fresh one.
    void oldSamplesAreStaleUntilFreshOnesCome()
    {
        std::atomic<double> age = 302;
        Api api(
            [&](const std::string &target) { return json(isList(target) ? kNames : matrix(timeOf(target) - age)); });
        SourceSettings settings;
        settings.backfillSeconds = 600;
        Live live(api.address(), settings);
        const auto isOld = [&] {
            return live.sink.is(SourceState::Stale) && live.sink.told().contains(QRegularExpression("is 30\\d s old"));
        };
        WAIT(isOld(), live);
        age = 0;
        WAIT(live.sink.is(SourceState::Live), live);
        QVERIFY2(live.sink.now().reason.empty(), qPrintable(live.sink.told()));
        const int asked = api.asked;
        WAIT(api.asked > asked + 4, live);
        QVERIFY2(live.sink.is(SourceState::Live), qPrintable(live.sink.told())); // and stays so
    }

    void aServersClockIsWhatTimesAreOf_data()
    {
        QTest::addColumn<int>("offset");
        QTest::newRow("an hour behind") << -3600;
        QTest::newRow("an hour ahead") << 3600;
    }
    void aServersClockIsWhatTimesAreOf()
    {
        QFETCH(int, offset);
        // It knows samples up to its own now: a window that ends later is as empty as one that ends an hour before.
        Api api([&](const std::string &target) {
            const double now = double(unixNow()) * 1e-9 + offset;
            net::ServerAnswer answer = json(isList(target) ? kNames
                    : std::abs(timeOf(target) - now) < 5
                    ? matrix(timeOf(target) - 0.5)
                    : R"({"status":"success","data":{"resultType":"matrix","result":[]}})");
            const QDateTime told = QDateTime::fromSecsSinceEpoch(qint64(now), Qt::UTC);
            answer.headers["date"] = QLocale::c().toString(told, "ddd, dd MMM yyyy HH:mm:ss 'GMT'").toStdString();
            return answer;
        });
        SourceSettings settings;
        settings.backfillSeconds = 0;
        Live live(api.address(), settings);
        WAIT(live.samples() > 3, live);
        QVERIFY2(live.sink.told().contains(offset < 0 ? "s behind" : "s ahead"), qPrintable(live.sink.told()));
        QVERIFY(live.sink.is(SourceState::Live));
    }
};

TRAINYARD_GUILESS_TEST(PrometheusFaultsTest)
#include "tst_prometheus_faults.moc"
