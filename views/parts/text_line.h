#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Text in one of the theme's inks: a label that repaints itself in the right colour when the theme changes, whatever
// style sheet the application has. One line, elided, or wrapped. GUI thread.

#include "views/theme/text_width.h"

#include <QWidget>

#include <array>
#include <utility>

namespace trainyard {

enum class Ink { Text, Muted, Faint, Good, Bad, Warning, Accent };
[[nodiscard]] QColor inkColor(Ink ink);

/// Opacity of what is not of the plan that the window shows.
inline constexpr double kDimmedOpacity = 0.45;

class TextLine : public QWidget {
    Q_OBJECT
public:
    explicit TextLine(const QString &text = {}, Ink ink = Ink::Text, QWidget *parent = nullptr);

    void setText(const QString &text);
    /// Shown instead where the text does not fit its line.
    void setShortText(const QString &text);
    /// As many characters at the beginning of the texts are elided first, so that what follows them can be read; where
    /// it is wrapped, what follows them begins a line of its own.
    void setLead(int characters);
    /// What can be read in a line of that width, or in its lines.
    [[nodiscard]] QString shown(int width) const;
    void setInk(Ink ink);
    void setAlignment(Qt::Alignment alignment);
    /// Several lines where one is too short. A word that is longer than a line is broken: nothing of it is lost.
    void setWrapped(bool wrapped);
    void setDimmed(bool dimmed);
    [[nodiscard]] bool isDimmed() const { return m_dimmed; }
    [[nodiscard]] const QString &text() const { return m_text; }
    [[nodiscard]] Ink ink() const { return m_ink; }

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;
    [[nodiscard]] bool hasHeightForWidth() const override { return m_wrapped; }
    [[nodiscard]] int heightForWidth(int width) const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    QString m_text, m_short;
    int m_lead = 0;
    Ink m_ink;
    Qt::Alignment m_alignment = Qt::AlignLeft | Qt::AlignVCenter;
    bool m_wrapped = false, m_dimmed = false;
    TextWidth m_width;
    /// heights of some widths, which a layout asks for in turn; emptied with text and font
    mutable std::array<std::pair<int, int>, 4> m_heights {};
    mutable std::size_t m_nextHeight = 0;
};

/// Several lines where one is too short.
[[nodiscard]] TextLine *wrappedLine(Ink ink, QWidget *parent);
/// Dims every line within `panel`: what stands there is not of the plan that the window shows.
void dimLines(const QWidget &panel, bool isDimmed);

} // namespace trainyard
