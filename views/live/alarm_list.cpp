// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/live/alarm_list.h"

#include "models/live_words.h"
#include "views/export/panel_menu.h"
#include "views/live/live_row.h"
#include "views/theme/theme.h"

#include <QKeyEvent>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

namespace {

constexpr std::size_t kMostRows = 40;
constexpr std::size_t kLeastSteps = 5; // that a level is judged by
constexpr double kMuteSeconds = 3600;

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
    while (m_rows.size() < count)
        addRow();
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        m_rows[i]->setVisible(i < count);
        if (i < count)
            showRow(i);
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

void AlarmList::addRow()
{
    const std::size_t at = m_rows.size();
    LiveRow *row = m_rows.emplace_back(new LiveRow(this));
    m_place->addWidget(row);
    row->setActive(true);
    const Answers &answers =
        m_answers.emplace_back(Answers { row->addButton(tr("Acknowledge")), row->addButton(tr("Mute 1 h")) });
    answers.acknowledge->setToolTip(tr("Somebody looks at it: nobody is notified again (A)"));
    answers.mute->setToolTip(tr("Nobody is notified for an hour (M)"));
    connect(row, &LiveRow::chosen, this, [this, at] {
        if (at < m_shown.size())
            emit alarmChosen(m_shown[at]);
    });
    connect(answers.acknowledge, &QPushButton::clicked, this, [this, at] { acknowledge(at); });
    connect(answers.mute, &QPushButton::clicked, this, [this, at] { toggleMute(at); });
}

void AlarmList::showRow(std::size_t at)
{
    const watch::Alarm &alarm = m_shown[at];
    const desk::AlarmState *state = m_live.alarmState(at);
    const Moment now = live::unixNow();
    const QString answers = state ? alarmAnswers(*state, now) : QString();
    const QString note = alarmNote(alarm);
    m_rows[at]->setWords(QString::fromStdString(alarm.sentence),
        answers.isEmpty() ? note : note + QStringLiteral("  ·  ") + answers,
        alarm.isOver() ? LiveRow::Mark::Over : LiveRow::Mark::Alarm);
    const bool canBeAnswered = state && state->holds();
    m_answers[at].acknowledge->setVisible(canBeAnswered && state->acknowledged == 0);
    m_answers[at].mute->setVisible(canBeAnswered);
    m_answers[at].mute->setText(state && state->mutedUntil > now ? tr("Unmute") : tr("Mute 1 h"));
}

void AlarmList::acknowledge(std::size_t at)
{
    const desk::AlarmState *state = at < m_shown.size() ? m_live.alarmState(at) : nullptr;
    if (state && state->holds() && state->acknowledged == 0)
        m_live.acknowledge(state->number);
}

void AlarmList::toggleMute(std::size_t at)
{
    const desk::AlarmState *state = at < m_shown.size() ? m_live.alarmState(at) : nullptr;
    if (!state || !state->holds())
        return;
    if (state->mutedUntil > live::unixNow())
        m_live.unmute(state->number);
    else
        m_live.mute(state->number, kMuteSeconds);
}

void AlarmList::keyPressEvent(QKeyEvent *event)
{
    const QWidget *focus = focusWidget(); // a row, or a button of one
    const auto row =
        std::ranges::find_if(m_rows, [focus](const LiveRow *one) { return one == focus || one->isAncestorOf(focus); });
    const auto at = static_cast<std::size_t>(row - m_rows.begin());
    if (row != m_rows.end() && event->modifiers() == Qt::NoModifier && event->key() == Qt::Key_A)
        acknowledge(at);
    else if (row != m_rows.end() && event->modifiers() == Qt::NoModifier && event->key() == Qt::Key_M)
        toggleMute(at);
    else
        QWidget::keyPressEvent(event);
}

QString AlarmList::toTsv() const
{
    return alarmsTsv(m_live);
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
