#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The whole iteration in a strip, with a window on the part that the chart shows: drag the window to pan, its ends to
// zoom, click beside it to go there. Every row of the chart is in its picture, in the chart's colours and with the same
// kinds hidden; it is made once per evaluation, filter and size. GUI thread.

#include "views/timeline/row_mixer.h"

#include <QImage>
#include <QWidget>

namespace trainyard {

class Minimap : public QWidget {
    Q_OBJECT
public:
    Minimap(const TimelineState &state, QWidget *parent);

    /// data, layout or filter changed
    void invalidate();
    /// the chart's columns, so that times line up
    void setSides(int left, int width);
    /// in widget coordinates
    [[nodiscard]] QRectF window() const;

    /// The strip without the window over it, one pixel a column.
    [[nodiscard]] const QImage &picture();

signals:
    void rangeWished(trainyard::TimeInterval range);

protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    enum class Grip { None, Window, Left, Right };
    [[nodiscard]] QRect strip() const;
    [[nodiscard]] Grip gripAt(QPointF point) const;
    void paintTracks();
    void paintVectors(QPainter &painter);

    const TimelineState &m_state;
    RowMixer m_mixer;
    QImage m_image;
    bool m_isCurrent = false;
    int m_left = 0, m_width = 100;
    Grip m_grip = Grip::None;
    Nanoseconds m_pressedAt = 0;
    TimeInterval m_rangeAtPress;
};

} // namespace trainyard
