#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What one GPU more would buy to the jobs, pool by pool, each with a button that buys it. GUI thread.

#include "models/job_advice.h"

#include <QWidget>

#include <vector>

namespace trainyard {

class PartRow;
class TextLine;

class JobOffers : public QWidget {
    Q_OBJECT
public:
    explicit JobOffers(QWidget *parent = nullptr);

    void setAdvice(JobAdvicePtr advice);
    /// The plan whose jobs are shown: an advice about another one is dimmed.
    void setPlan(const PlanPtr &plan);
    [[nodiscard]] const std::vector<PartRow *> &rows() const { return m_rows; } // hidden ones at the end

Q_SIGNALS:
    void editCommitted(trainyard::PlanPtr next, QString text);
    void editPreviewed(trainyard::PlanPtr next, QString text);
    void editCancelled();

private:
    void dim();

    JobAdvicePtr m_advice;
    PlanPtr m_plan;
    TextLine *m_none;
    std::vector<PartRow *> m_rows;
};

} // namespace trainyard
