// SPDX-License-Identifier: GPL-3.0-or-later
// A meeting without a mouse: each thing that cards, board, comparison and the list of edits offer has a key or a name
// in the palette; and the page of keys says what the program has.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "models/edit_history.h"
#include "models/session/session_document.h"
#include "views/panels/edits_panel.h"
#include "views/panels/evidence_table.h"
#include "views/session/board_page.h"
#include "views/session/compare_page.h"
#include "views/session/variant_card.h"
#include "views/session/variant_strip.h"
#include "views/window/session_actions.h"

#include <QAbstractButton>
#include <QCheckBox>
#include <QComboBox>
#include <QFile>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QToolButton>

#include <map>

using namespace trainyard;

namespace {

struct Keyed : WindowFixture {
    SessionDocument &session = window.session();
    SessionActions &actions = window.sessionActions();

    void key(Qt::KeyboardModifiers modifiers, Qt::Key key)
    {
        QApplication::setActiveWindow(&window);
        QTest::keyClick(QApplication::focusWidget() ? QApplication::focusWidget() : &window, key, modifiers);
        QApplication::processEvents();
    }
    void twoVariants()
    {
        key(Qt::ControlModifier, Qt::Key_D);
        settle();
        QCOMPARE(session.variants().size(), std::size_t(2));
    }
    [[nodiscard]] bool has(const QString &id)
    {
        window.commands().refresh();
        return window.commands().action(id) && window.commands().action(id)->isEnabled();
    }
};

/// "Ctrl+D" as pages write it.
QString keysAsWritten(const Command &command)
{
    QStringList keys;
    for (const QKeySequence &one : command.shortcuts)
        keys << one.toString(QKeySequence::PortableText);
    if (!command.keyHint.isEmpty())
        keys << command.keyHint;
    return keys.join(QStringLiteral(", ")).replace(u'|', QStringLiteral("\\|"));
}

/// The page's tables, as the registry makes them.
QString keyTables(const CommandRegistry &registry)
{
    QStringList groups;
    std::map<QString, QString> rows;
    for (const Command &command : registry.commands()) {
        const QString keys = keysAsWritten(command);
        if (keys.isEmpty())
            continue;
        if (!groups.contains(command.group))
            groups << command.group;
        rows[command.group] +=
            QStringLiteral("| `%1` | %2 |\n").arg(keys, QString(command.text).remove(u'&').remove(u'…'));
    }
    QString page;
    for (const QString &group : groups)
        page += QStringLiteral("\n## %1\n\n| keys | |\n|---|---|\n%2").arg(group, rows[group]);
    return page;
}

} // namespace

class MeetingKeysTest : public QObject {
    Q_OBJECT
private slots:
    void whatTheBoardOffersToTheMouseHasACommand()
    {
        Keyed k;
        k.twoVariants();
        k.session.decide("Both, because …");
        k.key(Qt::ControlModifier | Qt::ShiftModifier, Qt::Key_D);
        BoardPage &board = k.actions.board();
        QVERIFY(board.isVisible());
        // Text of a button or an entry of a menu, and the command that does the same.
        const std::map<QString, QString> commands { { "+ Variant", "variant.branch" }, { "Board", "view.board" },
            { "Compare…", "view.comparison" }, { "Compare", "view.comparison" }, { "Save the session", "session.save" },
            { "Show", "variant.next" }, { "Make it the baseline", "variant.baseline" },
            { "No longer the baseline", "variant.notBaseline" }, { "Decide for it…", "variant.decide" },
            { "Earlier on the board", "variant.earlier" }, { "Later on the board", "variant.later" },
            { "Export its plan…", "export.plan" }, { "Remove", "variant.remove" },
            { "Bring back what was removed", "variant.restore" } };
        QStringList offered;
        for (const QAbstractButton *button : board.findChildren<QAbstractButton *>())
            if (!button->text().isEmpty() && button != board.back)
                offered << button->text();
        offered << k.actions.strip().branch->text() << k.actions.strip().board->text();
        for (const Variant &one : k.session.variants()) {
            QMenu *menu = board.card(one.id)->more->menu();
            emit menu->aboutToShow();
            for (const QAction *entry : menu->actions())
                if (!entry->isSeparator())
                    offered << entry->text();
        }
        QVERIFY(offered.size() > 15);
        for (const QString &text : offered) {
            if (text == QStringLiteral("⋯")) // opens the menu that is asked here
                continue;
            const auto known = commands.find(text);
            QVERIFY2(known != commands.end(), qPrintable(text));
            QVERIFY2(k.window.commands().action(known->second), qPrintable(known->second));
        }
    }
    void nameNoteColourAndPlaceOfAVariantByKeyboard()
    {
        Keyed k;
        k.twoVariants();
        const std::string b = k.session.current();
        k.key(Qt::ControlModifier, Qt::Key_F2);
        QTest::keyClicks(QApplication::focusWidget(), "Two regions");
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
        QCOMPARE(k.session.value().variant(b)->name, std::string("Two regions"));
        k.key(Qt::ControlModifier | Qt::ShiftModifier, Qt::Key_N);
        QTest::keyClicks(QApplication::focusWidget(), "less egress");
        k.key(Qt::ControlModifier | Qt::ShiftModifier, Qt::Key_Return); // on to the decision
        QCOMPARE(k.session.value().variant(b)->note, std::string("less egress"));
        QTest::keyClicks(QApplication::focusWidget(), "Two regions, because of egress");
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
        QCOMPARE(k.session.value().decisions.size(), std::size_t(1));
        QCOMPARE(k.session.value().decisions.front().variant, b);
        const std::string before = k.session.currentVariant().color;
        QVERIFY(k.window.commands().trigger("variant.color"));
        QVERIFY(k.session.currentVariant().color != before);
        k.key(Qt::AltModifier | Qt::ShiftModifier, Qt::Key_PageUp);
        QCOMPARE(k.session.variants().front().id, b);
        QVERIFY(!k.has("variant.earlier"));
        k.key(Qt::AltModifier | Qt::ShiftModifier, Qt::Key_PageDown);
        QCOMPARE(k.session.variants().back().id, b);
        QVERIFY(k.window.commands().trigger("decision.takeBack"));
        QVERIFY(k.session.value().decisions.empty());
        QVERIFY(!k.has("decision.takeBack"));
    }
    void theComparisonByKeyboard()
    {
        Keyed k;
        k.twoVariants();
        k.session.branch();
        k.settle();
        QVERIFY(!k.has("compare.swap")); // nothing is compared yet
        k.key(Qt::ControlModifier | Qt::ShiftModifier, Qt::Key_E);
        ComparePage &page = k.actions.comparison();
        QVERIFY(page.isVisible());
        const QString upper = page.before->currentText(), lower = page.after->currentText();
        k.key(Qt::ControlModifier | Qt::ShiftModifier, Qt::Key_X);
        QCOMPARE(page.before->currentText(), lower);
        QCOMPARE(page.after->currentText(), upper);
        const int at = page.after->currentIndex();
        k.key(Qt::ControlModifier | Qt::ShiftModifier, Qt::Key_PageDown);
        QCOMPARE(page.after->currentIndex(), (at + 1) % page.after->count());
        k.key(Qt::ControlModifier | Qt::ShiftModifier, Qt::Key_PageUp);
        QCOMPARE(page.after->currentIndex(), at);
        const bool locked = page.locked->isChecked(), range = page.range->isChecked();
        k.key(Qt::ControlModifier | Qt::ShiftModifier, Qt::Key_K);
        k.key(Qt::ControlModifier | Qt::ShiftModifier, Qt::Key_I);
        QCOMPARE(page.locked->isChecked(), !locked);
        QCOMPARE(page.range->isChecked(), !range);
    }
    void theListOfEditsByKeyboard()
    {
        Keyed k;
        const PlanPtr opened = k.document.plan();
        Plan next = *opened;
        for (const char *text : { "Twice the batch", "Four times" }) {
            next.workload.globalBatch *= 2;
            k.document.apply(std::make_shared<const Plan>(next), QString::fromLatin1(text));
            k.settle();
        }
        const PlanPtr last = k.document.plan();
        k.key(Qt::ControlModifier, Qt::Key_H);
        QAbstractItemView *table = k.window.workbench().edits->table();
        QVERIFY(table->hasFocus());
        QCOMPARE(table->currentIndex().row(), 2); // where one is
        QCOMPARE(table->model()->index(1, 0).data().toString(), QStringLiteral("Twice the batch"));
        k.key({}, Qt::Key_Up);
        k.key({}, Qt::Key_Up);
        QCOMPARE(k.document.plan(), last); // looking is not going
        k.key({}, Qt::Key_Return);
        k.settle();
        QCOMPARE(k.document.plan(), opened);
        QVERIFY(table->hasFocus());
        QCOMPARE(table->currentIndex().row(), 0);
        k.key({}, Qt::Key_Down);
        k.key({}, Qt::Key_Return);
        k.settle();
        QCOMPARE(k.document.undoStack().index(), 1);
    }
    /// docs/keys.md has exactly the keys of the registry, group by group.
    void thePageOfKeysHasTheKeysOfTheProgram()
    {
        Keyed k;
        QFile file(QStringLiteral(TRAINYARD_SOURCE_DIR "/docs/keys.md"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QString page = QString::fromUtf8(file.readAll());
        const QString expected = keyTables(k.window.commands());
        const qsizetype at = page.indexOf(QStringLiteral("\n## "));
        if (page.mid(at) != expected) {
            QFile made(QDir::temp().filePath(QStringLiteral("trainyard-keys.md")));
            QVERIFY(made.open(QIODevice::WriteOnly));
            made.write((page.left(at) + expected).toUtf8());
            QFAIL(qPrintable(QStringLiteral("%1 is how docs/keys.md should be").arg(made.fileName())));
        }
    }
};

TRAINYARD_TEST(MeetingKeysTest)
#include "tst_meeting_keys.moc"
