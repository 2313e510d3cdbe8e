#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the tables of the validation page say of a cell besides its text. The views choose the colours.

#include <Qt>

namespace trainyard {

enum TableRole {
    /// the value that the text is made from
    SortRole = Qt::UserRole,
    /// int of Tone
    ToneRole,
    /// int; the mark of a source stands before the text. None: no mark
    SourceIndexRole,
};

/// Relative changes that are smaller are none, and are written as "±0".
inline constexpr double kNoChange = 0.0005;

enum class Tone { Plain, Muted, Good, Bad, Warning };

} // namespace trainyard
