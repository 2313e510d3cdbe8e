// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry record`, `replay` and `serve`, run as people run them: on loopback, on ports that the kernel chose.
#include "core/runs/telemetry/recording_file.h"
#include "tests/support/test_program.h"

#include "tests/app/cli/program.h"
#include "tests/app/cli/terminal.h"
#include "tests/core/live/made_run.h"
#include "tests/core/live/told_events.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <memory>

using namespace trainyard;
using namespace trainyard::test;
using namespace trainyard::live::tests;

namespace {

constexpr int kGenerous = 100'000; // ms that a condition may take

/// A command that goes on until it is told to end.
class Running {
public:
    explicit Running(const QStringList &arguments, const Terminal *terminal = nullptr)
    {
        if (terminal)
            terminal->serve(m_process);
        m_process.start(QStringLiteral(TRAINYARD_CLI), arguments);
    }
    ~Running()
    {
        if (m_process.state() != QProcess::NotRunning) {
            m_process.kill();
            m_process.waitForFinished();
        }
    }
    /// What follows "… at " on its first line: a host and a port.
    QString place()
    {
        while (!m_process.canReadLine() && m_process.waitForReadyRead(kGenerous)) { }
        const QString line = QString::fromUtf8(m_process.readLine()).trimmed();
        return line.mid(line.indexOf(QStringLiteral(" at ")) + 4);
    }
    void interrupt() { ::kill(static_cast<pid_t>(m_process.processId()), SIGINT); }
    void end(int number = SIGTERM) { ::kill(static_cast<pid_t>(m_process.processId()), number); }
    Answer ended() { return answerOf(m_process); }
    [[nodiscard]] const QProcess &process() const { return m_process; }

private:
    QProcess m_process;
};

Moment firstOf(const Recording &recording)
{
    return recording.zero + recording.ranks.at(0).steps.at(0).start;
}

} // namespace

class TestLive : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { ::signal(SIGPIPE, SIG_IGN); }

    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_run = madeRun(40, 0.25);
        m_recording = path("run.trainyard-recording");
        m_out = path("out.trainyard-recording");
        QVERIFY(writeRecording(m_run, m_recording.toStdString()).has_value());
    }

    void whatIsServedIsRecorded()
    {
        Running server({ "telemetry", "serve", m_recording, "--at", "0", "--speed", "0", "--once" });
        const QString place = server.place();
        QVERIFY2(place.startsWith("127.0.0.1:"), qPrintable(place));
        const Answer recorded = run({ "telemetry", "record", "tcp://" + place, "--out", m_out });
        QVERIFY2(recorded.exitCode == 0, qPrintable(recorded.err));
        QVERIFY2(recorded.err.contains("40 steps, 4 ranks"), qPrintable(recorded.err));
        QCOMPARE(server.ended().exitCode, 0);
        compareWithRun();
    }

    void aPlaceThatCannotBeWrittenToIsToldBeforeAnythingIsHeard()
    {
        const Answer answer =
            run({ "telemetry", "record", "listen:0", "--out", path("nowhere/out.trainyard-recording") });
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(answer.err.contains("cannot be written there"), qPrintable(answer.err));
    }

    void aWebSocketAndATokenDoTheSame()
    {
        write("token", "a secret of this test\n");
        write("other", "another one\n");
        Running server({ "telemetry", "serve", m_recording, "--at", "127.0.0.1:0", "--speed", "0", "--once",
            "--token-file", path("token") });
        const QString place = server.place();
        const Answer refused = run({ "telemetry", "record", "ws://" + place + "/", "--out", m_out, "--token-file",
            path("other"), "--seconds", "1" });
        QVERIFY2(refused.err.contains("token"), qPrintable(refused.err));
        const Answer recorded =
            run({ "telemetry", "record", "ws://" + place + "/", "--out", m_out, "--token-file", path("token") });
        QVERIFY2(recorded.exitCode == 0, qPrintable(recorded.err));
        QCOMPARE(server.ended().exitCode, 0);
        compareWithRun();
    }

    void aListenerTellsItsPortAndRecordsWhatIsReplayed()
    {
        Running recorder({ "telemetry", "record", "listen:0", "--out", m_out, "--steps", "40" });
        const QString place = recorder.place();
        QVERIFY2(place.startsWith("127.0.0.1:") && !place.endsWith(":0"), qPrintable(place));
        const Answer replayed = run({ "telemetry", "replay", m_recording, "--to", "tcp://" + place, "--speed", "0" });
        QVERIFY2(replayed.exitCode == 0, qPrintable(replayed.err));
        const Answer recorded = recorder.ended();
        QVERIFY2(recorded.exitCode == 0, qPrintable(recorded.err));
        const auto recording = written();
        QCOMPARE(recording.ranks.size(), std::size_t(4));
    }

    void aWrongTokenIsToldToWhoReplays()
    {
        write("token", "a secret of this test");
        Running recorder({ "telemetry", "record", "listen:0", "--out", m_out, "--token-file", path("token") });
        const QString place = recorder.place();
        const Answer replayed = run({ "telemetry", "replay", m_recording, "--to", "tcp://" + place, "--speed", "0" });
        QCOMPARE(replayed.exitCode, 2);
        QVERIFY2(replayed.err.contains("--token-file"), qPrintable(replayed.err));
        recorder.interrupt();
        QCOMPARE(recorder.ended().exitCode, 2); // it heard nothing
    }

    void aReplayIsASourceToo()
    {
        const Answer recorded = run({ "telemetry", "record", "replay:" + m_recording, "--speed", "0", "--out", m_out });
        QVERIFY2(recorded.exitCode == 0, qPrintable(recorded.err));
        compareWithRun();
    }

    void aLogThatGrowsIsRecordedUntilCtrlC()
    {
        const QString log = path("train.log");
        write("train.log", line(1) + line(2) + line(3));
        Terminal terminal;
        Running recorder({ "telemetry", "record", "tail:" + log, "listen:0", "--out", m_out }, &terminal);
        QVERIFY(!recorder.place().isEmpty()); // it has begun
        for (int step = 4; step <= 5; ++step)
            append(log, line(step));
        append(log, line(6) + line(7).left(60)); // torn
        QVERIFY2(terminal.waitFor(recorder.process(), QRegularExpression("; 6 steps")), qPrintable(terminal.text()));
        recorder.interrupt();
        QVERIFY2(recorder.ended().exitCode == 0, qPrintable(terminal.text())); // it has no other end
        const Recording recording = written();
        const auto loss = std::ranges::find(recording.series, "loss", &SampleSeries::name);
        QVERIFY(loss != recording.series.end());
        QCOMPARE(loss->at, (std::vector<Moment> { 1, 2, 3, 4, 5, 6 }));
    }

    void nothingOfACommandOutlivesIt()
    {
        const QString pid = path("pid");
        Running recorder({ "telemetry", "record",
            "command:trap '' TERM; echo $$ > " + pid + "; while :; do sleep 0.1; done", "listen:0", "--out", m_out });
        QVERIFY(!recorder.place().isEmpty());
        QTRY_VERIFY_WITH_TIMEOUT(QFile(pid).size() > 1, kGenerous);
        QFile file(pid);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const auto process = static_cast<pid_t>(file.readAll().trimmed().toInt());
        QVERIFY(process > 1 && ::kill(process, 0) == 0);
        recorder.interrupt();
        static_cast<void>(recorder.ended());
        const auto isGone = [process] { // those whose parent is gone may wait to be reaped
            QFile state(QStringLiteral("/proc/%1/stat").arg(process));
            return !state.open(QIODevice::ReadOnly) || state.readAll().contains(") Z ");
        };
        QTRY_VERIFY_WITH_TIMEOUT(isGone(), kGenerous);
    }

    void ctrlCBeforeItsEndLeavesAValidRecording()
    {
        Running server({ "telemetry", "serve", m_recording, "--at", "0", "--speed", "4" });
        Terminal terminal;
        Running recorder(
            { "telemetry", "record", "tcp://" + server.place(), "listen:0", "--out", m_out, "--seconds", "600" },
            &terminal);
        QVERIFY(!recorder.place().isEmpty());
        QVERIFY2(terminal.waitFor(recorder.process(), QRegularExpression("; [1-9]\\d* steps")),
            qPrintable(terminal.text())); // of 40, in 2.5 s
        recorder.interrupt();
        QCOMPARE(recorder.ended().exitCode, 130); // it was asked for 600 s
        static_cast<void>(written());
        QCOMPARE(QDir(m_folder->path()).entryList(QDir::Files | QDir::Hidden).size(), 2); // nothing half written
        server.interrupt();
        QCOMPARE(server.ended().exitCode, 0);
    }

    void sigtermEndsItWithARecordingAsCtrlCDoes_data()
    {
        QTest::addColumn<int>("number");
        QTest::newRow("terminated") << SIGTERM;
        QTest::newRow("the terminal was closed") << SIGHUP;
    }

    void sigtermEndsItWithARecordingAsCtrlCDoes()
    {
        QFETCH(int, number);
        Running recorder({ "telemetry", "record", "listen:0", "--out", m_out });
        const QString place = recorder.place();
        QCOMPARE(run({ "telemetry", "replay", m_recording, "--to", "tcp://" + place, "--speed", "0" }).exitCode, 0);
        recorder.end(number);
        QCOMPARE(recorder.ended().exitCode, 0);
        QCOMPARE(written().ranks.size(), std::size_t(4));
    }

    /// What --out held stays, and a script can tell.
    void whereNobodyToldAnythingNothingIsWritten()
    {
        write("out.trainyard-recording", "an older one");
        const Answer recorded = run(
            { "telemetry", "record", "tail:" + path("nowhere.log"), "listen:0", "--seconds", "0.3", "--out", m_out });
        QCOMPARE(recorded.exitCode, 2);
        QVERIFY(recorded.out.starts_with("listening at 127.0.0.1:"));
        QVERIFY2(recorded.err.contains("nothing was told, so nothing is recorded"), qPrintable(recorded.err));
        QVERIFY2(recorded.err.contains("nowhere.log is not there yet"), qPrintable(recorded.err));
        QFile file(m_out);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), QByteArray("an older one"));
    }

    void badUsageNamesWhatWouldBeRight()
    {
        const auto wrong = [&](const QStringList &arguments, const char *right) {
            const Answer answer = run(arguments);
            QVERIFY2(answer.exitCode == 2, qPrintable(arguments.join(' ')));
            QVERIFY2(answer.err.contains(QString::fromUtf8(right)), qPrintable(answer.err));
        };
        wrong({ "telemetry", "serve", m_recording, "--at", "9090x" }, "--at 9090x");
        wrong({ "telemetry", "record", "4318", "--out", m_out }, "listen:4318");
        wrong({ "telemetry", "record", "http://me:secret@p:9090", "--out", m_out }, "--password-file");
        wrong({ "telemetry", "record", "listen:0.0.0.0:0", "--out", m_out }, "--token-file");
        wrong({ "telemetry", "record", "replay:" + m_recording, "--out", m_recording }, "--out");
        wrong({ "telemetry", "record", "tail:" + m_folder->path(), "--out", m_out }, "is a folder");
        wrong({ "telemetry", "record", "listen:0", "--token-file", path("none"), "--out", m_out }, "one line");
        wrong({ "telemetry", "record", "listen:0" }, "--out");
        wrong({ "telemetry", "replay", m_recording, "--to", "listen:0" }, "tcp://HOST:PORT");
        wrong({ "telemetry", "serve", m_recording, "--at", "0.0.0.0:0" }, "--token-file");
        wrong({ "telemetry", "serve", path("none"), "--at", "0" }, "none");
        wrong({ "telemetry", "serve", m_recording, "--at", "0", "--speed", "-1" }, "speed");
        QVERIFY(!QFile::exists(m_out));
    }

    void theSchemaOfTheStreamIsPrinted()
    {
        const Answer answer = run({ "schema", "telemetry" });
        QCOMPARE(answer.exitCode, 0);
        const auto schema = nlohmann::json::parse(answer.out);
        QVERIFY(schema.contains("$schema"));
    }

private:
    QString path(const char *name) const { return m_folder->filePath(QString::fromUtf8(name)); }

    void write(const char *name, const QByteArray &text)
    {
        QFile file(path(name));
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
    }

    static void append(const QString &file, const QByteArray &text)
    {
        QFile to(file);
        QVERIFY(to.open(QIODevice::Append) && to.write(text) == text.size());
    }

    static QByteArray line(int step)
    {
        return " [2026-06-01 12:00:0" + QByteArray::number(step) + "] iteration " + QByteArray::number(step)
            + "/ 500 | elapsed time per iteration (ms): 500.5 | lm loss: 1.5E+00 | grad norm: 0.7 |\n";
    }

    Recording written()
    {
        auto recording = readSource(m_out.toStdString(), {});
        if (!recording)
            qFatal("no recording was written");
        return std::move(*recording);
    }

    void compareWithRun()
    {
        const Recording recording = written();
        QVERIFY(!recording.ranks.empty() && !recording.ranks.at(0).steps.empty());
        ToldEvents own = eventsOf(recording, firstOf(recording));
        const ToldEvents expected = eventsOf(m_run, firstOf(m_run));
        leaveOutStepTimes(own);
        QCOMPARE(own.steps.size(), expected.steps.size());
        QVERIFY(own.steps == expected.steps);
        QVERIFY(own.spans == expected.spans);
        QVERIFY(own.samples == expected.samples);
        QVERIFY(own.collectives == expected.collectives);
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    Recording m_run;
    QString m_recording, m_out;
};

TRAINYARD_GUILESS_TEST(TestLive)
#include "tst_live.moc"
