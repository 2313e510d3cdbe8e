// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/job_list.h"

#include "models/job_list_model.h"
#include "views/panels/job_cells.h"
#include "views/theme/theme.h"

#include <QContextMenuEvent>
#include <QDrag>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMimeData>
#include <QMouseEvent>
#include <QScopedValueRollback>

#include <algorithm>
#include <array>
#include <numeric>

namespace trainyard {

namespace {

constexpr int kJobRowAir = 5;
constexpr int kNameLeast = 100, kNameWanted = 170, kBarLeast = 44, kAir = 10, kHeadAir = 16;

/// What a column is wide for, and the order in which columns leave where there is no room.
struct Width {
    JobListModel::Column column;
    const char *widest;
};
constexpr std::array<Width, 7> kFixed { {
    { JobListModel::Batch, "1,024" },
    { JobListModel::End, "✕ 00.0 min" },
    { JobListModel::Steps, "100 × 10" },
    { JobListModel::Price, "$00.00" },
    { JobListModel::Deadline, "00.0 min" },
    { JobListModel::Shards, "128" },
    { JobListModel::Gpus, "8 of 16" },
} };
constexpr std::ptrdiff_t kNeeded = 3; // of them

} // namespace

JobList::JobList(JobListModel &model, QWidget *parent)
    : QTableView(parent)
    , m_model(model)
{
    setAccessibleName(tr("Jobs"));
    setAccessibleDescription(
        tr("F2 types into a cell, Space pauses and resumes, Alt with arrows moves, Delete removes."));
    setFont(uiFont(-1));
    setModel(&model);
    setItemDelegate(new JobCells(*this));
    setShowGrid(false);
    setFrameShape(QFrame::NoFrame);
    setWordWrap(false);
    setTextElideMode(Qt::ElideMiddle); // names of a grid differ at their ends
    setTabKeyNavigation(false);
    setSelectionBehavior(SelectRows);
    setSelectionMode(ExtendedSelection);
    setEditTriggers(DoubleClicked | EditKeyPressed);
    setVerticalScrollMode(ScrollPerPixel);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setDragEnabled(true);
    setAcceptDrops(true);
    setDropIndicatorShown(true);
    setDragDropOverwriteMode(false); // between rows
    setDragDropMode(DragDrop);
    setDefaultDropAction(Qt::MoveAction);
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + kJobRowAir);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setSectionsClickable(false);
    horizontalHeader()->setFont(uiFont(-1));
    horizontalHeader()->setMinimumSectionSize(20);
    horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    connect(selectionModel(), &QItemSelectionModel::selectionChanged, this, &JobList::chosenChanged);
    connect(selectionModel(), &QItemSelectionModel::selectionChanged, this, &JobList::tellPicked);
    connect(this, &QAbstractItemView::clicked, this, &JobList::tellPicked); // also on the row that is selected
    connect(selectionModel(), &QItemSelectionModel::currentChanged, this, &JobList::chosenChanged);
    connect(&model, &QAbstractItemModel::modelReset, this, &JobList::chosenChanged);
}

std::vector<int> JobList::chosen() const
{
    std::vector<int> rows;
    for (const QModelIndex &index : selectionModel()->selectedRows())
        rows.push_back(index.row());
    if (rows.empty() && currentIndex().isValid())
        rows.push_back(currentIndex().row());
    std::ranges::sort(rows);
    return rows;
}

void JobList::choose(int row)
{
    if (m_model.rowCount() == 0)
        return;
    const QScopedValueRollback choosing(m_isChoosing, true);
    const int at = std::clamp(row, 0, m_model.rowCount() - 1);
    const int column = currentIndex().isValid() ? currentIndex().column() : 0;
    setCurrentIndex(m_model.index(at, column));
    scrollTo(currentIndex());
}

void JobList::tellPicked()
{
    const std::vector<int> rows = chosen();
    if (!m_isChoosing && hasFocus())
        emit picked(rows.size() == 1 ? rows.front() : -1);
}

void JobList::setDimmed(bool isDimmed)
{
    if (std::exchange(m_isDimmed, isDimmed) != isDimmed)
        viewport()->update();
}

void JobList::fitHeight(int rows)
{
    const int shown = std::min(rows, m_model.rowCount());
    setMinimumHeight(horizontalHeader()->sizeHint().height() + shown * verticalHeader()->defaultSectionSize() + 2);
}

/// Columns that do not fit are left out from the last of kFixed; what room is left is the name's and the bar's.
void JobList::showColumns()
{
    const QFontMetrics metrics(font());
    int left = viewport()->width() - kNameLeast - kBarLeast;
    bool fits = true;
    for (const Width &fixed : kFixed) {
        const int head =
            metrics.horizontalAdvance(m_model.headerData(fixed.column, Qt::Horizontal, Qt::DisplayRole).toString());
        const int wide = std::max(metrics.horizontalAdvance(QString::fromUtf8(fixed.widest)) + kAir, head + kHeadAir);
        const bool isExtra = &fixed - kFixed.data() >= kNeeded; // a name that can be read comes first
        fits = fits && wide <= left - (isExtra ? kNameWanted - kNameLeast : 0);
        setColumnHidden(fixed.column, !fits);
        if (fits)
            setColumnWidth(fixed.column, wide);
        left -= fits ? wide : 0;
    }
    left += kNameLeast + kBarLeast;
    const int bar = std::clamp(left * 3 / 10, kBarLeast, 180);
    setColumnWidth(JobListModel::Bar, bar);
    setColumnWidth(JobListModel::Name, left - bar);
}

void JobList::resizeEvent(QResizeEvent *event)
{
    QTableView::resizeEvent(event);
    showColumns();
}

void JobList::changeEvent(QEvent *event)
{
    QTableView::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        viewport()->update();
}

void JobList::keyPressEvent(QKeyEvent *event)
{
    const bool isAlt = event->modifiers() == Qt::AltModifier;
    if (isAlt && (event->key() == Qt::Key_Up || event->key() == Qt::Key_Down))
        emit moveAsked(event->key() == Qt::Key_Up ? -1 : 1);
    else if (event->key() == Qt::Key_Escape)
        emit picked(-1);
    else if (event->key() == Qt::Key_Space && !event->modifiers())
        emit pauseAsked();
    else if (event->key() == Qt::Key_Delete || event->key() == Qt::Key_Backspace)
        emit removeAsked();
    else if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && state() != EditingState) {
        if (!currentIndex().isValid() || !edit(currentIndex(), AllEditTriggers, event))
            emit detailsAsked();
    } else
        return QTableView::keyPressEvent(event);
    event->accept();
}

void JobList::mouseDoubleClickEvent(QMouseEvent *event)
{
    const QModelIndex index = indexAt(event->position().toPoint());
    if (index.isValid() && !(m_model.flags(index) & Qt::ItemIsEditable))
        emit detailsAsked();
    QTableView::mouseDoubleClickEvent(event);
}

void JobList::contextMenuEvent(QContextMenuEvent *event)
{
    emit menuAsked(event->globalPos());
    event->accept();
}

/// Blocks until the job is dropped, where the platform can drag: nothing else is done here. The rows come with the next
/// plan, whatever becomes of the drag.
void JobList::startDrag(Qt::DropActions actions)
{
    const std::vector<int> rows = chosen();
    if (rows.empty())
        return;
    auto *drag = new QDrag(this);
    drag->setMimeData(m_model.mimeData({ m_model.index(rows.front(), 0) }));
    drag->setPixmap(jobTag(m_model.row(rows.front()).name, rows.front(), devicePixelRatioF()));
    drag->exec(actions, Qt::MoveAction);
}

} // namespace trainyard
