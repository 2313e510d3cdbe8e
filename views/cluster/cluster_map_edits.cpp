// SPDX-License-Identifier: GPL-3.0-or-later
// What the cluster map hands out: previews and edits, from gestures, menus and dialogs.
#include "views/cluster/amount_popup.h"
#include "views/cluster/cluster_map.h"
#include "views/cluster/dialogs/datacenter_editor.h"
#include "views/cluster/dialogs/link_editor.h"
#include "views/cluster/dialogs/pool_editor.h"
#include "views/cluster/map_focus.h"
#include "views/cluster/map_grab.h"
#include "views/cluster/map_menu.h"

#include <QContextMenuEvent>
#include <QLocale>
#include <QMenu>

#include <algorithm>

namespace trainyard {

namespace {

QString label(const Cluster &cluster, int datacenter)
{
    return QString::fromStdString(cluster.datacenters[std::size_t(datacenter)].label());
}

QString linkText(const Cluster &cluster, const WanLink &link)
{
    const auto name = [&](const std::string &id) {
        const int index = cluster.indexOf(id);
        return index >= 0 ? label(cluster, index) : QString::fromStdString(id);
    };
    return QStringLiteral("%1 – %2").arg(name(link.between[0]), name(link.between[1]));
}

} // namespace

void ClusterMap::announce(MapPreview::Change change)
{
    if (change == MapPreview::Change::Previewed)
        emit editPreviewed(m_preview.edit()->next, m_preview.edit()->text);
    else if (change == MapPreview::Change::Cancelled)
        emit editCancelled();
    if (change != MapPreview::Change::None && !m_preview.evaluation())
        showPreview();
}

void ClusterMap::syncPreview()
{
    announce(m_preview.update(m_plan, m_gesture.carry(), m_gesture.isCarrying() ? m_gesture.target() : -1));
}

void ClusterMap::commit(std::optional<MapEdit> edit)
{
    if (edit)
        emit editCommitted(edit->next, edit->text);
}

void ClusterMap::cancelGesture()
{
    m_popup->hide();
    putNudgedBack();
    m_gesture.cancel();
    m_typedAmount.clear();
    announce(m_preview.clear());
    update();
}

void ClusterMap::drop()
{
    const Carry carry = m_gesture.carry();
    const bool asks = m_gesture.mode() == MapGesture::Mode::Carrying && m_layout.detail != MapDetail::Gpus && carry.what.size() == 1
        && carry.gpus() < mostGpus(carry, m_plan->cluster);
    if (asks && m_preview.edit()) {
        askHowMany();
        return;
    }
    const bool byPopup = m_popup->isVisible();
    const std::optional<MapEdit> edit = m_preview.edit();
    m_popup->hide();
    m_gesture.reset();
    m_typedAmount.clear();
    if (edit) {
        emit editCommitted(edit->next, edit->text);   // setPlan() meanwhile takes the preview's evaluation over
        m_preview.clear();
        showPreview();
    } else {
        announce(m_preview.clear());
    }
    if (byPopup)
        setFocus();
    update();
}

void ClusterMap::askHowMany()
{
    const Carry carry = m_gesture.carry();
    const int from = carry.what.front().datacenter, to = m_gesture.target();
    const Pool &pool = m_plan->cluster.datacenters[std::size_t(from)].pools[std::size_t(carry.what.front().pool)];
    const int most = mostGpus(carry, m_plan->cluster);
    m_gesture.ask();
    m_popup->ask(m_gesture.at().toPoint(), carry.gpus(), most, pool.gpusPerNode,
                 QStringLiteral("of %1 GPUs %2 → %3").arg(QLocale(QLocale::English).toString(most), label(m_plan->cluster, from), label(m_plan->cluster, to)));
    showPreview();
}

void ClusterMap::addDatacenter()
{
    if (!m_plan)
        return;
    Datacenter fresh;
    fresh.name = "New datacenter";
    auto *dialog = new DatacenterEditor(fresh, true, this);
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        const Datacenter added = dialog->datacenter();
        commit(clusterEdit(m_plan, withDatacenter(m_plan->cluster, added), QStringLiteral("Add datacenter %1").arg(QString::fromStdString(added.label()))));
    });
    dialog->open();
}

void ClusterMap::addPool(int datacenter, const std::string &gpu)
{
    if (!m_plan || datacenter < 0 || datacenter >= int(m_plan->cluster.datacenters.size()))
        return;
    const auto &pools = m_plan->cluster.datacenters[std::size_t(datacenter)].pools;
    Pool fresh;
    fresh.gpu = !gpu.empty() ? gpu : pools.empty() ? std::string() : pools.back().gpu;
    fresh.nodes = 1;
    fresh.gpusPerNode = pools.empty() ? Pool().gpusPerNode : pools.back().gpusPerNode;
    auto *dialog = new PoolEditor(QStringLiteral("Add GPUs to %1").arg(label(m_plan->cluster, datacenter)), fresh, this);
    connect(dialog, &QDialog::accepted, this, [this, dialog, datacenter] {
        const Pool added = dialog->pool();
        if (auto next = withPool(m_plan->cluster, datacenter, added))
            commit(clusterEdit(m_plan, std::move(*next), QStringLiteral("Add %1 × %2 to %3").arg(added.gpus()).arg(shortGpuName(added), label(m_plan->cluster, datacenter))));
    });
    dialog->open();
}

void ClusterMap::addLink(int from, int to)
{
    const int count = m_plan ? int(m_plan->cluster.datacenters.size()) : 0;
    if (from < 0 || to < 0 || from >= count || to >= count || from == to)
        return;
    const Cluster &cluster = m_plan->cluster;
    const int known = cluster.linkBetween(cluster.datacenters[std::size_t(from)].id, cluster.datacenters[std::size_t(to)].id);
    if (known >= 0) {
        edit({MapItem::Kind::Link, -1, -1, 0, 0, known});
        return;
    }
    const SuggestedLink suggested = suggestLink(cluster, from, to);
    const QString name = linkText(cluster, suggested.link);
    auto *dialog = new LinkEditor(QStringLiteral("Add WAN link %1").arg(name), suggested.link, {label(cluster, from), label(cluster, to)}, suggested.source, this);
    connect(dialog, &QDialog::accepted, this, [this, dialog, name] {
        if (auto next = withWanLink(m_plan->cluster, dialog->link()))
            commit(clusterEdit(m_plan, std::move(*next), QStringLiteral("Add link %1").arg(name)));
    });
    dialog->open();
}

void ClusterMap::edit(const MapItem &item)
{
    if (!m_plan)
        return;
    const Cluster &cluster = m_plan->cluster;
    const int islands = int(cluster.datacenters.size());
    if (item.kind == MapItem::Kind::Link && item.link >= 0 && item.link < int(cluster.wanLinks.size()))
        editLink(item.link);
    else if (item.kind == MapItem::Kind::Island && item.island >= 0 && item.island < islands)
        editDatacenter(item.island);
    else if (item.island >= 0 && item.island < islands && item.pool >= 0 && item.pool < int(cluster.datacenters[std::size_t(item.island)].pools.size()))
        editPool(item.island, item.pool);
}

void ClusterMap::editLink(int link)
{
    const WanLink before = m_plan->cluster.wanLinks[std::size_t(link)];
    const QString name = linkText(m_plan->cluster, before);
    const int a = m_plan->cluster.indexOf(before.between[0]), b = m_plan->cluster.indexOf(before.between[1]);
    const std::array<QString, 2> names{a >= 0 ? label(m_plan->cluster, a) : QString(), b >= 0 ? label(m_plan->cluster, b) : QString()};
    auto *dialog = new LinkEditor(QStringLiteral("WAN link %1").arg(name), before, names, {}, this);
    connect(dialog, &QDialog::accepted, this, [this, dialog, name] {
        if (auto next = withWanLink(m_plan->cluster, dialog->link()))
            commit(clusterEdit(m_plan, std::move(*next), QStringLiteral("Edit link %1").arg(name)));
    });
    dialog->open();
}

void ClusterMap::editDatacenter(int datacenter)
{
    auto *dialog = new DatacenterEditor(m_plan->cluster.datacenters[std::size_t(datacenter)], false, this);
    connect(dialog, &QDialog::accepted, this, [this, dialog, id = m_plan->cluster.datacenters[std::size_t(datacenter)].id] {
        Cluster next = m_plan->cluster;
        const int at = next.indexOf(id);
        if (at < 0)
            return;
        Datacenter changed = dialog->datacenter();
        changed.pools = next.datacenters[std::size_t(at)].pools;
        next.datacenters[std::size_t(at)] = changed;
        commit(clusterEdit(m_plan, std::move(next), QStringLiteral("Edit %1").arg(QString::fromStdString(changed.label()))));
    });
    dialog->open();
}

void ClusterMap::editPool(int datacenter, int pool)
{
    const Pool before = m_plan->cluster.datacenters[std::size_t(datacenter)].pools[std::size_t(pool)];
    const QString where = label(m_plan->cluster, datacenter);
    auto *dialog = new PoolEditor(QStringLiteral("GPUs of %1").arg(where), before, this);
    connect(dialog, &QDialog::accepted, this, [this, dialog, where, before, id = m_plan->cluster.datacenters[std::size_t(datacenter)].id] {
        Cluster next = m_plan->cluster;
        const int at = next.indexOf(id);
        if (at < 0)
            return;
        auto &pools = next.datacenters[std::size_t(at)].pools;
        const auto found = std::ranges::find(pools, before);
        if (found == pools.end())
            return;
        *found = dialog->pool();
        const QString text = QStringLiteral("Set %1 to %2 × %3").arg(where).arg(found->gpus()).arg(shortGpuName(*found));
        commit(clusterEdit(m_plan, std::move(next), text));
    });
    dialog->open();
}

void ClusterMap::editSelection()
{
    if (!m_selection.empty())
        edit(m_selection.front());
}

void ClusterMap::removeSelection()
{
    commit(removeEdit(m_plan, m_selection));
}

void ClusterMap::resetPositions()
{
    m_pins.clear();
    m_projection.reset();
    relayout();
}

MapCommands ClusterMap::commands()
{
    MapCommands c;
    c.addDatacenter = [this] { addDatacenter(); };
    c.resetPositions = [this] { resetPositions(); };
    c.remove = [this] { removeSelection(); };
    c.pickUp = [this] {
        m_focus = m_selection.empty() ? m_focus : std::optional(m_selection.front());
        setFocus();
        pickUp();
    };
    c.addPool = [this](int datacenter, const std::string &gpu) { addPool(datacenter, gpu); };
    c.addLink = [this](int from, int to) { addLink(from, to); };
    c.edit = [this] { editSelection(); };
    c.moveTo = [this](int datacenter, bool really) {
        const std::optional<MapEdit> edit = datacenter < 0 ? std::nullopt : moveEdit(m_plan, carrySelection(m_scene, m_selection), datacenter);
        if (really)
            m_preview.clear();
        else
            announce(m_preview.set(edit));
        if (really)
            commit(edit);
    };
    return c;
}

void ClusterMap::contextMenuEvent(QContextMenuEvent *event)
{
    if (!m_plan || m_gesture.isActive())
        return;
    m_gesture.reset();
    const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
    const MapHit hit = hitTest(m_layout, QPointF(event->pos()));
    if (byKey && m_focus)
        setSelection({*m_focus});
    else if (!covers(m_selection, hit))
        setSelection(itemsAt(m_scene, hit, grabUnit(m_scene, m_layout, {})));
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    fillMapMenu(*menu, m_scene, m_selection, commands());
    menu->popup(event->globalPos());
}

} // namespace trainyard
