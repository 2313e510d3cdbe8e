// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/part_row.h"

#include "views/panels/effect_text.h"
#include "views/panels/hover_button.h"
#include "views/theme/theme.h"

#include <QGridLayout>

#include <algorithm>

namespace trainyard {

PartRow::PartRow(int rank, QWidget *parent)
    : QWidget(parent)
    , m_name(new TextLine({}, Ink::Text, this))
    , m_change(new TextLine({}, Ink::Good, this))
    , m_because(new TextLine({}, Ink::Faint, this))
    , m_apply(new HoverButton(tr("Apply"), this))
{
    auto *layout = new QGridLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setHorizontalSpacing(Theme::kGap);
    layout->setVerticalSpacing(0);
    auto *number = new TextLine(QString::number(rank), Ink::Faint, this);
    number->setFixedWidth(fontMetrics().horizontalAdvance(QStringLiteral("00")));
    m_name->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_change->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_change->setFixedWidth(fontMetrics().horizontalAdvance(QStringLiteral("−000.0 %")) + 4);
    m_apply->setFixedHeight(fontMetrics().height() + 8);
    m_because->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_because->setFont(uiFont(-2));
    layout->addWidget(number, 0, 0);
    layout->addWidget(m_name, 0, 1);
    layout->addWidget(m_because, 1, 1, 1, 2);
    layout->addWidget(m_change, 0, 2);
    layout->addWidget(m_apply, 0, 3, 2, 1, Qt::AlignVCenter);
    layout->setColumnStretch(1, 1);
    connect(m_apply, &QPushButton::clicked, this,
        [this] { Q_EMIT applied(m_part.part.plan, QString::fromStdString(m_part.part.sentence)); });
    connect(m_apply, &HoverButton::entered, this,
        [this] { Q_EMIT previewed(m_part.part.plan, QString::fromStdString(m_part.part.sentence)); });
    connect(m_apply, &HoverButton::left, this, &PartRow::previewEnded);
}

void PartRow::setOutdated(bool isOutdated)
{
    for (TextLine *line : { m_change, m_because })
        line->setDimmed(isOutdated);
}

void PartRow::setPart(const RankedPart &part, std::optional<double> iterationNow)
{
    m_part = part;
    const QString label = QString::fromStdString(part.part.label);
    // What is bought is read before where: the names of the ends are cut first.
    const qsizetype amount = std::max(label.lastIndexOf(QStringLiteral(" +")), label.lastIndexOf(QStringLiteral(" −")));
    m_name->setLead(int(std::max<qsizetype>(0, amount)));
    m_name->setText(label);
    const EffectText text = effectText(part.effect);
    m_change->setText(text.text);
    m_change->setInk(text.ink);
    const QString why = becauseText(part.effect);
    m_because->setText(why);
    m_because->setVisible(!why.isEmpty());
    setToolTip(QStringLiteral("%1. %2").arg(label, effectSentence(part.effect, iterationNow)));
    m_apply->setAccessibleName(tr("Apply: %1, %2").arg(label, text.text));
}

} // namespace trainyard
