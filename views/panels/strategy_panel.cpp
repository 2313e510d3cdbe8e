// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/strategy_panel.h"

#include "views/panels/panel_parts.h"
#include "views/panels/strategy_row.h"
#include "views/theme/theme.h"

#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

namespace {

struct Entry {
    const char *section;           // nullptr: the same as before
    const char *group, *name, *explanation;
    StrategyRow::Control control = StrategyRow::Control::List;
};

const Entry kEntries[] = {
    {QT_TR_NOOP("Parallelism"), "tensor", QT_TR_NOOP("Tensor"), QT_TR_NOOP("GPUs of one node that share every layer's matrix products.")},
    {nullptr, "pipeline", QT_TR_NOOP("Pipeline"), QT_TR_NOOP("Stages into which the layers are cut; micro-batches flow through them.")},
    {nullptr, "data", QT_TR_NOOP("Data"), QT_TR_NOOP("Replicas of the whole pipeline. Auto: as many as the placement can seat.")},
    {nullptr, "context", QT_TR_NOOP("Context"), QT_TR_NOOP("GPUs that share one long sequence.")},
    {nullptr, "expert", QT_TR_NOOP("Expert"), QT_TR_NOOP("GPUs over which the experts of a layer are spread.")},
    {nullptr, "sequence_parallel", QT_TR_NOOP("Sequence parallel"), QT_TR_NOOP("Splits norms and dropout along the sequence within the tensor-parallel group: less activation memory at equal traffic."), StrategyRow::Control::Switch},
    {nullptr, "zero", QT_TR_NOOP("ZeRO stage"), QT_TR_NOOP("What is sharded over the data-parallel replicas instead of repeated on each.")},
    {QT_TR_NOOP("Schedule"), "schedule", QT_TR_NOOP("Schedule"), QT_TR_NOOP("The order of forward and backward passes on each stage.")},
    {nullptr, "virtual", QT_TR_NOOP("Virtual stages"), QT_TR_NOOP("Chunks of layers that each stage holds; more chunks, shorter bubbles, more transfers.")},
    {nullptr, "micro_batch", QT_TR_NOOP("Micro-batch"), QT_TR_NOOP("Sequences that pass the pipeline together. The global batch stays.")},
    {QT_TR_NOOP("Across datacenters"), "placement", QT_TR_NOOP("Placement"), QT_TR_NOOP("Pipeline across: each datacenter holds some stages. Data across: each holds whole replicas. Auto: the better of both.")},
    {nullptr, "tcp_connections", QT_TR_NOOP("TCP connections"), QT_TR_NOOP("Connections between two nodes over the WAN. Auto: as many as fill the node pair.")},
    {QT_TR_NOOP("Memory"), "recompute", QT_TR_NOOP("Recompute"), QT_TR_NOOP("Activations that are thrown away after forward and computed again in backward.")},
    {QT_TR_NOOP("Precision and software"), "precision", QT_TR_NOOP("Precision"), QT_TR_NOOP("Number format of the matrix products.")},
    {nullptr, "stack", QT_TR_NOOP("Software"), QT_TR_NOOP("The framework whose habits are modelled: what it overlaps, keeps and adds.")},
};

/// What "auto" came to, behind the control's value.
QString reached(const std::string &group, const Plan &plan, const Evaluation *evaluation)
{
    if (!evaluation)
        return {};
    const Layout &layout = evaluation->layout;
    if (group == "data" && !plan.parallelism.data && layout.data > 0)
        return QString::number(layout.data);
    if (group == "placement" && plan.placement.mode == PlacementMode::Auto && plan.placement.stages.empty() && layout.data > 0
        && plan.cluster.datacenters.size() > 1)
        return layout.mode == PlacementMode::DataAcross ? QObject::tr("data") : QObject::tr("pipeline");
    if (group == "tcp_connections" && !plan.wan.tcpConnections) {
        int most = 0;
        for (const WanLinkUse &use : evaluation->metrics.wanLinks)
            most = std::max(most, use.tcpConnections);
        return most > 0 ? QString::number(most) : QString();
    }
    return {};
}

} // namespace

StrategyPanel::StrategyPanel(const Catalogue &catalogue, QWidget *parent) : QWidget(parent), m_catalogue(catalogue)
{
    setFont(uiFont(-1));
    setAccessibleName(tr("Strategies"));
    panelLayout(this)->setContentsMargins(Theme::kPad, 0, Theme::kPad, Theme::kGap);
    addRows();
}

void StrategyPanel::addRows()
{
    auto *area = new QScrollArea(this);
    area->setFrameShape(QFrame::NoFrame);
    area->setWidgetResizable(true);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->viewport()->setAutoFillBackground(false);
    auto *content = new QWidget(area);
    content->setAutoFillBackground(false);
    auto *rows = new QVBoxLayout(content);
    rows->setContentsMargins(0, 0, 2, 0);
    rows->setSpacing(1);
    for (const Entry &entry : kEntries) {
        if (entry.section)
            rows->addWidget(new SectionTitle(tr(entry.section), &entry == kEntries ? tr("effect if switched") : QString(), content));
        auto *row = new StrategyRow(QString::fromLatin1(entry.group), tr(entry.name), tr(entry.explanation), entry.control, content);
        connect(row, &StrategyRow::chosen, this, &StrategyPanel::editCommitted);
        connect(row, &StrategyRow::previewed, this, &StrategyPanel::editPreviewed);
        connect(row, &StrategyRow::previewEnded, this, &StrategyPanel::editCancelled);
        rows->addWidget(row);
        m_rows.push_back(row);
    }
    rows->addStretch(1);
    area->setWidget(content);
    static_cast<QVBoxLayout *>(layout())->addWidget(area, 1);
}

void StrategyPanel::setPlan(PlanPtr plan)
{
    m_plan = std::move(plan);
    rebuild();
}

void StrategyPanel::setEvaluation(EvaluationPtr evaluation)
{
    if (!evaluation || evaluation->plan != m_plan)
        return;   // of a hovering drag or a previewed value: this panel shows the document's plan
    m_evaluation = std::move(evaluation);
    rebuild();
}

void StrategyPanel::setEffects(EffectTablePtr effects)
{
    m_effects = std::move(effects);
    for (StrategyRow *row : m_rows)
        row->setEffects(m_effects.get(), m_effects && m_effects->plan != m_plan);
}

void StrategyPanel::rebuild()
{
    if (!m_plan)
        return;
    const Evaluation *evaluation = m_evaluation.get();
    const ModelSpec *model = evaluation && evaluation->plan && evaluation->plan->workload.model == m_plan->workload.model ? &evaluation->model : nullptr;
    std::vector<Alternative> all = strategyAlternatives(*m_plan, m_catalogue, model);
    for (StrategyRow *row : m_rows) {
        std::vector<Alternative> own;
        const std::string group = row->group().toStdString();
        std::ranges::copy_if(all, std::back_inserter(own), [&](const Alternative &a) { return a.group == group; });
        row->setVisible(!own.empty());
        row->setAlternatives(std::move(own), reached(group, *m_plan, evaluation));
        row->setEffects(m_effects.get(), m_effects && m_effects->plan != m_plan);
    }
}

StrategyRow *StrategyPanel::row(const std::string &group) const
{
    const auto it = std::ranges::find_if(m_rows, [&](const StrategyRow *r) { return r->group().toStdString() == group; });
    return it == m_rows.end() ? nullptr : *it;
}

} // namespace trainyard
