#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Looks for plans without the problems of an evaluation, the gravest first. Every fix was placed or simulated; one
// search serves all problems of an evaluation, and stops with it.

#include "core/evaluation/evaluate/run.h"

namespace trainyard {

/// For who waits as long as half a second.
[[nodiscard]] const FixFinder &allFixes();
/// For an edit, whose answer is waited for: without those for which a large cluster would have to be placed over and
/// over.
[[nodiscard]] const FixFinder &quickFixes();

} // namespace trainyard
