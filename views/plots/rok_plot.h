#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Recompute, offload, keep: the activation peak against the model throughput, a curve for each way, a point for each
// micro-batch. A ring marks the plan; a click, or arrows and Enter, adopts a point. GUI thread.

#include "models/rok_curves.h"
#include "views/plots/curve_plot.h"

namespace trainyard {

class RokPlot : public CurvePlot {
    Q_OBJECT
public:
    explicit RokPlot(QWidget *parent = nullptr);

    /// the document's: points of another plan cannot be adopted
    /// The plan that the curves are to be of: what edits start from.
    void setBase(PlanPtr plan);
    void setCurves(RokCurvesPtr curves);

    [[nodiscard]] bool hasTimeAxis() const override { return false; }
    [[nodiscard]] QString note() const override;
    [[nodiscard]] std::vector<LegendEntry> legend() const override;
    [[nodiscard]] QString toTsv() const override;
    /// Where a point lies on the chart, in its pixels.
    [[nodiscard]] QPoint positionOf(const RokPoint &point);
    [[nodiscard]] const RokCurves *curves() const { return m_curves.get(); }

Q_SIGNALS:
    void editCommitted(trainyard::PlanPtr next, QString text);
    /// whether anyone can see it
    void watched(bool isWatched);

protected:
    [[nodiscard]] QString emptyText() const override;
    void draw(QCustomPlot &plot) override;
    [[nodiscard]] QString yTitle() const override { return tr("model TFLOP/s per GPU"); }
    [[nodiscard]] QString xTitle() const override { return tr("peak of activations"); }
    [[nodiscard]] QString describe(double) const override { return {}; }
    bool eventFilter(QObject *object, QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    [[nodiscard]] const std::vector<RokPoint> &points() const;
    [[nodiscard]] bool isOfThePlan() const;
    /// -1: none near
    [[nodiscard]] int pointAt(const QCustomPlot &plot, QPoint position) const;
    [[nodiscard]] int current() const;
    [[nodiscard]] QString describePoint(const RokPoint &point) const;
    void select(int index);
    void step(int sizes, int ways);
    void adopt(int index);
    void drawWay(QCustomPlot &plot, ActivationWay way) const;
    void drawSizes(QCustomPlot &plot) const;
    void drawMark(QCustomPlot &plot, const RokPoint &point, const QColor &color, double size) const;

    PlanPtr m_plan;
    RokCurvesPtr m_curves;
    /// index into the points: under the pointer, or reached by keys
    int m_selected = -1;
};

} // namespace trainyard
