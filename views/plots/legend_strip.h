#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Names and colours of a chart's curves on one line, aligned right; what has no room is left to the tooltip.

#include "views/plots/curve_plot.h"

namespace trainyard {

class LegendStrip : public QWidget {
    Q_OBJECT
public:
    explicit LegendStrip(QWidget *parent = nullptr);
    void setEntries(std::vector<CurvePlot::LegendEntry> entries);
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    [[nodiscard]] int widthOf(const CurvePlot::LegendEntry &entry) const;

    std::vector<CurvePlot::LegendEntry> m_entries;
};

} // namespace trainyard
