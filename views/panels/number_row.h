#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One number of the plan beside its name, with its unit. Arrow keys and buttons step by the size of the number; the wheel
// scrolls the panel. GUI thread.

#include "views/panels/strategy_entries.h"

#include <QWidget>

class QDoubleSpinBox;

namespace trainyard {

class NumberRow : public QWidget {
    Q_OBJECT
public:
    NumberRow(const StrategyEntry &entry, const QString &name, const QString &explanation, QWidget *parent = nullptr);

    void setPlan(const Plan &plan);
    [[nodiscard]] QDoubleSpinBox *box() const { return m_box; }

Q_SIGNALS:
    void changed(double value);            // by a person

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    const NumberField &m_field;
    QDoubleSpinBox *m_box;
};

} // namespace trainyard
