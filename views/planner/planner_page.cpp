// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/planner/planner_page.h"

#include "models/plan_command.h"
#include "models/planner_words.h"
#include "views/export/file_target.h"
#include "views/export/panel_menu.h"
#include "views/export/panel_picture.h"
#include "views/panels/evidence_table.h"
#include "views/parts/panel_parts.h"
#include "views/parts/reading_order.h"
#include "views/planner/candidate_card.h"
#include "views/planner/planner_form.h"
#include "views/planner/planner_tables.h"
#include "views/planner/scatter_legend.h"
#include "views/planner/search_scatter.h"
#include "views/planner/step_list.h"
#include "views/theme/theme.h"

#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QShortcut>
#include <QStackedLayout>
#include <QStyle>
#include <QToolButton>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kFrameMs = 33, kBarSteps = 1000;
constexpr int kWhatChanges = 6; // a column

} // namespace

PlannerPage::PlannerPage(PlanSearch &search, QWidget *parent)
    : QWidget(parent)
    , back(new QPushButton(tr("‹ Back to the plan"), this))
    , exportCsv(new QPushButton(tr("Export CSV…"), this))
    , run(new QPushButton(this))
    , invite(new QPushButton(tr("Let it search"), this))
    , picture(new QToolButton(this))
    , form(new PlannerForm(search))
    , scatter(new SearchScatter)
    , legend(new ScatterLegend)
    , best(new EvidenceTable(tr("The best candidates"), kWhatChanges))
    , leftOut(new EvidenceTable(tr("What was left out, and why"), 0))
    , candidate(new CandidateCard(search))
    , bar(new QProgressBar(this))
    , m_search(search)
    , m_title(new TextLine(tr("Planner"), Ink::Text, this))
    , m_progress(new TextLine({}, Ink::Muted, this))
    , m_result(new TextLine({}, Ink::Text, this))
    , m_note(new TextLine({}, Ink::Warning, this))
    , m_invitation(new TextLine({}, Ink::Muted, this))
    , m_body(new QWidget(this))
    , m_bestModel(new TextTableModel(this))
    , m_leftOutModel(new TextTableModel(this))
{
    setAccessibleName(tr("Planner"));
    setFocusPolicy(Qt::ClickFocus); // keys are this page's, whatever was clicked last
    arrange();
    wire();
    m_frame.setSingleShot(true);
    m_frame.setInterval(kFrameMs);
    showState();
    showRows(false);
}

void PlannerPage::wire()
{
    auto *menu = new QMenu(picture);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        menu->clear();
        addPictureActions(*menu, m_body, tr("%1 planner").arg(m_name));
    });
    picture->setMenu(menu);
    setPanelTable(m_body, [this] { return best->toTsv(); });
    scatter->setDescriber([this](int row) { return candidateTip(m_search, std::size_t(row)); });
    connect(back, &QPushButton::clicked, this, &PlannerPage::closed);
    connect(exportCsv, &QPushButton::clicked, this, &PlannerPage::saveCsv);
    connect(run, &QPushButton::clicked, this, &PlannerPage::runOrStop);
    connect(invite, &QPushButton::clicked, this, &PlannerPage::runOrStop);
    connect(scatter, &SearchScatter::rowChosen, this, &PlannerPage::chooseOnPurpose);
    connect(scatter, &SearchScatter::rowActivated, this, &PlannerPage::tryRow);
    const auto rowOf = [this](const QModelIndex &index) {
        return std::size_t(index.row()) < m_shownBest.size() ? int(m_shownBest[std::size_t(index.row())]) : -1;
    };
    connect(best->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this, rowOf](const auto &index) {
        if (index.isValid() && !m_isMarking)
            chooseOnPurpose(rowOf(index));
    });
    connect(best, &QAbstractItemView::clicked, this,
        [this, rowOf](const QModelIndex &index) { chooseOnPurpose(rowOf(index)); });
    connect(
        best, &QAbstractItemView::activated, this, [this, rowOf](const QModelIndex &index) { tryRow(rowOf(index)); });
    connect(candidate, &CandidateCard::tryRequested, this, &PlannerPage::tryRow);
    connect(candidate, &CandidateCard::adoptRequested, this, &PlannerPage::adoptRow);
    connect(candidate->steps, &StepList::editCommitted, this, &PlannerPage::editCommitted);
    auto *escape = new QShortcut(QKeySequence(Qt::Key_Escape), this, nullptr, nullptr, Qt::WidgetWithChildrenShortcut);
    connect(escape, &QShortcut::activated, this, &PlannerPage::closed);
    connect(&m_frame, &QTimer::timeout, this, [this] { showRows(true); });
    connect(&m_search, &PlanSearch::rowsAdded, this, [this] {
        if (!m_frame.isActive() && isVisible())
            m_frame.start();
    });
    for (const auto signal : { &PlanSearch::started, &PlanSearch::cleared })
        connect(&m_search, signal, this, [this] {
            m_isAnew = true;
            m_chosen.reset();
            choose(-1);
            refreshNow();
        });
    connect(&m_search, &PlanSearch::ended, this, [this] {
        m_isAnew = true; // their order may be another
        refreshNow();
    });
    connect(&m_search, &PlanSearch::planChanged, this, [this] {
        if (isVisible()) // else with the rest, when it is looked at
            refreshAll();
    });
    connect(&m_search, &PlanSearch::settingsChanged, this, &PlannerPage::showState);
    // Form and steps are listed anew before: they were told first.
    for (const auto signal : { &PlanSearch::settingsChanged, &PlanSearch::stepsChanged, &PlanSearch::ended })
        connect(&m_search, signal, this, [this] { tabInReadingOrder(*this); });
    tabInReadingOrder(*this);
}

void PlannerPage::refreshAll()
{
    form->refresh();
    refreshNow();
    tabInReadingOrder(*this);
}

void PlannerPage::refreshNow()
{
    m_frame.stop();
    showState();
    showRows(false);
}

void PlannerPage::runOrStop()
{
    if (m_search.state() == PlanSearch::State::Searching)
        m_search.stop();
    else
        m_search.start();
}

void PlannerPage::choose(int row)
{
    scatter->setCurrent(row);
    candidate->setRow(row);
    markBest(row);
}

/// The line of a row in the table of the best, which is nobody's choice.
void PlannerPage::markBest(int row)
{
    m_isMarking = true;
    const auto place = row < 0 ? m_shownBest.end() : std::ranges::find(m_shownBest, std::size_t(row));
    if (place != m_shownBest.end())
        best->selectRow(int(place - m_shownBest.begin()));
    else
        best->clearSelection();
    m_isMarking = false;
}

void PlannerPage::chooseOnPurpose(int row)
{
    if (row < 0 || row >= int(m_search.rows().size()))
        return;
    m_chosen = m_search.rows()[std::size_t(row)].number;
    choose(row);
}

QString PlannerPage::textOf(const Plan &plan) const
{
    return m_search.plan() ? describeEdit(*m_search.plan(), plan) : QString();
}

void PlannerPage::tryRow(int row)
{
    if (row < 0)
        return;
    chooseOnPurpose(row);
    m_search.withWrittenPlan(std::size_t(row), this, [this](const PlanPtr &plan) {
        candidate->refresh(); // what it gives back is certain now
        if (!m_search.plan() || *plan != *m_search.plan())
            Q_EMIT tryRequested(plan, textOf(*plan));
    });
}

void PlannerPage::adoptRow(int row)
{
    if (row < 0)
        return;
    m_search.withWrittenPlan(std::size_t(row), this,
        [this](const PlanPtr &plan) { Q_EMIT editCommitted(plan, tr("Planner: %1").arg(textOf(*plan))); });
}

void PlannerPage::showRows(bool isFrame)
{
    const std::vector<SearchRow> &rows = m_search.rows();
    scatter->setRows(rows, std::exchange(m_isAnew, false));
    const auto bestRow = m_search.best().empty() ? std::nullopt : std::optional<std::size_t>(m_search.best().front());
    scatter->setMarks(m_search.own(), bestRow, frontOf(m_search));
    std::array<std::size_t, 5> counts {};
    for (const SearchRow &row : rows)
        ++counts[std::size_t(row.state)];
    legend->setCounts(counts);
    showTables(isFrame);
    showProgress();
    // The best is chosen until somebody chooses. Rows may have moved, not their numbers.
    int wanted = bestRow ? int(*bestRow) : -1;
    if (const auto &result = m_search.result(); !bestRow && result && result->nearest)
        wanted = int(*result->nearest); // of what breaks a limit, that which misses it least
    if (m_chosen) {
        const int now = candidate->row();
        const bool isThere = now >= 0 && now < int(rows.size()) && rows[std::size_t(now)].number == *m_chosen;
        const auto found = isThere ? rows.begin() + now : std::ranges::find(rows, *m_chosen, &SearchRow::number);
        wanted = found == rows.end() ? wanted : int(found - rows.begin());
    }
    if (wanted != candidate->row() || !isFrame)
        choose(wanted);
    else
        candidate->refresh();
    exportCsv->setEnabled(!rows.empty());
    picture->setEnabled(!rows.empty());
}

/// A table that is set anew forgets what is selected and where it was scrolled to: only where it says something else.
void PlannerPage::showTables(bool isFrame)
{
    if (!isFrame || m_shownBest != m_search.best()) {
        m_shownBest = m_search.best();
        m_bestModel->setTable(bestTable(m_search));
        markBest(candidate->row());
    }
    if (!isFrame || leftOut->isVisible())
        m_leftOutModel->setTable(leftOutTable(m_search));
}

void PlannerPage::showProgress()
{
    const PlanSearch::Progress &progress = m_search.progress();
    m_progress->setText(m_search.state() == PlanSearch::State::Empty ? QString() : progressText(progress));
    const double most = m_search.asked().seconds.value_or(0);
    const double share = most > 0 ? progress.seconds / most
        : progress.total > 0      ? double(progress.looked) / double(progress.total)
                                  : 0;
    bar->setRange(0, kBarSteps);
    bar->setValue(int(kBarSteps * std::min(1.0, share)));
}

void PlannerPage::showState()
{
    using State = PlanSearch::State;
    const State state = m_search.state();
    const bool isSearching = state == State::Searching;
    run->setText(isSearching        ? (m_search.isStopping() ? tr("Stopping…") : tr("Stop"))
            : state == State::Empty ? tr("Start")
                                    : tr("Search again"));
    run->setToolTip(isSearching ? tr("Keeps the best of what was looked at") : tr("Looks for a better plan"));
    run->setEnabled(m_search.plan() && !m_search.isStopping());
    const bool wasPrimary = run->property("isPrimary").toBool();
    if (const bool isPrimary = !isSearching && state != State::Empty; wasPrimary != isPrimary) {
        run->setProperty("isPrimary", isPrimary);
        run->style()->unpolish(run); // the sheet looks at properties once
        run->style()->polish(run);
    }
    invite->setEnabled(m_search.plan() != nullptr);
    invite->setVisible(state == State::Empty);
    bar->setVisible(isSearching);
    const QString result = resultText(m_search);
    const bool isPlot = state == State::Searching || state == State::Ended;
    m_middle->setCurrentWidget(isPlot ? m_plot : m_empty);
    m_invitation->setText(result);
    m_result->setText(result);
    m_result->setVisible(isPlot);
    m_result->setInk(state == State::Ended && m_search.best().empty() ? Ink::Bad : Ink::Text);
    m_invitation->setInk(state == State::Refused ? Ink::Bad : Ink::Muted);
    scatter->setEmptyText(isSearching ? tr("The first candidates are on their way…")
                                      : tr("No candidate could be simulated: “Left out” says why."));
    const QString stale = staleText(m_search), binding = bindingText(m_search);
    m_note->setText(stale.isEmpty() ? binding : stale);
    m_note->setInk(stale.isEmpty() ? Ink::Muted : Ink::Warning);
    m_note->setVisible(!m_note->text().isEmpty());
    scatter->setFaded(m_search.isOfEarlierPlan());
}

void PlannerPage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    refreshAll(); // what came while nobody looked
}

QString PlannerPage::resultLine() const
{
    return m_result->isHidden() ? m_invitation->text() : m_result->text();
}

QString PlannerPage::progressLine() const
{
    return m_progress->text();
}

QString PlannerPage::noteLine() const
{
    return m_note->isHidden() ? QString() : m_note->text();
}

void PlannerPage::saveCsv()
{
    FileTarget *target = FileTarget::of(this);
    if (!target || m_search.rows().empty())
        return;
    const QByteArray csv = candidatesCsv(m_search); // as it is now, not after the dialog
    const QString path = target->ask(tr("Export: candidates of the planner"), tr("candidates") + QStringLiteral(".csv"),
        QStringLiteral(".csv"), tr("Comma-separated values (*.csv)"));
    if (!path.isEmpty())
        target->write(tr("Candidates"), path, csv);
}

} // namespace trainyard
