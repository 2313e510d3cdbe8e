#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The readers that there are: each file of readers/ defines those of one family of formats, readers.cpp lists them.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

/// *.trainyard-recording
std::span<const SourceReader> recordingFiles();
/// kineto, Chakra, execution traces
std::span<const SourceReader> profilerTraces();
/// Megatron, torchtitan, DeepSpeed, NeMo, Hugging Face, MLPerf
std::span<const SourceReader> trainingLogs();
/// TensorBoard, wandb, golden values
std::span<const SourceReader> experimentFiles();
/// nccl-tests, NCCL Inspector, flight recorder, iperf3, fio, probe
std::span<const SourceReader> networkBenchmarks();
/// nvidia-smi, Prometheus, OpenMetrics, OTLP
std::span<const SourceReader> hardwareSamples();
/// config.json, Megatron arguments, torchtitan, topologies, prices
std::span<const SourceReader> planInputs();

} // namespace trainyard::readers
