// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/sharing_comparison.h"

#include "models/text/format.h"
#include "views/panels/baseline_row.h"
#include "views/panels/hover_button.h"
#include "views/panels/set_bars.h"
#include "views/parts/panel_parts.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include <utility>

namespace trainyard {

SharingComparison::SharingComparison(QWidget *parent)
    : QWidget(parent)
    , m_compare(new HoverButton(tr("Compare baselines"), this))
    , m_note(new TextLine({}, Ink::Faint, this))
    , m_header(new QWidget(this))
    , m_list(new QVBoxLayout)
{
    setFont(uiFont(-1));
    setAccessibleName(tr("Baselines"));
    m_compare->setToolTip(
        tr("Evaluates what other systems would make of the same GPUs, model and batch, and again for every plan."));
    m_note->setWrapped(true);
    m_list->setSpacing(0);
    auto *header = new QHBoxLayout(m_header);
    header->setContentsMargins(4, 0, 4, 0);
    header->setSpacing(Theme::kGap);
    const struct {
        QString text;
        int stretch;
    } columns[] = { { tr("iteration"), 3 }, { tr("change"), 3 }, { tr("samples"), 3 }, { tr("fullest GPU"), 5 },
        { tr("$/Mtok"), 4 } };
    for (const auto &column : columns) {
        auto *line = new TextLine(column.text, Ink::Faint, m_header);
        line->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
        line->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
        header->addWidget(line, column.stretch);
    }
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, Theme::kGap, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(new SectionTitle(tr("Baselines"), tr("on the same GPUs"), this));
    layout->addWidget(m_note);
    layout->addWidget(m_compare, 0, Qt::AlignLeft);
    layout->addWidget(m_header);
    layout->addLayout(m_list);
    connect(m_compare, &QPushButton::clicked, this, &SharingComparison::compare);
    for (std::size_t i = 0; i < kSharingBaselines.size(); ++i) {
        auto *row = new BaselineRow(this);
        connect(row, &BaselineRow::opened, this, [this, i] { open(int(i)); });
        connect(row, &BaselineRow::used, this, &SharingComparison::editCommitted);
        connect(row, &BaselineRow::previewed, this, &SharingComparison::editPreviewed);
        connect(row, &BaselineRow::previewEnded, this, &SharingComparison::editCancelled);
        m_list->addWidget(row);
        m_rows.push_back(row);
    }
    refresh();
}

void SharingComparison::setShown(const Shown &shown)
{
    m_plan = shown.base;
    for (BaselineRow *row : m_rows)
        row->setApplicable(m_table && m_table->plan == m_plan);
    if (shown.isPreview() || !shown.isCurrent())
        return;
    m_now = shown.evaluation->metrics.iterationTime.value_or(0);
    refresh();
}

void SharingComparison::setTable(BaselineTablePtr table)
{
    m_table = std::move(table);
    refresh();
}

void SharingComparison::compare()
{
    m_isComparing = true;
    refresh();
    if (isVisible())
        Q_EMIT watched(true);
}

int SharingComparison::fastest() const
{
    int best = -1;
    for (std::size_t i = 0; m_table && i < m_table->results.size(); ++i) {
        const auto &result = m_table->results[i];
        if (result && result->isFeasible && result->iterationTime
            && (best < 0 || *result->iterationTime < *m_table->results[std::size_t(best)]->iterationTime))
            best = int(i);
    }
    return best;
}

void SharingComparison::open(int index)
{
    m_open = m_rows[std::size_t(index)]->isOpen() ? int(m_rows.size()) : index; // again: none
    refresh();
}

void SharingComparison::refresh()
{
    int known = 0;
    m_compare->setVisible(!m_isComparing);
    m_header->setVisible(m_isComparing);
    const int shown = m_open >= 0 ? m_open : fastest();
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        const SharingResult *result =
            m_table && i < m_table->results.size() && m_table->results[i] ? &*m_table->results[i] : nullptr;
        m_rows[i]->setVisible(m_isComparing && result);
        if (result)
            m_rows[i]->setResult(*result, m_now);
        known += result ? 1 : 0;
        m_rows[i]->setApplicable(m_table && m_table->plan == m_plan);
        m_rows[i]->setOpen(int(i) == shown);
    }
    const int all = int(m_rows.size());
    m_note->setText(!m_isComparing ? tr("Even shares, pipelines by speed, Whale, groups of equal GPUs and Cephalo.")
                                   : tr("%1 of %2 evaluated…").arg(known).arg(all));
    m_note->setVisible(known < all);
}

QString SharingComparison::toTsv() const
{
    QStringList lines { tr("baseline\titeration s\tsamples per s\tfits\tpeak bytes\tcapacity bytes\tUSD per iteration\t"
                           "GPUs\tcompute share\tstate share\tidle\twhy") };
    const auto number = [](const Metric &metric) { return metric ? QString::number(*metric, 'g', 9) : QString(); };
    for (std::size_t i = 0; m_isComparing && m_table && i < m_table->results.size(); ++i) {
        if (!m_table->results[i])
            continue;
        const SharingResult &result = *m_table->results[i];
        const QStringList first { QString::fromStdString(result.of.label), number(result.iterationTime),
            number(result.samplesPerSecond), result.fits ? tr("yes") : tr("no"), QString::number(result.peak),
            QString::number(result.capacity), number(result.usdPerIteration) };
        if (result.sets.empty())
            lines << (first + QStringList { {}, {}, {}, {}, QString::fromStdString(result.why) }).join(u'\t');
        for (const SetShare &set : result.sets)
            lines << (first
                + QStringList { QStringLiteral("%1 × %2").arg(QString::fromStdString(set.gpu)).arg(set.gpus),
                    QString::number(set.computeShare, 'g', 6), QString::number(set.stateShare, 'g', 6),
                    QString::number(set.idle, 'g', 6), QString::fromStdString(result.why) })
                         .join(u'\t');
    }
    return lines.join(u'\n') + u'\n';
}

void SharingComparison::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    Q_EMIT watched(m_isComparing);
}

void SharingComparison::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    Q_EMIT watched(false);
}

} // namespace trainyard
