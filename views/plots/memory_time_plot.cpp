// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of one GPU of each stage over the iteration, as micro-batches come and go, against what it holds; where
// activations are offloaded, with a ghost of what it would be without.
#include "views/plots/curve_plots.h"

#include "models/text/format.h"
#include "views/plots/axis_tickers.h"
#include "views/plots/curve_data.h"
#include "views/plots/memory_steps.h"
#include "views/theme/theme.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

class MemoryTimePlot : public CurvePlot {
    Q_DECLARE_TR_FUNCTIONS(MemoryTimePlot)
public:
    using CurvePlot::CurvePlot;

    [[nodiscard]] bool hasStages() const override { return true; }
    [[nodiscard]] QString note() const override
    {
        if (!emptyText().isEmpty())
            return {};
        const QString text = evaluation()->metrics.jobs
            ? stage() >= 0 ? tr("allocated on %1").arg(stageName(stage())) : tr("allocated on each GPU")
            : stage() >= 0 ? tr("allocated on a GPU of stage %1").arg(stage() + 1)
                           : tr("allocated on a GPU of each stage");
        return hasGhost() ? text + tr(", dashed without offload") : text;
    }
    [[nodiscard]] std::vector<LegendEntry> legend() const override
    {
        std::vector<LegendEntry> entries;
        const std::vector<int> stages = shownStages();
        if (stages.size() > 8)
            return entries;
        for (const int s : stages)
            entries.push_back({ stageName(s), theme().stage(s, int(evaluation()->memoryCurves.size())) });
        return entries;
    }
    [[nodiscard]] QString toTsv() const override
    {
        QString text = tr("stage\tseconds\tbytes\n");
        for (const int s : shownStages())
            for (const Evaluation::MemoryStep &step : evaluation()->memoryCurves[s])
                text +=
                    QStringLiteral("%1\t%2\t%3\n").arg(s + 1).arg(double(step.time) * 1e-9, 0, 'g', 9).arg(step.bytes);
        return text;
    }

protected:
    [[nodiscard]] QString emptyText() const override
    {
        if (!evaluation())
            return tr("Not evaluated yet");
        return evaluation()->memoryCurves.empty() ? tr("No memory is modelled for this plan") : QString();
    }
    void draw(QCustomPlot &plot) override
    {
        double highest = 0;
        const int all = int(evaluation()->memoryCurves.size());
        const auto add = [&](const std::vector<MemoryPoint> &points, const QPen &pen) {
            highest = std::max(highest, addMemorySteps(plot, points, seconds(), pen));
        };
        for (const int s : shownStages()) {
            QColor faint = theme().stage(s, all);
            faint.setAlphaF(0.55F);
            if (hasGhost())
                add(memoryCurveKept(*evaluation(), s, buckets()), QPen(faint, 1, Qt::DashLine));
            add(memoryCurve(*evaluation(), s, buckets()), QPen(theme().stage(s, all), 1));
        }
        if (const auto &memory = evaluation()->metrics.memory; memory && memory->capacity > 0) {
            highest = std::max(highest,
                addCapacity(plot, double(memory->capacity), memory->fits ? theme().text : theme().bad, font()));
        }
        plot.yAxis->setTicker(
            QSharedPointer<TextTicker>::create([](double v) { return QString::number(std::round(v)); }));
        plot.yAxis->setRange(0, highest * 1.08);
    }
    [[nodiscard]] QString yTitle() const override { return tr("memory allocated per GPU, GB"); }
    [[nodiscard]] QString describe(double x) const override
    {
        QStringList lines { formatSeconds(x) };
        for (const int s : shownStages())
            if (lines.size() <= kMostInTooltip)
                lines << tr("%1: %2").arg(
                             stageName(s), formatBytes(memoryAt(evaluation()->memoryCurves[std::size_t(s)], x)))
                        + (hasGhost()
                                ? tr(", without offload %1")
                                      .arg(formatBytes(memoryAt(evaluation()->memoryCurvesKept[std::size_t(s)], x)))
                                : QString());
        return lines.join(u'\n');
    }

private:
    [[nodiscard]] std::vector<int> shownStages() const
    {
        std::vector<int> stages;
        for (int s = 0; evaluation() && s < int(evaluation()->memoryCurves.size()); ++s)
            if (stage() < 0 || stage() == s)
                stages.push_back(s);
        return stages;
    }
    /// The same with every activation on the GPU.
    [[nodiscard]] bool hasGhost() const
    {
        return evaluation() && evaluation()->memoryCurvesKept.size() == evaluation()->memoryCurves.size()
            && !evaluation()->memoryCurves.empty();
    }
};

} // namespace

CurvePlot *makeMemoryTimePlot(QWidget *parent)
{
    return new MemoryTimePlot(parent);
}

} // namespace trainyard
