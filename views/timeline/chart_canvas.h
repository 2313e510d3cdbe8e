#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The widget that shows the chart: keeps the still part as an image and paints the overlay over it. It interprets no
// gesture (canvas_gestures.h does) and changes no state. GUI thread.

#include "views/timeline/chart_painter.h"

#include <QWidget>

namespace trainyard {

class ChartCanvas : public QWidget {
    Q_OBJECT
public:
    explicit ChartCanvas(const TimelineState &state, QWidget *parent);

    /// Range, scroll, filter or baseline changed: the image is painted anew at the next paint.
    void invalidate();
    /// Rows or fonts changed: the labels are measured anew as well.
    void measureAnew();
    [[nodiscard]] ChartGeometry geometry() const;

protected:
    void paintEvent(QPaintEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void paintEmpty(QPainter &painter) const;

    const TimelineState &m_state;
    mutable ChartPainter m_painter;
    QImage m_image;
    bool m_isCurrent = false;
    /// labels of this layout
    bool m_isMeasured = false;
    /// of these fonts and this size
    mutable int m_gutterWidth = -1, m_measuredWidth = -1;
};

} // namespace trainyard
