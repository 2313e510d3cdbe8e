// SPDX-License-Identifier: GPL-3.0-or-later
// Every command of the window, the palette and the overlay made from them, themes, layout and tour.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "models/installed_files.h"
#include "views/commands/command_palette.h"
#include "views/commands/shortcut_overlay.h"
#include "views/window/page_switcher.h"

#include <QFile>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QRegularExpression>
#include <QSet>

#include <algorithm>

using namespace trainyard;

class WindowCommandsTest : public QObject {
    Q_OBJECT
private slots:
    void everyCommandHasANameAndKeysOfItsOwn()
    {
        WindowFixture f;
        QSet<QString> ids;
        QSet<QString> keys;
        for (const Command &command : f.window.commands().commands()) {
            QVERIFY2(!ids.contains(command.id), qPrintable(command.id));
            ids.insert(command.id);
            QVERIFY(!command.text.isEmpty() && !command.group.isEmpty());
            for (const QKeySequence &key : command.shortcuts) {
                QVERIFY2(!keys.contains(key.toString()), qPrintable(key.toString()));
                keys.insert(key.toString());
            }
        }
    }
    void everyPanelCanBeReachedFromTheMenu()
    {
        WindowFixture f;
        const auto *bar = f.window.findChild<QMenuBar *>();
        QVERIFY(bar);
        QSet<QAction *> inMenus;
        for (const QAction *title : bar->actions())
            for (QAction *action : title->menu()->actions()) {
                inMenus.insert(action);
                for (QAction *below : action->menu() ? action->menu()->actions() : QList<QAction *>())
                    inMenus.insert(below);
            }
        for (const Command &command : f.window.commands().commands())
            if (command.group == "Panels")
                QVERIFY2(inMenus.contains(f.window.commands().action(command.id)), qPrintable(command.id));
    }
    void noMenuHasMoreThanADozenEntries()
    {
        WindowFixture f;
        const auto *bar = f.window.findChild<QMenuBar *>();
        QVERIFY(bar);
        QStringList titles;
        for (const QAction *title : bar->actions()) {
            titles << QString(title->text()).remove(u'&');
            const auto entries = std::ranges::count_if(
                title->menu()->actions(), [](const QAction *action) { return !action->isSeparator(); });
            QVERIFY2(entries >= 3 && entries <= 12, qPrintable(titles.back() + QString::number(entries)));
        }
        QCOMPARE(titles, (QStringList { "File", "Edit", "Design", "Analyse", "Run", "Search", "View", "Help" }));
    }
    /// Beside the menus stands where one is; the list there opens every page, and says which one it is that is shown.
    void theSwitcherSaysWhereOneIsAndOpensThePages()
    {
        WindowFixture f;
        PageSwitcher &switcher = f.window.switcher();
        QVERIFY(switcher.isVisible());
        QCOMPARE(switcher.place(), QStringLiteral("Plan"));
        const QList<QAction *> pages = switcher.pages()->actions();
        QVERIFY(pages.size() >= 8);
        const int width = switcher.width();
        for (QAction *page : pages) {
            QTest::mouseClick(&switcher, Qt::LeftButton);
            QVERIFY(switcher.pages()->isVisible());
            if (!page->isEnabled()) { // the model has no experts, and there is one variant
                QVERIFY2((QStringList { "Expert layer", "Compare" }).contains(page->text()), qPrintable(page->text()));
                QTest::keyClick(switcher.pages(), Qt::Key_Escape);
                continue;
            }
            QTest::mouseClick(switcher.pages(), Qt::LeftButton, {}, switcher.pages()->actionGeometry(page).center());
            QTRY_COMPARE(switcher.place(), page->text());
            QVERIFY(switcher.text().startsWith(page->text()));
            QVERIFY2(page->isChecked(), qPrintable(page->text()));
            QCOMPARE(
                std::ranges::count_if(pages, [](const QAction *one) { return one->isChecked(); }), std::ptrdiff_t(1));
            QCOMPARE(switcher.width(), width); // nothing beside it moves
        }
        f.window.showWorkbench();
        QCOMPARE(switcher.place(), QStringLiteral("Plan"));
    }
    void pagesOfDocumentationAreFoundAndWhereTheyCannotBeShownItIsSaid()
    {
        WindowFixture f;
        QVERIFY2(QFile::exists(documentationFolder() + "/window.md"), qPrintable(documentationFolder()));
        const QStringList places = candidateFolders("docs", "doc/trainyard/docs");
        QVERIFY(places.filter(QRegularExpression("/share/doc/trainyard/docs$")).size() == 1);
        QVERIFY(f.window.commands().trigger("help.documentation"));
        QVERIFY(f.window.messages().text("help").isEmpty());
        f.answers.isDocumented = false;
        QVERIFY(f.window.commands().trigger("help.documentation"));
        QVERIFY(!f.window.messages().text("help").isEmpty());
    }
    void everyCommandCanBeTriggered()
    {
        WindowFixture f;
        f.answers.unsaved = Prompts::Unsaved::Discard;
        for (const Command &command : f.window.commands().commands()) {
            // These open dialogs of their own, or end the window.
            if (!command.run || command.id == "file.quit" || command.id == "plan.addDatacenter"
                || command.id == "plan.editSelection")
                continue;
            f.window.commands().trigger(command.id);
            QApplication::processEvents();
        }
        f.settle();
        QCOMPARE(f.answers.abouts, 1);
    }
    void thePaletteFindsAndRunsACommand()
    {
        WindowFixture f;
        Plan next = *f.document.plan();
        next.workload.globalBatch *= 2;
        f.document.apply(std::make_shared<const Plan>(next));
        QVERIFY(f.window.commands().trigger("help.palette"));
        QVERIFY(f.window.palettePopup().isVisible());
        auto *field = f.window.palettePopup().findChild<QLineEdit *>();
        QTest::keyClicks(field, "undo");
        QTest::keyClick(field, Qt::Key_Return);
        QVERIFY(!f.window.palettePopup().isVisible());
        QVERIFY(!f.document.undoStack().canUndo());
    }
    void theOverlayShowsTheKeysAndGoesAtAnyKey()
    {
        WindowFixture f;
        QVERIFY(f.window.commands().trigger("help.keys"));
        QVERIFY(f.window.overlay().isVisible());
        QTest::keyClick(&f.window.overlay(), Qt::Key_Escape);
        QVERIFY(!f.window.overlay().isVisible());
    }
    void theTourHasThreeStepsAndDoesNotComeBack()
    {
        WindowFixture f;
        QVERIFY(!TourStrip::wasDismissed());
        f.window.tour().start();
        for (int step = 0; step < 3; ++step) {
            QVERIFY(f.window.tour().isVisible());
            f.window.tour().next();
        }
        QVERIFY(!f.window.tour().isVisible());
        QVERIFY(TourStrip::wasDismissed());
    }
    void themesFollowTheChoiceAndAreRemembered()
    {
        WindowFixture f;
        QVERIFY(f.window.commands().trigger("theme.light"));
        QVERIFY(!theme().isDark);
        QVERIFY(MainWindow::rememberedTheme() == ThemeKind::Light);
        QVERIFY(f.window.commands().trigger("theme.highContrast"));
        QVERIFY(theme().isDark);
    }
    void theLayoutIsRemembered()
    {
        WindowFixture f;
        const QByteArray state = f.window.workbench().layoutState();
        f.window.workbench().resetLayout();
        f.window.workbench().restoreLayout(state);
        QCOMPARE(f.window.workbench().layoutState(), state);
    }
};

TRAINYARD_TEST(WindowCommandsTest)
#include "tst_window_commands.moc"
