// SPDX-License-Identifier: GPL-3.0-or-later
// Dense products: one curve a GPU and format. The tables of narrower formats time the cast of the 16-bit left operand
// with the product; its floor and rate are fitted apart, the floor of the product itself being that of the 16-bit
// kernels.
#include "core/iteration/cost/kernels/gemm.h"
#include "tools/fit_kernels/fitting.h"

#include <set>
#include <tuple>

namespace trainyard {

namespace {

struct GemmRow {
    GemmShape shape;
    double seconds = 0;
};

constexpr CurveParameter<GemmCurve> kHalf[] = {
    { "launch_us", &GemmCurve::launchUs, { 4, 0.5, 20 } },
    { "peak_fraction", &GemmCurve::peakFraction, { 0.8, 0.2, 1.1 } },
    { "memory_fraction", &GemmCurve::memoryFraction, { 0.8, 0.3, 1.0 } },
    { "margin_k", &GemmCurve::marginK, { 128, 1, 5000 } },
    { "tile_loss", &GemmCurve::tileLoss, { 20, 0.1, 300 } },
    { "wave_overlap", &GemmCurve::waveOverlap, { 0.5, 0.01, 1 } },
    { "split_us", &GemmCurve::splitUs, { 1, 0.01, 20 } },
    { "memory_exposed", &GemmCurve::memoryExposed, { 0.05, 0.001, 1 } },
    { "cache_mbytes", &GemmCurve::cacheMbytes, { 20, 0.01, 300 } },
    { "slowdown", &GemmCurve::slowdown, { 0.1, 1e-3, 0.5 } },
    { "slowdown_ms", &GemmCurve::slowdownMs, { 3, 0.1, 10 } },
    { "cast_us", &GemmCurve::castUs, { 3, 0.01, 30 } },
    { "cast_fraction", &GemmCurve::castFraction, { 0.7, 0.1, 2 } },
};
constexpr std::span<const CurveParameter<GemmCurve>> kAllOfGemm = kHalf;

struct GemmFormat {
    const char *table, *key;
    Precision precision;
    GemmCurve GpuSpec::*curve;
};
constexpr GemmFormat kGemmFormats[] = { { "bfloat16", "bf16", Precision::Bf16, &GpuSpec::gemm },
    { "fp8", "fp8", Precision::Fp8, &GpuSpec::gemmFp8 },
    { "fp8_block", "fp8_block", Precision::Mxfp8, &GpuSpec::gemmBlock8 },
    { "nvfp4", "nvfp4", Precision::Nvfp4, &GpuSpec::gemmFp4 } };

double gemmLogError(const GpuSpec &gpu, Precision precision, const GemmRow &row)
{
    const Seconds time = gemmTime(gpu, precision, row.shape) + castTime(gpu, precision, row.shape.m * row.shape.k);
    return std::log(time.value / row.seconds);
}

GemmRow readGemmRow(const OrderedJson &row)
{
    return { { row[0], row[1], row[2] }, row[3].get<double>() * 1e-3 };
}

/// Rows of the older, denser table that the newer one does not have.
std::vector<GemmRow> unseenRows(const OrderedJson &table, const OrderedJson &dense)
{
    const auto key = [](const GemmRow &row) { return std::tuple { row.shape.m, row.shape.n, row.shape.k }; };
    std::set<std::tuple<double, double, double>> known;
    for (const OrderedJson &row : table)
        known.insert(key(readGemmRow(row)));
    std::vector<GemmRow> rows;
    for (const OrderedJson &row : dense) {
        if (const GemmRow read = readGemmRow(row); !known.contains(key(read)))
            rows.push_back(read);
    }
    return rows;
}

} // namespace

FamilyFit fitGemm(GpuSpec &gpu, const OrderedJson &table, const OrderedJson *denseTable)
{
    FamilyFit result;
    for (const GemmFormat &format : kGemmFormats) {
        const auto found = table["dtypes"].find(format.table);
        if (found == table["dtypes"].end())
            continue;
        SplitRows<GemmRow> rows;
        for (const OrderedJson &row : *found)
            rows.add(readGemmRow(row));
        const bool isHalf = format.precision == Precision::Bf16;
        GemmCurve start;
        start.launchUs = gpu.gemm.launchUs;
        start.castFraction = 1;
        // 16 bits: nothing is cast. Narrower: the floor of the product is known, that of the cast is not.
        const auto parameters = isHalf ? kAllOfGemm.first(kAllOfGemm.size() - 2) : kAllOfGemm.subspan(1);
        const auto judge = [&](const GemmCurve &curve) {
            GpuSpec changed = gpu;
            changed.*format.curve = curve;
            return [changed = std::move(changed), precision = format.precision](
                       const GemmRow &row) { return gemmLogError(changed, precision, row); };
        };
        // A second and third start: no cache, small and large loss of small tiles.
        std::vector<std::vector<double>> starts;
        for (const double tileLoss : { 5.0, 100.0 }) {
            std::vector<double> values;
            for (const auto &parameter : parameters)
                values.push_back(parameter.member == &GemmCurve::tileLoss ? tileLoss
                        : parameter.member == &GemmCurve::waveOverlap     ? 0.9
                        : parameter.member == &GemmCurve::cacheMbytes     ? 1
                                                                          : parameter.bounds.start);
            starts.push_back(std::move(values));
        }
        const GemmCurve curve = fitCurve(start, parameters, rows.fitted, judge, starts);
        gpu.*format.curve = curve;
        result.curves[format.key] = curveJson(curve, kAllOfGemm, "fit", "measured");
        OrderedJson errors = residuals(judged(rows.fitted, judge(curve)), judged(rows.heldOut, judge(curve)));
        if (isHalf && denseTable) {
            const ErrorSummary unseen = judged(unseenRows(*found, (*denseTable)["rows"]), judge(curve));
            errors["other_table_rows"] = unseen.rows;
            errors["median_abs_error_other_table"] = rounded(unseen.median, 3);
        }
        result.residuals[format.key] = errors;
    }
    return result;
}

OrderedJson pessimisticGemm(std::span<const GpuSpec> fitted)
{
    OrderedJson curves = OrderedJson::object();
    for (const GemmFormat &format : kGemmFormats) {
        GemmCurve worst = fitted.front().*format.curve;
        for (const GpuSpec &gpu : fitted) {
            const GemmCurve &curve = gpu.*format.curve;
            if (gpu.peakTflops[std::size_t(gpu.computePrecision(format.precision))] <= 0 || curve == GemmCurve {})
                continue;
            if (worst == GemmCurve {})
                worst = curve;
            for (double GemmCurve::*share :
                { &GemmCurve::peakFraction, &GemmCurve::memoryFraction, &GemmCurve::waveOverlap, &GemmCurve::slowdownMs,
                    &GemmCurve::cacheMbytes, &GemmCurve::castFraction })
                worst.*share = std::min(worst.*share, curve.*share);
            for (double GemmCurve::*loss : { &GemmCurve::launchUs, &GemmCurve::marginK, &GemmCurve::tileLoss,
                     &GemmCurve::splitUs, &GemmCurve::memoryExposed, &GemmCurve::slowdown, &GemmCurve::castUs })
                worst.*loss = std::max(worst.*loss, curve.*loss);
        }
        curves[format.key] = curveJson(worst, kAllOfGemm, "pessimistic", "spec sheet");
    }
    return curves;
}

} // namespace trainyard
