// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/cluster_map.h"

#include "views/cluster/amount_popup.h"
#include "views/cluster/editors/form_popover.h"
#include "views/cluster/header_painter.h"
#include "views/cluster/link_painter.h"
#include "views/cluster/map_focus.h"
#include "views/cluster/map_menu.h"
#include "views/cluster/map_painter.h"
#include "views/theme/theme.h"

#include <QAccessible>
#include <QEvent>
#include <QHideEvent>
#include <QMenu>
#include <QToolButton>

#include <algorithm>
#include <utility>

namespace trainyard {

ClusterMap::ClusterMap(QWidget *parent)
    : QWidget(parent)
    , m_popup(new AmountPopup(this))
    , m_add(new QToolButton(this))
{
    setMouseTracking(true);
    setAcceptDrops(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(QStringLiteral("Cluster map"));
    grabGesture(Qt::PinchGesture);
    m_add->setText(QStringLiteral("Add"));
    m_add->setAccessibleName(QStringLiteral("Add a datacenter, GPUs or a link"));
    m_add->setPopupMode(QToolButton::InstantPopup);
    m_add->setToolButtonStyle(Qt::ToolButtonTextOnly);
    m_add->setAutoRaise(true);
    m_add->setFocusPolicy(Qt::NoFocus); // by keyboard: Insert, or the context menu
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

namespace {

constexpr std::size_t kMostLooseLabels = 6; // among more lines only the one asked for is labelled

/// Datacenters, pools and links in the same order: what is known of one by its number is true of the other.
bool haveSameParts(const Cluster &a, const Cluster &b)
{
    const auto isSamePlace = [](const Datacenter &x, const Datacenter &y) {
        return x.id == y.id && std::ranges::equal(x.pools, y.pools, [](const Pool &p, const Pool &q) {
            return p.nodes == q.nodes && p.gpusPerNode == q.gpusPerNode;
        });
    };
    const auto isSameLink = [](const WanLink &x, const WanLink &y) { return x.between == y.between; };
    return std::ranges::equal(a.datacenters, b.datacenters, isSamePlace)
        && std::ranges::equal(a.wanLinks, b.wanLinks, isSameLink);
}

} // namespace

QSize ClusterMap::sizeHint() const
{
    return { 900, 280 };
}
QSize ClusterMap::minimumSizeHint() const
{
    return { 360, 124 };
}

void ClusterMap::takeBase(const PlanPtr &plan)
{
    if (plan == m_plan)
        return;
    const bool sameShape = plan && m_plan && plan->cluster == m_plan->cluster;
    const PlanPtr previewed = m_preview.edit() ? m_preview.edit()->next : nullptr;
    if (plan && previewed && (previewed == plan || *previewed == *plan)) {
        if (m_preview.evaluation())
            m_evaluation = m_preview.evaluation();
        m_preview.clear(); // came true: nothing to cancel
    }
    closeEditor(false); // its figures are of the plan before
    if (!sameShape || m_gesture.isCarrying() || m_preview.edit())
        cancelGesture(); // a candidate of the plan before would take its changes back
    const PlanPtr before = std::exchange(m_plan, plan);
    if (!sameShape) {
        keepSelection(before ? before->cluster : Cluster(), m_plan ? m_plan->cluster : Cluster());
        forgetHover();
        if (m_focus && (!m_plan || m_focus->island >= int(m_plan->cluster.datacenters.size())))
            m_focus.reset();
    }
    // Nothing is painted until the numbers of this plan are here, or too late: the picture of before holds the same.
    m_isBehind = !updatesEnabled() && !m_previewScene && before && plan
        && (sameShape || haveSameParts(before->cluster, plan->cluster));
    if (!m_isBehind)
        rebuild();
}

void ClusterMap::setShown(const Shown &shown)
{
    takeBase(shown.base);
    if (shown.isPreview()) {
        if (m_preview.accept(shown.evaluation))
            showPreview();
        else if (!m_preview.edit() && shown.isCurrent()) { // else a late answer to what this map tried before
            m_elsewhere = shown;
            showPreview();
        }
        return;
    }
    const bool wasElsewhere = std::exchange(m_elsewhere, std::nullopt).has_value();
    const bool isAwaited = shown.plan && !shown.evaluation && shown.errors.empty(); // what is known stays until then
    if (!isAwaited && shown.evaluation != m_evaluation) {
        m_evaluation = shown.evaluation;
        rebuild();
    } else if (wasElsewhere) {
        showPreview();
    } else if (m_isBehind && shown.isCurrent()) {
        rebuild();
    }
}

void ClusterMap::setStale(bool stale)
{
    if (stale == m_stale)
        return;
    m_stale = stale;
    m_cacheValid = false;
    update();
}

void ClusterMap::setTraffic(std::optional<MapTraffic> traffic)
{
    if (traffic == m_traffic)
        return;
    m_traffic = std::move(traffic);
    update();
}

void ClusterMap::select(const MapItem &item)
{
    setSelection({ item });
}

void ClusterMap::clearSelection()
{
    setSelection({});
}

void ClusterMap::rebuild()
{
    m_isBehind = false;
    m_scene = m_plan ? buildScene(*m_plan, m_evaluation.get()) : MapScene();
    relayout();
}

MapSpec ClusterMap::specOf(const MapScene &scene, const Plan &plan) const
{
    MapSpec spec = measureScene(scene, plan);
    for (std::size_t i = 0; i < spec.islands.size(); ++i) {
        if (const auto pin = m_pins.constFind(scene.islands[i].id); pin != m_pins.cend())
            spec.islands[i].pinned = *pin;
        else if (m_projection)
            spec.islands[i].pinned = m_projection->centreOf(plan.cluster.datacenters[i]);
        if (scene.islands[i].id == m_held)
            spec.held = int(i);
    }
    return spec;
}

void ClusterMap::relayout()
{
    MapSpec spec = m_plan ? specOf(m_scene, *m_plan) : MapSpec();
    const QRectF area = mapArea();
    // What there is to say is known with the first evaluation: from then on nothing moves without need.
    const bool isFirst = m_isProvisional && m_evaluation;
    m_isProvisional = !m_evaluation;
    if (m_fit.area != area || isFirst)
        m_fit = layOutMap(spec, area);
    else if (spec != m_spec)
        m_fit = relayOutMap(spec, m_fit);
    m_spec = std::move(spec);
    m_layout = m_view.isZoomed() ? zoomMap(m_spec, m_fit, m_view.ground(area)) : m_fit;
    m_loose.clear();
    showLooseLinks();
    showPreview();
}

/// Links that carry nothing show while the pointer, the focus or the selection is on them or on one of their ends.
void ClusterMap::showLooseLinks()
{
    std::vector<int> shown;
    int asked = -1;
    const auto ask = [&](int link) {
        asked = link;
        if (link >= 0 && link < int(m_scene.links.size()) && !m_scene.links[std::size_t(link)].isResting
            && std::ranges::find(shown, link) == shown.end())
            shown.push_back(link);
    };
    const auto askAll = [&](int island) {
        for (int l = 0; island >= 0 && l < int(m_scene.links.size()); ++l) {
            if (m_scene.links[std::size_t(l)].a == island || m_scene.links[std::size_t(l)].b == island)
                ask(l);
        }
        asked = -1;
    };
    const bool isFocused = hasFocus() && m_keyboard && m_focus;
    if (m_gesture.mode() == MapGesture::Mode::Idle || m_gesture.mode() == MapGesture::Mode::Pressed)
        askAll(m_hoverHit.island);
    for (const MapItem &item : m_selection)
        item.kind == MapItem::Kind::Link ? ask(item.link)
                                         : askAll(item.kind == MapItem::Kind::Island ? item.island : -1);
    if (isFocused)
        m_focus->kind == MapItem::Kind::Link ? ask(m_focus->link)
                                             : askAll(m_focus->kind == MapItem::Kind::Island ? m_focus->island : -1);
    if (m_hoverHit.link >= 0)
        ask(m_hoverHit.link);
    if (shown == m_loose)
        return;
    for (const int link : m_loose)
        m_layout.links[std::size_t(link)] = {};
    const MapFonts fonts;
    for (const int link : shown) {
        const LinkScene &scene = m_scene.links[std::size_t(link)];
        const bool isLabelled = link == asked || shown.size() <= kMostLooseLabels;
        showLink(
            isLabelled ? measureLink(fonts, scene) : LinkSpec { scene.a, scene.b, {}, {}, {}, false }, link, m_layout);
    }
    m_loose = std::move(shown);
    update();
}

void ClusterMap::showPreview()
{
    m_previewScene.reset();
    // A datacenter at another place holds what it held: no need to wait for the answer to show its round trips.
    const bool isKnown = m_preview.evaluation() || m_gesture.mode() == MapGesture::Mode::Nudging;
    if (m_preview.edit() && isKnown) {
        const Plan &next = *m_preview.edit()->next;
        m_previewScene = buildScene(next, m_preview.evaluation() ? m_preview.evaluation().get() : m_evaluation.get());
        m_previewLayout = refillMap(specOf(*m_previewScene, next), m_layout);
    } else if (m_elsewhere) {
        m_previewScene = buildScene(*m_elsewhere->plan, m_elsewhere->evaluation.get());
        m_previewLayout = refillMap(specOf(*m_previewScene, *m_elsewhere->plan), m_layout);
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

void ClusterMap::resizeEvent(QResizeEvent *)
{
    const QSize button = m_add->sizeHint();
    m_add->setGeometry(width() - button.width() - Theme::kPad, int((headerHeight() - button.height()) / 2),
        button.width(), button.height());
    relayout();
}

void ClusterMap::hideEvent(QHideEvent *event)
{
    if (!event->spontaneous()) // another page, and not a minimized window
        closeEditor(true); // the form is the window's, not the map's: it would float over that page
    QWidget::hideEvent(event);
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
    showLooseLinks();
    update();
    emit selectionChanged();
}

/// Datacenters and links stay selected through an edit; GPUs have no identity of their own.
void ClusterMap::keepSelection(const Cluster &before, const Cluster &after)
{
    MapSelection kept;
    for (MapItem item : m_selection) {
        if (item.kind == MapItem::Kind::Island && item.island >= 0 && item.island < int(before.datacenters.size())) {
            item.island = after.indexOf(before.datacenters[std::size_t(item.island)].id);
            if (item.island >= 0)
                kept.push_back(item);
        } else if (item.kind == MapItem::Kind::Link && item.link >= 0 && item.link < int(before.wanLinks.size())) {
            const auto &ends = before.wanLinks[std::size_t(item.link)].between;
            item.link = after.linkBetween(ends[0], ends[1]);
            if (item.link >= 0)
                kept.push_back(item);
        }
    }
    setSelection(std::move(kept));
}

void ClusterMap::setFocusItem(std::optional<MapItem> item)
{
    m_focus = item;
    m_keyboard = true;
    showLooseLinks();
    followFocus();
    setAccessibleDescription(item ? spokenName(m_scene, *item) : QString());
    QAccessibleEvent event(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
    update();
}

} // namespace trainyard
