// SPDX-License-Identifier: GPL-3.0-or-later
// The log of alarms: what is written is read back, by whoever else reads it too; what a crash or a full disk left
// behind does no harm; one watches at a time.
#include "core/live/desk/alarm_log.h"
#include "core/live/desk/alarm_states.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace trainyard;
using namespace trainyard::desk;

namespace {

constexpr Moment kNow = 1'796'006'467'250'000'000; // 2026-11-30T02:41:07.250Z, by `date -u -d @1796006467`

AlarmEntry raised(std::int64_t number)
{
    return { .at = kNow,
        .act = AlarmAct::Raised,
        .number = number,
        .rule = "clock",
        .place = "n0/gpu5 sm_clock",
        .sentence = "n0/gpu5 runs at 60 % of the clock",
        .since = kNow - 15'000'000'000 };
}

} // namespace

class TestAlarmLog : public QObject {
    Q_OBJECT
private slots:
    void timesAreWrittenAsIsoWritesThem()
    {
        QCOMPARE(isoText(kNow), "2026-11-30T02:41:07.250Z");
        QCOMPARE(momentIn("2026-11-30T02:41:07.250Z", "x").value(), kNow);
        QCOMPARE(isoText(951'782'400'000'000'000), "2000-02-29T00:00:00.000Z");
        for (const char *wrong : { "", "2026-11-30", "2026-02-30T00:00:00.000Z", "2026-11-30T25:00:00.000Z",
                 "2026-11-30 02:41:07.250Z", "+026-11-30T02:41:07.250Z" })
            QVERIFY2(!momentIn(wrong, "x"), wrong);
    }

    void everyEntryIsReadBack()
    {
        const std::vector<AlarmEntry> all { raised(7),
            { .at = kNow, .act = AlarmAct::Cleared, .number = 7, .until = kNow },
            { .at = kNow, .act = AlarmAct::Acknowledged, .number = 7, .by = "ada", .note = "fan \"3\"\nis off" },
            { .at = kNow, .act = AlarmAct::Muted, .rule = "xid", .until = kNow + 1'000'000'000, .by = "ada" },
            { .at = kNow, .act = AlarmAct::Unmuted, .rule = "xid", .by = "Åsa" },
            { .at = kNow, .act = AlarmAct::Undelivered, .number = 7, .note = "page: it ended with exit code 3" } };
        for (const AlarmEntry &entry : all) {
            const std::string line = lineOf(entry);
            QVERIFY(line.find('\n') == std::string::npos);
            QCOMPARE(entryIn(line, "log:1").value() == entry, true);
        }
    }

    void whatOthersWriteIsReadOnceAndOwnLinesAreNot()
    {
        const auto watching = AlarmLog::open(path(), LogUse::Watch);
        QVERIFY(watching.has_value());
        QVERIFY((*watching)->append(raised(1)).has_value());
        const auto answering = AlarmLog::open(path(), LogUse::Answer);
        QVERIFY(answering.has_value());
        QCOMPARE((*answering)->readNew().size(), std::size_t(1));
        const AlarmEntry answer { .at = kNow, .act = AlarmAct::Acknowledged, .number = 1, .by = "ada" };
        QVERIFY((*answering)->append(answer).has_value());
        QVERIFY((*watching)->append(raised(2)).has_value());
        const auto came = (*watching)->readNew();
        QCOMPARE(came.size(), std::size_t(1));
        QVERIFY(came[0] == answer);
        QVERIFY((*watching)->readNew().empty());
        QCOMPARE((*answering)->readNew().size(), std::size_t(1)); // the second alarm
    }

    void oneWatchesAtATime()
    {
        {
            const auto first = AlarmLog::open(path(), LogUse::Watch);
            QVERIFY(first.has_value());
            const auto second = AlarmLog::open(path(), LogUse::Watch);
            QVERIFY(!second && second.error().what.find("another program") != std::string::npos);
        }
        QVERIFY(AlarmLog::open(path(), LogUse::Watch).has_value());
        QCOMPARE(QFile::permissions(name()) & (QFile::ReadGroup | QFile::ReadOther), QFile::Permissions());
    }

    /// A crash within a line: what follows begins a line of its own, and the torn one is counted.
    void aTornLineIsLeftOut()
    {
        write("{\"at\":\"2026-11-30T02:41:07.250Z\",\"act\":\"rai");
        const auto log = AlarmLog::open(path(), LogUse::Watch);
        QVERIFY(log.has_value());
        QVERIFY((*log)->append(raised(1)).has_value());
        QVERIFY((*log)->readNew().empty());
        QCOMPARE((*log)->unread(), std::int64_t(1));
        const auto other = AlarmLog::open(path(), LogUse::Answer);
        QCOMPARE((*other)->readNew().size(), std::size_t(1));
    }

    void anotherFileIsLeftAlone()
    {
        write("step,time\n1,2\n");
        QVERIFY(!AlarmLog::open(path(), LogUse::Watch));
        QFile file(name());
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), QByteArray("step,time\n1,2\n"));
        QVERIFY(!AlarmLog::open(m_folder.filePath("none").toStdString(), LogUse::Answer));
    }

    void theLogStandsBesideItsRecording()
    {
        QCOMPARE(alarmLogBeside("/runs/a.trainyard-recording"), "/runs/a.alarms.jsonl");
        QCOMPARE(alarmLogBeside("/runs/a"), "/runs/a.alarms.jsonl");
    }

    void statesAreWhatTheLinesAddUpTo()
    {
        AlarmStates states;
        QCOMPARE(states.next(), std::int64_t(1));
        for (const std::int64_t number : { 1, 2, 3 })
            states.apply(raised(number));
        states.apply({ .at = kNow, .act = AlarmAct::Acknowledged, .number = 2, .by = "ada", .note = "known" });
        states.apply({ .at = kNow, .act = AlarmAct::Cleared, .number = 1, .until = kNow });
        states.apply({ .at = kNow, .act = AlarmAct::Muted, .number = 3, .until = kNow + 10, .by = "ada" });
        states.apply({ .at = kNow, .act = AlarmAct::Acknowledged, .number = 99, .by = "ada" }); // nobody knows it
        QCOMPARE(states.next(), std::int64_t(4));
        const auto listed = states.listed();
        QCOMPARE(listed.size(), std::size_t(3));
        QVERIFY(listed[0].number == 3 && listed[1].number == 2 && listed[2].number == 1);
        QVERIFY(!listed[2].holds() && listed[1].acknowledgedBy == "ada" && listed[1].note == "known");
        QVERIFY(states.isMuted(listed[0], kNow) && !states.isMuted(listed[0], kNow + 10));
        states.apply({ .at = kNow, .act = AlarmAct::Muted, .rule = "clock", .until = kNow + 100, .by = "ada" });
        QVERIFY(states.isMuted(listed[1], kNow + 99) && !states.isMuted(listed[1], kNow + 100));
    }

    void hoursOfAlarmsStayBounded()
    {
        AlarmStates states;
        for (std::int64_t number = 1; number <= 5000; ++number) {
            states.apply(raised(number));
            if (number != 17)
                states.apply({ .at = kNow, .act = AlarmAct::Cleared, .number = number, .until = kNow });
        }
        QCOMPARE(states.all().size(), std::size_t(1001)); // the newest that are over, and the one that holds
        QVERIFY(states.of(17) && states.of(5000) && !states.of(18));
    }

    void init() { QFile::remove(name()); }

private:
    [[nodiscard]] QString name() const { return m_folder.filePath("a.alarms.jsonl"); }
    [[nodiscard]] std::string path() const { return name().toStdString(); }
    void write(const QByteArray &text) const
    {
        QFile file(name());
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }
    QTemporaryDir m_folder;
};

TRAINYARD_GUILESS_TEST(TestAlarmLog)
#include "tst_alarm_log.moc"
