// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/set_bars.h"

#include "models/text/format.h"
#include "views/theme/theme.h"

#include <QPainter>

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

constexpr std::size_t kMostSets = 12;
constexpr int kBar = 8;
constexpr double kNamePart = 0.28; // of the width

QString labelOfSet(const SetShare &set)
{
    QString name = QString::fromStdString(set.gpu).remove(QStringLiteral("NVIDIA "));
    if (set.gpus > 1)
        name += QStringLiteral(" × %1").arg(set.gpus);
    return set.stages > 1 ? QObject::tr("%1 · %2").arg(set.stage + 1).arg(name) : name;
}

} // namespace

SetBars::SetBars(QWidget *parent)
    : QWidget(parent)
{
    setFont(uiFont(-2));
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

void SetBars::setSets(std::vector<SetShare> sets)
{
    m_sets = std::move(sets);
    QStringList words;
    for (const SetShare &set : m_sets)
        words << tr("%1: %2 of the work, %3 of the states, idle %4")
                     .arg(labelOfSet(set), formatPercent(set.computeShare), formatPercent(set.stateShare),
                         formatPercent(set.idle));
    setAccessibleName(words.join(QStringLiteral("; ")));
    updateGeometry();
    update();
}

std::size_t SetBars::shownSets() const
{
    return std::min(m_sets.size(), kMostSets);
}

QSize SetBars::sizeHint() const
{
    const std::size_t lines = shownSets() + 1 + (m_sets.size() > shownSets() ? 1 : 0);
    return { 240, int(lines) * lineHeight() + 4 };
}

void SetBars::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const QFontMetrics metrics = fontMetrics();
    const int name = int(width() * kNamePart), column = (width() - name) / 3,
              text = metrics.horizontalAdvance("00.0 %");
    const struct {
        QString title;
        double SetShare::*share;
        QColor color;
        bool isHatched;
    } columns[] = { { tr("compute share"), &SetShare::computeShare, theme().work(WorkKind::Forward), false },
        { tr("state share"), &SetShare::stateShare, theme().work(WorkKind::Optimizer), false },
        { tr("idle"), &SetShare::idle, theme().textFaint, true } };
    std::array<double, 3> most {};
    for (std::size_t c = 0; c < 3; ++c)
        for (const SetShare &set : m_sets)
            most[c] = std::max(most[c], set.*columns[c].share);
    most[2] = 1; // of the iteration
    painter.setPen(theme().textFaint);
    for (int c = 0; c < 3; ++c)
        painter.drawText(QRect(name + c * column, 0, column - 4, lineHeight()), Qt::AlignLeft | Qt::AlignVCenter,
            metrics.elidedText(columns[c].title, Qt::ElideRight, column - 4));
    for (std::size_t i = 0; i < shownSets(); ++i) {
        const SetShare &set = m_sets[i];
        const int top = int(i + 1) * lineHeight();
        painter.setPen(theme().textMuted);
        painter.drawText(QRect(0, top, name - 6, lineHeight()), Qt::AlignLeft | Qt::AlignVCenter,
            metrics.elidedText(labelOfSet(set), Qt::ElideMiddle, name - 6));
        for (std::size_t c = 0; c < 3; ++c) {
            const double share = set.*columns[c].share;
            const int left = name + int(c) * column, room = column - text - 12;
            QRectF bar(left, top + (lineHeight() - kBar) / 2.0, room, kBar);
            painter.fillRect(bar, theme().isDark ? theme().panelRaised : theme().grid);
            bar.setWidth(most[c] > 0 ? std::clamp(share / most[c], 0.0, 1.0) * room : 0);
            painter.fillRect(bar, columns[c].isHatched ? QBrush(columns[c].color, Qt::BDiagPattern) : columns[c].color);
            painter.drawText(QRect(left + room + 4, top, text + 4, lineHeight()), Qt::AlignLeft | Qt::AlignVCenter,
                formatPercent(share));
        }
    }
    if (m_sets.size() > shownSets()) {
        painter.setPen(theme().textFaint);
        painter.drawText(QRect(0, int(shownSets() + 1) * lineHeight(), width(), lineHeight()),
            Qt::AlignLeft | Qt::AlignVCenter, tr("%1 more sets of GPUs").arg(m_sets.size() - shownSets()));
    }
}

} // namespace trainyard
