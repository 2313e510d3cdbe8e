// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/edits_panel.h"

#include "models/edit_history.h"
#include "models/session/variant_words.h"
#include "models/text/duration.h"
#include "models/text/format.h"
#include "models/validation/text_table_model.h"
#include "views/panels/effect_text.h"
#include "views/panels/evidence_table.h"
#include "views/parts/panel_parts.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

QString changeOfStep(const HistoryStep &step)
{
    if (step.figures && !step.figures->fits)
        return EditsPanel::tr("does not fit");
    return step.change ? formatChange(1, 1 + *step.change) : QString();
}

Tone toneOf(const HistoryStep &step)
{
    if (step.isUndone)
        return Tone::Muted;
    if (step.figures && !step.figures->fits)
        return Tone::Bad;
    if (!step.change || std::abs(*step.change) < kNoChange)
        return Tone::Muted;
    return *step.change < 0 ? Tone::Good : Tone::Bad;
}

QString hintOf(const HistoryStep &step)
{
    QStringList lines { step.text };
    if (step.isUndone)
        lines << EditsPanel::tr("Undone; a click brings it back.");
    if (step.figures && step.figures->memoryBytes > 0)
        lines << EditsPanel::tr("Fullest GPU %1").arg(formatBytes(step.figures->memoryBytes));
    if (step.figures && step.figures->usdPerMtok)
        lines << EditsPanel::tr("%1 per million tokens").arg(formatUsd(*step.figures->usdPerMtok));
    return lines.join(u'\n');
}

} // namespace

EditsPanel::EditsPanel(EditHistory &history, QWidget *parent)
    : QWidget(parent)
    , m_history(history)
    , m_model(new TextTableModel(this))
    , m_table(new EvidenceTable(tr("Edits since the plan was opened"), 0, this))
    , m_sum(new TextLine({}, Ink::Muted, this))
{
    setFont(uiFont(-1));
    setAccessibleName(tr("Edits"));
    m_table->setModel(m_model);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setTextElideMode(Qt::ElideRight);
    setFocusProxy(m_table); // arrows and Enter go through the steps
    m_sum->setWrapped(true);
    QVBoxLayout *layout = panelLayout(this);
    layout->addWidget(m_table, 1);
    layout->addWidget(m_sum);
    connect(
        m_table, &QAbstractItemView::clicked, this, [this](const QModelIndex &index) { m_history.goTo(index.row()); });
    connect(m_table, &QAbstractItemView::activated, this,
        [this](const QModelIndex &index) { m_history.goTo(index.row()); });
    connect(&history, &EditHistory::stepsChanged, this, [this] {
        if (isVisible())
            refresh();
    });
}

void EditsPanel::refresh()
{
    const bool hasJobsNow = std::ranges::any_of(m_history.steps(),
        [](const HistoryStep &step) { return step.isCurrent && step.figures && step.figures->isOfJobs; });
    TextRows rows { { tr("Edit"), hasJobsNow ? tr("All jobs") : tr("Iteration"), tr("Change") }, {} };
    int current = 0;
    for (const HistoryStep &step : m_history.steps()) {
        if (step.isCurrent)
            current = int(rows.lines.size());
        rows.lines.push_back({ { step.text, iterationOf(step.figures ? &*step.figures : nullptr), changeOfStep(step) },
            toneOf(step), -1, hintOf(step) });
    }
    m_model->setTable(std::move(rows));
    m_table->selectRow(current);
    m_table->scrollTo(m_model->index(current, 0));
    const std::vector<HistoryStep> &steps = m_history.steps();
    const auto &first = steps.front().figures, &now = steps[std::size_t(current)].figures;
    const bool isComparable = current > 0 && first && now && first->iterationTime && now->iterationTime
        && first->isOfJobs == now->isOfJobs && first->isComparable && now->isComparable;
    const bool isOfJobs = now && now->isOfJobs;
    m_sum->setText(
        steps.size() == 1 ? tr(
            "No edits yet. Every change is listed here with what it cost and gained; a click on one goes back to it.")
            : isComparable ? (isOfJobs ? tr("Since opened: %1 → %2 for all jobs (%3).")
                                       : tr("Since opened: %1 → %2 per iteration (%3)."))
                                 .arg(formatDuration(*first->iterationTime), formatDuration(*now->iterationTime),
                                     formatChange(*first->iterationTime, *now->iterationTime))
                           : QString());
    m_sum->setVisible(!m_sum->text().isEmpty());
}

QString EditsPanel::toTsv() const
{
    return m_history.toTsv();
}

void EditsPanel::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_history.setWatched(true);
    refresh();
}

void EditsPanel::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    m_history.setWatched(false);
}

} // namespace trainyard
