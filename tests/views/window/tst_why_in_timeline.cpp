// SPDX-License-Identifier: GPL-3.0-or-later
// Every second of Why can be found in the timeline by a click, or by the keyboard, in the whole window.
#include "models/text/format.h"
#include "tests/support/test_program.h"
#include "tests/views/window/window_fixture.h"
#include "views/commands/command_registry.h"
#include "views/panels/breakdown_bar.h"
#include "views/panels/part_button.h"
#include "views/panels/why_panel.h"
#include "views/timeline/timeline_view.h"
#include "views/window/workbench.h"

#include <QDir>

using namespace trainyard;

class WhyInTimelineTest : public QObject {
    Q_OBJECT

    static std::vector<PartButton *> entries(WindowFixture &f)
    {
        std::vector<PartButton *> shown;
        for (PartButton *button : f.window.workbench().why->findChildren<PartButton *>())
            if (button->isVisible())
                shown.push_back(button);
        return shown;
    }

private slots:
    /// Seconds of the focus = seconds of the entry; over all entries they add up to the iteration.
    void everyEntryOfEverySampleLeadsToItsSeconds()
    {
        int clicked = 0;
        for (const QString &file :
            QDir(QStringLiteral(TRAINYARD_SOURCE_DIR "/samples")).entryList({ QStringLiteral("*.trainyard.json") })) {
            WindowFixture f(file.chopped(int(strlen(".trainyard.json"))));
            if (hasJobs(*f.document.plan()))
                continue; // it has no iteration
            const TimelineView *timeline = f.window.workbench().timeline;
            double sum = 0;
            for (PartButton *button : entries(f)) {
                QTest::mouseClick(button, Qt::LeftButton);
                QVERIFY2(timeline->state().focus && button->isChecked(), qPrintable(file + button->text()));
                QVERIFY2(button->text().contains(formatSeconds(timeline->state().focus->seconds)),
                    qPrintable(file + button->text() + timeline->state().focus->text()));
                sum += timeline->state().focus->seconds;
                QVERIFY(timeline->selectedSpan() != kNoSpan || timeline->state().focus->largest.span == kNoSpan);
                ++clicked;
            }
            QVERIFY(std::abs(sum - *timeline->evaluation()->metrics.iterationTime) < 1e-6 * sum);
        }
        QVERIFY(clicked > 30);
    }

    void anotherClickEndsItAndWhyStaysInFront()
    {
        WindowFixture f;
        Workbench &bench = f.window.workbench();
        const auto buttons = entries(f);
        QVERIFY(buttons.size() >= 4);
        QTest::mouseClick(buttons[0], Qt::LeftButton);
        QTest::mouseClick(buttons[1], Qt::LeftButton);
        QVERIFY(!buttons[0]->isChecked() && buttons[1]->isChecked());
        QVERIFY(bench.why->isVisible());
        QTest::mouseClick(buttons[1], Qt::LeftButton);
        QVERIFY(!buttons[1]->isChecked());
        QVERIFY(bench.timeline->focusedParts().empty());
        QCOMPARE(bench.timeline->selectedSpan(), kNoSpan);
        QVERIFY(bench.why->isVisible());
    }

    void aClickOnTheBarDoesTheSame()
    {
        WindowFixture f;
        auto *bar = f.window.workbench().why->findChild<BreakdownBar *>();
        QTest::mouseClick(bar, Qt::LeftButton, {}, QPoint(20, 8)); // the first part
        QCOMPARE(f.window.workbench().timeline->focusedParts(), bar->parts().front().parts);
        QVERIFY(entries(f)[0]->isChecked());
        QTest::mouseClick(bar, Qt::LeftButton, {}, QPoint(bar->width() - 3, 8)); // what is idle comes last
        QCOMPARE(f.window.workbench().timeline->focusedParts(), std::vector { &Breakdown::bubble });
        QTest::mouseClick(bar, Qt::LeftButton, {}, QPoint(bar->width() - 3, 8));
        QVERIFY(f.window.workbench().timeline->focusedParts().empty());
    }

    void theKeyboardDoesItToo()
    {
        WindowFixture f;
        const TimelineView *timeline = f.window.workbench().timeline;
        const auto buttons = entries(f);
        buttons[0]->setFocus(Qt::TabFocusReason);
        QTest::keyClick(buttons[0], Qt::Key_Space);
        QCOMPARE(timeline->focusedParts(), buttons[0]->parts());
        QVERIFY(buttons[0]->hasFocus());
        QTest::keyClick(buttons[0], Qt::Key_Tab);
        QCOMPARE(QApplication::focusWidget(), static_cast<QWidget *>(buttons[1]));
        QTest::keyClick(buttons[1], Qt::Key_Return);
        QCOMPARE(timeline->focusedParts(), buttons[1]->parts());
        QTest::keyClick(buttons[1], Qt::Key_Escape);
        QVERIFY(timeline->focusedParts().empty());
        QVERIFY(!buttons[1]->isChecked());
    }

    void theCommandShowsWhatOperationsExchangeOrNot()
    {
        WindowFixture f;
        const TimelineState &state = f.window.workbench().timeline->state();
        QVERIFY(state.showsInside);
        QVERIFY(f.window.commands().trigger("timeline.inside"));
        QVERIFY(!state.showsInside);
        QVERIFY(f.window.commands().trigger("timeline.inside"));
        QVERIFY(state.showsInside);
    }

    void afterAClickEscapeReachesTheTimeline()
    {
        WindowFixture f;
        const auto buttons = entries(f);
        QTest::mouseClick(buttons[0], Qt::LeftButton);
        QVERIFY(f.window.workbench().timeline->hasFocus());
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
        QVERIFY(f.window.workbench().timeline->focusedParts().empty());
        QVERIFY(!buttons[0]->isChecked());
    }
};

TRAINYARD_TEST(WhyInTimelineTest)
#include "tst_why_in_timeline.moc"
