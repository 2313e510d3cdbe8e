#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Small files that trackers and tests leave: Hugging Face's trainer_state.json (which may hold NaN, no JSON), golden
// values of Megatron's functional tests, and tables "step,<name>" of DeepSpeed's CSV monitor and wandb's export.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikeTrainerState(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readTrainerState(const SourceText &source, const SourceOptions &options);
[[nodiscard]] int looksLikeGoldenValues(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readGoldenValues(const SourceText &source, const SourceOptions &options);
[[nodiscard]] int looksLikeStepTable(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readStepTable(const SourceText &source, const SourceOptions &options);
[[nodiscard]] int looksLikeWandbTable(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readWandbTable(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
