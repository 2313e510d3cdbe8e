// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/theme/style_sheet.h"

#include <utility>

namespace trainyard {

namespace {

const char *const kButtons = R"(
QPushButton, QToolButton { background: @raised; color: @text; border: 1px solid @border; border-radius: 5px; padding: 3px 10px; }
QToolButton { padding: 3px 6px; }
QPushButton:hover, QToolButton:hover { border-color: @edge; background: @hover; }
QPushButton:pressed, QToolButton:pressed, QToolButton:checked { background: @accentSoft; border-color: @accent; }
QPushButton:focus, QToolButton:focus { border-color: @accent; }
QPushButton:disabled, QToolButton:disabled { color: @faint; background: transparent; }
QPushButton[isPrimary="true"] { background: @accent; color: @onAccent; border-color: @accent; }
QPushButton[isFlat="true"], QToolButton[isFlat="true"] { background: transparent; border-color: transparent; }
QPushButton[isFlat="true"]:hover, QToolButton[isFlat="true"]:hover { background: @raised; border-color: @border; }
QPushButton[isFlat="true"]:focus, QToolButton[isFlat="true"]:focus { border-color: @accent; }
QPushButton[isFlat="true"]:checked, QToolButton[isFlat="true"]:checked { background: @accentSoft; }
QToolButton[popupMode="2"] { padding-right: 16px; }
QToolButton::menu-indicator { image: url(:/icons/arrow-down-@ink.svg); width: 9px; height: 9px; subcontrol-position: right center; right: 4px; }
QCheckBox { spacing: 8px; color: @text; }
QCheckBox::indicator { width: 15px; height: 15px; border: 1px solid @edge; border-radius: 4px; background: @raised; }
QCheckBox::indicator:hover, QCheckBox::indicator:focus { border-color: @accent; }
QCheckBox::indicator:checked { background: @accent; border-color: @accent; image: url(:/icons/check-@onInk.svg); }
QRadioButton { spacing: 8px; color: @text; }
QRadioButton::indicator { width: 15px; height: 15px; border: 1px solid @edge; border-radius: 8px; background: @raised; }
QRadioButton::indicator:hover, QRadioButton::indicator:focus { border-color: @accent; }
QRadioButton::indicator:checked { width: 7px; height: 7px; border: 5px solid @accent; background: @onAccent; }
)";

const char *const kFields = R"(
QComboBox, QSpinBox, QDoubleSpinBox, QLineEdit { background: @raised; color: @text; border: 1px solid @border; border-radius: 5px; padding: 2px 7px; min-height: 18px;
  selection-background-color: @accent; selection-color: @onAccent; }
QComboBox:hover, QSpinBox:hover, QDoubleSpinBox:hover, QLineEdit:hover { border-color: @edge; }
QComboBox:focus, QComboBox:on, QSpinBox:focus, QDoubleSpinBox:focus, QLineEdit:focus { border-color: @accent; }
QComboBox:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QLineEdit:disabled { color: @faint; background: transparent; }
QComboBox { padding-right: 2px; }
QComboBox QLineEdit { border: none; padding: 0; background: transparent; min-height: 0; }
QComboBox::drop-down { border: none; width: 16px; margin-right: 1px; subcontrol-origin: border; subcontrol-position: right center; }
QComboBox::down-arrow { image: url(:/icons/arrow-down-@ink.svg); width: 9px; height: 9px; }
QComboBox QAbstractItemView { background: @panel; color: @text; border: 1px solid @edge; border-radius: 5px; padding: 3px; outline: 0; }
QComboBox QAbstractItemView::item { min-height: 22px; padding: 1px 6px; border-radius: 4px; }
QSpinBox, QDoubleSpinBox { padding-right: 4px; }
QSpinBox::up-button, QDoubleSpinBox::up-button { subcontrol-origin: border; subcontrol-position: top right; width: 18px; border: none; background: transparent; }
QSpinBox::down-button, QDoubleSpinBox::down-button { subcontrol-origin: border; subcontrol-position: bottom right; width: 18px; border: none; background: transparent; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow { image: url(:/icons/arrow-up-@ink.svg); width: 8px; height: 8px; }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow { image: url(:/icons/arrow-down-@ink.svg); width: 8px; height: 8px; }
QPlainTextEdit, QTextEdit { background: @raised; color: @text; border: 1px solid @border; border-radius: 5px; selection-background-color: @accent; selection-color: @onAccent; }
)";

const char *const kBars = R"(
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: @border; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover, QScrollBar::handle:pressed { background: @edge; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea { border: none; background: transparent; }
QScrollArea > QWidget > QWidget { background: transparent; }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: @border; }
QSlider::sub-page:horizontal { border-radius: 2px; background: @accent; }
QSlider::handle:horizontal { width: 14px; height: 14px; margin: -5px 0; border-radius: 7px; background: @text; }
QProgressBar { border: none; border-radius: 3px; background: @border; color: transparent; max-height: 6px; }
QProgressBar::chunk { border-radius: 3px; background: @accent; }
QSplitter::handle { background: transparent; }
QSplitter::handle:hover { background: @accentSoft; border-radius: 3px; }
QTabWidget::pane { border: none; }
QTabBar { background: transparent; qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: @muted; border: none; border-bottom: 2px solid transparent; padding: 4px 1px 5px 1px; margin-right: 14px; }
QTabBar::tab:hover { color: @text; }
QTabBar::tab:selected { color: @text; border-bottom-color: @accent; }
QTabBar::tab:focus { color: @accent; }
)";

const char *const kMenus = R"(
QMainWindow, QDialog { background: @window; }
QMenuBar { background: @window; color: @muted; padding: 2px 6px; border: none; }
QMenuBar::item { padding: 4px 8px; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: @raised; color: @text; }
QMenu { background: @panel; color: @text; border: 1px solid @edge; border-radius: 6px; padding: 4px; }
QMenu::item { padding: 5px 26px 5px 28px; border-radius: 4px; }
QMenu::item:selected { background: @accentSoft; color: @text; }
QMenu::item:disabled { color: @faint; }
QMenu::separator { height: 1px; background: @border; margin: 4px 8px; }
QMenu::icon { padding-left: 8px; }
QMenu::indicator { width: 13px; height: 13px; left: 8px; }
QMenu::indicator:checked { image: url(:/icons/check-@ink.svg); }
QToolTip { background: @panel; color: @text; border: 1px solid @edge; padding: 5px 7px; }
QStatusBar { background: @window; color: @muted; }
QStatusBar::item { border: none; }
QToolBar { background: transparent; border: none; spacing: 4px; }
QHeaderView::section { background: @panel; color: @muted; border: none; border-bottom: 1px solid @border; padding: 4px 6px; }
QTableView, QTreeView, QListView { background: @panel; alternate-background-color: @raised; color: @text; gridline-color: @grid; border: none; outline: 0;
  selection-background-color: @accentSoft; selection-color: @text; }
QListView[isFramed="true"] { border: 1px solid @border; border-radius: 5px; padding: 3px; }
QListView[isFramed="true"]::item { padding: 2px 4px; border-radius: 4px; }
QListView[isFramed="true"]:focus { border-color: @accent; }
QListView::indicator { width: 13px; height: 13px; border: 1px solid @edge; border-radius: 4px; background: @raised; }
QListView::indicator:checked { background: @accent; border-color: @accent; image: url(:/icons/check-@onInk.svg); }
QGroupBox { border: 1px solid @border; border-radius: 6px; margin-top: 14px; padding-top: 6px; }
QGroupBox::title { subcontrol-origin: margin; left: 8px; color: @muted; }
)";

} // namespace

QString styleSheet(const Theme &t)
{
    QString sheet = QString::fromLatin1(kButtons) + QString::fromLatin1(kFields) + QString::fromLatin1(kBars)
        + QString::fromLatin1(kMenus);
    const QColor edge = t.isDark ? t.border.lighter(145) : t.border.darker(122);
    const QColor hover = t.isDark ? t.panelRaised.lighter(118) : t.panelRaised.darker(103);
    const bool isAccentLight = t.accent.lightnessF() > 0.6f;
    const std::pair<const char *, QString> words[] = {
        { "@accentSoft", t.accentSoft.name() },
        { "@accent", t.accent.name() },
        { "@border", t.border.name() },
        { "@edge", edge.name() },
        { "@faint", t.textFaint.name() },
        { "@grid", t.grid.name() },
        { "@hover", hover.name() },
        { "@muted", t.textMuted.name() },
        { "@onAccent", isAccentLight ? QStringLiteral("#0b1016") : QStringLiteral("#ffffff") },
        { "@onInk", isAccentLight ? QStringLiteral("dark") : QStringLiteral("light") },
        { "@ink", t.isDark ? QStringLiteral("light") : QStringLiteral("dark") },
        { "@panel", t.panel.name() },
        { "@raised", t.panelRaised.name() },
        { "@text", t.text.name() },
        { "@window", t.window.name() },
    };
    for (const auto &[word, value] : words)
        sheet.replace(QLatin1String(word), value);
    return sheet;
}

} // namespace trainyard
