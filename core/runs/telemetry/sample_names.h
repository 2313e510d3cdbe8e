#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What quantities of a run are called in SampleSeries, whoever measured them, and their units. Readers turn each
// source's own names and units into these; what has no name here keeps its own, with a prefix ("log.num zeros").

namespace trainyard::samples {

// by step
/// s
inline constexpr const char *kStepTime = "step_time";
/// TFLOP/s, as the framework counts them
inline constexpr const char *kTflopsPerGpu = "tflops_per_gpu";
/// 1
inline constexpr const char *kMfu = "mfu";
/// 1/s
inline constexpr const char *kTokensPerSecondPerGpu = "tokens_per_second_per_gpu";
/// 1/s
inline constexpr const char *kSamplesPerSecond = "samples_per_second";
/// 1
inline constexpr const char *kLoss = "loss";
/// 1
inline constexpr const char *kGradNorm = "grad_norm";
/// 1
inline constexpr const char *kLearningRate = "learning_rate";
/// sequences
inline constexpr const char *kGlobalBatch = "global_batch";
/// sequences
inline constexpr const char *kConsumedSamples = "consumed_samples";
/// B; the largest so far where that is told
inline constexpr const char *kMemoryAllocated = "memory_allocated";
/// B
inline constexpr const char *kMemoryReserved = "memory_reserved";
/// B that a GPU was asked for when its memory ran out
inline constexpr const char *kOutOfMemory = "out_of_memory";
/// J, of one GPU
inline constexpr const char *kEnergyPerStep = "energy_per_step";
/// "timer.forward-backward" s, mean over ranks or the one told; ".min" and ".max" behind it where both are
inline constexpr const char *kTimerPrefix = "timer.";
// over time, of the whole run
/// number of the step that a log tells of at that moment
inline constexpr const char *kStepEnded = "step_ended";
// over time, of a GPU, a host or a link
/// 1: some kernel ran
inline constexpr const char *kGpuUtilization = "gpu_utilization";
/// 1
inline constexpr const char *kTensorActive = "tensor_active";
/// 1
inline constexpr const char *kSmActive = "sm_active";
/// 1
inline constexpr const char *kDramActive = "dram_active";
/// B
inline constexpr const char *kMemoryUsed = "memory_used";
/// B
inline constexpr const char *kMemoryFree = "memory_free";
/// W
inline constexpr const char *kPower = "power";
/// °C
inline constexpr const char *kTemperature = "temperature";
/// Hz
inline constexpr const char *kSmClock = "sm_clock";
/// B/s (DCGM's TX)
inline constexpr const char *kPcieToHost = "pcie_to_host";
/// B/s
inline constexpr const char *kPcieToGpu = "pcie_to_gpu";
/// B/s
inline constexpr const char *kNvlinkOut = "nvlink_out", *kNvlinkIn = "nvlink_in";
/// B/s
inline constexpr const char *kNetworkOut = "network_out", *kNetworkIn = "network_in";

} // namespace trainyard::samples
