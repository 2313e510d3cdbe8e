#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of a sweep as marks over two of its columns: feasible ones filled, infeasible ones hollow, refused ones crossed,
// and the front of the feasible ones as a line. Hovering names a row, a click or the arrow keys along the front choose
// one, a double click asks for its plan. GUI thread.

#include "models/sweep_results.h"
#include "views/plots/point_plot.h"

namespace trainyard {

class SweepScatter : public PointPlot {
    Q_OBJECT
public:
    /// The results outlive it.
    explicit SweepScatter(const SweepResults &results, QWidget *parent = nullptr);

    /// Columns of the results; -1: nothing is drawn.
    void setColumns(int x, int y);
    /// [row]: 0 is left out; empty: all are in.
    void setShown(std::vector<char> shown);
    [[nodiscard]] const std::vector<std::size_t> &front() const { return m_front; }
    [[nodiscard]] std::size_t points() const { return m_points.size(); }
    [[nodiscard]] std::optional<QPointF> positionOf(int row) const override;
    [[nodiscard]] int nearest(QPointF position) const override;
    void showAll() override;

protected:
    void draw() override;
    [[nodiscard]] std::vector<int> keyOrder() const override; // the front, else all
    [[nodiscard]] QString tipOf(int row) const override;

private:
    void styleAxes();
    void drawMarks();
    void drawFront();
    [[nodiscard]] bool isDrawn(std::size_t row) const;

    const SweepResults &m_results;
    int m_x = -1, m_y = -1;
    std::vector<char> m_shown;
    std::vector<std::size_t> m_points, m_front; // rows
};

} // namespace trainyard
