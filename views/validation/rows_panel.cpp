// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/validation/rows_panel.h"

#include "models/text/format.h"
#include "views/panels/evidence_table.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

RowsPanel::RowsPanel(QWidget *parent)
    : QWidget(parent)
    , search(new QLineEdit(this))
    , sources(new QComboBox(this))
    , openPlan(new QPushButton(tr("Open this row as a plan"), this))
    , table(new EvidenceTable(tr("Published figures and predictions"), ResultModel::Remarks, this))
    , m_model(new ResultModel(this))
    , m_filter(new ResultFilter(m_model, this))
    , m_count(new TextLine({}, Ink::Faint, this))
{
    search->setPlaceholderText(tr("Filter by words"));
    search->setAccessibleName(tr("Filter the rows by words"));
    search->setClearButtonEnabled(true);
    sources->setAccessibleName(tr("Source of the rows"));
    sources->addItem(tr("All sources"));
    openPlan->setToolTip(tr("Show the row's plan in the workbench, with its timeline (Enter)"));
    m_count->setFont(uiFont(-1));
    m_count->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    table->setModel(m_filter);
    table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    table->setSortingEnabled(true);
    table->horizontalHeader()->setSortIndicatorClearable(true);
    table->sortByColumn(-1, Qt::AscendingOrder);
    auto *open = new QAction(openPlan->text(), table);
    connect(open, &QAction::triggered, openPlan, &QPushButton::click);
    table->addAction(open);
    arrange();
    connect(search, &QLineEdit::textChanged, this, &RowsPanel::applyFilter);
    connect(sources, &QComboBox::currentIndexChanged, this, &RowsPanel::applyFilter);
    connect(openPlan, &QPushButton::clicked, this, [this] {
        if (const int at = current(); at >= 0)
            emit planRequested(at);
    });
    connect(table, &QTableView::activated, openPlan, &QPushButton::click);
    connect(table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
        openPlan->setEnabled(current() >= 0);
        emit currentChanged(current());
    });
    openPlan->setEnabled(false);
}

void RowsPanel::arrange()
{
    search->setMaximumWidth(320);
    sources->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    auto *top = new QHBoxLayout;
    top->setContentsMargins(Theme::kPad, 6, Theme::kPad, 2);
    top->setSpacing(Theme::kGap);
    top->addWidget(search, 1);
    top->addWidget(sources);
    top->addWidget(m_count, 1);
    top->addWidget(openPlan);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addLayout(top);
    column->addWidget(table, 1);
}

void RowsPanel::setRows(const ValidatedRowsPtr &rows)
{
    const QVariant before = sources->currentData();
    {
        const QSignalBlocker blocker(sources);
        sources->clear();
        sources->addItem(tr("All sources"));
        for (const SourceSummary &source : rows ? rows->validation.sources : std::vector<SourceSummary>())
            sources->addItem(QString::fromStdString(source.source), QString::fromStdString(source.source));
        sources->setCurrentIndex(std::max(0, sources->findData(before)));
    }
    m_model->setRows(rows);
    applyFilter();
    openPlan->setEnabled(false);
}

void RowsPanel::setSource(const std::string &source)
{
    sources->setCurrentIndex(source.empty() ? 0 : std::max(0, sources->findData(QString::fromStdString(source))));
}

void RowsPanel::applyFilter()
{
    m_filter->setFilter({ sources->currentData().toString().toStdString(), search->text().trimmed() });
    showCount();
    emit filterChanged(m_filter->filter());
}

void RowsPanel::showCount()
{
    const int shown = m_filter->rowCount(), all = m_model->rowCount();
    m_count->setText(shown == all ? countOf(all, tr("figure"), tr("figures"))
                                  : tr("%L1 of %2").arg(shown).arg(countOf(all, tr("figure"), tr("figures"))));
}

int RowsPanel::current() const
{
    const QModelIndex index = table->currentIndex();
    return index.isValid() ? m_filter->mapToSource(index).row() : -1;
}

void RowsPanel::setCurrent(int result)
{
    const QModelIndex index = m_filter->mapFromSource(m_model->index(result, ResultModel::Row));
    if (!index.isValid())
        return;
    table->selectRow(index.row());
    table->scrollTo(index, QAbstractItemView::PositionAtCenter);
}

} // namespace trainyard
