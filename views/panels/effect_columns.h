#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Effects in fixed columns, the same in every row and every list of Strategies: the value, what it does to the time, to
// the memory of the fullest GPU, and a mark. Figures are always whole: where there is little room the value gives way,
// and at last figures lose their decimals. GUI thread.

#include "views/panels/effect_text.h"
#include "views/parts/panel_parts.h"

namespace trainyard {

/// Pixels.
struct EffectWidths {
    int time, memory, mark, gap;
    [[nodiscard]] int all() const { return time + memory + mark + 2 * gap; }
};
/// What the widest figures take: "−88.8 %", "−88.8 GB".
[[nodiscard]] EffectWidths effectWidths(const QFontMetrics &metrics);

/// Paints time, memory and mark at the right of `place`, in the painter's font. Returns the pixels that they take.
int paintEffect(QPainter &painter, const QRect &place, const EffectText &effect);

/// The effect at the right of a row.
class EffectLine : public TextLine {
    Q_OBJECT
public:
    explicit EffectLine(QWidget *parent = nullptr);

    /// `value`: which one is meant; empty where there is one other alone.
    void setEffect(const QString &value, const EffectText &effect);
    [[nodiscard]] const EffectText &effect() const { return m_effect; }
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QString m_value;
    EffectText m_effect;
};

/// The title of a section whose rows have these columns, with their captions.
class EffectHeading : public SectionTitle {
    Q_OBJECT
public:
    using SectionTitle::SectionTitle;

protected:
    void paintEvent(QPaintEvent *event) override;
};

} // namespace trainyard
