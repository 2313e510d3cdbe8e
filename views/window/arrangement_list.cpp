// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/arrangement_list.h"

#include "views/parts/row_delegate.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QPointer>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kListWidth = 420, kListHeight = 330, kListTop = 56, kArrangementRow = 26;
constexpr int kKeyRole = Qt::UserRole + 1;

class ArrangementDelegate : public RowDelegate {
public:
    using RowDelegate::RowDelegate;

protected:
    void paintRow(QPainter &painter, const QRect &row, const QModelIndex &index) const override
    {
        const QRect line = row.adjusted(8, 0, -10, 0);
        const auto font = index.data(Qt::FontRole);
        painter.setFont(font.isValid() ? font.value<QFont>() : uiFont());
        painter.setPen(theme().text);
        painter.drawText(line, Qt::AlignVCenter | Qt::AlignLeft,
            painter.fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, line.width() - 70));
        paintDetail(painter, line, Qt::AlignRight, index.data(kKeyRole).toString());
    }
};

} // namespace

ArrangementList::ArrangementList(ArrangementStore &store, QWidget *window)
    : QFrame(window)
    , name(new QLineEdit(this))
    , entries(new QListWidget(this))
    , m_store(store)
    , m_hint(new TextLine(tr("Enter shows · F2 renames · Del removes your own"), Ink::Muted, this))
{
    hide();
    setAccessibleName(tr("Arrangements of panels"));
    name->setPlaceholderText(tr("A name, and Enter, saves the panels as they lie"));
    name->setAccessibleName(tr("Name of a new arrangement"));
    entries->setAccessibleName(tr("Arrangements"));
    entries->setItemDelegate(new ArrangementDelegate(kArrangementRow, entries));
    entries->setEditTriggers(QAbstractItemView::EditKeyPressed);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(10, 10, 10, 8);
    column->addWidget(name);
    column->addWidget(entries, 1);
    column->addWidget(m_hint);
    connect(name, &QLineEdit::returnPressed, this, [this] {
        const QString typed = name->text().trimmed();
        if (typed.isEmpty())
            return;
        dismiss();
        emit saveRequested(typed);
    });
    const auto choose = [this](QListWidgetItem *item) {
        const QString chosenName = item->data(Qt::UserRole).toString();
        dismiss();
        emit chosen(chosenName);
    };
    connect(entries, &QListWidget::itemActivated, this, choose);
    connect(entries, &QListWidget::itemClicked, this, choose);
    connect(entries, &QListWidget::itemChanged, this, &ArrangementList::takeName);
    connect(&store, &ArrangementStore::renamed, this, [this](const QString &before, const QString &after) {
        if (m_shown == before)
            m_shown = after;
    });
    const auto refill = [this] {
        if (isVisible())
            fill();
    };
    connect(&store, &ArrangementStore::changed, this, refill, Qt::QueuedConnection); // an entry may be renaming itself
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget *, QWidget *now) {
        if (isVisible() && now && now != this && !isAncestorOf(now))
            hide();
    });
    name->installEventFilter(this);
    entries->installEventFilter(this);
}

void ArrangementList::open(const QString &shown)
{
    m_shown = shown;
    const QWidget *window = parentWidget();
    const int width = std::min(kListWidth, window->width() - 40);
    setGeometry((window->width() - width) / 2, kListTop, width, std::min(kListHeight, window->height() - 2 * kListTop));
    fill();
    name->clear();
    m_focusBefore = QApplication::focusWidget();
    show();
    raise();
    name->setFocus();
}

int ArrangementList::ownAt(int row) const
{
    return row - int(builtInArrangements().size());
}

void ArrangementList::fill()
{
    m_isFilling = true;
    const int row = entries->currentRow();
    entries->clear();
    for (const auto *list : { &builtInArrangements(), &m_store.own() })
        for (const NamedArrangement &one : *list) {
            auto *item = new QListWidgetItem(one.name, entries);
            item->setData(Qt::UserRole, one.name);
            const bool isOwn = one.id.isEmpty();
            item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | (isOwn ? Qt::ItemIsEditable : Qt::NoItemFlags));
            if (const int number = entries->count(); number < 10)
                item->setData(
                    kKeyRole, QKeySequence(Qt::CTRL | Qt::Key(Qt::Key_0 + number)).toString(QKeySequence::NativeText));
            if (one.name == m_shown)
                item->setFont(uiFont(0, QFont::DemiBold));
        }
    entries->setCurrentRow(std::clamp(row, 0, entries->count() - 1));
    m_isFilling = false;
}

/// Where a name cannot be had the old one stands again.
void ArrangementList::takeName(QListWidgetItem *item)
{
    if (m_isFilling)
        return;
    if (m_store.rename(std::size_t(ownAt(entries->row(item))), item->text()))
        return;
    m_isFilling = true;
    item->setText(item->data(Qt::UserRole).toString());
    m_isFilling = false;
}

void ArrangementList::dismiss()
{
    hide();
    if (m_focusBefore)
        m_focusBefore->setFocus();
    m_focusBefore = nullptr;
}

bool ArrangementList::eventFilter(QObject *watched, QEvent *event)
{
    const auto *key = event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride
        ? static_cast<QKeyEvent *>(event)
        : nullptr;
    if (!key)
        return QFrame::eventFilter(watched, event);
    if (event->type() == QEvent::ShortcutOverride) {
        const bool isOurs = key->key() == Qt::Key_Escape || (watched == entries && key->key() == Qt::Key_Delete);
        if (isOurs)
            event->accept();
        return isOurs;
    }
    if (key->key() == Qt::Key_Escape) {
        dismiss();
        return true;
    }
    if (watched == name && key->key() == Qt::Key_Down) {
        entries->setFocus(Qt::TabFocusReason);
        return true;
    }
    if (watched == entries && key->key() == Qt::Key_Up && entries->currentRow() == 0) {
        name->setFocus(Qt::BacktabFocusReason);
        return true;
    }
    if (watched == entries && key->key() == Qt::Key_Delete) {
        if (const int at = ownAt(entries->currentRow()); at >= 0) {
            const QString gone = m_store.own()[std::size_t(at)].name;
            m_store.remove(std::size_t(at));
            emit removed(gone);
        }
        return true;
    }
    return QFrame::eventFilter(watched, event);
}

void ArrangementList::keyPressEvent(QKeyEvent *event)
{
    event->accept(); // nothing below the list is steered by what is typed here
}

void ArrangementList::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(theme().accent);
    painter.setBrush(theme().panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), Theme::kRadius + 2, Theme::kRadius + 2);
}

} // namespace trainyard
