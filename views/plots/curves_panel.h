#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Tabs of curves below the timeline: utilization, memory, WAN, and the choice of recomputing, offloading or keeping
// activations; of a plan with jobs memory of their hosts and how far they are. The time axis follows the timeline's
// visible range and may be dragged and zoomed as well. Only the tab in sight is computed. GUI thread.

#include "models/shown.h"

#include <QWidget>

class QComboBox;
class QTabBar;
class QToolButton;
class QStackedWidget;

namespace trainyard {

class CurvePlot;
class JobProgressPlot;
class LegendStrip;
class RokPlot;
class TextLine;

class CurvesPanel : public QWidget {
    Q_OBJECT
public:
    enum class Tab { Utilization, Memory, MemoryOverTime, Wan, Rok, Hosts, Progress };

    explicit CurvesPanel(QWidget *parent = nullptr);

    void setShown(const Shown &shown);
    void setStale(bool stale);
    /// What the timeline shows, in nanoseconds of the iteration.
    void setVisibleRange(trainyard::Nanoseconds from, trainyard::Nanoseconds to);
    /// Where the timeline's tracks begin and end, in pixels from this panel's edges, so that the axes align.
    void setPlotInsets(int left, int right);
    void setTab(Tab tab);
    [[nodiscard]] bool isTabShown(Tab tab) const;
    /// Whose curve stands out; JobSpans::kNone: none does.
    void setJob(int job);
    [[nodiscard]] CurvePlot *plot(Tab tab) const;
    [[nodiscard]] CurvePlot *currentPlot() const;
    [[nodiscard]] RokPlot *rok() const { return m_rok; }
    /// The chart in sight has the room of its neighbours; a double-click or Esc gives it back.
    [[nodiscard]] bool isEnlarged() const { return m_isEnlarged; }
    void setEnlarged(bool enlarged);
    /// Where the pointer is in the timeline, in nanoseconds; CurvePlot::kNoCursor: nowhere.
    void showCursor(qint64 time);

Q_SIGNALS:
    void rangeChanged(trainyard::Nanoseconds from, trainyard::Nanoseconds to);
    void cursorMoved(qint64 time);
    /// whoever lays out hides the neighbours, or shows them again
    void enlargeRequested(bool enlarged);

protected:
    bool event(QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    void addPlot(CurvePlot *plot, const QString &name);
    void showTab(int index);
    void fillStages(int stages);
    void chooseTabs(bool ofJobs);
    void describePlot();

    EvaluationPtr m_evaluation;
    QTabBar *m_tabs;
    QStackedWidget *m_stack;
    QComboBox *m_stages;
    LegendStrip *m_legend;
    TextLine *m_note;
    std::vector<CurvePlot *> m_plots;
    RokPlot *m_rok;
    JobProgressPlot *m_progress;
    bool m_isOfJobs = false;
    /// where the chart is enlarged
    QToolButton *m_back;
    bool m_isEnlarged = false;
};

} // namespace trainyard
