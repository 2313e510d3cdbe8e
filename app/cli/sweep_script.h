#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A sweep as a job of Slurm: one task a core over as many nodes as it is given, and --resume, so that a job that is
// requeued or submitted again goes on where it was. Pure but for the paths, which it makes absolute.

#include "app/cli/sweep_options.h"

namespace trainyard::cli {

/// The text of the script. `plan` and `out` of the options are files.
[[nodiscard]] std::string slurmSweepScript(const SweepOptions &options);

} // namespace trainyard::cli
