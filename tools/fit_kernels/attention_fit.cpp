// SPDX-License-Identifier: GPL-3.0-or-later
// Fused causal attention forward, 16 bits: one curve a GPU. Head sizes that a table lacks take the ratio of the first
// family that has them.
#include "core/iteration/cost/kernels/attention.h"
#include "tools/fit_kernels/fitting.h"

namespace trainyard {

namespace {

struct AttentionRow {
    AttentionShape shape;
    double seconds = 0;
};

constexpr CurveParameter<AttentionCurve> kAttention[] = {
    { "launch_us", &AttentionCurve::launchUs, { 5, 0.5, 100 } },
    { "peak_fraction", &AttentionCurve::peakFraction, { 0.6, 0.1, 1.2 } },
    { "rate_64", &AttentionCurve::rate64, { 0.8, 0.2, 2 } }, { "rate_192", &AttentionCurve::rate192, { 1, 0.2, 2 } },
    { "rate_256", &AttentionCurve::rate256, { 1, 0.2, 2 } },
    { "memory_fraction", &AttentionCurve::memoryFraction, { 0.7, 0.05, 1.5 } },
    { "margin_keys", &AttentionCurve::marginKeys, { 100, 1, 2000 } },
    { "tail_share", &AttentionCurve::tailShare, { 0.3, 0.001, 3 } },
    { "slowdown", &AttentionCurve::slowdown, { 0.1, 1e-3, 0.6 } },
    { "slowdown_ms", &AttentionCurve::slowdownMs, { 3, 0.05, 6 } }, // tables end at 60 ms: by then it is whole
};

struct HeadSize {
    double size;
    double AttentionCurve::*rate;
};
constexpr HeadSize kHeadSizes[] = { { 64, &AttentionCurve::rate64 }, { 192, &AttentionCurve::rate192 },
    { 256, &AttentionCurve::rate256 } };

AttentionRow readAttentionRow(const OrderedJson &row)
{
    const double heads = row[2], keyHeads = row[3], sequence = row[1], head = row[4];
    return { { row[0], heads, keyHeads > 0 ? keyHeads : heads, sequence, sequence, head, head, true },
        row[5].get<double>() * 1e-3 };
}

} // namespace

FamilyFit fitAttention(GpuSpec &gpu, const OrderedJson &table, const AttentionCurve *relative)
{
    SplitRows<AttentionRow> rows;
    for (const OrderedJson &row : table["dtypes"]["bfloat16"])
        rows.add(readAttentionRow(row));
    std::vector<CurveParameter<AttentionCurve>> parameters(std::begin(kAttention), std::end(kAttention));
    AttentionCurve start;
    for (const HeadSize &head : kHeadSizes) {
        const auto isMeasured = [&](const AttentionRow &row) { return row.shape.queryDim == head.size; };
        if (std::ranges::any_of(rows.fitted, isMeasured))
            continue;
        start.*head.rate = relative ? relative->*head.rate : 1;
        std::erase_if(parameters, [&](const auto &parameter) { return parameter.member == head.rate; });
    }
    const auto judge = [&](const AttentionCurve &curve) {
        GpuSpec changed = gpu;
        changed.attention = curve;
        return [changed = std::move(changed)](const AttentionRow &row) {
            return std::log(attentionForward(changed, Precision::Bf16, row.shape).value / row.seconds);
        };
    };
    gpu.attention = fitCurve(start, std::span<const CurveParameter<AttentionCurve>>(parameters), rows.fitted, judge);
    FamilyFit result;
    result.curves["bf16"] =
        curveJson(gpu.attention, std::span<const CurveParameter<AttentionCurve>>(kAttention), "fit", nullptr);
    result.curves["bf16"]["backward_rate"] = { AttentionCurve {}.backwardRate, "backward" };
    result.residuals["bf16"] =
        residuals(judged(rows.fitted, judge(gpu.attention)), judged(rows.heldOut, judge(gpu.attention)));
    return result;
}

OrderedJson pessimisticAttention(std::span<const GpuSpec> fitted)
{
    AttentionCurve worst = fitted.front().attention;
    for (const GpuSpec &gpu : fitted) {
        const AttentionCurve &curve = gpu.attention;
        for (double AttentionCurve::*share :
            { &AttentionCurve::peakFraction, &AttentionCurve::rate64, &AttentionCurve::rate192,
                &AttentionCurve::rate256, &AttentionCurve::memoryFraction, &AttentionCurve::slowdownMs })
            worst.*share = std::min(worst.*share, curve.*share);
        for (double AttentionCurve::*loss : { &AttentionCurve::launchUs, &AttentionCurve::marginKeys,
                 &AttentionCurve::tailShare, &AttentionCurve::slowdown })
            worst.*loss = std::max(worst.*loss, curve.*loss);
    }
    OrderedJson curves = OrderedJson::object();
    curves["bf16"] =
        curveJson(worst, std::span<const CurveParameter<AttentionCurve>>(kAttention), "pessimistic", nullptr);
    curves["bf16"]["backward_rate"] = { AttentionCurve {}.backwardRate, "backward" };
    return curves;
}

} // namespace trainyard
