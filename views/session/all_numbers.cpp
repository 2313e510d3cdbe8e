// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/session/all_numbers.h"

#include "models/text/foreign_text.h"
#include "views/panels/evidence_table.h"
#include "views/parts/text_line.h"
#include "views/session/variant_color.h"
#include "views/theme/theme.h"

#include <QAbstractTableModel>
#include <QComboBox>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

constexpr int kLongestName = 40; // characters
constexpr int kDotRoom = 18; // pixels

} // namespace

/// The metric, then a column for each variant.
class AllNumbers::Model : public QAbstractTableModel {
public:
    using QAbstractTableModel::QAbstractTableModel;

    struct Column {
        QString name;
        QIcon dot;
    };
    void setTable(NumbersTable table, std::vector<Column> columns)
    {
        beginResetModel();
        m_table = std::move(table);
        m_columns = std::move(columns);
        endResetModel();
    }
    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override
    {
        return parent.isValid() ? 0 : int(m_table.rows.size());
    }
    [[nodiscard]] int columnCount(const QModelIndex &parent = {}) const override
    {
        return parent.isValid() ? 0 : int(m_columns.size()) + 1;
    }
    [[nodiscard]] QVariant data(const QModelIndex &index, int role) const override
    {
        if (!checkIndex(index, CheckIndexOption::IndexIsValid))
            return {};
        const NumbersTable::Row &row = m_table.rows[std::size_t(index.row())];
        if (index.column() == 0)
            return role == Qt::DisplayRole ? QVariant(row.label)
                : role == Qt::ToolTipRole  ? QVariant(plainTip(QString::fromStdString(row.key)))
                                           : QVariant();
        const NumbersTable::Cell &cell = row.cells[std::size_t(index.column() - 1)];
        switch (role) {
        case Qt::DisplayRole:
            return cell.text;
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
        case ToneRole:
            return int(cell.tone);
        default:
            return {};
        }
    }
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override
    {
        if (orientation != Qt::Horizontal || section > int(m_columns.size()))
            return {};
        if (section == 0)
            return role == Qt::DisplayRole      ? QVariant(tr("Number"))
                : role == Qt::TextAlignmentRole ? QVariant::fromValue(Qt::Alignment(Qt::AlignLeft | Qt::AlignVCenter))
                                                : QVariant();
        const Column &column = m_columns[std::size_t(section - 1)];
        return role == Qt::DisplayRole      ? QVariant(column.name)
            : role == Qt::DecorationRole    ? QVariant(column.dot)
            : role == Qt::TextAlignmentRole ? QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter))
                                            : QVariant();
    }

private:
    NumbersTable m_table;
    std::vector<Column> m_columns;
};

AllNumbers::AllNumbers(SessionDocument &session, const Catalogue &catalogue, QWidget *parent)
    : QWidget(parent)
    , base(new QComboBox(this))
    , table(new EvidenceTable(tr("Numbers of all variants"), 0))
    , m_session(session)
    , m_model(new Model(this))
    , m_numbers(session, catalogue)
{
    base->setAccessibleName(tr("The variant that the differences are against"));
    base->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    table->setModel(m_model);
    auto *top = new QHBoxLayout;
    top->setContentsMargins(Theme::kPad, 0, Theme::kPad, 0);
    top->setSpacing(Theme::kGap);
    top->addWidget(new TextLine(tr("Differences against"), Ink::Muted));
    top->addWidget(base);
    top->addStretch();
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 6, 0, 4);
    column->setSpacing(4);
    column->addLayout(top);
    column->addWidget(table, 1);
    connect(base, &QComboBox::currentIndexChanged, this, [this] {
        if (m_isListing)
            return;
        m_chosen = base->currentData().toString().toStdString();
        fill();
    });
    const auto update = [this] {
        if (isVisible())
            listVariants();
    };
    connect(&session, &SessionDocument::changed, this, update);
    connect(&m_numbers, &VariantNumbers::numbersChanged, this, update);
}

void AllNumbers::listVariants()
{
    const std::vector<Variant> &all = m_session.variants();
    if (!m_session.value().variant(m_chosen))
        m_chosen.clear();
    const std::string &wanted = m_chosen.empty() ? m_session.value().baseline : m_chosen;
    m_isListing = true;
    base->clear();
    for (int i = 0; i < int(all.size()); ++i)
        base->addItem(variantDot(variantColor(all[std::size_t(i)], i), devicePixelRatioF()),
            foreignText(QString::fromStdString(all[std::size_t(i)].name), kLongestName),
            QString::fromStdString(all[std::size_t(i)].id));
    base->setCurrentIndex(std::max(0, base->findData(QString::fromStdString(wanted))));
    m_isListing = false;
    fill();
}

void AllNumbers::fill()
{
    std::vector<const NumbersOfPlan *> plans;
    std::vector<Model::Column> columns;
    for (const Variant &one : m_session.variants()) {
        plans.push_back(m_numbers.of(one.plan));
        columns.push_back({ base->itemText(int(columns.size())), base->itemIcon(int(columns.size())) });
    }
    NumbersTable numbers = numbersAgainst(plans, std::size_t(std::max(0, base->currentIndex())));
    if (numbers.rows.empty()) // nothing is known yet
        numbers.rows.push_back({ {}, tr("Evaluating…"), std::vector<NumbersTable::Cell>(plans.size()) });
    m_model->setTable(std::move(numbers), std::move(columns));
    table->fitColumns();
    for (int c = 1; c < m_model->columnCount(); ++c) // titles stand beside their dots
        table->setColumnWidth(c, table->columnWidth(c) + kDotRoom);
}

void AllNumbers::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_numbers.setWatched(true);
    listVariants();
}

void AllNumbers::hideEvent(QHideEvent *event)
{
    m_numbers.setWatched(false);
    QWidget::hideEvent(event);
}

} // namespace trainyard
