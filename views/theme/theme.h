#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Colours and metrics of the product, light, dark and high-contrast. GUI thread only. Widgets read theme() when they
// paint and repaint on QEvent::PaletteChange, which applyTheme sends; nothing else holds a colour.

#include "core/engine/timeline/timeline.h"

#include <QColor>
#include <QFont>

class QApplication;

namespace trainyard {

enum class ThemeKind { System, Light, Dark, HighContrast };

struct Theme {
    bool isDark = false;
    /// surfaces, back to front
    QColor window, panel, panelRaised, border, grid;
    QColor text, textMuted, textFaint;
    /// interaction: selection, links, focus
    QColor accent, accentSoft;
    /// differences and problems
    QColor good, bad, warning;
    /// a track where nothing runs
    QColor idle;

    /// Colour-blind-safe (after Okabe and Ito), the same hue for a kind of work everywhere.
    [[nodiscard]] QColor work(WorkKind kind) const;
    /// Ink that reads on top of work(kind).
    [[nodiscard]] QColor workInk(WorkKind kind) const;
    /// Colour of pipeline stage `stage` of `stages`, counted from 0: a perceptually even ramp of colours that no kind
    /// of work has (stage_ramp.h), and that also reads in grey.
    [[nodiscard]] QColor stage(int stage, int stages) const;

    /// between panels
    static constexpr int kGap = 8;
    /// inside panels
    static constexpr int kPad = 12;
    static constexpr int kRadius = 6;
};

[[nodiscard]] const Theme &theme();
/// Sets palette, font and style sheet of the application. System follows the palette's lightness.
void applyTheme(QApplication &application, ThemeKind kind);
/// The palette and font of applyTheme() alone. A window that is made before there is a sheet opens in half the time:
/// under a sheet, each change of a parent styles the whole subtree again.
void applyColours(QApplication &application, ThemeKind kind);
/// The sheet that belongs to the colours. MainWindow applies it at the end of its constructor where there is none.
void applyStyleSheet();
/// The product's interface font at a size relative to the base (0), in points, with tabular figures where it has them.
[[nodiscard]] QFont uiFont(int sizeOffset = 0, QFont::Weight weight = QFont::Normal);

} // namespace trainyard
