// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/validation/result_model.h"

#include "models/text/utf8.h"

#include <QStringList>

#include <cmath>
#include <limits>
#include <utility>

namespace trainyard {

namespace {

bool isResultNumber(int column)
{
    return column >= ResultModel::Published && column <= ResultModel::Error;
}

QString resultCell(const ValidationResult &r, int column)
{
    switch (column) {
    case ResultModel::Source:
        return fromUtf8(r.source);
    case ResultModel::Row:
        return fromUtf8(r.id);
    case ResultModel::Metric:
        return fromUtf8(metricLabel(r.metric));
    case ResultModel::Published:
        return fromUtf8(metricText(r.metric, r.published));
    case ResultModel::Predicted:
        return r.predicted ? fromUtf8(metricText(r.metric, *r.predicted)) : QStringLiteral("–");
    case ResultModel::Error:
        return fromUtf8(errorText(r.error()));
    case ResultModel::Remarks:
        return remarksOf(r);
    default:
        return {};
    }
}

QVariant sortValue(const ValidationResult &r, int column)
{
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    switch (column) {
    case ResultModel::Published:
        return r.published;
    case ResultModel::Predicted:
        return r.predicted.value_or(none);
    case ResultModel::Error:
        return r.predicted ? std::abs(*r.error()) : none;
    default:
        return resultCell(r, column);
    }
}

Tone resultTone(const ValidationResult &r, int column)
{
    if (!r.predicted && (column == ResultModel::Remarks || column == ResultModel::Predicted))
        return Tone::Bad;
    return r.status == RowStatus::Guessed || column == ResultModel::Remarks || column == ResultModel::Metric
        ? Tone::Muted
        : Tone::Plain;
}

QString hint(const ValidationResult &r)
{
    QStringList lines { fromUtf8(r.source) + (r.group.empty() ? QString() : QStringLiteral(" · ") + fromUtf8(r.group)),
        fromUtf8(r.id) };
    for (const QString &line : { fromUtf8(r.note), fromUtf8(r.problem) }) {
        if (!line.isEmpty())
            lines << line;
    }
    if (r.status == RowStatus::Guessed)
        lines << ResultModel::tr("An input of this row was not published and had to be assumed.");
    return lines.join(u'\n');
}

} // namespace

QString remarksOf(const ValidationResult &result)
{
    QStringList parts;
    if (result.status == RowStatus::Guessed)
        parts << ResultModel::tr("inputs assumed");
    if (result.role == RowRole::Fit)
        parts << ResultModel::tr("fitted");
    if (!result.problem.empty())
        parts << fromUtf8(result.problem);
    return parts.join(QStringLiteral(" · "));
}

void ResultModel::setRows(ValidatedRowsPtr rows)
{
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
}

int ResultModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() || !m_rows ? 0 : int(m_rows->results().size());
}

int ResultModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant ResultModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || !m_rows)
        return {};
    const ValidationResult &r = result(index.row());
    switch (role) {
    case Qt::DisplayRole:
        return resultCell(r, index.column());
    case Qt::ToolTipRole:
        return hint(r);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(
            Qt::Alignment((isResultNumber(index.column()) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    case SortRole:
        return sortValue(r, index.column());
    case ToneRole:
        return int(resultTone(r, index.column()));
    case SourceIndexRole:
        return index.column() == Source ? QVariant(sourceIndex(*m_rows, r.source)) : QVariant();
    default:
        return {};
    }
}

QVariant ResultModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(
            Qt::Alignment((isResultNumber(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    if (role == Qt::ToolTipRole && section == Error)
        return tr("Predicted over published, less one: positive where the model says more. Sorted by size.");
    const QString names[] = { tr("Source"), tr("Row"), tr("Metric"), tr("Published"), tr("Predicted"), tr("Error"),
        tr("Remarks") };
    return role == Qt::DisplayRole ? QVariant(names[section]) : QVariant();
}

ResultFilter::ResultFilter(ResultModel *model, QObject *parent)
    : QSortFilterProxyModel(parent)
    , m_model(*model)
{
    setSourceModel(model);
    setSortRole(SortRole);
}

void ResultFilter::setFilter(const RowFilter &filter)
{
    if (filter == m_filter)
        return;
    m_filter = filter;
    invalidateFilter();
}

bool ResultFilter::filterAcceptsRow(int row, const QModelIndex &) const
{
    return isListed(m_model.result(row), m_filter);
}

bool ResultFilter::lessThan(const QModelIndex &left, const QModelIndex &right) const
{
    const QVariant a = left.data(SortRole), b = right.data(SortRole);
    if (a.typeId() != QMetaType::Double)
        return QString::localeAwareCompare(a.toString(), b.toString()) < 0;
    const bool hasA = !std::isnan(a.toDouble()), hasB = !std::isnan(b.toDouble());
    if (!hasA || !hasB)
        return (sortOrder() == Qt::AscendingOrder) ? hasA && !hasB : !hasA && hasB;
    return a.toDouble() < b.toDouble();
}

} // namespace trainyard
