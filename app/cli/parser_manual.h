#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What every program with this parser answers about itself: --version, and --manual with the page and the completions
// that are made of the parser's own commands and options. Main thread only.

#include "app/about/manual.h"

namespace CLI {
class App;
} // namespace CLI

namespace trainyard::cli {

/// Both options. What is told is what the parser knows when it reads the command line, not when this is called.
void addQuestions(CLI::App &app);

/// Of a program, with all of its commands.
[[nodiscard]] about::ManualCommand manualOf(const CLI::App &app);

} // namespace trainyard::cli
