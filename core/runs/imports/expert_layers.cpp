// SPDX-License-Identifier: GPL-3.0-or-later
// Which layers have experts, and which do nothing: Megatron's --moe-layer-freq, MindSpeed-LLM's --first-k-dense-replace
// and --noop-layers (its transformer_block.py: a layer has experts where it is none of the first k and its number is a
// multiple of the frequency; a noop layer is counted and passes on what it is given).
#include "core/runs/imports/draft.h"

#include <algorithm>
#include <charconv>

namespace trainyard::imports {

namespace {

/// "([0]*3+[1]*58)", "[0,1]*24": which layers have experts. Empty where it is no such list, or too long.
std::vector<bool> layerPattern(std::string_view text)
{
    std::vector<bool> pattern;
    std::string own;
    for (const char c : text)
        if (c != ' ' && c != '(' && c != ')' && c != '\'' && c != '"')
            own += c;
    for (std::size_t at = 0; at < own.size();) {
        if (own[at] != '[')
            return {};
        const std::size_t end = own.find(']', at);
        if (end == own.npos)
            return {};
        std::vector<bool> part;
        for (std::size_t i = at + 1; i < end; ++i)
            if (own[i] == '0' || own[i] == '1')
                part.push_back(own[i] == '1');
            else if (own[i] != ',')
                return {};
        at = end + 1;
        std::size_t times = 1;
        if (at < own.size() && own[at] == '*') {
            times = 0;
            for (++at; at < own.size() && own[at] >= '0' && own[at] <= '9' && times < 100'000; ++at)
                times = times * 10 + static_cast<std::size_t>(own[at] - '0');
        }
        if (part.size() * times + pattern.size() > 10'000)
            return {};
        for (; times > 0; --times)
            pattern.insert(pattern.end(), part.begin(), part.end());
        if (at < own.size() && own[at++] != '+')
            return {};
    }
    return pattern;
}

/// Dense layers first, then every n-th has experts: what the model can be.
void takePattern(Draft &draft, ModelSpec &model, const std::vector<bool> &pattern, const char *argument)
{
    const auto isSame = [&](int dense, int step) {
        ModelSpec trial = model;
        trial.denseLayers = dense;
        trial.expertLayerStep = step;
        for (int i = 0; i < model.layers; ++i)
            if (trial.isExpertLayer(i) != pattern[static_cast<std::size_t>(i)])
                return false;
        return true;
    };
    const auto first = int(std::ranges::find(pattern, true) - pattern.begin());
    for (int step = 1; step <= 8; ++step)
        if (first - step + 1 >= 0 && isSame(first - step + 1, step)) {
            model.denseLayers = first - step + 1;
            model.expertLayerStep = step;
            return;
        }
    const auto experts = int(std::ranges::count(pattern, true));
    model.denseLayers = model.layers - experts;
    draft.assume("The layers with experts (" + draft.arguments.said(argument)
        + ") follow no rule that a model here can have: as many of the last ones are taken");
}

/// MindSpeed-LLM's; every layer where its frequency is -1.
std::vector<bool> firstDense(Draft &draft, int layers)
{
    const int dense = std::max(0, draft.whole("first_k_dense_replace", -1, 10'000).value_or(0));
    const int step = std::abs(draft.whole("moe_layer_freq", -1, 1000).value_or(1));
    std::vector<bool> pattern;
    for (int i = 0; i < layers; ++i)
        pattern.push_back(i >= dense && (step < 2 || i % step == 0));
    return pattern;
}

bool isNoop(const Draft &draft, int layer)
{
    return std::ranges::binary_search(draft.noopLayers, layer);
}

} // namespace

int layersTold(const Draft &draft)
{
    const std::string text = draft.arguments.text("num_layers").value_or("");
    int layers = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), layers);
    return error == std::errc() && end == text.data() + text.size() && layers > 0 && layers <= 10'000 ? layers : 0;
}

void takeExpertLayers(Draft &draft, ModelSpec &model)
{
    if (draft.arguments.has("first_k_dense_replace"))
        return takePattern(draft, model, firstDense(draft, model.layers), "first_k_dense_replace");
    const auto text = draft.arguments.text("moe_layer_freq");
    if (!text || *text == "1")
        return;
    if (text->find('[') == text->npos) {
        model.expertLayerStep = draft.whole("moe_layer_freq", 1, 1000).value_or(1);
        return;
    }
    const std::vector<bool> pattern = layerPattern(*text);
    if (std::ssize(pattern) != model.layers)
        return draft.bad("moe_layer_freq",
            pattern.empty() ? "is " + *text
                            : "tells " + std::to_string(pattern.size()) + " layers, and num_layers is "
                    + std::to_string(model.layers),
            "a list of 0 and 1 for each layer, such as ([0]*3+[1]*58)");
    takePattern(draft, model, pattern, "moe_layer_freq");
}

void takeNoopLayers(Draft &draft, ModelSpec &model)
{
    const auto text = draft.arguments.text("noop_layers");
    if (!text)
        return;
    draft.noopLayers.clear();
    for (const char *at = text->data(), *end = at + text->size(); at < end;) {
        int layer = -1;
        const auto [next, error] = std::from_chars(at, end, layer);
        if (error != std::errc() || layer < 0 || layer >= model.layers || (next < end && *next != ','))
            return draft.bad("noop_layers", "is " + *text,
                "numbers of layers from 0 to " + std::to_string(model.layers - 1) + ", with commas between");
        draft.noopLayers.push_back(layer);
        at = next + 1;
    }
    std::ranges::sort(draft.noopLayers);
    const auto twice = std::ranges::unique(draft.noopLayers);
    draft.noopLayers.erase(twice.begin(), twice.end());
    std::vector<bool> pattern;
    for (int i = 0; i < model.layers; ++i)
        if (!isNoop(draft, i))
            pattern.push_back(model.isExpertLayer(i));
    if (pattern.empty())
        return draft.bad("noop_layers", "is " + *text, "at least one layer that does something");
    model.layers = int(pattern.size());
    draft.assume(std::to_string(model.layers) + " layers: " + std::to_string(draft.noopLayers.size()) + " of "
        + draft.arguments.said("num_layers") + " do nothing (" + draft.arguments.said("noop_layers") + ")");
    if (model.experts > 0)
        takePattern(draft, model, pattern, "noop_layers");
}

std::vector<int> layersWithoutNoops(const Draft &draft, int stages)
{
    const int layers = layersTold(draft);
    if (draft.noopLayers.empty() || stages < 2 || layers % stages != 0)
        return {};
    std::vector<int> all(static_cast<std::size_t>(stages), 0);
    for (int i = 0; i < layers; ++i)
        all[static_cast<std::size_t>(i / (layers / stages))] += isNoop(draft, i) ? 0 : 1;
    return all;
}

} // namespace trainyard::imports
