#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Readers of how a training was started: shell scripts with Megatron's or torchtitan's options (telemetry specification
// 6.2), shell configurations of MLPerf submissions (6.4), YAML of Megatron-MoE-ModelZoo, --yaml-cfg and NeMo, TOML of
// torchtitan (6.3), and configurations of nanotron, DeepSpeed, Accelerate, LLaMA-Factory, Axolotl, NeMo Automodel,
// MaxText and Primus. Megatron's give Recording::arguments by Megatron's names, torchtitan's by section, others behind
// a prefix.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

int looksLikeTrainingScript(std::string_view fileName, std::string_view head);
Expected<Recording> readTrainingScript(const SourceText &source, const SourceOptions &options);
int looksLikeTrainingYaml(std::string_view fileName, std::string_view head);
Expected<Recording> readTrainingYaml(const SourceText &source, const SourceOptions &options);
int looksLikeTorchtitanToml(std::string_view fileName, std::string_view head);
Expected<Recording> readTorchtitanToml(const SourceText &source, const SourceOptions &options);
int looksLikeTrainerConfig(std::string_view fileName, std::string_view head);
Expected<Recording> readTrainerConfig(const SourceText &source, const SourceOptions &options);
int looksLikeHfConfig(std::string_view fileName, std::string_view head);
Expected<Recording> readHfConfig(const SourceText &source, const SourceOptions &options);

/// What YAML of a training's arguments tells, by Megatron's names; `file` stands in errors.
struct CommandOptions;
Expected<CommandOptions> argumentsOfYaml(std::string_view text, const std::string &file);

} // namespace trainyard::readers
