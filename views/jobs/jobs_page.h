#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Schedulers of many models side by side for the plan that the document has: a small chart of each over the same time,
// what each part of Hydra is worth, how it scales, and what one more GPU buys. Works only while it is in sight. GUI
// thread.

#include "models/job_study.h"

#include <QWidget>

class QGridLayout;
class QPushButton;
class QToolButton;

namespace trainyard {

class SchedulerCell;
class SectionTitle;
class TextLine;
class VariantBars;

class JobsPage : public QWidget {
    Q_OBJECT
public:
    explicit JobsPage(const Catalogue &catalogue, QWidget *parent = nullptr);

    void setPlan(const PlanPtr &plan, const QString &name); // the document's
    void setComparison(JobComparisonPtr comparison); // as the study finds it
    [[nodiscard]] JobStudy &study() { return m_study; }
    [[nodiscard]] const JobComparison *comparison() const { return m_comparison.get(); }
    [[nodiscard]] const std::vector<SchedulerCell *> &cells() const { return m_cells; }
    [[nodiscard]] QString toTsv() const;

    QPushButton *const back, *const exportCsv, *const solve;
    QToolButton *const picture;
    VariantBars *const ablation, *const scaling, *const oneMore;

Q_SIGNALS:
    void closed();
    void schedulerChosen(trainyard::JobScheduler scheduler);
    void completed(); // all that is compared is there, or why nothing is

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    void arrange();
    [[nodiscard]] QWidget *makeSchedulers();
    [[nodiscard]] QWidget *makeParts();
    void fillCells();
    void refresh();
    void saveCsv();

    QString m_name;
    PlanPtr m_plan;
    JobComparisonPtr m_comparison;
    TextLine *m_title, *m_overview, *m_result, *m_empty, *m_scalingNote;
    QWidget *m_body, *m_nothing, *m_parts;
    QGridLayout *m_grid = nullptr;
    std::vector<SchedulerCell *> m_cells;
    JobStudy m_study; // last: it tells this page
};

} // namespace trainyard
