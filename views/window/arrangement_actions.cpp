// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/arrangement_actions.h"

#include "models/text/foreign_text.h"
#include "views/commands/command_registry.h"
#include "views/parts/message_bar.h"
#include "views/window/arrangement_list.h"
#include "views/window/command_text.h"
#include "views/window/main_window.h"

#include <QSettings>

namespace trainyard {

namespace {

const QString kShownKey = QStringLiteral("window/arrangement");

QString ownId(int place)
{
    return QStringLiteral("arrangement.own%1").arg(place + 1);
}

} // namespace

ArrangementActions::ArrangementActions(MainWindow &window)
    : QObject(&window)
    , m_window(window)
    , m_list(new ArrangementList(m_store, &window))
    , m_shown(QSettings().value(kShownKey).toString())
{
    if (!m_store.find(m_shown))
        m_shown.clear();
    connect(m_list, &ArrangementList::chosen, this, &ArrangementActions::show);
    connect(m_list, &ArrangementList::saveRequested, this, &ArrangementActions::save);
    connect(m_list, &ArrangementList::removed, this, [this](const QString &name) {
        m_window.messages().show({ QStringLiteral("arrangement"), Message::Tone::Info,
            tr("Arrangement “%1” was removed.").arg(foreignText(name)), {},
            { { tr("Bring it back"), [this] { m_store.restoreRemoved(); } } } });
    });
    connect(&m_store, &ArrangementStore::renamed, this, [this](const QString &before, const QString &after) {
        if (m_shown == before)
            remember(after);
    });
    connect(&m_store, &ArrangementStore::changed, this, [this] {
        if (!m_store.find(m_shown))
            remember({});
        showOwnCommands();
    });
}

bool ArrangementActions::show(const QString &name)
{
    const NamedArrangement *found = m_store.find(name);
    if (!found)
        return false;
    m_window.showWorkbench();
    m_window.workbench().setArrangement(found->value);
    remember(found->name);
    return true;
}

void ArrangementActions::save(const QString &name)
{
    m_window.showWorkbench();
    const QString saved = m_store.save(name, m_window.workbench().arrangement());
    if (saved.isEmpty())
        return;
    remember(saved);
    m_window.messages().show({ QStringLiteral("arrangement"), Message::Tone::Info,
        tr("The panels as they lie are saved as “%1”.").arg(foreignText(saved)), {}, {} });
}

void ArrangementActions::openList()
{
    m_list->open(m_shown);
}

void ArrangementActions::reset()
{
    m_window.showWorkbench();
    m_window.workbench().resetLayout();
    remember({});
}

void ArrangementActions::remember(const QString &name)
{
    m_shown = name;
    QSettings().setValue(kShownKey, name);
    m_window.commands().refresh();
}

/// In the menu stand those that there are.
void ArrangementActions::showOwnCommands()
{
    m_window.commands().refresh();
    for (int i = 0; i < kOwnKeys; ++i)
        if (QAction *action = m_window.commands().action(ownId(i)))
            action->setVisible(i < int(m_store.own().size()));
}

void addArrangementCommands(CommandRegistry &registry, MainWindow &window)
{
    ArrangementActions &actions = window.arrangements();
    const QString group = commandText("Arrangement");
    const struct {
        const char *id, *label;
        Qt::Key key;
    } own[] = {
        { "design", "&Design: map and strategies", Qt::Key_1 },
        { "analyse", "&Analyse: timeline, charts and Why", Qt::Key_2 },
        { "run", "&Run: timeline, map and Details", Qt::Key_3 },
        { "present", "&Present: map and timeline alone", Qt::Key_4 },
    };
    for (std::size_t i = 0; i < std::size(own); ++i) {
        const QString name = builtInArrangements()[i].name;
        registry.add({ .id = QStringLiteral("arrangement.") + QLatin1String(own[i].id),
            .group = group,
            .text = commandText(own[i].label),
            .shortcuts = { QKeySequence(Qt::CTRL | own[i].key) },
            .run = [&actions, name] { actions.show(name); },
            .isChecked = [&actions, name] { return actions.shown() == name; } });
    }
    for (int i = 0; i < ArrangementActions::kOwnKeys; ++i) {
        const auto has = [&actions, i] { return i < int(actions.store().own().size()); };
        const auto name = [&actions, i, has] {
            return has() ? actions.store().own()[std::size_t(i)].name : commandText("Your arrangement %1").arg(i + 1);
        };
        registry.add({ .id = ownId(i),
            .group = group,
            .text = commandText("Your arrangement %1").arg(i + 1),
            .shortcuts = { QKeySequence(Qt::CTRL | Qt::Key(Qt::Key_5 + i)) },
            .run = [&actions, name] { actions.show(name()); },
            .isEnabled = has,
            .isChecked = [&actions, name, has] { return has() && actions.shown() == name(); },
            .describe = [name] { return foreignText(name()).replace(u'&', QStringLiteral("&&")); } });
        registry.action(ownId(i))->setVisible(has());
    }
    registry.add({ .id = "arrangement.list",
        .group = group,
        .text = commandText("&Save, rename or remove…"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_A) },
        .run = [&actions] { actions.openList(); } });
    registry.add({ .id = "view.resetLayout",
        .group = commandText("Panels"),
        .text = commandText("Reset the &layout"),
        .run = [&actions] { actions.reset(); } });
}

} // namespace trainyard
