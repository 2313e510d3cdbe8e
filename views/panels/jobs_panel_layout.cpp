// SPDX-License-Identifier: GPL-3.0-or-later
// How the panel of jobs is laid out and wired; what it does is in jobs_panel.cpp.
#include "models/job_list_model.h"
#include "views/panels/job_list.h"
#include "views/panels/job_offers.h"
#include "views/panels/job_sheet.h"
#include "views/panels/jobs_panel.h"
#include "views/panels/strategy_entries.h"
#include "views/panels/strategy_row.h"
#include "views/parts/panel_parts.h"
#include "views/theme/icons.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

namespace {

QPushButton *button(const QString &text, const QString &tip, QWidget *parent)
{
    auto *made = new QPushButton(text, parent);
    made->setToolTip(tip);
    made->setAutoDefault(false);
    made->setFocusPolicy(Qt::StrongFocus);
    return made;
}

QToolButton *tool(const QString &name, const QString &tip, QWidget *parent)
{
    auto *made = new QToolButton(parent);
    made->setAccessibleName(name);
    made->setToolTip(tip);
    made->setFocusPolicy(Qt::TabFocus);
    return made;
}

template <class Owner, class T> const StrategyEntry *entryOfKey(T Owner::*member)
{
    const auto at = std::ranges::find(strategyEntries(), &rowOf(member), &StrategyEntry::row);
    return at == strategyEntries().end() ? nullptr : &*at;
}

} // namespace

JobsPanel::JobsPanel(const Catalogue &catalogue, QWidget *parent)
    : QWidget(parent)
    , m_catalogue(catalogue)
    , m_heading(new PanelHeading(tr("Jobs"), {}, this))
    , m_sentence(new TextLine({}, Ink::Muted, this))
    , m_facts(new TextLine({}, Ink::Muted, this))
    , m_begin(button(tr("Add jobs…"), tr("Models, batches and learning rates: every combination is a job."), this))
    , m_add(button(tr("Add…"), tr("One more job."), this))
    , m_grid(button(tr("Grid…"), tr("Many jobs at once: models × batches × learning rates."), this))
    , m_pause(button(tr("Pause"), tr("A paused job stays in the list and does not run. Space."), this))
    , m_pin(button(tr("Pin…"), tr("Which GPUs alone may run it. A job can also be dragged to a GPU's track."), this))
    , m_compare(button(tr("Compare schedulers…"), tr("All of them side by side, and what each part is worth."), this))
    , m_up(tool(tr("Move up"), tr("Earlier in the list, which decides where jobs are equal. Alt+Up."), this))
    , m_down(tool(tr("Move down"), tr("Later in the list. Alt+Down."), this))
    , m_remove(tool(tr("Remove"), tr("Takes the selected jobs out of the plan. Del."), this))
    , m_model(new JobListModel(this))
    , m_list(new JobList(*m_model, this))
    , m_offers(new JobOffers(this))
    , m_empty(emptyPage())
    , m_content(new QWidget(this))
{
    setFont(uiFont(-1));
    setAccessibleName(tr("Jobs"));
    layOut();
    wire();
}

QWidget *JobsPanel::emptyPage()
{
    auto *page = new QWidget(this);
    auto *layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, Theme::kPad, 0, 0);
    layout->setSpacing(Theme::kPad);
    auto *title = new TextLine(tr("Many models on one cluster"), Ink::Text, page);
    title->setFont(uiFont(1, QFont::DemiBold));
    auto *words = new TextLine(
        tr("Jobs train many models on the GPUs of this plan: each model is cut into shards that fit a GPU, and every "
           "GPU takes the next shard of whichever job is to go on. As long as there are jobs, the plan's own workload "
           "is set aside."),
        Ink::Muted, page);
    words->setWrapped(true);
    m_begin->setProperty("isPrimary", true);
    m_begin->setParent(page);
    layout->addWidget(title);
    layout->addWidget(words);
    layout->addWidget(m_begin, 0, Qt::AlignLeft);
    layout->addStretch(1);
    return page;
}

void JobsPanel::layOut()
{
    m_sentence->setWrapped(true);
    m_facts->setWrapped(true);
    m_facts->setObjectName(QStringLiteral("facts"));
    m_up->setArrowType(Qt::UpArrow);
    m_down->setArrowType(Qt::DownArrow);
    m_remove->setIcon(themedIcon(QStringLiteral("close")));
    auto *buttons = new QHBoxLayout;
    buttons->setSpacing(4);
    for (QPushButton *one : { m_add, m_grid, m_pause, m_pin })
        buttons->addWidget(one);
    buttons->addStretch(1);
    for (QToolButton *one : { m_up, m_down, m_remove })
        buttons->addWidget(one);
    auto *content = new QVBoxLayout(m_content);
    content->setContentsMargins(0, 0, 0, 0);
    content->setSpacing(6);
    content->addWidget(m_sentence);
    auto *options = new QVBoxLayout;
    options->setSpacing(1);
    addOptions(*content, *options);
    content->addLayout(buttons);
    content->addWidget(m_list, 1);
    content->addWidget(m_facts);
    content->addLayout(options);
    content->addWidget(m_offers);
    QVBoxLayout *layout = panelLayout(this);
    auto *head = new QHBoxLayout;
    head->setSpacing(Theme::kGap);
    head->addWidget(m_heading, 1);
    head->addWidget(m_compare);
    layout->addLayout(head);
    layout->addWidget(m_empty, 1);
    layout->addWidget(m_content, 1);
}

/// The scheduler first, where it is seen without scrolling, and what it is compared by; its options below the list.
void JobsPanel::addOptions(QVBoxLayout &above, QVBoxLayout &below)
{
    for (const StrategyEntry *entry :
        { entryOfKey(&Plan::jobScheduler), entryOfKey(&JobOptions::remaining), entryOfKey(&JobOptions::spill),
            entryOfKey(&JobOptions::doubleBuffer), entryOfKey(&JobOptions::lookAhead) }) {
        if (!entry)
            continue;
        const Key &key = entry->row->key;
        auto *row = new StrategyRow(*entry, QString::fromUtf8(entry->isPart ? "  " : "") + QString::fromUtf8(key.title),
            QString::fromUtf8(key.help), m_content);
        connect(row, &StrategyRow::chosen, this, &JobsPanel::editCommitted);
        connect(row, &StrategyRow::previewed, this, &JobsPanel::editPreviewed);
        connect(row, &StrategyRow::previewEnded, this, &JobsPanel::editCancelled);
        (m_rows.empty() ? above : below).addWidget(row);
        m_rows.push_back(row);
    }
}

void JobsPanel::wire()
{
    connect(m_begin, &QPushButton::clicked, this, &JobsPanel::addGrid);
    connect(m_add, &QPushButton::clicked, this, &JobsPanel::add);
    connect(m_compare, &QPushButton::clicked, this, &JobsPanel::comparisonRequested);
    connect(m_grid, &QPushButton::clicked, this, &JobsPanel::addGrid);
    connect(m_pause, &QPushButton::clicked, this, &JobsPanel::pauseChosen);
    connect(m_pin, &QPushButton::clicked, this, &JobsPanel::pinChosen);
    connect(m_up, &QToolButton::clicked, this, [this] { moveChosen(-1); });
    connect(m_down, &QToolButton::clicked, this, [this] { moveChosen(1); });
    connect(m_remove, &QToolButton::clicked, this, &JobsPanel::removeChosen);
    connect(m_list, &JobList::chosenChanged, this, &JobsPanel::showChosen);
    connect(m_list, &JobList::picked, this, &JobsPanel::jobPicked);
    connect(m_list, &JobList::pauseAsked, this, &JobsPanel::pauseChosen);
    connect(m_list, &JobList::removeAsked, this, &JobsPanel::removeChosen);
    connect(m_list, &JobList::moveAsked, this, &JobsPanel::moveChosen);
    connect(m_list, &JobList::detailsAsked, this, &JobsPanel::editChosen);
    connect(m_list, &JobList::menuAsked, this, &JobsPanel::openMenu);
    connect(m_model, &JobListModel::batchTyped, this,
        [this](int row, int batch) { commit(withBatch(*m_plan, chosenWith(row), batch)); });
    connect(m_model, &JobListModel::stepsTyped, this, &JobsPanel::setSteps);
    connect(m_model, &JobListModel::deadlineTyped, this,
        [this](int row, std::optional<double> seconds) { commit(withDeadline(*m_plan, chosenWith(row), seconds)); });
    connect(m_model, &JobListModel::nameTyped, this, [this](int row, const QString &name) {
        Job job = allJobs(*m_plan, std::size_t(row) + 1)[std::size_t(row)];
        job.name = name.toStdString();
        commit(withJobChanged(*m_plan, row, job));
    });
    connect(m_model, &JobListModel::dropped, this, [this](const QString &name, int before) {
        const int from = jobNamed(*m_plan, name), to = before > from ? before - 1 : before;
        commit(withJobMoved(*m_plan, from, to), to);
    });
    connect(m_model, &JobListModel::refused, this, [this](const QString &why) {
        m_facts->setText(why);
        m_facts->setInk(Ink::Bad);
        m_facts->show();
    });
    connect(m_offers, &JobOffers::editCommitted, this, &JobsPanel::editCommitted);
    connect(m_offers, &JobOffers::editPreviewed, this, &JobsPanel::editPreviewed);
    connect(m_offers, &JobOffers::editCancelled, this, &JobsPanel::editCancelled);
}

void JobsPanel::openMenu(QPoint globalPos)
{
    const std::vector<int> chosen = m_list->chosen();
    auto *menu = new QMenu(this); // shown without blocking
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const auto add = [&](const QString &text, bool isEnabled, auto run) {
        QAction *action = menu->addAction(text);
        action->setEnabled(isEnabled);
        connect(action, &QAction::triggered, this, run);
    };
    const bool one = chosen.size() == 1, any = !chosen.empty();
    bool isPinned = false;
    for (const int row : chosen)
        isPinned = isPinned || m_model->row(row).isPinned;
    add(tr("Edit…"), one, [this] { editChosen(); });
    add(tr("Clone as a grid…"), one, [this] { cloneChosen(); });
    add(m_pause->text(), any, [this] { pauseChosen(); });
    menu->addSeparator();
    add(tr("Pin to GPUs…"), any, [this] { pinChosen(); });
    add(tr("Run on any GPU"), isPinned, [this, chosen] { commit(withPins(*m_plan, chosen, {})); });
    add(tr("Move up"), m_up->isEnabled(), [this] { moveChosen(-1); });
    add(tr("Move down"), m_down->isEnabled(), [this] { moveChosen(1); });
    menu->addSeparator();
    add(tr("Remove"), any, [this] { removeChosen(); });
    menu->addSeparator();
    add(tr("Copy as a table"), true, [this] { QApplication::clipboard()->setText(toTsv()); });
    menu->popup(globalPos);
}

} // namespace trainyard
