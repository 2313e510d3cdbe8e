#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A panel or a chart to take away: on the clipboard, as PNG at twice the screen's scale, or as vectors (SVG, PDF). Every
// context menu of a panel or chart ends with these actions. GUI thread.

#include <QString>

class QMenu;
class QWidget;

namespace trainyard {

/// "Copy as image" and "Save as PNG…", "SVG…", "PDF…" of `panel` as it stands; `name` is the suggested file's.
void addPictureActions(QMenu &menu, QWidget *panel, const QString &name);
void copyPicture(QWidget *panel);
/// By the path's suffix: png, svg or pdf. False where it could not be written.
[[nodiscard]] bool savePicture(QWidget *panel, const QString &path);

} // namespace trainyard
