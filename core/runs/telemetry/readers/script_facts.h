#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a script tells beside the options of its command: files that it writes for it, models that it describes by
// changes to another, spellings of the first Megatron, and what it leaves open.

#include "core/runs/telemetry/readers/command_options.h"
#include "core/runs/telemetry/readers/shell_script.h"
#include "core/runs/telemetry/recording.h"

namespace trainyard::readers {

/// DeepSpeed's JSON that a script writes ("cat <<EOT > ds.json"): behind "ds_config." for transformers' Trainer, its
/// stage alone for Megatron.
void addWrittenConfig(ShellScript &script, CommandOptions &options, bool isOfTrainer);
/// "--config_overrides n_embd=8192,n_layer=64" of GPT-2 is a model as a config.json has it; its other settings become
/// options.
void addOverriddenModel(CommandOptions &options, Recording &recording);
/// Megatron-LM 1's --batch-size is what a GPU takes at once, without accumulation.
void addFirstMegatrons(CommandOptions &options);
/// What a script leaves open, and what it starts, become arguments by argument_names.h.
void tellFacts(const ShellScript &script, CommandOptions &options, bool isPart);
/// The same of a file of settings.
void tellUntold(CommandOptions &options);

} // namespace trainyard::readers
