// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/datacenter_panel.h"

#include "models/text/format.h"
#include "views/panels/datacenter_row.h"
#include "views/panels/hover_button.h"
#include "views/parts/panel_parts.h"
#include "views/theme/theme.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QVBoxLayout>

namespace trainyard {

DatacenterPanel::DatacenterPanel(QWidget *parent)
    : QWidget(parent)
    , m_heading(new PanelHeading(tr("Datacenter selection"), {}, this))
    , m_objective(new QComboBox(this))
    , m_header(new DatacenterColumns(this))
    , m_legend(new QWidget(this))
    , m_sentence(new TextLine({}, Ink::Muted, this))
    , m_remarks(new TextLine({}, Ink::Muted, this))
    , m_list(new QVBoxLayout)
{
    setFont(uiFont(-1));
    setAccessibleName(tr("Datacenter selection"));
    QVBoxLayout *layout = panelLayout(this);
    m_objective->addItem(tr("by throughput"), int(SelectionObjective::Throughput));
    m_objective->addItem(tr("by cost"), int(SelectionObjective::Cost));
    m_objective->setAccessibleName(tr("Rank datacenters by"));
    m_objective->setToolTip(
        tr("What the options are ranked by. By cost an option gives back the nodes that it leaves idle: "
           "its price is that of the plan that Apply makes."));
    auto *top = new QHBoxLayout;
    top->setSpacing(Theme::kGap);
    top->addWidget(m_heading, 1);
    top->addWidget(m_objective);
    auto *legend = new QHBoxLayout(m_legend);
    legend->setContentsMargins(0, 0, 0, 0);
    legend->setSpacing(Theme::kGap);
    auto *mark = new FrontMark(m_legend);
    mark->setOnFront(true);
    legend->addWidget(mark);
    auto *meaning = new TextLine(tr("no other option is both faster and cheaper"), Ink::Faint, m_legend);
    meaning->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    legend->addWidget(meaning, 1);
    m_header->setInk(int(Ink::Faint));
    m_header->replicas->setText(tr("replicas"));
    m_header->replicas->setShortText(tr("repl."));
    m_header->replicas->setToolTip(
        tr("Data-parallel replicas; cells × pipelines of a cell where they take turns on the WAN."));
    m_header->rate->setText(tr("seq/s"));
    m_header->change->setText(tr("change"));
    m_header->change->setToolTip(tr("Against the plan as it is, in what the options are ranked by."));
    m_header->cost->setText(tr("$/Mtok"));
    m_header->cost->setToolTip(
        tr("Of the plan that Apply makes, as the top line then tells it: every GPU of its cluster, and egress."));
    m_header->egress->setText(tr("egress"));
    m_header->egress->setToolTip(tr("The part of it that leaves the datacenters, per million tokens."));
    m_header->bound->setText(tr("bound by"));
    m_header->bound->setToolTip(tr("What one micro-batch more would wait for: compute of the slowest stage, the link, "
                                   "or the pipeline depth, which limits the micro-batches in flight."));
    m_sentence->setWrapped(true);
    m_remarks->setWrapped(true);
    m_list->setSpacing(0);
    layout->addLayout(top);
    layout->addWidget(m_sentence);
    layout->addWidget(m_remarks);
    layout->addWidget(m_header);
    layout->addLayout(m_list);
    layout->addWidget(m_legend);
    layout->addStretch(1);
    connect(m_objective, &QComboBox::activated, this,
        [this](int index) { Q_EMIT objectiveChosen(SelectionObjective(m_objective->itemData(index).toInt())); });
    refresh();
}

void DatacenterPanel::setShown(const Shown &shown)
{
    if (std::exchange(m_plan, shown.base) != shown.base)
        refresh();
}

void DatacenterPanel::setSelection(SelectionPtr selection)
{
    m_selection = std::move(selection);
    refresh();
}

void DatacenterPanel::setFailure(const QString &reason)
{
    m_selection.reset();
    showRows(0);
    showSentence(
        reason.isEmpty() ? tr("This plan cannot be evaluated.") : tr("This plan cannot be evaluated: %1.").arg(reason));
}

void DatacenterPanel::refresh()
{
    if (!m_selection) {
        showRows(0);
        showSentence(tr("Trying datacenters and numbers of replicas…"));
        return;
    }
    const Selection &s = *m_selection;
    std::vector<const SelectionOption *> shown; // what does not fit is of interest only where it is the plan
    for (const SelectionOption &option : s.options)
        if (option.isFeasible || option.isCurrent)
            shown.push_back(&option);
    showRows(shown.size());
    if (!s.nothingToSelect.empty())
        showSentence(QString::fromStdString(s.nothingToSelect) + tr(" Add a second one on the map to compare."));
    else if (s.options.empty())
        showSentence(tr("No datacenters, along WAN links, hold all stages of one replica."));
    else if (s.bestThroughput < 0)
        showSentence(tr("None of the %1 options tried can be trained: %2.")
                         .arg(s.options.size())
                         .arg(QString::fromStdString(s.options.front().infeasibleBecause)));
    else
        showSentence({});
    const SelectionOption *current =
        s.current >= 0 && s.options[std::size_t(s.current)].isFeasible ? &s.options[std::size_t(s.current)] : nullptr;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        m_rows[i]->setOption(*shown[i], s, current);
        m_rows[i]->setApplicable(!m_plan || s.plan == m_plan);
    }
    m_heading->note->setText(s.simulated > 0 ? tr("%1 of %2 simulated%3")
                                                   .arg(s.simulated)
                                                   .arg(s.looked)
                                                   .arg(s.isProven ? tr(", best proven") : QString())
                                             : QString());
    m_heading->note->setShortText(s.isProven ? tr("%1 of %2, proven").arg(s.simulated).arg(s.looked)
                                             : tr("%1 of %2").arg(s.simulated).arg(s.looked));
    m_heading->note->setToolTip(s.isProven
            ? tr("Placements simulated, of all that were looked at. By lower bounds on their time and cost none of the "
                 "others is faster or cheaper than the best.")
            : tr("Placements simulated, of all that were looked at. By their bounds others may still be better: the "
                 "search ended before that was settled."));
    QStringList remarks;
    for (const std::string &remark : s.remarks)
        remarks << QString::fromStdString(remark);
    m_remarks->setText(remarks.join(u'\n'));
    m_remarks->setVisible(!remarks.isEmpty());
}

void DatacenterPanel::showRows(std::size_t count)
{
    while (m_rows.size() < count) {
        auto *row = new DatacenterRow(this);
        connect(row, &DatacenterRow::applied, this, &DatacenterPanel::editCommitted);
        connect(row, &DatacenterRow::previewed, this, &DatacenterPanel::editPreviewed);
        connect(row, &DatacenterRow::previewEnded, this, &DatacenterPanel::editCancelled);
        m_list->addWidget(row);
        m_rows.push_back(row);
    }
    for (std::size_t i = 0; i < m_rows.size(); ++i)
        m_rows[i]->setVisible(i < count);
    m_header->setVisible(count > 0);
    m_legend->setVisible(count > 0);
    m_objective->setVisible(count > 0);
    if (count == 0) {
        m_heading->note->setText({});
        m_remarks->setVisible(false);
    }
}

void DatacenterPanel::showSentence(const QString &text)
{
    m_sentence->setText(text);
    m_sentence->setVisible(!text.isEmpty());
}

QString DatacenterPanel::toTsv() const
{
    QStringList lines { tr("datacenters\tcells\tcell\tsequences/s\tUSD per million tokens\tegress USD per million "
                           "tokens\tbound by\tPareto\tcurrent") };
    if (!m_selection)
        return lines.join(u'\n');
    for (const SelectionOption &o : m_selection->options)
        lines << QStringList { QString::fromStdString(blocksText(o.blocks, m_selection->plan->cluster)),
            QString::number(o.cells), QString::number(o.cell), QString::number(o.sequencesPerSecond),
            QString::number(o.usdWritten), QString::number(o.egressUsdPerMillionTokens()),
            QString::fromLatin1(toString(o.bound)), o.isOnFront ? tr("yes") : QString(),
            o.isCurrent ? tr("yes") : QString() }
                     .join(u'\t');
    return lines.join(u'\n') + u'\n';
}

void DatacenterPanel::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    Q_EMIT watched(true);
}

void DatacenterPanel::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    Q_EMIT watched(false);
}

} // namespace trainyard
