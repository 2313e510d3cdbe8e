// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/calibration_report.h"

#include "app/cli/json_values_internal.h"
#include "core/base/number_text.h"
#include "core/base/text_table.h"

namespace trainyard::cli {

namespace {

constexpr const char *kFormat = "trainyard.factors";
constexpr std::size_t kMostFactors = 10000;

std::string valueText(const CalibrationFactor &factor)
{
    if (factor.factor)
        return plainText(*factor.factor) + " ×";
    std::string text;
    if (factor.gbytesPerS)
        text = plainText(*factor.gbytesPerS) + " GB/s";
    if (factor.latencyUs)
        text += (text.empty() ? "" : ", ") + plainText(*factor.latencyUs) + " µs";
    return text;
}

/// Of each figure of valueText, in their order.
std::string errorText(const CalibrationFactor &factor)
{
    const auto shown = [](const std::optional<double> &error) {
        return error && *error > 0 ? plainText(*error) : std::string("–");
    };
    std::string text = factor.factor || factor.gbytesPerS ? shown(factor.standardError) : "";
    if (!factor.factor && factor.latencyUs)
        text += (text.empty() ? "" : ", ") + shown(factor.latencyError);
    return text;
}

std::string shareText(const std::optional<double> &share)
{
    return share ? percentText(*share) : std::string("–");
}

Errors wrong(const std::string &file, const std::string &at, const std::string &what, const std::string &right)
{
    return { { ErrorCode::BadValue, file + ": " + at, what, right } };
}

} // namespace

std::string factorsTable(const CalibrationProposal &proposal, bool isJudged)
{
    using enum TextTable::Align;
    TextTable table({ Left, Right, Right, Right, Right, Right, Right, Right, Left },
        { "factor", "value", "±", "samples", "R²", "residual", "before", "alone", "" });
    for (const FittedFactor &fitted : proposal.factors) {
        const CalibrationFactor &factor = fitted.factor;
        table.add({ fitted.id, valueText(factor), errorText(factor), wholeText(factor.samples),
            factor.r2 ? plainText(*factor.r2) : "–", percentText(fitted.residual), shareText(factor.errorBefore),
            shareText(factor.errorAfter), fitted.refused.empty() ? "" : "refused: " + fitted.refused });
    }
    std::string text = table.text();
    if (isJudged && proposal.stepsHeldOut > 0)
        text += "\nSteps that were held out (" + std::to_string(proposal.stepsHeldOut) + "; "
            + std::to_string(proposal.stepsFitted) + " were fitted) lie " + percentText(proposal.errorBefore)
            + " from the plan before, " + percentText(proposal.errorAfter) + " with all factors.\n";
    if (!proposal.notes.empty())
        text += "\n";
    for (const std::string &note : proposal.notes)
        text += note + ".\n";
    return text;
}

std::string factorsJson(const CalibrationProposal &proposal)
{
    Json json { { "format", kFormat }, { "version", 1 }, { "error_before", proposal.errorBefore },
        { "error_after", proposal.errorAfter }, { "steps_fitted", proposal.stepsFitted },
        { "steps_held_out", proposal.stepsHeldOut }, { "factors", Json::array() }, { "notes", proposal.notes } };
    if (const std::string farther = fartherText(proposal, proposal.errorAfter); !farther.empty())
        json["warning"] = farther;
    for (const FittedFactor &fitted : proposal.factors) {
        Json one { { "id", fitted.id }, { "sentence", fitted.sentence }, { "residual", fitted.residual } };
        if (!fitted.refused.empty())
            one["refused"] = fitted.refused;
        one["factor"] = Json::parse(formatCalibrationFactor(fitted.factor), nullptr, false);
        json["factors"].push_back(std::move(one));
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

ExpectedAll<CalibrationProposal> readFactors(const std::string &text, const std::string &file)
{
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || json.value("format", Json()) != Json(kFormat) || !json.contains("factors")
        || !json["factors"].is_array() || json["factors"].size() > kMostFactors)
        return std::unexpected(wrong(file, "/format", "it is no file of factors", "what --factors wrote"));
    if (json.value("version", Json()) != Json(1))
        return std::unexpected(wrong(file, "/version", "it is of another version", "1"));
    CalibrationProposal proposal;
    const auto textOf = [](const Json &of, const char *key) {
        return of.contains(key) && of[key].is_string() ? of[key].get<std::string>() : std::string();
    };
    std::size_t index = 0;
    for (const Json &one : json["factors"]) {
        const std::string at = "/factors/" + std::to_string(index++);
        if (!one.is_object() || textOf(one, "id").empty() || !one.contains("factor"))
            return std::unexpected(wrong(file, at, "it has no id or no factor", "an entry as --factors writes it"));
        const std::string refused = textOf(one, "refused");
        const auto factor = parseCalibrationFactor(one["factor"].dump(), file + ": " + at + "/factor");
        if (!factor && refused.empty())
            return std::unexpected(Errors { factor.error() });
        FittedFactor &fitted = proposal.factors.emplace_back();
        fitted.id = textOf(one, "id");
        fitted.sentence = textOf(one, "sentence");
        fitted.refused = refused;
        if (factor) // what was refused may have no value that a plan could take
            fitted.factor = *factor;
        if (refused.empty() && !fitted.factor.isAccepted)
            fitted.refused = "Its file says that it is not accepted";
        if (one.contains("residual") && one["residual"].is_number())
            fitted.residual = one["residual"].get<double>();
    }
    return proposal;
}

} // namespace trainyard::cli
