// SPDX-License-Identifier: GPL-3.0-or-later
// What the program that a script starts trains, where that is no decoder of language: its options are called as those
// of one.
#include "core/base/ascii_text.h"
#include "core/base/printable.h"
#include "core/runs/imports/draft.h"
#include "core/runs/telemetry/argument_names.h"

#include <algorithm>
#include <array>

namespace trainyard::imports {

namespace {

struct Program {
    std::string_view begins;
    const char *trains;
};
constexpr auto kPrograms = std::to_array<Program>({
    { "pretrain_mamba", "layers by kind, Mamba's among them" },
    { "pretrain_hybrid", "layers by kind" },
    { "pretrain_t5", "an encoder with a decoder (T5)" },
    { "pretrain_bart", "an encoder with a decoder (BART)" },
    { "pretrain_bert", "an encoder by masked tokens (BERT)" },
    { "pretrain_ict", "two encoders that find passages (ICT)" },
    { "pretrain_biencoder", "two encoders that find passages" },
    { "pretrain_retro", "a decoder beside an encoder of what it retrieves (Retro)" },
    { "pretrain_realm", "two encoders that find passages (REALM)" },
    { "pretrain_vlm", "a tower for pictures beside a language model" },
    { "pretrain_multimodal", "a tower for pictures beside a language model" },
    { "pretrain_mimo", "towers for pictures and sound beside a language model" },
    { "pretrain_vision", "a model of pictures" },
    { "pretrain_vit", "a model of pictures" },
    { "pretrain_dino", "a model of pictures" },
    { "pretrain_flux", "a diffusion model" },
    { "pretrain_sora", "a diffusion model" },
});
constexpr auto kKindsInSpecs = std::to_array<std::string_view>({ "mamba", "hybrid", "qwen3_next", "qwen3_5",
    "gated_delta", "linear_attention", "kimi_linear", "lightning", "rwkv" });
/// What Megatron prints of itself has them at their defaults.
constexpr auto kOfKinds = std::to_array<const char *>({ "hybrid_layer_pattern", "hybrid_override_pattern",
    "is_hybrid_model", "hybrid_attention_ratio", "hybrid_mlp_ratio" });

constexpr const char *kRight = "a decoder of language whose layers are all alike but for experts";

} // namespace

void takeProgram(Draft &draft)
{
    const Told &told = draft.arguments;
    const std::string name = std::string(kOfScript) + "program";
    const std::string program = told.text(name).value_or("");
    const auto known = std::ranges::find_if(
        kPrograms, [&](const Program &one) { return lowered(program.substr(0, 100)).starts_with(one.begins); });
    if (known != kPrograms.end())
        draft.errors.push_back({ ErrorCode::BadValue, told.sourceOf(name),
            "starts " + shortened(program) + ", which trains " + known->trains + ": no plan can express it yet",
            kRight });
    for (const char *kind : kOfKinds)
        if (const auto pattern = told.text(kind); pattern && !isOff(*pattern))
            draft.bad(kind, "is " + shortened(*pattern) + ": layers by their kind, which no plan can express yet",
                "a model whose layers are all alike but for experts");
    const std::string spec = lowered(told.text("spec").value_or("").substr(0, 300));
    if (std::ranges::any_of(kKindsInSpecs, [&](std::string_view kind) { return spec.find(kind) != spec.npos; }))
        draft.bad("spec", "is " + shortened(spec) + ": layers by their kind, which no plan can express yet",
            "a model whose layers are all alike but for experts");
    for (const char *decoder : { "decoder_num_layers", "decoder_seq_length" })
        if (const auto own = told.text(decoder); own && !isOff(*own) && !told.has("decoder_config"))
            return draft.bad(decoder,
                "is " + shortened(*own) + ": an encoder with a decoder, which no plan can express yet", kRight);
}

} // namespace trainyard::imports
