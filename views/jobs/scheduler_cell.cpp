// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/jobs/scheduler_cell.h"

#include "models/text/duration.h"
#include "views/jobs/mini_gantt.h"
#include "views/parts/panel_parts.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

namespace trainyard {

SchedulerCell::SchedulerCell(QWidget *parent)
    : QWidget(parent)
    , name(new TextLine({}, Ink::Text, this))
    , time(new TextLine({}, Ink::Text, this))
    , use(new QPushButton(tr("Use this"), this))
    , gantt(new MiniGantt(this))
    , m_relation(new TextLine({}, Ink::Muted, this))
    , m_note(new TextLine({}, Ink::Faint, this))
{
    name->setFont(uiFont(-1, QFont::DemiBold));
    time->setFont(uiFont(-1, QFont::DemiBold));
    m_relation->setFont(uiFont(-1));
    m_note->setFont(uiFont(-2));
    m_note->setWrapped(true);
    use->setFont(uiFont(-2));
    use->setFocusPolicy(Qt::TabFocus);
    QSizePolicy kept = use->sizePolicy();
    kept.setRetainSizeWhenHidden(true);
    use->setSizePolicy(kept);
    auto *head = new QHBoxLayout;
    head->setSpacing(Theme::kGap);
    head->addWidget(name, 1);
    head->addWidget(m_relation);
    head->addWidget(time);
    head->addWidget(use);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(3);
    column->addLayout(head);
    column->addWidget(m_note);
    column->addWidget(gantt, 1);
    connect(use, &QPushButton::clicked, this, [this] { emit chosen(m_scheduler); });
}

void SchedulerCell::setVariant(
    const JobVariant &variant, const QString &relation, Nanoseconds whole, Metric bound, bool isOwn)
{
    m_scheduler = variant.plan ? variant.plan->jobScheduler : JobScheduler::ShardedLrtf;
    const QString title = QString::fromStdString(variant.name), note = QString::fromStdString(variant.note);
    name->setText(title);
    const Metric makespan = variant.makespan();
    time->setText(makespan ? formatDuration(*makespan) : QStringLiteral("–"));
    m_relation->setText(relation);
    m_note->setText(note);
    m_note->setVisible(!note.isEmpty());
    setToolTip(note);
    use->setText(isOwn ? tr("In use") : tr("Use this"));
    use->setEnabled(!isOwn && variant.plan && makespan); // nothing runs under it
    use->setAccessibleName(isOwn ? tr("%1 is in use").arg(title) : tr("Use %1").arg(title));
    use->setToolTip(isOwn ? QString()
            : !makespan   ? (note.isEmpty() ? tr("No job runs to its end under it") : note)
                          : tr("Makes it the scheduler of the plan"));
    gantt->setEvaluation(makespan ? variant.evaluation : nullptr, whole, bound);
}

void SchedulerCell::setFaded(bool faded)
{
    gantt->setFaded(faded);
    dimLines(*this, faded);
}

} // namespace trainyard
