#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What each WAN link carries over the iteration: one direction above the axis, the other below.

#include "views/plots/curve_data.h"
#include "views/plots/curve_plot.h"

namespace trainyard {

class WanPlot : public CurvePlot {
    Q_OBJECT
public:
    using CurvePlot::CurvePlot;
    [[nodiscard]] QString note() const override;
    [[nodiscard]] std::vector<LegendEntry> legend() const override;
    [[nodiscard]] QString toTsv() const override;

protected:
    [[nodiscard]] QString emptyText() const override;
    void draw(QCustomPlot &plot) override;
    [[nodiscard]] QString yTitle() const override { return tr("rate per link, Gbps"); }
    [[nodiscard]] QString describe(double x) const override;

private:
    std::vector<WanFlow> m_flows;
};

} // namespace trainyard
