// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/live/live_source_model.h"

#include "models/live_words.h"
#include "models/table_roles.h"
#include "models/text/format.h"

#include <QStringList>

#include <algorithm>

namespace trainyard {

namespace {

Tone toneOf(live::SourceState state)
{
    using State = live::SourceState;
    switch (state) {
    case State::Live:
        return Tone::Good;
    case State::Stale:
    case State::BackingOff:
        return Tone::Warning;
    case State::Refused:
        return Tone::Bad;
    case State::Paused:
    case State::Ended:
        return Tone::Muted;
    case State::Idle:
    case State::Connecting:
        return Tone::Plain;
    }
    return Tone::Plain;
}

} // namespace

LiveSourceModel::LiveSourceModel(LiveDocument &live, QObject *parent)
    : QAbstractTableModel(parent)
    , m_live(live)
    , m_rows(live.sources())
{
    connect(&live, &LiveDocument::sourcesChanged, this, &LiveSourceModel::take);
}

void LiveSourceModel::take()
{
    const std::vector<LiveSourceRow> &next = m_live.sources();
    const auto isKept = [&](const LiveSourceRow &row) {
        return std::ranges::find(next, row.number, &LiveSourceRow::number) != next.end();
    };
    for (int i = int(m_rows.size()); i-- > 0;)
        if (!isKept(m_rows[std::size_t(i)])) {
            beginRemoveRows({}, i, i);
            m_rows.erase(m_rows.begin() + i);
            endRemoveRows();
        }
    if (next.size() > m_rows.size()) { // new ones come last: numbers are never used again
        const bool isFirst = m_rows.empty();
        if (isFirst)
            beginResetModel(); // columns find their widths
        else
            beginInsertRows({}, int(m_rows.size()), int(next.size()) - 1);
        m_rows = next;
        if (isFirst)
            endResetModel();
        else
            endInsertRows();
    }
    m_rows = next;
    tellTime();
}

void LiveSourceModel::tellTime()
{
    if (!m_rows.empty())
        emit dataChanged(index(0, 0), index(int(m_rows.size()) - 1, Columns - 1));
}

int LiveSourceModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

int LiveSourceModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : Columns;
}

const LiveSourceRow *LiveSourceModel::row(int index) const
{
    return index >= 0 && std::size_t(index) < m_rows.size() ? &m_rows[std::size_t(index)] : nullptr;
}

QVariant LiveSourceModel::data(const QModelIndex &index, int role) const
{
    const LiveSourceRow *source = row(index.row());
    if (!source)
        return {};
    const live::SourceStatus &status = source->status;
    if (role == ToneRole)
        return int(index.column() == State ? toneOf(status.state) : Tone::Plain);
    if (role == Qt::ToolTipRole) {
        QStringList lines { QString::fromStdString(status.address.text()), stateText(status, live::unixNow()),
            amountText(status) };
        for (const std::string &note : status.notes)
            lines << QString::fromStdString(note);
        return lines.join(u'\n');
    }
    if (role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
    case Where:
        return QString::fromStdString(status.address.text());
    case State:
        return stateName(status, live::unixNow());
    case Reason:
        return QString::fromStdString(
            status.reason.empty() && !status.notes.empty() ? status.notes.back() : status.reason); // the latest
    case Told:
        return amountText(status);
    case Lost:
        return status.dropped > 0 ? formatBytes(double(status.dropped)) : QStringLiteral("0 B");
    default:
        return {};
    }
}

QVariant LiveSourceModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole || orientation != Qt::Horizontal)
        return {};
    const QString titles[] = { tr("Source"), tr("State"), tr("Why"), tr("Told"), tr("Left out") };
    return section >= 0 && section < Columns ? titles[section] : QVariant();
}

} // namespace trainyard
