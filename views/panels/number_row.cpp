// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/number_row.h"

#include "views/panels/effect_columns.h"
#include "views/panels/undo_keys.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QDoubleSpinBox>
#include <QEvent>
#include <QFontMetrics>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QSignalBlocker>

#include <cmath>
#include <optional>
#include <utility>

namespace trainyard {

/// As many decimals as the number has, up to those allowed: "40", not "40.00". Whatever is typed stays to be seen,
/// "1e7" as a number, what is none in the colour of faults until it is put right or Enter puts the value back.
class NumberBox : public QDoubleSpinBox {
public:
    explicit NumberBox(QWidget *parent)
        : QDoubleSpinBox(parent)
    {
        connect(lineEdit(), &QLineEdit::textChanged, this, &NumberBox::checkText);
    }
    QString textFromValue(double value) const override
    {
        return locale().toString(value, 'g', 10).remove(locale().groupSeparator());
    }
    double valueFromText(const QString &text) const override { return read(text).value_or(value()); }
    QValidator::State validate(QString &text, int &) const override
    {
        return read(text) ? QValidator::Acceptable : QValidator::Intermediate;
    }
    void stepBy(int steps) override
    {
        m_isStepping = true;
        QDoubleSpinBox::stepBy(steps);
        m_isStepping = false;
        checkText();
    }
    /// Whether what stands there is a number. The box says nothing when it puts its own text there.
    void checkText()
    {
        const QString text = lineEdit()->text();
        markFault(!read(text) && !text.isEmpty());
    }
    [[nodiscard]] int gesture() const { return m_isStepping ? m_gesture : 0; }

protected:
    /// Undo belongs to the document unless a text has been typed and not entered.
    bool event(QEvent *event) override
    {
        if (event->type() == QEvent::ShortcutOverride && lineEdit()->text() == shown()
            && isUndoKey(*static_cast<QKeyEvent *>(event))) {
            event->ignore();
            return true;
        }
        const bool isTaken = QDoubleSpinBox::event(event);
        if (event->type() == QEvent::KeyPress || event->type() == QEvent::FocusOut)
            checkText();
        return isTaken;
    }
    void focusInEvent(QFocusEvent *event) override
    {
        ++m_gesture;
        QDoubleSpinBox::focusInEvent(event);
    }

private:
    [[nodiscard]] QString shown() const
    {
        return !specialValueText().isEmpty() && value() == minimum() ? specialValueText()
                                                                     : prefix() + textFromValue(value()) + suffix();
    }
    [[nodiscard]] std::optional<double> read(QString text) const
    {
        if (!specialValueText().isEmpty() && text == specialValueText())
            return minimum();
        if (text.endsWith(suffix()))
            text.chop(suffix().size());
        bool isNumber = false;
        const double number = locale().toDouble(text.trimmed(), &isNumber);
        return isNumber && number >= minimum() && number <= maximum() ? std::optional(number) : std::nullopt;
    }
    void markFault(bool isFault)
    {
        if (std::exchange(m_isFault, isFault) == isFault)
            return;
        lineEdit()->setStyleSheet(
            isFault ? QStringLiteral("color: %1;").arg(theme().bad.name()) : QString()); // stronger than the window's
        setAccessibleDescription(isFault ? NumberRow::tr("A number from %1 to %2 is wanted.")
                                               .arg(textFromValue(minimum()), textFromValue(maximum()))
                                         : QString());
    }

    bool m_isStepping = false, m_isFault = false;
    int m_gesture = 1; // numbers the visits of the keyboard or mouse
};

NumberRow::NumberRow(const StrategyEntry &entry, const QString &name, const QString &explanation, QWidget *parent)
    : QWidget(parent)
    , m_row(*entry.row)
    , m_box(new NumberBox(this))
{
    auto *label = new TextLine(name, Ink::Text, this);
    label->setToolTip(explanation);
    m_box->setLocale(QLocale::c());
    const Key &key = m_row.key;
    const bool startsAbove = key.isAboveMin && !m_row.mayBeMissing;
    m_box->setDecimals(key.decimals);
    m_box->setRange(startsAbove ? key.min + std::pow(10.0, -key.decimals) : key.min, key.max);
    m_box->setSuffix(QString::fromUtf8(key.shownUnit()));
    m_box->setSpecialValueText(QString::fromUtf8(key.lowestMeans));
    m_box->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
    m_box->setKeyboardTracking(false);
    m_box->setFocusPolicy(Qt::StrongFocus);
    m_box->setAccessibleName(name.trimmed());
    m_box->setToolTip(explanation);
    m_box->installEventFilter(this);
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(Theme::kGap);
    layout->addWidget(label, kNameShare);
    layout->addWidget(m_box, kControlShare);
    layout->addWidget(new EffectLine(this), kEffectShare); // nothing stands there, as wide as in the rows around it
    setMinimumHeight(QFontMetrics(uiFont(-1)).height() + 9); // as the rows around it
    for (QWidget *w : { static_cast<QWidget *>(label), static_cast<QWidget *>(m_box) })
        w->setSizePolicy(QSizePolicy::Ignored, w->sizePolicy().verticalPolicy());
    connect(
        m_box, &QDoubleSpinBox::valueChanged, this, [this](double value) { Q_EMIT changed(value, m_box->gesture()); });
}

QDoubleSpinBox *NumberRow::box() const
{
    return m_box;
}

void NumberRow::setPlan(const Plan &plan)
{
    const QSignalBlocker quiet(m_box);
    if (const double value = m_row.value(plan).value_or(0);
        m_box->value() != value) // else a text that is being typed would go
        m_box->setValue(value);
    m_box->checkText();
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
