// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/session/marked_map.h"

#include "models/text/foreign_text.h"
#include "views/cluster/cluster_map.h"
#include "views/cluster/overlay_painter.h"
#include "views/parts/text_line.h"
#include "views/session/variant_color.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QHelpEvent>
#include <QLabel>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <QVBoxLayout>

namespace trainyard {

/// Lies over the map and lets the mouse through.
class MarkedMap::Marks : public QWidget {
public:
    explicit Marks(MarkedMap &marked)
        : QWidget(marked.map)
        , m_marked(marked)
    {
        setAttribute(Qt::WA_TransparentForMouseEvents);
        setFont(uiFont(-1, QFont::DemiBold));
    }

protected:
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        const MapLayout &layout = m_marked.map->mapLayout();
        for (const MapMark &mark : m_marked.m_marks) {
            if (mark.item.kind == MapItem::Kind::Link)
                paintLinkMark(painter, layout, mark);
            else
                paintIslandMark(painter, layout, mark);
        }
    }

private:
    static void outline(QPainter &painter, const QRectF &rect, double radius)
    {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(theme().panel, 3.5));
        painter.drawRoundedRect(rect, radius, radius);
        painter.setPen(QPen(theme().accent, 1.5));
        painter.drawRoundedRect(rect, radius, radius);
    }
    void paintLinkMark(QPainter &painter, const MapLayout &layout, const MapMark &mark) const
    {
        if (mark.item.link >= int(layout.links.size()) || !layout.links[std::size_t(mark.item.link)].visible)
            return;
        const LinkLayout &link = layout.links[std::size_t(mark.item.link)];
        if (!link.card.isEmpty()) {
            outline(painter, link.card, 4);
            return;
        }
        QPainterPath path(link.from);
        path.quadTo(link.bend, link.to);
        QColor ink = theme().accent;
        ink.setAlphaF(0.5F);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(ink, 2));
        painter.drawPath(path);
    }
    void paintIslandMark(QPainter &painter, const MapLayout &layout, const MapMark &mark) const
    {
        if (mark.item.island >= int(layout.islands.size()))
            return;
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(theme().accent, 1.2));
        for (const MapItem &part : mark.parts)
            for (const QRectF &rect : itemRects(m_marked.map->shownScene(), layout, part))
                painter.drawRoundedRect(rect.adjusted(-0.5, -0.5, 0.5, 0.5), 2, 2);
        const QRectF badge = badgeOf(mark, layout, fontMetrics().horizontalAdvance(mark.brief), fontMetrics().height());
        painter.setPen(QPen(theme().panel, 2));
        painter.setBrush(theme().accent);
        painter.drawRoundedRect(badge, badge.height() / 2, badge.height() / 2);
        painter.setPen(theme().panel);
        painter.drawText(badge, Qt::AlignCenter, mark.brief);
    }

    MarkedMap &m_marked;
};

MarkedMap::MarkedMap(QWidget *parent)
    : QWidget(parent)
    , map(new ClusterMap)
    , m_dot(new QLabel)
    , m_name(new TextLine)
    , m_note(new TextLine({}, Ink::Faint))
    , m_overlay(new Marks(*this))
{
    map->setLookedAtOnly();
    map->installEventFilter(this);
    auto *head = new QHBoxLayout;
    head->setContentsMargins(Theme::kPad, 4, Theme::kPad, 0);
    head->setSpacing(5);
    head->addWidget(m_dot);
    head->addWidget(m_name, 1);
    head->addWidget(m_note);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(head);
    column->addWidget(map, 1);
}

void MarkedMap::setShown(const Shown &shown, const QString &name, const QColor &color)
{
    m_shown = shown;
    map->setShown(shown);
    m_dot->setPixmap(variantDot(color, devicePixelRatioF()).pixmap(QSize(10, 10)));
    m_name->setText(name);
    setAccessibleName(tr("Map of %1").arg(name));
}

void MarkedMap::setChanges(const MapChanges &changes)
{
    m_marks.clear();
    if (m_shown.plan) // the map's own scene may be behind while nobody looks at it
        m_marks = mapMarks(changes, buildScene(*m_shown.plan, m_shown.evaluation.get()));
    QStringList lines;
    for (const MapMark &mark : m_marks)
        lines << mark.lines.join(QStringLiteral(": "));
    setAccessibleDescription(lines.isEmpty() ? tr("Nothing moved") : lines.join(u'\n'));
    m_note->setText(!changes.whyNoStages.isEmpty() ? changes.whyNoStages
            : m_marks.empty()                      ? tr("Nothing moved")
                                                   : QString());
    m_overlay->update();
}

QString MarkedMap::wordsAt(QPoint at) const
{
    const MapMark *mark = markAt(m_marks, map->mapLayout(), map->mapFrom(this, at));
    return mark ? mark->lines.join(u'\n') : QString();
}

bool MarkedMap::event(QEvent *event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    if (const QString words = wordsAt(help->pos()); !words.isEmpty())
        QToolTip::showText(help->globalPos(), plainTip(words), this);
    else
        QToolTip::hideText();
    return true;
}

bool MarkedMap::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == map && event->type() == QEvent::Resize)
        m_overlay->resize(map->size());
    return QWidget::eventFilter(watched, event);
}

} // namespace trainyard
