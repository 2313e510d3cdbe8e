#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The colour of a variant on its card, its chip and in comparisons. GUI thread.

#include "core/facts/session/session.h"

#include <QColor>
#include <QIcon>

namespace trainyard {

/// Its own or, where it has none, that of its place on the board, counted from 0: told apart by eyes without cones for
/// red or green.
[[nodiscard]] QColor variantColor(const Variant &variant, int place);
/// A dot in that colour.
[[nodiscard]] QIcon variantDot(const QColor &color, qreal pixelRatio);
/// The next of the colours that a card offers, as `color` of a variant.
[[nodiscard]] QString nextVariantColor(const QColor &now);

} // namespace trainyard
