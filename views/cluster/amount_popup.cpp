// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/amount_popup.h"

#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLayout>
#include <QPainter>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

AmountPopup::AmountPopup(QWidget *parent)
    : QWidget(parent)
    , m_amount(new QSpinBox(this))
    , m_where(new QLabel(this))
    , m_verdict(new QLabel(this))
{
    setAccessibleName(QStringLiteral("How many GPUs to move"));
    m_amount->setAccessibleName(QStringLiteral("GPUs to move"));
    auto *move = new QPushButton(QStringLiteral("Move"), this);
    m_where->setWordWrap(true); // two long names may be wider than the map
    auto *cancel = new QPushButton(QStringLiteral("Cancel"), this);
    auto *row = new QHBoxLayout;
    row->addWidget(new QLabel(QStringLiteral("Move"), this));
    row->addWidget(m_amount);
    row->addWidget(m_where, 1);
    auto *buttons = new QHBoxLayout;
    buttons->addWidget(m_verdict, 1);
    buttons->addWidget(cancel);
    buttons->addWidget(move);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(Theme::kPad, Theme::kGap, Theme::kPad, Theme::kGap);
    column->addLayout(row);
    column->addLayout(buttons);
    connect(m_amount, &QSpinBox::valueChanged, this, &AmountPopup::amountChanged);
    connect(move, &QPushButton::clicked, this, [this] { emit answered(m_amount->value()); });
    connect(cancel, &QPushButton::clicked, this, &AmountPopup::dismissed);
    hide();
}

void AmountPopup::ask(QPoint at, int amount, int most, int step, const QString &where)
{
    {
        const QSignalBlocker quiet(m_amount);
        m_amount->setRange(1, std::max(1, most));
        m_amount->setSingleStep(std::max(1, step));
        m_amount->setValue(amount);
    }
    m_where->setText(where);
    const QSize room = parentWidget()->size();
    const int wide = std::clamp(sizeHint().width(), 300, std::max(300, room.width() - 8));
    resize(wide, layout()->totalHeightForWidth(wide));
    move(std::clamp(at.x() - width() / 2, 4, std::max(4, room.width() - width() - 4)),
        std::clamp(at.y() - height() / 2, 4, std::max(4, room.height() - height() - 4)));
    show();
    raise();
    m_amount->setFocus();
    m_amount->selectAll();
}

void AmountPopup::setVerdict(const QString &text, const QColor &colour)
{
    QPalette palette = m_verdict->palette();
    palette.setColor(QPalette::WindowText, colour);
    m_verdict->setPalette(palette);
    m_verdict->setText(text);
}

void AmountPopup::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme().accent, 1));
    painter.setBrush(theme().panelRaised);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), Theme::kRadius, Theme::kRadius);
}

void AmountPopup::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Escape)
        emit dismissed();
    else if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
        emit answered(m_amount->value());
    else
        QWidget::keyPressEvent(event);
}

} // namespace trainyard
