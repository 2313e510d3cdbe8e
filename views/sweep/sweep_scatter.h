#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of a sweep as marks over two of its columns: feasible ones filled, infeasible ones hollow, refused ones crossed,
// and the front of the feasible ones as a line. Hovering names a row, a click or the arrow keys along the front choose
// one, a double click asks for its plan. GUI thread.

#include "models/sweep_results.h"

#include <QWidget>

#include <optional>

class QCPItemEllipse;
class QCustomPlot;

namespace trainyard {

class SweepScatter : public QWidget {
    Q_OBJECT
public:
    /// The results outlive it.
    explicit SweepScatter(const SweepResults &results, QWidget *parent = nullptr);
    ~SweepScatter() override;

    /// Columns of the results; -1: nothing is drawn.
    void setColumns(int x, int y);
    /// [row]: 0 is left out; empty: all are in.
    void setShown(std::vector<char> shown);
    /// Rings a row; -1: none.
    void setCurrent(int row);
    [[nodiscard]] int current() const { return m_current; }
    [[nodiscard]] const std::vector<std::size_t> &front() const { return m_front; }
    [[nodiscard]] std::size_t points() const { return m_points.size(); }
    /// Where a row is, in this widget's pixels; nothing where it is not drawn.
    [[nodiscard]] std::optional<QPointF> positionOf(int row) const;
    [[nodiscard]] int nearest(QPointF position) const; // -1: none within reach
    void showAll();

Q_SIGNALS:
    void rowChosen(int row);
    void rowActivated(int row); // double-clicked, or Enter

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void draw();
    void styleAxes();
    void drawMarks();
    void drawFront();
    void placeRing();
    void hover(QPoint position);
    void choose(int row);
    [[nodiscard]] bool isDrawn(std::size_t row) const;

    const SweepResults &m_results;
    QCustomPlot *m_plot;
    QCPItemEllipse *m_ring = nullptr; // the plot's
    int m_x = -1, m_y = -1, m_current = -1;
    std::vector<char> m_shown;
    std::vector<std::size_t> m_points, m_front; // rows
    QPoint m_pressed;
};

} // namespace trainyard
