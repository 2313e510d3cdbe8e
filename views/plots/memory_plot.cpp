// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of each stage's fullest GPU, stacked by what fills it, against what the GPU holds.
#include "views/plots/curve_plots.h"

#include "models/text/format.h"
#include "views/plots/axis_tickers.h"
#include "views/plots/plot_style.h"
#include "views/theme/theme.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {

namespace {

struct Part {
    const char *name;
    double (*bytes)(const StageMemory &);
    QColor (*color)();
};

constexpr std::array<Part, 6> kParts { {
    { QT_TRANSLATE_NOOP("MemoryPlot", "weights"), [](const StageMemory &m) { return double(m.weights); },
        [] { return theme().work(WorkKind::Backward); } },
    { QT_TRANSLATE_NOOP("MemoryPlot", "gradients"), [](const StageMemory &m) { return double(m.gradients); },
        [] { return theme().work(WorkKind::GradientReduce); } },
    { QT_TRANSLATE_NOOP("MemoryPlot", "optimizer"), [](const StageMemory &m) { return double(m.optimizer); },
        [] { return theme().work(WorkKind::Optimizer); } },
    { QT_TRANSLATE_NOOP("MemoryPlot", "activations"), [](const StageMemory &m) { return double(m.activations); },
        [] { return theme().work(WorkKind::Forward); } },
    { QT_TRANSLATE_NOOP("MemoryPlot", "buffers"), [](const StageMemory &m) { return double(m.buffers); },
        [] { return theme().work(WorkKind::PipelineTransfer); } },
    { QT_TRANSLATE_NOOP("MemoryPlot", "overhead"),
        [](const StageMemory &m) { return std::max(0.0, double(m.device - m.peak)); },
        [] { return theme().work(WorkKind::Overhead); } },
} };

const MemoryMetrics *memoryOf(const Evaluation *evaluation)
{
    return evaluation && evaluation->metrics.memory && !evaluation->metrics.memory->perStage.empty()
        ? &*evaluation->metrics.memory
        : nullptr;
}

void drawCapacity(QCustomPlot &plot, const MemoryMetrics &memory)
{
    for (const StageMemory &stage : memory.perStage) {
        auto *line = new QCPItemLine(&plot);
        line->start->setCoords(stage.stage + 0.5, double(stage.capacity) / 1e9);
        line->end->setCoords(stage.stage + 1.5, double(stage.capacity) / 1e9);
        line->setPen(QPen(stage.fits() ? theme().text : theme().bad, 1.5, Qt::DashLine));
    }
}

class MemoryPlot : public CurvePlot {
    Q_DECLARE_TR_FUNCTIONS(MemoryPlot)
public:
    using CurvePlot::CurvePlot;

    [[nodiscard]] bool hasTimeAxis() const override { return false; }
    [[nodiscard]] QString note() const override
    {
        const MemoryMetrics *memory = memoryOf(evaluation());
        if (!memory)
            return {};
        const auto fullest = std::ranges::find(memory->perStage, memory->fullestStage, &StageMemory::stage);
        if (fullest == memory->perStage.end())
            return {};
        const QString text = tr("stage %1: %2 of %3")
                                 .arg(fullest->stage + 1)
                                 .arg(formatBytes(double(fullest->device)), formatBytes(double(fullest->capacity)));
        return fullest->fits() ? text : text + tr(", does not fit");
    }
    [[nodiscard]] std::vector<LegendEntry> legend() const override
    {
        std::vector<LegendEntry> entries;
        const MemoryMetrics *memory = memoryOf(evaluation());
        for (const Part &part : kParts)
            if (memory
                && std::ranges::any_of(memory->perStage, [&](const StageMemory &m) { return part.bytes(m) > 0; }))
                entries.push_back({ tr(part.name), part.color() });
        return entries;
    }
    [[nodiscard]] QString toTsv() const override
    {
        QString text = tr("stage");
        for (const Part &part : kParts)
            text += u'\t' + tr(part.name);
        text += tr("\tdevice\tcapacity\n");
        if (const MemoryMetrics *memory = memoryOf(evaluation())) {
            for (const StageMemory &stage : memory->perStage) {
                text += QString::number(stage.stage + 1);
                for (const Part &part : kParts)
                    text += u'\t' + QString::number(part.bytes(stage), 'f', 0);
                text += QStringLiteral("\t%1\t%2\n").arg(stage.device).arg(stage.capacity);
            }
        }
        return text;
    }

protected:
    [[nodiscard]] QString emptyText() const override
    {
        if (!evaluation())
            return tr("Not evaluated yet");
        return memoryOf(evaluation()) ? QString() : tr("No memory is modelled for this plan");
    }
    void draw(QCustomPlot &plot) override
    {
        const MemoryMetrics &memory = *memoryOf(evaluation());
        const int stages = int(memory.perStage.size());
        double highest = 0;
        QCPBars *below = nullptr;
        for (const Part &part : kParts) {
            auto *bars = new QCPBars(plot.xAxis, plot.yAxis);
            bars->setWidth(stages > 24 ? 0.9 : 0.62);
            bars->setPen(Qt::NoPen);
            bars->setBrush(part.color());
            for (const StageMemory &stage : memory.perStage)
                bars->addData(stage.stage + 1, part.bytes(stage) / 1e9);
            if (below)
                bars->moveAbove(below);
            below = bars;
        }
        for (const StageMemory &stage : memory.perStage)
            highest = std::max({ highest, double(stage.capacity), double(stage.device) });
        drawCapacity(plot, memory);
        if (const auto last = std::ranges::max_element(memory.perStage, {}, &StageMemory::capacity);
            last != memory.perStage.end())
            addLineLabel(plot, double(last->capacity) / 1e9, tr("%1 capacity").arg(formatBytes(double(last->capacity))),
                theme().textMuted, font());
        plot.xAxis->setTicker(
            QSharedPointer<TextTicker>::create([](double v) { return QString::number(std::lround(v)); },
                std::ceil(stages / std::max(1.0, plot.width() / 34.0))));
        plot.xAxis->setRange(0.4, stages + 0.6);
        plot.yAxis->setTicker(
            QSharedPointer<TextTicker>::create([](double v) { return QString::number(std::round(v)); }));
        plot.yAxis->setRange(0, highest / 1e9 * 1.08);
    }
    [[nodiscard]] QString yTitle() const override { return tr("memory of the fullest GPU, GB"); }
    [[nodiscard]] QString xTitle() const override { return tr("pipeline stage"); }
    [[nodiscard]] QString describe(double x) const override
    {
        const MemoryMetrics *memory = memoryOf(evaluation());
        const int index = int(std::lround(x)) - 1;
        if (!memory || index < 0 || index >= int(memory->perStage.size()))
            return {};
        const StageMemory &stage = memory->perStage[index];
        QStringList lines { tr("Stage %1: %2 of %3")
                                .arg(stage.stage + 1)
                                .arg(formatBytes(double(stage.device)), formatBytes(double(stage.capacity))) };
        for (auto part = kParts.rbegin(); part != kParts.rend(); ++part)
            if (part->bytes(stage) > 0)
                lines << QStringLiteral("%1 %2").arg(tr(part->name), formatBytes(part->bytes(stage)));
        if (stage.inFlight > 0)
            lines << tr("%1 micro-batches in flight at the peak").arg(stage.inFlight, 0, 'g', 3);
        return lines.join(u'\n');
    }
};

} // namespace

CurvePlot *makeMemoryPlot(QWidget *parent)
{
    return new MemoryPlot(parent);
}

} // namespace trainyard
