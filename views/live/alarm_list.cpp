// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/live/alarm_list.h"

#include "models/live_words.h"
#include "views/export/panel_menu.h"
#include "views/live/live_row.h"
#include "views/theme/theme.h"

#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

namespace {

constexpr std::size_t kMostRows = 40;
constexpr std::size_t kLeastSteps = 5; // that a level is judged by

} // namespace

AlarmList::AlarmList(LiveDocument &live, QWidget *parent)
    : QWidget(parent)
    , m_live(live)
    , m_place(new QVBoxLayout)
    , m_other(new TextLine({}, Ink::Warning, this))
    , m_empty(new TextLine({}, Ink::Muted, this))
    , m_more(new TextLine({}, Ink::Muted, this))
{
    setAccessibleName(tr("Alarms"));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_place->setSpacing(0);
    for (TextLine *line : { m_other, m_empty, m_more }) {
        line->setFont(uiFont(-1));
        line->setWrapped(true);
    }
    column->addWidget(m_other);
    column->addWidget(m_empty);
    column->addLayout(m_place);
    column->addWidget(m_more);
    setPanelTable(this, [this] { return toTsv(); });
    connect(&live, &LiveDocument::alarmsChanged, this, &AlarmList::refresh);
    connect(&live, &LiveDocument::stepsChanged, this, [this] {
        if (m_shown.empty() || m_other->isHidden() != m_live.otherJob().isEmpty())
            refresh(); // what is said where there are none
    });
    refresh();
}

void AlarmList::refresh()
{
    m_shown = m_live.alarms();
    const std::size_t count = std::min(kMostRows, m_shown.size());
    while (m_rows.size() < count) {
        const std::size_t at = m_rows.size();
        LiveRow *row = m_rows.emplace_back(new LiveRow(this));
        m_place->addWidget(row);
        row->setActive(true);
        connect(row, &LiveRow::chosen, this, [this, at] {
            if (at < m_shown.size())
                emit alarmChosen(m_shown[at]);
        });
    }
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        m_rows[i]->setVisible(i < count);
        if (i < count)
            m_rows[i]->setWords(QString::fromStdString(m_shown[i].sentence), alarmNote(m_shown[i]),
                m_shown[i].isOver() ? LiveRow::Mark::Over : LiveRow::Mark::Alarm);
    }
    m_more->setVisible(count < m_shown.size());
    m_more->setText(
        tr("and %L1 more; the table that the context menu copies has all").arg(qulonglong(m_shown.size() - count)));
    m_empty->setVisible(count == 0);
    const std::size_t steps = m_live.steps().size();
    m_empty->setText(steps == 0
            ? tr("Nothing to tell yet: alarms come from steps, which are laid beside those of the plan.")
            : steps < kLeastSteps
            ? tr("Too few steps to tell: alarms come from five on.")
            : tr(
                "No alarm in %L1 steps: nothing lies beyond the plan's range, or differs from the steps before by more "
                "than noise.")
                  .arg(qulonglong(steps)));
    m_other->setVisible(!m_live.otherJob().isEmpty());
    m_other->setText(
        tr("%1. The plan is not that of this run: what is measured cannot be held against it.").arg(m_live.otherJob()));
}

QString AlarmList::toTsv() const
{
    return alarmsTsv(m_shown);
}

std::vector<LiveRow *> AlarmList::rows() const
{
    std::vector<LiveRow *> shown;
    std::ranges::copy_if(m_rows, std::back_inserter(shown), [](const LiveRow *row) { return !row->isHidden(); });
    return shown;
}

QString AlarmList::emptyText() const
{
    return m_empty->isHidden() ? QString() : m_empty->text();
}

QString AlarmList::warning() const
{
    return m_other->isHidden() ? QString() : m_other->text();
}

} // namespace trainyard
