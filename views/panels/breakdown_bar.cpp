// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/breakdown_bar.h"

#include "core/evaluate/breakdown_entries.h"
#include "models/text/format.h"
#include "views/theme/theme.h"

#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

namespace trainyard {

namespace {

constexpr int kBarHeight = 16;
constexpr int kSwatch = 8;
constexpr double kSliver = 0.008;      // of the iteration

/// Colours are looked up when painting, so that a change of theme needs no new evaluation.
template <WorkKind kind>
QColor work() { return theme().work(kind); }
QColor idle() { return theme().idle; }

/// Those of the timeline's spans; what lies inside spans has shades of a collective, idle time is idle there too.
QColor (*colorOf(std::string_view key))()
{
    static const std::map<std::string_view, QColor (*)()> colors{
        {"compute", work<WorkKind::Forward>},
        {"bubble", idle},
        {"wan", work<WorkKind::WanTransfer>},
        {"pipeline", work<WorkKind::PipelineTransfer>},
        {"tensor_parallel", work<WorkKind::Collective>},
        {"context_parallel", [] { return theme().work(WorkKind::Collective).lighter(130); }},
        {"expert_parallel", [] { return theme().work(WorkKind::Collective).darker(140); }},
        {"data_parallel", work<WorkKind::GradientReduce>},
        {"offload_stall", work<WorkKind::OffloadStore>},
        {"optimizer", work<WorkKind::Optimizer>},
        {"overhead", work<WorkKind::Overhead>}};
    return colors.at(key);
}

std::vector<BreakdownBar::Part> partsOf(const Breakdown &b)
{
    std::vector<BreakdownBar::Part> parts;
    for (const BreakdownEntry &entry : breakdownEntries(b))
        parts.push_back({QString::fromLatin1(entry.label), QString::fromLatin1(entry.meaning) + u'.', QString::fromStdString(entry.where), entry.isInSpans, entry.seconds, colorOf(entry.key)});
    // Slivers share one entry, so that the legend names what matters and the bar still adds up.
    BreakdownBar::Part rest{QObject::tr("other"), {}, {}, false, 0, work<WorkKind::ParameterGather>};
    QStringList small;
    for (const BreakdownBar::Part &part : parts) {
        if (part.seconds > 0 && part.seconds < kSliver * b.total()) {
            rest.seconds += part.seconds;
            small << QStringLiteral("%1 %2").arg(part.name, formatSeconds(part.seconds));
        }
    }
    std::erase_if(parts, [&](const BreakdownBar::Part &p) { return p.seconds < kSliver * b.total() || p.seconds <= 0; });
    const auto bubble = std::ranges::find(parts, QStringLiteral("bubble"), &BreakdownBar::Part::name);
    rest.meaning = small.join(QStringLiteral(", "));
    if (rest.seconds > 0)
        parts.insert(bubble, rest);            // what is idle comes last
    return parts;
}

/// "tensor parallel 596 ms (in spans)": no row of the timeline shows it by that name.
QString labelOf(const BreakdownBar::Part &part)
{
    return part.name + u' ' + formatSeconds(part.seconds) + (part.isInSpans ? QObject::tr(" (in spans)") : QString());
}

} // namespace

BreakdownBar::BreakdownBar(QWidget *parent) : QWidget(parent)
{
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void BreakdownBar::setBreakdown(const std::optional<Breakdown> &breakdown)
{
    m_parts = breakdown ? partsOf(*breakdown) : std::vector<Part>{};
    QStringList words;
    m_labelWidths.clear();
    for (const Part &part : m_parts)
        m_labelWidths.push_back(kSwatch + 5 + fontMetrics().horizontalAdvance(labelOf(part)));
    for (const Part &part : m_parts)
        words << QStringLiteral("%1 %2").arg(part.name, formatSeconds(part.seconds));
    setAccessibleName(tr("Where the iteration goes: %1").arg(words.join(QStringLiteral(", "))));
    updateGeometry();
    update();
}

void BreakdownBar::setDimmed(bool dimmed)
{
    if (std::exchange(m_dimmed, dimmed) != dimmed)
        update();
}

QString BreakdownBar::toTsv() const
{
    QString text = tr("part\tseconds\tin the timeline\n");
    for (const Part &part : m_parts)
        text += part.name + u'\t' + QString::number(part.seconds, 'g', 9) + u'\t' + part.where + u'\n';
    return text;
}

std::vector<BreakdownBar::Label> BreakdownBar::legend(int width) const
{
    std::vector<Label> labels;
    const QFontMetrics metrics(font());
    int x = 0, y = kBarHeight + Theme::kGap;
    for (std::size_t i = 0; i < m_parts.size(); ++i) {
        const int w = m_labelWidths[i];
        if (x > 0 && x + w > width) {
            x = 0;
            y += metrics.height() + 3;
        }
        labels.push_back({QRect(x, y, w, metrics.height()), &m_parts[i]});
        x += w + 14;
    }
    return labels;
}

std::vector<QRect> BreakdownBar::segments() const
{
    std::vector<QRect> rects;
    const double total = std::accumulate(m_parts.begin(), m_parts.end(), 0.0, [](double sum, const Part &p) { return sum + p.seconds; });
    double before = 0;
    for (const Part &part : m_parts) {
        const int from = int(std::lround(before / total * width()));
        before += part.seconds;
        const int to = int(std::lround(before / total * width()));
        rects.emplace_back(from, 0, std::max(1, to - from), kBarHeight);
    }
    return rects;
}

const BreakdownBar::Part *BreakdownBar::partAt(QPoint position) const
{
    const std::vector<QRect> rects = segments();
    for (std::size_t i = 0; i < rects.size(); ++i)
        if (rects[i].contains(position))
            return &m_parts[i];
    for (const Label &label : legend(width()))
        if (label.rect.contains(position))
            return label.part;
    return nullptr;
}

QSize BreakdownBar::sizeHint() const
{
    return {280, heightForWidth(280)};
}

int BreakdownBar::heightForWidth(int width) const
{
    const std::vector<Label> labels = legend(width);
    return labels.empty() ? kBarHeight : labels.back().rect.bottom() + 1;
}

void BreakdownBar::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (m_dimmed)
        painter.setOpacity(0.45);
    QPainterPath outline;
    outline.addRoundedRect(QRectF(0, 0, width(), kBarHeight), 3, 3);
    painter.setClipPath(outline);
    painter.fillRect(0, 0, width(), kBarHeight, theme().idle);
    const std::vector<QRect> rects = segments();
    for (std::size_t i = 0; i < rects.size(); ++i)
        painter.fillRect(rects[i].adjusted(0, 0, rects[i].width() > 3 ? -1 : 0, 0), m_parts[i].color());
    painter.setClipping(false);
    for (const Label &label : legend(width())) {
        const QRect swatch(label.rect.left(), label.rect.center().y() - kSwatch / 2 + 1, kSwatch, kSwatch);
        painter.setPen(label.part->color == idle ? QPen(theme().textFaint) : QPen(Qt::NoPen));   // as dark as the panel, or as light
        painter.setBrush(label.part->color());
        painter.drawRoundedRect(swatch, 2, 2);
        painter.setPen(theme().textMuted);
        painter.drawText(label.rect.adjusted(kSwatch + 5, 0, 4, 0), Qt::AlignLeft | Qt::AlignVCenter,
                         labelOf(*label.part));
    }
}

bool BreakdownBar::event(QEvent *event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    const Part *part = partAt(help->pos());
    double total = 0;
    for (const Part &p : m_parts)
        total += p.seconds;
    if (part)
        QToolTip::showText(help->globalPos(), QStringLiteral("<b>%1 %2 · %3</b><br>%4").arg(part->name, formatSeconds(part->seconds), formatPercent(part->seconds / total), part->meaning)
                               + (part->where.isEmpty() ? QString() : tr("<br>In the timeline: %1.").arg(part->where)), this);
    else
        QToolTip::hideText();
    return true;
}

} // namespace trainyard
