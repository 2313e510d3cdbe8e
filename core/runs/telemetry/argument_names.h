#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Names in Recording::arguments that are no options of a trainer: what a script leaves open, and what it is itself.
// Constant data; any thread.

#include <string_view>

namespace trainyard {

/// Before the name of an option whose value its source does not tell: the value is what would, "$TP".
inline constexpr std::string_view kUntold = "untold.";
/// Before facts of a script: "script.program" is what it starts ("pretrain_gpt.py"), "script.sourced" the other scripts
/// that it reads, "script.is_part" that it starts nothing and only sets variables, "script.words" the variables among
/// its options that it does not set.
inline constexpr std::string_view kOfScript = "script.";

} // namespace trainyard
