// SPDX-License-Identifier: GPL-3.0-or-later
// What the cluster map hands to its painters, and the header's hint.
#include "views/cluster/amount_popup.h"
#include "views/cluster/cluster_map.h"
#include "views/cluster/editors/form_popover.h"
#include "views/cluster/header_painter.h"
#include "views/cluster/link_painter.h"
#include "views/cluster/map_focus.h"
#include "views/cluster/map_grab.h"
#include "views/cluster/map_painter.h"
#include "views/cluster/overlay_painter.h"
#include "views/theme/theme.h"

#include <QPainter>
#include <QToolButton>

#include <algorithm>

namespace trainyard {

void ClusterMap::setLookedAtOnly()
{
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setFocusPolicy(Qt::NoFocus);
    m_add->hide();
}

QString ClusterMap::hint() const
{
    if (testAttribute(Qt::WA_TransparentForMouseEvents))
        return {};
    switch (m_gesture.mode()) {
    case MapGesture::Mode::Carrying:
        return QStringLiteral("drop on a datacenter · wheel: how many · Esc puts them back");
    case MapGesture::Mode::KeyCarrying:
        return QStringLiteral("arrows: where to · + −: how many · Enter drops · Esc cancels");
    case MapGesture::Mode::Nudging:
        return m_preview.edit()
            ? QStringLiteral("round trips follow the distance · Shift: only the picture · Esc puts it back")
            : QStringLiteral("only the picture moves · Esc puts it back");
    case MapGesture::Mode::Linking:
        return QStringLiteral("drop on another datacenter to link the two");
    default:
        break;
    }
    if (hasFocus() && m_focus && m_keyboard)
        return spokenName(m_scene, *m_focus) + QStringLiteral(" · Space picks up");
    if (m_traffic)
        return m_traffic->title;
    if (m_view.isZoomed())
        return QStringLiteral("drag the ground to pan · Ctrl+wheel zooms · Home shows all");
    return m_scene.gpus > 0 && m_scene.islands.size() > 1 ? grabHint(m_scene, m_layout) : QString();
}

MapOverlay ClusterMap::overlay() const
{
    MapOverlay overlay;
    if (m_elsewhere && m_elsewhere->plan->cluster != m_plan->cluster)
        return overlay; // places and numbers of things are those of another cluster
    const bool carrying = m_gesture.isCarrying();
    overlay.selection = carrying && m_previewScene ? MapSelection() : m_selection;
    if (carrying) {
        const int target = m_gesture.target();
        if (m_preview.edit())
            overlay.target = target;
        if (m_gesture.mode() != MapGesture::Mode::Asking)
            overlay.ghost = ghost();
    } else if (m_gesture.mode() == MapGesture::Mode::Banding) {
        overlay.band = m_gesture.band();
    } else if (m_gesture.mode() == MapGesture::Mode::Nudging && m_preview.edit()) {
        overlay.card = { m_preview.edit()->text, m_preview.verdict(m_evaluation.get()) };
        const int island = m_gesture.origin().island; // its lower edge: the links whose round trips change lie higher
        const QRectF frame = m_layout.islands[std::size_t(island)].frame;
        overlay.cardAt = frame.bottomLeft() - QPointF(0, 48);
    } else if (m_gesture.mode() == MapGesture::Mode::Linking) {
        overlay.newLink = { m_gesture.pressedAt(), m_gesture.at() };
        overlay.target = m_gesture.target() == m_gesture.origin().island ? -1 : m_gesture.target();
    } else if (m_gesture.mode() == MapGesture::Mode::Idle) {
        overlay.hover = m_hover;
        overlay.handles = m_editor ? -1 : m_hoverHit.island;
        overlay.card = hoverCard();
        if (!overlay.card.isEmpty())
            overlay.cardAt = m_hoverAt;
    }
    if (hasFocus() && m_keyboard && m_gesture.mode() == MapGesture::Mode::Idle)
        overlay.focus = m_focus;
    return overlay;
}

QStringList ClusterMap::hoverCard() const
{
    if (!m_plan || m_popup->isVisible())
        return {};
    if (m_hoverHit.kind == MapHit::Kind::Link)
        return linkCard(m_scene, *m_plan, m_evaluation.get(), m_hoverHit.link);
    if (m_hoverHit.kind == MapHit::Kind::Gpu || m_hoverHit.kind == MapHit::Kind::Node)
        return gpuCard(m_scene, m_hoverHit.island, m_hoverHit.pool, m_hoverHit.gpu);
    if (m_hoverHit.kind == MapHit::Kind::Title && m_hoverHit.island < int(m_scene.islands.size()))
        return islandCard(m_scene, m_hoverHit.island);
    return {};
}

MapGhost ClusterMap::ghost() const
{
    MapGhost ghost;
    const Carry &carry = m_gesture.carry();
    ghost.gpus = carry.gpus();
    for (const GpuSelection &part : carry.what) {
        const auto &stages = m_scene.islands[std::size_t(part.datacenter)].pools[std::size_t(part.pool)].stageOfGpu;
        for (int g = part.firstGpu; g < part.firstGpu + part.gpus && g < int(stages.size()) && ghost.stages.size() < 64;
             ++g)
            ghost.stages.push_back(stages[std::size_t(g)]);
    }
    if (carry.what.empty() && carry.island >= 0 && carry.island < int(m_scene.islands.size())) {
        const auto &pools = m_scene.islands[std::size_t(carry.island)].pools;
        for (auto pool = pools.rbegin(); pool != pools.rend(); ++pool) {
            for (auto stage = pool->stageOfGpu.rbegin(); stage != pool->stageOfGpu.rend()
                 && ghost.stages.size() < std::min<std::size_t>(64, std::size_t(carry.amount));
                 ++stage)
                ghost.stages.push_back(*stage);
        }
    }
    ghost.at = m_gesture.at();
    const bool byKeyboard = m_gesture.mode() == MapGesture::Mode::KeyCarrying;
    if (byKeyboard && m_gesture.target() >= 0 && m_gesture.target() < int(m_layout.islands.size())) {
        const QRectF frame = m_layout.islands[std::size_t(m_gesture.target())].frame;
        ghost.at = { frame.center().x() - 60, frame.bottom() - 18 };
    }
    if (m_preview.edit()) {
        ghost.card = { m_preview.edit()->text, m_preview.verdict(m_evaluation.get()) };
        ghost.verdict = m_preview.verdictColour(m_evaluation.get());
    } else {
        ghost.card = { carryText(carry, m_plan->cluster),
            byKeyboard ? QStringLiteral("arrows choose where") : QStringLiteral("drop on another datacenter") };
        ghost.verdict = theme().textMuted;
    }
    return ghost;
}

/// The lines and labels of links that do not rest on the map, over the cached picture and under the islands' outlines.
void ClusterMap::paintLooseLinks(QPainter &painter) const
{
    const MapFonts fonts;
    painter.save();
    QRegion sea = QRegion(m_layout.shown.adjusted(-Theme::kPad, -2, Theme::kPad, Theme::kPad).toAlignedRect());
    for (const IslandLayout &island : m_layout.islands)
        sea -= island.frame.toAlignedRect();
    painter.setClipRegion(sea);
    for (const int link : m_loose) {
        if (m_layout.links[std::size_t(link)].visible)
            paintLink(painter, m_scene.links[std::size_t(link)], m_layout.links[std::size_t(link)], 1, m_stale);
    }
    painter.restore();
    for (const int link : m_loose) {
        if (m_layout.links[std::size_t(link)].visible && !m_layout.links[std::size_t(link)].card.isEmpty())
            paintLinkLabel(
                painter, fonts, m_scene.links[std::size_t(link)], m_layout.links[std::size_t(link)], m_stale);
    }
}

void ClusterMap::paintEvent(QPaintEvent *)
{
    if (m_isBehind)
        rebuild();
    const bool preview = m_previewScene.has_value();
    const MapScene &shown = shownScene();
    const MapLayout &layout = preview ? m_previewLayout : m_layout;
    const bool isSized = m_cache.size() == size() * devicePixelRatioF();
    if (!m_cacheValid || !isSized) {
        if (!isSized)
            m_cache = QPixmap(size() * devicePixelRatioF());
        m_cache.setDevicePixelRatio(devicePixelRatioF());
        m_cache.fill(theme().panel);
        QPainter painter(&m_cache);
        if (m_scene.islands.empty())
            paintEmptyMap(painter, QRectF(rect()));
        else
            paintMap(painter, shown, layout, m_stale && !preview);
        m_cacheValid = true;
    }
    QPainter painter(this);
    painter.drawPixmap(0, 0, m_cache);
    if (!preview && !m_loose.empty())
        paintLooseLinks(painter);
    paintHeader(painter,
        QRectF(Theme::kPad, 0, width() - 2 * Theme::kPad - m_add->width() - Theme::kGap, headerHeight()), shown.summary,
        hint());
    if (m_view.isZoomed())
        painter.setClipRect(
            mapArea().adjusted(-Theme::kPad, 0, Theme::kPad, Theme::kPad)); // handles end where the map does
    if (m_traffic && !preview && !m_gesture.isCarrying())
        paintTraffic(painter, shown, layout, *m_traffic);
    paintOverlay(painter, shown, layout, overlay());
}

} // namespace trainyard
