// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/map_menu.h"

#include "core/facts/catalogue/catalogue.h"

#include <QMenu>

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

constexpr std::size_t kManyIslands = 8; // more would make the menu taller than a screen

QString quoted(const QString &name)
{
    return QString(name).replace(u'&', QStringLiteral("&&")); // an ampersand would be a mnemonic
}

/// GPU types by vendor and architecture, newest catalogue order kept.
void fillPalette(QMenu &menu, int datacenter, const MapCommands &commands)
{
    std::map<std::string, QMenu *> families;
    for (const GpuSpec &gpu : builtinCatalogue().gpus) {
        const std::string family = gpu.vendor + " " + gpu.architecture;
        QMenu *&group = families[family];
        if (!group)
            group = menu.addMenu(QString::fromStdString(family));
        group->addAction(quoted(QString::fromStdString(gpu.name)), &menu,
            [add = commands.addPool, datacenter, id = gpu.id] { add(datacenter, id); });
    }
    if (!families.empty())
        menu.addSeparator();
    menu.addAction(QStringLiteral("Choose…"), &menu, [add = commands.addPool, datacenter] { add(datacenter, {}); });
}

void addLinkMenu(QMenu &menu, const MapScene &scene, int from, const MapCommands &commands)
{
    if (scene.islands.size() < 2)
        return;
    QMenu *links = menu.addMenu(QStringLiteral("Add WAN link to"));
    for (int i = 0; i < int(scene.islands.size()); ++i) {
        const bool linked = std::ranges::any_of(
            scene.links, [&](const LinkScene &l) { return (l.a == from && l.b == i) || (l.a == i && l.b == from); });
        if (i == from || linked)
            continue;
        links->addAction(
            quoted(scene.islands[std::size_t(i)].title), &menu, [add = commands.addLink, from, i] { add(from, i); });
    }
    links->setEnabled(!links->isEmpty());
}

void addMoveMenu(QMenu &menu, const MapScene &scene, const MapItem &item, const MapCommands &commands)
{
    if (scene.islands.size() < 2)
        return;
    QMenu *targets = menu.addMenu(QStringLiteral("Move to"));
    for (int i = 0; i < int(scene.islands.size()); ++i) {
        if (i == item.island)
            continue;
        QAction *action = targets->addAction(quoted(scene.islands[std::size_t(i)].title));
        QObject::connect(action, &QAction::hovered, &menu, [move = commands.moveTo, i] { move(i, false); });
        QObject::connect(action, &QAction::triggered, &menu, [move = commands.moveTo, i] { move(i, true); });
    }
    for (QMenu *each : { &menu, targets }) // the pointer may leave the submenu alone
        QObject::connect(each, &QMenu::aboutToHide, &menu, [move = commands.moveTo] { move(-1, false); });
    menu.addAction(QStringLiteral("Pick up\tSpace"), &menu, commands.pickUp);
}

} // namespace

void fillAddMenu(QMenu &menu, const MapScene &scene, int datacenter, const MapCommands &commands)
{
    menu.addAction(QStringLiteral("Datacenter…"), &menu, commands.addDatacenter);
    if (scene.islands.empty())
        return;
    if (datacenter >= 0) {
        fillPalette(
            *menu.addMenu(QStringLiteral("GPUs in %1").arg(quoted(scene.islands[std::size_t(datacenter)].title))),
            datacenter, commands);
        addLinkMenu(menu, scene, datacenter, commands);
        return;
    }
    if (scene.islands.size() > 1)
        menu.addAction(QStringLiteral("Link…"), &menu, [add = commands.addLink] { add(-1, -1); });
    menu.addSeparator();
    QMenu *gpus = scene.islands.size() > kManyIslands ? menu.addMenu(QStringLiteral("GPUs in")) : &menu;
    for (int i = 0; i < int(scene.islands.size()); ++i) {
        const QString title = quoted(scene.islands[std::size_t(i)].title);
        QMenu *palette = gpus->addMenu(gpus == &menu ? QStringLiteral("GPUs in %1").arg(title) : title);
        // Made when it is looked at: with many datacenters most palettes never are.
        QObject::connect(palette, &QMenu::aboutToShow, palette, [palette, i, commands] {
            if (palette->isEmpty())
                fillPalette(*palette, i, commands);
        });
    }
}

void fillMapMenu(QMenu &menu, const MapScene &scene, const MapSelection &selection, const MapCommands &commands)
{
    if (selection.empty()) {
        fillAddMenu(menu, scene, -1, commands);
        menu.addSeparator();
        menu.addAction(QStringLiteral("Show all\tHome"), &menu, commands.fit);
        menu.addAction(QStringLiteral("Reset layout"), &menu, commands.resetPositions);
        return;
    }
    const MapItem &item = selection.front();
    const auto named = [](QMenu &target, const QString &text, const std::function<void()> &run) {
        target.addAction(text, &target, run);
    };
    switch (item.kind) {
    case MapItem::Kind::Island: {
        const QString title = quoted(scene.islands[std::size_t(item.island)].title);
        named(menu, QStringLiteral("Edit %1…\tF2").arg(title), commands.edit);
        fillPalette(*menu.addMenu(QStringLiteral("Add GPUs")), item.island, commands);
        addLinkMenu(menu, scene, item.island, commands);
        menu.addSeparator();
        named(menu, QStringLiteral("Pick up GPUs\tSpace"), commands.pickUp);
        named(menu, QStringLiteral("Remove %1\tDel").arg(title), commands.remove);
        break;
    }
    case MapItem::Kind::Link:
        named(menu, QStringLiteral("Edit link…\tF2"), commands.edit);
        named(menu, QStringLiteral("Remove link\tDel"), commands.remove);
        break;
    default:
        addMoveMenu(menu, scene, item, commands);
        menu.addSeparator();
        named(menu, QStringLiteral("Edit pool…\tF2"), commands.edit);
        named(menu, QStringLiteral("Remove\tDel"), commands.remove);
        break;
    }
}

} // namespace trainyard
