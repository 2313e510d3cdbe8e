// SPDX-License-Identifier: GPL-3.0-or-later
#include "tools/fits/reached.h"

#include "core/base/number_text.h"
#include "core/evaluation/validation/row_reader_internal.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kSlack = 0.001; // of an error: a tenth of a percent point
constexpr double kRelativeSlack = 0.02; // of the recorded error
constexpr double kRankSlack = 0.01;
const std::vector<std::string> kKeys { "source", "group", "metric", "role", "status", "n", "failed", "mean_abs_error",
    "rank_correlation" };

bool isSame(const ReachedFigure &a, const ReachedFigure &b)
{
    return a.source == b.source && a.group == b.group && a.metric == b.metric && a.role == b.role
        && a.status == b.status;
}

std::string nameOf(const ReachedFigure &figure)
{
    return figure.source + (figure.group.empty() ? "" : ", " + figure.group) + ", " + figure.metric + " ("
        + toString(figure.role) + (figure.status == RowStatus::Guessed ? ", guessed)" : ")");
}

double rounded(double value)
{
    return std::round(value * 1e5) / 1e5;
}

ReachedFigure readFigure(const Json &json, const std::string &pointer, Faults &faults)
{
    ReachedFigure figure;
    if (!checkObject(json, pointer, kKeys, faults))
        return figure;
    figure.source = textAt(json, "source", pointer, faults, true);
    figure.group = textAt(json, "group", pointer, faults);
    figure.metric = textAt(json, "metric", pointer, faults, true);
    figure.role = choiceAt(json, "role", { "test", "fit" }, pointer, faults) == 1 ? RowRole::Fit : RowRole::Test;
    figure.status =
        choiceAt(json, "status", { "gated", "guessed" }, pointer, faults) == 1 ? RowStatus::Guessed : RowStatus::Gated;
    figure.n = int(numberAt(json, "n", pointer, faults).value_or(0));
    figure.failed = int(numberAt(json, "failed", pointer, faults).value_or(0));
    figure.meanAbs = numberAt(json, "mean_abs_error", pointer, faults).value_or(0);
    figure.rankCorrelation = numberAt(json, "rank_correlation", pointer, faults);
    return figure;
}

/// One a source: of the runs that ran, the share that is judged not to fit, as if each were an error of 1.
std::vector<ReachedFigure> fitFigures(std::span<const ValidationResult> results)
{
    std::vector<std::pair<std::string, std::vector<const ValidationResult *>>> sources;
    for (const ValidationResult &r : results) {
        if (sources.empty() || sources.back().first != r.source)
            sources.push_back({ r.source, {} });
        sources.back().second.push_back(&r);
    }
    std::vector<ReachedFigure> figures;
    for (const auto &[source, own] : sources) {
        const FitJudgement fit = fitJudgement(own);
        if (fit.ran > 0)
            figures.push_back({ .source = source,
                .group = {},
                .metric = "memory.fits",
                .n = fit.ran,
                .meanAbs = double(fit.judgedTooLarge) / fit.ran,
                .rankCorrelation = {} });
    }
    return figures;
}

} // namespace

std::vector<ReachedFigure> reachedFigures(std::span<const ValidationResult> results)
{
    std::vector<std::pair<ReachedFigure, std::vector<const ValidationResult *>>> collected;
    for (const ValidationResult &r : results) {
        const ReachedFigure key {
            .source = r.source, .group = r.group, .metric = r.metric, .role = r.role, .status = r.status
        };
        auto found = std::ranges::find_if(collected, [&](const auto &c) { return isSame(c.first, key); });
        if (found == collected.end())
            found = collected.insert(collected.end(), { key, {} });
        found->second.push_back(&r);
    }
    std::vector<ReachedFigure> figures;
    for (auto &[figure, rows] : collected) {
        const ErrorStatistics statistics = errorStatistics(rows);
        figure.n = statistics.n;
        figure.failed = int(rows.size()) - statistics.n;
        figure.meanAbs = statistics.meanAbs;
        figure.rankCorrelation = statistics.rankCorrelation;
        figures.push_back(figure);
    }
    for (const ReachedFigure &fit : fitFigures(results))
        figures.push_back(fit);
    return figures;
}

ExpectedAll<std::vector<ReachedFigure>> parseReached(std::string_view json, const std::string &fileName)
{
    return parseList(json, fileName, "trainyard.validation-reached", "figures", &readFigure);
}

std::string reachedJson(std::span<const ReachedFigure> figures)
{
    Json json { { "format", "trainyard.validation-reached" }, { "version", 1 },
        { "note", "Written by scripts/validation; tests/validation asserts that nothing gets worse." },
        { "figures", Json::array() } };
    for (const ReachedFigure &f : figures) {
        Json figure { { "source", f.source }, { "group", f.group }, { "metric", f.metric },
            { "role", toString(f.role) }, { "status", toString(f.status) }, { "n", f.n }, { "failed", f.failed },
            { "mean_abs_error", rounded(f.meanAbs) } };
        if (f.rankCorrelation)
            figure["rank_correlation"] = rounded(*f.rankCorrelation);
        json["figures"].push_back(std::move(figure));
    }
    std::string text = "{\n";
    for (const char *key : { "format", "version", "note" })
        text += Json(key).dump() + ": " + json[key].dump() + ",\n";
    text += "\"figures\": [\n";
    for (std::size_t i = 0; i < figures.size(); ++i)
        text += "  " + json["figures"][i].dump() + (i + 1 < figures.size() ? ",\n" : "\n");
    return text + "]\n}\n";
}

std::vector<std::string> worseThan(std::span<const ReachedFigure> recorded, std::span<const ReachedFigure> now)
{
    std::vector<std::string> sentences;
    for (const ReachedFigure &before : recorded) {
        const auto found = std::ranges::find_if(now, [&](const ReachedFigure &f) { return isSame(f, before); });
        if (found == now.end()) {
            sentences.push_back(nameOf(before) + ": no rows any more");
            continue;
        }
        if (found->n < before.n || found->failed > before.failed)
            sentences.push_back(nameOf(before) + ": " + std::to_string(found->n) + " rows with and "
                + std::to_string(found->failed) + " without a prediction, before " + std::to_string(before.n) + " and "
                + std::to_string(before.failed));
        if (found->meanAbs > before.meanAbs * (1 + kRelativeSlack) + kSlack)
            sentences.push_back(nameOf(before) + ": mean error " + percentText(found->meanAbs) + ", before "
                + percentText(before.meanAbs));
        if (before.rankCorrelation && found->rankCorrelation.value_or(-1) < *before.rankCorrelation - kRankSlack)
            sentences.push_back(nameOf(before) + ": rank correlation " + plainText(found->rankCorrelation.value_or(-1))
                + ", before " + plainText(*before.rankCorrelation));
    }
    return sentences;
}

} // namespace trainyard
