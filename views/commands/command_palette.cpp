// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/commands/command_palette.h"

#include "views/commands/command_registry.h"
#include "views/parts/row_delegate.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QLocale>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

constexpr int kDetailRole = Qt::UserRole + 1, kGroupRole = Qt::UserRole + 2;
constexpr int kWidth = 620, kHeight = 420, kTop = 56, kNameRow = 28, kGroupWidth = 88, kMostRows = 60;

class NameDelegate : public RowDelegate {
public:
    using RowDelegate::RowDelegate;

protected:
    void paintRow(QPainter &painter, const QRect &row, const QModelIndex &index) const override
    {
        const QRect line = row.adjusted(10, 0, -12, 0);
        const QString name = index.data(Qt::DisplayRole).toString();
        painter.setFont(uiFont());
        if (!index.flags().testFlag(Qt::ItemIsEnabled)) { // a note
            painter.setPen(theme().textMuted);
            painter.drawText(line, Qt::AlignVCenter | Qt::AlignLeft, name);
            return;
        }
        const int room = line.width() - kGroupWidth;
        const QFontMetrics metrics = painter.fontMetrics(), small(uiFont(-1));
        const int nameWidth = std::min(metrics.horizontalAdvance(name) + 2, room); // advances are rounded
        painter.setPen(theme().text);
        painter.drawText(QRect(line.left() + kGroupWidth, line.top(), nameWidth, line.height()),
            Qt::AlignVCenter | Qt::AlignLeft, metrics.elidedText(name, Qt::ElideRight, nameWidth));
        paintDetail(painter, QRect(line.left(), line.top(), kGroupWidth - 8, line.height()), Qt::AlignLeft,
            small.elidedText(index.data(kGroupRole).toString(), Qt::ElideRight, kGroupWidth - 8));
        const int left = room - nameWidth - Theme::kPad;
        paintDetail(painter, line, Qt::AlignRight,
            small.elidedText(index.data(kDetailRole).toString(), Qt::ElideRight, std::max(0, left)));
    }
};

} // namespace

CommandPalette::CommandPalette(CommandRegistry &registry, QWidget *window)
    : QFrame(window)
    , m_registry(registry)
    , m_field(new QLineEdit(this))
    , m_list(new QListWidget(this))
{
    hide();
    setAccessibleName(tr("Go to anything"));
    m_field->setPlaceholderText(tr("A command, a datacenter, a link, “rank 12”, a key, a model, a file …"));
    m_field->setAccessibleName(tr("Name to go to"));
    m_field->setClearButtonEnabled(true);
    m_list->setItemDelegate(new NameDelegate(kNameRow, m_list));
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setAccessibleName(tr("What has that name"));
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(10, 10, 10, 8);
    layout->addWidget(m_field);
    layout->addWidget(m_list);
    m_field->installEventFilter(this);
    connect(m_field, &QLineEdit::textChanged, this, &CommandPalette::search);
    connect(m_list, &QListWidget::itemClicked, this, &CommandPalette::runCurrent);
}

void CommandPalette::open()
{
    const QWidget *window = parentWidget();
    const int width = std::min(kWidth, window->width() - 40);
    setGeometry((window->width() - width) / 2, kTop, width, std::min(kHeight, window->height() - 2 * kTop));
    m_registry.refresh();
    m_index.clear();
    m_hasNames = false;
    addCommands();
    m_field->clear();
    search({});
    m_focusBefore = QApplication::focusWidget();
    show();
    raise();
    m_field->setFocus();
}

void CommandPalette::addCommands()
{
    for (const Command &command : m_registry.commands()) {
        const QAction *action = m_registry.action(command.id);
        if (action && action->isEnabled())
            m_index.add(NamedThing { ThingKind::Command, command.group, action->text().remove(u'&'), keysOf(command),
                command.text == action->text() ? QString() : QString(command.text).remove(u'&'), command.id });
    }
}

void CommandPalette::search(const QString &pattern)
{
    if (!isVisible() && !pattern.isEmpty())
        return;
    if (!pattern.isEmpty() && !std::exchange(m_hasNames, true) && m_names)
        m_names(m_index);
    showFound(pattern, m_index.find(pattern, kMostRows));
}

void CommandPalette::showFound(const QString &pattern, FoundThings found)
{
    m_list->clear();
    m_found = std::move(found.things);
    for (const NamedThing &thing : m_found) {
        auto *item = new QListWidgetItem(thing.name, m_list);
        item->setData(kDetailRole, thing.detail);
        item->setData(kGroupRole, thing.group);
        item->setData(
            Qt::AccessibleTextRole, QStringList { thing.group, thing.name, thing.detail }.join(QStringLiteral(", ")));
    }
    if (m_found.empty())
        return addNote(tr("Nothing is called “%1”").arg(pattern));
    if (found.more > 0)
        addNote(tr("%1 more: type on").arg(QLocale().toString(found.more)));
    m_list->setCurrentRow(0);
}

void CommandPalette::addNote(const QString &text)
{
    auto *note = new QListWidgetItem(text, m_list);
    note->setFlags(Qt::NoItemFlags);
}

void CommandPalette::runCurrent()
{
    const int row = m_list->currentRow();
    if (row < 0 || row >= int(m_found.size()))
        return;
    const NamedThing thing = m_found[std::size_t(row)];
    dismiss();
    if (thing.kind == ThingKind::Command)
        m_registry.trigger(thing.id);
    else
        emit chosen(thing);
}

void CommandPalette::dismiss()
{
    hide();
    if (m_focusBefore)
        m_focusBefore->setFocus();
    m_focusBefore = nullptr;
}

bool CommandPalette::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::FocusOut && isVisible() && !isAncestorOf(QApplication::focusWidget()))
        hide();
    if (event->type() == QEvent::ShortcutOverride && static_cast<QKeyEvent *>(event)->key() == Qt::Key_Escape) {
        event->accept(); // it is the palette's, whatever page lies below
        return true;
    }
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent *>(event)->key();
        const int rows = int(m_found.size());
        if (key == Qt::Key_Escape) {
            dismiss();
            return true;
        }
        if (key == Qt::Key_Return || key == Qt::Key_Enter) {
            runCurrent();
            return true;
        }
        if (rows > 0 && (key == Qt::Key_Down || key == Qt::Key_Up)) {
            m_list->setCurrentRow((m_list->currentRow() + (key == Qt::Key_Down ? 1 : rows - 1)) % rows);
            return true;
        }
        if (rows > 0 && (key == Qt::Key_PageDown || key == Qt::Key_PageUp)) {
            const int page = std::max(1, m_list->viewport()->height() / kNameRow - 1);
            m_list->setCurrentRow(
                std::clamp(m_list->currentRow() + (key == Qt::Key_PageDown ? page : -page), 0, rows - 1));
            return true;
        }
    }
    return QFrame::eventFilter(watched, event);
}

void CommandPalette::paintEvent(QPaintEvent *)
{
    const Theme &t = theme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(t.accent);
    painter.setBrush(t.panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), Theme::kRadius + 2, Theme::kRadius + 2);
}

} // namespace trainyard
