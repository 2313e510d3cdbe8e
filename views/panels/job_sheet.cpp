// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/job_sheet.h"

#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kEdge = 12;

} // namespace

JobSheet::JobSheet(const QString &title, const QString &doneText, int width, QWidget *window)
    : QFrame(window)
    , m_title(title)
    , m_width(width)
    , m_body(new QVBoxLayout)
    , m_message(new TextLine({}, Ink::Muted, this))
    , m_cancel(new QPushButton(tr("Cancel"), this))
    , m_done(new QPushButton(doneText, this))
{
    setObjectName(QStringLiteral("jobSheet"));
    setAccessibleName(title);
    setAutoFillBackground(true);
    setStyleSheet(QStringLiteral("QFrame#jobSheet { background: %1; border: 1px solid %2; border-radius: %3px; }")
                      .arg(theme().panel.name(), theme().accent.name())
                      .arg(Theme::kRadius));
    auto *heading = new QLabel(title, this);
    heading->setFont(uiFont(1, QFont::DemiBold));
    m_message->setWrapped(true);
    m_done->setProperty("isPrimary", true);
    for (QPushButton *button : { m_cancel, m_done })
        button->setAutoDefault(false);
    auto *buttons = new QHBoxLayout;
    buttons->setSpacing(Theme::kGap);
    buttons->addStretch(1);
    buttons->addWidget(m_cancel);
    buttons->addWidget(m_done);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(Theme::kPad + 4, Theme::kPad, Theme::kPad + 4, Theme::kPad);
    column->setSpacing(Theme::kGap);
    column->addWidget(heading);
    column->addLayout(m_body, 1);
    column->addWidget(m_message);
    column->addLayout(buttons);
    connect(m_cancel, &QPushButton::clicked, this, &JobSheet::close);
    connect(m_done, &QPushButton::clicked, this, &JobSheet::accept);
    window->installEventFilter(this);
    hide();
}

void JobSheet::open(const QWidget *anchor, QWidget *first)
{
    m_anchor = anchor;
    place();
    show();
    raise();
    (first ? first : m_done)->setFocus(Qt::TabFocusReason);
}

void JobSheet::place()
{
    if (!parentWidget())
        return;
    const QRect room = parentWidget()->rect().adjusted(kEdge, kEdge, -kEdge, -kEdge);
    ensurePolished();
    layout()->activate();
    const int width = std::min(std::max(m_width, minimumSizeHint().width()), room.width());
    const int wanted = layout()->hasHeightForWidth() ? layout()->totalHeightForWidth(width) : sizeHint().height();
    const int height = std::min(wanted, room.height());
    QPoint at(room.center().x() - width / 2, room.center().y() - height / 2);
    if (m_anchor && m_anchor->isVisible()) { // left of it, so that it stays in sight
        const QPoint corner = m_anchor->mapTo(parentWidget(), QPoint());
        at = { corner.x() - width - kEdge, corner.y() };
    }
    setGeometry(std::clamp(at.x(), room.left(), std::max(room.left(), room.right() + 1 - width)),
        std::clamp(at.y(), room.top(), std::max(room.top(), room.bottom() + 1 - height)), width, height);
}

void JobSheet::setFault(const QString &fault, const QString &note)
{
    m_message->setText(fault.isEmpty() ? note : fault);
    m_message->setInk(fault.isEmpty() ? Ink::Muted : Ink::Bad);
    m_done->setEnabled(fault.isEmpty());
}

void JobSheet::accept()
{
    if (!m_done->isEnabled())
        return;
    emit accepted();
    close();
}

void JobSheet::close()
{
    if (isHidden())
        return;
    hide();
    emit closed();
    deleteLater();
}

void JobSheet::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Escape)
        close();
    else if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        if (QApplication::focusWidget() == m_cancel)
            close();
        else
            accept();
    }
    event->accept(); // no key of a form is one of the window
}

bool JobSheet::event(QEvent *event)
{
    const bool isDone = QFrame::event(event);
    if (event->type() == QEvent::LayoutRequest && isVisible())
        place();
    return isDone;
}

bool JobSheet::focusNextPrevChild(bool next)
{
    QWidget *const start = focusWidget() && isAncestorOf(focusWidget()) ? focusWidget() : this;
    for (QWidget *at = next ? start->nextInFocusChain() : start->previousInFocusChain(); at != start;
         at = next ? at->nextInFocusChain() : at->previousInFocusChain()) {
        if (isAncestorOf(at) && at->isVisibleTo(this) && at->isEnabled() && (at->focusPolicy() & Qt::TabFocus)
            && !at->focusProxy()) {
            at->setFocus(next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
            return true;
        }
    }
    return true;
}

bool JobSheet::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == parentWidget() && event->type() == QEvent::Resize && isVisible())
        place();
    return QFrame::eventFilter(watched, event);
}

} // namespace trainyard
