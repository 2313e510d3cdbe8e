#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The product's icons: line drawings in one colour, inked with the theme's text colour. GUI thread.

#include <QIcon>
#include <QString>

namespace trainyard {

/// Icon `name` of resources/icons, for the theme of now; an empty icon where there is none.
[[nodiscard]] QIcon themedIcon(const QString &name);
[[nodiscard]] QPixmap themedPixmap(const QString &name, int size, const QColor &ink, double devicePixelRatio);

} // namespace trainyard
