// SPDX-License-Identifier: GPL-3.0-or-later
// The file of rules and of who is notified: what it sets, that it is written as it is read, and where each fault is.
#include "core/live/desk/alarm_setup.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::desk;
using trainyard::watch::RuleId;

namespace {

constexpr const char *kFile = R"({ "format": "trainyard.alarms", "version": 1,
  "rules": { "clock": { "threshold": 0.8, "hold_s": 60 }, "waiting": { "on": false }, "xid": { "ignore": [13, 31] } },
  "notify": [ { "command": ["/usr/local/bin/page", "--team", "ops; rm -rf /"] },
              { "webhook": "http://127.0.0.1:9000/alarm", "timeout_s": 5, "cleared": false } ] })";

} // namespace

class TestAlarmSetup : public QObject {
    Q_OBJECT
private slots:
    void whatAFileSaysIsSetAndAllElseIsAsUsual()
    {
        const auto setup = alarmSetupIn(kFile, "ops.json");
        QVERIFY(setup.has_value());
        QCOMPARE(setup->rules.threshold(RuleId::Clock), 0.8);
        QCOMPARE(setup->rules[RuleId::Clock].holdSeconds, 60.0);
        QVERIFY(!setup->rules[RuleId::Waiting].isOn);
        QVERIFY((setup->rules.ignoredXids == std::vector<int> { 13, 31 }));
        QCOMPARE(setup->rules.threshold(RuleId::Temperature), 90.0);
        QCOMPARE(setup->targets.size(), std::size_t(2));
        QVERIFY((setup->targets[0].command
            == std::vector<std::string> { "/usr/local/bin/page", "--team", "ops; rm -rf /" }));
        QCOMPARE(setup->targets[1].webhook.port, std::uint16_t(9000));
        QVERIFY(!setup->targets[1].tellsCleared && setup->targets[1].timeoutSeconds == 5);
        QVERIFY(alarmSetupIn(textOf(*setup), "again").value() == *setup);
    }

    void aNameTellsNoArgumentAndNoPath()
    {
        const auto setup = alarmSetupIn(kFile, "ops.json");
        QCOMPARE(setup->targets[0].name(), "/usr/local/bin/page");
        QCOMPARE(setup->targets[1].name(), "http://127.0.0.1:9000");
    }

    void everyFaultIsToldWithItsPlace()
    {
        const auto setup = alarmSetupIn(R"({ "format": "trainyard.alarms", "version": 1, "extra": 1,
            "rules": { "clock": { "threshold": 2 }, "clok": {}, "silent": { "hold_s": "long" }, "xid": { "threshold": 1 } },
            "notify": [ {}, { "command": "page ops" }, { "webhook": "ftp://here" }, { "command": ["page"], "timeout_s": 0 } ] })",
            "ops.json");
        QVERIFY(!setup);
        QStringList places;
        for (const Error &fault : setup.error())
            places << QString::fromStdString(fault.where);
        for (const char *place : { "ops.json: /extra", "ops.json: /rules/clock/threshold", "ops.json: /rules/clok",
                 "ops.json: /rules/silent/hold_s", "ops.json: /rules/xid/threshold", "ops.json: /notify/0",
                 "ops.json: /notify/1/command", "ops.json: /notify/2/webhook", "ops.json: /notify/3/timeout_s" })
            QVERIFY2(
                places.contains(QLatin1String(place)), qPrintable(QLatin1String(place) + " in " + places.join("; ")));
        QCOMPARE(places.size(), 9);
        QVERIFY(toString(setup.error()[1]).find("0.05 to 1 (share)") != std::string::npos);
    }

    void whatIsNoJsonIsToldWithLineAndColumn()
    {
        const auto setup = alarmSetupIn("{\n  \"format\": oops }", "ops.json");
        QVERIFY(!setup && setup.error()[0].where.starts_with("ops.json:2:"));
        QVERIFY(!alarmSetupIn("{\"format\": \"trainyard.plan\", \"version\": 1}", "ops.json"));
    }

    void aWebhookBeyondThisMachineHasToBeAllowed()
    {
        NotifyTarget here, there, command;
        here.webhook = webhookNamed("http://127.0.0.1:9/x", "a").value();
        there.webhook = webhookNamed("https://hooks.example.com/secret", "a").value();
        command.command = { "page" };
        QVERIFY(webhooksElsewhere({ here, command }).empty());
        const Errors faults = webhooksElsewhere({ here, there });
        QCOMPARE(faults.size(), std::size_t(1));
        QVERIFY(faults[0].where.find("secret") == std::string::npos);
        for (const char *url : { "http://[::1]:80/", "http://localhost:8080/a" }) {
            here.webhook = webhookNamed(url, "a").value();
            QVERIFY2(webhooksElsewhere({ here }).empty(), url);
        }
        for (const char *url : { "tcp://127.0.0.1:9", "127.0.0.1:9", "http://", "file:///etc/passwd" })
            QVERIFY2(!webhookNamed(url, "a"), url);
    }
};

TRAINYARD_APPLESS_TEST(TestAlarmSetup)
#include "tst_alarm_setup.moc"
