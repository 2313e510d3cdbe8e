#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The candidates of a search as points, time of an iteration over price of a token, while they come: coloured and
// shaped by state, the front of the feasible ones as a line, the plan's own point and the best one marked. Points are
// put into images that are kept, so that a frame costs what is new. Hovering tells of a candidate, a click or the arrow
// keys choose one, a double-click or Enter tries it. GUI thread.

#include "core/planner/search/search.h"
#include "views/planner/scatter_frame.h"

#include <QImage>
#include <QWidget>

#include <array>
#include <functional>

namespace trainyard {

class SearchScatter : public QWidget {
    Q_OBJECT
public:
    explicit SearchScatter(QWidget *parent = nullptr);

    /// Takes the rows that are new since the last call; fewer rows, or `isAnew`, begin again.
    void setRows(const std::vector<SearchRow> &rows, bool isAnew);
    void setMarks(std::optional<std::size_t> own, std::optional<std::size_t> best, std::vector<std::size_t> front);
    /// Rings a row; -1: none.
    void setCurrent(int row);
    /// the rows are of an earlier plan
    void setFaded(bool isFaded);
    /// Said where there is nothing to draw.
    void setEmptyText(const QString &text);
    /// What the tooltip says of a row, as rich text.
    void setDescriber(std::function<QString(int row)> describe) { m_describe = std::move(describe); }

    [[nodiscard]] int current() const { return m_current; }
    [[nodiscard]] std::size_t points() const { return m_points.size(); }
    /// Where a row is, in pixels; nothing where it is not in sight.
    [[nodiscard]] std::optional<QPointF> positionOf(int row) const;
    /// -1: none within reach
    [[nodiscard]] int nearest(QPointF position) const;
    /// to what matters: the candidates around the best
    void fit();
    /// to every candidate
    void showAll();
    [[nodiscard]] QString toTsv() const;

Q_SIGNALS:
    void rowChosen(int row);
    void rowActivated(int row);

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void leaveEvent(QEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    struct Point {
        /// usd 0: not known
        double usd = 0, seconds = 0;
        /// of those above 0
        double usdLog = 0, secondsLog = 0;
        RowState state = RowState::Outdone;
    };
    enum class Span { Near, All };

    void place(Span span);
    void setFrame(AxisRange price, AxisRange time);
    /// area and gutter
    void layOut();
    void hover(QPointF position);
    void choose(int row);
    void paintAxes(QPainter &painter) const;
    void paintMarks(QPainter &painter) const;
    void paintPoints(QPainter &painter);
    void paintEmpty(QPainter &painter) const;
    void drawNewPoints();
    [[nodiscard]] bool isAbove(RowState state) const;

    std::vector<Point> m_points;
    std::optional<std::size_t> m_own, m_best;
    std::vector<std::size_t> m_front;
    int m_current = -1, m_hovered = -1;
    QString m_empty;
    std::function<QString(int)> m_describe;
    ScatterFrame m_frame;
    /// by a person: it does not follow the points
    bool m_isPlaced = false;
    bool m_isFaded = false;
    QPointF m_pressed, m_last;
    bool m_isPanning = false;
    /// what matters little below what does
    std::array<QImage, 2> m_layers;
    /// by state
    std::array<QImage, 5> m_sprites;
    /// points that the layers have
    std::size_t m_drawn = 0;
    /// of those, out of sight
    std::size_t m_beyond = 0;
};

} // namespace trainyard
