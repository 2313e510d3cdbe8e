#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One step of a run as a timeline of its own: a row for each place of the plan that it lies under or, without one, for
// each stream of a rank. Its bars stand under those of a TimelineView of the same width. The wheel zooms at the
// pointer, with Shift it scrolls; a drag pans; a double click shows all. GUI thread.

#include "views/timeline/measured_painter.h"

#include <QAbstractScrollArea>

namespace trainyard {

class MeasuredChart : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit MeasuredChart(QWidget *parent = nullptr);

    /// Null: none; then `reason` stands where the rows would be. What is in sight stays.
    void setLanes(const MeasuredLanesPtr &lanes, const QString &reason = {});
    /// The axis reaches at least so far, nanoseconds: a longer timeline stands beside it.
    void setLeastEnd(Nanoseconds end);

    [[nodiscard]] const MeasuredLanesPtr &lanes() const { return m_state.measured; }
    [[nodiscard]] TimeInterval visibleRange() const { return m_state.range; }
    void setVisibleRange(Nanoseconds begin, Nanoseconds end);
    void fit();
    /// Where another chart's pointer is, as a line; below 0: no line.
    void showCursor(qint64 time);
    /// "stage 1 · rank 3", from the top down.
    [[nodiscard]] QStringList rowNames() const;
    /// Where a span of the lanes is drawn, in pixels of the viewport; empty: it is not in sight.
    [[nodiscard]] QRectF placeOf(std::uint32_t span) const;
    /// What is said of the span under a point of the viewport; empty: there is none.
    [[nodiscard]] QString describe(QPoint point) const;

signals:
    void rangeChanged(qint64 begin, qint64 end);
    /// kNoCursor where the pointer left
    void cursorMoved(qint64 time);

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void scrollContentsBy(int dx, int dy) override;
    void changeEvent(QEvent *event) override;
    bool viewportEvent(QEvent *event) override;

private:
    void makeRows();
    void placeRows();
    void takeWhole();
    void setRange(TimeInterval range);
    [[nodiscard]] ChartGeometry geometry() const;
    [[nodiscard]] std::uint32_t spanAt(QPoint point) const;
    void paintLabels(QPainter &painter, const ChartGeometry &geometry) const;
    void paintRuler(QPainter &painter, const ChartGeometry &geometry) const;
    void paintRows(QPainter &painter, const ChartGeometry &geometry);

    /// no evaluation: only what was measured
    TimelineState m_state;
    QString m_reason;
    Nanoseconds m_leastEnd = 0;
    qint64 m_cursor = -1;
    MeasuredPainter m_painter;
    /// of a drag: where it began, and what was in sight then
    QPoint m_pressed;
    TimeInterval m_before;
};

} // namespace trainyard
