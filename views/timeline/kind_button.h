#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The switch of one kind of work in the timeline's legend: its swatch, in colour and pattern, and its name. GUI thread.

#include "core/engine/timeline/timeline.h"
#include "views/theme/text_width.h"
#include "views/timeline/fill_pattern.h"

#include <QAbstractButton>

namespace trainyard {

/// pixels of the square on a button of the legend
inline constexpr int kLegendSwatch = 10;
/// and of the air at the button's ends
inline constexpr int kLegendPad = 5;

/// Swatch and name of one kind of work; checked while the kind is shown.
class KindButton : public QAbstractButton {
    Q_OBJECT
public:
    KindButton(WorkKind kind, QWidget *parent);
    [[nodiscard]] WorkKind kind() const { return m_kind; }
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;

private:
    WorkKind m_kind;
    /// only where the keyboard brought it
    bool m_showsFocus = false;
    TextWidth m_width;
};

/// A square of a legend: filled, with a pattern in ink.
void paintSwatch(QPainter &painter, const QRect &box, const QColor &fill, const QColor &ink, FillPattern pattern);

} // namespace trainyard
