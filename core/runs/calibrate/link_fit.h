#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Latency and bandwidth of a class of links from collectives of many kinds and sizes. Each is laid out by the model
// itself (core/facts/network/collectives.h): its dependence on the link's start and bandwidth is what is fitted, its
// steps and what other links take of it are taken off first. So the model, given the fitted values, gives the fitted
// line back.

#include "core/base/error.h"
#include "core/facts/network/collectives.h"
#include "core/runs/calibrate/collective_samples.h"

#include <optional>

namespace trainyard {

struct LinkFit {
    // Latency and bandwidth where sizes tell them apart, the latter alone where all are large; else the time over the
    // modelled
    std::optional<double> latencyUs, gbytesPerS, factor;
    /// us, standard
    double latencyError = 0;
    /// standard, of gbytesPerS or of the factor
    double error = 0;
    /// of a line
    std::optional<double> r2;
    /// median |measured / fitted - 1|
    double residual = 0;
    int samples = 0, outliers = 0;
};

/// `inside`: the way inside a node, `between`: to other nodes; the one that is asked about carries nominal figures.
/// Errors: too few samples, none that the model knows, times that do not grow with the size; Cancelled.
[[nodiscard]] Expected<LinkFit> fitLink(const std::vector<CollectiveSample> &samples, const Link &inside,
    const Link &between, bool isBetween, const std::stop_token &stop = {});

/// Seconds by the model; empty for operations that it does not know.
[[nodiscard]] std::optional<double> modelledSeconds(
    const CollectiveSample &sample, const Link &inside, const Link &between);

} // namespace trainyard
