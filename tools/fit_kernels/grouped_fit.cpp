// SPDX-License-Identifier: GPL-3.0-or-later
// Grouped expert products. A row times both products of a rank's experts together with permutation and activation:
// those have a floor and a traffic of their own in the fit (cast_us, cast_fraction) that the products do not contain.
// Used are rows with balanced routing; where a table has none, skewed rows of one rank that holds all experts.
#include "core/iteration/cost/kernels/grouped_gemm.h"
#include "tools/fit_kernels/fitting.h"

namespace trainyard {

namespace {

struct ExpertRow {
    double experts = 0, rows = 0, hidden = 0, width = 0; // experts of the rank, tokens of each, sizes of its shard
    bool isGated = true;
    double seconds = 0;
};

constexpr CurveParameter<GemmCurve> kGrouped[] = {
    { "launch_us", &GemmCurve::launchUs, { 4, 0.5, 20 } },
    { "peak_fraction", &GemmCurve::peakFraction, { 0.7, 0.1, 1.1 } },
    { "memory_fraction", &GemmCurve::memoryFraction, { 0.8, 0.2, 1.0 } },
    { "margin_k", &GemmCurve::marginK, { 128, 1, 3000 } },
    { "tile_loss", &GemmCurve::tileLoss, { 20, 0.1, 300 } },
    { "wave_overlap", &GemmCurve::waveOverlap, { 0.5, 0.01, 1 } },
    { "memory_exposed", &GemmCurve::memoryExposed, { 0.1, 0.001, 1 } },
    { "slowdown", &GemmCurve::slowdown, { 0.1, 1e-3, 0.6 } },
    { "slowdown_ms", &GemmCurve::slowdownMs, { 3, 0.1, 20 } },
    { "cast_us", &GemmCurve::castUs, { 30, 1, 200 } },
    { "cast_fraction", &GemmCurve::castFraction, { 0.5, 0.02, 2 } },
    { "split_us", &GemmCurve::splitUs, { 1000, 1000, 1000 } },
};
constexpr std::span<const CurveParameter<GemmCurve>> kAllOfGrouped = kGrouped;

constexpr double kUseless = 0.25; // median error from which a fit says nothing

struct ExpertFormat {
    const char *table, *key;
    Precision precision;
    GemmCurve GpuSpec::*curve;
    GemmCurve GpuSpec::*dense;
};
constexpr ExpertFormat kExpertFormats[] = { { "bfloat16", "bf16", Precision::Bf16, &GpuSpec::grouped, &GpuSpec::gemm },
    { "fp8", "fp8", Precision::Fp8, &GpuSpec::groupedFp8, &GpuSpec::gemmFp8 },
    { "fp8_block", "fp8_block", Precision::Mxfp8, &GpuSpec::groupedBlock8, &GpuSpec::gemmBlock8 },
    { "nvfp4", "nvfp4", Precision::Nvfp4, &GpuSpec::groupedFp4, &GpuSpec::gemmFp4 } };

ExpertRow readExpertRow(const OrderedJson &row)
{
    const double tokens = row[0], hidden = row[1], width = row[2], choices = row[3], experts = row[4], tensor = row[5],
                 parallel = row[6];
    // The two architectures with an ungated activation (Nemotron 3): 22 choices, or an inner size of 1856.
    return { experts / parallel, tokens * choices / experts, hidden, width / tensor, choices != 22 && width != 1856,
        row[8].get<double>() * 1e-3 };
}

double expertLogError(const GpuSpec &gpu, const ExpertFormat &format, const ExpertRow &row)
{
    const GemmCurve &curve = gpu.*format.curve;
    const double matrices = row.isGated ? 2 : 1;
    const Seconds products =
        groupedGemmTime(gpu, format.precision, row.experts, { row.rows, matrices * row.width, row.hidden })
        + groupedGemmTime(gpu, format.precision, row.experts, { row.rows, row.hidden, row.width });
    const double traffic = 2 * row.experts * row.rows * (2 * row.hidden + (matrices + 1) * row.width);
    const double rest = curve.castUs * 1e-6 + traffic / (gpu.memoryGBps * 1e9 * curve.castFraction);
    return std::log((products.value + rest) / row.seconds);
}

} // namespace

FamilyFit fitGrouped(GpuSpec &gpu, const OrderedJson &table)
{
    FamilyFit result;
    for (const ExpertFormat &format : kExpertFormats) {
        gpu.*format.curve = gpu.*format.dense;
        const auto found = table["dtypes"].find(format.table);
        if (found == table["dtypes"].end())
            continue;
        const auto isBalanced = [](const OrderedJson &row) { return row[7] == "balanced"; };
        const bool hasBalanced = std::ranges::any_of(*found, isBalanced);
        SplitRows<ExpertRow> rows;
        for (const OrderedJson &row : *found) {
            if (isBalanced(row) || (!hasBalanced && row[6] == 1))
                rows.add(readExpertRow(row));
        }
        GemmCurve start;
        start.launchUs = gpu.gemm.launchUs;
        start.splitUs = 1000; // these kernels do not split k
        const auto judge = [&](const GemmCurve &curve) {
            GpuSpec changed = gpu;
            changed.*format.curve = curve;
            return [changed = std::move(changed), &format](
                       const ExpertRow &row) { return expertLogError(changed, format, row); };
        };
        const GemmCurve curve = fitCurve(start, kAllOfGrouped.subspan(1, kAllOfGrouped.size() - 2), rows.fitted, judge);
        const ErrorSummary seen = judged(rows.fitted, judge(curve)), unseen = judged(rows.heldOut, judge(curve));
        result.residuals[format.key] = residuals(seen, unseen);
        if (seen.median > kUseless) { // the table holds kernels that its tuner failed on, not the chip's rate
            result.residuals[format.key]["used"] = false;
            continue;
        }
        gpu.*format.curve = curve;
        result.curves[format.key] = curveJson(curve, kAllOfGrouped, "fit", "measured");
    }
    return result;
}

} // namespace trainyard
