// SPDX-License-Identifier: GPL-3.0-or-later
// Fits the matrix-product curves (core/cost/gemm.h) to tables of measured kernels and writes kernels.json:
//
//   fit-gemm aiconfigurator_gemm_bf16.json resources/catalog/kernels.json DATE
//
// Least absolute log error by iteratively reweighted Levenberg-Marquardt, in the logarithms of the parameters, which keeps
// them positive. Every fifth row is held out and only judged.

#include "core/catalogue/catalogue.h"
#include "core/cost/gemm.h"

#include <Eigen/Dense>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iostream>
#include <vector>

using namespace trainyard;
using Json = nlohmann::ordered_json;

namespace {

struct Row {
    GemmShape shape;
    double seconds = 0;
    [[nodiscard]] double flops() const { return 2 * shape.m * shape.n * shape.k; }
};

struct Parameter {
    const char *key;
    double GemmCurve::*member;
    double start, low, high;
};
constexpr Parameter kParameters[] = {
    {"launch_us", &GemmCurve::launchUs, 4, 0.5, 20},
    {"peak_fraction", &GemmCurve::peakFraction, 0.8, 0.3, 1.1},
    {"memory_fraction", &GemmCurve::memoryFraction, 0.8, 0.3, 0.95},
    {"margin_m", &GemmCurve::marginM, 64, 1, 2000},
    {"margin_n", &GemmCurve::marginN, 64, 1, 2000},
    {"margin_k", &GemmCurve::marginK, 128, 1, 5000},
    {"wave_area", &GemmCurve::waveArea, 1e6, 1e4, 1e8},
    {"slowdown", &GemmCurve::slowdown, 0.1, 1e-3, 0.3},
    {"slowdown_ms", &GemmCurve::slowdownMs, 3, 0.1, 10},
};
constexpr int kCount = std::size(kParameters);

struct Family {
    const char *table;             // in the measurements
    const char *gpu;               // whose peak and bandwidth the curve is relative to
};
constexpr Family kFamilies[] = {{"a100_sxm", "a100-sxm-80gb"},
                                {"h100_sxm", "h100-sxm-80gb"},
                                {"h200_sxm", "h200-sxm-141gb"},
                                {"b200_sxm", "b200-sxm-180gb"},
                                {"gb200", "gb200-186gb"}};

void setCurve(GpuSpec &gpu, const Eigen::VectorXd &logs)
{
    for (int i = 0; i < kCount; ++i)
        gpu.gemm.*kParameters[i].member = std::clamp(std::exp(logs[i]), kParameters[i].low, kParameters[i].high);
}

double logError(const GpuSpec &gpu, const Row &row)
{
    return std::log(gemmTime(gpu, Precision::Bf16, row.shape).value / row.seconds);
}

Eigen::VectorXd logErrors(GpuSpec gpu, const Eigen::VectorXd &logs, const std::vector<Row> &rows)
{
    setCurve(gpu, logs);
    Eigen::VectorXd errors(static_cast<Eigen::Index>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i)
        errors[static_cast<Eigen::Index>(i)] = logError(gpu, rows[i]);
    return errors;
}

/// One damped step that lowers the mean absolute error, or none.
bool improve(const GpuSpec &gpu, const std::vector<Row> &rows, Eigen::VectorXd &logs, double &damping)
{
    const Eigen::VectorXd errors = logErrors(gpu, logs, rows);
    Eigen::MatrixXd jacobian(errors.size(), kCount);
    for (int i = 0; i < kCount; ++i) {
        constexpr double kStep = 1e-4;
        Eigen::VectorXd moved = logs;
        moved[i] += kStep;
        jacobian.col(i) = (logErrors(gpu, moved, rows) - errors) / kStep;
    }
    const Eigen::VectorXd weights = errors.unaryExpr([](double e) { return 1 / std::max(std::abs(e), 0.02); });
    const Eigen::MatrixXd normal = jacobian.transpose() * weights.asDiagonal() * jacobian;
    const Eigen::VectorXd gradient = jacobian.transpose() * weights.asDiagonal() * errors;
    for (int attempt = 0; attempt < 12; ++attempt) {
        Eigen::MatrixXd damped = normal;
        damped.diagonal() += damping * (normal.diagonal().array() + 1e-6).matrix();
        Eigen::VectorXd candidate = logs - damped.ldlt().solve(gradient);
        for (int i = 0; i < kCount; ++i)
            candidate[i] = std::clamp(candidate[i], std::log(kParameters[i].low), std::log(kParameters[i].high));
        const double before = errors.cwiseAbs().mean();
        const double after = logErrors(gpu, candidate, rows).cwiseAbs().mean();
        if (after < before) {
            logs = candidate;
            damping = std::max(damping / 4, 1e-9);
            return before - after > 1e-7;
        }
        damping *= 4;
    }
    return false;
}

double medianError(const GpuSpec &gpu, const std::vector<Row> &rows, double aboveFlops)
{
    std::vector<double> errors;
    for (const Row &row : rows) {
        if (row.flops() > aboveFlops)
            errors.push_back(std::abs(std::expm1(logError(gpu, row))));
    }
    if (errors.empty())
        return 0;
    std::ranges::nth_element(errors, errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2));
    return errors[errors.size() / 2];
}

double rounded(double value, int digits = 5)
{
    const double scale = std::pow(10, digits - 1 - std::floor(std::log10(std::abs(value))));
    return std::round(value * scale) / scale;
}

Json curveJson(const GemmCurve &curve, const char *source, const char *evidence)
{
    Json json = Json::object();
    for (const Parameter &parameter : kParameters)
        json[parameter.key] = {rounded(curve.*parameter.member), source};
    json["evidence"] = evidence;
    return json;
}

Json fit(const Family &family, const Json &table, GemmCurve &result)
{
    GpuSpec gpu = *builtinCatalogue().gpu(family.gpu);
    std::vector<Row> fitted, heldOut;
    for (const Json &row : table["rows"]) {
        const Row read{{row[0], row[1], row[2]}, row[3].get<double>() * 1e-3};
        ((fitted.size() + heldOut.size()) % 5 == 4 ? heldOut : fitted).push_back(read);
    }
    Eigen::VectorXd logs(kCount);
    for (int i = 0; i < kCount; ++i)
        logs[i] = std::log(kParameters[i].start);
    double damping = 1e-2;
    for (int step = 0; step < 200 && improve(gpu, fitted, logs, damping); ++step) {
    }
    setCurve(gpu, logs);
    for (const Parameter &parameter : kParameters)
        gpu.gemm.*parameter.member = rounded(gpu.gemm.*parameter.member);
    result = gpu.gemm;
    const Json residuals = {{"rows", fitted.size() + heldOut.size()},
                            {"held_out_rows", heldOut.size()},
                            {"median_abs_error", rounded(medianError(gpu, fitted, 0), 3)},
                            {"median_abs_error_held_out", rounded(medianError(gpu, heldOut, 0), 3)},
                            {"median_abs_error_held_out_above_16_gflop", rounded(medianError(gpu, heldOut, 16e9), 3)}};
    const Json curve = curveJson(result, "fit", "measured");
    std::cout << family.table << ' ' << curve.dump() << "\n    " << residuals.dump() << std::endl;
    return {{"device", table["device"]}, {"relative_to", family.gpu}, {"curve", curve}, {"residuals", residuals}};
}

/// For chips without measurements: of every parameter the most pessimistic fit, but the waves of the smallest chip.
GemmCurve pessimistic(const std::vector<GemmCurve> &curves)
{
    GemmCurve worst = curves.front();
    for (const GemmCurve &curve : curves) {
        for (double GemmCurve::*fraction :
             {&GemmCurve::peakFraction, &GemmCurve::memoryFraction, &GemmCurve::slowdownMs, &GemmCurve::waveArea})
            worst.*fraction = std::min(worst.*fraction, curve.*fraction);
        for (double GemmCurve::*loss : {&GemmCurve::launchUs, &GemmCurve::marginM, &GemmCurve::marginN,
                                        &GemmCurve::marginK, &GemmCurve::slowdown})
            worst.*loss = std::max(worst.*loss, curve.*loss);
    }
    return worst;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 4) {
        std::cerr << "usage: fit-gemm MEASUREMENTS.json KERNELS.json DATE\n";
        return 2;
    }
    std::ifstream input(argv[1]);
    if (!input) {
        std::cerr << argv[1] << ": cannot be read\n";
        return 2;
    }
    const Json measured = Json::parse(input);
    Json kernels;
    kernels["sources"]["fit"] = {{"title", "fitted by tools/fit_gemm to " + measured["source"].get<std::string>()},
                                 {"date", argv[3]}};
    kernels["sources"]["pessimistic"] = {{"title", "tools/fit_gemm: the most pessimistic of the fitted values"},
                                         {"date", argv[3]}};
    std::vector<GemmCurve> curves;
    for (const Family &family : kFamilies)
        kernels["gemm"][family.table] = fit(family, measured["gpus"][family.table], curves.emplace_back());
    kernels["gemm"]["generic"]["curve"] = curveJson(pessimistic(curves), "pessimistic", "spec sheet");
    std::ofstream output(argv[2]);
    output << "{\n\"sources\": " << kernels["sources"].dump() << ",\n\"gemm\": {";
    const char *comma = "";
    for (const auto &[family, value] : kernels["gemm"].items()) {    // a family a paragraph, for readable differences
        output << comma << "\n  \"" << family << "\": {";
        const char *inner = "";
        for (const auto &[key, part] : value.items()) {
            output << inner << "\n    \"" << key << "\": " << part.dump();
            inner = ",";
        }
        output << " }";
        comma = ",";
    }
    output << "\n}\n}\n";
    if (!output) {
        std::cerr << argv[2] << ": cannot be written\n";
        return 2;
    }
    return 0;
}
