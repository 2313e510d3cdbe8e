// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/memory_details.h"

#include "core/base/words.h"
#include "core/evaluation/evaluate/comparable.h"
#include "models/text/format.h"
#include "views/panels/fact_table.h"
#include "views/panels/fit_steps.h"
#include "views/panels/memory_parts.h"
#include "views/panels/part_row.h"
#include "views/parts/panel_parts.h"
#include "views/theme/theme.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

namespace {

const StageMemory *stageOf(const Evaluation *evaluation, int stage)
{
    if (!evaluation || !evaluation->metrics.memory)
        return nullptr;
    const MemoryMetrics &memory = *evaluation->metrics.memory;
    const auto it = std::ranges::find(memory.perStage, stage < 0 ? memory.fullestStage : stage, &StageMemory::stage);
    return it == memory.perStage.end() ? nullptr : &*it;
}

} // namespace

MemoryDetails::MemoryDetails(QWidget *parent)
    : QWidget(parent)
    , m_stages(new QComboBox(this))
    , m_parts(new MemoryParts(this))
    , m_fit(new FitSteps(this))
    , m_offloadTitle(new SectionTitle(tr("Activation offload"), {}, this))
    , m_stepTitle(new SectionTitle(tr("Optimizer step off the GPU"), {}, this))
    , m_buysTitle(new SectionTitle(tr("Headroom suggestions"), tr("effect if applied"), this))
    , m_offload(new FactTable(this))
    , m_step(new FactTable(this))
    , m_noOffers(new TextLine({}, Ink::Faint, this))
    , m_list(new QVBoxLayout)
{
    setFont(uiFont(-1));
    setAccessibleName(tr("What fills this GPU"));
    m_stages->setAccessibleName(tr("Stage"));
    QVBoxLayout *layout = panelLayout(this);
    layout->addWidget(m_fit);
    layout->addWidget(new PanelHeading(tr("What fills this GPU"), {}, this));
    layout->addWidget(m_stages);
    layout->addWidget(m_parts);
    layout->addWidget(m_offloadTitle);
    layout->addWidget(m_offload);
    layout->addWidget(m_stepTitle);
    layout->addWidget(m_step);
    layout->addWidget(m_buysTitle);
    m_list->setSpacing(4);
    layout->addLayout(m_list);
    m_noOffers->setWrapped(true);
    layout->addWidget(m_noOffers);
    layout->addStretch(1);
    connect(m_fit, &FitSteps::editCommitted, this, &MemoryDetails::editCommitted);
    connect(m_fit, &FitSteps::editPreviewed, this, &MemoryDetails::editPreviewed);
    connect(m_fit, &FitSteps::editCancelled, this, &MemoryDetails::editCancelled);
    connect(m_stages, &QComboBox::activated, this, [this](int index) { setStage(m_stages->itemData(index).toInt()); });
    refresh();
}

void MemoryDetails::setShown(const Shown &shown)
{
    const bool isOther = std::exchange(m_plan, shown.base) != shown.base;
    if (std::exchange(m_evaluation, shown.evaluation) != shown.evaluation)
        refresh();
    else if (isOther)
        showAdvice();
}

void MemoryDetails::setAdvice(MemoryAdvicePtr advice)
{
    m_advice = std::move(advice);
    showAdvice();
}

void MemoryDetails::setStale(bool isStale)
{
    m_parts->setDimmed(isStale);
    dimLines(*m_offload, isStale);
    dimLines(*m_step, isStale);
}

void MemoryDetails::setOutdated(bool isOutdated)
{
    m_isOutdated = isOutdated;
    for (PartRow *row : m_offers)
        row->setOutdated(isOutdated);
    dimLines(*m_fit, isOutdated);
}

void MemoryDetails::setStage(int stage)
{
    m_stage = stage;
    refresh();
}

void MemoryDetails::refresh()
{
    const StageMemory *shown = stageOf(m_evaluation.get(), m_stage);
    const QSignalBlocker blocker(m_stages);
    m_stages->clear();
    if (shown) {
        m_stages->addItem(tr("Fullest GPU (stage %1)").arg(m_evaluation->metrics.memory->fullestStage + 1), -1);
        for (const StageMemory &stage : m_evaluation->metrics.memory->perStage)
            m_stages->addItem(
                tr("Stage %1 · %2").arg(stage.stage + 1).arg(formatBytes(double(stage.device))), stage.stage);
        m_stages->setCurrentIndex(std::max(0, m_stages->findData(m_stage)));
    }
    m_stages->setEnabled(shown != nullptr);
    m_parts->setStage(shown ? *shown : StageMemory {});
    const std::vector<OffloadLine> lines =
        m_evaluation ? offloadLines(m_evaluation->metrics) : std::vector<OffloadLine>();
    m_offload->setLines(lines);
    m_offload->setVisible(!lines.empty());
    m_offloadTitle->setVisible(!lines.empty());
    const std::vector<OffloadLine> ofStep =
        m_evaluation && shown ? stepLines(*m_evaluation, shown->stage) : std::vector<OffloadLine>();
    m_step->setLines(ofStep);
    m_step->setVisible(!ofStep.empty());
    m_stepTitle->setVisible(!ofStep.empty());
    showAdvice();
}

bool MemoryDetails::fits() const
{
    return !m_evaluation || !m_evaluation->metrics.memory || m_evaluation->metrics.memory->fits;
}

QWidget *MemoryDetails::advice() const
{
    return m_buysTitle->isVisibleTo(this) ? static_cast<QWidget *>(m_buysTitle) : m_fit;
}

void MemoryDetails::showAdvice()
{
    const bool isApplicable = m_advice && (!m_plan || m_advice->plan == m_plan);
    m_fit->setAdvice(m_advice, isApplicable, !fits());
    showOffers(isApplicable);
}

void MemoryDetails::showOffers(bool isApplicable)
{
    const bool isModelled = m_evaluation && m_evaluation->metrics.memory;
    const bool isFree =
        isModelled && fits() && (!m_advice || m_advice->fitting.before.fits); // else there is none to spend
    const std::size_t count = m_advice && isFree ? m_advice->offers.size() : 0;
    while (m_offers.size() < count) {
        auto *row = new PartRow(int(m_offers.size()) + 1, this);
        connect(row, &PartRow::applied, this, &MemoryDetails::editCommitted);
        connect(row, &PartRow::previewed, this, &MemoryDetails::editPreviewed);
        connect(row, &PartRow::previewEnded, this, &MemoryDetails::editCancelled);
        m_list->addWidget(row);
        m_offers.push_back(row);
    }
    for (std::size_t i = 0; i < m_offers.size(); ++i) {
        m_offers[i]->setVisible(i < count);
        m_offers[i]->setEnabled(isApplicable);
        m_offers[i]->setOutdated(m_isOutdated || !isApplicable);
        if (i < count)
            m_offers[i]->setPart(
                m_advice->offers[i], m_evaluation ? m_evaluation->metrics.iterationTime : std::nullopt);
    }
    m_buysTitle->setVisible(isFree);
    m_noOffers->setVisible(isFree && count == 0);
    const std::string why = m_evaluation ? whyNotCompared(*m_evaluation) : std::string();
    m_noOffers->setText(!why.empty() ? QString::fromStdString(asSentence(why))
            : m_advice && m_advice->isComplete
            ? tr("No larger micro-batch, fewer stages, less tensor parallelism or less recomputation that fits is "
                 "faster.")
            : tr("Trying larger micro-batches, fewer stages, less tensor parallelism and less recomputation…"));
}

void MemoryDetails::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    Q_EMIT watched(true);
}

void MemoryDetails::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    Q_EMIT watched(false);
}

} // namespace trainyard
