// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/part_row.h"

#include "models/text/format.h"
#include "views/panels/effect_text.h"
#include "views/panels/hover_button.h"
#include "views/theme/theme.h"

#include <QGridLayout>

#include <algorithm>

namespace trainyard {

namespace {

/// As high as its lines, however wide what it says is.
void wrap(TextLine &line)
{
    line.setWrapped(true);
    QSizePolicy policy = line.sizePolicy();
    policy.setHorizontalPolicy(QSizePolicy::Ignored);
    line.setSizePolicy(policy);
}

/// "$189 more per hour: each dollar saves 0.0054 %"; empty where nothing is bought.
QString priceText(const RankedPart &part)
{
    if (!part.usdPerHour)
        return {};
    if (*part.usdPerHour <= 0)
        return PartRow::tr("%1 less per hour").arg(formatUsd(-*part.usdPerHour));
    const QString more = PartRow::tr("%1 more per hour").arg(formatUsd(*part.usdPerHour));
    const double saved = -part.effect.change.value_or(0) / *part.usdPerHour;
    return saved > 0 ? PartRow::tr("%1: each dollar saves %2").arg(more, formatPercent(saved)) : more;
}

} // namespace

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
    wrap(*m_name); // names of datacenters and how much is bought: neither is cut
    m_change->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_change->setFixedWidth(fontMetrics().horizontalAdvance(QStringLiteral("−000.0 %")) + 4);
    m_apply->setFixedHeight(fontMetrics().height() + 8);
    wrap(*m_because);
    m_because->setFont(uiFont(-2));
    layout->addWidget(number, 0, 0, Qt::AlignTop);
    layout->addWidget(m_name, 0, 1);
    layout->addWidget(m_because, 1, 1, 1, 2);
    layout->addWidget(m_change, 0, 2, Qt::AlignTop);
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
    // Where it needs two lines, what is bought begins the second.
    const qsizetype amount = std::max(label.lastIndexOf(QStringLiteral(" +")), label.lastIndexOf(QStringLiteral(" −")));
    m_name->setLead(int(std::max<qsizetype>(0, amount)));
    m_name->setText(label);
    const EffectText text = effectText(part.effect);
    m_change->setText(text.text);
    m_change->setInk(text.ink);
    QString why = becauseText(part.effect);
    if (const QString price = priceText(part); !price.isEmpty())
        why += (why.isEmpty() ? QString() : QStringLiteral("; ")) + price;
    m_because->setText(why);
    m_because->setVisible(!why.isEmpty());
    setToolTip(QStringLiteral("%1. %2").arg(label, effectSentence(part.effect, iterationNow)));
    m_apply->setAccessibleName(tr("Apply: %1, %2").arg(label, text.text));
}

} // namespace trainyard
