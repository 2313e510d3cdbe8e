#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Least absolute log error by iteratively reweighted Levenberg-Marquardt, in the logarithms of the parameters, which
// keeps them positive. Models may have steps (whole tiles, whole waves): slopes are taken over a width that shrinks
// once nothing improves. Deterministic.

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace trainyard {

struct FitBounds {
    double start, low, high;
};
/// Parameters to log(model / measured), one element a row.
using LogErrors = std::function<Eigen::VectorXd(const std::vector<double> &parameters)>;

class RobustFit {
public:
    RobustFit(std::vector<FitBounds> bounds, LogErrors errors)
        : m_bounds(std::move(bounds))
        , m_errors(std::move(errors))
    {
    }

    /// From the start values, and from each of `starts` as well: the best counts.
    [[nodiscard]] std::vector<double> run(const std::vector<std::vector<double>> &starts = {}) const
    {
        Eigen::VectorXd best = descend(startLogs());
        for (const std::vector<double> &start : starts) {
            Eigen::VectorXd logs(Eigen::Index(start.size()));
            for (std::size_t i = 0; i < start.size(); ++i)
                logs[Eigen::Index(i)] = std::log(start[i]);
            const Eigen::VectorXd candidate = descend(bounded(std::move(logs)));
            if (loss(errorsAt(candidate)) < loss(errorsAt(best)))
                best = candidate;
        }
        return parameters(best);
    }

private:
    static constexpr double kOutlier = 0.5; // log error from which a row pulls with a third of its weight

    [[nodiscard]] static double loss(const Eigen::VectorXd &errors)
    {
        return errors
            .unaryExpr([](double e) {
                const double size = std::abs(e);
                return size < kOutlier ? size : kOutlier + (size - kOutlier) / 3;
            })
            .mean();
    }

    [[nodiscard]] Eigen::VectorXd startLogs() const
    {
        Eigen::VectorXd logs(Eigen::Index(m_bounds.size()));
        for (std::size_t i = 0; i < m_bounds.size(); ++i)
            logs[Eigen::Index(i)] = std::log(m_bounds[i].start);
        return logs;
    }

    [[nodiscard]] Eigen::VectorXd bounded(Eigen::VectorXd logs) const
    {
        for (std::size_t i = 0; i < m_bounds.size(); ++i)
            logs[Eigen::Index(i)] =
                std::clamp(logs[Eigen::Index(i)], std::log(m_bounds[i].low), std::log(m_bounds[i].high));
        return logs;
    }

    [[nodiscard]] static std::vector<double> parameters(const Eigen::VectorXd &logs)
    {
        std::vector<double> values;
        for (const double log : logs)
            values.push_back(std::exp(log));
        return values;
    }

    [[nodiscard]] Eigen::VectorXd errorsAt(const Eigen::VectorXd &logs) const { return m_errors(parameters(logs)); }

    [[nodiscard]] Eigen::VectorXd descend(Eigen::VectorXd logs) const
    {
        double damping = 1e-2;
        for (const double width : { 1e-2, 2e-3, 1e-4 }) {
            for (int step = 0; step < 60 && improve(logs, damping, width); ++step) { }
            damping = 1e-2;
        }
        return logs;
    }

    /// One damped step that lowers the loss, or none.
    [[nodiscard]] bool improve(Eigen::VectorXd &logs, double &damping, double width) const
    {
        const Eigen::VectorXd errors = errorsAt(logs);
        Eigen::MatrixXd jacobian(errors.size(), logs.size());
        for (Eigen::Index i = 0; i < logs.size(); ++i) {
            Eigen::VectorXd moved = logs;
            moved[i] += width;
            jacobian.col(i) = (errorsAt(moved) - errors) / width;
        }
        const Eigen::VectorXd weights = errors.unaryExpr([](double e) { return 1 / std::max(std::abs(e), 0.02); });
        const Eigen::MatrixXd normal = jacobian.transpose() * weights.asDiagonal() * jacobian;
        const Eigen::VectorXd gradient = jacobian.transpose() * weights.asDiagonal() * errors;
        const double before = loss(errors);
        for (int attempt = 0; attempt < 10; ++attempt) {
            Eigen::MatrixXd damped = normal;
            damped.diagonal() += damping * (normal.diagonal().array() + 1e-6).matrix();
            const Eigen::VectorXd candidate = bounded(logs - damped.ldlt().solve(gradient));
            const double after = loss(errorsAt(candidate));
            if (after < before) {
                logs = candidate;
                damping = std::max(damping / 4, 1e-9);
                return before - after > 2e-6;
            }
            damping *= 4;
        }
        return false;
    }

    std::vector<FitBounds> m_bounds;
    LogErrors m_errors;
};

} // namespace trainyard
