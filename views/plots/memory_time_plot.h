#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of one GPU of each stage over the iteration, as micro-batches come and go, against what it holds; where
// activations are offloaded, with a ghost of what it would be without.

#include "views/plots/curve_plot.h"

namespace trainyard {

class MemoryTimePlot : public CurvePlot {
    Q_OBJECT
public:
    using CurvePlot::CurvePlot;
    [[nodiscard]] bool hasStages() const override { return true; }
    [[nodiscard]] QString note() const override;
    [[nodiscard]] std::vector<LegendEntry> legend() const override;
    [[nodiscard]] QString toTsv() const override;

protected:
    [[nodiscard]] QString emptyText() const override;
    void draw(QCustomPlot &plot) override;
    [[nodiscard]] QString yTitle() const override { return tr("memory allocated per GPU, GB"); }
    [[nodiscard]] QString describe(double x) const override;

private:
    [[nodiscard]] std::vector<int> shownStages() const;
    [[nodiscard]] bool hasGhost() const; // the same with every activation on the GPU
};

} // namespace trainyard
