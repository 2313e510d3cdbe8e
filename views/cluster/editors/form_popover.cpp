// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/editors/form_popover.h"

#include "views/cluster/editors/form_fields.h"
#include "views/theme/theme.h"

#include <QAbstractButton>
#include <QApplication>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kEdge = 6, kApart = 10; // to the window's edge, to the thing edited
constexpr int kTextWidth = 340;

void colourText(QLabel &label, const QColor &colour)
{
    QPalette palette = label.palette();
    palette.setColor(QPalette::WindowText, colour);
    label.setPalette(palette);
}

/// As large as what is in it, so that it scrolls only where the window is too small.
class FormArea : public QScrollArea {
public:
    using QScrollArea::QScrollArea;
    QSize sizeHint() const override
    {
        const QSize inner = widget() ? widget()->sizeHint() : QSize();
        return { inner.width() + verticalScrollBar()->sizeHint().width(), inner.height() };
    }
    QSize minimumSizeHint() const override { return { sizeHint().width(), 60 }; }
};

QRect moved(QSize size, QPoint corner, const QRect &room)
{
    const auto inside = [](int at, int length, int low, int high) {
        return std::clamp(at, low, std::max(low, high - length));
    };
    return { QPoint(inside(corner.x(), size.width(), room.left(), room.right() + 1),
                 inside(corner.y(), size.height(), room.top(), room.bottom() + 1)),
        size };
}

} // namespace

QRect popoverPlace(const QRect &anchor, QSize size, const QRect &room)
{
    const int top = anchor.center().y() - size.height() / 2, left = anchor.center().x() - size.width() / 2;
    const std::array corners { QPoint(anchor.right() + kApart, top), QPoint(anchor.left() - kApart - size.width(), top),
        QPoint(left, anchor.bottom() + kApart), QPoint(left, anchor.top() - kApart - size.height()) };
    QRect best;
    int least = -1;
    for (const QPoint &corner : corners) {
        const QRect place = moved(size, corner, room), common = place.intersected(anchor);
        const int hidden = common.isEmpty() ? 0 : common.width() * common.height();
        if (least < 0 || hidden < least) {
            least = hidden;
            best = place;
        }
    }
    return best;
}

FormPopover::FormPopover(const QString &title, QWidget *parent)
    : QFrame(parent)
    , m_title(title)
    , m_area(new FormArea(this))
    , m_form(new QFormLayout)
    , m_message(new QLabel(this))
    , m_buttons(new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this))
{
    setObjectName(QStringLiteral("popover"));
    setAccessibleName(title);
    setAutoFillBackground(true);
    setStyleSheet(QStringLiteral("QFrame#popover { background: %1; border: 1px solid %2; border-radius: %3px; }")
                      .arg(theme().panelRaised.name(), theme().accent.name())
                      .arg(Theme::kRadius));
    auto *heading = new QLabel(title, this);
    heading->setFont(uiFont(0, QFont::DemiBold));
    auto *fields = new QWidget(this);
    fields->setLayout(m_form);
    m_form->setContentsMargins(0, 0, 4, 0);
    m_form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    m_form->setVerticalSpacing(6);
    m_area->setFrameShape(QFrame::NoFrame);
    m_area->setWidget(fields);
    m_area->setWidgetResizable(true);
    m_area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_area->setFocusPolicy(Qt::NoFocus);
    m_area->viewport()->setAutoFillBackground(false);
    fields->setAutoFillBackground(false);
    m_message->setObjectName(QStringLiteral("message"));
    m_message->setWordWrap(true);
    m_message->setFont(uiFont(-1));
    m_message->setMinimumWidth(kTextWidth);
    m_buttons->button(QDialogButtonBox::Ok)->setText(tr("Done"));
    for (QAbstractButton *button : m_buttons->buttons())
        button->setIcon({});
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(Theme::kPad, Theme::kGap, Theme::kPad, Theme::kGap);
    column->setSpacing(Theme::kGap);
    column->addWidget(heading);
    column->addWidget(m_area, 1);
    column->addWidget(m_message);
    column->addWidget(m_buttons);
    connect(m_buttons, &QDialogButtonBox::accepted, this, &FormPopover::accept);
    connect(m_buttons, &QDialogButtonBox::rejected, this, &FormPopover::reject);
    if (parent)
        parent->installEventFilter(this);
}

void FormPopover::openBeside(const QRect &anchor)
{
    m_anchor = anchor;
    place();
    show();
    raise();
    qApp->installEventFilter(this);
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget *, QWidget *now) { leaveFor(now); });
    if (!m_first)
        focusNextPrevChild(true);
    else
        m_first->setFocus(Qt::TabFocusReason);
    if (auto *box = qobject_cast<QAbstractSpinBox *>(m_first))
        box->selectAll();
    else if (auto *line = qobject_cast<QLineEdit *>(m_first))
        line->selectAll();
}

void FormPopover::place()
{
    if (!parentWidget())
        return;
    const QRect room = parentWidget()->rect().adjusted(kEdge, kEdge, -kEdge, -kEdge);
    ensurePolished();
    layout()->activate();
    const int width = std::min(sizeHint().width(), room.width());
    const int height = layout()->hasHeightForWidth() ? layout()->totalHeightForWidth(width) : sizeHint().height();
    setGeometry(popoverPlace(m_anchor, QSize(width, std::min(height, room.height())), room));
}

bool FormPopover::event(QEvent *event)
{
    const bool done = QFrame::event(event);
    if (event->type() == QEvent::LayoutRequest && isVisible())
        place();
    return done;
}

/// Lists and menus of the fields are windows of their own, and yet of the form.
void FormPopover::leaveFor(const QObject *target)
{
    const auto *to = qobject_cast<const QWidget *>(target);
    if (!to || !isVisible() || to->window() != window())
        return;
    for (const QObject *at = to; at; at = at->parent()) {
        if (at == this)
            return;
    }
    emit left(to);
}

bool FormPopover::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::MouseButtonPress) {
        const QPointer<QObject> pressed(watched);
        leaveFor(watched); // before it is handled: what it does starts from the plan with this edit
        if (!pressed)
            return true; // a row of the plan before
    }
    if (event->type() == QEvent::Resize && watched == parentWidget() && isVisible())
        place();
    return QFrame::eventFilter(watched, event);
}

/// Tab stays in the form as long as it is open.
bool FormPopover::focusNextPrevChild(bool next)
{
    QWidget *const start = focusWidget() && isAncestorOf(focusWidget()) ? focusWidget() : this;
    for (QWidget *at = next ? start->nextInFocusChain() : start->previousInFocusChain(); at != start;
         at = next ? at->nextInFocusChain() : at->previousInFocusChain()) {
        const bool takes = isAncestorOf(at) && at->isVisibleTo(this) && at->isEnabled()
            && (at->focusPolicy() & Qt::TabFocus) && !at->focusProxy();
        if (!takes)
            continue;
        at->setFocus(next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
        m_area->ensureWidgetVisible(at);
        return true;
    }
    return true;
}

void FormPopover::keyPressEvent(QKeyEvent *event)
{
    const bool isEnter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    auto *button = qobject_cast<QAbstractButton *>(QApplication::focusWidget());
    if (event->key() == Qt::Key_Escape)
        reject();
    else if (isEnter && button && m_buttons->buttons().contains(button))
        button->click();
    else if (isEnter)
        accept();
    event->accept(); // no key of the form is one of the map
}

void FormPopover::enterEvent(QEnterEvent *event)
{
    QFrame::enterEvent(event);
    emit revisited();
}

void FormPopover::accept()
{
    if (m_isValid)
        emit accepted();
}

void FormPopover::reject()
{
    emit rejected();
}

QDoubleSpinBox *FormPopover::addNumber(
    const QString &label, double value, double low, double high, int decimals, const QString &unit)
{
    auto *box = new FormNumber(this, [this] { say(); });
    box->setDecimals(decimals);
    box->setRange(low, high);
    box->setSuffix(unit);
    box->setValue(value);
    box->setAccessibleName(label);
    m_form->addRow(label, box);
    m_refusals.push_back([box] { return box->isVisibleTo(box->window()) ? box->refusal() : QString(); });
    m_starts.insert(box, { value, box->value() });
    return box;
}

QDoubleSpinBox *FormPopover::addNumber(const Key &key, std::optional<double> value, bool mayBeMissing)
{
    const bool showsMissing = mayBeMissing && key.lowestMeans;
    const double low =
        (showsMissing && !key.isAboveMin ? key.min - std::pow(10.0, -key.decimals) : key.min) * key.scale;
    QDoubleSpinBox *box = addNumber(QString::fromUtf8(key.title),
        value              ? *value * key.scale
            : showsMissing ? low
                           : 0,
        low, key.max * key.scale, key.decimals, QString::fromUtf8(key.shownUnit()));
    box->setSpecialValueText(QString::fromUtf8(key.lowestMeans));
    box->setToolTip(QString::fromUtf8(key.help));
    return box;
}

double FormPopover::number(const QDoubleSpinBox &box) const
{
    const Start start = m_starts.value(&box);
    return box.value() == start.shown ? start.given : box.value();
}

std::optional<double> FormPopover::optional(const QDoubleSpinBox &box) const
{
    const double given = number(box);
    return given > box.minimum() ? std::optional(given) : std::nullopt;
}

void FormPopover::setNumber(QDoubleSpinBox &box, std::optional<double> value)
{
    const double given = value.value_or(box.minimum());
    box.setValue(given);
    m_starts.insert(&box, { given, box.value() });
}

int FormPopover::count(const QSpinBox &box) const
{
    const Start start = m_starts.value(&box);
    return box.value() == int(start.shown) ? int(start.given) : box.value();
}

QSpinBox *FormPopover::addCount(const Key &key, int value)
{
    const QString label = QString::fromUtf8(key.title);
    auto *box = new FormCount(this, [this] { say(); });
    box->setRange(int(key.min), int(key.max));
    box->setToolTip(QString::fromUtf8(key.help));
    box->setValue(value);
    box->setAccessibleName(label);
    m_form->addRow(label, box);
    m_refusals.push_back([box] { return box->isVisibleTo(box->window()) ? box->refusal() : QString(); });
    m_starts.insert(box, { double(value), double(box->value()) });
    return box;
}

void FormPopover::setFault(const QString &fault)
{
    m_fault = fault;
    m_note.clear();
    say();
}

void FormPopover::setNote(const QString &note)
{
    m_fault.clear();
    m_note = note;
    say();
}

void FormPopover::setDoneText(const QString &text)
{
    m_buttons->button(QDialogButtonBox::Ok)->setText(text);
}

void FormPopover::say()
{
    QString wrong;
    for (auto refusal = m_refusals.begin(); refusal != m_refusals.end() && wrong.isEmpty(); ++refusal)
        wrong = (*refusal)();
    if (wrong.isEmpty())
        wrong = m_fault;
    m_message->setText(wrong.isEmpty() ? m_note : wrong);
    colourText(*m_message, wrong.isEmpty() ? theme().textMuted : theme().bad);
    m_isValid = wrong.isEmpty();
    m_buttons->button(QDialogButtonBox::Ok)->setEnabled(m_isValid);
    m_message->setVisible(!m_message->text().isEmpty());
    emit changed();
}

} // namespace trainyard
