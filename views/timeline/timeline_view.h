#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The Gantt chart of one training iteration: legend, chart and minimap around one TimelineState. Reads evaluations,
// changes nothing but its own view. Every command is a slot, so that one command registry can bind keys and menus to
// it; while it has the focus it also answers its own keys (see keyPressEvent). GUI thread.
//
//   timeline->setEvaluation(evaluation);      // keeps the zoom as a fraction of the iteration
//   connect(timeline, &TimelineView::rangeChanged, curves, &CurvesView::setTimeRange);

#include "views/timeline/measured_text.h"
#include "views/timeline/timeline_state.h"

#include <QWidget>

#include <vector>

class QMenu;

namespace trainyard {

class AreaTable;
class ChartCanvas;
class Legend;
class Minimap;
class SpanCard;

inline constexpr qint64 kNoCursor = -1;

/// Whether the evaluated model has layers of experts.
[[nodiscard]] bool hasExpertLayers(const EvaluationPtr &evaluation);

class TimelineView : public QWidget {
    Q_OBJECT
public:
    explicit TimelineView(QWidget *parent = nullptr);
    ~TimelineView() override;

    /// The selected span stays selected where the new timeline has it, and spanSelected says so again.
    void setEvaluation(EvaluationPtr evaluation);
    /// Both at once, laid out once.
    void setEvaluation(EvaluationPtr evaluation, EvaluationPtr baseline);
    /// Another plan comes: forgets hidden kinds, search, marks, area and selection, and shows the whole iteration.
    void startPlan();
    /// The plan cannot be evaluated; the reason stands where the timeline would be until there is one again.
    void setFailure(const QString &reason);
    /// Drawn as a thin ghost under each track; null takes it away.
    void setBaseline(EvaluationPtr baseline);
    /// A recorded run whose rows lie under those of the plan at the same places; null takes them away. They stay where
    /// they are when the schedule changes, until the next overlay comes.
    void setOverlay(RunOverlayPtr overlay);
    /// The same with its lanes (lanesUnderPlan), where they were made beside the GUI thread.
    void setOverlay(RunOverlayPtr overlay, MeasuredLanesPtr lanes);
    /// Dimmed while newer numbers are on their way.
    void setStale(bool stale);
    void setTitleShown(bool shown);

    [[nodiscard]] EvaluationPtr evaluation() const { return m_state.evaluation; }
    [[nodiscard]] TimeInterval visibleRange() const { return m_state.range; }
    void setVisibleRange(Nanoseconds begin, Nanoseconds end);
    [[nodiscard]] std::uint32_t selectedSpan() const { return m_state.selected; }
    void selectSpan(std::uint32_t span);
    /// Scrolls and pans until it is in view.
    void revealSpan(std::uint32_t span) { reveal(span); }
    /// Scrolls to the first row on which a rank of the run is measured.
    void revealRank(int rank);
    /// Scrolls to the row of a stage, out of what is folded, marks it for a moment and tells stageClicked. Of a class
    /// of pipelines (index into Layout::classes); -1: the first that has it. False: there is none.
    bool goToStage(int stage, int pipelineClass = -1);
    /// Points at all pieces of these parts of the iteration while the rest fades, and goes to the largest; none: goes
    /// back.
    void focusOn(std::vector<BreakdownPart> parts);
    [[nodiscard]] std::vector<BreakdownPart> focusedParts() const;
    void setFilter(const SpanFilter &filter);
    /// What is searched for and the legend's switches together.
    [[nodiscard]] const SpanFilter &filter() const { return m_state.filter; }
    [[nodiscard]] const TimelineState &state() const { return m_state; }
    /// Of a plan with jobs: its spans stand out, as with a click on one of them; JobSpans::kNone: all do.
    void selectJob(int job);
    [[nodiscard]] int selectedJob() const { return m_state.job; }
    [[nodiscard]] QWidget *canvas() const;
    /// The table of the selected area. It lies over the chart while it is a child of this view; given another parent,
    /// it is placed and shown there (AreaTable::contentChanged says when there is something to see).
    [[nodiscard]] AreaTable *areaTable() const { return m_areaTable; }
    [[nodiscard]] Minimap *minimap() const { return m_minimap; }
    /// Where the bars are, in this widget: plots below align their time axes with it.
    [[nodiscard]] QRect trackArea() const;
    /// Which rows are pinned to the top and which datacenters folded, for the next start.
    [[nodiscard]] QByteArray rowsState() const;
    void restoreRows(const QByteArray &state);

public slots:
    void fit();
    void zoomIn();
    void zoomOut();
    void panLeft();
    void panRight();
    void scrollUp();
    void scrollDown();
    /// To the selected area, else the selected span, else the hovered one; where that is in view already, fits.
    void zoomToSelection();
    void nextSpan();
    void previousSpan();
    void followDependency(bool forward);
    void toggleCriticalPath();
    /// Pins the row under the mouse, else that of the selected span, to the top; or takes it down again.
    void togglePin();
    void toggleStreams();
    /// Folds the pipelines of each datacenter that differ from its first into one row; unfolds them where any is
    /// folded.
    void toggleOthers();
    /// What operations exchange inside, along their feet.
    void toggleInside();
    /// The rows of the run that lies under the plan.
    void toggleMeasured();
    /// A cursor at the pointer, else at the selected span; a third one replaces the older of two.
    void addMark();
    /// Fades what does not match ("backward 12", "stage 3", "> 50 ms") and selects the next match. False: not
    /// understood.
    bool find(const QString &text);
    void findNext();
    void openSearch();
    void copyArea() const;
    /// Where another chart's pointer is, as a line; none: no line.
    void showCursor(qint64 time);
    void hideKind(WorkKind kind);
    void showOnlyKind(WorkKind kind);
    void showAllKinds();
    /// Asks for the expert layer of the selected operation, where it has one.
    void openLayer();
    /// Title and facts of the selected span, a line each.
    void copySpan() const;
    /// Takes away, one at a time: what Why points at, area, marks, selection, search.
    void clearSelection();

signals:
    void rangeChanged(qint64 begin, qint64 end);
    void spanSelected(quint32 span);
    /// empty: none any more
    void measuredSelected(const QString &title, const trainyard::NamedFacts &facts);
    /// a run came or went, or its rows are shown or not
    void measuredShownChanged();
    /// to other parts of the iteration, or to none
    void focusChanged();
    /// the label of one of its rows
    void stageClicked(int stage);
    /// kNoCursor where the pointer left
    void cursorMoved(qint64 time);
    /// as Metrics::jobs counts them
    void jobSelected(int job);
    /// to these GPUs alone; none: to any
    void pinRequested(const QString &job, const std::vector<int> &gpus);
    /// of the operation whose expert layer is to be opened
    void layerRequested(trainyard::WorkKind kind);

protected:
    void contextMenuEvent(QContextMenuEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void wire();
    bool takeBaseline(EvaluationPtr baseline);
    void relayout();
    void togglePinOf(const QString &rowKey);
    void takeSelection(std::uint32_t span);
    void setRange(TimeInterval range);
    void setScroll(int scroll);
    void zoomBy(double factor);
    void panBy(double share);
    void pointAt(QPoint point);
    void click(QPoint point);
    /// Folds or unfolds what has its mark there. False: nothing has.
    bool foldAt(QPoint point);
    void dragArea(QPoint from, QPoint to);
    void finishArea();
    void placeAreaTable();
    void forgetArea();
    void fillMenu(QMenu &menu, QPoint point);
    void collectEffects();
    /// of the evaluation that has come
    void takeJobs();
    void fillJobMenu(QMenu &menu);
    /// empty: it has left
    void dragJob(const QString &job, QPoint point);
    void dropJob(const QString &job, QPoint point);
    /// -1 where no row of one is
    [[nodiscard]] int gpuAt(QPoint point) const;
    void hover(std::uint32_t span, QPoint point);
    void takeOverlay();
    void hoverMeasured(QPoint point);
    void showMeasured(std::uint32_t span, QPoint point);
    void selectMeasured(std::uint32_t span);
    void stepMeasured(int by);
    /// as it is drawn
    [[nodiscard]] TimeInterval measuredTime(std::uint32_t span) const;
    /// of plan, baseline and run
    [[nodiscard]] TimeInterval wholeTime() const;
    void showWait(std::uint32_t mark, QPoint point);
    void showCard(std::uint32_t span, QPoint point);
    void reveal(std::uint32_t span);
    void reveal(std::uint32_t track, TimeInterval time);
    void revealRow(int row, TimeInterval time);
    void endFocus();
    void renewFocus();
    void showFocus();
    [[nodiscard]] TimeInterval
    selectedTime() const; // of the selected span, or of the piece of Why that it was selected for
    /// with room on both sides
    [[nodiscard]] static TimeInterval around(TimeInterval time);
    void repaintChart();
    void applyFilters();
    void applyBackground();
    void describe();
    void ensureCriticalPath();
    [[nodiscard]] bool isCritical(std::uint32_t span);

    TimelineState m_state;
    /// of the overlay, also while its rows are not shown
    MeasuredLanesPtr m_lanes;
    TrackLayoutOptions m_options;
    /// critical spans by number, for membership
    std::vector<std::uint32_t> m_sortedPath;
    bool m_knowsCriticalPath = false;
    SpanFilter m_search;
    /// of the selected one
    QString m_jobName;
    /// the legend's switches
    std::uint32_t m_shownKinds = kAllKinds;
    std::uint32_t m_presentKinds = 0;
    int m_pointedRow = -1;
    /// the selection is the largest piece that is pointed at
    bool m_isFocusSelected = false;
    /// range and scroll
    std::pair<TimeInterval, int> m_beforeFocus, m_atFocus;
    Legend *m_legend;
    ChartCanvas *m_canvas;
    Minimap *m_minimap;
    AreaTable *m_areaTable;
    SpanCard *m_card;
};

} // namespace trainyard
