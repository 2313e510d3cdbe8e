// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/planner/step_list.h"

#include "models/planner_words.h"
#include "models/text/duration.h"
#include "models/text/format.h"
#include "views/export/panel_menu.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QGridLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include <cmath>

namespace trainyard {

namespace {

constexpr int kMostDifferences = 12;
constexpr double kNoGain = 0.0005;

QString sentencesOf(const SearchStep &step, const QString &between)
{
    QStringList lines;
    for (const std::string &sentence : step.sentences)
        lines << QString::fromStdString(sentence);
    return lines.join(between);
}

} // namespace

SearchStepRow::SearchStepRow(int number, QWidget *parent)
    : QWidget(parent)
    , apply(new QPushButton(tr("Apply"), this))
    , words(new TextLine({}, Ink::Text, this))
    , gain(new TextLine({}, Ink::Good, this))
{
    auto *layout = new QGridLayout(this);
    layout->setContentsMargins(0, 1, 0, 1);
    layout->setHorizontalSpacing(Theme::kGap);
    layout->setVerticalSpacing(0);
    auto *rank = new TextLine(QString::number(number), Ink::Faint, this);
    rank->setFixedWidth(fontMetrics().horizontalAdvance(QStringLiteral("00")));
    words->setWrapped(true);
    gain->setFont(uiFont(-2));
    layout->addWidget(rank, 0, 0, Qt::AlignTop);
    layout->addWidget(words, 0, 1);
    layout->addWidget(gain, 1, 1);
    layout->addWidget(apply, 0, 2, 2, 1, Qt::AlignVCenter);
    layout->setColumnStretch(1, 1);
    apply->setFixedHeight(fontMetrics().height() + 8);
}

void SearchStepRow::setStep(const SearchStep &step, Objective objective, bool isTaken)
{
    words->setText(sentencesOf(step, QStringLiteral("\n")));
    QStringList facts;
    if (!step.isFeasible)
        facts << tr("needs the steps after it to be feasible");
    else
        facts << gainText(objective, step.gain);
    if (!step.breaks.empty())
        facts << QString::fromStdString(step.breaks);
    if (step.seconds > 0)
        facts << tr("then %1").arg(formatDuration(step.seconds));
    if (step.usdPerMillionTokens > 0)
        facts << tr("%1 / Mtok").arg(formatUsd(step.usdPerMillionTokens));
    gain->setText(facts.join(QStringLiteral(" · ")));
    gain->setInk(!step.isFeasible || !step.breaks.empty() ? Ink::Warning
            : step.gain > kNoGain                         ? Ink::Good
            : step.gain < -kNoGain                        ? Ink::Bad
                                                          : Ink::Muted);
    apply->setText(isTaken ? tr("In use") : tr("Apply"));
    apply->setEnabled(!isTaken && step.plan);
    apply->setToolTip(tr("Takes this step and those before it: one step to undo."));
    apply->setAccessibleName(tr("Apply: %1, %2").arg(sentencesOf(step, QStringLiteral(", ")), gain->text()));
}

StepList::StepList(PlanSearch &search, QWidget *parent)
    : QWidget(parent)
    , m_search(search)
    , m_note(new TextLine({}, Ink::Muted, this))
    , m_list(new QVBoxLayout)
{
    setAccessibleName(tr("Steps to this plan"));
    m_note->setWrapped(true);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(m_note);
    m_list->setSpacing(3);
    column->addLayout(m_list);
    setPanelTable(this, [this] { return toTsv(); });
    connect(&search, &PlanSearch::stepsChanged, this, &StepList::refresh);
    connect(&search, &PlanSearch::planChanged, this, &StepList::refresh);
    connect(&search, &PlanSearch::ended, this, &StepList::refresh);
    refresh();
}

void StepList::setRow(int row)
{
    m_row = row;
    if (row >= 0 && m_search.result() && m_search.own() != std::size_t(row))
        m_search.askSteps(std::size_t(row));
    refresh();
}

/// What stands above the steps, or in their place.
QString StepList::noteText() const
{
    if (m_row < 0)
        return {};
    const auto &steps = m_search.steps();
    const bool isOfRow = steps && steps->row == std::size_t(m_row);
    const PlanPtr plan = m_search.planOf(std::size_t(m_row));
    if (isOfRow && steps->isComplete && !steps->list.empty())
        return {};
    if (m_search.own() == std::size_t(m_row))
        return tr("It is your plan.");
    const PlanPtr before = m_search.planBefore();
    QStringList lines;
    if (plan && before)
        lines = differencesText(*before, *plan, kMostDifferences);
    if (lines.isEmpty() && plan)
        return tr("It is the plan as it is.");
    if (isOfRow && !steps->isComplete)
        lines.prepend(tr("Working out what each change buys…"));
    else if (isOfRow && !steps->refusal.empty())
        lines.prepend(tr("What each change buys is not known: %1.").arg(QString::fromStdString(steps->refusal)));
    else if (!m_search.result())
        lines.prepend(tr("What each change buys is worked out when the search has ended."));
    return lines.join(u'\n');
}

void StepList::refresh()
{
    const auto &steps = m_search.steps();
    const bool has = m_row >= 0 && steps && steps->row == std::size_t(m_row) && m_search.own() != steps->row;
    const std::size_t count = has ? steps->list.size() : 0;
    const QString note = noteText();
    m_note->setText(note);
    m_note->setVisible(!note.isEmpty());
    while (m_rows.size() < count) {
        const std::size_t at = m_rows.size();
        auto *row = new SearchStepRow(int(at) + 1, this);
        m_list->addWidget(row);
        m_rows.push_back(row);
        connect(row->apply, &QPushButton::clicked, this, [this, at] {
            const auto &now = m_search.steps();
            if (!now || at >= now->list.size())
                return;
            const SearchStep &step = now->list[at];
            Q_EMIT editCommitted(step.plan,
                at == 0 ? sentencesOf(step, QStringLiteral(", ")) : tr("%1 steps of the planner").arg(at + 1));
        });
    }
    std::size_t taken = 0; // steps that the plan has
    for (std::size_t i = 0; i < count; ++i)
        if (m_search.plan() && steps->list[i].plan && *steps->list[i].plan == *m_search.plan())
            taken = i + 1;
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        m_rows[i]->setVisible(i < count);
        if (i < count)
            m_rows[i]->setStep(steps->list[i], m_search.objective(), i < taken);
    }
}

std::vector<SearchStepRow *> StepList::steps() const
{
    std::vector<SearchStepRow *> shown;
    for (SearchStepRow *row : m_rows)
        if (!row->isHidden())
            shown.push_back(row);
    return shown;
}

QString StepList::toTsv() const
{
    QString text = tr("step") + u'\t' + tr("change") + u'\t' + tr("gain") + u'\n';
    int number = 0;
    for (const SearchStepRow *row : steps())
        text += QString::number(++number) + u'\t' + QString(row->words->text()).replace(u'\n', QStringLiteral(", "))
            + u'\t' + row->gain->text() + u'\n';
    return text;
}

} // namespace trainyard
