#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How far each job of a plan is over time: the share of its units that have ended, in its colour.

#include "views/plots/curve_plot.h"
#include "views/plots/job_curves.h"

namespace trainyard {

class JobProgressPlot : public CurvePlot {
    Q_OBJECT
public:
    using CurvePlot::CurvePlot;
    /// It stands out, the others are pale; JobSpans::kNone: none does.
    void setJob(int job);
    [[nodiscard]] QString note() const override;
    [[nodiscard]] std::vector<LegendEntry> legend() const override;
    [[nodiscard]] QString toTsv() const override;

protected:
    [[nodiscard]] QString emptyText() const override;
    void draw(QCustomPlot &plot) override;
    [[nodiscard]] QString yTitle() const override { return tr("units done, %"); }
    [[nodiscard]] QString describe(double x) const override;

private:
    /// buckets that so many jobs have room for
    [[nodiscard]] int steps() const;
    /// as drawn
    std::vector<JobProgress> m_progress;
    int m_job = JobSpans::kNone;
};

} // namespace trainyard
