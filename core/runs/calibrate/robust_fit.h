#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Linear least squares that a few wild samples do not move: QR of the weighted system, Tukey's biweights from the
// median absolute residual, iterated to rest; covariance from the weighted residuals gives standard errors.

#include "core/base/error.h"

#include <span>
#include <stop_token>
#include <vector>

namespace trainyard {

/// By how much few samples widen a variance: Student's over the normal distribution's, ν / (ν - 2) of ν degrees of
/// freedom (Guide to the expression of uncertainty in measurement, supplement 1, 6.4.9), so that 1.96 standard errors
/// cover 95 % of few samples as of many. 0 up to two, which tell no error.
[[nodiscard]] double studentVariance(double freedom);

struct LinearFit {
    /// with studentVariance; 0: too few samples to tell
    std::vector<double> coefficients, standardErrors;
    /// weighted, about the weighted mean; 0 where nothing differs
    double r2 = 0;
    /// robust standard deviation of a residual
    double scale = 0;
    /// outliers: of weight 0, and a ten-thousandth or more off
    int samples = 0, outliers = 0;
    bool operator==(const LinearFit &) const = default;
};

/// y ≈ rows · coefficients; `rows` is row-major, y.size() × columns. `sigma`: relative standard deviation of each y up
/// to a common factor; empty: all equal. Errors: fewer samples than columns, columns that depend on each other;
/// Cancelled, of every function here.
[[nodiscard]] Expected<LinearFit> robustFit(std::span<const double> rows, std::span<const double> y, int columns,
    std::span<const double> sigma = {}, const std::stop_token &stop = {});

/// log(seconds) ≈ log(latency + bytes / bandwidth), both not negative: the α-β form, of errors that are symmetric as
/// logarithms.
struct AlphaBeta {
    /// bytesPerSecond 0: sizes too alike to tell; then latency is all of it
    double latency = 0, bytesPerSecond = 0;
    /// standard errors
    double latencyError = 0, bandwidthError = 0;
    /// residual: median |measured / fitted - 1|
    double r2 = 0, residual = 0;
    int samples = 0;
};
[[nodiscard]] Expected<AlphaBeta> fitAlphaBeta(
    std::span<const double> bytes, std::span<const double> seconds, const std::stop_token &stop = {});

/// measured ≈ factor × modelled, by a robust mean of the logarithms of their ratios (log-normal noise is symmetric
/// there).
struct Ratio {
    double factor = 1, standardError = 0, residual = 0;
    int samples = 0;
};
[[nodiscard]] Expected<Ratio> fitRatio(
    std::span<const double> modelled, std::span<const double> measured, const std::stop_token &stop = {});

} // namespace trainyard
