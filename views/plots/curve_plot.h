#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One chart of the curves panel: axes in the theme's colours, crosshair with a tooltip, zoom and pan along time,
// pictures and tables of itself. What it draws is up to its subclasses. It works only while it is in sight, and once
// for all that changes at a time. GUI thread.

#include "core/evaluation/evaluate/evaluation.h"

#include <QColor>
#include <QWidget>

class QCustomPlot;
class QCPItemStraightLine;

namespace trainyard {

/// curves
inline constexpr int kMostInTooltip = 12, kMostInLegend = 8;

class CurvePlot : public QWidget {
    Q_OBJECT
public:
    struct LegendEntry {
        QString name;
        QColor color;
    };

    explicit CurvePlot(QWidget *parent = nullptr);
    ~CurvePlot() override;

    void setEvaluation(EvaluationPtr evaluation);
    void setVisibleRange(Nanoseconds from, Nanoseconds to);
    void setInsets(int left, int right);
    void setStale(bool stale);
    /// -1: the mean or all of them, as the plot sees fit; -2: every stage; else one stage.
    void setStage(int stage);

    [[nodiscard]] virtual bool hasTimeAxis() const { return true; }
    [[nodiscard]] virtual bool hasStages() const { return false; }
    /// one line beside the tabs
    [[nodiscard]] virtual QString note() const = 0;
    [[nodiscard]] virtual std::vector<LegendEntry> legend() const = 0;
    /// with a header line
    [[nodiscard]] virtual QString toTsv() const = 0;
    /// Where the pointer is in another chart, as a line; kNoCursor: no line.
    void showCursor(qint64 time);
    static constexpr qint64 kNoCursor = -1;
    [[nodiscard]] QCustomPlot &chart()
    {
        refresh();
        return *m_plot;
    }

Q_SIGNALS:
    void rangeChanged(trainyard::Nanoseconds from, trainyard::Nanoseconds to);
    /// note and legend may be different
    void refreshed();
    /// the pointer's, in nanoseconds; kNoCursor where it left
    void cursorMoved(qint64 time);
    void enlargeRequested();

protected:
    static constexpr int kEveryStage = -2;
    /// Empty where there is something to draw.
    [[nodiscard]] virtual QString emptyText() const = 0;
    virtual void draw(QCustomPlot &plot) = 0;
    /// What the axes measure, with the unit where the ticks do not say it.
    [[nodiscard]] virtual QString yTitle() const = 0;
    [[nodiscard]] virtual QString xTitle() const { return tr("time"); }
    /// What the tooltip says at a position of the x axis.
    [[nodiscard]] virtual QString describe(double x) const = 0;
    [[nodiscard]] const Evaluation *evaluation() const { return m_evaluation.get(); }
    [[nodiscard]] int stage() const { return m_stage; }
    /// Buckets of the whole iteration such that one is about a pixel of what is in sight.
    [[nodiscard]] int buckets() const;
    /// of the iteration
    [[nodiscard]] double seconds() const;
    /// "stage 4"; of a plan with jobs "GPU 3"
    [[nodiscard]] QString stageName(int stage) const;
    /// pixels
    [[nodiscard]] int axisHeight() const;
    /// what is drawn is another now; drawn once, when control is back
    void markDirty();

    void showEvent(QShowEvent *event) override;
    void changeEvent(QEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;

private:
    /// What has changed is drawn once, when control is back: content anew, or the same content in another range.
    void drawSoon();
    void refresh();
    void applyTheme();
    void moveCrosshair(QPoint position);
    void placeCrosshair(double x);
    void hideCrosshair();
    void replotCrosshair();
    void zoom(QWheelEvent *event);
    void pan(int pixels);
    void setRange(double from, double to);

    QCustomPlot *m_plot;
    QCPItemStraightLine *m_crosshair;
    EvaluationPtr m_evaluation;
    /// empty: the whole iteration
    Nanoseconds m_from = 0, m_to = 0;
    int m_stage = -1, m_left = 64, m_right = 12;
    int m_drawnBuckets = 0;
    QPoint m_dragFrom;
    bool m_dirty = true, m_isQueued = false, m_isDragging = false, m_stale = false;
};

} // namespace trainyard
