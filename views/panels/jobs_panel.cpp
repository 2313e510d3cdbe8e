// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/jobs_panel.h"

#include "core/evaluation/advice/alternatives.h"
#include "models/job_list_model.h"
#include "views/panels/job_form.h"
#include "views/panels/job_grid_sheet.h"
#include "views/panels/job_list.h"
#include "views/panels/job_offers.h"
#include "views/panels/job_pin_sheet.h"
#include "views/panels/strategy_row.h"
#include "views/parts/panel_parts.h"

#include <QPushButton>
#include <QToolButton>

#include <algorithm>
#include <map>
#include <utility>

namespace trainyard {

namespace {

constexpr int kShownRows = 12;

/// What is shown again in other words at the top of the window is said here as a sentence.
QString sentenceOf(const JobSummary &summary)
{
    if (summary.makespan.isEmpty())
        return {};
    QString text = JobsPanel::tr("All jobs take %1").arg(summary.makespan);
    if (!summary.distance.isEmpty())
        text += QStringLiteral(", ") + summary.distance;
    return text + u'.';
}

} // namespace

void JobsPanel::setShown(const Shown &shown)
{
    const bool isSameList = shown.plan && shown.base && jobCount(*shown.plan) == jobCount(*shown.base);
    m_shownPlan = isSameList ? shown.plan : shown.base; // a row is a job of the plan that edits start from
    m_evaluation = isSameList || !shown.isPreview() ? shown.evaluation : m_evaluation;
    if (shown.base != m_plan)
        takePlan(shown.base);
    else
        refresh();
}

void JobsPanel::takePlan(const PlanPtr &plan)
{
    const bool isOwn = std::exchange(m_isCommitting, false);
    m_plan = plan;
    if (m_sheet && !isOwn)
        m_sheet->deleteLater(); // it is about jobs by their places, which may be others now
    std::map<std::string, std::vector<Alternative>> byGroup;
    if (m_plan)
        for (Alternative &a : jobAlternatives(*m_plan))
            byGroup[a.group].push_back(std::move(a));
    for (StrategyRow *row : m_rows)
        row->setAlternatives(std::move(byGroup[row->group().toStdString()]));
    m_offers->setPlan(m_plan);
    showEffects();
    refresh();
    if (const int next = std::exchange(m_chooseNext, -1); next >= 0)
        m_list->choose(next);
}

void JobsPanel::setEffects(EffectTablePtr effects)
{
    m_effects = std::move(effects);
    showEffects();
}

void JobsPanel::setAdvice(JobAdvicePtr advice)
{
    m_offers->setAdvice(std::move(advice));
}

void JobsPanel::setStale(bool isStale)
{
    m_isStale = isStale;
    m_list->setDimmed(isStale);
    m_sentence->setDimmed(isStale);
}

void JobsPanel::showJob(int job)
{
    if (job >= 0 && m_list->chosen() != std::vector { job })
        m_list->choose(job);
}

void JobsPanel::setOutdated(bool isOutdated)
{
    if (std::exchange(m_isOutdated, isOutdated) != isOutdated)
        showEffects();
}

void JobsPanel::showEffects()
{
    const bool isOld = m_isOutdated || (m_effects && m_effects->plan != m_plan);
    for (StrategyRow *row : m_rows)
        row->setEffects(m_effects.get(), isOld);
}

/// Only in sight: there may be thousands of jobs, and an evaluation a frame.
void JobsPanel::refresh()
{
    m_isDue = !isVisible();
    if (m_isDue)
        return;
    const bool has = m_plan && hasJobs(*m_plan);
    m_empty->setVisible(m_plan && !has);
    m_content->setVisible(has);
    m_heading->setVisible(has);
    m_compare->setVisible(has);
    if (!has) {
        m_model->setRows({});
        return;
    }
    JobTable table = jobTable(*m_shownPlan, m_evaluation.get());
    showSentence(table.summary);
    m_model->setRows(std::move(table.rows));
    m_list->fitHeight(kShownRows);
    showChosen();
}

void JobsPanel::showSentence(const JobSummary &summary)
{
    m_heading->note->setText(summary.counts);
    m_sentence->setText(m_evaluation ? sentenceOf(summary) : tr("This plan cannot be evaluated. See Problems."));
    m_sentence->setToolTip(m_evaluation ? summary.boundFacts : QString()); // the list has the room
    m_sentence->setInk(m_evaluation ? Ink::Muted : Ink::Bad);
    m_sentence->setVisible(!m_sentence->text().isEmpty());
}

void JobsPanel::showChosen()
{
    const std::vector<int> chosen = m_list->chosen();
    const int count = m_model->rowCount();
    const bool any = !chosen.empty() && chosen.back() < count;
    bool allPaused = any;
    for (const int row : chosen)
        allPaused = allPaused && row < count && m_model->row(row).isPaused;
    m_pause->setText(allPaused ? tr("Resume") : tr("Pause"));
    for (QWidget *button : std::initializer_list<QWidget *> { m_pause, m_pin, m_remove })
        button->setEnabled(any);
    m_up->setEnabled(chosen.size() == 1 && any && chosen.front() > 0);
    m_down->setEnabled(chosen.size() == 1 && any && chosen.front() + 1 < count);
    QString facts;
    if (chosen.size() == 1 && any) {
        const JobRow &row = m_model->row(chosen.front());
        const QString told = row.state == JobState::Paused ? tr("It is paused and does not run.")
            : row.why.isEmpty()                            ? row.facts
                                                           : row.why;
        facts = told.isEmpty() ? row.name : QStringLiteral("%1: %2").arg(row.name, told);
        m_facts->setInk(row.state == JobState::CannotRun ? Ink::Bad : Ink::Muted);
    } else if (chosen.size() > 1) {
        facts = tr("%1 jobs are selected: what is typed into one of them is typed into all.").arg(chosen.size());
        m_facts->setInk(Ink::Muted);
    }
    m_facts->setText(facts);
    m_facts->setVisible(!facts.isEmpty());
}

std::vector<int> JobsPanel::chosenWith(int row) const
{
    const std::vector<int> chosen = m_list->chosen();
    return std::ranges::find(chosen, row) != chosen.end() ? chosen : std::vector { row };
}

void JobsPanel::commit(const JobEdit &edit, int choose)
{
    if (!edit)
        return;
    m_chooseNext = choose;
    m_isCommitting = true;
    Q_EMIT editCommitted(edit.plan, edit.text);
    m_isCommitting = false;
}

void JobsPanel::setSteps(int row, int minibatches, int epochs)
{
    const std::vector<int> jobs = chosenWith(row);
    JobEdit edit = withMinibatches(*m_plan, jobs, minibatches);
    const JobEdit second = withEpochs(edit ? *edit.plan : *m_plan, jobs, epochs);
    if (second)
        edit = { second.plan, edit ? tr("%1, epochs → %2").arg(edit.text).arg(epochs) : second.text };
    commit(edit);
}

Job JobsPanel::startingJob() const
{
    const std::vector<int> chosen = m_list->chosen();
    if (m_plan && chosen.size() == 1) {
        const std::vector<Job> all = allJobs(*m_plan, std::size_t(chosen.front()) + 1);
        if (chosen.front() < int(all.size()))
            return all[std::size_t(chosen.front())];
    }
    return m_plan ? jobToStartFrom(*m_plan, m_catalogue) : Job {};
}

/// The one that was open gives way.
template <class Sheet> Sheet *JobsPanel::opened(Sheet *sheet)
{
    if (m_sheet)
        m_sheet->deleteLater();
    m_sheet = sheet;
    const QPointer<QWidget> before = focusWidget();
    connect(sheet, &JobSheet::closed, this, [this, before] {
        if (before && before->isVisible())
            before->setFocus(Qt::OtherFocusReason);
        else if (m_list->isVisible())
            m_list->setFocus(Qt::OtherFocusReason);
    });
    sheet->openBeside(this);
    return sheet;
}

void JobsPanel::add()
{
    if (!m_plan)
        return;
    Job job = startingJob();
    job.name.clear();
    job.unitMs.clear();
    job.paused = false;
    auto *form = opened(new JobForm(m_catalogue, job, true, window()));
    connect(form, &JobSheet::accepted, this, [this, form] {
        commit(withJobAdded(*m_plan, form->job()), int(m_plan->jobs.size())); // behind those of the list
    });
}

void JobsPanel::addGrid()
{
    if (!m_plan)
        return;
    auto *sheet = opened(new JobGridSheet(m_catalogue, startingJob(), {}, window()));
    connect(sheet, &JobSheet::accepted, this, [this, sheet] {
        commit(withGrid(*m_plan, sheet->grid()), int(jobCount(*m_plan)));
        m_list->setFocus(Qt::OtherFocusReason);
    });
}

void JobsPanel::cloneChosen()
{
    const std::vector<int> chosen = m_list->chosen();
    if (!m_plan || chosen.size() != 1)
        return;
    const int job = chosen.front();
    auto *sheet = opened(new JobGridSheet(m_catalogue, startingJob(), jobsText(*m_plan, chosen), window()));
    connect(sheet, &JobSheet::accepted, this,
        [this, sheet, job] { commit(withClones(*m_plan, job, sheet->grid()), job + 1); });
}

void JobsPanel::editChosen()
{
    const std::vector<int> chosen = m_list->chosen();
    if (!m_plan || chosen.size() != 1)
        return;
    const int job = chosen.front();
    auto *form = opened(new JobForm(m_catalogue, startingJob(), false, window()));
    connect(form, &JobSheet::accepted, this, [this, form, job] { commit(withJobChanged(*m_plan, job, form->job())); });
}

void JobsPanel::pauseChosen()
{
    const std::vector<int> chosen = m_list->chosen();
    if (!m_plan || chosen.empty())
        return;
    const bool areAllPaused = std::ranges::all_of(chosen, [this](int row) { return m_model->row(row).isPaused; });
    commit(withJobsPaused(*m_plan, chosen, !areAllPaused));
}

void JobsPanel::pinChosen()
{
    const std::vector<int> chosen = m_list->chosen();
    if (!m_plan || chosen.empty())
        return;
    const std::vector<int> pinned = allJobs(*m_plan)[std::size_t(chosen.front())].pinnedGpus;
    auto *sheet = opened(new JobPinSheet(*m_plan, jobsText(*m_plan, chosen), pinned, window()));
    connect(
        sheet, &JobSheet::accepted, this, [this, sheet, chosen] { commit(withPins(*m_plan, chosen, sheet->gpus())); });
}

void JobsPanel::removeChosen()
{
    const std::vector<int> chosen = m_list->chosen();
    if (m_plan && !chosen.empty())
        commit(withJobsRemoved(*m_plan, chosen), chosen.front());
}

void JobsPanel::moveChosen(int by)
{
    const std::vector<int> chosen = m_list->chosen();
    if (!m_plan || chosen.size() != 1)
        return;
    const int to = chosen.front() + by;
    if (to >= 0 && to < m_model->rowCount())
        commit(withJobMoved(*m_plan, chosen.front(), to), to);
}

StrategyRow *JobsPanel::row(const std::string &group) const
{
    const auto at =
        std::ranges::find_if(m_rows, [&](const StrategyRow *row) { return row->group().toStdString() == group; });
    return at == m_rows.end() ? nullptr : *at;
}

JobSheet *JobsPanel::sheet() const
{
    return m_sheet && m_sheet->isVisible() ? m_sheet.data() : nullptr;
}

QString JobsPanel::toTsv() const
{
    return m_model->toTsv();
}

void JobsPanel::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    if (m_isDue)
        refresh();
    Q_EMIT watched(true);
}

void JobsPanel::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    Q_EMIT watched(false);
}

} // namespace trainyard
