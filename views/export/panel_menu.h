#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The context menu of a panel that has none of its own: its table as TSV, and the panel as a picture. Widgets inside
// that have a menu keep it. GUI thread.

#include <QString>

#include <functional>

class QPoint;
class QWidget;

namespace trainyard {

/// Gives a panel the table that its menu copies. Without one the menu copies what the panel shows, line by line.
void setPanelTable(QWidget *panel, std::function<QString()> toTsv);
/// The panel's table: the one it was given, else the texts in sight, a line of the panel a line, tab-separated.
[[nodiscard]] QString panelTsv(const QWidget *panel);
/// Shows the menu without blocking.
void showPanelMenu(QWidget *panel, QPoint globalPosition);

} // namespace trainyard
