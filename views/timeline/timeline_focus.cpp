// SPDX-License-Identifier: GPL-3.0-or-later
// What TimelineView does when a part of Why was clicked: points at all that it adds up, goes to the largest piece, and
// back.
#include "views/timeline/chart_canvas.h"
#include "views/timeline/legend.h"
#include "views/timeline/minimap.h"
#include "views/timeline/span_card.h"
#include "views/timeline/timeline_view.h"

#include <utility>

namespace trainyard {

void TimelineView::focusOn(std::vector<BreakdownPart> parts)
{
    if (parts.empty() || m_state.isEmpty())
        return endFocus();
    TimeFocus focus = TimeFocus::on(*m_state.timeline(), std::move(parts));
    if (focus.pieces == 0)
        return endFocus();
    if (!m_state.focus)
        m_beforeFocus = { m_state.range, m_state.scroll };
    m_state.focus = std::move(focus);
    const TimePiece &largest = m_state.focus->largest;
    showFocus();
    selectSpan(largest.span != kNoSpan ? largest.span : largest.transfer);
    m_isFocusSelected = true;
    reveal(largest.track, { largest.begin, largest.end });
    m_atFocus = { m_state.range, m_state.scroll };
    emit focusChanged();
}

std::vector<BreakdownPart> TimelineView::focusedParts() const
{
    return m_state.focus ? m_state.focus->parts : std::vector<BreakdownPart>();
}

void TimelineView::endFocus()
{
    if (!m_state.focus)
        return;
    m_state.focus.reset();
    if (m_isFocusSelected)
        selectSpan(kNoSpan);
    if (m_atFocus == std::pair { m_state.range, m_state.scroll }) { // nobody has gone elsewhere since
        setRange(m_beforeFocus.first);
        setScroll(m_beforeFocus.second);
    }
    showFocus();
    emit focusChanged();
}

/// The same parts of another evaluation.
void TimelineView::renewFocus()
{
    if (!m_state.focus)
        return;
    TimeFocus focus = m_state.isEmpty() ? TimeFocus() : TimeFocus::on(*m_state.timeline(), m_state.focus->parts);
    if (focus.pieces == 0)
        return endFocus();
    m_state.focus = std::move(focus);
    showFocus();
}

void TimelineView::showFocus()
{
    m_legend->setFocusText(
        m_state.focus ? m_state.focus->text() : QString(), m_state.focus ? m_state.focus->names() : QString());
    m_card->hide();
    m_minimap->invalidate();
    repaintChart();
    describe();
}

} // namespace trainyard
