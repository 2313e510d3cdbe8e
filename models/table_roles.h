#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the tables of the validation page say of a cell besides its text. The views choose the colours.

#include <Qt>

namespace trainyard {

enum TableRole {
    SortRole = Qt::UserRole, // the value that the text is made from
    ToneRole, // int of Tone
    SourceIndexRole, // int; the mark of a source stands before the text. None: no mark
};

enum class Tone { Plain, Muted, Good, Bad, Warning };

} // namespace trainyard
