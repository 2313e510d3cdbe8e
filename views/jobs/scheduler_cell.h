#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One scheduler among the small multiples: its name, how long all jobs take, what that is beside the plan's own, its
// chart, and a button that makes it the plan's. GUI thread.

#include "core/evaluation/advice/job_comparison.h"

#include <QWidget>

class QPushButton;

namespace trainyard {

class MiniGantt;
class TextLine;

class SchedulerCell : public QWidget {
    Q_OBJECT
public:
    explicit SchedulerCell(QWidget *parent = nullptr);

    /// `relation`: to the plan's own; `whole`: of the axis that all share. `isOwn`: the plan uses it.
    void setVariant(const JobVariant &variant, const QString &relation, Nanoseconds whole, Metric bound, bool isOwn);
    void setFaded(bool faded);
    [[nodiscard]] JobScheduler scheduler() const { return m_scheduler; }

    TextLine *const name, *const time;
    QPushButton *const use;
    MiniGantt *const gantt;

Q_SIGNALS:
    void chosen(trainyard::JobScheduler scheduler);

private:
    TextLine *m_relation, *m_note;
    JobScheduler m_scheduler = JobScheduler::ShardedLrtf;
};

} // namespace trainyard
