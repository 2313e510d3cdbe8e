// SPDX-License-Identifier: GPL-3.0-or-later
// Sixteen GPUs as an exporter tells of them every 15 s, one of which is throttled, hot or tells errors: what is said,
// after how many samples, and when it is taken back. Healthy ones say nothing.
#include "tests/core/live/alarms/watched_run.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <functional>

using namespace trainyard;
using namespace trainyard::test;
using namespace trainyard::watch;

namespace {

constexpr int kGpus = 16, kSick = 5;
constexpr Moment kZero = 1'750'000'000'000'000'000, kScrape = Moment(15) * 1'000'000'000;

using Told = std::function<double(int gpu, int scrape)>;

SampleSeries seriesOf(const char *name, int gpu, int first, int behind, const Told &told)
{
    SampleSeries series { .name = name,
        .where = SharedText("n" + std::to_string(gpu / 8) + "/gpu" + std::to_string(gpu % 8)) };
    for (int scrape = first; scrape < behind; ++scrape) {
        series.at.push_back(scrape * kScrape);
        series.value.push_back(told(gpu, scrape));
    }
    return series;
}

/// The alarms after each scrape, as a live session looks: every time the newest 30 samples.
class Session {
public:
    explicit Session(std::vector<std::pair<const char *, Told>> metrics)
        : m_metrics(std::move(metrics))
    {
    }
    const std::vector<Alarm> &after(int scrapes)
    {
        while (m_scrapes < scrapes) {
            ++m_scrapes;
            Recording recording;
            recording.zero = kZero;
            for (const auto &[name, told] : m_metrics)
                for (int gpu = 0; gpu < kGpus; ++gpu)
                    recording.series.push_back(seriesOf(name, gpu, std::max(0, m_scrapes - 30), m_scrapes, told));
            m_watchman.look(*overlayRun(nullptr, makeRun(std::move(recording)), {}), {}, kZero + m_scrapes * kScrape);
        }
        return m_watchman.alarms();
    }

private:
    std::vector<std::pair<const char *, Told>> m_metrics;
    Watchman m_watchman;
    int m_scrapes = 0;
};

double busy(int, int)
{
    return 0.98;
}

} // namespace

class TestHardwareWatch : public QObject {
    Q_OBJECT

private slots:
    /// Within two scrapes, and taken back two scrapes after.
    void aGpuAtSixtyPercentOfItsClockIsNamed()
    {
        Session session({ { "gpu_utilization", busy }, { "sm_clock", [](int gpu, int scrape) {
                                                            return gpu == kSick && scrape >= 10 && scrape < 20
                                                                ? 1053e6
                                                                : 1755e6 + 1e6 * (gpu % 3);
                                                        } } });
        QVERIFY2(session.after(11).empty(), textOf(session.after(11)).constData());
        QVERIFY(session.after(12).size() == 1);
        const Alarm alarm = session.after(12)[0];
        QCOMPARE(alarm.kind, AlarmKind::Hardware);
        QVERIFY2(alarm.sentence.find("n0/gpu5 runs at 60 % of the clock of the 7 others of its node (1,053 MHz") == 0,
            alarm.sentence.c_str());
        QCOMPARE(alarm.since, kZero + 10 * kScrape);
        QVERIFY(!session.after(20)[0].isOver());
        QVERIFY(session.after(22)[0].isOver());
    }

    /// Two scrapes between two looks: what a counter grew by in the first of them is told.
    void growthBetweenLooksIsNotMissed()
    {
        Watchman watchman;
        for (int scrapes = 2; scrapes <= 8; scrapes += 2) {
            Recording recording;
            recording.zero = kZero;
            recording.series = { seriesOf("prometheus.DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", kSick, 0, scrapes,
                [](int, int scrape) { return scrape >= 4 ? 1.0 : 0.0; }) };
            watchman.look(*overlayRun(nullptr, makeRun(std::move(recording)), {}), {}, 0);
            QCOMPARE(watchman.alarms().size(), std::size_t(scrapes >= 6 ? 1 : 0));
        }
        QVERIFY(watchman.alarms()[0].isOver());
    }

    /// Nodes of two kinds of GPUs, each at its own clock.
    void otherGpusHaveOtherClocks()
    {
        Session session(
            { { "gpu_utilization", busy }, { "sm_clock", [](int gpu, int) { return gpu < 8 ? 1965e6 : 1410e6; } } });
        QVERIFY2(session.after(10).empty(), textOf(session.after(10)).constData());
    }

    void anIdleGpuMayRunSlowly()
    {
        Session session({ { "gpu_utilization", [](int gpu, int) { return gpu == kSick ? 0.0 : 0.98; } },
            { "sm_clock", [](int gpu, int) { return gpu == kSick ? 345e6 : 1755e6; } } });
        QVERIFY2(session.after(30).empty(), textOf(session.after(30)).constData());
    }

    void healthyOnesSayNothing()
    {
        std::mt19937_64 random(7);
        std::normal_distribution<double> normal;
        Session session(
            { { "gpu_utilization", busy }, { "sm_clock", [&](int, int) { return 1700e6 + 25e6 * normal(random); } },
                { "temperature", [&](int, int) { return 70 + 3 * normal(random); } },
                { "prometheus.DCGM_FI_DEV_XID_ERRORS", [](int, int) { return 0.0; } },
                { "prometheus.DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", [](int, int) { return 4.0; } }, // the power cap
                { "prometheus.DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", [](int, int) { return 2.0; } } });
        QVERIFY2(session.after(200).empty(), textOf(session.after(200)).constData());
    }

    /// The exporter of some clusters tells an XID only of a GPU that has had one: a series that begins later.
    void anXidThatBeginsAsASeriesIsTold()
    {
        Watchman watchman;
        for (int scrapes = 1; scrapes <= 8; ++scrapes) {
            Recording recording;
            recording.zero = kZero;
            for (int gpu = 0; gpu < kGpus; ++gpu)
                recording.series.push_back(seriesOf("temperature", gpu, 0, scrapes, [](int, int) { return 60.0; }));
            if (scrapes > 5)
                recording.series.push_back(
                    seriesOf("prometheus.DCGM_FI_DEV_XID_ERRORS", kSick, 5, scrapes, [](int, int) { return 79.0; }));
            watchman.look(*overlayRun(nullptr, makeRun(std::move(recording)), {}), {}, 0);
            QCOMPARE(watchman.alarms().size(), std::size_t(scrapes > 5 ? 1 : 0));
        }
        QCOMPARE(watchman.alarms()[0].since, kZero + 5 * kScrape);
    }

    /// One that stands since before anybody looked is known to whoever looks.
    void anXidOfLongAgoIsNotTold()
    {
        Session session({ { "temperature", [](int, int) { return 60.0; } },
            { "prometheus.DCGM_FI_DEV_XID_ERRORS", [](int gpu, int) { return gpu == kSick ? 13.0 : 0.0; } } });
        QVERIFY2(session.after(20).empty(), textOf(session.after(20)).constData());
    }

    /// Several scrapes between two looks: an XID that came in the first of them, and another behind it.
    void eachXidIsAnAlarmAndNoneIsMissedBetweenLooks()
    {
        Watchman watchman;
        const auto lookAt = [&](int scrapes) {
            Recording recording;
            recording.zero = kZero;
            recording.series = { seriesOf("prometheus.DCGM_FI_DEV_XID_ERRORS", kSick, 0, scrapes, [](int, int scrape) {
                return scrape >= 8 ? 48.0 : scrape >= 4 ? 74.0 : 0.0;
            }) };
            watchman.look(*overlayRun(nullptr, makeRun(std::move(recording)), {}), {}, 0);
        };
        lookAt(4);
        QVERIFY(watchman.alarms().empty());
        lookAt(7);
        QCOMPARE(watchman.alarms().size(), std::size_t(1));
        QVERIFY(watchman.alarms()[0].sentence.find("XID 74: an error of NVLink") != std::string::npos);
        lookAt(12);
        QCOMPARE(watchman.alarms().size(), std::size_t(2));
        QVERIFY(watchman.alarms()[0].sentence.find("XID 48") != std::string::npos && watchman.alarms()[1].isOver());
    }

    void anXidThatIsIgnoredIsNotTold()
    {
        AlarmRules rules;
        QVERIFY(rules.set("xid.ignore=13,31").has_value());
        Watchman watchman({ .rules = rules });
        for (int scrapes = 1; scrapes <= 6; ++scrapes) {
            Recording recording;
            recording.zero = kZero;
            for (const int gpu : { 1, 2 })
                recording.series.push_back(
                    seriesOf("prometheus.DCGM_FI_DEV_XID_ERRORS", gpu, 0, scrapes, [](int which, int scrape) {
                        return scrape < 3 ? 0.0 : which == 1 ? 31.0 : 94.0;
                    }));
            watchman.look(*overlayRun(nullptr, makeRun(std::move(recording)), {}), {}, 0);
        }
        QCOMPARE(watchman.alarms().size(), std::size_t(1));
        QVERIFY(watchman.alarms()[0].sentence.starts_with("n0/gpu2 tells XID 94"));
    }

    /// Eight dies of a GPU, each with its clock: one of them at 60 % slows its GPU down, and is told once.
    void aSlowDieIsItsGpus()
    {
        Watchman watchman;
        const auto lookAt = [&](int scrapes, int from, int behind) {
            Recording recording;
            recording.zero = kZero;
            for (int gpu = 0; gpu < 8; ++gpu)
                for (int die = 0; die < 8; ++die) {
                    SampleSeries clock = seriesOf("sm_clock", gpu, 0, scrapes, [&](int own, int scrape) {
                        return 2100e6 * (own == kSick && die == 3 && scrape >= from && scrape < behind ? 0.6 : 1);
                    });
                    clock.where = SharedText(clock.where.text() + "{clock_index=" + std::to_string(die) + "}");
                    recording.series.push_back(std::move(clock));
                }
            watchman.look(*overlayRun(nullptr, makeRun(std::move(recording)), {}), {}, 0);
        };
        for (int scrapes = 1; scrapes <= 8; ++scrapes)
            lookAt(scrapes, 4, 10);
        QCOMPARE(watchman.alarms().size(), std::size_t(1));
        QVERIFY2(watchman.alarms()[0].sentence.starts_with("n0/gpu5 runs at 60 % of the clock of the 7 others"),
            watchman.alarms()[0].sentence.c_str());
        QVERIFY(!watchman.alarms()[0].isOver());
        for (int scrapes = 9; scrapes <= 14; ++scrapes)
            lookAt(scrapes, 4, 10);
        QVERIFY(watchman.alarms().size() == 1 && watchman.alarms()[0].isOver());
    }

    void whatEachMetricTellsIsSaid_data()
    {
        QTest::addColumn<QByteArray>("metric");
        QTest::addColumn<double>("well");
        QTest::addColumn<double>("sick");
        QTest::addColumn<QString>("said");
        QTest::newRow("heat") << QByteArray("temperature") << 71.0 << 96.0 << "n0/gpu5 is at 96 °C, above 90";
        QTest::newRow("heat of memory") << QByteArray("prometheus.DCGM_FI_DEV_MEMORY_TEMP") << 80.0 << 110.0
                                        << "n0/gpu5 has memory of 110 °C";
        QTest::newRow("throttled") << QByteArray("prometheus.DCGM_FI_DEV_CLOCK_THROTTLE_REASONS") << 4.0 << double(0x44)
                                   << "n0/gpu5 is slowed down by heat (hardware slowdown)";
        QTest::newRow("XID") << QByteArray("prometheus.DCGM_FI_DEV_XID_ERRORS") << 0.0 << 79.0
                             << "n0/gpu5 tells XID 79: the GPU has fallen off the bus";
        QTest::newRow("ECC") << QByteArray("prometheus.DCGM_FI_DEV_ECC_DBE_VOL_TOTAL") << 1.0 << 3.0
                             << "n0/gpu5 tells 2 more uncorrectable errors of memory, 3 in all";
        QTest::newRow("AMD: heat") << QByteArray("prometheus.gpu_violation_socket_thermal_residency_percentage") << 0.0
                                   << 0.31 << "n0/gpu5 is slowed down by heat of the socket in 31 % of the time";
        QTest::newRow("AMD: ECC") << QByteArray("prometheus.gpu_ecc_uncorrect_total") << 0.0 << 1.0
                                  << "n0/gpu5 tells 1 more uncorrectable errors of memory, 1 in all";
        QTest::newRow("AMD: xGMI") << QByteArray("prometheus.gpu_ecc_uncorrect_xgmi_wafl") << 3.0 << 8.0
                                   << "n0/gpu5 tells 5 more uncorrectable errors of xGMI, 8 in all";
        QTest::newRow("AMD: health") << QByteArray("prometheus.gpu_health") << 1.0 << 0.0
                                     << "n0/gpu5 is unhealthy by its exporter";
        QTest::newRow("NVLink 5") << QByteArray("prometheus.DCGM_FI_DEV_NVLINK_COUNT_RX_ERRORS") << 1.0 << 4.0
                                  << "n0/gpu5 tells 3 more errors of NVLink, 4 in all";
        QTest::newRow("NVSwitch") << QByteArray("prometheus.DCGM_FI_DEV_NVSWITCH_FATAL_ERRORS") << 0.0 << 20034.0
                                  << "n0/gpu5 tells SXID 20034";
        QTest::newRow("NVLink") << QByteArray("prometheus.DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL") << 0.0 << 40.0
                                << "n0/gpu5 tells 40 more errors of NVLink";
    }
    void whatEachMetricTellsIsSaid()
    {
        QFETCH(QByteArray, metric);
        QFETCH(double, well);
        QFETCH(double, sick);
        QFETCH(QString, said);
        Session session(
            { { metric.constData(), [&](int gpu, int scrape) { return gpu == kSick && scrape >= 4 ? sick : well; } } });
        QVERIFY(session.after(4).empty());
        const auto &alarms = session.after(6);
        QVERIFY2(
            !alarms.empty() && QString::fromStdString(alarms[0].sentence).startsWith(said), textOf(alarms).constData());
    }
};

TRAINYARD_GUILESS_TEST(TestHardwareWatch)
#include "tst_hardware_watch.moc"
