#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of each stage's fullest GPU, stacked by what fills it, against what the GPU holds.

#include "views/plots/curve_plot.h"

namespace trainyard {

class MemoryPlot : public CurvePlot {
    Q_OBJECT
public:
    using CurvePlot::CurvePlot;
    [[nodiscard]] bool hasTimeAxis() const override { return false; }
    [[nodiscard]] QString note() const override;
    [[nodiscard]] std::vector<LegendEntry> legend() const override;
    [[nodiscard]] QString toTsv() const override;

protected:
    [[nodiscard]] QString emptyText() const override;
    void draw(QCustomPlot &plot) override;
    [[nodiscard]] QString yTitle() const override { return tr("memory of the fullest GPU, GB"); }
    [[nodiscard]] QString xTitle() const override { return tr("pipeline stage"); }
    [[nodiscard]] QString describe(double x) const override;
};

} // namespace trainyard
