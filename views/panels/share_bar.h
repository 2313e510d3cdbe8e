#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A bar of one amount or of several behind each other, on a track as long as its room. One of its ends may be dragged
// by mouse, or moved by the arrow keys: it says where to, in whole steps, and shows that until it is told otherwise.
// GUI thread.

#include <QColor>
#include <QString>
#include <QWidget>

#include <optional>
#include <vector>

namespace trainyard {

struct ShareSegment {
    double amount = 0;
    QColor color;
    bool isHatched = false;
    bool operator==(const ShareSegment &) const = default;
};

/// The end of the first segment, as a value of its own: samples, or a share.
struct ShareHandle {
    double value = 0, least = 0, most = 1, step = 1;
    /// amount of the bar for a value of 1
    double unit = 1;
    bool operator==(const ShareHandle &) const = default;
};

class ShareBar : public QWidget {
    Q_OBJECT
public:
    explicit ShareBar(QWidget *parent = nullptr);

    /// `full`: the amount that is as long as the widget; `room`: as long as the track is, 0 for all of it.
    void setAmounts(std::vector<ShareSegment> segments, double full, double room = 0);
    void setHandle(const std::optional<ShareHandle> &handle);
    void setPinned(bool isPinned);
    void setDimmed(bool isDimmed);
    [[nodiscard]] const std::optional<ShareHandle> &handle() const { return m_handle; }
    [[nodiscard]] bool isPinned() const { return m_isPinned; }
    [[nodiscard]] bool isDragging() const { return m_isDragging; }
    /// Where the handle is, in pixels from the left.
    [[nodiscard]] int handleX() const;
    /// of all segments together
    [[nodiscard]] double amount() const;
    [[nodiscard]] QSize sizeHint() const override;

Q_SIGNALS:
    /// while the button is down; in whole steps
    void dragged(double value);
    void dropped(double value);
    void cancelled();
    /// by a key
    void stepped(double value);
    void unpinAsked();

protected:
    bool event(QEvent *event) override;
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void leaveEvent(QEvent *event) override;

private:
    [[nodiscard]] double valueAt(double x) const;
    [[nodiscard]] bool isOnHandle(double x) const;
    [[nodiscard]] double snapped(double value) const;
    void moveTo(double value);

    std::vector<ShareSegment> m_segments;
    std::optional<ShareHandle> m_handle;
    double m_full = 1, m_room = 0;
    /// from the handle to where the hand took it, pixels
    double m_grip = 0;
    /// value as the drag began
    double m_before = 0;
    bool m_isPinned = false, m_isDimmed = false, m_isDragging = false, m_isHot = false;
};

} // namespace trainyard
