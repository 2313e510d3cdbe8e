// SPDX-License-Identifier: GPL-3.0-or-later
// Recorded runs in a meeting: they are added, compared with the plan that is shown, and read again with the session.
#include "tests/support/test_program.h"
#include "tests/views/run/small_run.h"
#include "window_fixture.h"

#include "core/facts/session/session_io.h"
#include "models/loaded_runs.h"
#include "models/session/session_document.h"
#include "views/run/run_chips.h"
#include "views/run/run_page.h"
#include "views/session/compare_page.h"
#include "views/session/compared_timeline.h"
#include "views/session/measured_chart.h"
#include "views/session/run_comparison_view.h"
#include "views/window/session_actions.h"

#include <QComboBox>
#include <QDir>
#include <QToolButton>

using namespace trainyard;
using trainyard::testing::SmallRun;

namespace {

struct RunMeeting : WindowFixture {
    LoadedRuns &loaded = window.loadedRuns();

    bool open(const SmallRun &small, const QString &name)
    {
        const std::size_t before = loaded.all().size();
        answers.runFolder = small.write(folder.filePath(name));
        return window.commands().trigger(QStringLiteral("run.openFolder")) && test::until([&] {
            return loaded.all().size() == before + 1 && window.runs().overlay()
                && window.runs().overlay()->run == window.runs().run();
        });
    }
    void key(Qt::KeyboardModifiers modifiers, Qt::Key key)
    {
        QTest::keyClick(window.focusWidget() ? window.focusWidget() : &window, key, modifiers);
        QApplication::processEvents();
    }
};

} // namespace

class MeetingRunsTest : public QObject {
    Q_OBJECT
private slots:
    void theKeyThatComparesTakesTheRunWhereThereIsNoOtherVariant()
    {
        RunMeeting m;
        QVERIFY(!m.window.commands().action(QStringLiteral("view.comparison"))->isEnabled());
        QVERIFY(m.open({}, "monday") && m.open({ .computeMs = 15 }, "tuesday"));
        QVERIFY(m.window.run().chips()->isVisible());
        m.key(Qt::ControlModifier | Qt::ShiftModifier, Qt::Key_E);
        ComparePage &page = m.window.sessionActions().comparison();
        QVERIFY(test::until([&] { return page.isVisible() && page.runView() && page.runView()->comparison().pair(); }));
        QCOMPARE(page.after->currentText(), QStringLiteral("tuesday (run)"));
        QCOMPARE(page.before->count(), 3);
        const ComparedRuns &pair = *page.runView()->comparison().pair();
        QCOMPARE(pair.evaluation->plan, m.document.plan());
        QCOMPARE(pair.after.run, m.window.runs().run());
        QVERIFY(page.runView()->lower->run->isVisible());
    }

    void aSessionKeepsWhereItsRunsWereReadFrom()
    {
        QTemporaryDir shared;
        const QString path = shared.filePath("m.trainyard-session");
        const QString monday = SmallRun().write(shared.filePath("monday")),
                      tuesday = SmallRun { .computeMs = 15 }.write(shared.filePath("tuesday"));
        {
            RunMeeting m;
            for (const QString &folder : { monday, tuesday }) {
                const std::size_t before = m.loaded.all().size();
                m.window.runs().open({ folder });
                QVERIFY(test::until([&] { return m.loaded.all().size() == before + 1; }));
            }
            m.loaded.show(m.loaded.all()[0].id);
            QSignalSpy saved(&m.window.session(), &SessionDocument::saved);
            m.window.session().saveAs(path);
            QVERIFY(test::until([&] { return saved.count() == 1; }));
        }
        const auto file = readSession(path.toStdString());
        QVERIFY(file && file->view.find("tuesday") != std::string::npos);
        QVERIFY(file->view.size() < 20'000); // paths, not what was measured
        QVERIFY(QDir(tuesday).removeRecursively());
        RunMeeting m;
        m.window.files().open(path);
        QVERIFY(test::until([&] { return m.loaded.all().size() == 2 && !m.loaded.all()[1].errors.empty(); }));
        QVERIFY(test::until([&] { return m.window.runs().run() != nullptr; }));
        QCOMPARE(m.loaded.current(), m.loaded.all()[0].id);
        QCOMPARE(QString::fromStdString(m.window.runs().run()->recording->name), QStringLiteral("monday"));
        m.window.showRun();
        QVERIFY(test::until([&] {
            const QToolButton *chip = m.window.run().chips()->chip(m.loaded.all()[1].id);
            return chip && chip->text() == QStringLiteral("tuesday could not be read");
        }));
    }
};

TRAINYARD_TEST(MeetingRunsTest)
#include "tst_meeting_runs.moc"
