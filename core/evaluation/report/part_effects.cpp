// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/part_effects_internal.h"

#include "core/base/number_text.h"
#include "core/base/text_table.h"
#include "core/evaluation/advice/alternatives.h"

#include <algorithm>

namespace trainyard {

namespace {

constexpr double kLeastShown = 0.001; // below a tenth of a percent nobody would pay for it
constexpr double kLeastLoss = 0.01; // of as much less: what is just enough is told where it would be missed

std::string reasonText(const PartEffect &part)
{
    const std::string because = (part.feasible                 ? ""
                                        : part.because.empty() ? "not feasible"
                                                               : "not feasible: ")
        + part.because;
    return part.price && part.price->isReplanned ? "chosen anew" + (because.empty() ? "" : ": " + because) : because;
}

std::string withLess(const PartPrice &price)
{
    if (!price.isLessFeasible)
        return "cannot run";
    return price.lossOfLess ? changeText(1, 1 + *price.lossOfLess) : std::string();
}

Json priceJson(const PartPrice &price)
{
    return { { "kind", price.kind }, { "unit", price.unit }, { "amount", finite(price.amount) },
        { "seconds_saved", finite(price.secondsSaved) }, { "gain", finite(price.gain) },
        { "gain_per_unit", finite(price.gainPerUnit) }, { "elasticity", finite(price.elasticity) },
        { "loss_of_less", finite(price.lossOfLess) }, { "less_feasible", price.isLessFeasible },
        { "kink", price.isKink }, { "replanned", price.isReplanned }, { "usd_per_hour", finite(price.usdPerHour) },
        { "gain_per_usd", finite(price.gainPerUsd) } };
}

} // namespace

std::vector<PartEffect> ranked(std::vector<PartEffect> parts)
{
    std::ranges::stable_sort(parts, {}, &PartEffect::iterationTime);
    return parts;
}

std::string fixesTable(const Evaluation &evaluation, const std::vector<PartEffect> &fixes)
{
    if (fixes.empty())
        return {};
    const double now = evaluation.metrics.iterationTime.value_or(0);
    using enum TextTable::Align;
    TextTable table({ Left, Right, Right, Left }, { "fixes of its problems", "iteration", "change", "because" });
    for (const PartEffect &fix : fixes)
        table.add({ fix.label, secondsText(fix.iterationTime), now > 0 ? changeText(now, fix.iterationTime) : "",
            reasonText(fix) });
    return "\n" + table.text();
}

std::string partsTable(const Evaluation &evaluation, const std::vector<PartEffect> &parts, std::size_t leftOut)
{
    const double now = evaluation.metrics.iterationTime.value_or(0);
    using enum TextTable::Align;
    TextTable table({ Left, Right, Right, Right, Right, Right, Left },
        { "what one more would buy", "iteration", "change", "with less", "$/h", "saved per $/h", "because" });
    bool hasAny = false;
    for (const PartEffect &part : parts) {
        const bool isJustEnough = part.price && part.feasible
            && (!part.price->isLessFeasible || part.price->lossOfLess.value_or(0) >= kLeastLoss);
        if (part.iterationTime > now * (1 - kLeastShown) && !isJustEnough)
            continue;
        hasAny = true;
        const PartPrice price = part.price.value_or(PartPrice {});
        table.add({ part.label, secondsText(part.iterationTime), changeText(now, part.iterationTime), withLess(price),
            price.usdPerHour ? usdText(*price.usdPerHour) : "",
            price.gainPerUsd && *price.gainPerUsd > 0 ? percentText(*price.gainPerUsd) : "", reasonText(part) });
    }
    std::string text = hasAny ? "\n" + table.text() : std::string();
    if (leftOut > 0)
        text += "\n" + std::to_string(leftOut)
            + " further parts were not tried, those of datacenters without a stage before others: at most "
            + std::to_string(kMostParts) + " are, and " + std::to_string(kMostPartSpans / 1'000'000)
            + " million spans together.\n";
    return text;
}

std::string bindingText(const std::vector<std::string> &sentences)
{
    std::string text;
    for (const std::string &sentence : sentences)
        text += (text.empty() ? "\nwhat binds\n" : "") + ("  " + sentence) + ".\n";
    return text;
}

std::string retiredText(const std::vector<RetiredGpus> &retired)
{
    std::string text;
    for (const RetiredGpus &gpus : retired)
        if (gpus.feasible && (gpus.saving > kLeastShown || gpus.slowdown < -kLeastShown))
            text += (text.empty() ? "\nwhich GPUs to retire\n" : "") + ("  " + gpus.sentence) + ".\n";
    return text;
}

std::string idleText(const std::vector<IdleChange> &idle)
{
    std::string text;
    for (const IdleChange &change : idle)
        text += (text.empty() ? "\nwhich settings change nothing\n" : "") + ("  " + change.sentence()) + ".\n";
    return text;
}

Json effectsJson(const std::vector<PartEffect> &effects, double now)
{
    Json list = Json::array();
    for (const PartEffect &effect : effects) {
        list.push_back(
            { { "id", effect.id }, { "label", effect.label }, { "iteration_time_s", finite(effect.iterationTime) },
                { "change", now > 0 ? finite(effect.iterationTime / now - 1) : Json(nullptr) },
                { "feasible", effect.feasible },
                { "because", effect.because.empty() ? Json(nullptr) : Json(effect.because) } });
        if (effect.price)
            list.back()["shadow_price"] = priceJson(*effect.price);
    }
    return list;
}

Json retiredJson(const std::vector<RetiredGpus> &retired)
{
    Json list = Json::array();
    for (const RetiredGpus &gpus : retired)
        list.push_back({ { "sentence", gpus.sentence }, { "gpus", gpus.gpus }, { "feasible", gpus.feasible },
            { "iteration_time_s", gpus.feasible ? finite(gpus.iterationTime) : Json(nullptr) },
            { "usd_per_million_tokens", gpus.feasible ? finite(gpus.usdPerMillionTokens) : Json(nullptr) },
            { "slowdown", gpus.feasible ? finite(gpus.slowdown) : Json(nullptr) },
            { "saving", gpus.feasible ? finite(gpus.saving) : Json(nullptr) } });
    return list;
}

Json idleJson(const std::vector<IdleChange> &idle)
{
    Json list = Json::array();
    for (const IdleChange &change : idle)
        list.push_back({ { "key", change.key }, { "change", change.change },
            { "why", change.why.empty() ? Json(nullptr) : Json(change.why) } });
    return list;
}

} // namespace trainyard
