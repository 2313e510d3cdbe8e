// SPDX-License-Identifier: GPL-3.0-or-later
// Commands and webhooks that are told of alarms: what reaches them, that they are tried again so often and no oftener,
// that nobody waits for them, and that no shell and no socket of ours comes with a command.
#include "core/live/desk/notifier.h"
#include "tests/core/live/net/listening.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <sys/stat.h>

using namespace trainyard;
using namespace trainyard::desk;
using trainyard::live::testing::Listening;

namespace {

constexpr double kLong = 60; // s

Notice noticeOf(std::int64_t number, AlarmAct act = AlarmAct::Raised)
{
    Notice notice { .act = act, .at = 1'796'006'467'250'000'000, .run = "http://127.0.0.1:9090" };
    notice.alarm = { .number = number,
        .rule = "clock",
        .place = "n0/gpu5 sm_clock",
        .sentence = "n0/gpu5 runs at 60 %; $(touch /tmp/never) \"quoted\"\nand a line",
        .since = 1'796'006'452'250'000'000 };
    return notice;
}

NotifyTarget webhookAt(std::uint16_t port, const char *path = "/alarm")
{
    NotifyTarget target;
    target.webhook = webhookNamed("http://127.0.0.1:" + std::to_string(port) + path, "test").value();
    target.timeoutSeconds = 20;
    return target;
}

struct Reports {
    std::mutex mutex;
    std::vector<std::string> all;
    [[nodiscard]] NotifierOptions options(int tries = 3)
    {
        return { .mostTries = tries, .firstWait = 0.02, .undelivered = [this](std::int64_t, const std::string &why) {
                    const std::lock_guard lock(mutex);
                    all.push_back(why);
                } };
    }
    [[nodiscard]] std::string only()
    {
        const std::lock_guard lock(mutex);
        return all.size() == 1 ? all[0] : std::to_string(all.size()) + " reports";
    }
};

} // namespace

class TestNotifier : public QObject {
    Q_OBJECT
private slots:
    void aWebhookGetsTheAlarmAsJson()
    {
        Listening server;
        const auto notifier = Notifier::make({ webhookAt(server.port) });
        (*notifier)->send(noticeOf(7));
        (*notifier)->send(noticeOf(7, AlarmAct::Cleared));
        QVERIFY((*notifier)->waitUntilIdle(kLong));
        QCOMPARE((*notifier)->counts().delivered, std::int64_t(2));
        const auto told = server.now();
        QCOMPARE(told.requests.size(), std::size_t(2));
        QCOMPARE(told.requests[0].method, std::string("POST"));
        QCOMPARE(told.requests[0].target, std::string("/alarm"));
        const QJsonObject message = QJsonDocument::fromJson(QByteArray::fromStdString(told.requests[0].body)).object();
        QCOMPARE(message["format"].toString(), QStringLiteral("trainyard.alarm"));
        QCOMPARE(message["event"].toString(), QStringLiteral("raised"));
        QCOMPARE(message["number"].toInt(), 7);
        QCOMPARE(message["rule"].toString(), QStringLiteral("clock"));
        QCOMPARE(message["since"].toString(), QStringLiteral("2026-11-30T02:40:52.250Z"));
        QVERIFY(message["sentence"].toString().contains(u'\n') && message["until"].isNull());
        QCOMPARE(QJsonDocument::fromJson(QByteArray::fromStdString(told.requests[1].body)).object()["event"].toString(),
            QStringLiteral("cleared"));
    }

    void aServerThatIsBusyIsTriedAgain()
    {
        Listening server;
        std::atomic<int> asked = 0;
        server.onRequest = [&](live::net::ServerRequest &&,
                               const std::function<void(live::net::ServerAnswer)> &answer) {
            answer({ ++asked < 3 ? 503 : 200, {}, "" });
        };
        Reports reports;
        const auto notifier = Notifier::make({ webhookAt(server.port) }, reports.options());
        (*notifier)->send(noticeOf(1));
        QVERIFY((*notifier)->waitUntilIdle(kLong));
        QCOMPARE(asked.load(), 3);
        QCOMPARE((*notifier)->counts().delivered, std::int64_t(1));
    }

    void aServerThatSaysNoIsNotAskedAgainAndOneThatIsNotThereIsSoOften()
    {
        Listening server;
        std::atomic<int> asked = 0;
        server.onRequest = [&](live::net::ServerRequest &&,
                               const std::function<void(live::net::ServerAnswer)> &answer) {
            ++asked;
            answer({ 403, {}, "" });
        };
        Reports refused;
        const auto notifier = Notifier::make({ webhookAt(server.port, "/secret-path") }, refused.options());
        (*notifier)->send(noticeOf(1));
        QVERIFY((*notifier)->waitUntilIdle(kLong));
        QCOMPARE(asked.load(), 1);
        const std::string name = "http://127.0.0.1:" + std::to_string(server.port);
        QCOMPARE(refused.only(), name + ": it answers with status 403, after 1 try");

        const std::uint16_t port = server.port;
        server.stop();
        Reports gone;
        const auto other = Notifier::make({ webhookAt(port) }, gone.options(4));
        (*other)->send(noticeOf(1));
        QVERIFY((*other)->waitUntilIdle(kLong));
        QCOMPARE((*other)->counts().tries, std::int64_t(4));
        QVERIFY2(gone.only().ends_with("after 4 tries"), gone.only().c_str());
    }

    /// Each in its own time: a server that never answers holds nobody up, neither the caller nor another target.
    void nobodyWaitsForASlowTarget()
    {
        Listening slow, quick;
        slow.onRequest = [](live::net::ServerRequest &&, const std::function<void(live::net::ServerAnswer)> &) {};
        const auto notifier = Notifier::make({ webhookAt(slow.port), webhookAt(quick.port) });
        QElapsedTimer clock;
        clock.start();
        for (int i = 1; i <= 100; ++i)
            (*notifier)->send(noticeOf(i));
        QVERIFY2(clock.elapsed() < 1000, qPrintable(QString::number(clock.elapsed())));
        QVERIFY(quick.waitFor([](const auto &told) { return told.requests.size() == 100; }));
        QVERIFY(!(*notifier)->waitUntilIdle(0.01));
        QCOMPARE((*notifier)->counts().delivered, std::int64_t(100));
    }

    void tooManyThatWaitAreGivenUp()
    {
        Listening slow;
        slow.onRequest = [](live::net::ServerRequest &&, const std::function<void(live::net::ServerAnswer)> &) {};
        Reports reports;
        NotifierOptions options = reports.options();
        options.mostWaiting = 5;
        const auto notifier = Notifier::make({ webhookAt(slow.port) }, options);
        for (int i = 1; i <= 12; ++i)
            (*notifier)->send(noticeOf(i));
        QTRY_COMPARE_WITH_TIMEOUT((*notifier)->counts().undelivered, std::int64_t(7), int(kLong * 1000));
        QCOMPARE((*notifier)->counts().waiting, std::int64_t(5));
    }

    void aTokenIsShownAndOneThatIsNoneIsRefused()
    {
        Listening server;
        NotifyTarget target = webhookAt(server.port);
        target.tokenFile = write("token", "s3cret\n");
        {
            const auto notifier = Notifier::make({ target });
            (*notifier)->send(noticeOf(1));
            QVERIFY((*notifier)->waitUntilIdle(kLong));
        }
        QCOMPARE(server.now().requests.size(), std::size_t(1));
        target.tokenFile = write("two", "a\nb\n");
        QVERIFY(!Notifier::make({ target }));
        target.tokenFile = path("none").toStdString();
        QVERIFY(!Notifier::make({ target }));
    }

    /// Arguments are the program's as they are, the message is on its standard input, and nothing of ours is open
    /// there.
    void aCommandIsRunWithoutAShell()
    {
        Listening unrelated; // whose sockets are open here
        const std::string script = program("page",
            "#!/bin/sh\ncat > \"$1\"\nprintf '%s\\n' \"$2\" > \"$1.argument\"\nls -l /proc/self/fd > \"$1.open\"\n");
        const QString out = path("told"), never = path("never");
        NotifyTarget target;
        target.command = { script, out.toStdString(), "; touch " + never.toStdString() + " $(id) `id` *" };
        const auto notifier = Notifier::make({ target });
        (*notifier)->send(noticeOf(3));
        QVERIFY((*notifier)->waitUntilIdle(kLong));
        QCOMPARE((*notifier)->counts().delivered, std::int64_t(1));
        const QJsonObject message = QJsonDocument::fromJson(read(out)).object();
        QCOMPARE(message["number"].toInt(), 3);
        QVERIFY(message["sentence"].toString().contains("$(touch /tmp/never)"));
        QCOMPARE(read(out + ".argument"), QByteArray::fromStdString(target.command[2]) + '\n');
        QVERIFY(!QFile::exists(never));
        QVERIFY2(!read(out + ".open").contains("socket:"), read(out + ".open").constData());
    }

    void aCommandThatFailsIsTriedAgainAndSaysWhy()
    {
        const std::string script = program("flaky", "#!/bin/sh\necho x >> \"$1\"\necho 'no pager today' >&2\nexit 3\n");
        const QString out = path("tries");
        NotifyTarget target;
        target.command = { script, out.toStdString() };
        Reports reports;
        const auto notifier = Notifier::make({ target }, reports.options(3));
        (*notifier)->send(noticeOf(1));
        QVERIFY((*notifier)->waitUntilIdle(kLong));
        QCOMPARE(read(out), QByteArray("x\nx\nx\n"));
        QCOMPARE(reports.only(), script + ": it ended with exit code 3: no pager today, after 3 tries");
    }

    void aCommandThatNeverEndsIsEnded()
    {
        const std::string script = program("stuck", "#!/bin/sh\necho $$ > \"$1\"\nexec sleep 600\n");
        const QString out = path("pid");
        NotifyTarget target;
        target.command = { script, out.toStdString() };
        target.timeoutSeconds = 0.5;
        Reports reports;
        const auto notifier = Notifier::make({ target }, reports.options(1));
        (*notifier)->send(noticeOf(1));
        QVERIFY((*notifier)->waitUntilIdle(kLong));
        QCOMPARE(reports.only(), script + ": it takes longer than 0.5 s, after 1 try");
        const int pid = read(out).trimmed().toInt();
        QVERIFY(pid > 0);
        QTRY_VERIFY_WITH_TIMEOUT(!QFile::exists(QStringLiteral("/proc/%1").arg(pid)), int(kLong * 1000));
    }

    void aProgramThatIsNotThereIsSaid()
    {
        NotifyTarget target;
        target.command = { path("nothing-here").toStdString() };
        Reports reports;
        const auto notifier = Notifier::make({ target }, reports.options(2));
        (*notifier)->send(noticeOf(1));
        QVERIFY((*notifier)->waitUntilIdle(kLong));
        QVERIFY2(reports.only().find("No such file or directory, after 2 tries") != std::string::npos,
            reports.only().c_str());
    }

    /// One that does not read its standard input is no fault of ours, and no signal either.
    void aCommandThatReadsNothingIsTold()
    {
        NotifyTarget target;
        target.command = { "true" };
        const auto notifier = Notifier::make({ target });
        for (int i = 0; i < 20; ++i)
            (*notifier)->send(noticeOf(i + 1));
        QVERIFY((*notifier)->waitUntilIdle(kLong));
        QCOMPARE((*notifier)->counts().delivered, std::int64_t(20));
    }

private:
    [[nodiscard]] QString path(const char *name) const { return m_folder.filePath(QLatin1String(name)); }
    std::string write(const char *name, const QByteArray &text) const
    {
        QFile file(path(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
            qFatal("no room for a file of the test");
        return file.fileName().toStdString();
    }
    std::string program(const char *name, const QByteArray &text) const
    {
        const std::string file = write(name, text);
        if (::chmod(file.c_str(), S_IRWXU) != 0)
            qFatal("no program of the test");
        return file;
    }
    static QByteArray read(const QString &name)
    {
        QFile file(name);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    QTemporaryDir m_folder;
};

TRAINYARD_GUILESS_TEST(TestNotifier)
#include "tst_notifier.moc"
