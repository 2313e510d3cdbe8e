// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/dialogs/form_dialog.h"

#include "views/cluster/dialogs/form_fields.h"
#include "views/theme/theme.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <cmath>

namespace trainyard {

namespace {

void colourText(QLabel &label, const QColor &colour)
{
    QPalette palette = label.palette();
    palette.setColor(QPalette::WindowText, colour);
    label.setPalette(palette);
}

} // namespace

FormDialog::FormDialog(const QString &title, QWidget *parent)
    : QDialog(parent)
    , m_form(new QFormLayout)
    , m_message(new QLabel(this))
    , m_buttons(new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this))
{
    setWindowTitle(title);
    setAttribute(Qt::WA_DeleteOnClose);
    m_message->setObjectName(QStringLiteral("message"));
    m_message->setWordWrap(true);
    m_message->setMinimumWidth(360);
    auto *column = new QVBoxLayout(this);
    column->setSpacing(Theme::kPad);
    column->addLayout(m_form);
    column->addWidget(m_message);
    column->addStretch(1);
    column->addWidget(m_buttons);
    connect(m_buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(m_buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

QDoubleSpinBox *FormDialog::addNumber(const QString &label, double value, double low, double high, int decimals, const QString &unit)
{
    auto *box = new FormNumber(this, [this] { say(); });
    box->setDecimals(decimals);
    box->setRange(low, high);
    box->setSuffix(unit);
    box->setValue(value);
    box->setAccessibleName(label);
    m_form->addRow(label, box);
    m_refusals.push_back([box] { return box->isVisibleTo(box->window()) ? box->refusal() : QString(); });
    m_starts.insert(box, {value, box->value()});
    return box;
}

QDoubleSpinBox *FormDialog::addOptional(const QString &label, std::optional<double> value, double high, int decimals, const QString &unit, const QString &missing)
{
    const double below = -std::pow(10.0, -decimals);
    QDoubleSpinBox *box = addNumber(label, value.value_or(below), below, high, decimals, unit);
    box->setSpecialValueText(missing);
    return box;
}

double FormDialog::number(const QDoubleSpinBox &box) const
{
    const Start start = m_starts.value(&box);
    return box.value() == start.shown ? start.given : box.value();
}

std::optional<double> FormDialog::optional(const QDoubleSpinBox &box) const
{
    return box.value() > box.minimum() ? std::optional(number(box)) : std::nullopt;
}

int FormDialog::count(const QSpinBox &box) const
{
    const Start start = m_starts.value(&box);
    return box.value() == int(start.shown) ? int(start.given) : box.value();
}

QSpinBox *FormDialog::addCount(const QString &label, int value, int low, int high)
{
    auto *box = new FormCount(this, [this] { say(); });
    box->setRange(low, high);
    box->setValue(value);
    box->setAccessibleName(label);
    m_form->addRow(label, box);
    m_refusals.push_back([box] { return box->isVisibleTo(box->window()) ? box->refusal() : QString(); });
    m_starts.insert(box, {double(value), double(box->value())});
    return box;
}

void FormDialog::setFault(const QString &fault)
{
    m_fault = fault;
    m_note.clear();
    say();
}

void FormDialog::setNote(const QString &note)
{
    m_fault.clear();
    m_note = note;
    say();
}

void FormDialog::say()
{
    QString wrong;
    for (auto refusal = m_refusals.begin(); refusal != m_refusals.end() && wrong.isEmpty(); ++refusal)
        wrong = (*refusal)();
    if (wrong.isEmpty())
        wrong = m_fault;
    m_message->setText(wrong.isEmpty() ? m_note : wrong);
    colourText(*m_message, wrong.isEmpty() ? theme().textMuted : theme().bad);
    m_buttons->button(QDialogButtonBox::Ok)->setEnabled(wrong.isEmpty());
}

} // namespace trainyard
