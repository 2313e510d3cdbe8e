// SPDX-License-Identifier: GPL-3.0-or-later
// What the mouse does on the board, on cards and on the comparison, as commands.
#include "views/commands/command_registry.h"
#include "views/session/board_page.h"
#include "views/session/compare_page.h"
#include "views/session/variant_card.h"
#include "views/session/variant_color.h"
#include "views/window/command_text.h"
#include "views/window/file_actions.h"
#include "views/window/main_window.h"
#include "views/window/session_actions.h"
#include "views/window/session_commands.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>

#include <algorithm>

namespace trainyard {

namespace {

int placeOfCurrent(const SessionDocument &session)
{
    return int(std::ranges::find(session.variants(), session.current(), &Variant::id) - session.variants().begin());
}

void moveCurrent(SessionDocument &session, int by)
{
    session.move(std::string(session.current()), placeOfCurrent(session) + by);
}

/// The next entry of a list, round its end.
void stepList(QComboBox &list, int by)
{
    if (list.count() > 1)
        list.setCurrentIndex((list.currentIndex() + by + list.count()) % list.count());
}

void addCardCommands(CommandRegistry &registry, MainWindow &window)
{
    SessionActions &actions = window.sessionActions();
    SessionDocument &session = actions.session();
    const QString group = commandText("Variants");
    const auto card = [&window, &actions]() -> VariantCard * {
        window.showBoard();
        return actions.board().card(actions.session().current());
    };
    registry.add({ .id = "variant.rename",
        .group = group,
        .text = commandText("Rena&me this variant"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::Key_F2) },
        .run = [card] {
            if (VariantCard *one = card()) {
                one->name->setFocus(Qt::ShortcutFocusReason);
                one->name->selectAll();
            }
        } });
    registry.add({ .id = "variant.note",
        .group = group,
        .text = commandText("Note of this &variant"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_N) },
        .run = [card] {
            if (VariantCard *one = card())
                one->note->setFocus(Qt::ShortcutFocusReason);
        } });
    registry.add({ .id = "variant.color",
        .group = group,
        .text = commandText("Next &colour of this variant"),
        .run = [&session] {
            session.setColor(
                session.current(), nextVariantColor(variantColor(session.currentVariant(), placeOfCurrent(session))));
        } });
    registry.add({ .id = "variant.earlier",
        .group = group,
        .text = commandText("Earlier on the board"),
        .shortcuts = { QKeySequence(Qt::ALT | Qt::SHIFT | Qt::Key_PageUp) },
        .run = [&session] { moveCurrent(session, -1); },
        .isEnabled = [&session] { return placeOfCurrent(session) > 0; } });
    registry.add({ .id = "variant.later",
        .group = group,
        .text = commandText("Later on the board"),
        .shortcuts = { QKeySequence(Qt::ALT | Qt::SHIFT | Qt::Key_PageDown) },
        .run = [&session] { moveCurrent(session, 1); },
        .isEnabled = [&session] { return placeOfCurrent(session) + 1 < int(session.variants().size()); } });
    registry.add({ .id = "variant.notBaseline",
        .group = group,
        .text = commandText("Compare with no baseline"),
        .run = [&session] { session.setBaseline({}); },
        .isEnabled = [&session] { return !session.value().baseline.empty(); } });
}

void addDecisionCommands(CommandRegistry &registry, MainWindow &window)
{
    SessionActions &actions = window.sessionActions();
    SessionDocument &session = actions.session();
    const QString group = commandText("Variants");
    registry.add({ .id = "decision.list",
        .group = group,
        .text = commandText("Decisions of the meeting"),
        .run =
            [&window, &actions] {
                window.showBoard();
                actions.board().decisions->setFocus(Qt::ShortcutFocusReason);
            },
        .isEnabled = [&session] { return !session.value().decisions.empty(); } });
    registry.add({ .id = "decision.takeBack",
        .group = group,
        .text = commandText("Take the last decision back"),
        .run = [&session] { session.removeDecision(session.value().decisions.size() - 1); },
        .isEnabled = [&session] { return !session.value().decisions.empty(); } });
    registry.add({ .id = "decision.keys.Del",
        .group = group,
        .text = commandText("Take the selected decision back"),
        .keyHint = "Del" });
    registry.add({ .id = "session.save", .group = group, .text = commandText("&Save the session"), .run = [&window] {
                      window.files().saveSession();
                  } });
    registry.add({ .id = "session.takeOthers",
        .group = group,
        .text = commandText("&Take in what others did"),
        .run = [&session] { session.takeOthers(); },
        .isEnabled = [&session] { return !session.path().isEmpty(); } });
}

void addComparisonCommands(CommandRegistry &registry, MainWindow &window)
{
    SessionActions &actions = window.sessionActions();
    const QString group = commandText("Comparison");
    const auto isShown = [&actions] { return actions.comparisonPlace().isVisible(); };
    const struct {
        const char *id, *label;
        QList<QKeySequence> keys;
        void (*run)(ComparePage &);
    } entries[] = {
        { "compare.swap", "&Swap the two variants", { Qt::CTRL | Qt::SHIFT | Qt::Key_X },
            [](ComparePage &page) { page.swap->click(); } },
        { "compare.next", "Compare with the &next variant", { Qt::CTRL | Qt::SHIFT | Qt::Key_PageDown },
            [](ComparePage &page) { stepList(*page.after, 1); } },
        { "compare.previous", "Compare with the &variant before", { Qt::CTRL | Qt::SHIFT | Qt::Key_PageUp },
            [](ComparePage &page) { stepList(*page.after, -1); } },
        { "compare.nextFirst", "Another variant on the upper timeline", {},
            [](ComparePage &page) { stepList(*page.before, 1); } },
        { "compare.axis", "&One axis for both timelines", { Qt::CTRL | Qt::SHIFT | Qt::Key_K },
            [](ComparePage &page) { page.locked->toggle(); } },
        { "compare.range", "Compare only what is &in view", { Qt::CTRL | Qt::SHIFT | Qt::Key_I },
            [](ComparePage &page) { page.range->toggle(); } },
    };
    for (const auto &entry : entries)
        registry.add({ .id = QLatin1String(entry.id),
            .group = group,
            .text = commandText(entry.label),
            .shortcuts = entry.keys,
            .run = [&actions, run = entry.run] { run(actions.comparison()); },
            .isEnabled = isShown });
}

} // namespace

void addMeetingCommands(CommandRegistry &registry, MainWindow &window)
{
    addCardCommands(registry, window);
    addDecisionCommands(registry, window);
    addComparisonCommands(registry, window);
}

} // namespace trainyard
