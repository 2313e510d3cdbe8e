// SPDX-License-Identifier: GPL-3.0-or-later
#include "tools/fit_kernels/fitting.h"

namespace trainyard {

namespace {

double quantile(std::vector<double> &values, double share)
{
    const auto place =
        values.begin() + std::ptrdiff_t(std::min(double(values.size() - 1), double(values.size()) * share));
    std::ranges::nth_element(values, place);
    return *place;
}

} // namespace

double rounded(double value, int digits)
{
    if (value == 0)
        return 0;
    const double scale = std::pow(10, digits - 1 - std::floor(std::log10(std::abs(value))));
    return std::round(value * scale) / scale;
}

ErrorSummary summary(std::vector<double> logErrors)
{
    if (logErrors.empty())
        return {};
    ErrorSummary result;
    result.rows = logErrors.size();
    result.bias = std::expm1(quantile(logErrors, 0.5));
    for (double &error : logErrors)
        error = std::abs(std::expm1(error));
    result.median = quantile(logErrors, 0.5);
    result.p90 = quantile(logErrors, 0.9);
    return result;
}

OrderedJson residuals(const ErrorSummary &fitted, const ErrorSummary &heldOut)
{
    return { { "rows", fitted.rows + heldOut.rows }, { "held_out_rows", heldOut.rows },
        { "median_abs_error", rounded(fitted.median, 3) }, { "median_abs_error_held_out", rounded(heldOut.median, 3) },
        { "p90_abs_error_held_out", rounded(heldOut.p90, 3) }, { "median_error_held_out", rounded(heldOut.bias, 3) } };
}

} // namespace trainyard
