#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Shell configurations of MLPerf training submissions: "export TENSOR_MODEL_PARALLEL=4" and the like, by Megatron's
// names.

#include "core/runs/telemetry/readers/command_options.h"
#include "core/runs/telemetry/readers/shell_script.h"

namespace trainyard::readers {

[[nodiscard]] bool looksLikeMlperfSettings(std::string_view head);
/// What nobody told before; whether there were any.
bool addMlperfSettings(const ShellScript &script, CommandOptions &options);

} // namespace trainyard::readers
