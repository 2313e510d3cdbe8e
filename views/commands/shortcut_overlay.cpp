// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/commands/shortcut_overlay.h"

#include "views/commands/command_registry.h"
#include "views/theme/theme.h"

#include <QKeyEvent>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace trainyard {

struct ShortcutGroup {
    QString name;
    std::vector<std::pair<QStringList, QString>> rows; // keys, text
};

namespace {

constexpr int kRow = 23, kHeading = 30, kGroupGap = 12, kMargin = 24, kColumnGap = 28, kKeyGap = 4, kKeySide = 6;

std::vector<ShortcutGroup> groupsOf(const CommandRegistry &registry)
{
    std::vector<ShortcutGroup> groups;
    for (const Command &command : registry.commands()) {
        const QString keys = keysOf(command);
        if (keys.isEmpty())
            continue;
        auto at = std::ranges::find(groups, command.group, &ShortcutGroup::name);
        if (at == groups.end())
            at = groups.insert(groups.end(), { command.group, {} });
        at->rows.emplace_back(keys.split(QStringLiteral(", "), Qt::SkipEmptyParts), QString(command.text).remove(u'&'));
        if (at->rows.back().first.isEmpty())
            at->rows.back().first << keys.trimmed(); // the comma itself
    }
    return groups;
}

int heightOf(const ShortcutGroup &group)
{
    return kHeading + int(group.rows.size()) * kRow;
}

int heightOf(const std::vector<const ShortcutGroup *> &column)
{
    int height = -kGroupGap;
    for (const ShortcutGroup *group : column)
        height += heightOf(*group) + kGroupGap;
    return height;
}

/// Groups dealt to at most `count` columns in order, so that the tallest is as low as can be.
std::vector<std::vector<const ShortcutGroup *>> dealt(const std::vector<ShortcutGroup> &groups, int count)
{
    const auto withMost = [&](int most) {
        std::vector<std::vector<const ShortcutGroup *>> columns(1);
        for (const ShortcutGroup &group : groups) {
            columns.back().push_back(&group);
            if (columns.back().size() > 1 && heightOf(columns.back()) > most) {
                columns.back().pop_back();
                columns.push_back({ &group });
            }
        }
        return columns;
    };
    int low = 0;
    for (const ShortcutGroup &group : groups)
        low = std::max(low, heightOf(group));
    while (int(withMost(low).size()) > count)
        low += kRow;
    return withMost(low);
}

int widthOfKeys(const QStringList &keys, const QFontMetrics &metrics)
{
    int width = -kKeyGap;
    for (const QString &key : keys)
        width += std::max(metrics.height(), metrics.horizontalAdvance(key) + 2 * kKeySide) + kKeyGap;
    return width;
}

void paintKeys(QPainter &painter, const QStringList &keys, QPoint at)
{
    const Theme &t = theme();
    const QFontMetrics metrics = painter.fontMetrics();
    int x = at.x();
    for (const QString &key : keys) {
        const QRectF box(x + 0.5, at.y() + 2.5,
            std::max(metrics.height(), metrics.horizontalAdvance(key) + 2 * kKeySide) - 1, kRow - 6);
        painter.setPen(t.border);
        painter.setBrush(t.panelRaised);
        painter.drawRoundedRect(box, 4, 4);
        painter.setPen(t.text);
        painter.drawText(box, Qt::AlignCenter, key);
        x += int(box.width()) + 1 + kKeyGap;
    }
}

} // namespace

/// The sheet itself, as wide and as tall as its text.
class ShortcutSheet : public QWidget {
public:
    ShortcutSheet(const CommandRegistry &registry, QWidget *parent)
        : QWidget(parent)
        , m_registry(registry)
    {
    }

    void fill(int mostWidth)
    {
        m_groups = groupsOf(m_registry);
        const QFontMetrics metrics(uiFont(-1));
        m_keys = m_column = 0;
        int text = 0;
        for (const ShortcutGroup &group : m_groups) {
            for (const auto &[keys, words] : group.rows) {
                m_keys = std::max(m_keys, widthOfKeys(keys, metrics));
                text = std::max(text, metrics.horizontalAdvance(words));
            }
        }
        m_column = m_keys + 12 + text + 4;
        m_columns = dealt(m_groups, std::clamp((mostWidth - 2 * kMargin + kColumnGap) / (m_column + kColumnGap), 1, 4));
        int tallest = 0;
        for (const auto &column : m_columns)
            tallest = std::max(tallest, heightOf(column));
        resize(int(m_columns.size()) * (m_column + kColumnGap) - kColumnGap + 2 * kMargin, tallest + 2 * kMargin);
    }

protected:
    void paintEvent(QPaintEvent *) override
    {
        const Theme &t = theme();
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        int x = kMargin;
        for (const auto &column : m_columns) {
            int y = kMargin;
            for (const ShortcutGroup *group : column) {
                painter.setFont(uiFont(0, QFont::DemiBold));
                painter.setPen(t.text);
                painter.drawText(QRect(x, y, m_column, kHeading - 6), Qt::AlignVCenter, group->name);
                y += kHeading;
                painter.setFont(uiFont(-1));
                for (const auto &[keys, text] : group->rows) {
                    paintKeys(painter, keys, { x, y });
                    painter.setPen(t.textMuted);
                    painter.drawText(
                        QRect(x + m_keys + 12, y, m_column - m_keys - 12, kRow - 1), Qt::AlignVCenter, text);
                    y += kRow;
                }
                y += kGroupGap;
            }
            x += m_column + kColumnGap;
        }
    }

private:
    const CommandRegistry &m_registry;
    std::vector<ShortcutGroup> m_groups;
    std::vector<std::vector<const ShortcutGroup *>> m_columns;
    int m_keys = 0, m_column = 0; // widths
};

ShortcutOverlay::ShortcutOverlay(const CommandRegistry &registry, QWidget *window)
    : QWidget(window)
    , m_area(new QScrollArea(this))
    , m_sheet(new ShortcutSheet(registry, this))
{
    hide();
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Keyboard shortcuts"));
    m_area->setWidget(m_sheet);
    m_area->setFrameShape(QFrame::NoFrame);
    m_area->setFocusPolicy(Qt::NoFocus);
    m_area->viewport()->setAutoFillBackground(false);
    m_sheet->setAutoFillBackground(false);
    window->installEventFilter(this);
}

void ShortcutOverlay::open()
{
    place();
    show();
    raise();
    setFocus();
}

void ShortcutOverlay::place()
{
    setGeometry(parentWidget()->rect());
    m_sheet->fill(width() - 2 * kMargin);
    const int room = height() - 2 * kMargin;
    const bool isTall = m_sheet->height() > room;
    QRect box(0, 0, std::min(m_sheet->width() + (isTall ? 14 : 0), width()), std::min(m_sheet->height(), room));
    box.moveCenter(rect().center());
    m_area->setGeometry(box);
}

void ShortcutOverlay::paintEvent(QPaintEvent *)
{
    const Theme &t = theme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QColor veil = t.window;
    veil.setAlphaF(0.72f);
    painter.fillRect(rect(), veil);
    painter.setPen(t.border);
    painter.setBrush(t.panel);
    painter.drawRoundedRect(QRectF(m_area->geometry()).adjusted(-0.5, -0.5, 0.5, 0.5), 10, 10);
}

void ShortcutOverlay::mousePressEvent(QMouseEvent *)
{
    hide();
}

void ShortcutOverlay::keyPressEvent(QKeyEvent *event)
{
    QScrollBar *bar = m_area->verticalScrollBar();
    switch (event->key()) {
    case Qt::Key_Down:
        return bar->triggerAction(QScrollBar::SliderSingleStepAdd);
    case Qt::Key_Up:
        return bar->triggerAction(QScrollBar::SliderSingleStepSub);
    case Qt::Key_PageDown:
        return bar->triggerAction(QScrollBar::SliderPageStepAdd);
    case Qt::Key_PageUp:
        return bar->triggerAction(QScrollBar::SliderPageStepSub);
    default:
        hide();
    }
}

bool ShortcutOverlay::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Resize && isVisible())
        place();
    return QWidget::eventFilter(watched, event);
}

} // namespace trainyard
