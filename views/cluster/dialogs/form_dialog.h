#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A form with OK and Cancel, the common frame of the map's editors: one line below the fields says what is wrong or refused,
// and OK waits until nothing is. GUI thread.

#include <QDialog>
#include <QHash>

#include <functional>
#include <optional>
#include <vector>

class QDialogButtonBox;
class QDoubleSpinBox;
class QFormLayout;
class QLabel;
class QSpinBox;

namespace trainyard {

class FormDialog : public QDialog {
    Q_OBJECT

public:
    FormDialog(const QString &title, QWidget *parent);

protected:
    [[nodiscard]] QFormLayout &form() { return *m_form; }
    /// A number that may be missing: one step below zero the field shows `missing`.
    QDoubleSpinBox *addOptional(const QString &label, std::optional<double> value, double high, int decimals, const QString &unit, const QString &missing);
    [[nodiscard]] std::optional<double> optional(const QDoubleSpinBox &box) const;
    QDoubleSpinBox *addNumber(const QString &label, double value, double low, double high, int decimals, const QString &unit);
    QSpinBox *addCount(const QString &label, int value, int low, int high);
    /// What the field stands for: the figure that it was made with, to the last digit, until another one is shown.
    [[nodiscard]] double number(const QDoubleSpinBox &box) const;
    [[nodiscard]] int count(const QSpinBox &box) const;
    /// A sentence on what is wrong; empty = OK may be pressed. What a field refuses comes before it.
    void setFault(const QString &fault);
    /// A quiet sentence, such as where a suggested figure comes from.
    void setNote(const QString &note);

private:
    void say();

    struct Start {
        double given = 0, shown = 0;       // a field rounds and clips what it is given
    };
    QHash<const QObject *, Start> m_starts;
    std::vector<std::function<QString()>> m_refusals;   // of the fields, in their order
    QString m_fault, m_note;
    QFormLayout *m_form;
    QLabel *m_message;
    QDialogButtonBox *m_buttons;
};

} // namespace trainyard
