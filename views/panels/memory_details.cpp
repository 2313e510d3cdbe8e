// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/memory_details.h"

#include "models/text/format.h"
#include "views/panels/memory_parts.h"
#include "views/panels/panel_parts.h"
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

MemoryDetails::MemoryDetails(QWidget *parent) : QWidget(parent), m_stages(new QComboBox(this)), m_parts(new MemoryParts(this))
{
    setFont(uiFont(-1));
    setAccessibleName(tr("What fills this GPU"));
    m_stages->setAccessibleName(tr("Stage"));
    QVBoxLayout *layout = panelLayout(this);
    layout->addWidget(new PanelHeading(tr("What fills this GPU"), {}, this));
    layout->addWidget(m_stages);
    layout->addWidget(m_parts);
    layout->addStretch(1);
    connect(m_stages, &QComboBox::activated, this, [this](int index) { setStage(m_stages->itemData(index).toInt()); });
    refresh();
}

void MemoryDetails::setEvaluation(EvaluationPtr evaluation)
{
    m_evaluation = std::move(evaluation);
    refresh();
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
            m_stages->addItem(tr("Stage %1 · %2").arg(stage.stage + 1).arg(formatBytes(double(stage.device))), stage.stage);
        m_stages->setCurrentIndex(std::max(0, m_stages->findData(m_stage)));
    }
    m_stages->setEnabled(shown != nullptr);
    m_parts->setStage(shown ? *shown : StageMemory{});
}

} // namespace trainyard
