// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/runs/calibrate/machine_equations.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard::test {

namespace {

/// Long kernels meet the power limit: c · (1 + σ c / (c + τ)).
double warm(double seconds, double slowdown, double afterMs)
{
    return seconds * (1 + slowdown * seconds / (seconds + afterMs * 1e-3));
}

} // namespace

double Machine::product(double m, double n, double k, double efficiency) const
{
    const GemmCurve &curve = gpu.gemm;
    const double processors = gpu.multiprocessors, peak = gpu.peakFlops(Precision::Bf16) * curve.peakFraction,
                 bandwidth = gpu.memoryGBps * 1e9;
    double compute = std::numeric_limits<double>::max();
    for (const auto &[high, wide] :
        { std::pair(256.0, 128.0), std::pair(128.0, 256.0), std::pair(128.0, 128.0), std::pair(64.0, 256.0),
            std::pair(256.0, 64.0), std::pair(128.0, 64.0), std::pair(64.0, 128.0), std::pair(64.0, 64.0) }) {
        const double tiles = std::ceil(m / high) * std::ceil(n / wide);
        const double loss = 1 + curve.tileLoss * (1 / high + 1 / wide - 1.0 / 256 - 1.0 / 128);
        for (const double split : { 1.0, 2.0, 4.0, 8.0 }) {
            if (split > 1 && (curve.splitUs >= 1000 || tiles * split > 2 * processors))
                continue;
            const double waves = split * tiles / processors;
            const double busy = (1 - curve.waveOverlap) * std::ceil(waves) + curve.waveOverlap * std::max(waves, 1.0);
            const double second = split > 1 ? curve.splitUs * 1e-6 + split * 4 * m * n / bandwidth : 0;
            compute = std::min(
                compute, busy * 2 * high * wide * (k / split + curve.marginK) * loss / (peak / processors) + second);
        }
    }
    const double bytes = 2 * (k * (m + n) + m * n), cached = bytes / (curve.cacheMbytes * 1e6 + 1);
    const double traffic = bytes * cached * cached / (1 + cached * cached) / (bandwidth * curve.memoryFraction);
    const double both =
        std::pow(std::pow(warm(compute, curve.slowdown, curve.slowdownMs), 4) + std::pow(traffic, 4), 0.25);
    return products * (curve.launchUs * 1e-6 + both + curve.memoryExposed * traffic) / efficiency;
}

Machine::Parts Machine::attentionParts(const Heads &shape) const
{
    const AttentionCurve &curve = gpu.attention;
    // Between 64 and 128 the rate of a head goes straight from the one to the other, which is 1.
    const double head = curve.rate64 + (1 - curve.rate64) * (std::min(shape.width, 128.0) - 64) / 64;
    const double pair = 4 * shape.width / (gpu.peakFlops(Precision::Bf16) * curve.peakFraction * head);
    const double q = shape.tokens;
    const double all = shape.sequences * shape.heads * q * (q / 2 + curve.marginKeys) * pair;
    const double longest = std::min(128.0, q) * q * pair * gpu.multiprocessors;
    const double compute = std::max(all, longest) + curve.tailShare * std::min(all, longest);
    // Q and O of all heads, K and V of the key-value heads
    const double bytes = 2 * shape.sequences * q * shape.width * 2 * (shape.heads + shape.kvHeads);
    return { warm(compute, curve.slowdown, curve.slowdownMs), bytes / (gpu.memoryGBps * 1e9 * curve.memoryFraction) };
}

double Machine::attentionForward(const Heads &shape, double efficiency) const
{
    const Parts parts = attentionParts(shape);
    return attention * (gpu.attention.launchUs * 1e-6 + parts.compute + parts.traffic) / efficiency;
}

double Machine::attentionBackward(const Heads &shape, double efficiency) const
{
    const Parts parts = attentionParts(shape);
    return attention
        * (gpu.attention.launchUs * 1e-6 + 2.5 / gpu.attention.backwardRate * parts.compute + 2 * parts.traffic)
        / efficiency;
}

double Machine::moving(double bytes) const
{
    return memory * bytes / (gpu.memoryGBps * 1e9 * gpu.gemm.memoryFraction);
}

double Way::transfer(double volume, double steps) const
{
    return (startUs + steps * kind->stepUs + rampUs * volume / (volume + kind->rampBytes)) * 1e-6
        + volume / bytesPerSecond;
}

double Ring::around() const
{
    return nodes() > 1 ? (nodes() - 1) * (local() - 1) * inside.kind->ringStepUs * 1e-6 : 0;
}

double Ring::half(double bytes) const
{
    const auto level = [](const Way &way, double size, int n) {
        return n > 1 ? way.transfer(size * (n - 1 + way.kind->ownShare) / n, n - 1) : 0;
    };
    return level(inside, bytes, local()) + level(between, bytes / local(), nodes()) + around();
}

double Ring::allReduce(double bytes) const
{
    const auto level = [](const Way &way, double size, int n, double more) {
        if (n <= 1)
            return 0.0;
        const double gain = way.kind->reduceGain, steps = 2.0 * (n - 1);
        return std::min(way.transfer(steps / n * size / gain, steps) + more,
            way.transfer(2 * size / gain, 2 * std::ceil(std::log2(n))));
    };
    return level(inside, bytes, local(), 0) + level(between, bytes / local(), nodes(), 2 * around());
}

} // namespace trainyard::test
