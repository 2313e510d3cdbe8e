#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of a sweep as marks over two of its columns: feasible ones filled, infeasible ones hollow, refused ones crossed,
// and the front of the feasible ones as a line. A row that has a value of one column alone lies along that column's
// edge; those that have neither are counted in a corner. Hovering names a row, a click or the arrow keys along the
// front choose one, a double click asks for its plan. GUI thread.

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
    [[nodiscard]] const QString &note() const { return m_note; } // what the corner says
    [[nodiscard]] std::optional<QPointF> positionOf(int row) const override;
    [[nodiscard]] int nearest(QPointF position) const override;
    void showAll() override;

protected:
    void draw() override;
    /// the front, else all
    [[nodiscard]] std::vector<int> keyOrder() const override;
    [[nodiscard]] QString tipOf(int row) const override;

private:
    void styleAxes();
    void drawMarks();
    void drawFront();
    void drawNote();
    [[nodiscard]] bool isShown(std::size_t row) const { return m_shown.empty() || m_shown[row]; }
    /// a value that its axis can show
    [[nodiscard]] bool has(int column, std::size_t row) const;

    const SweepResults &m_results;
    int m_x = -1, m_y = -1;
    std::vector<char> m_shown;
    /// rows
    std::vector<std::size_t> m_points, m_front;
    /// rows that have no value of either column
    std::size_t m_neither = 0;
    QString m_note;
};

} // namespace trainyard
