// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/calibrate/robust_fit.h"

#include "core/base/median.h"
#include "core/runs/calibrate/fit_internal.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kFitRounds = 50, kPasses = 8;

struct System {
    Eigen::MatrixXd rows; // scaled by 1 / sigma
    Eigen::VectorXd y;
};

struct Solution {
    Eigen::VectorXd x;
    Eigen::VectorXd weight;
    double scale = 0;
};

/// Of least absolute deviations, whose line goes through as many samples as it has coefficients: those tell nothing
/// (Maronna, Martin, Yohai, Robust Statistics, 2006, §4.4).
double scaleOf(const Eigen::VectorXd &residual, Eigen::Index columns)
{
    std::vector<double> sizes(std::size_t(residual.size()));
    for (Eigen::Index i = 0; i < residual.size(); ++i)
        sizes[std::size_t(i)] = std::abs(residual[i]);
    std::ranges::sort(sizes);
    sizes.erase(sizes.begin(), sizes.begin() + columns);
    return kNormal * medianOf(std::move(sizes));
}

Eigen::VectorXd solved(const System &system, const Eigen::VectorXd &weight)
{
    const Eigen::VectorXd root = weight.cwiseSqrt();
    return (root.asDiagonal() * system.rows).colPivHouseholderQr().solve(root.cwiseProduct(system.y));
}

/// A start that wild samples do not move: absolute deviations by weights 1 / |residual|, then biweights.
Solution iterated(const System &system, const std::stop_token &stop)
{
    const Eigen::Index n = system.y.size();
    Solution at { .x = solved(system, Eigen::VectorXd::Ones(n)), .weight = Eigen::VectorXd::Ones(n) };
    const double floor = 1e-9 * std::max(system.y.cwiseAbs().maxCoeff(), 1e-300);
    for (int round = 0; round < kFitRounds && !stop.stop_requested(); ++round) {
        const Eigen::VectorXd residual = system.y - system.rows * at.x;
        const Eigen::VectorXd next = solved(system, residual.cwiseAbs().cwiseMax(floor).cwiseInverse());
        const bool rests = (next - at.x).norm() <= 1e-10 * at.x.norm();
        at.x = next;
        if (rests)
            break;
    }
    at.scale = scaleOf(system.y - system.rows * at.x, system.rows.cols());
    if (at.scale <= floor) // nearly all lie on it
        at.scale = floor;
    for (int round = 0; round < kFitRounds && !stop.stop_requested(); ++round) {
        const Eigen::VectorXd residual = system.y - system.rows * at.x;
        at.weight = residual.unaryExpr([&](double r) {
            const double u = r / (kTukey * at.scale);
            return std::abs(u) < 1 ? (1 - u * u) * (1 - u * u) : 0.0;
        });
        const Eigen::VectorXd next = solved(system, at.weight);
        const bool rests = (next - at.x).norm() <= 1e-12 * at.x.norm();
        at.x = next;
        if (rests)
            break;
    }
    return at;
}

} // namespace

double studentVariance(double freedom)
{
    return freedom > 2 ? freedom / (freedom - 2) : 0;
}

Expected<LinearFit> robustFit(std::span<const double> rows, std::span<const double> y, int columns,
    std::span<const double> sigma, const std::stop_token &stop)
{
    const Eigen::Index n = Eigen::Index(y.size());
    if (columns < 1 || rows.size() != y.size() * std::size_t(columns) || (!sigma.empty() && sigma.size() != y.size()))
        return std::unexpected(Error { ErrorCode::Internal, "fit", "its arrays do not agree", {} });
    if (n <= columns)
        return unusable(std::to_string(n) + " samples", "more than " + std::to_string(columns));
    System system { Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(rows.data(), n, columns),
        Eigen::Map<const Eigen::VectorXd>(y.data(), n) };
    for (Eigen::Index i = 0; i < n && !sigma.empty(); ++i) {
        const double scale = 1 / sigma[std::size_t(i)];
        system.rows.row(i) *= scale;
        system.y[i] *= scale;
    }
    if (!system.rows.allFinite() || !system.y.allFinite())
        return unusable("a sample that is no number", "finite samples");
    if (system.rows.colPivHouseholderQr().rank() < columns)
        return unusable("samples that do not tell its parts apart", "samples of different proportions");

    const Solution at = iterated(system, stop);
    if (stop.stop_requested())
        return std::unexpected(Error { ErrorCode::Cancelled, "fit", "cancelled", {} });
    const Eigen::VectorXd residual = system.y - system.rows * at.x;
    // Covariance of an M-estimator (Huber 1981, §7.6): K² Σψ² / (n - p) / (Σψ' / n)² (XᵀX)⁻¹ with
    // K = 1 + p / n · var(ψ') / mean(ψ')².
    double psiSquares = 0, slopes = 0, slopeSquares = 0;
    int unweighted = 0;
    constexpr double kAlike = 1e-4; // of what was measured: clocks that count nanoseconds tell no finer
    LinearFit fit;
    for (Eigen::Index i = 0; i < n; ++i) {
        const double u = residual[i] / (kTukey * at.scale);
        if (at.weight[i] == 0) {
            ++unweighted;
            fit.outliers += std::abs(residual[i]) > kAlike * std::abs(system.y[i]);
            continue;
        }
        const double psi = residual[i] * (1 - u * u) * (1 - u * u);
        psiSquares += psi * psi;
        const double slope = (1 - u * u) * (1 - 5 * u * u);
        slopes += slope, slopeSquares += slope * slope;
    }
    slopes /= double(n);
    const double few = 1 + columns * (slopeSquares / double(n) / (slopes * slopes) - 1) / double(n);
    const double variance = few * few * psiSquares / double(n - columns) / (slopes * slopes)
        * studentVariance(double(n - columns - unweighted));
    const Eigen::MatrixXd covariance = variance * (system.rows.transpose() * system.rows).inverse();
    for (int c = 0; c < columns; ++c) {
        fit.coefficients.push_back(at.x[c]);
        fit.standardErrors.push_back(std::sqrt(std::max(0.0, covariance(c, c))));
    }
    // About the weighted mean of y, which `system` has over sigma.
    double weights = 0, mean = 0, spread = 0;
    for (Eigen::Index i = 0; i < n; ++i) {
        const double scale = sigma.empty() ? 1 : 1 / sigma[std::size_t(i)];
        weights += at.weight[i] * scale * scale, mean += at.weight[i] * scale * system.y[i];
    }
    mean /= weights;
    for (Eigen::Index i = 0; i < n; ++i)
        spread += at.weight[i] * std::pow(system.y[i] - mean * (sigma.empty() ? 1 : 1 / sigma[std::size_t(i)]), 2);
    fit.r2 = spread > 0 ? 1 - at.weight.dot(residual.cwiseAbs2()) / spread : 0;
    fit.scale = at.scale;
    fit.samples = int(n);
    return fit;
}

Expected<AlphaBeta> fitAlphaBeta(
    std::span<const double> bytes, std::span<const double> seconds, const std::stop_token &stop)
{
    const std::size_t n = std::min(bytes.size(), seconds.size());
    if (n < 2)
        return unusable(std::to_string(n) + " samples", "at least 2");
    for (std::size_t i = 0; i < n; ++i)
        if (!(bytes[i] >= 0) || !(seconds[i] > 0))
            return unusable("a transfer of no time or no size", "times above 0 and sizes from 0 up");
    const auto [least, most] = std::minmax_element(bytes.begin(), bytes.begin() + std::ptrdiff_t(n));
    AlphaBeta line;
    const auto finish = [&](double latency, double perByte) {
        std::vector<double> off;
        for (std::size_t i = 0; i < n; ++i)
            off.push_back(std::abs(seconds[i] / (latency + perByte * bytes[i]) - 1));
        line.residual = medianOf(std::move(off));
        line.samples = int(n);
        return line;
    };
    // Errors are proportional to the time: weigh by what was measured, then by what the last fit says, from whose line
    // on logarithms are looked at, as in fitRatio: log(y / line) ≈ (y' - line) / line.
    const auto fitted = [&](bool hasLatency, bool hasSlope) -> Expected<LinearFit> {
        std::vector<double> sigma(seconds.begin(), seconds.begin() + std::ptrdiff_t(n)), y = sigma, rows;
        for (std::size_t i = 0; i < n; ++i) {
            if (hasLatency)
                rows.push_back(1);
            if (hasSlope)
                rows.push_back(bytes[i]);
        }
        const auto columns = std::size_t(hasLatency) + std::size_t(hasSlope);
        Expected<LinearFit> fit = unusable("nothing to fit", {});
        for (int pass = 0; pass < kPasses; ++pass) {
            fit = robustFit(rows, y, int(columns), sigma, stop);
            if (!fit)
                return fit;
            for (std::size_t i = 0; i < n; ++i) {
                double expected = 0;
                for (std::size_t c = 0; c < columns; ++c)
                    expected += fit->coefficients[c] * rows[i * columns + c];
                if (expected <= 0)
                    continue;
                sigma[i] = expected;
                y[i] = expected * (1 + std::log(seconds[i] / expected));
            }
        }
        return fit;
    };
    if (*most > *least && n > 2) {
        // Columns of unlike size: scale bytes so that QR sees comparable ones.
        const auto both = fitted(true, true);
        if (both && both->coefficients[0] >= 0 && both->coefficients[1] > 0) {
            const double slope = both->coefficients[1];
            line.latency = both->coefficients[0];
            line.bytesPerSecond = 1 / slope;
            line.latencyError = both->standardErrors[0];
            line.bandwidthError = both->standardErrors[1] / (slope * slope);
            line.r2 = both->r2;
            return finish(line.latency, slope);
        }
        if (const auto slope = fitted(false, true);
            slope && slope->coefficients[0] > 0 && !(both && both->coefficients[1] <= 0)) {
            line.bytesPerSecond = 1 / slope->coefficients[0];
            line.bandwidthError = slope->standardErrors[0] / (slope->coefficients[0] * slope->coefficients[0]);
            line.r2 = slope->r2;
            return finish(0, slope->coefficients[0]);
        }
    }
    const auto flat = fitted(true, false);
    if (!flat)
        return std::unexpected(flat.error());
    line.latency = flat->coefficients[0];
    line.latencyError = flat->standardErrors[0];
    line.r2 = 0;
    return finish(line.latency, 0);
}

Expected<Ratio> fitRatio(
    std::span<const double> modelled, std::span<const double> measured, const std::stop_token &stop)
{
    // log(measured / modelled) = log(factor) + noise: a robust mean of logarithms is not drawn by slow outliers, and
    // log-normal noise is symmetric there.
    std::vector<double> rows, logs;
    for (std::size_t i = 0; i < std::min(modelled.size(), measured.size()); ++i) {
        if (!(modelled[i] > 0) || !(measured[i] > 0))
            return unusable("a time of 0", "times above 0");
        rows.push_back(1);
        logs.push_back(std::log(measured[i] / modelled[i]));
    }
    const auto fit = robustFit(rows, logs, 1, {}, stop);
    if (!fit)
        return std::unexpected(fit.error());
    Ratio ratio { .factor = std::exp(fit->coefficients[0]), .samples = fit->samples };
    ratio.standardError = ratio.factor * fit->standardErrors[0];
    std::vector<double> off;
    for (const double value : logs)
        off.push_back(std::abs(std::expm1(value - fit->coefficients[0])));
    ratio.residual = medianOf(std::move(off));
    return ratio;
}

} // namespace trainyard
