// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/validation/validation_page.h"

#include "models/validation/summary_model.h"
#include "models/validation/text_table_model.h"
#include "views/panels/card.h"
#include "views/panels/evidence_table.h"
#include "views/parts/page_head.h"
#include "views/theme/theme.h"
#include "views/validation/rows_panel.h"
#include "views/validation/scatter_card.h"
#include "views/validation/scatter_plot.h"
#include "views/validation/source_legend.h"
#include "views/validation/validation_header.h"

#include <QLineEdit>
#include <QPushButton>
#include <QShortcut>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QVBoxLayout>

#include <utility>

#include <algorithm>

namespace trainyard {

ValidationPage::ValidationPage(ValidationRunner &runner, QWidget *parent)
    : QWidget(parent)
    , header(new ValidationHeader(this))
    , summary(new EvidenceTable(tr("Errors by source"), SummaryModel::Metric))
    , gates(new EvidenceTable(tr("Gates"), 0))
    , ranges(new EvidenceTable(tr("Ranges of the confidence label"), 0))
    , leftOut(new EvidenceTable(tr("Rows that are left out"), 2))
    , scatter(new ScatterCard)
    , rows(new RowsPanel)
    , m_runner(runner)
    , m_summary(new SummaryModel(this))
    , m_summaryOrder(new QSortFilterProxyModel(this))
    , m_gates(new TextTableModel(this))
    , m_ranges(new TextTableModel(this))
    , m_leftOut(new TextTableModel(this))
    , m_rowsSplit(splitter(Qt::Vertical, tr("Summary and rows"), this))
    , m_topSplit(splitter(Qt::Horizontal, tr("Summary and plot"), this))
    , m_upper(new TabbedCard(tr("Summary")))
    , m_lower(new TabbedCard(tr("Details")))
{
    m_summaryOrder->setSourceModel(m_summary);
    m_summaryOrder->setSortRole(SortRole);
    summary->setModel(m_summaryOrder);
    summary->setSelectionMode(QAbstractItemView::SingleSelection);
    summary->setSortingEnabled(true);
    summary->sortByColumn(-1, Qt::AscendingOrder);
    gates->setModel(m_gates);
    ranges->setModel(m_ranges);
    leftOut->setModel(m_leftOut);
    arrange();
    connectRunner();
    connectParts();
    auto *escape = new QShortcut(QKeySequence(Qt::Key_Escape), this, nullptr, nullptr, Qt::WidgetWithChildrenShortcut);
    connect(escape, &QShortcut::activated, this, &ValidationPage::closed);
    showResult(m_runner.result());
}

void ValidationPage::arrange()
{
    m_upper->addTab(summary, tr("Sources"));
    m_upper->addTab(gates, tr("Gates"));
    m_upper->addTab(ranges, tr("Ranges"));
    m_lower->addTab(rows, tr("Rows"));
    m_lower->addTab(leftOut, tr("Left out"));
    m_topSplit->addWidget(m_upper);
    m_topSplit->addWidget(new Card(scatter));
    m_rowsSplit->addWidget(m_topSplit);
    m_rowsSplit->addWidget(m_lower);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(Theme::kGap, 0, Theme::kGap, Theme::kGap);
    column->setSpacing(Theme::kGap);
    column->addWidget(header);
    column->addWidget(m_rowsSplit, 1);
}

void ValidationPage::connectRunner()
{
    connect(&m_runner, &ValidationRunner::started, this, [this](const QString &file) {
        m_hasFaults = m_wasStopped = false;
        header->setFile(file);
        header->setFaults({}, {});
        showState();
    });
    connect(&m_runner, &ValidationRunner::progressed, header, &ValidationHeader::setProgress);
    connect(&m_runner, &ValidationRunner::finished, this, &ValidationPage::showResult);
    connect(&m_runner, &ValidationRunner::cancelled, this, [this] {
        m_wasStopped = true;
        showState();
    });
    connect(&m_runner, &ValidationRunner::failed, this, [this](const QString &file, const Errors &errors) {
        m_hasFaults = true;
        header->setFaults(file, errors);
        showState();
    });
}

void ValidationPage::connectParts()
{
    connect(header->back, &QPushButton::clicked, this, &ValidationPage::closed);
    connect(header->choose, &QPushButton::clicked, this, &ValidationPage::fileWanted);
    connect(header->stop, &QPushButton::clicked, &m_runner, &ValidationRunner::cancel);
    connect(header->exportCsv, &QPushButton::clicked, this, [this] {
        if (m_runner.result())
            emit csvWanted(QString::fromStdString(validationCsv(m_runner.result()->validation)));
    });
    connect(header, &ValidationHeader::runRequested, this, &ValidationPage::run);
    connect(
        summary->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex &current) {
            if (!current.isValid())
                return;
            const SummaryLine &line = m_summary->line(m_summaryOrder->mapToSource(current).row());
            scatter->showKind(kindOfFigure(line.metric));
            rows->setSource(line.source);
        });
    connect(rows, &RowsPanel::filterChanged, scatter, &ScatterCard::setFilter);
    connect(rows, &RowsPanel::currentChanged, scatter, &ScatterCard::setCurrent);
    connect(rows, &RowsPanel::planRequested, this, &ValidationPage::openPlan);
    connect(scatter->plot, &ScatterPlot::pointChosen, this, [this](int result) {
        m_lower->setCurrent(rows);
        rows->setCurrent(result);
    });
    connect(scatter->plot, &ScatterPlot::pointActivated, this, &ValidationPage::openPlan);
    connect(scatter->plot, &ScatterPlot::saveRequested, this, &ValidationPage::pictureWanted);
    connect(scatter->legend, &SourceLegend::sourceChosen, this,
        [this](const QString &source) { rows->setSource(source.toStdString()); });
}

void ValidationPage::open()
{
    if (!m_runner.result() && !m_runner.isRunning())
        m_runner.run(header->file->text().trimmed());
    rows->search->setFocus(Qt::ShortcutFocusReason);
}

void ValidationPage::run(const QString &file)
{
    m_runner.run(file);
}

void ValidationPage::showResult(const ValidatedRowsPtr &result)
{
    m_summary->setRows(result);
    m_gates->setTable(result ? gateTable(*result) : TextRows());
    m_ranges->setTable(result ? coverageTable(*result) : TextRows());
    m_leftOut->setTable(result ? leftOutTable(*result) : TextRows());
    scatter->setRows(result, rows->filter());
    rows->setRows(result);
    // Gates are demanded, aims are not: the header counts the first.
    const auto outcomes = result ? qsizetype(result->validation.gates.size()) : 0;
    const auto aims =
        result ? std::ranges::count_if(result->validation.gates, [](const GateOutcome &o) { return o.gate.isAim; }) : 0;
    m_upper->setTitle(gates,
        outcomes == 0   ? tr("Gates")
            : aims == 0 ? tr("Gates (%1)").arg(outcomes)
                        : tr("Gates (%1), aims (%2)").arg(outcomes - aims).arg(aims));
    m_lower->setTitle(
        leftOut, m_leftOut->rowCount() > 0 ? tr("Left out (%1)").arg(m_leftOut->rowCount()) : tr("Left out"));
    showState();
}

void ValidationPage::showState()
{
    const ValidatedRowsPtr &result = m_runner.result();
    header->setRunning(m_runner.isRunning());
    header->setHasResult(result != nullptr);
    QString text = result ? overviewText(*result) : QString();
    if (m_runner.isRunning())
        text = tr("Evaluating every row…");
    else if (m_wasStopped)
        text = result ? tr("Stopped; below is the run before") : tr("Stopped");
    else if (m_hasFaults && result)
        text = tr("Below is the run before");
    header->setOverview(text);
    scatter->setEmptyText(m_runner.isRunning() ? tr("Evaluating…") : tr("Nothing was run yet: Run again"));
}

void ValidationPage::openPlan(int result)
{
    const ValidatedRowsPtr &found = m_runner.result();
    if (!found || result < 0 || result >= int(found->results().size()))
        return;
    if (const PlanPtr plan = planOf(*found, found->results()[std::size_t(result)]))
        emit planChosen(plan);
}

void ValidationPage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    if (std::exchange(m_isArranged, true))
        return;
    layout()->activate();
    m_topSplit->setSizes({ width() * 60 / 100, width() * 40 / 100 });
    m_rowsSplit->setSizes({ m_rowsSplit->height() * 54 / 100, m_rowsSplit->height() * 46 / 100 });
}

} // namespace trainyard
