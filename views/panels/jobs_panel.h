#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Many models on the plan's GPUs: the list of jobs, what they come to, who decides what a GPU does next, and what one
// GPU more would buy. It edits the plan's jobs, each edit one step to undo with a sentence of its own, and shows
// whatever plan the window shows, also while GPUs are dragged. GUI thread.

#include "core/facts/catalogue/catalogue.h"
#include "models/effects.h"
#include "models/job_advice.h"
#include "models/job_edits.h"
#include "models/job_rows.h"
#include "models/shown.h"

#include <QPointer>
#include <QWidget>

#include <vector>

class QPushButton;
class QToolButton;
class QVBoxLayout;

namespace trainyard {

class JobList;
class JobListModel;
class JobOffers;
class JobSheet;
class PanelHeading;
class StrategyRow;
class TextLine;

class JobsPanel : public QWidget {
    Q_OBJECT
public:
    explicit JobsPanel(const Catalogue &catalogue, QWidget *parent = nullptr);

    /// the document's: what edits are made in
    void setShown(const Shown &shown);
    void setEffects(EffectTablePtr effects);
    void setAdvice(JobAdvicePtr advice);
    void setStale(bool isStale);
    /// It was picked elsewhere, as allJobs() counts; below 0: nothing changes.
    void showJob(int job);
    /// Another plan than the document's is shown: effects are not of it.
    void setOutdated(bool isOutdated);

    /// a form for one
    void add();
    /// a form for many
    void addGrid();
    void cloneChosen();
    void editChosen();
    /// or resumes them, where all are paused
    void pauseChosen();
    void pinChosen();
    void removeChosen();
    void moveChosen(int by);

    [[nodiscard]] JobList *list() const { return m_list; }
    [[nodiscard]] JobListModel *model() const { return m_model; }
    /// nullptr where there is none
    [[nodiscard]] StrategyRow *row(const std::string &group) const;
    /// that is open; else null
    [[nodiscard]] JobSheet *sheet() const;
    [[nodiscard]] TextLine *sentenceLine() const { return m_sentence; }
    [[nodiscard]] TextLine *factsLine() const { return m_facts; }
    [[nodiscard]] JobOffers *offers() const { return m_offers; }
    [[nodiscard]] QPushButton *beginButton() const { return m_begin; } // of the page without jobs
    [[nodiscard]] QString toTsv() const;

Q_SIGNALS:
    void editCommitted(trainyard::PlanPtr next, QString text);
    void editPreviewed(trainyard::PlanPtr next, QString text);
    void editCancelled();
    void watched(bool isWatched);
    /// it is to stand out elsewhere; -1: none is
    void jobPicked(int job);
    /// of all schedulers, side by side
    void comparisonRequested();

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    void takePlan(const PlanPtr &plan);
    void layOut();
    [[nodiscard]] QWidget *emptyPage();
    void addOptions(QVBoxLayout &above, QVBoxLayout &below);
    void wire();
    void refresh();
    void showSentence(const JobSummary &summary);
    /// facts of the current job, and which buttons make sense
    void showChosen();
    void showEffects();
    void commit(const JobEdit &edit, int choose = -1);
    void setSteps(int row, int minibatches, int epochs);
    /// all that are chosen, where the row is one of them
    [[nodiscard]] std::vector<int> chosenWith(int row) const;
    void openMenu(QPoint globalPos);
    template <class Sheet> Sheet *opened(Sheet *sheet);
    [[nodiscard]] Job startingJob() const;

    const Catalogue &m_catalogue;
    /// that edits start from; that is shown
    PlanPtr m_plan, m_shownPlan;
    EvaluationPtr m_evaluation;
    EffectTablePtr m_effects;
    bool m_isStale = false, m_isOutdated = false, m_isCommitting = false, m_isDue = true;
    int m_chooseNext = -1;
    PanelHeading *m_heading;
    TextLine *m_sentence, *m_facts;
    QPushButton *m_begin, *m_add, *m_grid, *m_pause, *m_pin, *m_compare;
    QToolButton *m_up, *m_down, *m_remove;
    JobListModel *m_model;
    JobList *m_list;
    JobOffers *m_offers;
    QWidget *m_empty, *m_content;
    std::vector<StrategyRow *> m_rows;
    QPointer<JobSheet> m_sheet;
};

} // namespace trainyard
