// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/validation/summary_model.h"

#include "models/text/format.h"

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

bool isSummaryNumber(int column)
{
    return column >= SummaryModel::Figures && column <= SummaryModel::Rank;
}

std::optional<double> number(const SummaryLine &line, int column)
{
    const ErrorStatistics &e = line.errors;
    if (column == SummaryModel::Figures)
        return double(e.n + line.failed);
    if (e.n == 0)
        return std::nullopt;
    switch (column) {
    case SummaryModel::Mean:
        return e.meanAbs;
    case SummaryModel::Median:
        return e.medianAbs;
    case SummaryModel::Largest:
        return e.maxAbs;
    case SummaryModel::Bias:
        return e.bias;
    case SummaryModel::Rank:
        return e.rankCorrelation;
    default:
        return std::nullopt;
    }
}

QString summaryCell(const SummaryLine &line, int column)
{
    const auto value = number(line, column);
    switch (column) {
    case SummaryModel::Source:
        return QString::fromStdString(line.source);
    case SummaryModel::Metric:
        return QString::fromStdString(metricLabel(line.metric));
    case SummaryModel::Figures:
        return QStringLiteral("%L1").arg(int(*value));
    case SummaryModel::Bias:
        return QString::fromStdString(errorText(value));
    case SummaryModel::Rank:
        return QString::fromStdString(rankText(value));
    case SummaryModel::GateColumn:
        return line.gate;
    default:
        return value ? formatPercent(*value) : QStringLiteral("–");
    }
}

Tone summaryTone(const SummaryLine &line, int column)
{
    if (column == SummaryModel::GateColumn) {
        switch (line.verdict) {
        case Verdict::Met:
            return Tone::Good;
        case Verdict::Missed:
            return Tone::Bad;
        case Verdict::AimMissed:
            return Tone::Warning;
        case Verdict::None:
            return Tone::Muted;
        }
    }
    return line.status == RowStatus::Guessed || column == SummaryModel::Metric ? Tone::Muted : Tone::Plain;
}

} // namespace

void SummaryModel::setRows(const ValidatedRowsPtr &rows)
{
    beginResetModel();
    m_rows = rows;
    m_lines = rows ? summaryLines(*rows) : std::vector<SummaryLine>();
    endResetModel();
}

int SummaryModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_lines.size());
}

int SummaryModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString SummaryModel::hint(const SummaryLine &line) const
{
    const auto found = std::ranges::find(m_rows->validation.sources, line.source, &SourceSummary::source);
    QStringList lines;
    if (found != m_rows->validation.sources.end() && !found->title.empty())
        lines << QString::fromStdString(found->title);
    if (found != m_rows->validation.sources.end() && !found->note.empty())
        lines << QString::fromStdString(found->note);
    if (line.status == RowStatus::Guessed)
        lines << tr("Rows with an input that was not published and had to be assumed.");
    if (line.failed > 0)
        lines << tr("%1 without a prediction.").arg(line.failed);
    return lines.join(u'\n');
}

QVariant SummaryModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const SummaryLine &line = m_lines[std::size_t(index.row())];
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        return column == Metric && line.status == RowStatus::Guessed
            ? tr("%1, inputs assumed").arg(summaryCell(line, column))
            : summaryCell(line, column);
    case Qt::ToolTipRole:
        return column == GateColumn && !line.gateHint.isEmpty() ? line.gateHint : hint(line);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(
            Qt::Alignment((isSummaryNumber(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    case SortRole:
        return isSummaryNumber(column)
            ? QVariant(number(line, column).value_or(std::numeric_limits<double>::infinity()))
            : QVariant(summaryCell(line, column));
    case ToneRole:
        return int(summaryTone(line, column));
    case SourceIndexRole:
        return column == Source ? QVariant(line.sourceIndex) : QVariant();
    default:
        return {};
    }
}

QVariant SummaryModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(
            Qt::Alignment((isSummaryNumber(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    const std::pair<QString, QString> names[] = {
        { tr("Source"), {} },
        { tr("Metric"), {} },
        { tr("Figures"), tr("Published figures, with and without a prediction.") },
        { tr("Mean"), tr("Mean of the errors' sizes.") },
        { tr("Median"), tr("Median of the errors' sizes.") },
        { tr("Largest"), tr("Largest error.") },
        { tr("Bias"), tr("Mean of the signed errors: positive where the model says too much.") },
        { tr("Rank"), tr("Spearman's rank correlation of published and predicted.") },
        { tr("Gate"), tr("What has been reached of what is demanded.") },
    };
    return role == Qt::DisplayRole ? QVariant(names[section].first)
        : role == Qt::ToolTipRole  ? QVariant(names[section].second)
                                   : QVariant();
}

} // namespace trainyard
