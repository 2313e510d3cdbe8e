// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/theme/job_colors.h"

#include "views/theme/theme.h"
#include "views/theme/turn_colors.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

/// Searched in CIE L*a*b* for the widest distance of every two, as seen by all eyes; those of the dark theme are the
/// same hues with more light. Each is far from the three before it, which it stands beside in a list.
struct Pair {
    QRgb onLight, onDark;
};
constexpr std::array<Pair, kJobColors> kColors { {
    { 0x2a5785, 0x5179aa }, // blue
    { 0x8bbd25, 0xaee04b }, // lime
    { 0xd4475a, 0xfd6c7a }, // red
    { 0x4044bf, 0x6d66e7 }, // indigo
    { 0xbda4d8, 0xe0c5fb }, // lavender
    { 0xaca24e, 0xcfc46e }, // straw
    { 0xaa560c, 0xd37832 }, // brown
    { 0xc443bb, 0xeb69e0 }, // magenta
    { 0x7d415e, 0xa36481 }, // plum
    { 0xe19e8c, 0xfcc2b3 }, // salmon
    { 0x415c2f, 0x637f4f }, // moss
    { 0x289497, 0x53b7ba }, // teal
} };

} // namespace

QColor jobColor(int index, bool isDark)
{
    const int at = std::max(0, index);
    const Pair &pair = kColors[std::size_t(at % kJobColors)];
    // Shades 0, 3 and 2 of a turn: as it is, a quarter towards white, a third towards black.
    static constexpr std::array kRounds { 0, 3, 2 };
    return turnShade(QColor(isDark ? pair.onDark : pair.onLight), kRounds[std::size_t(at / kJobColors % 3)]);
}

QColor jobColor(int index)
{
    return jobColor(index, theme().isDark);
}

QColor jobInk(int index)
{
    return inkOn(jobColor(index));
}

} // namespace trainyard
