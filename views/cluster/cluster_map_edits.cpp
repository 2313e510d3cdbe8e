// SPDX-License-Identifier: GPL-3.0-or-later
// What the cluster map hands out: previews and edits, from gestures and menus.
#include "views/cluster/amount_popup.h"
#include "views/cluster/cluster_map.h"
#include "views/cluster/map_edits.h"
#include "views/cluster/map_focus.h"
#include "views/cluster/map_grab.h"
#include "views/cluster/map_menu.h"
#include "views/export/panel_picture.h"

#include <QContextMenuEvent>
#include <QLocale>
#include <QMenu>

#include <algorithm>

namespace trainyard {

void ClusterMap::announce(MapPreview::Change change)
{
    if (change == MapPreview::Change::Previewed)
        m_elsewhere.reset(); // this map's takes its place
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
    m_gesture.cancel();
    m_typedAmount.clear();
    announce(m_preview.clear());
    if (m_nudgeStart) {
        m_nudgeStart.reset();
        if (m_isScaleNew)
            m_projection.reset();
        relayout();
    }
    update();
}

void ClusterMap::drop()
{
    const Carry carry = m_gesture.carry();
    const bool asks = m_gesture.mode() == MapGesture::Mode::Carrying && m_layout.detail != MapDetail::Gpus
        && carry.what.size() == 1 && carry.gpus() < mostGpus(carry, m_plan->cluster);
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
        emit editCommitted(edit->next, edit->text); // setShown() meanwhile takes the preview's evaluation over
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
        QStringLiteral("of %1 GPUs %2 → %3")
            .arg(QLocale(QLocale::English).toString(most), datacenterLabel(m_plan->cluster, from),
                datacenterLabel(m_plan->cluster, to)));
    showPreview();
}

void ClusterMap::editSelection()
{
    closeEditor(true);
    if (!m_selection.empty())
        edit(m_selection.front());
}

void ClusterMap::removeSelection()
{
    closeEditor(true);
    commit(removeEdit(m_plan, m_selection));
}

void ClusterMap::resetPositions()
{
    m_pins.clear();
    m_projection.reset();
    m_held.clear();
    m_fit = MapLayout(); // nothing to keep
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
    c.addLink = [this](int from, int to) { from < 0 ? addLink() : addLink(from, to); };
    c.fit = [this] { fit(); };
    c.edit = [this] { editSelection(); };
    c.moveTo = [this](int datacenter, bool really) {
        const std::optional<MapEdit> edit =
            datacenter < 0 ? std::nullopt : moveEdit(m_plan, carrySelection(m_scene, m_selection), datacenter);
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
    closeEditor(true);
    m_gesture.reset();
    const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
    const MapHit hit = hitAt(event->pos());
    if (byKey && m_focus)
        setSelection({ *m_focus });
    else if (!covers(m_selection, hit))
        setSelection(itemsAt(m_scene, hit, grabUnit(m_scene, m_layout, {})));
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    fillMapMenu(*menu, m_scene, m_selection, commands());
    menu->addSeparator();
    addPictureActions(*menu, this, QStringLiteral("cluster-map"));
    menu->popup(event->globalPos());
}

} // namespace trainyard
