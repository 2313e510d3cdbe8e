// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/area_table.h"

#include "models/text/format.h"
#include "views/theme/theme.h"
#include "views/timeline/chart_painter.h"

#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QTableWidget>
#include <QToolButton>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

constexpr int kHeaderRoom = 20;        // that a style may put around a header's text

double seconds(Nanoseconds t) { return double(t) * 1e-9; }

Nanoseconds mean(const KindTotal &total) { return total.count > 0 ? total.total / total.count : 0; }

} // namespace

std::vector<AreaRow> areaRows(const Timeline &timeline, TimeInterval range, const std::vector<std::uint32_t> &tracks)
{
    const auto totals = aggregate(timeline, range.begin, range.end, tracks);
    const double area = double(range.length()) * double(tracks.size());
    std::vector<AreaRow> rows;
    for (int k = 0; k < kWorkKindCount; ++k) {
        const KindTotal &total = totals[std::size_t(k)];
        if (total.count > 0)
            rows.push_back({QString::fromUtf8(toString(WorkKind(k))), total, area > 0 ? double(total.total) / area : 0});
    }
    std::sort(rows.begin(), rows.end(), [](const AreaRow &a, const AreaRow &b) { return a.total.total > b.total.total; });
    std::vector<std::uint32_t> stages, channels;
    for (const std::uint32_t t : tracks)
        (timeline.tracks[t].stream == Stream::Wan ? channels : stages).push_back(t);
    for (const auto &[name, of] : {std::pair{AreaTable::tr("idle"), &stages}, std::pair{AreaTable::tr("idle channel"), &channels}}) {
        Nanoseconds idle = Nanoseconds(of->size()) * range.length();
        for (const KindTotal &total : aggregate(timeline, range.begin, range.end, *of))
            idle -= total.total;
        if (!of->empty())
            rows.push_back({name, {0, std::max<Nanoseconds>(0, idle), 0, 0}, area > 0 ? std::max(0.0, double(idle)) / area : 0});
    }
    return rows;
}

QString toTsv(const std::vector<AreaRow> &rows)
{
    QString text = QStringLiteral("kind\tcount\ttotal_s\tshare\tmean_s\tshortest_s\tlongest_s\n");
    for (const AreaRow &row : rows) {
        text += QStringLiteral("%1\t%2\t%3\t%4\t%5\t%6\t%7\n")
                    .arg(row.name).arg(row.total.count).arg(seconds(row.total.total), 0, 'g', 9).arg(row.share, 0, 'g', 6)
                    .arg(seconds(mean(row.total)), 0, 'g', 9).arg(seconds(row.total.shortest), 0, 'g', 9).arg(seconds(row.total.longest), 0, 'g', 9);
    }
    return text;
}

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
    for (QToolButton *button : {m_copy, m_close})
        button->setAutoRaise(true);
    m_table->setColumnCount(7);
    m_table->setHorizontalHeaderLabels({tr("kind"), tr("count"), tr("total"), tr("share"), tr("mean"), tr("shortest"), tr("longest")});
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
        const auto time = [counted](Nanoseconds t) { return counted ? formatSeconds(seconds(t)) : QString(); };
        put(r, 0, row.name);
        put(r, 1, counted ? QString::number(row.total.count) : QString());
        put(r, 2, formatSeconds(seconds(row.total.total)));
        put(r, 3, formatPercent(row.share));
        put(r, 4, time(mean(row.total)));
        put(r, 5, time(row.total.shortest));
        put(r, 6, time(row.total.longest));
        m_table->setRowHeight(r, QFontMetrics(rowFont()).height() + 5);
    }
    m_table->resizeColumnsToContents();
    const QFontMetrics header(uiFont());   // a style sheet may keep the header from taking a smaller font
    for (int c = 0; c < m_table->columnCount(); ++c)
        m_table->setColumnWidth(c, std::max(m_table->columnWidth(c), header.horizontalAdvance(m_table->horizontalHeaderItem(c)->text()) + kHeaderRoom));
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


} // namespace trainyard
