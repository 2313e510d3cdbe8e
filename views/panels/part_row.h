#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// "1  +10 Gbps Virginia–Iowa          −4.2 %  [Apply]", and below what makes the difference: "bubble 6.98 → 3.10 s".
// What does not fit a line takes two. GUI thread.

#include "models/effects.h"

#include <QWidget>

namespace trainyard {

class HoverButton;
class TextLine;

class PartRow : public QWidget {
    Q_OBJECT
public:
    explicit PartRow(int rank, QWidget *parent = nullptr);
    void setPart(const RankedPart &part, std::optional<double> iterationNow);
    /// Its effect is not of the plan that the window shows.
    void setOutdated(bool isOutdated);
    [[nodiscard]] HoverButton *applyButton() const { return m_apply; }
    [[nodiscard]] TextLine *nameLine() const { return m_name; }
    [[nodiscard]] TextLine *changeLine() const { return m_change; }
    [[nodiscard]] TextLine *becauseLine() const { return m_because; }

Q_SIGNALS:
    void applied(trainyard::PlanPtr next, QString text);
    void previewed(trainyard::PlanPtr next, QString text);
    void previewEnded();

private:
    RankedPart m_part;
    TextLine *m_name, *m_change, *m_because;
    HoverButton *m_apply;
};

} // namespace trainyard
