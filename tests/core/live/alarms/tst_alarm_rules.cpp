// SPDX-License-Identifier: GPL-3.0-or-later
// Thresholds and hold times of the user's: what they change of what is told, and what is said of those that are none.
#include "tests/core/live/alarms/watched_run.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;
using namespace trainyard::watch;

namespace {

constexpr Moment kZero = 1'750'000'000'000'000'000, kScrape = Moment(15) * 1'000'000'000;

/// Sixteen GPUs of two nodes after so many scrapes; the sixth runs at `share` of the others' clock from `from` on.
Recording clocks(int scrapes, double share, int from, int behind = 1'000'000)
{
    Recording recording;
    recording.zero = kZero;
    for (int gpu = 0; gpu < 16; ++gpu) {
        SampleSeries clock { .name = "sm_clock",
            .where = SharedText("n" + std::to_string(gpu / 8) + "/gpu" + std::to_string(gpu % 8)) };
        for (int scrape = 0; scrape < scrapes; ++scrape) {
            clock.at.push_back(scrape * kScrape);
            clock.value.push_back(1755e6 * (gpu == 5 && scrape >= from && scrape < behind ? share : 1));
        }
        recording.series.push_back(std::move(clock));
    }
    return recording;
}

void look(Watchman &watchman, Recording recording, int scrapes)
{
    watchman.look(*overlayRun(nullptr, makeRun(std::move(recording)), {}), {}, kZero + scrapes * kScrape);
}

} // namespace

class TestAlarmRules : public QObject {
    Q_OBJECT
private slots:
    /// Today's case of operations: one GPU of sixteen at 60 % of its clock, two scrapes.
    void oneOfSixteenAtSixtyPercentIsToldWithinTwoScrapes()
    {
        Watchman watchman;
        look(watchman, clocks(1, 0.6, 0), 1);
        QVERIFY(watchman.alarms().empty());
        look(watchman, clocks(2, 0.6, 0), 2);
        QCOMPARE(watchman.alarms().size(), std::size_t(1));
        QCOMPARE(watchman.alarms()[0].rule(), RuleId::Clock);
        QVERIFY(watchman.alarms()[0].sentence.starts_with("n0/gpu5 runs at 60 %"));
    }

    /// At 85 % of the others' clock: below the usual 90 %, above the user's 80 %.
    void aThresholdDecides()
    {
        Watchman usual, own({ .rules = [] {
            AlarmRules rules;
            if (!rules.set("clock.threshold=0.8"))
                qFatal("no rule");
            return rules;
        }() });
        look(usual, clocks(4, 0.85, 1), 4);
        look(own, clocks(4, 0.85, 1), 4);
        QCOMPARE(usual.alarms().size(), std::size_t(1));
        QVERIFY2(own.alarms().empty(), textOf(own.alarms()).constData());
        AlarmRules stricter;
        QVERIFY(stricter.set("clock.threshold=0.9").has_value());
        own.setRules(stricter); // while it is under way
        look(own, clocks(5, 0.85, 1), 5);
        QCOMPARE(own.alarms().size(), std::size_t(1));
    }

    /// 60 s are four scrapes after the first that shows it. What is over before is never told.
    void aStateIsToldOnceItHeldSoLong()
    {
        AlarmRules rules;
        QVERIFY(rules.set("clock.hold_s=60").has_value());
        Watchman watchman({ .rules = rules });
        for (int scrapes = 1; scrapes <= 12; ++scrapes) {
            look(watchman, clocks(scrapes, 0.6, 4, 6), scrapes);
            QVERIFY2(watchman.alarms().empty(), qPrintable(QString::number(scrapes)));
        }
        Watchman other({ .rules = rules });
        for (int scrapes = 1; scrapes <= 12; ++scrapes) {
            look(other, clocks(scrapes, 0.6, 4), scrapes);
            // the newest sample is at (scrapes − 1) · 15 s, the first that shows it at 4 · 15 s
            QCOMPARE(other.alarms().size(), std::size_t((scrapes - 1 - 4) * 15 >= 60 ? 1 : 0));
        }
    }

    void aRuleThatIsOffSaysNothing()
    {
        AlarmRules rules;
        QVERIFY(rules.set("clock.on=false").has_value());
        Watchman watchman({ .rules = rules });
        look(watchman, clocks(6, 0.6, 1), 6);
        QVERIFY(watchman.alarms().empty());
    }

    void whatIsWrongIsSaidWithWhatWouldBeRight_data()
    {
        QTest::addColumn<QString>("assignment");
        QTest::addColumn<QString>("where");
        QTest::addColumn<QString>("right");
        QTest::newRow("range") << "clock.threshold=1.5"
                               << "clock.threshold"
                               << "0.05 to 1 (share)";
        QTest::newRow("not a number") << "temperature.threshold=hot"
                                      << "temperature.threshold"
                                      << "20 to 150 (°C)";
        QTest::newRow("rule") << "clok.threshold=0.8"
                              << "clok"
                              << "clock";
        QTest::newRow("field") << "clock.limit=0.8"
                               << "clock.limit"
                               << "threshold, hold_s or on";
        QTest::newRow("hold") << "silent.hold_s=-1"
                              << "silent.hold_s"
                              << "0 to 86400 (s)";
        QTest::newRow("switch") << "silent.on=yes"
                                << "silent.on"
                                << "true or false";
        QTest::newRow("XID") << "xid.threshold=3"
                             << "xid.threshold"
                             << "\"on\": true or false";
        QTest::newRow("XIDs") << "xid.ignore=13,x"
                              << "xid.ignore"
                              << "numbers from 1 to 10000: 13,31";
        QTest::newRow("nothing") << "clock"
                                 << "clock"
                                 << "RULE.threshold=X, RULE.hold_s=S, RULE.on=false or xid.ignore=13,31";
    }
    void whatIsWrongIsSaidWithWhatWouldBeRight()
    {
        QFETCH(QString, assignment);
        QFETCH(QString, where);
        QFETCH(QString, right);
        AlarmRules rules;
        const auto set = rules.set(assignment.toStdString());
        QVERIFY(!set);
        QCOMPARE(QString::fromStdString(set.error().where), where);
        QCOMPARE(QString::fromStdString(set.error().right), right);
        QVERIFY(rules == AlarmRules());
    }

    void everyRuleHasANameOfItsOwnAndAUsualThresholdInItsRange()
    {
        QSet<QString> keys;
        for (const RuleTraits &traits : ruleTraits()) {
            keys << QString::fromUtf8(traits.key);
            QVERIFY2(
                !traits.hasThreshold() || (traits.usual >= traits.least && traits.usual <= traits.most), traits.key);
            QCOMPARE(traitsOf(traits.id).key, traits.key);
        }
        QCOMPARE(keys.size(), qsizetype(kRules));
    }
};

TRAINYARD_GUILESS_TEST(TestAlarmRules)
#include "tst_alarm_rules.moc"
