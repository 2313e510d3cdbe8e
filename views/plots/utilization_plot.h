#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How busy the GPUs are over the iteration: the mean of all, every stage, or one.

#include "views/plots/curve_plot.h"
#include "views/plots/qcustomplot_gateway.h"

namespace trainyard {

class UtilizationPlot : public CurvePlot {
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
    [[nodiscard]] QString yTitle() const override { return tr("share of GPU time computing, %"); }
    [[nodiscard]] QString describe(double x) const override;

private:
    struct Curve {
        QString name;
        QColor color;
        std::vector<double> share;
    };
    void fill(QCustomPlot &plot, const QVector<QCPGraphData> &points, const QColor &color) const;

    std::vector<Curve> m_curves;
};

} // namespace trainyard
