// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/number_row.h"

#include "views/panels/text_line.h"
#include "views/theme/theme.h"

#include <QDoubleSpinBox>
#include <QEvent>
#include <QFontMetrics>
#include <QHBoxLayout>
#include <QSignalBlocker>

namespace trainyard {

namespace {

/// As many decimals as the number has, up to those allowed: "40", not "40.00".
class ShortBox : public QDoubleSpinBox {
public:
    using QDoubleSpinBox::QDoubleSpinBox;
    QString textFromValue(double value) const override { return locale().toString(value, 'g', 10).remove(locale().groupSeparator()); }
};

} // namespace

NumberRow::NumberRow(const StrategyEntry &entry, const QString &name, const QString &explanation, QWidget *parent)
    : QWidget(parent), m_field(*entry.field), m_box(new ShortBox(this))
{
    auto *label = new TextLine(name, Ink::Text, this);
    label->setToolTip(explanation);
    m_box->setLocale(QLocale::c());
    m_box->setDecimals(m_field.decimals);
    m_box->setRange(m_field.low, m_field.high);
    m_box->setSuffix(tr(m_field.suffix));
    if (m_field.lowestMeans)
        m_box->setSpecialValueText(tr(m_field.lowestMeans));
    m_box->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
    m_box->setKeyboardTracking(false);
    m_box->setFocusPolicy(Qt::StrongFocus);
    m_box->setAccessibleName(name.trimmed());
    m_box->setToolTip(explanation);
    m_box->installEventFilter(this);
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(Theme::kGap);
    layout->addWidget(label, 32);
    layout->addWidget(m_box, 38);
    layout->addStretch(30);
    setMinimumHeight(QFontMetrics(uiFont(-1)).height() + 9);   // as the rows around it
    for (QWidget *w : {static_cast<QWidget *>(label), static_cast<QWidget *>(m_box)})
        w->setSizePolicy(QSizePolicy::Ignored, w->sizePolicy().verticalPolicy());
    connect(m_box, &QDoubleSpinBox::valueChanged, this, &NumberRow::changed);
}

void NumberRow::setPlan(const Plan &plan)
{
    const QSignalBlocker quiet(m_box);
    m_box->setValue(m_field.get(plan));
}

bool NumberRow::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Wheel) {
        event->ignore();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace trainyard
