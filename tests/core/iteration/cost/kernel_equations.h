#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The equations of docs/model.md, "Matrix products", "Attention" and "Grouped products", written once more from that
// page and from the curves of kernels.json as they stand there: tables of measurements of our own, each off by what is
// known.

#include "core/facts/hardware/gpu_spec.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

namespace trainyard::kernel_equations {

using Json = nlohmann::json;

inline const Json &kernelFile()
{
    static const Json file = [] {
        std::ifstream input(TRAINYARD_SOURCE_DIR "/resources/catalog/kernels.json");
        return Json::parse(input);
    }();
    return file;
}

inline double figure(const Json &curve, const char *key, double otherwise)
{
    return curve.contains(key) ? curve[key][0].get<double>() : otherwise;
}

/// What `bytes` of operands and result take, where the most part may still be in the cache from before.
inline double missedBytes(const Json &curve, double bytes)
{
    const double x = bytes / (figure(curve, "cache_mbytes", 0) * 1e6 + 1);
    return bytes * x * x / (1 + x * x);
}

/// Long kernels meet the power limit.
inline double slowed(const Json &curve, double seconds)
{
    return seconds * (1 + figure(curve, "slowdown", 0) * seconds / (seconds + figure(curve, "slowdown_ms", 1) * 1e-3));
}

inline double operandBytes(const GpuSpec &gpu, Precision precision)
{
    const Precision format = gpu.computePrecision(precision);
    return format == Precision::Nvfp4 ? 0.5 + 1.0 / 16
        : format == Precision::Mxfp8  ? 1 + 1.0 / 32
        : format == Precision::Fp8    ? 1
                                      : 2;
}

/// `groups` products C[m,n] = A[m,k] B[k,n] in common waves.
inline double product(
    const Json &curve, const GpuSpec &gpu, Precision precision, double m, double n, double k, double groups = 1)
{
    const double processors = gpu.multiprocessors, bandwidth = gpu.memoryGBps * 1e9,
                 rate = gpu.peakFlops(precision) * figure(curve, "peak_fraction", 1) / processors,
                 overlap = figure(curve, "wave_overlap", 0), marginK = figure(curve, "margin_k", 0);
    double cool = 1e300, fewest = 1e300;
    const std::vector<std::pair<double, double>> tiles { { 256, 128 }, { 128, 256 }, { 128, 128 }, { 64, 256 },
        { 256, 64 }, { 128, 64 }, { 64, 128 }, { 64, 64 } };
    for (const auto &[h, w] : tiles)
        fewest = std::min(fewest, groups * std::ceil(m / h) * std::ceil(n / w));
    const bool maySplit = figure(curve, "split_us", 0) < 1000 && fewest <= processors;
    for (const auto &[h, w] : tiles) {
        const double count = groups * std::ceil(m / h) * std::ceil(n / w);
        const double loss = 1 + figure(curve, "tile_loss", 0) * (1 / h + 1 / w - 1.0 / 256 - 1.0 / 128);
        for (const double split : { 1.0, 2.0, 4.0, 8.0 }) {
            if (split > 1 && (!maySplit || count * split > 2 * processors))
                continue;
            const double waves = count * split / processors;
            const double busy = (1 - overlap) * std::ceil(waves) + overlap * std::max(waves, 1.0);
            double seconds = busy * 2 * h * w * (k / split + marginK) * loss / rate;
            if (split > 1)
                seconds += figure(curve, "split_us", 0) * 1e-6 + split * 4 * groups * m * n / bandwidth;
            cool = std::min(cool, seconds);
        }
    }
    const double own = operandBytes(gpu, precision), bytes = groups * (own * k * (m + n) + std::max(own, 2.0) * m * n);
    const double compute = slowed(curve, cool),
                 memory = missedBytes(curve, bytes) / (bandwidth * figure(curve, "memory_fraction", 1));
    return figure(curve, "launch_us", 0) * 1e-6 + std::pow(std::pow(compute, 4) + std::pow(memory, 4), 0.25)
        + figure(curve, "memory_exposed", 0) * memory;
}

/// Reads 16 bits of each element and writes the format.
inline double cast(const Json &curve, const GpuSpec &gpu, Precision precision, double elements)
{
    if (gpu.computePrecision(precision) < Precision::Fp8)
        return 0;
    return figure(curve, "cast_us", 0) * 1e-6
        + missedBytes(curve, (2 + operandBytes(gpu, precision)) * elements)
        / (gpu.memoryGBps * 1e9 * figure(curve, "cast_fraction", 1));
}

/// Causal, in 16 bits, as many queries as keys.
inline double attention(
    const Json &curve, const GpuSpec &gpu, double batch, double heads, double keyHeads, double sequence, double head)
{
    const std::vector<std::pair<double, double>> rates { { 64, figure(curve, "rate_64", 1) }, { 128, 1 },
        { 192, figure(curve, "rate_192", 1) }, { 256, figure(curve, "rate_256", 1) } };
    double r = 0;
    for (std::size_t i = 0; i + 1 < rates.size(); ++i)
        if (const auto &[a, low] = rates[i]; head >= a && head <= rates[i + 1].first)
            r = low + (rates[i + 1].second - low) * (head - a) / (rates[i + 1].first - a);
    const double pair = 4 * head / (gpu.peakFlops(Precision::Bf16) * figure(curve, "peak_fraction", 1) * r);
    const double all = batch * heads * sequence * (sequence / 2 + figure(curve, "margin_keys", 0)) * pair,
                 longest = std::min(128.0, sequence) * sequence * pair * gpu.multiprocessors;
    const double cool = std::max(all, longest) + figure(curve, "tail_share", 0) * std::min(all, longest);
    const double bytes = 2 * batch * sequence * 2 * head * (heads + keyHeads);
    return figure(curve, "launch_us", 0) * 1e-6 + slowed(curve, cool)
        + bytes / (gpu.memoryGBps * 1e9 * figure(curve, "memory_fraction", 1));
}

/// By how much the n-th row of a table of ours took longer than the equations say. Of the rows that a fit holds out,
/// every fifth, the median is kMedianOff; all others are so far off that no one may count them.
inline constexpr double kMedianOff = 0.05;
inline double off(std::size_t row)
{
    static constexpr double kHeldOut[] = { 0.09, 0.02, 0.07, 0.05, 0.01, 0.06, 0.03, 0.08, 0.04 };
    return row % 5 == 4 ? kHeldOut[row / 5 % std::size(kHeldOut)] : 2.0;
}
inline constexpr std::size_t kRows = 45; // nine held out

} // namespace trainyard::kernel_equations
