// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/job_list_model.h"

#include "models/job_edits.h"
#include "models/text/duration.h"

#include <QLocale>
#include <QMimeData>
#include <QRegularExpression>

#include <array>

namespace trainyard {

namespace {

constexpr int kMostBatch = 10'000'000, kMostMinibatches = 1'000'000'000, kMostEpochs = 1'000'000;

/// A whole number of 1 to `most`, with or without separators.
std::optional<int> countIn(QString text, int most)
{
    bool isNumber = false;
    const qint64 number = text.remove(u',').simplified().toLongLong(&isNumber);
    return isNumber && number >= 1 && number <= most ? std::optional(int(number)) : std::nullopt;
}

/// "100", "100 × 3", "100 x 3".
std::optional<std::array<int, 2>> stepsIn(const QString &text)
{
    static const QRegularExpression kTimes(QStringLiteral("\\s*[×xX*]\\s*"));
    const QStringList parts = text.split(kTimes);
    const std::optional<int> minibatches = countIn(parts.first(), kMostMinibatches);
    const std::optional<int> epochs = parts.size() < 2 ? std::optional(1) : countIn(parts[1], kMostEpochs);
    if (!minibatches || !epochs || parts.size() > 2)
        return std::nullopt;
    return std::array { *minibatches, *epochs };
}

struct Head {
    const char *title, *tip;
};
constexpr std::array<Head, JobListModel::kColumns> kHeads { {
    { QT_TRANSLATE_NOOP("JobListModel", "Job"),
        QT_TRANSLATE_NOOP("JobListModel",
            "In the order of the list, which "
            "decides where jobs are equal") },
    { QT_TRANSLATE_NOOP("JobListModel", "Batch"), QT_TRANSLATE_NOOP("JobListModel", "Sequences of one mini-batch") },
    { QT_TRANSLATE_NOOP("JobListModel", "Steps"),
        QT_TRANSLATE_NOOP("JobListModel",
            "Mini-batches of one epoch, and "
            "× epochs") },
    { QT_TRANSLATE_NOOP("JobListModel", "Deadline"),
        QT_TRANSLATE_NOOP("JobListModel", "When it should have ended, from the start of the plan") },
    { QT_TRANSLATE_NOOP("JobListModel", "Runs"),
        QT_TRANSLATE_NOOP("JobListModel", "From its first unit to its last, in the time that all jobs take") },
    { QT_TRANSLATE_NOOP("JobListModel", "Ends"),
        QT_TRANSLATE_NOOP("JobListModel",
            "When its last unit has ended, ✓ before its deadline or ✕ after it. What is typed here is the deadline") },
    { QT_TRANSLATE_NOOP("JobListModel", "Price"),
        QT_TRANSLATE_NOOP("JobListModel", "Its part of the price, by the time of GPUs that it computed on") },
    { QT_TRANSLATE_NOOP("JobListModel", "Shards"),
        QT_TRANSLATE_NOOP("JobListModel", "Parts that its model is cut into, each of which fits a GPU") },
    { QT_TRANSLATE_NOOP("JobListModel", "GPUs"), QT_TRANSLATE_NOOP("JobListModel", "At once, at most") },
} };

} // namespace

JobListModel::JobListModel(QObject *parent)
    : QAbstractTableModel(parent)
{
}

void JobListModel::setRows(std::vector<JobRow> rows)
{
    if (rows.size() != m_rows.size()) {
        beginResetModel();
        m_rows = std::move(rows);
        endResetModel();
        return;
    }
    m_rows = std::move(rows);
    if (!m_rows.empty())
        emit dataChanged(index(0, 0), index(int(m_rows.size()) - 1, kColumns - 1));
}

int JobListModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

int JobListModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(kColumns);
}

QString JobListModel::text(const JobRow &row, int column) const
{
    switch (column) {
    case Name:
        return row.name;
    case Batch:
        return QLocale(QLocale::English).toString(row.batch);
    case Steps:
        return row.minibatchText;
    case Deadline:
        return row.deadlineText;
    case End:
        if (row.state != JobState::Runs)
            return row.state == JobState::Paused ? tr("paused") : tr("cannot run");
        return row.deadlineState == DeadlineState::Missed ? QStringLiteral("✕ ") + row.endText
            : row.deadlineState == DeadlineState::Met     ? QStringLiteral("✓ ") + row.endText
                                                          : row.endText;
    case Price:
        return row.priceText;
    case Shards:
        return row.shardText;
    case Gpus:
        return row.gpuText;
    default:
        return {};
    }
}

QString JobListModel::tip(const JobRow &row, int column) const
{
    QStringList lines { row.name };
    if (!row.why.isEmpty())
        lines << row.why;
    else if (!row.facts.isEmpty())
        lines << row.facts;
    if (row.deadlineState == DeadlineState::Missed)
        lines << tr("It misses its deadline of %1.").arg(row.deadlineText);
    if (row.isPinned)
        lines << tr("It is pinned to some GPUs.");
    if (column == End || column == Deadline)
        lines << tr("Double-click or F2 to set its deadline.");
    else if (column == Batch || column == Steps)
        lines << tr("Double-click or F2 to change.");
    return lines.join(u'\n');
}

QVariant JobListModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= int(m_rows.size()))
        return {};
    const JobRow &row = m_rows[std::size_t(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        return index.column() == Name && !row.shortName.isEmpty() ? row.shortName : text(row, index.column());
    case Qt::EditRole:
        return index.column() == End ? row.deadlineText : text(row, index.column());
    case Qt::ToolTipRole:
        return tip(row, index.column());
    case Qt::TextAlignmentRole:
        return int((index.column() == Name ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case Qt::AccessibleTextRole:
        return index.column() == Bar && row.to > 0
            ? tr("runs from %1 to %2 per cent of the time").arg(qRound(row.from * 100)).arg(qRound(row.to * 100))
            : text(row, index.column());
    default:
        return {};
    }
}

QVariant JobListModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= kColumns)
        return {};
    const Head &head = kHeads[std::size_t(section)];
    if (role == Qt::DisplayRole)
        return tr(head.title);
    if (role == Qt::ToolTipRole)
        return tr(head.tip);
    if (role == Qt::TextAlignmentRole)
        return int((section == Name || section == Bar ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    return {};
}

Qt::ItemFlags JobListModel::flags(const QModelIndex &index) const
{
    if (!index.isValid())
        return Qt::ItemIsDropEnabled; // between rows
    Qt::ItemFlags flags = Qt::ItemIsSelectable | Qt::ItemIsEnabled | Qt::ItemIsDragEnabled;
    if (index.column() <= Deadline || index.column() == End)
        flags |= Qt::ItemIsEditable;
    return flags;
}

bool JobListModel::setData(const QModelIndex &index, const QVariant &value, int role)
{
    if (!index.isValid() || role != Qt::EditRole)
        return false;
    const QString typed = value.toString().simplified(), name = row(index.row()).name;
    const auto refuse = [&](const QString &wanted) {
        emit refused(
            tr("%1 of %2: %3 is wanted, not “%4”.")
                .arg(headerData(index.column(), Qt::Horizontal, Qt::DisplayRole).toString(), name, wanted, typed));
        return false;
    };
    switch (index.column()) {
    case Name:
        if (typed.isEmpty())
            return refuse(tr("a name"));
        emit nameTyped(index.row(), typed);
        return true;
    case Batch:
        if (const std::optional<int> batch = countIn(typed, kMostBatch)) {
            emit batchTyped(index.row(), *batch);
            return true;
        }
        return refuse(tr("a whole number from 1 to 10,000,000"));
    case Steps:
        if (const auto steps = stepsIn(typed)) {
            emit stepsTyped(index.row(), (*steps)[0], (*steps)[1]);
            return true;
        }
        return refuse(tr("mini-batches such as 100, or 100 × 3 with epochs,"));
    case Deadline:
    case End: {
        const std::optional<double> seconds = durationOf(typed);
        if (!seconds && !typed.isEmpty() && typed != QStringLiteral("—") && typed != QStringLiteral("-"))
            return refuse(tr("a time such as 90 s, 5 min or 2 h, or nothing,"));
        if (typed != row(index.row()).deadlineText) // untouched: what is shown is rounded, the plan's number is not
            emit deadlineTyped(index.row(), seconds);
        return true;
    }
    default:
        return false;
    }
}

QStringList JobListModel::mimeTypes() const
{
    return { QString::fromLatin1(kJobMime) };
}

QMimeData *JobListModel::mimeData(const QModelIndexList &indexes) const
{
    if (indexes.isEmpty())
        return nullptr;
    auto *data = new QMimeData;
    const QString &name = row(indexes.front().row()).name;
    data->setData(QString::fromLatin1(kJobMime), name.toUtf8());
    data->setText(name);
    return data;
}

bool JobListModel::dropMimeData(
    const QMimeData *data, Qt::DropAction action, int row, int column, const QModelIndex &parent)
{
    if (!canDropMimeData(data, action, row, column, parent))
        return false;
    const int before = row >= 0 ? row : parent.isValid() ? parent.row() : rowCount();
    emit dropped(QString::fromUtf8(data->data(QString::fromLatin1(kJobMime))), before);
    return false; // the rows come with the next plan: a view must not remove the dragged one
}

QString JobListModel::toTsv() const
{
    QStringList lines { tr(
        "Job\tModel\tBatch\tMini-batches\tEpochs\tLearning rate\tDeadline s\tState\tStarts at share\t"
        "Ends at share\tEnds\tPrice\tShards\tGPUs\tWhy") };
    for (const JobRow &row : m_rows)
        lines << QStringList { row.name, row.model, QString::number(row.batch), QString::number(row.minibatches),
            QString::number(row.epochs), row.learningRate ? QString::number(*row.learningRate, 'g', 9) : QString(),
            row.deadline ? QString::number(*row.deadline, 'g', 9) : QString(),
            row.state == JobState::Paused     ? tr("paused")
                : row.state == JobState::Runs ? tr("runs")
                                              : tr("cannot run"),
            QString::number(row.from, 'g', 6), QString::number(row.to, 'g', 6), row.endText, row.priceText,
            row.shardText, row.gpuText, row.why }
                     .join(u'\t');
    return lines.join(u'\n') + u'\n';
}

} // namespace trainyard
