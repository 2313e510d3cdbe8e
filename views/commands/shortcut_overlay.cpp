// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/commands/shortcut_overlay.h"

#include "views/commands/command_registry.h"
#include "views/theme/theme.h"

#include <QKeyEvent>
#include <QPainter>

#include <algorithm>
#include <utility>
#include <vector>

namespace trainyard {

namespace {

struct Group {
    QString name;
    std::vector<std::pair<QString, QString>> rows;   // keys, text
};

constexpr int kRow = 22, kHeading = 30, kColumn = 330, kKeys = 130, kMargin = 28;

std::vector<Group> groupsOf(const CommandRegistry &registry)
{
    std::vector<Group> groups;
    for (const Command &command : registry.commands()) {
        const QString keys = keysOf(command);
        if (keys.isEmpty())
            continue;
        auto at = std::ranges::find(groups, command.group, &Group::name);
        if (at == groups.end())
            at = groups.insert(groups.end(), {command.group, {}});
        at->rows.emplace_back(keys, QString(command.text).remove(u'&'));
    }
    return groups;
}

int heightOf(const Group &group)
{
    return kHeading + int(group.rows.size()) * kRow + 10;
}

/// Groups dealt to `count` columns in order, each column filled before the next begins.
std::vector<std::vector<const Group *>> dealt(const std::vector<Group> &groups, int count)
{
    int total = 0;
    for (const Group &group : groups)
        total += heightOf(group);
    std::vector<std::vector<const Group *>> columns(1);
    int height = 0;
    for (const Group &group : groups) {
        if (height > 0 && height + heightOf(group) / 2 > total / count && int(columns.size()) < count) {
            columns.emplace_back();
            height = 0;
        }
        columns.back().push_back(&group);
        height += heightOf(group);
    }
    return columns;
}

void paintGroup(QPainter &painter, const Group &group, QPoint at)
{
    const Theme &t = theme();
    painter.setFont(uiFont(0, QFont::DemiBold));
    painter.setPen(t.text);
    painter.drawText(QRect(at, QSize(kColumn, kHeading - 6)), Qt::AlignVCenter, group.name);
    int y = at.y() + kHeading;
    painter.setFont(uiFont(-1));
    for (const auto &[keys, text] : group.rows) {
        painter.setPen(t.accent);
        const QRect keyBox(at.x(), y, kKeys, kRow);
        painter.drawText(keyBox, Qt::AlignVCenter, painter.fontMetrics().elidedText(keys, Qt::ElideRight, kKeys - 10));
        painter.setPen(t.textMuted);
        const QRect textBox(at.x() + kKeys, y, kColumn - kKeys - 16, kRow);
        painter.drawText(textBox, Qt::AlignVCenter, painter.fontMetrics().elidedText(text, Qt::ElideRight, textBox.width()));
        y += kRow;
    }
}

} // namespace

ShortcutOverlay::ShortcutOverlay(const CommandRegistry &registry, QWidget *window) : QWidget(window), m_registry(registry)
{
    hide();
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Keyboard shortcuts"));
    window->installEventFilter(this);
}

void ShortcutOverlay::open()
{
    setGeometry(parentWidget()->rect());
    show();
    raise();
    setFocus();
}

void ShortcutOverlay::paintEvent(QPaintEvent *)
{
    const Theme &t = theme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QColor veil = t.window;
    veil.setAlphaF(0.72f);
    painter.fillRect(rect(), veil);
    const std::vector<Group> groups = groupsOf(m_registry);
    const auto columns = dealt(groups, std::clamp((width() - 4 * kMargin) / kColumn, 1, 4));
    int tallest = 0;
    for (const auto &column : columns) {
        int height = 0;
        for (const Group *group : column)
            height += heightOf(*group);
        tallest = std::max(tallest, height);
    }
    QRect box(0, 0, int(columns.size()) * kColumn + 2 * kMargin, tallest + 2 * kMargin);
    box.moveCenter(rect().center());
    painter.setPen(t.border);
    painter.setBrush(t.panel);
    painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 10, 10);
    int x = box.left() + kMargin;
    for (const auto &column : columns) {
        int y = box.top() + kMargin;
        for (const Group *group : column) {
            paintGroup(painter, *group, {x, y});
            y += heightOf(*group);
        }
        x += kColumn;
    }
}

void ShortcutOverlay::mousePressEvent(QMouseEvent *)
{
    hide();
}

void ShortcutOverlay::keyPressEvent(QKeyEvent *)
{
    hide();
}

bool ShortcutOverlay::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Resize && isVisible())
        setGeometry(parentWidget()->rect());
    return QWidget::eventFilter(watched, event);
}

} // namespace trainyard
