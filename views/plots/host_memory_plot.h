#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Main memory that the jobs of a plan take of each host over time, against what the host has: models that do not run
// wait there, with the boundaries of their mini-batches.

#include "views/plots/curve_plot.h"
#include "views/plots/job_curves.h"

namespace trainyard {

class HostMemoryPlot : public CurvePlot {
    Q_OBJECT
public:
    using CurvePlot::CurvePlot;
    [[nodiscard]] QString note() const override;
    [[nodiscard]] std::vector<LegendEntry> legend() const override;
    [[nodiscard]] QString toTsv() const override;

protected:
    [[nodiscard]] QString emptyText() const override;
    void draw(QCustomPlot &plot) override;
    [[nodiscard]] QString yTitle() const override { return tr("main memory of a host, GB"); }
    [[nodiscard]] QString describe(double x) const override;

private:
    std::vector<HostCurve> m_curves; // as drawn
};

} // namespace trainyard
