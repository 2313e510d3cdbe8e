#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the three kernel fits share: the measured families, the rule of held-out rows, errors and how they are written
// down.

#include "core/facts/hardware/gpu_spec.h"
#include "tools/robust_fit.h"

#include <nlohmann/json.hpp>

#include <span>
#include <string>

namespace trainyard {

using OrderedJson = nlohmann::ordered_json;

struct MeasuredFamily {
    const char *table; // in the measurements, and the family's name in kernels.json
    const char *gpu; // whose peak, bandwidth and multiprocessors its curves are relative to
};
inline constexpr MeasuredFamily kMeasuredFamilies[] = { { "h100_sxm", "h100-sxm-80gb" },
    { "a100_sxm", "a100-sxm-80gb" }, { "h200_sxm", "h200-sxm-141gb" }, { "b200_sxm", "b200-sxm-180gb" },
    { "gb200", "gb200-186gb" }, { "b300_sxm", "b300-sxm-270gb" }, { "gb300", "gb300-278gb" }, { "l40s", "l40s-48gb" },
    { "rtx_pro_6000_server", "rtx-pro-6000-server-96gb" } };

template <class Curve> struct CurveParameter {
    const char *key;
    double Curve::*member;
    FitBounds bounds;
};

/// Every fifth row is held out: never seen by the fit, only judged.
template <class Row> struct SplitRows {
    std::vector<Row> fitted, heldOut;
    void add(Row row) { ((fitted.size() + heldOut.size()) % 5 == 4 ? heldOut : fitted).push_back(std::move(row)); }
};

[[nodiscard]] double rounded(double value, int digits = 5);

/// Median and 90th percentile of |model / measured - 1|, and the median of model / measured - 1.
struct ErrorSummary {
    std::size_t rows = 0;
    double median = 0, p90 = 0, bias = 0;
};
[[nodiscard]] ErrorSummary summary(std::vector<double> logErrors);
[[nodiscard]] OrderedJson residuals(const ErrorSummary &fitted, const ErrorSummary &heldOut);

template <class Row, class LogError> ErrorSummary judged(const std::vector<Row> &rows, const LogError &logError)
{
    std::vector<double> errors;
    for (const Row &row : rows)
        errors.push_back(logError(row));
    return summary(std::move(errors));
}

/// Fits the parameters of `curve` to the rows; the result is rounded as it is written.
template <class Curve, class Row, class LogErrorOf>
Curve fitCurve(Curve curve, std::span<const CurveParameter<Curve>> parameters, const std::vector<Row> &rows,
    const LogErrorOf &logErrorOf, const std::vector<std::vector<double>> &starts = {})
{
    const auto with = [&](const std::vector<double> &values) {
        Curve changed = curve;
        for (std::size_t i = 0; i < parameters.size(); ++i)
            changed.*parameters[i].member = values[i];
        return changed;
    };
    std::vector<FitBounds> bounds;
    for (const auto &parameter : parameters)
        bounds.push_back(parameter.bounds);
    const RobustFit fit(bounds, [&](const std::vector<double> &values) {
        const auto logError = logErrorOf(with(values));
        Eigen::VectorXd errors(Eigen::Index(rows.size()));
        for (std::size_t i = 0; i < rows.size(); ++i)
            errors[Eigen::Index(i)] = logError(rows[i]);
        return errors;
    });
    std::vector<double> values = fit.run(starts);
    for (double &value : values)
        value = rounded(value);
    return with(values);
}

/// Key to [value, "fit"] of every parameter, and the evidence.
template <class Curve>
OrderedJson curveJson(
    const Curve &curve, std::span<const CurveParameter<Curve>> parameters, const char *source, const char *evidence)
{
    OrderedJson json = OrderedJson::object();
    for (const auto &parameter : parameters)
        json[parameter.key] = { curve.*parameter.member, source };
    if (evidence)
        json["evidence"] = evidence;
    return json;
}

/// Curves by format ("bf16", "fp8" ...) of one family, and their residuals, as kernels.json has them.
struct FamilyFit {
    OrderedJson curves = OrderedJson::object(), residuals = OrderedJson::object();
};

/// Measured dense products of one family; also sets the curves of `gpu`.
FamilyFit fitGemm(GpuSpec &gpu, const OrderedJson &table, const OrderedJson *denseTable);
/// Measured fused attention; `relative` lends its ratios for head sizes that the table lacks.
FamilyFit fitAttention(GpuSpec &gpu, const OrderedJson &table, const AttentionCurve *relative);
/// Measured expert products; formats that were not measured run at the rate of dense products.
FamilyFit fitGrouped(GpuSpec &gpu, const OrderedJson &table);
/// For chips without measurements: of every parameter the most pessimistic of those fitted.
OrderedJson pessimisticGemm(std::span<const GpuSpec> fitted);
OrderedJson pessimisticAttention(std::span<const GpuSpec> fitted);

} // namespace trainyard
