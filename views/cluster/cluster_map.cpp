// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/cluster_map.h"

#include "views/cluster/amount_popup.h"
#include "views/cluster/header_painter.h"
#include "views/cluster/map_focus.h"
#include "views/cluster/map_grab.h"
#include "views/cluster/map_menu.h"
#include "views/cluster/map_painter.h"
#include "views/cluster/overlay_painter.h"
#include "views/theme/theme.h"

#include <QAccessible>
#include <QEvent>
#include <QMenu>
#include <QPainter>
#include <QToolButton>

#include <algorithm>

namespace trainyard {

ClusterMap::ClusterMap(QWidget *parent)
    : QWidget(parent)
    , m_popup(new AmountPopup(this))
    , m_add(new QToolButton(this))
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(QStringLiteral("Cluster map"));
    m_add->setText(QStringLiteral("Add"));
    m_add->setAccessibleName(QStringLiteral("Add a datacenter or GPUs"));
    m_add->setPopupMode(QToolButton::InstantPopup);
    m_add->setToolButtonStyle(Qt::ToolButtonTextOnly);
    m_add->setAutoRaise(true);
    m_add->setFocusPolicy(Qt::NoFocus);      // by keyboard: Insert, or the context menu
    auto *menu = new QMenu(m_add);
    m_add->setMenu(menu);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        menu->clear();
        fillAddMenu(*menu, m_scene, -1, commands());
    });
    connect(m_popup, &AmountPopup::amountChanged, this, &ClusterMap::changeAmount);
    connect(m_popup, &AmountPopup::dismissed, this, &ClusterMap::cancelGesture);
    connect(m_popup, &AmountPopup::answered, this, [this](int gpus) {
        m_lastAmount = gpus;
        changeAmount(gpus);
        drop();
    });
}

ClusterMap::~ClusterMap() = default;

QSize ClusterMap::sizeHint() const { return {900, 280}; }
QSize ClusterMap::minimumSizeHint() const { return {360, 150}; }

void ClusterMap::setPlan(PlanPtr plan)
{
    if (plan == m_plan)
        return;
    const bool sameShape = plan && m_plan && plan->cluster == m_plan->cluster;
    const PlanPtr previewed = m_preview.edit() ? m_preview.edit()->next : nullptr;
    if (plan && previewed && (previewed == plan || *previewed == *plan)) {
        if (m_preview.evaluation())
            m_evaluation = m_preview.evaluation();
        m_preview.clear();                 // came true: nothing to cancel
    }
    if (!sameShape || m_gesture.isCarrying() || m_preview.edit())
        cancelGesture();                   // a candidate of the plan before would take its changes back
    m_plan = std::move(plan);
    if (!sameShape) {
        setSelection({});
        forgetHover();
        if (m_focus && (!m_plan || m_focus->island >= int(m_plan->cluster.datacenters.size())))
            m_focus.reset();
    }
    rebuild();
}

void ClusterMap::setEvaluation(EvaluationPtr evaluation)
{
    if (m_preview.accept(evaluation)) {
        showPreview();
        return;
    }
    const bool ours = evaluation && evaluation->plan && m_plan && (evaluation->plan == m_plan || *evaluation->plan == *m_plan);
    if (!ours && evaluation && m_evaluation)
        return;                            // a late answer to a plan that is neither shown nor previewed
    if (evaluation == m_evaluation)
        return;
    m_evaluation = std::move(evaluation);
    rebuild();
}

void ClusterMap::setStale(bool stale)
{
    if (stale == m_stale)
        return;
    m_stale = stale;
    m_cacheValid = false;
    update();
}

void ClusterMap::clearSelection()
{
    setSelection({});
}

void ClusterMap::rebuild()
{
    m_scene = m_plan ? buildScene(*m_plan, m_evaluation.get()) : MapScene();
    relayout();
}

void ClusterMap::relayout()
{
    if (m_plan) {
        MapSpec spec = measureScene(m_scene, *m_plan);
        for (std::size_t i = 0; i < spec.islands.size(); ++i) {
            if (const auto pin = m_pins.constFind(m_scene.islands[i].id); pin != m_pins.cend())
                spec.islands[i].pinned = *pin;
            else if (m_projection)
                spec.islands[i].pinned = m_projection->centreOf(m_plan->cluster.datacenters[i]);
        }
        m_layout = layOutMap(spec, mapArea());
    } else {
        m_layout = MapLayout();
        m_layout.area = mapArea();
    }
    showPreview();
}

void ClusterMap::showPreview()
{
    m_previewScene.reset();
    // A datacenter at another place holds what it held: no need to wait for the answer to show its round trips.
    const bool isKnown = m_preview.evaluation() || m_gesture.mode() == MapGesture::Mode::Nudging;
    if (m_preview.edit() && isKnown) {
        const Plan &next = *m_preview.edit()->next;
        m_previewScene = buildScene(next, m_preview.evaluation() ? m_preview.evaluation().get() : m_evaluation.get());
        m_previewLayout = refillMap(measureScene(*m_previewScene, next), m_layout);
    }
    if (m_popup->isVisible())
        m_popup->setVerdict(m_preview.verdict(m_evaluation.get()), m_preview.verdictColour(m_evaluation.get()));
    m_cacheValid = false;
    update();
}

QRectF ClusterMap::mapArea() const
{
    return QRectF(rect()).adjusted(Theme::kPad, headerHeight(), -Theme::kPad, -Theme::kPad);
}

QString ClusterMap::hint() const
{
    switch (m_gesture.mode()) {
    case MapGesture::Mode::Carrying: return QStringLiteral("drop on a datacenter · wheel: how many · Esc puts them back");
    case MapGesture::Mode::KeyCarrying: return QStringLiteral("arrows: where to · + −: how many · Enter drops · Esc cancels");
    case MapGesture::Mode::Nudging:
        return m_preview.edit() ? QStringLiteral("round trips follow the distance · Shift: only the picture · Esc puts it back")
                                : QStringLiteral("only the picture moves · Esc puts it back");
    case MapGesture::Mode::Linking: return QStringLiteral("drop on another datacenter to link the two");
    default: break;
    }
    if (hasFocus() && m_focus && m_keyboard)
        return spokenName(m_scene, *m_focus) + QStringLiteral(" · Space picks up");
    return m_scene.gpus > 0 && m_scene.islands.size() > 1 ? grabHint(m_scene, m_layout) : QString();
}

MapOverlay ClusterMap::overlay() const
{
    MapOverlay overlay;
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
        overlay.card = {m_preview.edit()->text, m_preview.verdict(m_evaluation.get())};
        const int island = m_gesture.origin().island;   // its lower edge: the links whose round trips change lie higher
        const QRectF frame = m_layout.islands[std::size_t(island)].frame;
        overlay.cardAt = frame.bottomLeft() - QPointF(0, 48);
    } else if (m_gesture.mode() == MapGesture::Mode::Linking) {
        overlay.newLink = {m_gesture.pressedAt(), m_gesture.at()};
        overlay.target = m_gesture.target() == m_gesture.origin().island ? -1 : m_gesture.target();
    } else if (m_gesture.mode() == MapGesture::Mode::Idle) {
        overlay.hover = m_hover;
        overlay.handles = m_hoverHit.island;
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
    return {};
}

MapGhost ClusterMap::ghost() const
{
    MapGhost ghost;
    const Carry &carry = m_gesture.carry();
    ghost.gpus = carry.gpus();
    for (const GpuSelection &part : carry.what) {
        const auto &stages = m_scene.islands[std::size_t(part.datacenter)].pools[std::size_t(part.pool)].stageOfGpu;
        for (int g = part.firstGpu; g < part.firstGpu + part.gpus && g < int(stages.size()) && ghost.stages.size() < 64; ++g)
            ghost.stages.push_back(stages[std::size_t(g)]);
    }
    if (carry.what.empty() && carry.island >= 0 && carry.island < int(m_scene.islands.size())) {
        const auto &pools = m_scene.islands[std::size_t(carry.island)].pools;
        for (auto pool = pools.rbegin(); pool != pools.rend(); ++pool) {
            for (auto stage = pool->stageOfGpu.rbegin(); stage != pool->stageOfGpu.rend() && ghost.stages.size() < std::min<std::size_t>(64, std::size_t(carry.amount)); ++stage)
                ghost.stages.push_back(*stage);
        }
    }
    ghost.at = m_gesture.at();
    const bool byKeyboard = m_gesture.mode() == MapGesture::Mode::KeyCarrying;
    if (byKeyboard && m_gesture.target() >= 0 && m_gesture.target() < int(m_layout.islands.size())) {
        const QRectF frame = m_layout.islands[std::size_t(m_gesture.target())].frame;
        ghost.at = {frame.center().x() - 60, frame.bottom() - 18};
    }
    if (m_preview.edit()) {
        ghost.card = {m_preview.edit()->text, m_preview.verdict(m_evaluation.get())};
        ghost.verdict = m_preview.verdictColour(m_evaluation.get());
    } else {
        ghost.card = {carryText(carry, m_plan->cluster), byKeyboard ? QStringLiteral("arrows choose where") : QStringLiteral("drop on another datacenter")};
        ghost.verdict = theme().textMuted;
    }
    return ghost;
}

void ClusterMap::paintEvent(QPaintEvent *)
{
    const bool preview = m_previewScene.has_value();
    const MapScene &shown = preview ? *m_previewScene : m_scene;
    const MapLayout &layout = preview ? m_previewLayout : m_layout;
    if (!m_cacheValid || m_cache.size() != size() * devicePixelRatioF()) {
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
    paintHeader(painter, QRectF(Theme::kPad, 0, width() - 2 * Theme::kPad - m_add->width() - Theme::kGap, headerHeight()), shown.summary, hint());
    paintOverlay(painter, shown, layout, overlay());
}

void ClusterMap::resizeEvent(QResizeEvent *)
{
    const QSize button = m_add->sizeHint();
    m_add->setGeometry(width() - button.width() - Theme::kPad, int((headerHeight() - button.height()) / 2), button.width(), button.height());
    relayout();
}

void ClusterMap::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        relayout();
    QWidget::changeEvent(event);
}

void ClusterMap::setSelection(MapSelection selection)
{
    if (selection == m_selection)
        return;
    m_selection = std::move(selection);
    update();
    emit selectionChanged();
}

void ClusterMap::setFocusItem(std::optional<MapItem> item)
{
    m_focus = item;
    m_keyboard = true;
    setAccessibleDescription(item ? spokenName(m_scene, *item) : QString());
    QAccessibleEvent event(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
    update();
}

} // namespace trainyard
