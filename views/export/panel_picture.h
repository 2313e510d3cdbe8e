#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A panel or a chart to take away: on the clipboard, as PNG at twice the screen's scale, or as vectors (SVG, PDF).
// Every context menu of a panel or chart ends with these actions; the file is asked for and written by the window's
// FileTarget. GUI thread.

#include <QByteArray>
#include <QString>

class QMenu;
class QWidget;

namespace trainyard {

/// "Copy as image" and "Save as PNG…", "SVG…", "PDF…" of `panel` as it stands; `name` is the suggested file's. Without
/// a window that writes files (FileTarget) the last three are disabled.
void addPictureActions(QMenu &menu, QWidget *panel, const QString &name);
void copyPicture(QWidget *panel);
/// The picture as a file's content, by the suffix: ".png", ".svg" or ".pdf". Empty where it could not be made.
[[nodiscard]] QByteArray pictureOf(QWidget *panel, const QString &suffix);
/// By the path's suffix: png, svg or pdf. False where it could not be written.
[[nodiscard]] bool savePicture(QWidget *panel, const QString &path);

} // namespace trainyard
