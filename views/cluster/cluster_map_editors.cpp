// SPDX-License-Identifier: GPL-3.0-or-later
// The cluster map's forms: each opens beside what it edits, tries every change on the plan as a preview, and ends as
// one edit.
#include "views/cluster/cluster_map.h"

#include "models/text/gpu_name.h"
#include "views/cluster/editors/datacenter_editor.h"
#include "views/cluster/editors/link_editor.h"
#include "views/cluster/editors/pool_editor.h"
#include "views/cluster/map_edits.h"
#include "views/cluster/overlay_painter.h"

#include <QApplication>
#include <QLocale>
#include <QToolButton>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

QString linkText(const Cluster &cluster, const WanLink &link)
{
    return QStringLiteral("%1 – %2").arg(
        datacenterLabel(cluster, link.between[0]), datacenterLabel(cluster, link.between[1]));
}

QString hardwareText(const Pool &pool)
{
    return QStringLiteral("%1 × %2").arg(QLocale(QLocale::English).toString(pool.gpus()), shortGpuName(pool));
}

/// The first pair that has no link yet, from `preferred` on where it is one of the pair.
std::pair<int, int> unlinkedPair(const Cluster &cluster, int preferred)
{
    const int count = int(cluster.datacenters.size());
    const auto isLinked = [&](int a, int b) {
        return cluster.linkBetween(cluster.datacenters[std::size_t(a)].id, cluster.datacenters[std::size_t(b)].id) >= 0;
    };
    for (int other = 0; preferred >= 0 && other < count; ++other) {
        if (other != preferred && !isLinked(preferred, other))
            return { preferred, other };
    }
    for (int a = 0; a < count; ++a) {
        for (int b = a + 1; b < count; ++b) {
            if (!isLinked(a, b))
                return { a, b };
        }
    }
    return { 0, 1 };
}

} // namespace

FormPopover *ClusterMap::editor() const
{
    return m_editor;
}

QRectF ClusterMap::placeOfItem(const MapItem &item) const
{
    QRectF all;
    for (const QRectF &rect : itemRects(m_scene, m_layout, item))
        all |= rect;
    return all.isEmpty() ? mapArea() : all;
}

/// Whoever makes a form commits the one before first: the new one starts from the plan with what stood in that.
void ClusterMap::openEditor(FormPopover *editor, const QRectF &beside, std::function<std::optional<MapEdit>()> edited)
{
    m_editor = editor;
    m_edited = std::move(edited);
    connect(editor, &FormPopover::changed, this, [this] { tryEdited(false); });
    connect(editor, &FormPopover::revisited, this, [this] { tryEdited(true); });
    connect(editor, &FormPopover::accepted, this, [this] { closeEditor(true); });
    connect(editor, &FormPopover::rejected, this, [this] { closeEditor(false); });
    connect(editor, &FormPopover::left, this, [this](const QWidget *to) {
        if (to != this) // the map's own gestures know when a form is in their way
            commitEditor();
    });
    forgetHover();
    showLooseLinks();
    editor->openBeside(QRect(mapTo(window(), beside.topLeft().toPoint()), beside.size().toSize()));
    tryEdited(false); // what is added shows at once
}

/// Tells what the plan would be with what stands in the form; `again` also where it was told before.
void ClusterMap::tryEdited(bool again)
{
    if (!m_editor)
        return;
    std::optional<MapEdit> edit = m_editor->isValid() ? m_edited() : std::nullopt;
    const auto &known = m_preview.edit();
    if (!again && edit.has_value() == known.has_value() && (!edit || *edit->next == *known->next))
        return;
    announce(m_preview.set(std::move(edit)));
}

/// One step for undo, or everything as it was before.
void ClusterMap::closeEditor(bool keep)
{
    if (!m_editor)
        return;
    FormPopover *editor = m_editor;
    const bool hadFocus = editor->isAncestorOf(QApplication::focusWidget());
    const std::optional<MapEdit> edit = keep && editor->isValid() ? m_edited() : std::nullopt;
    m_editor = nullptr;
    m_edited = nullptr;
    editor->hide();
    editor->deleteLater();
    if (edit) {
        const std::size_t links = m_plan->cluster.wanLinks.size();
        emit editCommitted(edit->next, edit->text); // setShown() meanwhile takes the preview's evaluation over
        m_preview.clear();
        showPreview();
        // A link that carries nothing yet is only seen while it is selected.
        if (edit->next->cluster.wanLinks.size() > links && m_plan->cluster.wanLinks.size() > links)
            setSelection({ { MapItem::Kind::Link, -1, -1, 0, 0, int(links) } });
    } else {
        announce(m_preview.clear());
    }
    if (hadFocus)
        setFocus(Qt::PopupFocusReason);
}

/// What cannot be taken as it stands stays open, to be mended.
void ClusterMap::commitEditor()
{
    if (m_editor && m_editor->isValid())
        closeEditor(true);
}

void ClusterMap::addDatacenter()
{
    closeEditor(true);
    if (!m_plan)
        return;
    Datacenter fresh;
    fresh.name = "New datacenter";
    auto *editor = new DatacenterEditor(fresh, true, window());
    openEditor(editor, m_scene.islands.empty() ? mapArea() : QRectF(m_add->geometry()), [this, editor] {
        const Datacenter added = editor->datacenter();
        return clusterEdit(m_plan, withDatacenter(m_plan->cluster, added),
            QStringLiteral("Add datacenter %1").arg(QString::fromStdString(added.label())));
    });
}

void ClusterMap::addPool(int datacenter, const std::string &gpu)
{
    closeEditor(true);
    if (!m_plan || datacenter < 0 || datacenter >= int(m_plan->cluster.datacenters.size()))
        return;
    const auto &pools = m_plan->cluster.datacenters[std::size_t(datacenter)].pools;
    Pool fresh;
    fresh.gpu = !gpu.empty() ? gpu : pools.empty() ? std::string() : pools.back().gpu;
    fresh.nodes = 1;
    fresh.gpusPerNode = pools.empty() ? Pool().gpusPerNode : pools.back().gpusPerNode;
    const QString where = datacenterLabel(m_plan->cluster, datacenter);
    auto *editor = new PoolEditor(QStringLiteral("Add GPUs to %1").arg(where), fresh, window());
    openEditor(editor, placeOfItem({ MapItem::Kind::Island, datacenter }),
        [this, editor, datacenter, where]() -> std::optional<MapEdit> {
            const Pool added = editor->pool();
            auto next = withPool(m_plan->cluster, datacenter, added);
            return next
                ? clusterEdit(m_plan, std::move(*next), QStringLiteral("Add %1 to %2").arg(hardwareText(added), where))
                : std::nullopt;
        });
}

void ClusterMap::addLink()
{
    closeEditor(true);
    if (!m_plan || m_plan->cluster.datacenters.size() < 2)
        return;
    const int preferred = !m_selection.empty() ? m_selection.front().island
        : m_focus && m_keyboard                ? m_focus->island
                                               : -1;
    const auto [from, to] = unlinkedPair(m_plan->cluster, preferred);
    openNewLink(from, to, m_add->geometry());
}

void ClusterMap::addLink(int from, int to)
{
    closeEditor(true);
    const int count = m_plan ? int(m_plan->cluster.datacenters.size()) : 0;
    if (from < 0 || to < 0 || from >= count || to >= count || from == to)
        return;
    const Cluster &cluster = m_plan->cluster;
    const int known =
        cluster.linkBetween(cluster.datacenters[std::size_t(from)].id, cluster.datacenters[std::size_t(to)].id);
    if (known >= 0)
        edit({ MapItem::Kind::Link, -1, -1, 0, 0, known });
    else
        openNewLink(from, to, placeOfItem({ MapItem::Kind::Island, to }));
}

void ClusterMap::openNewLink(int from, int to, const QRectF &beside)
{
    auto *editor = new LinkEditor(m_plan->cluster, from, to, window());
    openEditor(editor, beside, [this, editor]() -> std::optional<MapEdit> {
        const WanLink added = editor->link();
        auto next = withWanLink(m_plan->cluster, added);
        return next
            ? clusterEdit(m_plan, std::move(*next), QStringLiteral("Add link %1").arg(linkText(m_plan->cluster, added)))
            : std::nullopt;
    });
}

void ClusterMap::edit(const MapItem &asked)
{
    const MapItem item = asked; // it may be one of the selection, which closing a form changes
    closeEditor(true);
    if (!m_plan)
        return;
    const Cluster &cluster = m_plan->cluster;
    const int islands = int(cluster.datacenters.size());
    if (item.kind == MapItem::Kind::Link && item.link >= 0 && item.link < int(cluster.wanLinks.size()))
        editLink(item.link);
    else if (item.kind == MapItem::Kind::Island && item.island >= 0 && item.island < islands)
        editDatacenter(item.island);
    else if (item.island >= 0 && item.island < islands && item.pool >= 0
        && item.pool < int(cluster.datacenters[std::size_t(item.island)].pools.size()))
        editPool(item.island, item.pool);
}

void ClusterMap::editLink(int link)
{
    const MapItem item { MapItem::Kind::Link, -1, -1, 0, 0, link };
    setSelection({ item });
    const WanLink before = m_plan->cluster.wanLinks[std::size_t(link)];
    const QString name = linkText(m_plan->cluster, before);
    const int a = m_plan->cluster.indexOf(before.between[0]), b = m_plan->cluster.indexOf(before.between[1]);
    const std::array<QString, 2> names { a >= 0 ? datacenterLabel(m_plan->cluster, a) : QString(),
        b >= 0 ? datacenterLabel(m_plan->cluster, b) : QString() };
    auto *editor = new LinkEditor(QStringLiteral("WAN link %1").arg(name), before, names, {}, window());
    openEditor(editor, placeOfItem(item), [this, editor, name]() -> std::optional<MapEdit> {
        auto next = withWanLink(m_plan->cluster, editor->link());
        return next ? clusterEdit(m_plan, std::move(*next), QStringLiteral("Edit link %1").arg(name)) : std::nullopt;
    });
}

void ClusterMap::editDatacenter(int datacenter)
{
    auto *editor = new DatacenterEditor(m_plan->cluster.datacenters[std::size_t(datacenter)], false, window());
    openEditor(editor, placeOfItem({ MapItem::Kind::Island, datacenter }), [this, editor, datacenter] {
        Cluster next = m_plan->cluster;
        Datacenter &edited = next.datacenters[std::size_t(datacenter)];
        Datacenter changed = editor->datacenter();
        changed.pools = edited.pools;
        edited = std::move(changed);
        const QString text = QStringLiteral("Edit %1").arg(datacenterLabel(next, datacenter));
        return clusterEdit(m_plan, std::move(next), text);
    });
}

void ClusterMap::editPool(int datacenter, int pool)
{
    const QString where = datacenterLabel(m_plan->cluster, datacenter);
    auto *editor = new PoolEditor(QStringLiteral("GPUs of %1").arg(where),
        m_plan->cluster.datacenters[std::size_t(datacenter)].pools[std::size_t(pool)], window());
    openEditor(editor, placeOfItem({ MapItem::Kind::Pool, datacenter, pool }), [this, editor, where, datacenter, pool] {
        Cluster next = m_plan->cluster;
        const Pool changed = next.datacenters[std::size_t(datacenter)].pools[std::size_t(pool)] = editor->pool();
        return clusterEdit(m_plan, std::move(next), QStringLiteral("Set %1 to %2").arg(where, hardwareText(changed)));
    });
}

} // namespace trainyard
