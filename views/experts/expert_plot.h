#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One chart of MoNTA's comparison: time of the layer (solid) and of its exchange alone (dashed) under three exchanges,
// over one thing that they depend on, on logarithmic axes; a line marks the plan. Hovering, or the arrow keys, name a
// point. GUI thread.

#include "core/evaluation/advice/expert_comparison.h"

#include <QWidget>

class QCustomPlot;

namespace trainyard {

class ExpertPlot : public QWidget {
    Q_OBJECT
public:
    explicit ExpertPlot(ExpertAxis axis, QWidget *parent = nullptr);
    ~ExpertPlot() override;

    void setCurve(const ExpertCurve &curve);
    [[nodiscard]] const ExpertCurve &curve() const { return m_curve; }
    [[nodiscard]] ExpertAxis axis() const { return m_axis; }
    [[nodiscard]] QCustomPlot &chart() { return *m_plot; }
    /// The point chosen by keys or under the pointer; -1: none.
    [[nodiscard]] int current() const { return m_current; }
    /// Where a point of an exchange's layer is, in this widget's pixels.
    [[nodiscard]] QPointF positionOf(int point, ExchangeStep step) const;
    [[nodiscard]] QString describe(int point) const;

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void changeEvent(QEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;

private:
    void draw();
    void drawAxes(double low, double high);
    void drawStep(ExchangeStep step);
    void drawPlan();
    void hover(QPoint position);
    void choose(int point, QPoint globalPosition);

    ExpertAxis m_axis;
    QCustomPlot *m_plot;
    ExpertCurve m_curve;
    int m_current = -1;
};

} // namespace trainyard
