#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// TensorBoard event files: TFRecord frames with masked CRC-32C, each an Event message. Scalars become series by step,
// texts that Megatron writes become arguments; graphs, images and histograms are counted and left out. A file that is
// still being written ends in the middle of a record: what stands before it is read.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] std::uint32_t maskedCrc32c(std::string_view bytes);
[[nodiscard]] int looksLikeTensorBoard(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readTensorBoard(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
