// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/part_row.h"

#include "views/panels/effect_text.h"
#include "views/panels/hover_button.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>

namespace trainyard {

PartRow::PartRow(int rank, QWidget *parent)
    : QWidget(parent), m_name(new TextLine({}, Ink::Text, this)), m_change(new TextLine({}, Ink::Good, this)), m_apply(new HoverButton(tr("Apply"), this))
{
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(Theme::kGap);
    auto *number = new TextLine(QString::number(rank), Ink::Faint, this);
    number->setFixedWidth(fontMetrics().horizontalAdvance(QStringLiteral("00")));
    m_name->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_change->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_change->setFixedWidth(fontMetrics().horizontalAdvance(QStringLiteral("−000.0 %")) + 4);
    m_apply->setFixedHeight(fontMetrics().height() + 8);
    layout->addWidget(number);
    layout->addWidget(m_name, 1);
    layout->addWidget(m_change);
    layout->addWidget(m_apply);
    connect(m_apply, &QPushButton::clicked, this, [this] { Q_EMIT applied(m_part.part.plan, QString::fromStdString(m_part.part.sentence)); });
    connect(m_apply, &HoverButton::entered, this, [this] { Q_EMIT previewed(m_part.part.plan, QString::fromStdString(m_part.part.sentence)); });
    connect(m_apply, &HoverButton::left, this, &PartRow::previewEnded);
}

void PartRow::setOutdated(bool isOutdated)
{
    m_change->setDimmed(isOutdated);
}

void PartRow::setPart(const RankedPart &part, std::optional<double> iterationNow)
{
    m_part = part;
    const QString label = QString::fromStdString(part.part.label);
    m_name->setText(label);
    const EffectText text = effectText(part.effect);
    m_change->setText(text.text);
    m_change->setInk(text.ink);
    setToolTip(QStringLiteral("%1. %2").arg(label, effectSentence(part.effect, iterationNow)));
    m_apply->setAccessibleName(tr("Apply: %1, %2").arg(label, text.text));
}

} // namespace trainyard
