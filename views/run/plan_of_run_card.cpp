// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/plan_of_run_card.h"

#include "views/parts/panel_parts.h"
#include "views/run/sentence_list.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

namespace trainyard {

PlanOfRunCard::PlanOfRunCard(PlanOfRun &plan, QWidget *parent)
    : QWidget(parent)
    , make(new QPushButton(tr("Make a plan of this run"), this))
    , taken(new SentenceList(Ink::Text))
    , assumed(new SentenceList(Ink::Muted))
    , notUnderstood(new SentenceList(Ink::Warning))
    , ignored(new SentenceList(Ink::Muted))
    , m_plan(plan)
    , m_summary(new TextLine({}, Ink::Text, this))
    , m_errors(new SentenceList(Ink::Warning))
    , m_takenTitle(new SectionTitle(tr("Taken from the run")))
    , m_assumedTitle(new SectionTitle(tr("Told by no file")))
    , m_notUnderstoodTitle(new SectionTitle(tr("Not understood")))
    , m_ignoredTitle(new SectionTitle(tr("Left out")))
{
    setAccessibleName(tr("The plan that the run tells of"));
    auto *column = panelLayout(this);
    column->setSpacing(6);
    auto *head = new QHBoxLayout;
    head->setSpacing(Theme::kGap);
    m_summary->setWrapped(true);
    make->setProperty("isPrimary", true);
    make->setToolTip(tr("Opens it as an untitled plan, with the run under it."));
    head->addWidget(m_summary, 1);
    head->addWidget(make, 0, Qt::AlignTop);
    column->addLayout(head);
    column->addWidget(m_errors);
    column->addWidget(m_takenTitle);
    column->addWidget(taken);
    column->addWidget(m_assumedTitle);
    column->addWidget(assumed);
    column->addWidget(m_notUnderstoodTitle);
    column->addWidget(notUnderstood);
    column->addWidget(m_ignoredTitle);
    column->addWidget(ignored);
    column->addStretch(1);
    connect(make, &QPushButton::clicked, this, [this] {
        if (m_plan.found().plan)
            emit planRequested(m_plan.found().plan);
    });
    connect(&plan, &PlanOfRun::changed, this, &PlanOfRunCard::refresh);
    refresh();
}

QString PlanOfRunCard::summary() const
{
    return m_summary->text();
}

void PlanOfRunCard::refresh()
{
    const PlanOfRunFound &found = m_plan.found();
    if (!found.plan)
        m_summary->setText(found.errors.isEmpty() ? tr("No file of the run tells how it was started, or on what.")
                                                  : tr("The run's files do not make a plan."));
    else if (found.isModelAssumed)
        m_summary->setText(
            tr("The run trained %1: there is no telling whether it is of the plan in the window.").arg(found.summary));
    else if (found.isOther)
        m_summary->setText(found.differences.isEmpty()
                ? tr("The run trained %1. The plan in the window is another one.").arg(found.summary)
                : tr("The run trained %1. The plan in the window is another one (plan → run): %2.")
                      .arg(found.summary, found.differences.join(QStringLiteral("; "))));
    else
        m_summary->setText(tr("The run trained %1, as the plan in the window has it.").arg(found.summary));
    make->setVisible(m_plan.isOffered());
    m_errors->setSentences(found.errors);
    taken->setSentences(found.taken);
    assumed->setSentences(found.assumed);
    notUnderstood->setSentences(found.notUnderstood);
    ignored->setSentences(found.ignored);
    m_takenTitle->setVisible(!found.taken.isEmpty());
    m_assumedTitle->setVisible(!found.assumed.isEmpty());
    m_notUnderstoodTitle->setVisible(!found.notUnderstood.isEmpty());
    m_ignoredTitle->setVisible(!found.ignored.isEmpty());
}

} // namespace trainyard
