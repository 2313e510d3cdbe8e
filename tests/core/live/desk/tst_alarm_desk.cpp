// SPDX-License-Identifier: GPL-3.0-or-later
// Alarms over hours: each is raised and cleared once, acknowledged and muted by people here and elsewhere, goes on
// across a restart, and is notified of once.
#include "core/live/desk/alarm_desk.h"
#include "tests/core/live/net/listening.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

using namespace trainyard;
using namespace trainyard::desk;
using trainyard::live::testing::Listening;
using trainyard::watch::Alarm;
using trainyard::watch::AlarmKind;
using trainyard::watch::RuleId;

namespace {

constexpr Moment kSecond = 1'000'000'000, kStart = 1'796'006'400 * kSecond;

Alarm slowClock(int gpu, Moment since = kStart, Moment until = 0)
{
    Alarm alarm { .kind = AlarmKind::Hardware, .place = "n0/gpu" + std::to_string(gpu) + " sm_clock" };
    alarm.since = since;
    alarm.until = until;
    alarm.told = RuleId::Clock;
    alarm.sentence = "n0/gpu" + std::to_string(gpu) + " runs at 60 %";
    return alarm;
}

std::string actsOf(const AlarmDesk &desk)
{
    std::string text;
    for (const AlarmEntry &entry : desk.entries())
        text += (text.empty() ? "" : " ") + std::string(nameOf(entry.act)) + std::to_string(entry.number);
    return text;
}

QStringList eventsOf(Listening &server)
{
    QStringList events;
    for (const auto &request : server.now().requests) {
        const QJsonObject message = QJsonDocument::fromJson(QByteArray::fromStdString(request.body)).object();
        events << message["event"].toString() + QString::number(message["number"].toInt());
    }
    return events;
}

} // namespace

class TestAlarmDesk : public QObject {
    Q_OBJECT
private slots:
    void anAlarmIsRaisedAndClearedOnce()
    {
        const auto desk = open();
        for (int look = 0; look < 5; ++look)
            QVERIFY(((*desk).look({ slowClock(1), slowClock(2) }, kStart + look * kSecond)
                == std::vector<std::int64_t> { 1, 2 }));
        const Alarm over = slowClock(1, kStart, kStart + 9 * kSecond);
        for (int look = 10; look < 15; ++look)
            QVERIFY(
                ((*desk).look({ slowClock(2), over }, kStart + look * kSecond) == std::vector<std::int64_t> { 2, 1 }));
        QCOMPARE(actsOf(*desk), "raised1 raised2 cleared1");
        // the same place again is another alarm
        desk->look({ slowClock(1, kStart + 20 * kSecond), slowClock(2), over }, kStart + 20 * kSecond);
        QCOMPARE(actsOf(*desk), "raised1 raised2 cleared1 raised3");
    }

    void whatCameAndWentBetweenTwoLooksIsLogged()
    {
        const auto desk = open();
        const Alarm first = slowClock(1, kStart, kStart + kSecond),
                    second = slowClock(1, kStart + 3 * kSecond, kStart + 4 * kSecond);
        desk->look({ slowClock(1) }, kStart);
        // newest first, as a watchman lists those that are over
        const auto numbers = desk->look({ slowClock(1, kStart + 6 * kSecond), second, first }, kStart + 7 * kSecond);
        QCOMPARE(actsOf(*desk), "raised1 cleared1 raised2 cleared2 raised3");
        QVERIFY((numbers == std::vector<std::int64_t> { 3, 2, 1 }));
    }

    void whatIsWatchedNoMoreIsCleared()
    {
        const auto desk = open();
        desk->look({ slowClock(1) }, kStart);
        desk->look({}, kStart + kSecond);
        QCOMPARE(actsOf(*desk), "raised1 cleared1");
        QVERIFY(!desk->states().of(1)->holds());
    }

    void aRestartGoesOnWithTheSameAlarms()
    {
        {
            const auto desk = open({ .logPath = log() });
            desk->look({ slowClock(1), slowClock(2) }, kStart);
            QVERIFY(desk->acknowledge(1, "ada", "fan", kStart + kSecond).has_value());
        }
        const Moment later = kStart + 3600 * kSecond;
        const auto desk = open({ .logPath = log() });
        QVERIFY((desk->look({ slowClock(1, later) }, later) == std::vector<std::int64_t> { 1 }));
        QCOMPARE(desk->states().of(1)->acknowledgedBy, std::string("ada"));
        QVERIFY(desk->states().of(2)->holds()); // it may be found again
        QCOMPARE(actsOf(*desk), "");
        desk->look({ slowClock(1, later) }, later + 599 * kSecond);
        QVERIFY(desk->states().of(2)->holds());
        desk->look({ slowClock(1, later) }, later + 601 * kSecond);
        QVERIFY(!desk->states().of(2)->holds());
        QVERIFY((desk->look({ slowClock(3, later), slowClock(1, later) }, later + 602 * kSecond)
            == std::vector<std::int64_t> { 3, 1 }));
    }

    void whoAnswersElsewhereIsHeard()
    {
        const auto desk = open({ .logPath = log() });
        desk->look({ slowClock(1) }, kStart);
        const auto other = AlarmLog::open(log(), LogUse::Answer);
        QVERIFY(other.has_value());
        QVERIFY(
            (*other)
                ->append({ .at = kStart, .act = AlarmAct::Acknowledged, .number = 1, .by = "grace", .note = "known" })
                .has_value());
        desk->look({ slowClock(1) }, kStart + kSecond);
        QCOMPARE(desk->states().of(1)->acknowledgedBy, std::string("grace"));
        const auto news = desk->takeNew();
        QVERIFY(news.size() == 2 && news[1].by == "grace");
        QVERIFY(desk->takeNew().empty());
    }

    void eachIsNotifiedOfOnceAndSoIsItsEnd()
    {
        Listening server;
        const auto desk = open(notifying(server));
        for (int look = 0; look < 5; ++look)
            desk->look({ slowClock(1) }, kStart + look * kSecond);
        desk->look({ slowClock(1, kStart, kStart + 9 * kSecond) }, kStart + 10 * kSecond);
        desk->look({ slowClock(1, kStart, kStart + 9 * kSecond) }, kStart + 11 * kSecond);
        QVERIFY(desk->waitUntilTold(60));
        QCOMPARE(eventsOf(server), (QStringList { "raised1", "cleared1" }));
    }

    void whoIsMutedIsNotNotifiedOfUntilItsEnd()
    {
        Listening server;
        const auto desk = open(notifying(server));
        QVERIFY(desk->mute({ 0, "clock" }, kStart + 100 * kSecond, "ada", "swap of fans", kStart).has_value());
        desk->look({ slowClock(1), slowClock(2) }, kStart + kSecond);
        QVERIFY(desk->acknowledge(2, "ada", {}, kStart + 2 * kSecond).has_value());
        desk->look({ slowClock(1), slowClock(2) }, kStart + 99 * kSecond);
        QVERIFY(desk->waitUntilTold(60) && eventsOf(server).isEmpty());
        QCOMPARE(actsOf(*desk), "muted0 raised1 raised2 acknowledged2"); // logged all the same
        desk->look({ slowClock(1), slowClock(2) }, kStart + 101 * kSecond);
        QVERIFY(desk->waitUntilTold(60));
        QCOMPARE(eventsOf(server), QStringList { "raised1" }); // the other is acknowledged
    }

    void whatNobodyTookIsInTheLog()
    {
        Listening server;
        DeskOptions options = notifying(server);
        options.delivery = { .mostTries = 2, .firstWait = 0.01 };
        options.logPath = log();
        server.stop();
        const auto desk = open(std::move(options));
        desk->look({ slowClock(1) }, kStart);
        QVERIFY(desk->waitUntilTold(60));
        desk->look({ slowClock(1) }, kStart + kSecond);
        QCOMPARE(actsOf(*desk), "raised1 undelivered1");
        QVERIFY(desk->states().of(1)->undelivered.ends_with("after 2 tries"));
    }

    void whatCannotBeAnsweredIsRefused()
    {
        const auto desk = open();
        desk->look({ slowClock(1) }, kStart);
        QVERIFY(!desk->acknowledge(2, "ada", {}, kStart));
        QVERIFY(!desk->mute({ 0, "clok" }, kStart + kSecond, "ada", {}, kStart));
        QVERIFY(!desk->mute({ 1, {} }, kStart, "ada", {}, kStart)); // no end ahead
        QVERIFY(!desk->mute({ 1, {} }, kStart + 31LL * 86'400 * kSecond, "ada", {}, kStart));
        QVERIFY(desk->mute({ 1, {} }, kStart + kSecond, "ada", {}, kStart).has_value());
        QVERIFY(desk->unmute({ 1, {} }, "ada", kStart).has_value());
        QCOMPARE(actsOf(*desk), "raised1 muted1 unmuted1");
    }

    void aWebhookElsewhereNeedsLeave()
    {
        DeskOptions options;
        NotifyTarget target;
        target.webhook = webhookNamed("http://192.0.2.7/alarm", "test").value();
        options.setup.targets = { target };
        QVERIFY(!AlarmDesk::open(options));
        options.allowsWebhooksAnywhere = true;
        QVERIFY(AlarmDesk::open(options).has_value());
    }

    void init() { QFile::remove(QString::fromStdString(log())); }

private:
    [[nodiscard]] std::string log() const { return m_folder.filePath("a.alarms.jsonl").toStdString(); }
    static std::unique_ptr<AlarmDesk> open(DeskOptions options = {})
    {
        auto desk = AlarmDesk::open(std::move(options));
        if (!desk)
            qFatal("%s", toString(desk.error().front()).c_str());
        return std::move(*desk);
    }
    static DeskOptions notifying(const Listening &server)
    {
        DeskOptions options;
        NotifyTarget target;
        target.webhook = webhookNamed("http://127.0.0.1:" + std::to_string(server.port) + "/alarm", "test").value();
        options.setup.targets = { target };
        return options;
    }
    QTemporaryDir m_folder;
};

TRAINYARD_GUILESS_TEST(TestAlarmDesk)
#include "tst_alarm_desk.moc"
