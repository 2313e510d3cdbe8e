// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/validation/text_table_model.h"

#include "core/base/number_text.h"
#include "models/text/utf8.h"

#include <utility>

namespace trainyard {

namespace {

Tone verdictTone(Verdict verdict)
{
    return verdict == Verdict::Met      ? Tone::Good
        : verdict == Verdict::Missed    ? Tone::Bad
        : verdict == Verdict::AimMissed ? Tone::Warning
                                        : Tone::Muted;
}

} // namespace

void TextTableModel::setTable(TextRows table)
{
    beginResetModel();
    m_table = std::move(table);
    endResetModel();
}

int TextTableModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_table.lines.size());
}

int TextTableModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_table.titles.size());
}

QVariant TextTableModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const TextRows::Line &line = m_table.lines[std::size_t(index.row())];
    switch (role) {
    case Qt::DisplayRole:
    case SortRole:
        return line.cells.value(index.column());
    case Qt::ToolTipRole:
        return line.hint.isEmpty() ? line.cells.value(index.column()) : line.hint;
    case ToneRole:
        return int(index.column() + 1 == int(m_table.titles.size()) ? line.tone : Tone::Plain);
    case SourceIndexRole:
        return index.column() == 0 && line.sourceIndex >= 0 ? QVariant(line.sourceIndex) : QVariant();
    default:
        return {};
    }
}

QVariant TextTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment(Qt::AlignLeft | Qt::AlignVCenter));
    return role == Qt::DisplayRole ? QVariant(m_table.titles.value(section)) : QVariant();
}

TextRows gateTable(const ValidatedRows &rows)
{
    TextRows table { { TextTableModel::tr("Gate"), TextTableModel::tr("Figures"), TextTableModel::tr("Measure"),
                         TextTableModel::tr("Demanded"), TextTableModel::tr("Reached"), TextTableModel::tr("Verdict") },
        {} };
    for (const GateOutcome &outcome : rows.validation.gates) {
        table.lines.push_back({ { fromUtf8(gateText(outcome.gate)), QStringLiteral("%L1").arg(outcome.n),
                                    statisticText(outcome.gate.statistic), fromUtf8(limitText(outcome.gate)),
                                    fromUtf8(reachedText(outcome)), fromUtf8(verdictText(outcome)) },
            verdictTone(verdictOf(outcome)), sourceIndex(rows, outcome.gate.source), {} });
    }
    return table;
}

TextRows coverageTable(const ValidatedRows &rows)
{
    TextRows table { { TextTableModel::tr("Label"), TextTableModel::tr("Rows"), TextTableModel::tr("Count"),
                         TextTableModel::tr("Publications"), TextTableModel::tr("Inside"),
                         TextTableModel::tr("Publications alike"), TextTableModel::tr("Score"),
                         TextTableModel::tr("Publications alike") },
        {} };
    for (const CoverageLine &line : coverageLines(rows.validation.coverage)) {
        const Coverage &c = *line.coverage;
        table.lines.push_back({ { fromUtf8(line.label), fromUtf8(line.rows), QStringLiteral("%L1").arg(c.rows),
                                    QStringLiteral("%L1").arg(c.publications), fromUtf8(percentText(c.inside)),
                                    fromUtf8(percentText(c.insideAlike)), fromUtf8(plainText(c.score)),
                                    fromUtf8(plainText(c.scoreAlike)) },
            Tone::Plain, -1, fromUtf8(coverageIntroduction()) });
    }
    return table;
}

TextRows leftOutTable(const ValidatedRows &rows)
{
    TextRows table {
        { TextTableModel::tr("Source"), TextTableModel::tr("Row"), TextTableModel::tr("Why it is left out") }, {}
    };
    for (const LeftOutRow &row : rows.leftOut)
        table.lines.push_back({ { fromUtf8(row.source), fromUtf8(row.id), fromUtf8(row.reason) }, Tone::Muted,
            sourceIndex(rows, row.source), {} });
    return table;
}

TextRows faultTable(const Errors &errors)
{
    TextRows table { { TextTableModel::tr("Place"), TextTableModel::tr("Fault"), TextTableModel::tr("Expected") }, {} };
    for (const Error &error : errors)
        table.lines.push_back({ { fromUtf8(error.where), fromUtf8(error.what), fromUtf8(error.right) }, Tone::Muted, -1,
            fromUtf8(toString(error)) });
    return table;
}

} // namespace trainyard
