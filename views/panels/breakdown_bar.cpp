// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/breakdown_bar.h"

#include "core/evaluation/evaluate/metrics/breakdown_entries.h"
#include "models/text/format.h"
#include "views/panels/part_button.h"
#include "views/parts/plain_texts.h"
#include "views/theme/part_colors.h"
#include "views/theme/theme.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace trainyard {

namespace {

constexpr int kBreakdownHeight = 16;
constexpr int kBetweenParts = 6;
constexpr double kSliver = 0.008; // of the iteration

std::vector<BreakdownBar::Part> partsOf(const Breakdown &b)
{
    std::vector<BreakdownBar::Part> parts;
    // Slivers share one entry, so that the legend names what matters and the bar still adds up.
    BreakdownBar::Part rest { QObject::tr("other"), {}, {}, false, 0, {} };
    QStringList small;
    for (const BreakdownEntry &entry : breakdownEntries(b)) {
        if (entry.seconds <= 0)
            continue;
        const QString name = QString::fromLatin1(entry.label);
        if (entry.seconds < kSliver * b.total()) {
            rest.seconds += entry.seconds;
            rest.parts.push_back(entry.part);
            small << QStringLiteral("%1 %2").arg(name, formatSeconds(entry.seconds));
        } else {
            parts.push_back({ name, QString::fromLatin1(entry.meaning) + u'.', QString::fromStdString(entry.where),
                entry.isInSpans, entry.seconds, { entry.part } });
        }
    }
    rest.meaning = small.join(QStringLiteral(", "));
    if (rest.seconds > 0) // what is idle comes last
        parts.insert(std::ranges::find(parts, QStringLiteral("bubble"), &BreakdownBar::Part::name), rest);
    return parts;
}

/// "tensor parallel 596 ms (in spans)": no row of the timeline shows it by that name.
QString labelOf(const BreakdownBar::Part &part)
{
    return part.name + u' ' + formatSeconds(part.seconds) + (part.isInSpans ? QObject::tr(" (in spans)") : QString());
}

QString explained(const BreakdownBar::Part &part, double total)
{
    return QStringLiteral("<b>%1 %2 · %3</b><br>%4")
               .arg(part.name.toHtmlEscaped(), formatSeconds(part.seconds), formatPercent(part.seconds / total),
                   part.meaning.toHtmlEscaped())
        + (part.where.isEmpty() ? QString() : QObject::tr("<br>In the timeline: %1.").arg(part.where.toHtmlEscaped()))
        + QObject::tr("<br>A click shows where.");
}

} // namespace

BreakdownBar::BreakdownBar(QWidget *parent)
    : QWidget(parent)
{
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setMouseTracking(true);
}

void BreakdownBar::setBreakdown(const std::optional<Breakdown> &breakdown, const QString &ofExperts)
{
    m_parts = breakdown ? partsOf(*breakdown) : std::vector<Part> {};
    for (Part &part : m_parts)
        if (!ofExperts.isEmpty() && part.parts == std::vector { &Breakdown::expertParallel })
            part.meaning += QStringLiteral(" %1.").arg(ofExperts);
    QStringList words;
    for (const Part &part : m_parts)
        words << QStringLiteral("%1 %2").arg(part.name, formatSeconds(part.seconds));
    setAccessibleName(tr("Where the iteration goes: %1").arg(words.join(QStringLiteral(", "))));
    while (m_buttons.size() < m_parts.size()) {
        auto *button = m_buttons.emplace_back(new PartButton(this));
        button->setDimmed(m_dimmed);
        connect(button, &PartButton::clicked, this,
            [this, button](bool isChecked) { choose(isChecked ? button->parts() : std::vector<BreakdownPart>()); });
    }
    for (std::size_t i = 0; i < m_buttons.size(); ++i) {
        m_buttons[i]->setVisible(i < m_parts.size());
        if (i >= m_parts.size())
            continue;
        m_buttons[i]->setText(labelOf(m_parts[i]));
        setRichTip(*m_buttons[i], explained(m_parts[i], breakdown->total()));
        m_buttons[i]->setAccessibleName(tr("Show %1 in the timeline").arg(labelOf(m_parts[i])));
        m_buttons[i]->setParts(m_parts[i].parts);
    }
    showChosen();
    arrange();
    updateGeometry();
    update();
}

void BreakdownBar::setDimmed(bool dimmed)
{
    for (PartButton *button : m_buttons)
        button->setDimmed(dimmed);
    if (std::exchange(m_dimmed, dimmed) != dimmed)
        update();
}

void BreakdownBar::setChosen(std::vector<BreakdownPart> parts)
{
    m_chosen = std::move(parts);
    showChosen();
    update();
}

void BreakdownBar::choose(const std::vector<BreakdownPart> &parts)
{
    showChosen(); // a button is checked by what the timeline does, not by its click
    Q_EMIT partsChosen(parts);
}

/// Slivers come and go with the plan, so that an entry is marked where it has any of what is chosen.
bool BreakdownBar::isChosen(const Part &part) const
{
    return std::ranges::find_first_of(part.parts, m_chosen) != part.parts.end();
}

void BreakdownBar::showChosen()
{
    for (std::size_t i = 0; i < m_parts.size(); ++i)
        m_buttons[i]->setChecked(isChosen(m_parts[i]));
}

QString BreakdownBar::toTsv() const
{
    QString text = tr("part\tseconds\tin the timeline\n");
    for (const Part &part : m_parts)
        text += part.name + u'\t' + QString::number(part.seconds, 'g', 9) + u'\t' + part.where + u'\n';
    return text;
}

std::vector<QRect> BreakdownBar::places(int width) const
{
    std::vector<QRect> rects;
    int x = 0, y = kBreakdownHeight + Theme::kGap - 1;
    for (std::size_t i = 0; i < m_parts.size(); ++i) {
        const QSize size = m_buttons[i]->sizeHint();
        if (x > 0 && x + size.width() > width) {
            x = 0;
            y += size.height() + 1;
        }
        rects.emplace_back(QPoint(x, y), size);
        x += size.width() + kBetweenParts;
    }
    return rects;
}

void BreakdownBar::arrange()
{
    const std::vector<QRect> rects = places(width());
    for (std::size_t i = 0; i < rects.size(); ++i)
        m_buttons[i]->setGeometry(rects[i]);
}

std::vector<QRect> BreakdownBar::segments() const
{
    std::vector<QRect> rects;
    const double total =
        std::accumulate(m_parts.begin(), m_parts.end(), 0.0, [](double sum, const Part &p) { return sum + p.seconds; });
    double before = 0;
    for (const Part &part : m_parts) {
        const int from = int(std::lround(before / total * width()));
        before += part.seconds;
        const int to = int(std::lround(before / total * width()));
        rects.emplace_back(from, 0, std::max(1, to - from), kBreakdownHeight);
    }
    return rects;
}

const BreakdownBar::Part *BreakdownBar::partAt(QPoint position) const
{
    const std::vector<QRect> rects = segments();
    const auto found = std::ranges::find_if(rects, [&](const QRect &rect) { return rect.contains(position); });
    return found == rects.end() ? nullptr : &m_parts[std::size_t(found - rects.begin())];
}

QSize BreakdownBar::sizeHint() const
{
    return { 280, heightForWidth(280) };
}

int BreakdownBar::heightForWidth(int width) const
{
    const std::vector<QRect> rects = places(width);
    if (rects.empty())
        return kBreakdownHeight;
    // Two lines at least: what stands below keeps its place while better parts are tried.
    return std::max(rects.back().bottom(), rects.front().bottom() + rects.front().height() + 1) + 1;
}

void BreakdownBar::resizeEvent(QResizeEvent *)
{
    arrange();
}

void BreakdownBar::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (m_dimmed)
        painter.setOpacity(0.45);
    QPainterPath outline;
    outline.addRoundedRect(QRectF(0, 0, width(), kBreakdownHeight), 3, 3);
    painter.setClipPath(outline);
    painter.fillRect(0, 0, width(), kBreakdownHeight, theme().idle);
    const std::vector<QRect> rects = segments();
    for (std::size_t i = 0; i < rects.size(); ++i) {
        painter.setOpacity((m_dimmed ? 0.45 : 1) * (m_chosen.empty() || isChosen(m_parts[i]) ? 1 : 0.3));
        painter.fillRect(rects[i].adjusted(0, 0, rects[i].width() > 3 ? -1 : 0, 0), partsColor(m_parts[i].parts));
    }
}

void BreakdownBar::mouseMoveEvent(QMouseEvent *event)
{
    setCursor(partAt(event->position().toPoint()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void BreakdownBar::mousePressEvent(QMouseEvent *event)
{
    const Part *part = event->button() == Qt::LeftButton ? partAt(event->position().toPoint()) : nullptr;
    if (!part)
        return QWidget::mousePressEvent(event);
    choose(isChosen(*part) ? std::vector<BreakdownPart>() : part->parts);
}

bool BreakdownBar::event(QEvent *event)
{
    if (event->type() == QEvent::FontChange)
        arrange();
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    const Part *part = partAt(help->pos());
    double total = 0;
    for (const Part &p : m_parts)
        total += p.seconds;
    if (part)
        QToolTip::showText(help->globalPos(), explained(*part, total), this);
    else
        QToolTip::hideText();
    return true;
}

} // namespace trainyard
