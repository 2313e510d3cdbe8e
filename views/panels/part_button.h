#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Swatch and words of a part of the iteration. A click, Space or Enter has the timeline point at where its seconds are,
// another one ends that; checked while it does. GUI thread.

#include "core/evaluation/evaluate/metrics/breakdown_entries.h"
#include "views/theme/text_width.h"

#include <QAbstractButton>

namespace trainyard {

class PartButton : public QAbstractButton {
    Q_OBJECT
public:
    explicit PartButton(QWidget *parent);
    void setParts(std::vector<BreakdownPart> parts);
    [[nodiscard]] const std::vector<BreakdownPart> &parts() const { return m_parts; }
    void setDimmed(bool isDimmed);
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;

private:
    std::vector<BreakdownPart> m_parts;
    bool m_isDimmed = false;
    /// only where the keyboard brought it
    bool m_showsFocus = false;
    TextWidth m_width;
};

} // namespace trainyard
