#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The readers of recordings as targets, one a family of formats: a text goes to the reader that is surest of it, or to
// one of the family where nobody knows it any more, and what it answers is held to recording_checks.h.

#include "tests/fuzz/targets.h"

namespace trainyard::fuzz {

[[nodiscard]] std::vector<Target> readerTargets();

} // namespace trainyard::fuzz
