#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A limit that need not be: its name, and a field that says "none" at its low end, with a unit. GUI thread.

#include <QWidget>

#include <optional>

class QDoubleSpinBox;

namespace trainyard {

class LimitRow : public QWidget {
    Q_OBJECT
public:
    struct Kind {
        QString name, unit, none, help;
        double most = 1e9;
        int decimals = 0;
        /// of a number that is a limit; below it, none
        double least = 0;
    };
    explicit LimitRow(const Kind &kind, QWidget *parent = nullptr);

    QDoubleSpinBox *const box;
    void setLimit(std::optional<double> limit);
    [[nodiscard]] std::optional<double> limit() const;

Q_SIGNALS:
    /// by a person
    void edited();

private:
    /// the value that says none
    double m_none;
};

} // namespace trainyard
