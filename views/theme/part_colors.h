#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Names and colours of the parts of an iteration, the same in Why, in the timeline and on its cards. GUI thread.

#include "core/evaluation/evaluate/metrics/breakdown_entries.h"

#include <QColor>
#include <QString>

#include <span>

namespace trainyard {

/// That of the timeline's spans; what lies inside spans has shades of a collective, idle time is idle here too.
[[nodiscard]] QColor partColor(BreakdownPart part);
/// Of an entry of Why: of several small ones together a colour of its own.
[[nodiscard]] QColor partsColor(std::span<const BreakdownPart> parts);
/// "tensor parallel".
[[nodiscard]] QString partName(BreakdownPart part);
/// Its place among kBreakdownParts.
[[nodiscard]] std::size_t partIndex(BreakdownPart part);

} // namespace trainyard
