// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of two plans: of a stage's GPU over the iteration, and at its peak by stage; each against what its GPU holds.
#include "views/plots/pair_plot.h"

#include "models/text/format.h"
#include "views/plots/axis_tickers.h"
#include "views/plots/memory_steps.h"
#include "views/plots/plot_style.h"
#include "views/theme/theme.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <optional>

namespace trainyard {

namespace {

constexpr int kFullest = -1; // place

const MemoryMetrics *stagesOf(const PairSide &side)
{
    return side.evaluation && side.evaluation->metrics.memory && !side.evaluation->metrics.memory->perStage.empty()
        ? &*side.evaluation->metrics.memory
        : nullptr;
}

void showWholeNumbers(QCPAxis &axis, double step = 0)
{
    axis.setTicker(QSharedPointer<TextTicker>::create([](double v) { return QString::number(std::lround(v)); }, step));
}

class PairMemoryTimePlot : public PairPlot {
    Q_DECLARE_TR_FUNCTIONS(PairMemoryTimePlot)
public:
    using PairPlot::PairPlot;

    [[nodiscard]] std::vector<PlotPlace> places() const override
    {
        std::vector<PlotPlace> places { { tr("Fullest GPU of each"), kFullest } };
        for (int stage = 0; stage < mostStages(); ++stage)
            places.push_back({ placeName(stage), stage });
        return places;
    }
    [[nodiscard]] std::vector<LegendEntry> legend() const override
    {
        std::vector<LegendEntry> entries;
        for (const PairSide &side : sides())
            if (const auto shown = stageOf(side))
                entries.push_back(
                    { stage() < 0 ? tr("%1, %2").arg(side.name, placeName(*shown).toLower()) : side.name, side.color });
        return entries;
    }
    [[nodiscard]] QString toTsv() const override
    {
        QString text = tr("variant\tseconds\tbytes\n");
        for (const PairSide &side : sides())
            if (const auto shown = stageOf(side))
                for (const Evaluation::MemoryStep &step : side.evaluation->memoryCurves[std::size_t(*shown)])
                    text += QStringLiteral("%1\t%2\t%3\n")
                                .arg(side.name)
                                .arg(double(step.time) * 1e-9, 0, 'g', 9)
                                .arg(step.bytes);
        return text;
    }

protected:
    [[nodiscard]] QString whyEmpty() const override
    {
        for (const PairSide &side : sides())
            if (stageOf(side))
                return {};
        return stage() < 0 ? tr("No memory is modelled for these plans") : tr("Neither plan has this stage");
    }
    void draw(QCustomPlot &plot) override
    {
        double highest = 0;
        for (std::size_t i = 0; i < sides().size(); ++i)
            if (const auto shown = stageOf(sides()[i])) {
                const Evaluation &own = *sides()[i].evaluation;
                highest = std::max(
                    highest, addMemorySteps(plot, memoryCurve(own, *shown, buckets()), lengthOf(own), penOf(i)));
            }
        const double first = capacityOf(sides()[0]), second = capacityOf(sides()[1]);
        if (first > 0 && second > 0 && first != second) {
            for (const PairSide &side : sides())
                highest = std::max(highest, addCapacity(plot, capacityOf(side), side.color, font()));
        } else if (const double both = std::max(first, second); both > 0) {
            highest = std::max(highest, addCapacity(plot, both, doAllFit() ? theme().text : theme().bad, font()));
        }
        showWholeNumbers(*plot.yAxis);
        plot.yAxis->setRange(0, std::max(1e-3, highest) * 1.08);
    }
    [[nodiscard]] QString yTitle() const override { return tr("memory allocated per GPU, GB"); }
    [[nodiscard]] QString describe(double x) const override
    {
        QStringList lines { formatSeconds(x) };
        for (const PairSide &side : sides())
            if (const auto shown = stageOf(side))
                lines << (x > lengthOf(*side.evaluation)
                        ? tr("%1: its iteration is over").arg(side.name)
                        : tr("%1: %2").arg(
                            side.name, formatBytes(memoryAt(side.evaluation->memoryCurves[std::size_t(*shown)], x))));
        return lines.join(u'\n');
    }

private:
    /// Whose curve is drawn of it; nothing where it has none.
    [[nodiscard]] std::optional<int> stageOf(const PairSide &side) const
    {
        if (!side.evaluation || side.evaluation->memoryCurves.empty())
            return std::nullopt;
        const auto &curves = side.evaluation->memoryCurves;
        if (stage() >= 0)
            return stage() < int(curves.size()) ? std::optional(stage()) : std::nullopt;
        if (const MemoryMetrics *memory = stagesOf(side); memory && memory->fullestStage < int(curves.size()))
            return memory->fullestStage;
        const auto peak = [](const std::vector<Evaluation::MemoryStep> &steps) {
            const auto highest = std::ranges::max_element(steps, {}, &Evaluation::MemoryStep::bytes);
            return highest == steps.end() ? 0 : highest->bytes;
        };
        return int(std::ranges::max_element(curves, {}, peak) - curves.begin());
    }
    /// bytes; 0 where it is not known
    [[nodiscard]] double capacityOf(const PairSide &side) const
    {
        const auto shown = stageOf(side);
        if (!shown || !side.evaluation->metrics.memory)
            return 0;
        const MemoryMetrics &memory = *side.evaluation->metrics.memory;
        const auto found = std::ranges::find(memory.perStage, *shown, &StageMemory::stage);
        return double(found == memory.perStage.end() ? memory.capacity : found->capacity);
    }
    [[nodiscard]] bool doAllFit() const
    {
        return std::ranges::all_of(sides(), [this](const PairSide &side) {
            const auto shown = stageOf(side);
            if (!shown || !side.evaluation->metrics.memory)
                return true;
            const MemoryMetrics &memory = *side.evaluation->metrics.memory;
            const auto found = std::ranges::find(memory.perStage, *shown, &StageMemory::stage);
            return found == memory.perStage.end() ? memory.fits : found->fits();
        });
    }
};

class PairPeakPlot : public PairPlot {
    Q_DECLARE_TR_FUNCTIONS(PairPeakPlot)
public:
    using PairPlot::PairPlot;

    [[nodiscard]] bool hasTimeAxis() const override { return false; }
    [[nodiscard]] QString toTsv() const override
    {
        QString text = tr("variant\tstage\tdevice\tcapacity\n");
        for (const PairSide &side : sides())
            if (const MemoryMetrics *memory = stagesOf(side))
                for (const StageMemory &one : memory->perStage)
                    text += QStringLiteral("%1\t%2\t%3\t%4\n")
                                .arg(side.name)
                                .arg(one.stage + 1)
                                .arg(one.device)
                                .arg(one.capacity);
        return text;
    }

protected:
    [[nodiscard]] QString whyEmpty() const override
    {
        return stagesOf(sides()[0]) || stagesOf(sides()[1]) ? QString()
                                                            : tr("No memory by stage is modelled for these plans");
    }
    void draw(QCustomPlot &plot) override
    {
        double highest = 0;
        int stages = 0;
        for (std::size_t i = 0; i < sides().size(); ++i) {
            const MemoryMetrics *memory = stagesOf(sides()[i]);
            if (!memory)
                continue;
            auto *bars = new QCPBars(plot.xAxis, plot.yAxis);
            bars->setWidth(kBar);
            bars->setPen(Qt::NoPen);
            bars->setBrush(sides()[i].color);
            for (const StageMemory &one : memory->perStage) {
                bars->addData(middleOf(one.stage, i), double(one.device) / 1e9);
                highest = std::max({ highest, double(one.capacity), double(one.device) });
                stages = std::max(stages, one.stage + 1);
                addLevel(plot, one, i);
            }
        }
        showWholeNumbers(*plot.xAxis, std::ceil(stages / std::max(1.0, plot.width() / 34.0)));
        plot.xAxis->setRange(0.4, stages + 0.6);
        showWholeNumbers(*plot.yAxis);
        plot.yAxis->setRange(0, highest / 1e9 * 1.08);
    }
    [[nodiscard]] QString yTitle() const override { return tr("memory of the fullest GPU, GB"); }
    [[nodiscard]] QString xTitle() const override { return tr("pipeline stage"); }
    [[nodiscard]] QString describe(double x) const override
    {
        const int stage = int(std::lround(x)) - 1;
        QStringList lines { placeName(stage) };
        for (const PairSide &side : sides()) {
            const MemoryMetrics *memory = stagesOf(side);
            if (!memory)
                continue;
            const auto found = std::ranges::find(memory->perStage, stage, &StageMemory::stage);
            if (found != memory->perStage.end())
                lines << (found->fits() ? tr("%1: %2 of %3") : tr("%1: %2 of %3, does not fit"))
                             .arg(side.name, formatBytes(double(found->device)), formatBytes(double(found->capacity)));
        }
        return lines.size() > 1 ? lines.join(u'\n') : QString();
    }

private:
    static constexpr double kBar = 0.36; // of a stage
    static double middleOf(int stage, std::size_t side) { return stage + 1 + (side == 0 ? -kBar / 2 : kBar / 2); }
    /// What the GPU holds, over its bar.
    static void addLevel(QCustomPlot &plot, const StageMemory &stage, std::size_t side)
    {
        auto *line = new QCPItemLine(&plot);
        const double middle = middleOf(stage.stage, side), level = double(stage.capacity) / 1e9;
        line->start->setCoords(middle - kBar / 2, level);
        line->end->setCoords(middle + kBar / 2, level);
        line->setPen(QPen(stage.fits() ? theme().text : theme().bad, 1.5, Qt::DashLine));
    }
};

} // namespace

PairPlot *makePairMemoryTimePlot(QWidget *parent)
{
    return new PairMemoryTimePlot(parent);
}

PairPlot *makePairPeakPlot(QWidget *parent)
{
    return new PairPeakPlot(parent);
}

} // namespace trainyard
