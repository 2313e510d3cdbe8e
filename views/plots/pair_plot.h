#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A chart of two plans over one axis, each in its colour: memory over time, peaks by stage, GPU use, WAN rates. The
// first one's line is the wider one below, so that both are seen where they are equal. GUI thread.

#include "views/plots/curve_data.h"
#include "views/plots/curve_plot.h"

#include <array>
#include <vector>

class QPen;

namespace trainyard {

struct PairSide {
    /// null: it cannot be evaluated, and is left out
    EvaluationPtr evaluation;
    QString name;
    QColor color;
};

/// What a chart can be about: a stage, a link.
struct PlotPlace {
    QString name;
    /// for setStage()
    int value = -1;
    bool operator==(const PlotPlace &) const = default;
};

class PairPlot : public CurvePlot {
    Q_OBJECT
public:
    using CurvePlot::CurvePlot;

    /// The time axis is that of the longer one.
    void setPair(PairSide before, PairSide after);
    /// Of either side, the first the one to begin with; empty: there is nothing to choose.
    [[nodiscard]] virtual std::vector<PlotPlace> places() const { return {}; }
    [[nodiscard]] QString note() const override { return {}; }
    [[nodiscard]] std::vector<LegendEntry> legend() const override;

protected:
    using Sides = std::array<PairSide, 2>;
    [[nodiscard]] const Sides &sides() const { return m_sides; }
    [[nodiscard]] QString emptyText() const override;
    /// Others are there: what is known of them beforehand.
    virtual void takeSides() { }
    /// Why there is nothing to draw of two that are evaluated; empty: there is.
    [[nodiscard]] virtual QString whyEmpty() const { return {}; }
    /// Of the first side (0) or the second.
    [[nodiscard]] QPen penOf(std::size_t side) const;
    /// "Stage 4"; of plans with jobs "GPU 3"
    [[nodiscard]] QString placeName(int stage) const;
    /// Stages of whichever has more.
    [[nodiscard]] int mostStages() const;
    /// seconds
    [[nodiscard]] static double lengthOf(const Evaluation &evaluation);

private:
    Sides m_sides;
};

[[nodiscard]] PairPlot *makePairMemoryTimePlot(QWidget *parent);
[[nodiscard]] PairPlot *makePairPeakPlot(QWidget *parent);
[[nodiscard]] PairPlot *makePairUtilizationPlot(QWidget *parent);
[[nodiscard]] PairPlot *makePairWanPlot(QWidget *parent);

} // namespace trainyard
