// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry watch` and `telemetry alarms`, run as people run them: sixteen GPUs of which one runs at 60 % of its
// clock.
#include "core/runs/telemetry/recording_file.h"
#include "tests/app/cli/program.h"
#include "tests/core/live/made_run.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

using namespace trainyard;
using namespace trainyard::test;
using namespace trainyard::live::tests;

namespace {

// moc loses a class that has such texts within it
constexpr const char *kLowClock =
    R"({"format": "trainyard.alarms", "version": 1, "rules": {"clock": {"threshold": 0.5}}})";
constexpr const char *kWrongRules =
    R"({"format": "trainyard.alarms", "version": 1, "rules": {"clock": {"threshold": 7}, "clok": {}},
            "notify": [{"webhook": "http://192.0.2.7/alarm"}]})";
constexpr const char *kFarWebhook =
    R"({"format": "trainyard.alarms", "version": 1, "notify": [{"webhook": "http://192.0.2.7/alarm"}]})";
constexpr const char *kCommand =
    R"({"format": "trainyard.alarms", "version": 1, "notify": [{"command": ["%1", "%2"], "cleared": false}]})";

} // namespace

class TestWatch : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        Recording run = madeRun(40, 0.25);
        for (int gpu = 0; gpu < 16; ++gpu) {
            SampleSeries clock { .name = "sm_clock",
                .unit = "Hz",
                .where = SharedText("n" + std::to_string(gpu / 8) + "/gpu" + std::to_string(gpu % 8)) };
            for (int scrape = 0; scrape < 12; ++scrape) {
                clock.at.push_back(Moment(scrape) * 1000 * 1000 * 1000);
                clock.value.push_back(gpu == 5 && scrape >= 8 ? 1053e6 : 1755e6);
            }
            clock.source = 0;
            run.series.push_back(std::move(clock));
        }
        m_recording = path("run.trainyard-recording");
        QVERIFY(writeRecording(run, m_recording.toStdString()).has_value());
    }

    void anAlarmIsALineOnTheTerminalAndInTheLog()
    {
        const Answer watched = watch({ "--log", path("log") });
        QVERIFY2(watched.exitCode == 0, qPrintable(watched.err));
        QVERIFY2(
            watched.out.find("raised 1  clock  n0/gpu5 runs at 60 % of the clock of the 7 others") != std::string::npos,
            watched.out.c_str());
        QCOMPARE(linesOf("log").size(), 1);
        QCOMPARE(linesOf("log")[0]["act"].toString(), QStringLiteral("raised"));
    }

    void thresholdsAndHoldTimesDecide()
    {
        // it has held for 3 s of samples
        for (const char *rule : { "clock.threshold=0.5", "clock.hold_s=4", "clock.on=false" }) {
            const Answer watched = watch({ "--rule", rule });
            QVERIFY2(watched.exitCode == 0 && watched.out.find("clock") == std::string::npos, watched.out.c_str());
        }
        write("rules.json", kLowClock);
        QVERIFY(watch({ "--alarms", path("rules.json") }).out.find("clock") == std::string::npos);
        const Answer above = watch({ "--alarms", path("rules.json"), "--rule", "clock.threshold=0.7" });
        QVERIFY2(above.out.find("raised 1  clock") != std::string::npos, above.out.c_str());
    }

    void whatIsWrongIsToldWithFileAndPlace()
    {
        write("rules.json", kWrongRules);
        const Answer faulty = watch({ "--alarms", path("rules.json"), "--rule", "silent.hold_s=x" });
        QCOMPARE(faulty.exitCode, 2);
        QVERIFY2(faulty.err.contains("rules.json: /rules/clock/threshold: is 7; expected 0.05 to 1 (share)")
                && faulty.err.contains("rules.json: /rules/clok: is no rule of alarms; expected clock"),
            qPrintable(faulty.err));
        write("far.json", kFarWebhook);
        const Answer far = watch({ "--alarms", path("far.json") });
        QCOMPARE(far.exitCode, 2);
        QVERIFY2(far.err.contains("--webhooks-anywhere"), qPrintable(far.err));
        const Answer rule = watch({ "--rule", "clok.threshold=1" });
        QVERIFY2(rule.exitCode == 2 && rule.err.contains("--rule clok"), qPrintable(rule.err));
    }

    void aCommandIsTold()
    {
        write("page", "#!/bin/sh\ncat >> \"$1\"\n");
        QVERIFY(QFile::setPermissions(path("page"), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        write("rules.json", QString::fromUtf8(kCommand).arg(path("page"), path("told")).toUtf8());
        const Answer watched = watch({ "--alarms", path("rules.json") });
        QVERIFY2(watched.exitCode == 0, qPrintable(watched.err));
        const auto told = linesOf("told");
        QCOMPARE(told.size(), 1);
        QCOMPARE(told[0]["format"].toString(), QStringLiteral("trainyard.alarm"));
        QCOMPARE(told[0]["rule"].toString(), QStringLiteral("clock"));
    }

    void aRecordingHasItsLogBesideIt()
    {
        const Answer watched = watch({ "--out", path("out.trainyard-recording") });
        QVERIFY2(watched.exitCode == 0, qPrintable(watched.err));
        QVERIFY(QFile::exists(path("out.trainyard-recording")));
        QCOMPARE(linesOf("out.alarms.jsonl").size(), 1);
    }

    void alarmsAreListedAcknowledgedAndMuted()
    {
        QCOMPARE(watch({ "--log", path("log") }).exitCode, 0);
        const Answer listed = run({ "telemetry", "alarms", path("log") });
        QVERIFY2(listed.out.find("n0/gpu5 runs at 60 %") != std::string::npos, listed.out.c_str());
        const Answer answered = run({ "telemetry", "alarms", path("log"), "--acknowledge", "1", "--mute", "clock",
            "--for", "8h", "--by", "ada", "--note", "fan ordered" });
        QVERIFY2(answered.exitCode == 0, qPrintable(answered.err));
        const auto told = run({ "telemetry", "alarms", path("log"), "--format", "json" });
        const QJsonObject json = QJsonDocument::fromJson(QByteArray::fromStdString(told.out)).object();
        const QJsonObject alarm = json["alarms"].toArray()[0].toObject();
        QCOMPARE(alarm["acknowledged_by"].toString(), QStringLiteral("ada"));
        QCOMPARE(alarm["note"].toString(), QStringLiteral("fan ordered"));
        QVERIFY(alarm["muted"].toBool() && alarm["holds"].toBool());
        QCOMPARE(json["muted"].toArray()[0].toObject()["rule"].toString(), QStringLiteral("clock"));
        // a watch that begins again goes on with it, and raises it no second time
        QVERIFY(watch({ "--log", path("log") }).out.find("raised") == std::string::npos);
        QCOMPARE(linesOf("log").size(), 3);
    }

    void answersToNothingAreRefused()
    {
        QCOMPARE(watch({ "--log", path("log") }).exitCode, 0);
        for (const QStringList &wrong :
            { QStringList { "--acknowledge", "9" }, QStringList { "--acknowledge", "clock" },
                QStringList { "--mute", "clok" }, QStringList { "--mute", "1", "--for", "never" } }) {
            const Answer refused = run(QStringList { "telemetry", "alarms", path("log") } + wrong);
            QVERIFY2(refused.exitCode == 2, qPrintable(wrong.join(u' ')));
        }
        QCOMPARE(linesOf("log").size(), 1); // nothing was written
        QCOMPARE(run({ "telemetry", "alarms", path("none") }).exitCode, 2);
    }

private:
    [[nodiscard]] QString path(const char *name) const { return m_folder->filePath(QLatin1String(name)); }
    [[nodiscard]] Answer watch(const QStringList &more) const
    {
        return run(QStringList { "telemetry", "watch", "replay:" + m_recording, "--speed", "0", "--rule",
                       "silent.on=false" } // of a machine that is busy
            + more);
    }
    void write(const char *name, const QByteArray &text) const
    {
        QFile file(path(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }
    [[nodiscard]] QList<QJsonObject> linesOf(const char *name) const
    {
        QFile file(path(name));
        QList<QJsonObject> lines;
        if (file.open(QIODevice::ReadOnly))
            for (const QByteArray &line : file.readAll().split('\n'))
                if (!line.isEmpty())
                    lines << QJsonDocument::fromJson(line).object();
        return lines;
    }
    std::unique_ptr<QTemporaryDir> m_folder;
    QString m_recording;
};

TRAINYARD_GUILESS_TEST(TestWatch)
#include "tst_watch.moc"
