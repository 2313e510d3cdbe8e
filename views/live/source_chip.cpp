// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/live/source_chip.h"

#include "models/live_words.h"
#include "views/live/state_mark.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QDateTime>
#include <QGridLayout>
#include <QVBoxLayout>

namespace trainyard {

namespace {

constexpr int kLeast = 120, kMost = 420;

Moment unixNow()
{
    return Moment(QDateTime::currentMSecsSinceEpoch()) * 1'000'000;
}

} // namespace

SourceChip::SourceChip(QWidget *parent)
    : QWidget(parent)
    , m_mark(new StateMark(this))
    , m_name(new TextLine({}, Ink::Muted, this))
    , m_state(new TextLine({}, Ink::Text, this))
{
    auto *grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(6);
    grid->setVerticalSpacing(0);
    grid->addWidget(m_mark, 0, 0, 2, 1, Qt::AlignVCenter);
    grid->addWidget(m_name, 0, 1);
    grid->addWidget(m_state, 1, 1);
    grid->setColumnStretch(1, 1);
    m_name->setFont(uiFont(-2));
    setMinimumWidth(kLeast);
    setMaximumWidth(kMost);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void SourceChip::setRow(const LiveSourceRow &row, bool isHeld)
{
    m_row = row;
    const live::SourceState state = row.status.state;
    m_isHeld = isHeld && (state == live::SourceState::Live || state == live::SourceState::Stale);
    m_mark->setState(m_isHeld ? live::SourceState::Paused : state);
    m_name->setText(shortName(row.status.address));
    showTime();
}

void SourceChip::showTime()
{
    const Moment now = unixNow();
    m_state->setText(m_isHeld ? tr("Paused: what comes is recorded, not shown") : stateText(m_row.status, now));
    m_state->setShortText(m_isHeld ? tr("Paused") : stateName(m_row.status, now));
    setToolTip(text());
    setAccessibleName(text());
}

QString SourceChip::text() const
{
    return m_name->text() + QStringLiteral(": ") + m_state->text();
}

FigureCell::FigureCell(const QString &caption, QWidget *parent)
    : QWidget(parent)
    , value(new TextLine({}, Ink::Text, this))
    , m_caption(caption)
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto *title = new TextLine(caption, Ink::Muted, this);
    title->setFont(uiFont(-2));
    value->setFont(uiFont(0, QFont::DemiBold));
    column->addWidget(title);
    column->addWidget(value);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void FigureCell::setFigure(const QString &figure, const QString &hint)
{
    value->setText(figure);
    setToolTip(hint);
    setAccessibleName(m_caption + QStringLiteral(": ") + figure);
    setVisible(!figure.isEmpty());
}

QString FigureCell::figure() const
{
    return value->text();
}

} // namespace trainyard
