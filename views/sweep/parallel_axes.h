#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Parallel coordinates: an axis a column side by side, a line a row across them, coloured by one column. Dragging along
// an axis keeps the rows within (its brush; a click beside it takes the brush away), dragging a name moves the axis. By
// keys: ← → choose an axis, Ctrl with them moves it, ↑ ↓ move the lower end of its brush, Shift with them the upper
// end, Delete takes it away. GUI thread.

#include "models/sweep_results.h"

#include <QImage>
#include <QPolygonF>
#include <QWidget>

#include <map>
#include <optional>

namespace trainyard {

class ParallelAxes : public QWidget {
    Q_OBJECT
public:
    struct Brush {
        /// of the axis, from 0 at its bottom to 1 at its top
        double low = 0, high = 1;
        bool operator==(const Brush &) const = default;
    };
    /// More rows are drawn thinned; feasible ones, where there are no more of them, all.
    static constexpr std::size_t kMostLines = 20'000;
    /// of a brush: each move draws all anew
    static constexpr std::size_t kMostWhileDragged = 4'000;

    /// The results outlive it.
    explicit ParallelAxes(const SweepResults &results, QWidget *parent = nullptr);

    /// Columns of the results from left to right; brushes of others go.
    void setAxes(std::vector<int> columns);
    [[nodiscard]] const std::vector<int> &axes() const { return m_axes; }
    /// -1: by whether it can run
    void setColorColumn(int column);
    /// drawn on top; -1: none
    void setCurrent(int row);
    void setBrush(int column, std::optional<Brush> brush);
    void clearBrushes();
    [[nodiscard]] std::optional<Brush> brush(int column) const;
    /// [row]: whether it is within every brush; a row without a value on a brushed axis is not. Empty: no brush.
    [[nodiscard]] std::vector<char> within() const;
    /// In pixels: where an axis stands, its name, and a value on it.
    [[nodiscard]] QPointF placeOf(int axis, double share) const;
    [[nodiscard]] QPointF nameOf(int axis) const;
    /// of the axis' length; NaN: no value
    [[nodiscard]] double shareOf(int column, double value) const;
    [[nodiscard]] std::size_t linesDrawn() const { return m_linesDrawn; }

Q_SIGNALS:
    void filterChanged();
    /// their order, by a person
    void axesChanged();

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    enum class Gesture { None, Brush, Name };

    void forgetPicture();
    void drawLines();
    void paintAxis(QPainter &painter, int axis) const;
    /// Its pieces: it is interrupted where the row has no value.
    [[nodiscard]] std::vector<QPolygonF> linesOf(std::size_t row) const;
    void paintTicks(QPainter &painter, int axis) const;
    [[nodiscard]] QColor colorOf(std::size_t row) const;
    /// -1: none is near
    [[nodiscard]] int axisAt(QPointF position) const;
    [[nodiscard]] double shareAt(double y) const;
    [[nodiscard]] double top() const;
    [[nodiscard]] double bottom() const;
    void moveAxis(int from, int to);
    void moveBrush(bool isUpper, int direction);

    const SweepResults &m_results;
    std::vector<int> m_axes;
    /// by column
    std::map<int, Brush> m_brushes;
    int m_color = -1, m_current = -1, m_focus = 0;
    /// of the lines; null: to be drawn
    QImage m_picture;
    std::size_t m_linesDrawn = 0;
    Gesture m_gesture = Gesture::None;
    /// axis
    int m_dragged = -1;
    QPointF m_pressed, m_at;
};

} // namespace trainyard
