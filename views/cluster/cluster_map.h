#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The cluster map: datacenters as islands, GPUs coloured by pipeline stage, WAN links; drag GPUs between datacenters with
// the mouse or by keyboard, or a datacenter to another place, and see what the drop would do. It changes nothing: it hands edits out and shows the plan and
// evaluation it is given. This class wires; geometry is map_layout, painting map_painter and overlay_painter, gestures
// map_gesture. GUI thread. It paints its own header line, so the window adds no title.

#include "core/evaluate/evaluation.h"
#include "core/plan/plan.h"
#include "views/cluster/map_edits.h"
#include "views/cluster/map_gesture.h"
#include "views/cluster/map_layout.h"
#include "views/cluster/map_preview.h"
#include "views/cluster/map_projection.h"
#include "views/cluster/map_scene.h"

#include <QHash>
#include <QPixmap>
#include <QWidget>

#include <optional>

class QToolButton;

namespace trainyard {

class AmountPopup;
struct MapCommands;
struct MapGhost;
struct MapOverlay;

class ClusterMap : public QWidget {
    Q_OBJECT

public:
    explicit ClusterMap(QWidget *parent = nullptr);
    ~ClusterMap() override;

    void setPlan(trainyard::PlanPtr plan);                     // the committed plan
    void setEvaluation(trainyard::EvaluationPtr evaluation);   // of the committed or of the previewed plan
    void setStale(bool stale);

    [[nodiscard]] const MapSelection &selection() const { return m_selection; }
    void clearSelection();
    /// Committed plan's geometry, in widget coordinates, for tests and tours.
    [[nodiscard]] const MapLayout &mapLayout() const { return m_layout; }
    [[nodiscard]] const MapScene &scene() const { return m_scene; }
    [[nodiscard]] bool isDragging() const { return m_gesture.isActive(); }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

public slots:
    void addDatacenter();
    void addPool(int datacenter, const std::string &gpu = {});
    void addLink(int from, int to);
    void edit(const trainyard::MapItem &item);
    void editSelection();
    void removeSelection();
    void cancelGesture();
    void resetPositions();                                     // forgets where islands were dragged to

signals:
    void editPreviewed(trainyard::PlanPtr next, QString text);
    void editCommitted(trainyard::PlanPtr next, QString text);
    void editCancelled();
    void selectionChanged();

protected:
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
    bool focusNextPrevChild(bool next) override;

private:
    void rebuild();                                            // scene and layout after a change of data or size
    void relayout();
    [[nodiscard]] QRectF mapArea() const;
    [[nodiscard]] QString hint() const;
    [[nodiscard]] MapOverlay overlay() const;
    [[nodiscard]] QStringList hoverCard() const;
    void forgetHover();
    [[nodiscard]] MapGhost ghost() const;
    void showPreview();                                        // the previewed plan's contents, once they are known
    void setSelection(MapSelection selection);
    void setFocusItem(std::optional<MapItem> item);

    void syncPreview();                                        // tells the world what the gesture would do now
    void commit(std::optional<MapEdit> edit);
    void announce(MapPreview::Change change);
    void finish(MapGesture::Outcome outcome, Qt::KeyboardModifiers modifiers);
    void drop();
    void askHowMany();
    void nudgeIsland(Qt::KeyboardModifiers modifiers);
    void dropIsland();
    void putNudgedBack();
    void updateHover(QPointF at, Qt::KeyboardModifiers modifiers);
    void changeAmount(int gpus);
    void beginCarry();
    bool pickUp();
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
    MapLayout m_layout;
    QHash<QString, QPointF> m_pins;                            // datacenter id -> where a person put it
    std::optional<MapProjection> m_projection;                 // since a datacenter was dragged to another place
    MapGesture m_gesture;
    MapPreview m_preview;
    MapSelection m_selection;
    std::optional<MapItem> m_hover, m_focus;
    MapHit m_hoverHit;
    int m_lastAmount = 0;                                      // answer to the last "how many"
    QString m_typedAmount;
    bool m_keyboard = false;                                   // the last word came from the keyboard: show the focus ring
    QPointF m_hoverAt;
    std::optional<QPointF> m_nudgeStart;                       // centre of the island being nudged, before
    std::optional<QPointF> m_nudgePin;                         // its pin before, if any
    std::optional<MapScene> m_previewScene;
    MapLayout m_previewLayout;
    QPixmap m_cache;
    bool m_cacheValid = false;
    AmountPopup *m_popup;
    QToolButton *m_add;
};

} // namespace trainyard
