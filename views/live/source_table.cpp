// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/live/source_table.h"

#include "views/panels/evidence_table.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QHeaderView>
#include <QPushButton>
#include <QVBoxLayout>

#include <chrono>

namespace trainyard {

namespace {

constexpr int kHeight = 112;

} // namespace

SourceTable::SourceTable(LiveDocument &live, QWidget *parent)
    : QWidget(parent)
    , table(new EvidenceTable(tr("Sources"), LiveSourceModel::Reason))
    , connectButton(new QPushButton(tr("Connect…"), this))
    , pause(new QPushButton(tr("Leave out"), this))
    , retry(new QPushButton(tr("Try now"), this))
    , removeButton(new QPushButton(tr("Remove"), this))
    , m_live(live)
    , m_model(new LiveSourceModel(live, this))
    , m_told(new TextLine({}, Ink::Muted, this))
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    table->setModel(m_model);
    table->setSelectionMode(QAbstractItemView::SingleSelection);
    table->setFixedHeight(kHeight);
    column->addWidget(table);
    m_told->setWrapped(true);
    m_told->setFont(uiFont(-1));
    column->addWidget(m_told);
    connect(m_model, &QAbstractItemModel::modelReset, this, &SourceTable::layColumns);
    layColumns();
    auto *row = new QHBoxLayout;
    row->setSpacing(4);
    for (QPushButton *button : { connectButton, pause, retry, removeButton })
        row->addWidget(button);
    row->addStretch(1);
    column->addLayout(row);
    connectButton->setToolTip(tr("Another source of this run"));
    retry->setToolTip(tr("Does not wait for the next try"));
    removeButton->setToolTip(tr("Disconnects it. What it told stays."));
    connect(connectButton, &QPushButton::clicked, this, &SourceTable::connectRequested);
    pause->setToolTip(
        tr("Stays connected. What it tells meanwhile is left out of the recording, or asked for later where "
           "the source can."));
    connect(pause, &QPushButton::clicked, this, [this] {
        if (const LiveSourceRow *source = chosen())
            m_live.setPaused(source->number, source->status.state != live::SourceState::Paused);
    });
    connect(retry, &QPushButton::clicked, this, [this] {
        if (const LiveSourceRow *source = chosen())
            m_live.retryNow(source->number);
    });
    connect(removeButton, &QPushButton::clicked, this, [this] {
        if (const LiveSourceRow *source = chosen())
            m_live.remove(source->number);
    });
    connect(table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &SourceTable::showActions);
    connect(&live, &LiveDocument::sourcesChanged, this, &SourceTable::showActions);
    m_seconds.setInterval(std::chrono::seconds(1));
    connect(&m_seconds, &QTimer::timeout, m_model, &LiveSourceModel::tellTime);
    showActions();
}

const LiveSourceRow *SourceTable::chosen() const
{
    const QModelIndexList rows = table->selectionModel()->selectedRows();
    if (!rows.isEmpty())
        return m_model->row(rows.front().row());
    return m_model->rowCount() == 1 ? m_model->row(0) : nullptr;
}

void SourceTable::showActions()
{
    using State = live::SourceState;
    const LiveSourceRow *source = chosen();
    const State state = source ? source->status.state : State::Idle;
    const bool goesOn = source && state != State::Ended && state != State::Refused;
    pause->setText(state == State::Paused ? tr("Listen") : tr("Leave out"));
    pause->setEnabled(goesOn);
    retry->setEnabled(source && (state == State::BackingOff || state == State::Refused || state == State::Stale));
    removeButton->setEnabled(source != nullptr);
    m_told->setVisible(source && !source->status.reason.empty());
    if (source) // all of it: the table elides
        m_told->setText(tr("%1: %2").arg(
            QString::fromStdString(source->status.address.text()), QString::fromStdString(source->status.reason)));
    const QString name = source ? QString::fromStdString(source->status.address.text()) : tr("no source is chosen");
    for (QPushButton *button : { pause, retry, removeButton })
        button->setAccessibleName(QStringLiteral("%1: %2").arg(button->text(), name));
}

/// What they say grows while they tell: widths are for what they may say.
void SourceTable::layColumns()
{
    table->fitColumns();
    const std::pair<int, const char *> widths[] = { { LiveSourceModel::Where, "listen:127.0.0.1:4318 and" },
        { LiveSourceModel::State, "Trying again in 60 s" }, { LiveSourceModel::Told, "1.31 GB in 1,024 batches" },
        { LiveSourceModel::Lost, "Left out 12" } };
    for (const auto &[at, widest] : widths)
        table->setColumnWidth(at, table->fontMetrics().horizontalAdvance(QLatin1String(widest)));
}

void SourceTable::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_seconds.start();
}

void SourceTable::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    m_seconds.stop();
}

} // namespace trainyard
