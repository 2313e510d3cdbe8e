// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/theme/theme.h"

#include "views/theme/stage_ramp.h"
#include "views/theme/style_sheet.h"

#include <QApplication>
#include <QEvent>
#include <QPalette>
#include <QStyle>
#include <QToolTip>
#include <QWidget>

#include <map>
#include <utility>

// Outside the namespace, as the macro demands: the library is static, so its resources are registered by hand.
static void loadIcons()
{
    Q_INIT_RESOURCE(icons);
}

namespace trainyard {

namespace {

Theme lightTheme()
{
    Theme t;
    t.window = QColor(0xf2f4f7);
    t.panel = QColor(0xffffff);
    t.panelRaised = QColor(0xf5f7fa);
    t.border = QColor(0xdde2e9);
    t.grid = QColor(0xe8ecf1);
    t.text = QColor(0x1b2330);
    t.textMuted = QColor(0x566273);
    t.textFaint = QColor(0x7d8898);
    t.accent = QColor(0x1f6feb);
    t.accentSoft = QColor(0xdce9fd);
    t.good = QColor(0x0f7b45);
    t.bad = QColor(0xc02b2b);
    t.warning = QColor(0x9a5b00);
    t.idle = QColor(0xf1f4f8);
    return t;
}

Theme darkTheme()
{
    Theme t;
    t.isDark = true;
    t.window = QColor(0x14171c);
    t.panel = QColor(0x1c2026);
    t.panelRaised = QColor(0x252a32);
    t.border = QColor(0x323943);
    t.grid = QColor(0x2a3039);
    t.text = QColor(0xe9edf3);
    t.textMuted = QColor(0xa3adbb);
    t.textFaint = QColor(0x7f8a99);
    t.accent = QColor(0x58a6ff);
    t.accentSoft = QColor(0x1f3658);
    t.good = QColor(0x4cc38a);
    t.bad = QColor(0xff7b72);
    t.warning = QColor(0xe3a63b);
    t.idle = QColor(0x171b20);
    return t;
}

Theme highContrastTheme()
{
    Theme t = darkTheme();
    t.window = t.panel = t.idle = QColor(0, 0, 0);
    t.panelRaised = QColor(0x1a1a1a);
    t.border = t.textMuted = t.textFaint = t.text = QColor(0xffffff);
    t.grid = QColor(0x5a5a5a);
    t.accent = QColor(0xffd60a);
    t.accentSoft = QColor(0x4d4000);
    return t;
}

Theme &current()
{
    static Theme instance = lightTheme();
    return instance;
}

const QStringList &uiFamilies()
{
    static const QStringList families { QStringLiteral("Inter"), QStringLiteral("Noto Sans"),
        QStringLiteral("DejaVu Sans") };
    return families;
}

/// By offset and weight, of this thread: reports are drawn beside the GUI thread.
std::map<std::pair<int, int>, QFont> &uiFonts()
{
    thread_local std::map<std::pair<int, int>, QFont> fonts;
    return fonts;
}

} // namespace

QColor Theme::work(WorkKind kind) const
{
    switch (kind) {
    case WorkKind::Forward:
        return QColor(0x56b4e9);
    case WorkKind::Backward:
        return isDark ? QColor(0x1f77c0) : QColor(0x0b5fa5);
    case WorkKind::InputGrad:
        return QColor(0x2a6fb5);
    case WorkKind::WeightGrad:
        return QColor(0x8fa8d8);
    case WorkKind::Recompute:
        return QColor(0x8a929e);
    case WorkKind::ForwardBackward:
        return QColor(0x4d6cd9);
    case WorkKind::PipelineTransfer:
        return QColor(0xf0c862);
    case WorkKind::WanTransfer:
        return QColor(0xe69f00);
    case WorkKind::Collective:
        return QColor(0x9b7fd1);
    case WorkKind::GradientReduce:
        return QColor(0xcc79a7);
    case WorkKind::ParameterGather:
        return QColor(0xdda9c6);
    case WorkKind::Optimizer:
        return QColor(0xd55e00);
    case WorkKind::OffloadStore:
        return QColor(0xb5a642);
    case WorkKind::OffloadLoad:
        return QColor(0xf0e442);
    case WorkKind::Prefill:
        return QColor(0x009e73);
    case WorkKind::Overhead:
        return QColor(0x6c7683);
    case WorkKind::GradientsToHost:
        return QColor(0xb05a8c);
    case WorkKind::StatesToHost:
        return QColor(0x9c8a2e);
    case WorkKind::DriveRead:
        return QColor(0x62b3ad);
    case WorkKind::DriveWrite:
        return QColor(0x2c7d78);
    case WorkKind::CpuOptimizer:
        return QColor(0xb0521c);
    case WorkKind::GpuOptimizer:
        return QColor(0xf29a5c);
    case WorkKind::StatesToGpu:
        return QColor(0xd6c53c);
    case WorkKind::WeightsToGpu:
        return QColor(0xcf9ade);
    }
    return textMuted;
}

QColor Theme::workInk(WorkKind kind) const
{
    const QColor fill = work(kind);
    const double luminance = 0.2126 * fill.redF() + 0.7152 * fill.greenF() + 0.0722 * fill.blueF();
    return luminance > 0.42 ? QColor(0x10151c) : QColor(0xffffff);
}

QColor Theme::stage(int stage, int stages) const
{
    return stageColour(stage, stages, isDark);
}

const Theme &theme()
{
    return current();
}

void applyColours(QApplication &application, ThemeKind kind)
{
    // As the desktop had it before the first theme replaced the palette.
    static const bool isSystemDark = QApplication::palette().color(QPalette::Window).lightness() < 128;
    static const bool hasResources = [] {
        loadIcons();
        return true;
    }();
    Q_UNUSED(hasResources)
    if (kind == ThemeKind::System)
        kind = isSystemDark ? ThemeKind::Dark : ThemeKind::Light;
    if (QApplication::style()->objectName() != QLatin1String("fusion") && application.styleSheet().isEmpty())
        QApplication::setStyle(QStringLiteral("fusion"));
    current() = kind == ThemeKind::Dark   ? darkTheme()
        : kind == ThemeKind::HighContrast ? highContrastTheme()
                                          : lightTheme();
    const Theme &t = theme();
    QPalette palette;
    palette.setColor(QPalette::Window, t.window);
    palette.setColor(QPalette::Base, t.panel);
    palette.setColor(QPalette::AlternateBase, t.panelRaised);
    palette.setColor(QPalette::Button, t.panelRaised);
    palette.setColor(QPalette::Text, t.text);
    palette.setColor(QPalette::WindowText, t.text);
    palette.setColor(QPalette::ButtonText, t.text);
    palette.setColor(QPalette::BrightText, t.bad);
    palette.setColor(QPalette::ToolTipBase, t.panelRaised);
    palette.setColor(QPalette::ToolTipText, t.text);
    palette.setColor(QPalette::PlaceholderText, t.textFaint);
    palette.setColor(QPalette::Highlight, t.accent);
    palette.setColor(QPalette::HighlightedText, t.isDark ? QColor(0x0b1016) : QColor(0xffffff));
    palette.setColor(QPalette::Link, t.accent);
    for (const auto role : { QPalette::Text, QPalette::WindowText, QPalette::ButtonText })
        palette.setColor(QPalette::Disabled, role, t.textFaint);
    application.setPalette(palette);
    QToolTip::setPalette(palette);
    application.setFont(uiFont());
}

void applyStyleSheet()
{
    qApp->setStyleSheet(styleSheet(theme()));
    // Applying a sheet gives some widgets back the palette they had before: those that colour themselves do it again
    // now.
    for (QWidget *widget : QApplication::allWidgets()) {
        QEvent changed(QEvent::PaletteChange);
        QApplication::sendEvent(widget, &changed);
    }
}

void applyTheme(QApplication &application, ThemeKind kind)
{
    applyColours(application, kind);
    applyStyleSheet();
}

QFont uiFont(int sizeOffset, QFont::Weight weight)
{
    // The same object each time: a copy shares the glyphs that were looked up for it.
    auto [font, isNew] = uiFonts().try_emplace({ sizeOffset, int(weight) });
    if (isNew)
        font->second = QFont(uiFamilies(), 10 + sizeOffset, weight);
    return font->second;
}

} // namespace trainyard
