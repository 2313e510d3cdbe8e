// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/planner/limit_row.h"

#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLocale>
#include <QSignalBlocker>

#include <cmath>

namespace trainyard {

namespace {

/// "500 $/h", not "500.00 $/h".
class LimitBox : public QDoubleSpinBox {
public:
    using QDoubleSpinBox::QDoubleSpinBox;
    QString textFromValue(double value) const override
    {
        return locale().toString(value, 'g', 10).remove(locale().groupSeparator());
    }
    /// "1,500" is fifteen hundred; "1,5" is one and a half, not fifteen.
    double valueFromText(const QString &text) const override
    {
        QString plain = text;
        if (const qsizetype comma = text.indexOf(u','); comma >= 0 && text.count(u',') == 1 && !text.contains(u'.')) {
            qsizetype end = comma + 1;
            while (end < text.size() && text[end].isDigit())
                ++end;
            if (end - comma - 1 != 3)
                plain[comma] = u'.';
        }
        return QDoubleSpinBox::valueFromText(plain);
    }
    /// A field that was emptied has no limit, rather than the one before.
    void fixup(QString &text) const override
    {
        QString bare = text;
        if (bare.endsWith(suffix()))
            bare.chop(suffix().size());
        if (bare.trimmed().isEmpty())
            text = textFromValue(minimum()) + suffix();
        else
            QDoubleSpinBox::fixup(text);
    }
};

} // namespace

LimitRow::LimitRow(const Kind &kind, QWidget *parent)
    : QWidget(parent)
    , box(new LimitBox(this))
    , m_none(kind.least > 0 ? 0 : kind.least - std::pow(10.0, -kind.decimals))
{
    auto *label = new TextLine(kind.name, Ink::Text, this);
    label->setToolTip(kind.help);
    box->setLocale(QLocale::c());
    box->setDecimals(kind.decimals);
    box->setRange(m_none, kind.most);
    box->setSpecialValueText(kind.none);
    box->setSuffix(kind.unit);
    box->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
    box->setKeyboardTracking(false);
    box->setFocusPolicy(Qt::StrongFocus);
    box->setAccessibleName(kind.name);
    box->setToolTip(kind.help);
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(Theme::kGap);
    row->addWidget(label, 46);
    row->addWidget(box, 54);
    for (QWidget *widget : { static_cast<QWidget *>(label), static_cast<QWidget *>(box) })
        widget->setSizePolicy(QSizePolicy::Ignored, widget->sizePolicy().verticalPolicy());
    connect(box, &QDoubleSpinBox::valueChanged, this, &LimitRow::edited);
}

void LimitRow::setLimit(std::optional<double> limit)
{
    const QSignalBlocker quiet(box);
    if (const double value = limit.value_or(m_none); box->value() != value) // else what is being typed would go
        box->setValue(value);
}

std::optional<double> LimitRow::limit() const
{
    return box->value() > m_none ? std::optional(box->value()) : std::nullopt;
}

} // namespace trainyard
