#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One number of the plan beside its name, with its unit. Arrow keys and buttons step by the size of the number; the
// wheel scrolls the panel. Undo is the document's as soon as what was typed is entered. GUI thread.

#include "views/panels/strategy_entries.h"

#include <QWidget>

class QDoubleSpinBox;

namespace trainyard {

class NumberBox;

class NumberRow : public QWidget {
    Q_OBJECT
public:
    NumberRow(const StrategyEntry &entry, const QString &name, const QString &explanation, QWidget *parent = nullptr);

    void setPlan(const Plan &plan);
    [[nodiscard]] QDoubleSpinBox *box() const;

Q_SIGNALS:
    /// By a person. Steps of one visit to the field have its number, what was typed has 0: an edit of its own.
    void changed(double value, int gesture);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    const KeyRow &m_row;
    NumberBox *m_box;
};

} // namespace trainyard
