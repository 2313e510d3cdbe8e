// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/area_table.h"

#include "models/text/format.h"
#include "views/export/panel_picture.h"
#include "views/theme/theme.h"
#include "views/timeline/chart_painter.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QTableWidget>
#include <QToolButton>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

constexpr int kHeaderRoom = 20; // that a style may put around a header's text

Nanoseconds mean(const KindTotal &total)
{
    return total.count > 0 ? total.total / total.count : 0;
}

} // namespace

AreaTable::AreaTable(QWidget *parent)
    : QFrame(parent)
    , m_title(new QLabel(this))
    , m_table(new QTableWidget(this))
    , m_copy(new QToolButton(this))
    , m_close(new QToolButton(this))
{
    setObjectName(QStringLiteral("AreaTable"));
    setAutoFillBackground(true);
    setFrameShape(QFrame::StyledPanel);
    m_copy->setText(tr("Copy"));
    m_copy->setToolTip(tr("Copy the table as tab-separated values (Ctrl+C)"));
    m_close->setText(QStringLiteral("✕"));
    m_close->setToolTip(tr("Close (Esc)"));
    m_close->setAccessibleName(tr("Close the selection's table"));
    for (QToolButton *button : { m_copy, m_close })
        button->setAutoRaise(true);
    m_table->setColumnCount(7);
    m_table->setHorizontalHeaderLabels(
        { tr("kind"), tr("count"), tr("total"), tr("share"), tr("mean"), tr("shortest"), tr("longest") });
    m_table->verticalHeader()->hide();
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setSelectionMode(QAbstractItemView::NoSelection);
    m_table->setFocusPolicy(Qt::NoFocus);
    m_table->setShowGrid(false);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_table->setAccessibleName(tr("Work in the selected area"));
    auto *head = new QHBoxLayout;
    head->addWidget(m_title, 1);
    head->addWidget(m_copy);
    head->addWidget(m_close);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(10, 4, 6, 8);
    column->setSpacing(2);
    column->addLayout(head);
    column->addWidget(m_table);
    connect(m_copy, &QToolButton::clicked, this, &AreaTable::copy);
    connect(m_close, &QToolButton::clicked, this, &AreaTable::closed);
    applyTheme();
    hide();
}

void AreaTable::clear()
{
    if (std::exchange(m_rows, {}).empty())
        return;
    m_table->setRowCount(0);
    m_title->clear();
    emit contentChanged(false);
}

void AreaTable::setRows(const QString &title, std::vector<AreaRow> rows)
{
    m_rows = std::move(rows);
    m_title->setText(title);
    m_table->setRowCount(int(m_rows.size()));
    const auto put = [this](int r, int c, const QString &text) {
        auto *item = new QTableWidgetItem(text);
        item->setTextAlignment((c == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
        m_table->setItem(r, c, item);
    };
    for (int r = 0; r < int(m_rows.size()); ++r) {
        const AreaRow &row = m_rows[std::size_t(r)];
        const bool counted = row.total.count > 0;
        const auto time = [counted](Nanoseconds t) { return counted ? formatSeconds(toSeconds(t).value) : QString(); };
        put(r, 0, row.name);
        put(r, 1, counted ? QString::number(row.total.count) : QString());
        put(r, 2, formatSeconds(toSeconds(row.total.total).value));
        put(r, 3, formatPercent(row.share));
        put(r, 4, time(mean(row.total)));
        put(r, 5, time(row.total.shortest));
        put(r, 6, time(row.total.longest));
        m_table->setRowHeight(r, QFontMetrics(rowFont()).height() + 5);
    }
    m_table->resizeColumnsToContents();
    const QFontMetrics header(uiFont()); // a style sheet may keep the header from taking a smaller font
    for (int c = 0; c < m_table->columnCount(); ++c)
        m_table->setColumnWidth(c,
            std::max(m_table->columnWidth(c),
                header.horizontalAdvance(m_table->horizontalHeaderItem(c)->text()) + kHeaderRoom));
    emit contentChanged(true);
}

void AreaTable::placeIn(const QRect &room)
{
    const int width = m_table->horizontalHeader()->length() + 20;
    const int height = m_table->verticalHeader()->length() + m_table->horizontalHeader()->sizeHint().height() + 44;
    resize(std::min(width, room.width()), std::min(height, room.height()));
    move(room.right() + 1 - this->width(), room.bottom() + 1 - this->height());
}

void AreaTable::copy() const
{
    QApplication::clipboard()->setText(toTsv(m_rows));
}

void AreaTable::applyTheme()
{
    QPalette palette = QApplication::palette();
    palette.setColor(QPalette::Window, theme().panelRaised);
    palette.setColor(QPalette::Base, theme().panelRaised);
    setPalette(palette);
    m_table->setPalette(palette);
    m_table->setFont(rowFont());
    m_table->horizontalHeader()->setFont(smallFont());
    m_title->setFont(uiFont(-1, QFont::DemiBold));
}

void AreaTable::contextMenuEvent(QContextMenuEvent *event)
{
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    connect(menu->addAction(tr("Copy as TSV")), &QAction::triggered, this, &AreaTable::copy);
    menu->addSeparator();
    addPictureActions(*menu, this, QStringLiteral("selected-area"));
    menu->popup(event->globalPos());
}

void AreaTable::changeEvent(QEvent *event)
{
    QFrame::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && palette().color(QPalette::Window) != theme().panelRaised)
        applyTheme();
}

} // namespace trainyard
