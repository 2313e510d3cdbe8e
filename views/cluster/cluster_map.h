#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The cluster map: datacenters as islands, GPUs coloured by pipeline stage, WAN links; drag GPUs between datacenters
// with the mouse or by keyboard, or a datacenter to another place, and see what the drop would do. It changes nothing:
// it hands edits out and shows the plan and evaluation it is given. This class wires; geometry is map_layout and
// map_view, painting map_painter and overlay_painter, gestures map_gesture, forms editors/. GUI thread. It paints its
// own header line, so the window adds no title.

#include "models/shown.h"
#include "views/cluster/map_edits.h"
#include "views/cluster/map_gesture.h"
#include "views/cluster/map_layout.h"
#include "views/cluster/map_preview.h"
#include "views/cluster/map_projection.h"
#include "views/cluster/map_scene.h"
#include "views/cluster/map_traffic.h"
#include "views/cluster/map_view.h"

#include <QHash>
#include <QPixmap>
#include <QPointer>
#include <QWidget>

#include <functional>
#include <optional>

class QToolButton;

namespace trainyard {

class AmountPopup;
class FormPopover;
struct MapCommands;
struct MapGhost;
struct MapOverlay;

class ClusterMap : public QWidget {
    Q_OBJECT

public:
    explicit ClusterMap(QWidget *parent = nullptr);
    ~ClusterMap() override;

    /// Shows that plan with its evaluation. Gestures start from its base, which keeps its places under a preview,
    /// whoever previews.
    void setShown(const trainyard::Shown &shown);
    void setStale(bool stale);
    /// Lines over the map, until others come, Esc or another plan: nothing of it is selected.
    void setTraffic(std::optional<trainyard::MapTraffic> traffic);
    [[nodiscard]] const std::optional<MapTraffic> &traffic() const { return m_traffic; }

    [[nodiscard]] const MapSelection &selection() const { return m_selection; }
    void clearSelection();
    void select(const trainyard::MapItem &item);
    /// Selects it, brings it into view, nearer where it is too small to be seen, and takes the keyboard there.
    void goTo(const trainyard::MapItem &item);
    /// Committed plan's geometry, in widget coordinates, for tests and tours.
    [[nodiscard]] const MapLayout &mapLayout() const { return m_layout; }
    /// of the plan that edits start from
    [[nodiscard]] const MapScene &scene() const { return m_scene; }
    /// What is painted: that of a preview while there is one.
    [[nodiscard]] const MapScene &shownScene() const { return m_previewScene ? *m_previewScene : m_scene; }
    [[nodiscard]] const MapView &view() const { return m_view; }
    /// The form that is open beside something on the map; null where none is.
    [[nodiscard]] FormPopover *editor() const;
    [[nodiscard]] bool isDragging() const { return m_gesture.isActive(); }

    /// From now on it is looked at and not edited: mouse and keyboard are for what it lies in.
    void setLookedAtOnly();

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

public slots:
    void addDatacenter();
    void addPool(int datacenter, const std::string &gpu = {});
    /// its ends are chosen in the form
    void addLink();
    void addLink(int from, int to);
    void edit(const trainyard::MapItem &item);
    /// what stands in the open form becomes the plan's
    void commitEditor();
    void editSelection();
    void removeSelection();
    void cancelGesture();
    /// forgets where islands were dragged to
    void resetPositions();
    /// at the pointer where it is on the map, else at the middle
    void zoomIn();
    void zoomOut();
    /// all of the map
    void fit();
    /// the selected or focused item; all of the map the second time
    void zoomToSelection();

signals:
    void editPreviewed(trainyard::PlanPtr next, QString text);
    void editCommitted(trainyard::PlanPtr next, QString text);
    void editCancelled();
    void selectionChanged();
    /// by Esc
    void trafficCleared();
    /// a job was dropped on them
    void pinRequested(const QString &job, const std::vector<int> &gpus);

protected:
    bool event(QEvent *event) override;
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void leaveEvent(QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void keyReleaseEvent(QKeyEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dragMoveEvent(QDragMoveEvent *event) override;
    void dragLeaveEvent(QDragLeaveEvent *event) override;
    void dropEvent(QDropEvent *event) override;
    void hideEvent(QHideEvent *event) override;
    bool focusNextPrevChild(bool next) override;

private:
    void takeBase(const PlanPtr &plan);
    /// scene and layout after a change of data or size
    void rebuild();
    void relayout();
    [[nodiscard]] MapSpec specOf(const MapScene &scene, const Plan &plan) const;
    /// those that only show while someone looks at them
    void showLooseLinks();
    void keepSelection(const Cluster &before, const Cluster &after);
    [[nodiscard]] QRectF mapArea() const;
    [[nodiscard]] QString hint() const;
    [[nodiscard]] MapOverlay overlay() const;
    [[nodiscard]] QStringList hoverCard() const;
    void paintLooseLinks(QPainter &painter) const;
    void forgetHover();
    /// whether it is a job
    bool markDropped(const QDropEvent &event);
    [[nodiscard]] MapGhost ghost() const;
    /// the previewed plan's contents, once they are known
    void showPreview();
    void setSelection(MapSelection selection);
    void setFocusItem(std::optional<MapItem> item);

    /// tells the world what the gesture would do now
    void syncPreview();
    void commit(std::optional<MapEdit> edit);
    void announce(MapPreview::Change change);
    void finish(MapGesture::Outcome outcome, Qt::KeyboardModifiers modifiers);
    void drop();
    void askHowMany();
    void nudgeIsland(Qt::KeyboardModifiers modifiers);
    void dropIsland();
    void updateHover(QPointF at, Qt::KeyboardModifiers modifiers);
    void changeAmount(int gpus);
    void beginCarry();
    bool pickUp();
    void zoomAt(QPointF at, double factor);
    bool pan(QPointF by);
    bool panned(QMouseEvent &event);
    void showView();
    void followFocus();
    [[nodiscard]] MapHit hitAt(QPointF at) const;
    void openNewLink(int from, int to, const QRectF &beside);
    [[nodiscard]] QPointF zoomPoint() const;
    bool pinch(QEvent &event);
    bool viewKey(QKeyEvent *event);
    void openEditor(FormPopover *editor, const QRectF &beside, std::function<std::optional<MapEdit>()> edited);
    void closeEditor(bool keep);
    void tryEdited(bool again);
    [[nodiscard]] QRectF placeOfItem(const MapItem &item) const;
    void editLink(int link);
    void editDatacenter(int datacenter);
    void editPool(int datacenter, int pool);
    [[nodiscard]] MapCommands commands();
    bool carryKey(QKeyEvent *event);
    bool focusKey(QKeyEvent *event);

    PlanPtr m_plan;
    EvaluationPtr m_evaluation;
    bool m_stale = false;
    MapScene m_scene;
    /// that m_fit was laid out for
    MapSpec m_spec;
    /// all of the map in the widget; as it is shown
    MapLayout m_fit, m_layout;
    /// m_fit was laid out before anything was evaluated
    bool m_isProvisional = true;
    MapView m_view;
    /// links that are shown though they do not rest on the map
    std::vector<int> m_loose;
    /// datacenter that was put down last
    QString m_held;
    /// datacenter id -> where a person put it
    QHash<QString, QPointF> m_pins;
    /// since a datacenter was dragged to another place
    std::optional<MapProjection> m_projection;
    MapGesture m_gesture;
    MapPreview m_preview;
    MapSelection m_selection;
    std::optional<MapItem> m_hover, m_focus;
    std::optional<MapTraffic> m_traffic;
    MapHit m_hoverHit;
    /// answer to the last "how many"
    int m_lastAmount = 0;
    QString m_typedAmount;
    /// the last word came from the keyboard: show the focus ring
    bool m_keyboard = false;
    QPointF m_hoverAt;
    /// before the island was taken
    std::optional<MapLayout> m_nudgeStart;
    /// the pointer, while it drags the ground
    std::optional<QPointF> m_panAt;
    /// m_projection was made by the nudge under way
    bool m_isScaleNew = false;
    QPointer<FormPopover> m_editor;
    /// the plan with what stands in it
    std::function<std::optional<MapEdit>()> m_edited;
    /// what another panel previews
    std::optional<Shown> m_elsewhere;
    std::optional<MapScene> m_previewScene;
    MapLayout m_previewLayout;
    QPixmap m_cache;
    bool m_cacheValid = false;
    /// scene and layout are of the plan before
    bool m_isBehind = false;
    AmountPopup *m_popup;
    QToolButton *m_add;
};

} // namespace trainyard
