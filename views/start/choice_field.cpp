// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/start/choice_field.h"

#include "models/text/fuzzy.h"
#include "views/parts/row_delegate.h"
#include "views/theme/theme.h"

#include <QKeyEvent>
#include <QListWidget>
#include <QPainter>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kIdRole = Qt::UserRole, kDetailRole = Qt::UserRole + 1;
constexpr int kRowHeight = 26, kMostRows = 8, kMostMatches = 60, kArrowRoom = 14;

class MatchDelegate : public RowDelegate {
public:
    using RowDelegate::RowDelegate;

protected:
    void paintRow(QPainter &painter, const QRect &row, const QModelIndex &index) const override
    {
        const QRect line = row.adjusted(8, 0, -8, 0);
        const QString detail = index.data(kDetailRole).toString();
        paintDetail(painter, line, Qt::AlignRight, detail);
        const int taken = detail.isEmpty() ? 0 : painter.fontMetrics().horizontalAdvance(detail) + Theme::kPad;
        painter.setFont(uiFont());
        painter.setPen(theme().text);
        painter.drawText(line.adjusted(0, 0, -taken, 0), Qt::AlignVCenter | Qt::AlignLeft,
            painter.fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, line.width() - taken));
    }
};

/// Every typed word occurs: where free text is an answer, letters that happen to come in order must not win over it.
bool containsWords(const QString &typed, const QString &text)
{
    const QStringList words = typed.split(u' ', Qt::SkipEmptyParts);
    return std::ranges::all_of(words, [&](const QString &word) { return text.contains(word, Qt::CaseInsensitive); });
}

} // namespace

ChoiceField::ChoiceField(std::vector<Choice> choices, QWidget *parent)
    : QLineEdit(parent)
    , m_choices(std::move(choices))
    , m_list(new QListWidget(this))
{
    setTextMargins(0, 0, kArrowRoom, 0);
    m_list->hide();
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setItemDelegate(new MatchDelegate(kRowHeight, m_list));
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_list->setFrameShape(QFrame::StyledPanel);
    connect(this, &QLineEdit::textEdited, this, &ChoiceField::showMatches);
    connect(m_list, &QListWidget::itemClicked, this, [this](QListWidgetItem *item) { take(m_list->row(item)); });
}

ChoiceField::~ChoiceField()
{
    if (m_list && m_list->parent() != this) // it went to the window when it was shown
        m_list->deleteLater();
}

const QListWidget &ChoiceField::list() const
{
    return *m_list;
}

const Choice *ChoiceField::find(const QString &id) const
{
    const auto found = std::ranges::find(m_choices, id, &Choice::id);
    return id.isEmpty() || found == m_choices.end() ? nullptr : &*found;
}

void ChoiceField::setCurrent(const QString &id, const QString &otherwise)
{
    const Choice *choice = find(id);
    m_id = choice ? id : QString();
    m_shown = choice ? choice->label : otherwise;
    setText(m_shown);
    setCursorPosition(0);
}

void ChoiceField::showMatches(const QString &pattern)
{
    struct Hit {
        int score;
        const Choice *choice;
    };
    std::vector<Hit> hits;
    for (const Choice &choice : m_choices) {
        const QString text = choice.label + u' ' + choice.detail + u' ' + choice.id;
        if (!m_freePattern.isEmpty() && !containsWords(pattern, text))
            continue;
        const auto byLabel = fuzzyScore(pattern, choice.label);
        if (const auto score = byLabel ? byLabel : fuzzyScore(pattern, text))
            hits.push_back({ *score, &choice });
    }
    if (!pattern.isEmpty()) // else in the order given: newest first
        std::ranges::stable_sort(hits, std::greater {}, &Hit::score);
    hits.resize(std::min(hits.size(), std::size_t(kMostMatches)));
    std::vector<const Choice *> choices;
    for (const Hit &hit : hits)
        choices.push_back(hit.choice);
    fillList(choices);
    const bool isExact =
        !hits.empty() && hits.front().choice->label.compare(pattern.trimmed(), Qt::CaseInsensitive) == 0;
    if (!m_freePattern.isEmpty() && !pattern.trimmed().isEmpty() && !isExact)
        (new QListWidgetItem(m_freePattern.arg(pattern.trimmed()), m_list))->setData(kIdRole, QString());
    const bool isNone = m_list->count() == 0;
    if (isNone) {
        auto *none = new QListWidgetItem(tr("Nothing matches “%1”").arg(pattern.trimmed()), m_list);
        none->setFlags(Qt::NoItemFlags);
    }
    m_list->setCurrentRow(isNone ? -1 : 0);
    showList();
}

/// Before anything is typed nothing is chosen but what the field says: leaving the list changes nothing.
void ChoiceField::showAll()
{
    std::vector<const Choice *> choices;
    int current = -1;
    for (const Choice &choice : m_choices) {
        if (!m_id.isEmpty() && choice.id == m_id)
            current = int(choices.size());
        choices.push_back(&choice);
    }
    fillList(choices);
    m_list->setCurrentRow(current);
    showList();
    if (current >= 0)
        m_list->scrollToItem(m_list->item(current), QAbstractItemView::PositionAtCenter);
}

void ChoiceField::fillList(const std::vector<const Choice *> &choices)
{
    m_list->clear();
    for (const Choice *choice : choices) {
        auto *item = new QListWidgetItem(choice->label, m_list);
        item->setData(kIdRole, choice->id);
        item->setData(kDetailRole, choice->detail);
    }
}

void ChoiceField::showList()
{
    if (m_list->count() == 0) {
        hideList();
        return;
    }
    placeList();
    m_list->show();
    m_list->raise();
    for (QWidget *at = this; at; at = at->isWindow() ? nullptr : at->parentWidget())
        at->installEventFilter(this);
}

void ChoiceField::hideList()
{
    for (QWidget *at = this; at; at = at->isWindow() ? nullptr : at->parentWidget())
        at->removeEventFilter(this);
    if (m_list)
        m_list->hide();
}

bool ChoiceField::eventFilter(QObject *watched, QEvent *event)
{
    if ((event->type() == QEvent::Move || event->type() == QEvent::Resize) && m_list && m_list->isVisible()) {
        if (visibleRegion().isEmpty())
            hideList(); // scrolled away
        else
            placeList();
    }
    return QLineEdit::eventFilter(watched, event);
}

void ChoiceField::placeList()
{
    QWidget *top = window();
    if (m_list->parentWidget() != top)
        m_list->setParent(top);
    m_list->setFont(uiFont());
    m_list->setStyleSheet(
        QStringLiteral("QListWidget { border: 1px solid %1; border-radius: 5px; background: %2; padding: 2px; }")
            .arg(theme().accent.name(), theme().panelRaised.name()));
    const int wanted = std::min(m_list->count(), kMostRows) * kRowHeight + 8;
    const QPoint below = mapTo(top, QPoint(0, height() + 2)), above = mapTo(top, QPoint(0, -2));
    const int roomBelow = top->height() - below.y() - Theme::kGap, roomAbove = above.y() - Theme::kGap;
    const bool goesUp = roomBelow < wanted && roomAbove > roomBelow;
    const int height = std::min(wanted, goesUp ? roomAbove : roomBelow);
    const int width = std::min(std::max(this->width(), 320), top->width() - 2 * Theme::kGap);
    const int x = std::min(below.x(), top->width() - width - Theme::kGap);
    m_list->setGeometry(x, goesUp ? above.y() - height : below.y(), width, height);
    m_list->setAccessibleName(tr("Matches for %1").arg(accessibleName()));
}

void ChoiceField::take(int row)
{
    const QListWidgetItem *item = m_list->item(row);
    if (!item || !item->flags().testFlag(Qt::ItemIsEnabled))
        return;
    const QString id = item->data(kIdRole).toString(), typed = text().trimmed();
    hideList();
    const bool isOther = id.isEmpty() || id != m_id;
    setCurrent(id, typed);
    if (isOther)
        emit chosen(m_id, m_shown);
}

void ChoiceField::commit()
{
    if (m_list->isVisible() && m_list->currentRow() >= 0)
        take(m_list->currentRow());
    else
        settle();
}

void ChoiceField::settle()
{
    hideList();
    const QString typed = text().trimmed();
    if (typed == m_shown)
        return;
    const auto exact = std::ranges::find_if(m_choices, [&](const Choice &choice) {
        return choice.label.compare(typed, Qt::CaseInsensitive) == 0
            || choice.id.compare(typed, Qt::CaseInsensitive) == 0;
    });
    if (exact == m_choices.end() && m_freePattern.isEmpty()) {
        setText(m_shown); // no such thing: what it was
        return;
    }
    setCurrent(exact == m_choices.end() ? QString() : exact->id, typed);
    emit chosen(m_id, m_shown);
}

bool ChoiceField::event(QEvent *event)
{
    if (event->type() == QEvent::KeyPress && m_list && m_list->isVisible()
        && static_cast<QKeyEvent *>(event)->key() == Qt::Key_Tab)
        take(m_list->currentRow());
    return QLineEdit::event(event);
}

void ChoiceField::keyPressEvent(QKeyEvent *event)
{
    const int rows = m_list->count();
    const bool isOpen = m_list->isVisible();
    switch (event->key()) {
    case Qt::Key_Down:
    case Qt::Key_Up:
        if (!isOpen)
            showAll();
        else if (event->key() == Qt::Key_Down)
            m_list->setCurrentRow((m_list->currentRow() + 1) % rows);
        else
            m_list->setCurrentRow((std::max(0, m_list->currentRow()) + rows - 1) % rows);
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (event->modifiers() & Qt::ControlModifier)
            break;
        commit();
        return;
    case Qt::Key_Escape:
        if (!isOpen && text() == m_shown)
            break; // whoever is around may close
        hideList();
        setText(m_shown);
        return;
    default:
        QLineEdit::keyPressEvent(event);
        return;
    }
    event->ignore();
}

void ChoiceField::mousePressEvent(QMouseEvent *event)
{
    QLineEdit::mousePressEvent(event);
    if (m_list->isVisible())
        return;
    selectAll(); // what is typed next takes the place of what stands there
    showAll();
}

void ChoiceField::paintEvent(QPaintEvent *event)
{
    QLineEdit::paintEvent(event);
    // There is a list below, as below a combobox.
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme().textMuted, 1.3));
    const QPointF tip(width() - kArrowRoom + 2.5, height() / 2.0 + 2);
    painter.drawPolyline(QPolygonF { tip + QPointF(-3.5, -3.5), tip, tip + QPointF(3.5, -3.5) });
}

void ChoiceField::focusInEvent(QFocusEvent *event)
{
    QLineEdit::focusInEvent(event);
    if (event->reason() != Qt::PopupFocusReason)
        selectAll();
}

void ChoiceField::focusOutEvent(QFocusEvent *event)
{
    QLineEdit::focusOutEvent(event);
    settle();
}

} // namespace trainyard
