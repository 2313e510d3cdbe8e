// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/profile/operation_work.h"

#include "core/facts/plan/enum_names.h"
#include "core/iteration/cost/kernels/grouped_gemm.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace trainyard {

namespace {

using Arguments = std::vector<TensorArgument>;

/// Of the operands of a product or of attention; empty: no unit of a GPU multiplies them.
std::optional<Precision> precisionOf(std::string_view type)
{
    return type == "bf16"        ? std::optional(Precision::Bf16)
        : type == "f16"          ? std::optional(Precision::Fp16)
        : type == "f32"          ? std::optional(Precision::Fp32)
        : type.starts_with("f8") ? std::optional(Precision::Fp8)
                                 : std::nullopt;
}

const TensorArgument *tensorAt(const Arguments &arguments, std::size_t at, std::size_t dimensions)
{
    return at < arguments.size() && arguments[at].isTensor() && arguments[at].sizes.size() == dimensions
            && arguments[at].elements() > 0
        ? &arguments[at]
        : nullptr;
}

struct ProductName {
    std::string_view name;
    /// of A in the arguments, B is behind it
    std::size_t first;
    bool isBatched = false, isGrouped = false;
};
constexpr std::array kProducts { ProductName { "aten::mm", 0 }, ProductName { "aten::_scaled_mm", 0 },
    ProductName { "aten::addmm", 1 }, ProductName { "aten::addmm_", 1 }, ProductName { "aten::_addmm_activation", 1 },
    ProductName { "aten::bmm", 0, true }, ProductName { "aten::baddbmm", 1, true },
    ProductName { "aten::baddbmm_", 1, true }, ProductName { "aten::_grouped_mm", 0, false, true },
    ProductName { "aten::_scaled_grouped_mm", 0, false, true } };

std::optional<OperationWork> productWork(const ProductName &name, const Arguments &arguments)
{
    const TensorArgument *a = tensorAt(arguments, name.first, name.isBatched ? 3 : 2);
    const TensorArgument *b = tensorAt(arguments, name.first + 1, name.isBatched || name.isGrouped ? 3 : 2);
    const auto precision = a ? precisionOf(a->type) : std::nullopt;
    if (!b || !precision || a->sizes.back() != b->sizes[b->sizes.size() - 2]
        || (name.isBatched && a->sizes[0] != b->sizes[0]))
        return std::nullopt;
    OperationWork work { .kind = OperationKind::Product, .precision = *precision };
    const double rows = a->sizes[a->sizes.size() - 2];
    work.isGrouped = name.isGrouped;
    work.groups = b->sizes.size() == 3 ? b->sizes[0] : 1;
    work.product = { name.isGrouped ? rows / work.groups : rows, b->sizes.back(), a->sizes.back() };
    const double results = work.groups * work.product.m * work.product.n;
    work.flops = 2 * results * work.product.k;
    work.bytes = a->bytes() + b->bytes() + results * std::max(2.0, bytesOfShortType(a->type)); // 16 bits or wider
    if (name.first == 1 && arguments[0].isTensor())
        work.bytes += arguments[0].bytes(); // that the product is added to
    return work;
}

struct AttentionName {
    std::string_view name;
    /// of the queries in the arguments; keys and values are behind them
    std::size_t first;
    /// that says whether there is a causal mask
    std::size_t causal;
    /// of the lengths of packed sequences; 0: it packs none
    std::size_t lengths;
    /// [batch, heads, tokens, elements], else [batch, tokens, heads, elements]
    bool hasHeadsFirst;
    bool isBackward;
};
constexpr std::array kAttentions { AttentionName { "aten::_flash_attention_forward", 0, 8, 3, false, false },
    AttentionName { "aten::_flash_attention_backward", 1, 11, 6, false, true },
    AttentionName { "aten::_scaled_dot_product_flash_attention", 0, 4, 0, true, false },
    AttentionName { "aten::_scaled_dot_product_flash_attention_backward", 1, 11, 6, true, true },
    AttentionName { "aten::_efficient_attention_forward", 0, 9, 4, false, false },
    AttentionName { "aten::_efficient_attention_backward", 1, 14, 6, false, true },
    AttentionName { "aten::_scaled_dot_product_cudnn_attention", 0, 6, 0, true, false },
    AttentionName { "aten::_scaled_dot_product_cudnn_attention_backward", 1, 14, 9, true, true },
    AttentionName { "aten::_cudnn_attention_forward", 0, 10, 4, true, false },
    AttentionName { "aten::_cudnn_attention_backward", 1, 14, 9, true, true },
    AttentionName { "flash_attn::_flash_attn_forward", 0, 5, 0, false, false },
    AttentionName { "flash_attn::_flash_attn_backward", 1, 11, 0, false, true },
    AttentionName { "FlashAttnFunc", 0, 5, 0, false, false } };

std::optional<OperationWork> attentionWork(const AttentionName &name, const Arguments &arguments)
{
    const TensorArgument *q = tensorAt(arguments, name.first, 4), *k = tensorAt(arguments, name.first + 1, 4),
                         *v = tensorAt(arguments, name.first + 2, 4);
    const auto precision = q ? precisionOf(q->type) : std::nullopt;
    const bool isPacked =
        name.lengths > 0 && name.lengths < arguments.size() && arguments[name.lengths].isTensor(); // unknown lengths
    if (!k || !v || !precision || isPacked || k->sizes[0] != q->sizes[0] || k->sizes[3] != q->sizes[3])
        return std::nullopt;
    const std::size_t heads = name.hasHeadsFirst ? 1 : 2, tokens = name.hasHeadsFirst ? 2 : 1;
    OperationWork work { .kind = OperationKind::Attention, .precision = *precision };
    work.isBackward = name.isBackward;
    const std::string_view causal = name.causal < arguments.size() ? arguments[name.causal].value : std::string_view();
    work.attention = { q->sizes[0], q->sizes[heads], k->sizes[heads], q->sizes[tokens], k->sizes[tokens], q->sizes[3],
        v->sizes[3], causal == "True" || causal == "1" || causal == "2" };
    const AttentionShape &shape = work.attention;
    const double pairs = shape.batch * shape.heads * attendedPairsOf(shape);
    work.flops = name.isBackward ? 2 * pairs * (3 * shape.queryDim + 2 * shape.valueDim)
                                 : 2 * pairs * (shape.queryDim + shape.valueDim);
    const double result = shape.batch * shape.heads * shape.queries * shape.valueDim * bytesOfShortType(q->type);
    work.bytes = (q->bytes() + k->bytes() + v->bytes() + result) * (name.isBackward ? 2 : 1);
    return work;
}

/// How an operator takes its tensors.
enum class Taking : std::uint8_t {
    /// reads all of them, and writes as many elements as the largest has
    Map,
    /// the same, a byte for each
    Compare,
    /// reads the second, writes the first
    Copy,
    /// writes the first
    Fill,
    /// reads all of them; the result is small
    Reduce
};
struct ElementwiseName {
    std::string_view name; // without "aten::" and the "_" of those that change their first tensor
    Taking taking;
};
constexpr auto kElementwise = std::to_array<ElementwiseName>({ { "copy", Taking::Copy }, { "fill", Taking::Fill },
    { "zero", Taking::Fill }, { "add", Taking::Map }, { "sub", Taking::Map }, { "rsub", Taking::Map },
    { "mul", Taking::Map }, { "div", Taking::Map }, { "neg", Taking::Map }, { "abs", Taking::Map },
    { "exp", Taking::Map }, { "log", Taking::Map }, { "sin", Taking::Map }, { "cos", Taking::Map },
    { "pow", Taking::Map }, { "sqrt", Taking::Map }, { "rsqrt", Taking::Map }, { "reciprocal", Taking::Map },
    { "clamp", Taking::Map }, { "clamp_min", Taking::Map }, { "clamp_max", Taking::Map }, { "where", Taking::Map },
    { "masked_fill", Taking::Map }, { "addcmul", Taking::Map }, { "addcdiv", Taking::Map }, { "lerp", Taking::Map },
    { "relu", Taking::Map }, { "gelu", Taking::Map }, { "silu", Taking::Map }, { "tanh", Taking::Map },
    { "sigmoid", Taking::Map }, { "gelu_backward", Taking::Map }, { "silu_backward", Taking::Map },
    { "tanh_backward", Taking::Map }, { "sigmoid_backward", Taking::Map }, { "threshold_backward", Taking::Map },
    { "_softmax", Taking::Map }, { "_log_softmax", Taking::Map }, { "_softmax_backward_data", Taking::Map },
    { "_log_softmax_backward_data", Taking::Map }, { "native_layer_norm", Taking::Map },
    { "native_layer_norm_backward", Taking::Map }, { "_fused_rms_norm", Taking::Map }, { "eq", Taking::Compare },
    { "ne", Taking::Compare }, { "lt", Taking::Compare }, { "le", Taking::Compare }, { "gt", Taking::Compare },
    { "ge", Taking::Compare }, { "isnan", Taking::Compare }, { "isinf", Taking::Compare }, { "sum", Taking::Reduce },
    { "mean", Taking::Reduce }, { "amax", Taking::Reduce }, { "max", Taking::Reduce },
    { "linalg_vector_norm", Taking::Reduce }, { "norm", Taking::Reduce } });

/// Compiled by Inductor: each of its tensors is read or written once. Those that pick rows of a tensor do not take all.
bool isFused(std::string_view name)
{
    if (!name.starts_with("triton_poi_") && !name.starts_with("triton_red_") && !name.starts_with("triton_per_"))
        return false;
    constexpr std::array kPicking { "embedding", "index", "gather", "scatter", "nll" };
    return std::ranges::none_of(kPicking, [&](const char *part) { return name.find(part) != std::string_view::npos; });
}

std::optional<OperationWork> elementwiseWork(std::string_view name, const Arguments &arguments)
{
    double read = 0, most = 0;
    const TensorArgument *first = nullptr;
    for (const TensorArgument &argument : arguments) {
        if (argument.isTensor() && bytesOfShortType(argument.type) == 0)
            return std::nullopt;
        first = first || !argument.isTensor() ? first : &argument;
        read += argument.bytes();
        most = std::max(most, argument.elements());
    }
    if (!first || most == 0)
        return std::nullopt;
    OperationWork work;
    work.precision = precisionOf(first->type).value_or(Precision::Fp32);
    work.flops = most;
    if (isFused(name)) {
        work.bytes = read;
        return work;
    }
    if (!name.starts_with("aten::"))
        return std::nullopt;
    name.remove_prefix(6);
    if (name.ends_with('_'))
        name.remove_suffix(1);
    const auto known = std::ranges::find(kElementwise, name, &ElementwiseName::name);
    if (known == kElementwise.end())
        return std::nullopt;
    switch (known->taking) {
    case Taking::Map:
        work.bytes = read + most * bytesOfShortType(first->type);
        return work;
    case Taking::Compare:
        work.bytes = read + most;
        return work;
    case Taking::Reduce:
        work.bytes = read;
        return work;
    case Taking::Fill:
        work.bytes = first->bytes();
        break;
    case Taking::Copy:
        if (arguments.size() < 2 || !arguments[0].isTensor() || !arguments[1].isTensor())
            return std::nullopt;
        work.bytes = arguments[0].bytes() + arguments[1].bytes();
    }
    work.flops = 0;
    return work;
}

std::string countText(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.0f", value);
    return text;
}

} // namespace

const char *nameOf(OperationKind kind)
{
    static constexpr std::array kNames { "product", "attention", "elementwise" };
    static_assert(kNames.size() == kOperationKinds);
    return kNames[static_cast<std::size_t>(kind)];
}

std::string formatName(Precision precision)
{
    return std::string(kNamesOf<Precision>[static_cast<std::size_t>(precision)].name);
}

double attendedPairsOf(const AttentionShape &shape)
{
    if (!shape.causal)
        return shape.queries * shape.keys;
    const double seeing = std::min(shape.queries, shape.keys); // queries that see a key at all
    return seeing * shape.keys - seeing * (seeing - 1) / 2;
}

std::optional<OperationWork> workOf(std::string_view name, const std::vector<TensorArgument> &arguments)
{
    if (const auto product = std::ranges::find(kProducts, name, &ProductName::name); product != kProducts.end())
        return productWork(*product, arguments);
    if (const auto known = std::ranges::find(kAttentions, name, &AttentionName::name); known != kAttentions.end())
        return attentionWork(*known, arguments);
    return elementwiseWork(name, arguments);
}

std::string shapeText(const OperationWork &work, const std::vector<TensorArgument> &arguments)
{
    switch (work.kind) {
    case OperationKind::Product:
        return (work.groups > 1 ? countText(work.groups) + " · " : "") + countText(work.product.m) + " × "
            + countText(work.product.n) + " × " + countText(work.product.k);
    case OperationKind::Attention: {
        const AttentionShape &shape = work.attention;
        return countText(shape.batch) + " · " + countText(shape.heads)
            + (shape.kvHeads != shape.heads ? "/" + countText(shape.kvHeads) : "") + " heads · "
            + countText(shape.queries) + " × " + countText(shape.keys) + " · " + countText(shape.queryDim)
            + (shape.causal ? ", causal" : "");
    }
    case OperationKind::Elementwise:
        break;
    }
    Arguments tensors;
    std::ranges::copy_if(arguments, std::back_inserter(tensors), &TensorArgument::isTensor);
    return textOf(tensors);
}

double predictedSeconds(const GpuSpec &gpu, const SustainedRates &sustained, const OperationWork &work)
{
    switch (work.kind) {
    case OperationKind::Product: {
        const double speed = sustained.ofProducts(gpu.computePrecision(work.precision));
        if (work.isGrouped)
            return groupedGemmTime(gpu, work.precision, work.groups, work.product).value / sustained.grouped;
        const GemmShape all { work.groups * work.product.m, work.product.n, work.product.k };
        return gemmTime(gpu, work.precision, all).value / speed;
    }
    case OperationKind::Attention:
        return (work.isBackward ? attentionBackward(gpu, work.precision, work.attention)
                                : attentionForward(gpu, work.precision, work.attention))
                   .value
            / sustained.attention;
    case OperationKind::Elementwise:
        break;
    }
    return memoryTime(gpu, Bytes { work.bytes }).value / sustained.memory + gpu.gemm.launchUs / 2 * 1e-6;
}

double roofSeconds(const GpuSpec &gpu, const OperationWork &work)
{
    return std::max(work.flops / gpu.peakFlops(work.precision), work.bytes / (gpu.memoryGBps * 1e9));
}

} // namespace trainyard
