#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The number fields of the map's editors. Whatever is typed stays to be seen; what cannot be taken stays too, in the
// colour of faults, with a sentence that says why, instead of being corrected in silence. GUI thread.

#include "views/theme/theme.h"

#include <QDoubleSpinBox>
#include <QFocusEvent>
#include <QKeyEvent>
#include <QLineEdit>
#include <QLocale>
#include <QSpinBox>

#include <cmath>
#include <functional>
#include <optional>
#include <type_traits>

namespace trainyard {

template <class Box> class RefusingBox : public Box {
public:
    static constexpr bool kIsWhole = std::is_same_v<Box, QSpinBox>;
    using Number = std::conditional_t<kIsWhole, int, double>;

    /// `checked`: called when what stands in the field has changed.
    RefusingBox(QWidget *parent, std::function<void()> checked)
        : Box(parent)
        , m_checked(std::move(checked))
    {
        QObject::connect(this->lineEdit(), &QLineEdit::textChanged, this, [this] { check(); });
    }

    /// Why what stands there cannot be taken; empty where it can.
    [[nodiscard]] QString refusal() const
    {
        const QString text = this->lineEdit()->text();
        if (read(text))
            return {};
        const bool isShifted = !this->specialValueText().isEmpty() && this->minimum() < 0
            && this->minimum() > -1; // one step below zero: missing
        QString wanted =
            QStringLiteral("%1: %2 from %3 to %4")
                .arg(this->accessibleName(), kIsWhole ? QStringLiteral("a whole number") : QStringLiteral("a number"),
                    figure(isShifted ? 0 : this->minimum()), figure(this->maximum()));
        if constexpr (!kIsWhole)
            wanted += this->decimals() > 0 ? QStringLiteral(", with %1 decimals at most").arg(this->decimals())
                                           : QStringLiteral(", without decimals");
        return wanted
            + (text.trimmed().isEmpty() ? QStringLiteral(" is wanted.")
                                        : QStringLiteral(" is wanted, not “%1”.").arg(text.trimmed()));
    }

    QValidator::State validate(QString &text, int &) const override
    {
        return read(text) ? QValidator::Acceptable : QValidator::Intermediate;
    }
    Number valueFromText(const QString &text) const override
    {
        return Number(read(text).value_or(double(this->value())));
    }

protected:
    /// The box would put its last number back.
    void focusOutEvent(QFocusEvent *event) override
    {
        if (refusal().isEmpty())
            Box::focusOutEvent(event);
        else
            QWidget::focusOutEvent(event);
    }
    void keyPressEvent(QKeyEvent *event) override
    {
        const bool isEnter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
        if (isEnter && !refusal().isEmpty())
            event->accept();
        else
            Box::keyPressEvent(event);
    }

private:
    [[nodiscard]] static QString figure(double value)
    {
        return QLocale(QLocale::English).toString(value, 'f', QLocale::FloatingPointShortest);
    }

    [[nodiscard]] std::optional<double> read(QString text) const
    {
        if (!this->specialValueText().isEmpty() && text == this->specialValueText())
            return double(this->minimum());
        if (text.endsWith(this->suffix()))
            text.chop(this->suffix().size());
        text = text.trimmed().replace(QChar(0x2212), u'-');
        bool isNumber = false;
        const double number = this->locale().toDouble(text, &isNumber);
        if (!isNumber || number < this->minimum() || number > this->maximum())
            return std::nullopt;
        return std::abs(number - kept(number)) <= kMostLost * std::abs(number) ? std::optional(number) : std::nullopt;
    }

    /// With the digits that the field keeps.
    [[nodiscard]] double kept(double number) const
    {
        if constexpr (kIsWhole)
            return std::round(number);
        else
            return std::round(number * std::pow(10, this->decimals())) / std::pow(10, this->decimals());
    }

    void check()
    {
        const bool isRefused = !refusal().isEmpty();
        this->lineEdit()->setStyleSheet(isRefused ? QStringLiteral("color: %1;").arg(theme().bad.name()) : QString());
        this->setAccessibleDescription(refusal());
        m_checked();
    }

    /// share of a number that rounding may take
    static constexpr double kMostLost = kIsWhole ? 0 : 0.01;

    std::function<void()> m_checked;
};

using FormNumber = RefusingBox<QDoubleSpinBox>;
using FormCount = RefusingBox<QSpinBox>;

} // namespace trainyard
