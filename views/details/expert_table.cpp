// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/details/expert_table.h"

#include "models/text/format.h"
#include "models/validation/text_table_model.h"
#include "views/panels/evidence_table.h"
#include "views/parts/panel_parts.h"

#include <QHeaderView>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kRowsInSight = 4;
constexpr double kMuchFuller = 1.1; // than the mean: worth a colour

EvidenceTable *table(const QString &name, TextTableModel *model, QWidget *parent)
{
    auto *made = new EvidenceTable(name, 0, parent);
    made->setModel(model);
    made->setSelectionMode(QAbstractItemView::SingleSelection);
    made->setTextElideMode(Qt::ElideRight);
    return made;
}

void fitRows(EvidenceTable *table, std::size_t rows)
{
    const int shown = std::min(kRowsInSight, int(rows)) + 1;
    table->setFixedHeight(shown * (table->fontMetrics().height() + 6) + 10);
}

} // namespace

ExpertTable::ExpertTable(QWidget *parent)
    : QWidget(parent)
    , m_expertModel(new TextTableModel(this))
    , m_senderModel(new TextTableModel(this))
    , m_experts(table(tr("Experts here"), m_expertModel, this))
    , m_senders(table(tr("Who sends to them"), m_senderModel, this))
{
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(new SectionTitle(tr("Experts here"), tr("click: on the map"), this));
    layout->addWidget(m_experts);
    layout->addWidget(new SectionTitle(tr("Who sends to them"), tr("one layer, one forward"), this));
    layout->addWidget(m_senders);
    const auto ask = [this](const QModelIndex &index) {
        if (index.row() >= 0 && index.row() < int(m_here.experts.size()))
            emit expertRequested(m_here.experts[std::size_t(index.row())].expert);
    };
    connect(m_experts, &QAbstractItemView::clicked, this, ask);
    connect(m_experts, &QAbstractItemView::activated, this, ask);
    const auto go = [this](const QModelIndex &index) {
        if (index.row() >= 0 && index.row() < int(m_here.senders.size()))
            emit placeRequested(m_here.senders[std::size_t(index.row())].item);
    };
    connect(m_senders, &QAbstractItemView::clicked, this, go);
    connect(m_senders, &QAbstractItemView::activated, this, go);
    setVisible(false);
}

void ExpertTable::setContent(ExpertsHere here)
{
    if (here.experts.empty() && m_here.experts.empty())
        return; // hidden, and stays so: with every edit of a dense model
    m_here = std::move(here);
    setVisible(!m_here.experts.empty());
    TextRows experts { { tr("Expert"), tr("GPUs"), tr("Load") }, {} };
    for (const ExpertHere &expert : m_here.experts)
        experts.lines.push_back(
            { { expertName(expert.expert), QString::number(expert.gpus), tr("%1 × mean").arg(expert.load, 0, 'f', 2) },
                expert.load > kMuchFuller ? Tone::Warning : Tone::Plain, -1,
                tr("Visits that its rank computes, over those of a mean one.") });
    m_expertModel->setTable(std::move(experts));
    TextRows senders { { tr("From"), tr("Bytes"), tr("Share") }, {} };
    for (const SenderHere &sender : m_here.senders)
        senders.lines.push_back({ { sender.isHere ? tr("%1 (here)").arg(sender.name) : sender.name,
                                      formatBytes(sender.bytes), formatPercent(sender.share) },
            sender.isHere ? Tone::Muted : Tone::Plain, -1,
            tr("Tokens of that node's GPUs for the experts here, in one layer, one micro-batch and one "
               "forward.") });
    m_senderModel->setTable(std::move(senders));
    for (EvidenceTable *of : { m_experts, m_senders })
        of->fitColumns();
    fitRows(m_experts, m_here.experts.size());
    fitRows(m_senders, m_here.senders.size());
}

void ExpertTable::setChosen(int expert)
{
    const auto found = std::ranges::find(m_here.experts, expert, &ExpertHere::expert);
    if (found == m_here.experts.end())
        m_experts->clearSelection();
    else
        m_experts->selectRow(int(found - m_here.experts.begin()));
}

} // namespace trainyard
