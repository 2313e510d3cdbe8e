// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/commands/command_palette.h"

#include "models/text/fuzzy.h"
#include "views/commands/command_registry.h"
#include "views/parts/row_delegate.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kKeysRole = Qt::UserRole + 1, kGroupRole = Qt::UserRole + 2;
constexpr int kWidth = 560, kHeight = 380, kTop = 56, kCommandRow = 28;

class CommandDelegate : public RowDelegate {
public:
    using RowDelegate::RowDelegate;

protected:
    void paintRow(QPainter &painter, const QRect &row, const QModelIndex &index) const override
    {
        const QRect line = row.adjusted(10, 0, -12, 0);
        paintDetail(painter, line, Qt::AlignLeft, index.data(kGroupRole).toString() + QStringLiteral("  "));
        paintDetail(painter, line, Qt::AlignRight, index.data(kKeysRole).toString());
        const bool isCommand = index.flags().testFlag(Qt::ItemIsEnabled);
        const int indent = isCommand ? 78 : 0;
        painter.setFont(uiFont());
        painter.setPen(isCommand ? theme().text : theme().textMuted);
        painter.drawText(
            line.adjusted(indent, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, index.data(Qt::DisplayRole).toString());
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
    setAccessibleName(tr("Commands"));
    m_field->setPlaceholderText(tr("Type a command"));
    m_field->setAccessibleName(tr("Search commands"));
    m_field->setClearButtonEnabled(true);
    m_list->setItemDelegate(new CommandDelegate(kCommandRow, m_list));
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setAccessibleName(tr("Commands found"));
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
    m_field->clear();
    search({});
    m_focusBefore = QApplication::focusWidget();
    show();
    raise();
    m_field->setFocus();
}

void CommandPalette::search(const QString &pattern)
{
    struct Hit {
        int score;
        const Command *command;
    };
    std::vector<Hit> hits;
    for (const Command &command : m_registry.commands()) {
        const QAction *action = m_registry.action(command.id);
        if (!action || !action->isEnabled())
            continue;
        if (const auto score = fuzzyScore(pattern, command.group + u' ' + action->text().remove(u'&')))
            hits.push_back({ *score, &command });
    }
    std::ranges::stable_sort(hits, std::greater {}, &Hit::score);
    m_list->clear();
    for (const Hit &hit : hits) {
        auto *item = new QListWidgetItem(m_registry.action(hit.command->id)->text().remove(u'&'), m_list);
        item->setData(Qt::UserRole, hit.command->id);
        item->setData(kKeysRole, keysOf(*hit.command));
        item->setData(kGroupRole, hit.command->group);
    }
    if (hits.empty()) {
        auto *none = new QListWidgetItem(tr("No command matches “%1”").arg(pattern), m_list);
        none->setFlags(Qt::NoItemFlags);
        return;
    }
    m_list->setCurrentRow(0);
}

void CommandPalette::runCurrent()
{
    const QListWidgetItem *item = m_list->currentItem();
    if (!item || !item->flags().testFlag(Qt::ItemIsEnabled))
        return;
    const QString id = item->data(Qt::UserRole).toString();
    dismiss();
    m_registry.trigger(id);
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
        const int rows = m_list->count();
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
