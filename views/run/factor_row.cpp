// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/factor_row.h"

#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QGridLayout>
#include <QPainter>
#include <QPushButton>

namespace trainyard {

FactorRow::FactorRow(QWidget *parent)
    : QWidget(parent)
    , m_subject(new TextLine({}, Ink::Text, this))
    , m_value(new TextLine({}, Ink::Text, this))
    , m_basis(new TextLine({}, Ink::Muted, this))
    , m_errors(new TextLine({}, Ink::Muted, this))
    , m_told(new TextLine({}, Ink::Muted, this))
    , m_button(new QPushButton(this))
{
    auto *grid = new QGridLayout(this);
    grid->setContentsMargins(0, 6, 0, 6);
    grid->setHorizontalSpacing(Theme::kGap);
    grid->setVerticalSpacing(1);
    m_subject->setFont(uiFont(0, QFont::DemiBold));
    m_subject->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_value->setFixedWidth(kValue);
    m_basis->setFixedWidth(kBasis);
    m_errors->setFixedWidth(kErrors);
    m_button->setFixedWidth(kButton);
    for (TextLine *line : { m_basis, m_errors, m_told })
        line->setFont(uiFont(-1));
    m_told->setWrapped(true);
    QSizePolicy kept = m_button->sizePolicy();
    kept.setRetainSizeWhenHidden(true);
    m_button->setSizePolicy(kept);
    grid->addWidget(m_subject, 0, 0);
    grid->addWidget(m_value, 0, 1);
    grid->addWidget(m_basis, 0, 2);
    grid->addWidget(m_errors, 0, 3);
    grid->addWidget(m_told, 1, 0, 1, 4);
    grid->addWidget(m_button, 0, 4, 2, 1, Qt::AlignVCenter);
    grid->setColumnStretch(0, 1);
    connect(m_button, &QPushButton::clicked, this, [this] {
        const bool isIn = m_row.state == FactorState::Taken || m_row.state == FactorState::Kept;
        if (isIn)
            emit removed(std::string(m_row.id));
        else
            emit accepted(std::string(m_row.id));
    });
}

void FactorRow::setRow(const CalibrationRow &row)
{
    m_row = row;
    const bool isRefused = row.state == FactorState::Refused, isTaken = row.state == FactorState::Taken;
    m_subject->setText(isTaken ? QStringLiteral("✓ ") + row.subject : row.subject);
    m_value->setText(row.value);
    m_basis->setText(row.basis);
    m_errors->setText(row.errors);
    m_told->setText(row.told);
    m_told->setVisible(!row.told.isEmpty());
    m_subject->setInk(isRefused ? Ink::Faint : isTaken ? Ink::Good : Ink::Text);
    m_value->setInk(isRefused ? Ink::Faint : Ink::Text);
    for (TextLine *line : { m_basis, m_errors })
        line->setInk(isRefused ? Ink::Faint : Ink::Muted);
    m_button->setVisible(!isRefused);
    m_button->setText(isTaken || row.state == FactorState::Kept ? tr("Remove")
            : row.state == FactorState::Replaces                ? tr("Replace")
                                                                : tr("Accept"));
    m_button->setAccessibleName(QStringLiteral("%1: %2 %3").arg(m_button->text(), row.subject, row.value));
    m_button->setToolTip(isTaken || row.state == FactorState::Kept ? tr("Takes it out of the plan. Undo puts it back.")
                                                                   : tr("Takes it into the plan. Undo takes it out."));
    setToolTip(row.hint);
    setAccessibleName(row.subject);
    setAccessibleDescription(row.told);
}

void FactorRow::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme().grid);
}

} // namespace trainyard
