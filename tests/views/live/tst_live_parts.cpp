// SPDX-License-Identifier: GPL-3.0-or-later
// Strip, sources, and page of a run that goes on, over a session that is set by hand.
#include "../../support/set_live_feed.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include "core/facts/catalogue/catalogue.h"
#include "models/live_words.h"
#include "views/live/alarm_list.h"
#include "views/live/alarm_rules_view.h"
#include "views/live/live_page.h"
#include "views/live/live_row.h"
#include "views/live/live_strip.h"
#include "views/live/source_chip.h"
#include "views/live/source_table.h"
#include "views/live/state_mark.h"
#include "views/live/what_if_list.h"
#include "views/panels/evidence_table.h"
#include "views/parts/invitation.h"
#include "views/run/run_badge.h"
#include "views/run/step_scrubber.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QDebug>
#include <QFile>
#include <QPainter>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QVBoxLayout>

using namespace trainyard;
using State = live::SourceState;
using test::SetSession;

namespace {

constexpr int kLong = 30000; // ms, for a machine that is busy
constexpr State kStates[] = { State::Connecting, State::Live, State::Stale, State::BackingOff, State::Paused,
    State::Ended, State::Refused };

QByteArray rulesFile(const QByteArray &rules)
{
    return "{\"format\": \"trainyard.alarms\", \"version\": 1, \"rules\": " + rules + "}";
}

/// A command that makes a file, a webhook beyond this machine, and one of this machine.
QByteArray notifyingFile(const QString &made)
{
    return "{\"format\": \"trainyard.alarms\", \"version\": 1, \"notify\": [{\"command\": [\"/bin/touch\", \""
        + made.toUtf8()
        + "\"]}, {\"webhook\": \"http://192.0.2.7/alarm\"}, {\"webhook\": \"http://127.0.0.1:9/alarm\"}]}";
}

struct Parts {
    std::shared_ptr<SetSession> session = std::make_shared<SetSession>();
    RunDocument runs;
    LiveDocument live { runs, builtinCatalogue(), test::feedOf(session) };
    LivePage page { live, runs };

    Parts()
    {
        applyTheme(*qApp, ThemeKind::Light);
        live.setPace(0);
        page.resize(1280, 720);
        page.show();
    }
    void connectTo(const char *address = "tcp://127.0.0.1:7070")
    {
        QVERIFY(live.connectTo(QString::fromLatin1(address)).has_value());
    }
    /// Half as long again from the thirtieth on: an alarm, which the desk has numbered.
    void showSlowSteps()
    {
        connectTo();
        session->tell([](SetSession &all) {
            all.run.steps = 60;
            all.run.slower = 1.5;
            all.run.slowerFrom = 30;
            all.sources.front().second.state = State::Live;
        });
        QTRY_VERIFY_WITH_TIMEOUT(!live.alarms().empty() && live.alarmState(0), kLong);
    }
    void set(State state, const std::string &reason = {})
    {
        session->tell([&](SetSession &all) {
            all.sources.front().second.state = state;
            all.sources.front().second.reason = reason;
            all.sources.front().second.nextTry = live::unixNow() + 40'000'000'000;
            all.sources.front().second.heard = live::unixNow() - 35'000'000'000;
        });
        QTRY_COMPARE_WITH_TIMEOUT(live.sources().front().status.state, state, kLong);
    }
};

} // namespace

class LivePartsTest : public QObject {
    Q_OBJECT
private slots:
    /// Words on buttons change with what they do, their places do not.
    void buttonsStayInTheirPlaces()
    {
        Parts p;
        p.connectTo();
        p.set(State::Live);
        LiveStrip &strip = *p.page.strip;
        const auto places = [&strip] {
            QApplication::processEvents();
            std::vector<QRect> all;
            for (const QPushButton *button : { strip.open, strip.pause, strip.follow, strip.disconnectAll })
                all.push_back(button->geometry());
            return all;
        };
        const std::vector<QRect> before = places();
        QTest::mouseClick(strip.pause, Qt::LeftButton);
        QCOMPARE(strip.pause->text(), QStringLiteral("Resume"));
        QCOMPARE(places(), before);
        QTest::mouseClick(strip.pause, Qt::LeftButton);
        QCOMPARE(places(), before);
    }
    /// Over the panels one line has the steps and their figures: the number of the step once, and no line of the run
    /// beside it. It is as tall with alarms and losses as without, and its buttons stay.
    void oneLineTellsOfARunThatGoesOn()
    {
        Parts p;
        p.runs.setEvaluation(test::evaluatedSample("mixed-lab"));
        QWidget workbench;
        workbench.resize(1264, 60);
        auto *column = new QVBoxLayout(&workbench);
        column->setContentsMargins(0, 0, 0, 0);
        auto *strip = new LiveStrip(p.live, &p.runs, &workbench);
        auto *badge = new RunBadge(p.runs, &workbench);
        column->addWidget(strip);
        column->addWidget(badge);
        workbench.show();
        p.connectTo();
        p.session->tell([](SetSession &all) {
            all.run.steps = 42;
            all.sources.front().second.state = State::Live;
        });
        QTRY_COMPARE_WITH_TIMEOUT(strip->scrubber->field->value(), 41, kLong);
        QTRY_VERIFY_WITH_TIMEOUT(strip->time->isVisible(), kLong);
        QVERIFY(strip->scrubber->isVisible() && !strip->step->isVisible() && !strip->shown->isVisible());
        QVERIFY(!badge->isVisible());
        const auto places = [&] {
            QApplication::processEvents();
            QString text;
            QDebug(&text) << strip->size() << strip->pause->geometry() << strip->disconnectAll->geometry();
            return text;
        };
        const QString before = places();
        QTest::mouseClick(strip->scrubber->previous, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(strip->shown->isVisible(), kLong);
        QCOMPARE(strip->scrubber->field->value(), 40);
        QCOMPARE(strip->step->figure(), QStringLiteral("41"));
        QVERIFY(strip->step->isVisible() && !strip->time->isVisible());
        QCOMPARE(places(), before);
        p.session->tell([](SetSession &all) {
            all.sources.front().second.dropped = 5'000'000;
            all.run.steps = 120;
            all.run.slower = 1.5;
            all.run.slowerFrom = 60;
        });
        QTRY_VERIFY_WITH_TIMEOUT(!strip->dropped().isEmpty(), kLong);
        QTRY_VERIFY_WITH_TIMEOUT(!p.live.alarms().empty(), kLong);
        QCOMPARE(places(), before);
        QTest::mouseClick(strip->follow, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!strip->step->isVisible() && strip->time->isVisible(), kLong);
        QCOMPARE(places(), before);
        p.live.disconnectAll(); // what was told stays as a run, and has its own line
        QTRY_VERIFY_WITH_TIMEOUT(badge->isVisible() && !strip->isVisible(), kLong);
    }
    void withoutASourceThePageSaysWhatToDo()
    {
        Parts p;
        QVERIFY(p.page.invitation->isVisible() && p.page.invitation->begin->isVisible());
        QVERIFY(!p.page.strip->isVisible());
        p.connectTo();
        QVERIFY(!p.page.invitation->isVisible() && p.page.strip->isVisible());
        QVERIFY(!p.page.alarms->emptyText().isEmpty());
        QVERIFY(!p.page.whatIfs->ask->isEnabled() && !p.page.whatIfs->summary().isEmpty());
    }
    void everyStateIsSaidInWordsOfItsOwn()
    {
        Parts p;
        p.connectTo();
        QSet<QString> words;
        for (const State state : kStates) {
            p.set(state, state == State::BackingOff ? "connection refused by 127.0.0.1:7070" : "");
            QCOMPARE(p.page.strip->sources().size(), 1);
            words.insert(p.page.strip->sources().front().section(u' ', 1, 1));
        }
        QCOMPARE(words.size(), qsizetype(std::size(kStates)));
        p.set(State::BackingOff, "connection refused by 127.0.0.1:7070");
        const QString said = p.page.strip->sources().front();
        QVERIFY2(said.contains("Trying again in") && said.contains("connection refused"), qPrintable(said));
    }
    /// Never by colour alone: drawn in one ink, the marks still differ.
    void everyStateHasAShapeOfItsOwn()
    {
        applyTheme(*qApp, ThemeKind::Light);
        QSet<QByteArray> shapes;
        for (const State state : kStates) {
            QImage image(StateMark::kSize * 4, StateMark::kSize * 4, QImage::Format_ARGB32_Premultiplied);
            image.fill(Qt::transparent);
            QPainter painter(&image);
            painter.scale(4, 4);
            paintStateMark(painter, QRectF(0, 0, StateMark::kSize, StateMark::kSize), state);
            painter.end();
            const QImage shape = image.createAlphaMask();
            shapes.insert(QByteArray(reinterpret_cast<const char *>(shape.constBits()), shape.sizeInBytes()));
        }
        QCOMPARE(shapes.size(), qsizetype(std::size(kStates)));
    }
    void pauseAndDisconnectAreButtons()
    {
        Parts p;
        p.connectTo();
        p.set(State::Live);
        QTest::mouseClick(p.page.strip->pause, Qt::LeftButton);
        QVERIFY(p.live.isHeld());
        QCOMPARE(p.live.sources().front().status.state, State::Live); // it goes on, and is recorded
        QCOMPARE(p.page.strip->pause->text(), QStringLiteral("Resume"));
        QTest::mouseClick(p.page.strip->pause, Qt::LeftButton);
        QVERIFY(!p.live.isHeld());
        QCOMPARE(p.page.strip->pause->text(), QStringLiteral("Pause"));
        QTest::mouseClick(p.page.strip->disconnectAll, Qt::LeftButton);
        QVERIFY(!p.live.isLive());
    }
    void whatWasLostHasALineOfItsOwn()
    {
        Parts p;
        p.connectTo();
        QVERIFY(p.page.strip->dropped().isEmpty());
        p.session->tell([](SetSession &all) { all.sources.front().second.dropped = 5'000'000; });
        QTRY_VERIFY_WITH_TIMEOUT(p.page.strip->dropped().contains("5.00 MB"), kLong);
    }
    void theNewestStepIsShownAndScrubbingStays()
    {
        Parts p;
        p.connectTo();
        p.session->tell([](SetSession &all) {
            all.run.steps = 12;
            all.sources.front().second.state = State::Live;
        });
        QTRY_COMPARE_WITH_TIMEOUT(p.page.strip->step->figure(), QStringLiteral("11"), kLong);
        QTRY_VERIFY_WITH_TIMEOUT(p.page.stepText().startsWith("Follows"), kLong);
        QVERIFY(!p.page.strip->follow->isEnabled());
        QTest::mouseClick(p.page.scrubber->previous, Qt::LeftButton);
        QVERIFY(!p.live.isFollowing() && p.page.strip->follow->isEnabled());
        QTRY_VERIFY_WITH_TIMEOUT(p.page.stepText().startsWith("Stays"), kLong);
        p.session->tell([](SetSession &all) { all.run.steps = 20; });
        QTRY_COMPARE_WITH_TIMEOUT(p.page.strip->step->figure(), QStringLiteral("19"), kLong);
        QCOMPARE(p.runs.step()->number, std::int64_t(10));
        QTest::mouseClick(p.page.strip->follow, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(p.runs.step() && p.runs.step()->number == 19, kLong);
    }
    void theTableOfSourcesActsOnTheChosenOne()
    {
        Parts p;
        p.connectTo();
        p.connectTo("listen:4318");
        SourceTable *sources = p.page.sources;
        QVERIFY(!sources->chosen() && !sources->removeButton->isEnabled());
        sources->table->setFocus();
        sources->table->selectRow(0);
        p.set(State::BackingOff, "timed out");
        QVERIFY(sources->chosen() && sources->chosen()->number == p.live.sources().front().number); // stays chosen
        QVERIFY(sources->retry->isEnabled());
        QTest::mouseClick(sources->retry, Qt::LeftButton);
        QCOMPARE(p.session->told.size(), std::size_t(1));
        QTest::keyClick(sources->table, Qt::Key_C, Qt::ControlModifier);
        QVERIFY(QApplication::clipboard()->text().contains(u'\t'));
        QVERIFY(QApplication::clipboard()->text().contains("timed out"));
        QTest::mouseClick(sources->removeButton, Qt::LeftButton);
        QCOMPARE(p.live.sources().size(), std::size_t(1));
    }

    /// Steps that take half as long again: A acknowledges, M mutes and unmutes, and so do the buttons.
    void alarmsAreAnsweredByKeysAndButtons()
    {
        Parts p;
        p.showSlowSteps();
        LiveRow *row = p.page.alarms->rows().front();
        const AlarmList::Answers answers = p.page.alarms->answersOf(0);
        QTRY_VERIFY_WITH_TIMEOUT(answers.acknowledge->isVisible(), kLong);
        row->setFocus();
        QTest::keyClick(row, Qt::Key_A);
        const QString own = QString::fromStdString(desk::userName());
        QTRY_VERIFY2_WITH_TIMEOUT(row->note().contains("acknowledged by " + own), qPrintable(row->note()), kLong);
        QVERIFY(!answers.acknowledge->isVisible() && answers.mute->isVisible());
        QTest::mouseClick(answers.mute, Qt::LeftButton);
        QTRY_VERIFY2_WITH_TIMEOUT(row->note().contains("muted until"), qPrintable(row->note()), kLong);
        QCOMPARE(answers.mute->text(), QStringLiteral("Unmute"));
        QTest::keyClick(row, Qt::Key_M);
        QTRY_VERIFY2_WITH_TIMEOUT(!row->note().contains("muted until"), qPrintable(row->note()), kLong);
        QVERIFY(p.page.alarms->toTsv().contains("acknowledged by " + own));
    }

    void rulesOfAFileAreShownAndHeld()
    {
        Parts p;
        QVERIFY(p.page.rules->toTsv().contains("Clock\t0.9 share\tat once"));
        QVERIFY(p.page.rules->origin().startsWith("The usual rules"));
        QTemporaryDir folder;
        const QString file = folder.filePath("rules.json");
        const auto read = [&](const QByteArray &rules) {
            QFile made(file);
            if (!made.open(QIODevice::WriteOnly))
                qFatal("no room");
            made.write(rulesFile(rules));
            made.close();
            return p.live.readAlarmRules(file);
        };
        QVERIFY(read(R"({"clock": {"threshold": 0.8, "hold_s": 60}, "step-time": {"on": false}})").has_value());
        QVERIFY2(p.page.rules->toTsv().contains("Clock\t0.8 share\t60 s"), qPrintable(p.page.rules->toTsv()));
        QVERIFY(p.page.rules->toTsv().contains("Step time\toff\toff") && p.page.rules->origin().contains(file));
        const auto wrong = read(R"({"clock": {"threshold": 8}})");
        QVERIFY(
            !wrong && QString::fromStdString(wrong.error()[0].where).endsWith("rules.json: /rules/clock/threshold"));
        QVERIFY(p.page.rules->toTsv().contains("Clock\t0.8 share\t60 s")); // as before
        p.connectTo();
        p.session->tell([](SetSession &all) {
            all.run.steps = 60;
            all.run.slower = 1.5;
            all.run.slowerFrom = 30;
            all.sources.front().second.state = State::Live;
        });
        QTRY_VERIFY_WITH_TIMEOUT(p.live.steps().size() > 50, kLong);
        QVERIFY2(p.live.alarms().empty(), p.live.alarms().empty() ? "" : p.live.alarms()[0].sentence.c_str());
        QTest::mouseClick(p.page.rules->read, Qt::LeftButton); // asks whoever shows the page
    }

    /// A file that the window reads may be anybody's.
    void aCommandOfAFileThatIsReadHereIsNotRun()
    {
        Parts p;
        QTemporaryDir folder;
        QFile file(folder.filePath("rules.json"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(notifyingFile(folder.filePath("never")));
        file.close();
        const auto leftOut = p.live.readAlarmRules(file.fileName());
        QVERIFY(leftOut.has_value());
        QCOMPARE(*leftOut, (QStringList { "/bin/touch", "http://192.0.2.7:80" }));
        QCOMPARE(p.live.alarmOptions().setup.targets.size(), std::size_t(1));
        p.showSlowSteps();
        QVERIFY(!QFile::exists(folder.filePath("never")));
    }

    void whatHappenedIsSavedBesideARecording()
    {
        Parts p;
        p.showSlowSteps();
        p.live.acknowledge(p.live.alarmState(0)->number, "fan ordered");
        QTRY_VERIFY_WITH_TIMEOUT(p.live.alarmState(0)->acknowledged != 0, kLong);
        QTemporaryDir folder;
        QSignalSpy saved(&p.live, &LiveDocument::saved);
        p.live.save(folder.filePath("run.trainyard-recording"));
        QTRY_COMPARE_WITH_TIMEOUT(saved.size(), 1, kLong);
        QFile log(folder.filePath("run.alarms.jsonl"));
        QVERIFY(log.open(QIODevice::ReadOnly));
        const QByteArray text = log.readAll();
        QVERIFY2(text.contains("\"act\":\"raised\"") && text.contains("fan ordered"), text.constData());
    }
};

TRAINYARD_TEST(LivePartsTest)
#include "tst_live_parts.moc"
