#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A form with OK and Cancel, the common frame of the map's editors: one line below the fields says what is wrong, and OK
// waits until nothing is. GUI thread.

#include <QDialog>

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
    QDoubleSpinBox *addNumber(const QString &label, double value, double low, double high, int decimals, const QString &unit);
    QSpinBox *addCount(const QString &label, int value, int low, int high);
    /// A sentence on what is wrong; empty = OK may be pressed.
    void setFault(const QString &fault);
    /// A quiet sentence, such as where a suggested figure comes from.
    void setNote(const QString &note);

private:
    QFormLayout *m_form;
    QLabel *m_message;
    QDialogButtonBox *m_buttons;
};

} // namespace trainyard
