// SPDX-License-Identifier: GPL-3.0-or-later
// The whole way, with a real Prometheus server: an exporter of sixteen GPUs, one of which falls to 60 % of its clock,
// is scraped, asked for, watched, and told to a webhook; two scrapes after it began.
#include "core/live/desk/alarm_desk.h"
#include "core/live/desk/live_snapshots.h"
#include "core/runs/telemetry/sample_names.h"
#include "tests/core/live/net/listening.h"
#include "tests/core/live/sources/prometheus_server.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <atomic>

using namespace trainyard;
using namespace trainyard::live;
using trainyard::watch::Alarm;
using trainyard::watch::RuleId;

namespace {

constexpr int kWait = 60'000; // ms
constexpr int kSick = 5;

struct Metric {
    std::string name;
    std::vector<std::pair<std::string, std::string>> labels;
    double value = 0;
    /// Both `name="value"` and `"name":"value"` are written alike.
    [[nodiscard]] std::string text(const char *before, const char *between) const
    {
        std::string all;
        for (const auto &[key, text] : labels)
            all += (all.empty() ? "" : ",") + std::string(before) + key + between + text + "\"";
        return all;
    }
};

/// Sixteen busy GPUs of two nodes, as DCGM's exporter tells them, or as AMD's does.
class Gpus {
public:
    explicit Gpus(bool isAmd)
        : m_isAmd(isAmd)
    {
    }
    [[nodiscard]] std::vector<Metric> now() const
    {
        std::vector<Metric> all;
        for (int gpu = 0; gpu < 16; ++gpu)
            m_isAmd ? addAmd(all, gpu) : addDcgm(all, gpu);
        return all;
    }
    std::atomic<bool> isSlow = false, hasXid = false;

private:
    [[nodiscard]] double clockOf(int gpu) const { return gpu == kSick && isSlow ? 1188 : 1980; }
    void addDcgm(std::vector<Metric> &all, int gpu) const
    {
        const std::vector<std::pair<std::string, std::string>> labels { { "gpu", std::to_string(gpu % 8) },
            { "UUID", "GPU-" + std::to_string(gpu) }, { "Hostname", "n" + std::to_string(gpu / 8) } };
        const bool isSick = gpu == kSick;
        all.push_back({ "DCGM_FI_DEV_SM_CLOCK", labels, clockOf(gpu) });
        all.push_back({ "DCGM_FI_DEV_GPU_UTIL", labels, 98 });
        all.push_back({ "DCGM_FI_DEV_CLOCKS_EVENT_REASONS", labels, isSick && isSlow ? 64.0 : 4.0 });
        if (!isSick || !hasXid) // it is told only of a GPU that has had one
            return;
        all.push_back({ "DCGM_FI_DEV_XID_ERRORS", labels, 79 });
        all.back().labels.emplace_back("err_code", "79");
        all.back().labels.emplace_back("err_msg", "GPU has fallen off the bus");
    }
    void addAmd(std::vector<Metric> &all, int gpu) const
    {
        const std::vector<std::pair<std::string, std::string>> labels { { "gpu_id", std::to_string(gpu % 8) },
            { "serial_number", "S" + std::to_string(gpu) }, { "hostname", "n" + std::to_string(gpu / 8) },
            { "gpu_partition_id", "0" } };
        all.push_back({ "gpu_gfx_activity", labels, 97 });
        for (int index = 0; index < 9; ++index) { // of eight dies, and of the memory
            all.push_back({ "gpu_clock", labels, index == 8 ? 900 : index == 3 ? clockOf(gpu) : 1980 });
            all.back().labels.emplace_back(
                "clock_type", index == 8 ? "GPU_CLOCK_TYPE_MEMORY" : "GPU_CLOCK_TYPE_SYSTEM");
            all.back().labels.emplace_back("clock_index", std::to_string(index));
        }
    }
    const bool m_isAmd;
};

/// Their exporter, for a server that scrapes it.
class Exporter {
public:
    explicit Exporter(const Gpus &gpus)
    {
        m_at.onRequest = [&gpus](net::ServerRequest &&, const std::function<void(net::ServerAnswer)> &answer) {
            net::ServerAnswer page;
            page.headers["content-type"] = "text/plain; version=0.0.4";
            for (const Metric &one : gpus.now())
                page.body += one.name + "{" + one.text("", "=\"") + "} " + std::to_string(one.value) + "\n";
            answer(page);
        };
    }
    [[nodiscard]] int port() const { return m_at.port; }

private:
    live::testing::Listening m_at; // ends first
};

/// What a Prometheus server answers that scrapes them whenever it is asked, for machines without one.
class MadeServer {
public:
    explicit MadeServer(const Gpus &gpus)
    {
        m_at.onRequest = [&gpus, this](
                             net::ServerRequest &&asked, const std::function<void(net::ServerAnswer)> &answer) {
            net::ServerAnswer page;
            page.headers["content-type"] = "application/json";
            const std::vector<Metric> now = gpus.now();
            page.body = asked.target.starts_with("/api/v1/label/") ? names(now) : samples(now);
            answer(page);
        };
    }
    [[nodiscard]] Address address() const
    {
        return { .type = SourceType::Prometheus, .host = "127.0.0.1", .port = m_at.port };
    }

private:
    static std::string names(const std::vector<Metric> &now)
    {
        std::string list;
        for (const Metric &one : now)
            if (list.find("\"" + one.name + "\"") == std::string::npos)
                list += (list.empty() ? "\"" : ",\"") + one.name + "\"";
        return R"({"status":"success","data":[)" + list + "]}";
    }
    std::string samples(const std::vector<Metric> &now)
    {
        char time[32];
        std::snprintf(time, sizeof time, "%.3f", double(unixNow()) * 1e-9);
        for (const Metric &one : now) {
            std::string &all = m_told[R"("__name__":")" + one.name + "\"," + one.text("\"", "\":\"")];
            all += (all.empty() ? "[" : ",[") + std::string(time) + ",\"" + std::to_string(one.value) + "\"]";
        }
        std::string list;
        for (const auto &[labels, values] : m_told)
            list +=
                (list.empty() ? "" : ",") + std::string(R"({"metric":{)") + labels + R"(},"values":[)" + values + "]}";
        return R"({"status":"success","data":{"resultType":"matrix","result":[)" + list + "]}}";
    }
    std::map<std::string, std::string> m_told; // samples of each series, all of them
    live::testing::Listening m_at; // ends first
};

/// A session that asks the server, its watchman and the desk, which tells a webhook.
struct Watch {
    explicit Watch(const Address &address)
    {
        desk::DeskOptions options;
        desk::NotifyTarget target;
        target.webhook =
            desk::webhookNamed("http://127.0.0.1:" + std::to_string(pager.port) + "/alarm", "test").value();
        options.setup.targets = { target };
        keeper = std::move(desk::AlarmDesk::open(std::move(options)).value());
        feed = makeSessionFeed([] {});
        SourceSettings settings;
        settings.intervalSeconds = 0.2;
        settings.backfillSeconds = 5;
        if (!feed->add(address, settings))
            qFatal("no source");
    }
    /// How many of the latest samples of the sick GPU's clock are low, and whether that is told.
    std::pair<int, bool> look()
    {
        const LiveState state = liveState(*feed, { .lastKnown = revision });
        if (state.run) {
            revision = state.revision;
            watchman.look(*overlayRun(nullptr, state.run, {}), state.heard, unixNow());
            low = 0;
            samples = 0;
            for (const SampleSeries &series : state.run->recording->series)
                if (series.name == samples::kSmClock && series.where.text().starts_with("n0/gpu5")) {
                    samples = std::max(samples, int(series.value.size()));
                    low = std::max(
                        low, int(std::ranges::count_if(series.value, [](double hertz) { return hertz < 1.2e9; })));
                }
        }
        keeper->look(watchman.alarms(), unixNow());
        return { low, has(RuleId::Clock) };
    }
    [[nodiscard]] bool has(RuleId rule) const
    {
        return std::ranges::any_of(watchman.alarms(), [&](const Alarm &one) { return one.rule() == rule; });
    }
    [[nodiscard]] std::string sentenceOf(RuleId rule) const
    {
        const auto &alarms = watchman.alarms();
        const auto found = std::ranges::find_if(alarms, [&](const Alarm &one) { return one.rule() == rule; });
        return found == alarms.end() ? std::string() : found->sentence;
    }

    live::testing::Listening pager;
    watch::Watchman watchman;
    std::unique_ptr<desk::AlarmDesk> keeper;
    std::unique_ptr<LiveFeed> feed;
    Moment revision = 0;
    int low = 0, samples = 0;
};

} // namespace

class TestThrottledGpu : public QObject {
    Q_OBJECT
private slots:
    void oneOfSixteenGpusIsToldAfterTwoScrapes_data()
    {
        QTest::addColumn<bool>("isAmd");
        QTest::newRow("DCGM") << false;
        QTest::newRow("AMD") << true;
    }
    void oneOfSixteenGpusIsToldAfterTwoScrapes()
    {
        QFETCH(bool, isAmd);
        Gpus gpus(isAmd);
        MadeServer server(gpus);
        falls(gpus, server.address(), isAmd);
    }

    void aRealServerTellsTheSame_data() { oneOfSixteenGpusIsToldAfterTwoScrapes_data(); }
    void aRealServerTellsTheSame()
    {
        NEEDS_SERVER;
        QFETCH(bool, isAmd);
        Gpus gpus(isAmd);
        Exporter exporter(gpus);
        PrometheusServer server(exporter.port());
        falls(gpus, server.address(), isAmd);
    }

    /// The exporter tells an XID only once there is one, under labels that name it.
    void anXidIsTold()
    {
        Gpus gpus(false);
        MadeServer server(gpus);
        Watch watch(server.address());
        QTRY_VERIFY_WITH_TIMEOUT((watch.look(), watch.samples >= 5), kWait);
        gpus.hasXid = true;
        QTRY_VERIFY_WITH_TIMEOUT((watch.look(), watch.has(RuleId::Xid)), kWait);
        const std::string said = watch.sentenceOf(RuleId::Xid);
        QVERIFY2(said.starts_with("n0/gpu5 tells XID 79: the GPU has fallen off the bus"), said.c_str());
    }

private:
    static void falls(Gpus &gpus, const Address &address, bool isAmd)
    {
        Watch watch(address);
        QTRY_VERIFY_WITH_TIMEOUT((watch.look(), watch.samples >= 5), kWait);
        QVERIFY2(watch.watchman.alarms().empty(), watch.sentenceOf(RuleId::Clock).c_str());
        gpus.isSlow = true;
        // At every look: told where two samples or more are low, and else not.
        bool isTold = false;
        for (int turn = 0; turn < kWait / 50 && !isTold; ++turn) {
            const auto [low, isSaid] = watch.look();
            QVERIFY2(isSaid == (low >= 2), qPrintable(QString::number(low)));
            isTold = isSaid;
            QTest::qWait(50);
        }
        QVERIFY(isTold);
        const std::string said = watch.sentenceOf(RuleId::Clock);
        QVERIFY2(said.starts_with("n0/gpu5 runs at 60 % of the clock of the 7 others of its node"), said.c_str());
        if (!isAmd) {
            QTRY_VERIFY_WITH_TIMEOUT((watch.look(), watch.has(RuleId::Throttled)), kWait);
            QVERIFY(watch.sentenceOf(RuleId::Throttled).find("heat (hardware slowdown)") != std::string::npos);
        }
        QVERIFY(watch.keeper->waitUntilTold(60));
        QVERIFY(watch.pager.waitFor([](const auto &told) {
            return std::ranges::any_of(told.requests, [](const auto &one) {
                return one.body.find("\"rule\":\"clock\"") != std::string::npos
                    && one.body.find("\"event\":\"raised\"") != std::string::npos;
            });
        }));
        gpus.isSlow = false;
        QTRY_VERIFY_WITH_TIMEOUT((watch.look(), !watch.has(RuleId::Clock) || isOver(watch, RuleId::Clock)), kWait);
    }
    static bool isOver(const Watch &watch, RuleId rule)
    {
        return std::ranges::all_of(
            watch.watchman.alarms(), [&](const Alarm &one) { return one.rule() != rule || one.isOver(); });
    }
};

TRAINYARD_GUILESS_TEST(TestThrottledGpu)
#include "tst_throttled_gpu.moc"
