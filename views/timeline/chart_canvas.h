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

    /// Data, range, scroll, filter or layout changed: the image is painted anew at the next paint.
    void invalidate();
    [[nodiscard]] ChartGeometry geometry() const;

protected:
    void paintEvent(QPaintEvent *event) override;
    void changeEvent(QEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    void paintEmpty(QPainter &painter) const;

    const TimelineState &m_state;
    ChartPainter m_painter;
    QImage m_image;
    bool m_isCurrent = false;
    mutable int m_gutterWidth = -1;    // measured once per layout
};

} // namespace trainyard
