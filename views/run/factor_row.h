#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// "Products of H100    × 1.17 ± 0.02    4,032 samples, R² 0.998    14 % → 3.1 %    [Accept]", and below it what it says
// or why it is refused. GUI thread.

#include "models/calibration_rows.h"

#include <QWidget>

class QPushButton;

namespace trainyard {

class TextLine;

class FactorRow : public QWidget {
    Q_OBJECT
public:
    explicit FactorRow(QWidget *parent = nullptr);
    void setRow(const CalibrationRow &row);
    [[nodiscard]] const CalibrationRow &row() const { return m_row; }
    [[nodiscard]] QPushButton *button() const { return m_button; } // Accept, Replace or Remove

    /// Widths of the columns behind the first, which takes what is left.
    static constexpr int kValue = 150, kBasis = 148, kErrors = 112, kButton = 86;

signals:
    void accepted(const std::string &id);
    void removed(const std::string &id);

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    CalibrationRow m_row;
    TextLine *m_subject, *m_value, *m_basis, *m_errors, *m_told;
    QPushButton *m_button;
};

} // namespace trainyard
