#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The width of one text, remembered as long as text and font are the same: a layout asks several times what shaping the
// text takes. GUI thread.

#include <QFont>
#include <QFontMetrics>
#include <QString>

namespace trainyard {

class TextWidth {
public:
    /// in logical pixels
    [[nodiscard]] int of(const QString &text, const QFont &font) const
    {
        if (m_width < 0 || text != m_text || font != m_font) {
            m_text = text;
            m_font = font;
            m_width = QFontMetrics(font).horizontalAdvance(text);
        }
        return m_width;
    }

    /// The text, or what of it `room` has place for.
    [[nodiscard]] QString elided(const QString &text, const QFont &font, int room) const
    {
        return of(text, font) <= room ? text : QFontMetrics(font).elidedText(text, Qt::ElideRight, room);
    }

private:
    mutable QString m_text;
    mutable QFont m_font;
    mutable int m_width = -1;
};

} // namespace trainyard
