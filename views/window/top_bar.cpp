// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/top_bar.h"

#include "views/commands/command_registry.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QToolButton>

#include <algorithm>

namespace trainyard {

namespace {

// "-" is a separator; ids are the registry's. "recent" and "samples" stand for the menus that the window fills, a title
// with "&" for a menu of subMenus(). A menu has a dozen entries at most: what is not here the palette finds. All
// formats that are written stand in one, in groups.
struct MenuList {
    const char *title;
    QStringList ids;
};

const std::vector<MenuList> &subMenus()
{
    static const std::vector<MenuList> lists {
        { QT_TRANSLATE_NOOP("TopBar", "&Export"),
            { "export.html", "export.pdf", "-", "export.trace", "export.timeline", "export.numbers", "-", "export.plan",
                "-", "export.megatron", "export.torchtitan", "export.megatronBridge", "export.deepspeed", "-",
                "export.slurm", "export.trainjob", "export.jobset", "export.skypilot", "-", "export.dot" } },
        { QT_TRANSLATE_NOOP("TopBar", "&Variants"),
            { "variant.branch", "view.board", "view.comparison", "-", "variant.next", "variant.previous", "-",
                "variant.baseline", "variant.decide", "-", "variant.rename", "variant.note", "variant.color",
                "variant.earlier", "variant.later", "-", "variant.remove", "variant.restore", "-", "session.save",
                "session.takeOthers" } },
        { QT_TRANSLATE_NOOP("TopBar", "On the &map"),
            { "plan.addDatacenter", "plan.addLink", "-", "plan.editSelection", "plan.removeSelection",
                "plan.resetPositions" } },
        { QT_TRANSLATE_NOOP("TopBar", "&Many models"),
            { "view.jobs", "-", "jobs.add", "jobs.grid", "-", "jobs.compare" } },
        { QT_TRANSLATE_NOOP("TopBar", "In the &timeline"),
            { "timeline.fit", "timeline.zoomIn", "timeline.zoomOut", "-", "timeline.criticalPath", "timeline.measured",
                "timeline.find" } },
        { QT_TRANSLATE_NOOP("TopBar", "E&xperts"),
            { "view.experts", "view.layer", "-", "experts.show", "experts.next", "experts.previous", "experts.hide" } },
        { QT_TRANSLATE_NOOP("TopBar", "&Compare with"),
            { "run.compare", "run.compareFolder", "run.endComparison", "run.besidePlan" } },
        { QT_TRANSLATE_NOOP("TopBar", "&Arrangement of panels"),
            { "arrangement.design", "arrangement.analyse", "arrangement.run", "arrangement.present", "-",
                "arrangement.own1", "arrangement.own2", "arrangement.own3", "arrangement.own4", "arrangement.own5", "-",
                "arrangement.list", "view.resetLayout" } },
        { QT_TRANSLATE_NOOP("TopBar", "&Live"),
            { "live.connect", "live.replay", "live.replayThis", "-", "live.pause", "live.follow", "live.whatIf", "-",
                "live.save", "live.disconnect" } },
    };
    return lists;
}

/// In the order of the work: a plan is designed, understood, held against its run, and searched for.
const std::vector<MenuList> &menuLists()
{
    static const std::vector<MenuList> lists {
        { QT_TRANSLATE_NOOP("TopBar", "&File"),
            { "file.new", "samples", "file.open", "recent", "-", "file.save", "file.saveAs", "file.reload", "-",
                "&Export", "file.screenshot", "-", "file.quit" } },
        { QT_TRANSLATE_NOOP("TopBar", "&Edit"),
            { "edit.undo", "edit.redo", "view.edits", "-", "plan.pinBaseline", "plan.clearBaseline",
                "plan.restoreBaseline", "-", "edit.copyNumbers" } },
        { QT_TRANSLATE_NOOP("TopBar", "&Design"),
            { "view.map", "view.strategies", "view.workload", "view.datacenters", "view.shares", "-", "&Variants",
                "On the &map", "&Many models", "-", "plan.model", "plan.fit" } },
        { QT_TRANSLATE_NOOP("TopBar", "&Analyse"),
            { "view.timeline", "view.curves", "view.why", "view.problems", "view.memory", "view.details", "-",
                "In the &timeline", "E&xperts", "plan.offloadOrNot", "-", "view.validation" } },
        { QT_TRANSLATE_NOOP("TopBar", "&Run"),
            { "view.run", "view.live", "-", "run.open", "run.openFolder", "run.linePattern", "run.watch",
                "&Compare with", "run.learn", "run.makePlan", "run.save", "run.close", "-", "&Live" } },
        { QT_TRANSLATE_NOOP("TopBar", "&Search"),
            { "view.planner", "view.sweep", "view.baselines", "-", "planner.search", "planner.stop", "planner.adopt",
                "planner.back", "planner.pin" } },
        { QT_TRANSLATE_NOOP("TopBar", "&View"),
            { "theme.system", "theme.light", "theme.dark", "theme.highContrast", "-", "&Arrangement of panels",
                "view.fullScreen" } },
        { QT_TRANSLATE_NOOP("TopBar", "&Help"),
            { "help.palette", "help.keys", "help.tour", "help.documentation", "-", "help.about" } },
    };
    return lists;
}

void addTo(QMenu &menu, const QStringList &ids, CommandRegistry &registry)
{
    for (const QString &id : ids) {
        if (id == QLatin1String("-"))
            menu.addSeparator();
        else if (QAction *action = registry.action(id))
            menu.addAction(action);
    }
}

} // namespace

TopBar::TopBar(CommandRegistry &registry, QWidget *parent)
    : QWidget(parent)
    , m_menus(new QMenuBar(this))
    , m_recent(new QMenu(tr("Open &recent"), this))
    , m_samples(new QMenu(tr("New from &sample"), this))
    , m_title(new QLabel(this))
{
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(4, 3, Theme::kGap, 0);
    row->setSpacing(2);
    m_menus->setNativeMenuBar(false);
    m_menus->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    row->addWidget(m_menus);
    row->addStretch(1);
    for (const char *id : { "edit.undo", "edit.redo", "plan.pinBaseline", "help.palette" }) {
        QAction *action = registry.action(QLatin1String(id));
        if (!action)
            continue;
        auto *button = new QToolButton(this);
        button->setDefaultAction(action);
        button->setToolButtonStyle(Qt::ToolButtonIconOnly);
        button->setProperty("isFlat", true);
        button->setFocusPolicy(Qt::TabFocus);
        button->setAccessibleName(action->text().remove(u'&'));
        row->addWidget(button);
    }
    // Centred over the window, whatever stands at its sides.
    m_title->setFont(uiFont(0, QFont::DemiBold));
    m_title->setAlignment(Qt::AlignCenter);
    m_title->setAttribute(Qt::WA_TransparentForMouseEvents);
    fillMenus(registry);
}

void TopBar::fillMenus(CommandRegistry &registry)
{
    for (const MenuList &list : menuLists()) {
        QMenu *menu = m_menus->addMenu(tr(list.title));
        menu->setToolTipsVisible(false);
        connect(menu, &QMenu::aboutToShow, &registry, &CommandRegistry::refresh);
        for (const QString &id : list.ids) {
            if (id == QLatin1String("-"))
                menu->addSeparator();
            else if (const auto sub = std::ranges::find(
                         subMenus(), id, [](const MenuList &one) { return QLatin1String(one.title); });
                     sub != subMenus().end())
                addTo(*menu->addMenu(tr(sub->title)), sub->ids, registry);
            else if (id == QLatin1String("recent"))
                menu->addMenu(m_recent);
            else if (id == QLatin1String("samples"))
                menu->addMenu(m_samples);
            else if (QAction *action = registry.action(id))
                menu->addAction(action);
        }
    }
}

void TopBar::addBeforeButtons(QWidget *widget)
{
    constexpr int kBehindMenusAndRoom = 2;
    static_cast<QHBoxLayout *>(layout())->insertWidget(kBehindMenusAndRoom, widget);
}

void TopBar::setTitle(const QString &name, bool isModified)
{
    m_text = isModified ? tr("%1 — edited").arg(name) : name;
    resizeEvent(nullptr);
}

void TopBar::resizeEvent(QResizeEvent *)
{
    const int side = m_menus->sizeHint().width() + Theme::kGap;
    const int room = std::max(0, width() - 2 * side);
    m_title->setGeometry(side, 3, room, height() - 3);
    m_title->setText(m_title->fontMetrics().elidedText(m_text, Qt::ElideRight, room));
}

} // namespace trainyard
