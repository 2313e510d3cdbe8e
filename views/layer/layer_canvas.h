#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The spans of an opened layer on a time axis: a row for each stream of each rank. Hovering tells of a span, a click or
// the keys select one; the wheel with Ctrl zooms, a drag pans. What nothing computes is marked on the first row.
// GUI thread.

#include "views/layer/layer_rows.h"
#include "views/timeline/time_axis.h"

#include <QWidget>

#include <optional>

namespace trainyard {

class SpanCard;

class LayerCanvas : public QWidget {
    Q_OBJECT
public:
    /// with the line of exchanges below it
    static constexpr int kRuler = 44;

    explicit LayerCanvas(QWidget *parent = nullptr);

    /// Shows all of it. Nothing is selected any more.
    void setChart(const LayerChart &chart);
    [[nodiscard]] const LayerChart &chart() const { return m_chart; }
    [[nodiscard]] const LayerRows &rows() const { return m_rows; }
    [[nodiscard]] TimeInterval range() const { return m_range; }
    void setRange(TimeInterval range);
    [[nodiscard]] std::optional<std::size_t> selected() const { return m_selected; }
    void select(std::optional<std::size_t> span);
    /// Where a span is drawn, in this widget's pixels.
    [[nodiscard]] QRectF rectOf(std::size_t span) const;
    [[nodiscard]] std::optional<std::size_t> spanAt(QPointF point) const;
    [[nodiscard]] SpanCard *card() const { return m_card; }
    void fit();
    void zoom(double factor, std::optional<double> x = {});

    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    void selectionChanged();

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void leaveEvent(QEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;

private:
    [[nodiscard]] TimeInterval whole() const;
    /// right of the labels, below the ruler
    [[nodiscard]] QRectF tracks() const;
    void arrange();
    /// along the row
    void step(int by);
    void changeRow(int by);
    void showCard(std::optional<std::size_t> span, QPoint point);

    LayerChart m_chart;
    LayerRows m_rows;
    TimeInterval m_range;
    int m_gutter = 0;
    std::optional<std::size_t> m_selected, m_hovered;
    std::optional<QPoint> m_pressed;
    TimeInterval m_rangeAtPress;
    /// a person who came by keys needs to see where they are
    bool m_isPanning = false, m_showsFocus = false;
    SpanCard *m_card;
};

} // namespace trainyard
