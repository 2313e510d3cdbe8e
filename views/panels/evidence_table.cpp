// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/evidence_table.h"

#include "models/table_roles.h"
#include "views/export/panel_picture.h"
#include "views/panels/source_mark.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QStyledItemDelegate>

#include <algorithm>
#include <numeric>

namespace trainyard {

namespace {

constexpr int kMeasuredRows = 200;
constexpr int kWidest = 260;
constexpr int kEvidenceRowAir = 6, kCellAir = 10, kHeaderAir = 6;

QColor toneColor(Tone tone)
{
    switch (tone) {
    case Tone::Plain:
        return theme().text;
    case Tone::Muted:
        return theme().textMuted;
    case Tone::Good:
        return theme().good;
    case Tone::Bad:
        return theme().bad;
    case Tone::Warning:
        return theme().warning;
    }
    return theme().text;
}

class CellDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override
    {
        QStyledItemDelegate::initStyleOption(option, index);
        const QColor ink = toneColor(Tone(index.data(ToneRole).toInt()));
        option->palette.setColor(QPalette::Text, ink);
        option->palette.setColor(QPalette::HighlightedText, ink);
        const QVariant source = index.data(SourceIndexRole);
        if (source.isValid()) {
            option->features |= QStyleOptionViewItem::HasDecoration;
            option->icon = QIcon(markPixmap(sourceMark(source.toInt()), option->widget->devicePixelRatioF()));
            option->decorationSize = QSize(12, 12);
        }
        option->state &= ~QStyle::State_HasFocus; // the row is marked as a whole
    }
};

} // namespace

EvidenceTable::EvidenceTable(const QString &name, int stretched, QWidget *parent)
    : QTableView(parent)
    , m_stretched(stretched)
{
    setAccessibleName(name);
    setFont(uiFont(-1));
    setItemDelegate(new CellDelegate(this));
    setShowGrid(false);
    setFrameShape(QFrame::NoFrame);
    setWordWrap(false);
    setTextElideMode(Qt::ElideMiddle); // names differ at their ends
    setTabKeyNavigation(false);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + kEvidenceRowAir);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setFont(uiFont(-1));
    horizontalHeader()->setMinimumSectionSize(28);
}

void EvidenceTable::setModel(QAbstractItemModel *model)
{
    QTableView::setModel(model);
    connect(model, &QAbstractItemModel::modelReset, this, &EvidenceTable::fitColumns);
}

void EvidenceTable::fitColumns()
{
    const int columns = model()->columnCount();
    const QFontMetrics &metrics = fontMetrics();
    for (int c = 0; c < columns; ++c) {
        int widest = metrics.horizontalAdvance(model()->headerData(c, Qt::Horizontal).toString()) + kHeaderAir;
        for (int r = 0; r < std::min(kMeasuredRows, model()->rowCount()); ++r) {
            const QModelIndex index = model()->index(r, c);
            const int mark = index.data(SourceIndexRole).isValid() ? 18 : 0;
            widest = std::max(widest, metrics.horizontalAdvance(index.data().toString()) + mark);
        }
        setColumnWidth(c, std::min(widest + kCellAir, kWidest));
        horizontalHeader()->setSectionResizeMode(c, c == m_stretched ? QHeaderView::Stretch : QHeaderView::Interactive);
    }
}

QString EvidenceTable::toTsv() const
{
    QList<int> rows;
    for (const QModelIndex &index : selectionModel()->selectedRows())
        rows << index.row();
    std::ranges::sort(rows);
    if (rows.isEmpty()) {
        rows.resize(model()->rowCount());
        std::iota(rows.begin(), rows.end(), 0);
    }
    const auto line = [this](auto &&text) {
        QStringList cells;
        for (int c = 0; c < model()->columnCount(); ++c)
            cells << text(c);
        return cells.join(u'\t') + u'\n';
    };
    QString tsv = line([this](int c) { return model()->headerData(c, Qt::Horizontal).toString(); });
    for (const int r : rows)
        tsv += line([this, r](int c) { return model()->index(r, c).data().toString(); });
    return tsv;
}

void EvidenceTable::keyPressEvent(QKeyEvent *event)
{
    if (event->matches(QKeySequence::Copy)) {
        QApplication::clipboard()->setText(toTsv());
        return;
    }
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        if (currentIndex().isValid())
            emit activated(currentIndex());
        return;
    }
    QTableView::keyPressEvent(event);
}

void EvidenceTable::contextMenuEvent(QContextMenuEvent *event)
{
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (QAction *action : actions())
        menu->addAction(action);
    connect(menu->addAction(tr("Copy as TSV")), &QAction::triggered, this,
        [this] { QApplication::clipboard()->setText(toTsv()); });
    addPictureActions(*menu, this, tr("evidence"));
    menu->popup(event->globalPos());
}

} // namespace trainyard
