#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The roofline on logarithmic axes: the bandwidth of the GPU's memory and its peaks as lines, a mark for each operator
// and shape below them by its kind. Hovering tells what it is, a click or the arrow keys choose one. GUI thread.

#include "core/runs/profile/roofline.h"
#include "views/plots/point_plot.h"

#include <memory>

namespace trainyard {

class RooflinePlot : public PointPlot {
    Q_OBJECT
public:
    explicit RooflinePlot(QWidget *parent = nullptr);

    /// null: nothing to draw
    void setRoofline(std::shared_ptr<const Roofline> roofline);
    /// Rows that have a mark: what computes nothing, as a copy, has no place on the axes, and what takes less than a
    /// ten thousandth of the time none of its own.
    [[nodiscard]] const std::vector<int> &points() const { return m_points; }
    [[nodiscard]] std::optional<QPointF> positionOf(int row) const override;
    [[nodiscard]] int nearest(QPointF position) const override;
    [[nodiscard]] QString tipOf(int row) const override;
    [[nodiscard]] QCustomPlot &chart() { return *m_plot; }
    void showAll() override;

protected:
    void draw() override;
    [[nodiscard]] std::vector<int> keyOrder() const override;

private:
    void findRanges();
    void styleAxes();
    void drawRoofs();
    void drawMarks();
    [[nodiscard]] const RooflineRow &rowAt(int row) const { return m_roofline->rows[std::size_t(row)]; }

    std::shared_ptr<const Roofline> m_roofline;
    std::vector<int> m_points;
    /// FLOPs a byte; FLOP/s
    double m_left = 0.1, m_right = 1000, m_low = 1e9, m_high = 1e15;
};

} // namespace trainyard
