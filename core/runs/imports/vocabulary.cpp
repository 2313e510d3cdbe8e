// SPDX-License-Identifier: GPL-3.0-or-later
// How many rows a vocabulary has that no source tells as a number: of the tokenizer, which Megatron pads to a multiple
// for each rank of the tensor group (tokenizer.py, _vocab_size_with_padding), of the one model of that shape, else a
// guess.
#include "core/base/ascii_text.h"
#include "core/base/number_text.h"
#include "core/base/printable.h"
#include "core/facts/workload/model_math.h"
#include "core/runs/imports/draft.h"
#include "core/runs/telemetry/argument_names.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard::imports {

namespace {

struct KnownTokenizer {
    /// part of the name in small letters
    std::string_view part;
    int tokens;
};
/// By Megatron's --tokenizer-type, whatever file it reads.
constexpr auto kTokenizerTypes = std::to_array<KnownTokenizer>({
    { "gpt2bpetokenizer", 50257 }, // GPT-2's vocab.json
    { "llama2tokenizer", 32000 }, // Meta's tokenizer.model of Llama 2
    { "llama3tokenizer", 128256 }, // 128,000 tokens of its tiktoken file and 256 reserved ones
    { "bertwordpiecelowercase", 30522 }, // bert-large-uncased-vocab.txt
    { "bertwordpiececase", 28996 }, // bert-large-cased-vocab.txt
});
/// By the name of its model or file, where published weights tell the number (tokenizer.json, vocab_size).
constexpr auto kTokenizerNames = std::to_array<KnownTokenizer>({
    { "gpt2", 50257 },
    { "20b_tokenizer", 50277 }, // EleutherAI's: 50,254 tokens and 23 added ones
    { "gpt-neox-20b", 50277 },
    { "pythia", 50277 },
    { "mt5", 250100 }, // 250,000 pieces and 100 extra ids
    { "bloom", 250680 },
    { "oscar-13-languages-alpha-weight", 250680 }, // BigScience's, which became BLOOM's
    { "llama-2", 32000 },
    { "llama2", 32000 },
    { "llama-3", 128256 },
    { "llama3", 128256 },
    { "mixtral-8x7b", 32000 },
    { "mistral-7b-v0.1", 32000 },
    { "mistral-7b-instruct-v0.1", 32000 },
    { "mistral-7b-instruct-v0.2", 32000 },
    { "zephyr", 32000 },
    { "qwen1.5", 151646 },
    { "qwen2.5", 151665 },
    { "qwen2", 151646 },
    { "qwen3", 151669 },
    { "gemma-2", 256000 },
    { "deepseek-v3", 128815 },
    { "deepseek-r1", 128815 },
});

struct Found {
    int tokens = 0;
    std::string why;
};

bool isNeox(const Told &told)
{
    return !told.translations().empty() && told.translations().front().dialect->prefix == std::string_view("neox.");
}

/// What tells a tokenizer by its name, with how it is spelled.
Found byTokenizer(const Draft &draft)
{
    const Told &told = draft.arguments;
    const auto find = [&](const char *argument, std::span<const KnownTokenizer> known) -> Found {
        // The name of a file may stand behind a folder that a script does not tell.
        const std::string open = std::string(kUntold) + argument;
        const std::string own = told.text(argument).value_or(told.text(open).value_or(""));
        const std::string name = lowered(own.substr(0, 400));
        for (const KnownTokenizer &one : known)
            if (!name.empty() && name.find(one.part) != name.npos)
                return { one.tokens, told.said(told.has(argument) ? argument : open) + ", " + shortened(own, 80) };
        return {};
    };
    for (const char *argument : { "tokenizer_model", "vocab_file", "tokenizer_name", "tokenizer.library" })
        if (Found found = find(argument, kTokenizerNames); found.tokens > 0)
            return found;
    if (Found found = find("tokenizer_type", kTokenizerTypes); found.tokens > 0)
        return found;
    // GPT-NeoX reads EleutherAI's 20B_tokenizer.json so, where its files of settings name no other.
    if (isNeox(told) && told.text("tokenizer_type") == "HFTokenizer" && !told.has("vocab_file"))
        return { 50277, told.said("tokenizer_type") + ", HFTokenizer, which reads 20B_tokenizer.json" };
    return {};
}

/// Of all models of the catalogue with that shape, where they agree.
Found byShape(const Draft &draft, const ModelSpec &model)
{
    Found found;
    for (const ModelSpec &known : draft.catalogue.models) {
        ModelSpec trial = model;
        trial.vocab = known.vocab;
        trial.dropout = known.dropout; // which no vocabulary hangs on
        const ModelSpec *same = sameModel(trial, draft.catalogue);
        if (!same || same->vocab != known.vocab)
            continue;
        if (found.tokens > 0 && found.tokens != same->vocab)
            return {};
        found = { same->vocab, same->name };
    }
    return found;
}

/// Files that are not read here, as sentences name them: "--tokenizer-model, /data/tokenizer.model".
std::string tokenizerNamed(const Draft &draft)
{
    for (const char *argument : { "tokenizer_model", "vocab_file", "tokenizer_type" })
        if (const auto own = draft.arguments.text(argument))
            return " (" + draft.arguments.said(argument) + " is " + shortened(*own, 80) + ")";
    return {};
}

} // namespace

void takeVocabulary(Draft &draft, ModelSpec &model)
{
    for (const char *name : { "padded_vocab_size", "vocab_size" })
        if (const auto size = draft.whole(name, 1, 100'000'000)) {
            model.vocab = *size;
            return;
        }
    const std::int64_t multiple = std::int64_t(draft.whole("make_vocab_size_divisible_by", 1, 1'000'000).value_or(128))
        * std::min(1000, draft.whole("tensor_model_parallel_size", 1, 1024).value_or(1));
    const auto padded = [&](int tokens) { return int((tokens + multiple - 1) / multiple * multiple); };
    if (const Found found = byTokenizer(draft); found.tokens > 0) {
        model.vocab = padded(found.tokens);
        draft.assume("The vocabulary has " + wholeText(model.vocab) + " rows: the " + wholeText(found.tokens)
            + " tokens of " + found.why + ", padded to a multiple of " + wholeText(double(multiple)));
        return;
    }
    if (const Found found = byShape(draft, model); found.tokens > 0) {
        model.vocab = found.tokens;
        draft.assume("The size of the vocabulary is told by no source: " + std::to_string(found.tokens) + ", as of "
            + found.why + ", whose other dimensions are the same");
        return;
    }
    if (isNeox(draft.arguments) && !draft.arguments.has("tokenizer_type") && !draft.arguments.has("vocab_file")) {
        model.vocab = padded(50257);
        draft.assume("The vocabulary has " + wholeText(model.vocab)
            + " rows: the 50,257 tokens of GPT-2, whose tokenizer GPT-NeoX takes where none is told, padded");
        return;
    }
    constexpr int kGuess = 128'000, kLeast = 32'000, kMost = 256'000; // of published models
    const auto parameters = [&](int tokens) {
        ModelSpec trial = model;
        trial.vocab = padded(tokens);
        return totalParameters(trial);
    };
    model.vocab = padded(kGuess);
    const double all = parameters(kGuess), least = parameters(kLeast), most = parameters(kMost);
    const double share = double(model.vocab) * model.hidden * (model.tiedEmbeddings ? 1 : 2) / all;
    draft.doubtBy("vocabulary",
        "its size is told by no source" + tokenizerNamed(draft) + ": " + wholeText(model.vocab) + " rows are guessed, "
            + std::to_string(std::lround(100 * share)) + " % of the parameters; with 32,000 to 256,000 the model has "
            + countText(least) + " to " + countText(most) + " parameters",
        least / all - 1, most / all - 1);
}

} // namespace trainyard::imports
