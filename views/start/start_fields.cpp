// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/start/start_fields.h"

#include <QDoubleSpinBox>
#include <QSpinBox>
#include <QWheelEvent>

namespace trainyard {

namespace {

template <class Box> class FieldBox : public Box {
public:
    explicit FieldBox(QWidget *parent)
        : Box(parent)
    {
        this->setAlignment(Qt::AlignRight);
        this->setGroupSeparatorShown(true);
        this->setFocusPolicy(Qt::StrongFocus);
    }

protected:
    void wheelEvent(QWheelEvent *event) override { event->ignore(); }
};

} // namespace

QSpinBox *countBox(int least, int most, QWidget *parent)
{
    auto *box = new FieldBox<QSpinBox>(parent);
    box->setRange(least, most);
    return box;
}

QDoubleSpinBox *figureBox(double least, double most, int decimals, const QString &unit, QWidget *parent)
{
    auto *box = new FieldBox<QDoubleSpinBox>(parent);
    box->setDecimals(decimals);
    box->setRange(least, most);
    box->setSuffix(unit);
    return box;
}

} // namespace trainyard
