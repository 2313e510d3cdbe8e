#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Schedulers of many models side by side for the plan that the document has: a small chart of each over the same time,
// what each part of Hydra is worth, how it scales, and what one more GPU buys. Works only while it is in sight. GUI
// thread.

#include "models/job_study.h"
#include "views/panels/comparison_page.h"

class QGridLayout;

namespace trainyard {

class SchedulerCell;
class VariantBars;

class JobsPage : public ComparisonPage {
    Q_OBJECT
public:
    explicit JobsPage(const Catalogue &catalogue, QWidget *parent = nullptr);

    /// as the study finds it
    void setComparison(JobComparisonPtr comparison);
    [[nodiscard]] JobStudy &study() { return m_study; }
    [[nodiscard]] const JobComparison *comparison() const { return m_comparison.get(); }
    [[nodiscard]] const std::vector<SchedulerCell *> &cells() const { return m_cells; }

    QPushButton *const solve;
    VariantBars *const ablation, *const scaling, *const oneMore;

Q_SIGNALS:
    void schedulerChosen(trainyard::JobScheduler scheduler);

private:
    void follow(const PlanPtr &plan) override { m_study.setPlan(plan); }
    void watch(bool isWatched) override { m_study.setWatched(isWatched); }
    void refresh() override;
    [[nodiscard]] QString table(QChar separator) const override;
    [[nodiscard]] QWidget *makeSchedulers();
    [[nodiscard]] QWidget *makeParts();
    void fillCells();

    JobComparisonPtr m_comparison;
    TextLine *m_scalingNote;
    QWidget *m_worth = nullptr;
    QGridLayout *m_grid = nullptr;
    std::vector<SchedulerCell *> m_cells;
    /// last: it tells this page
    JobStudy m_study;
};

} // namespace trainyard
